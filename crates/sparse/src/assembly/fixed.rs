//! Parallel assembly of stencils that stay the same over many matrices.

use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::Mat3;

use super::batch::{Batch, Sums};
use super::{Layout, PIECE, Stencils};
use crate::matrix::{check_pattern, check_size};
use crate::{BlockMatrix, BlockPattern, MatrixError};

/// Where the Hessian blocks of fixed lists of stencils go, prepared once: for each block of the matrix,
/// which element blocks it sums.
///
/// The element blocks are passed batch after batch, so that those of all elements need not be stored:
/// [`FixedAssembly::begin`], [`FixedAssembly::add`] for each of the [`FixedAssembly::batches`] in order,
/// [`FixedAssembly::finish`].
///
/// Every matrix block is summed by one thread in the order of the element blocks, so that the bits
/// depend neither on the number of threads nor on the batches.
#[derive(Debug, Clone)]
pub struct FixedAssembly {
    pattern: Arc<BlockPattern>,
    batches: Vec<Batch>,
    /// The rows that are coupled to eliminated vertices by lists without a diagonal, and the sums of these
    /// couplings.
    eliminated: Targets,
    /// The blocks of `pattern` to which lists with a diagonal contribute, and the sums of their
    /// contributions.
    complete: Targets,
    /// The pattern of the last matrix, and the position in it of each block of `pattern`.
    whole: Arc<BlockPattern>,
    position: Vec<u32>,
}

/// Places that are summed apart from the matrix: their numbers, ascending, and the sums.
#[derive(Debug, Clone, Default)]
struct Targets {
    numbers: Vec<u32>,
    sums: Vec<Mat3>,
}

impl Targets {
    /// Of the sums of all batches, whose targets become indices of the list.
    fn new<'a>(all: impl Iterator<Item = &'a mut Sums>) -> Self {
        let all: Vec<&mut Sums> = all.collect();
        let mut numbers: Vec<u32> = all.iter().flat_map(|s| s.targets.iter().copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for target in all.into_iter().flat_map(|s| &mut s.targets) {
            *target = numbers.partition_point(|n| n < target) as u32;
        }
        Self { sums: vec![Mat3::zeros(); numbers.len()], numbers }
    }
}

impl FixedAssembly {
    /// Prepares the assembly of lists of stencils into matrices whose patterns hold `pattern`, which must
    /// couple the vertices of each stencil.
    ///
    /// # Errors
    /// A vertex out of range, a block that the pattern lacks, more blocks than 32-bit indices can name.
    pub fn new(
        pattern: Arc<BlockPattern>,
        lists: &[(Stencils<'_>, Layout)],
    ) -> Result<Self, MatrixError> {
        let mut batches = Vec::new();
        for (list, (stencils, layout)) in lists.iter().enumerate() {
            let mut begin = 0;
            while begin < stencils.len() {
                let batch = Batch::new(&pattern, list, stencils, *layout, begin)?;
                begin = batch.stencils.end;
                batches.push(batch);
            }
        }
        let eliminated = Targets::new(batches.iter_mut().map(|b| &mut b.eliminated));
        let complete = Targets::new(batches.iter_mut().map(|b| &mut b.complete));
        let position = (0..pattern.block_count() as u32).collect();
        Ok(Self { batches, eliminated, complete, whole: pattern.clone(), position, pattern })
    }

    /// The pattern for which the assembly was prepared.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// The batches of all lists, in order.
    pub fn batches(&self) -> &[Batch] {
        &self.batches
    }

    /// Begins a matrix, in whose pattern that of the assembly is contained.
    ///
    /// # Errors
    /// [`MatrixError::MissingBlock`] where the matrix's pattern lacks a block.
    pub fn begin(&mut self, matrix: &mut BlockMatrix) -> Result<(), MatrixError> {
        self.embed(matrix.pattern())?;
        matrix.set_zero();
        self.eliminated.sums.fill(Mat3::zeros());
        self.complete.sums.fill(Mat3::zeros());
        Ok(())
    }

    /// Adds the blocks of a batch to the matrix that was begun.
    ///
    /// # Errors
    /// [`MatrixError::SizeMismatch`]: no such batch, another number of blocks, a matrix of another size.
    pub fn add(
        &mut self,
        matrix: &mut BlockMatrix,
        batch: usize,
        blocks: &[Mat3],
    ) -> Result<(), MatrixError> {
        check_size("batches", self.batches.len(), self.batches.len().max(batch + 1))?;
        let batch = &self.batches[batch];
        check_size("element blocks", batch.blocks, blocks.len())?;
        check_size("blocks", self.whole.block_count(), matrix.blocks().len())?;
        let position = |k: u32| self.position[k as usize] as usize;
        batch.balanced.add(blocks, matrix.blocks_mut(), position);
        batch.eliminated.add(blocks, &mut self.eliminated.sums, |k| k as usize);
        batch.complete.add(blocks, &mut self.complete.sums, |k| k as usize);
        Ok(())
    }

    /// Completes the matrix: `scale` times the sum of all element Hessians, plus `diagonal` times the identity
    /// in each row.
    ///
    /// # Errors
    /// [`MatrixError::SizeMismatch`].
    pub fn finish(
        &mut self,
        matrix: &mut BlockMatrix,
        scale: f64,
        diagonal: &[f64],
    ) -> Result<(), MatrixError> {
        check_size("diagonal", self.pattern.n(), diagonal.len())?;
        check_size("blocks", self.whole.block_count(), matrix.blocks().len())?;
        matrix.blocks_mut().par_iter_mut().with_min_len(PIECE).for_each(|block| *block *= scale);
        let rows = self.balancing_diagonal(matrix, scale, diagonal);
        matrix.set_diagonal(&rows);
        let blocks = matrix.blocks_mut();
        for (&k, sum) in self.complete.numbers.iter().zip(&self.complete.sums) {
            blocks[self.position[k as usize] as usize] += sum * scale;
        }
        Ok(())
    }

    /// [`Self::begin`], [`Self::add`] and [`Self::finish`] with the blocks of all lists, list after list,
    /// stencil after stencil.
    ///
    /// # Errors
    /// As theirs.
    pub fn assemble(
        &mut self,
        matrix: &mut BlockMatrix,
        scale: f64,
        blocks: &[Mat3],
        diagonal: &[f64],
    ) -> Result<(), MatrixError> {
        let count = self.batches.iter().map(|b| b.blocks).sum();
        check_size("element blocks", count, blocks.len())?;
        self.begin(matrix)?;
        let mut rest = blocks;
        for batch in 0..self.batches.len() {
            let (blocks, tail) = rest.split_at(self.batches[batch].blocks);
            self.add(matrix, batch, blocks)?;
            rest = tail;
        }
        self.finish(matrix, scale, diagonal)
    }

    /// Sets `whole`, in whose pattern that of the assembly is contained, to `part`, a matrix on the pattern of the
    /// assembly.
    ///
    /// # Errors
    /// [`MatrixError::SizeMismatch`]; [`MatrixError::MissingBlock`] where the pattern of `whole` lacks a block.
    pub fn embed_matrix(
        &mut self,
        part: &BlockMatrix,
        whole: &mut BlockMatrix,
    ) -> Result<(), MatrixError> {
        check_pattern(&self.pattern, part.pattern())?;
        self.embed(whole.pattern())?;
        whole.set_zero();
        let blocks = whole.blocks_mut();
        for (block, &k) in part.blocks().iter().zip(&self.position) {
            blocks[k as usize] = *block;
        }
        Ok(())
    }

    /// Minus the sum of each row's blocks, made symmetric, plus `diagonal`.
    fn balancing_diagonal(&self, matrix: &BlockMatrix, scale: f64, diagonal: &[f64]) -> Vec<Mat3> {
        let (whole, position) = (matrix.blocks(), &self.position);
        let eliminated = |i: usize| match self.eliminated.numbers.binary_search(&(i as u32)) {
            Ok(k) => self.eliminated.sums[k] * scale,
            Err(_) => Mat3::zeros() * scale,
        };
        let row = |i: usize| {
            let mut others = eliminated(i);
            for (_, k) in self.pattern.row(i) {
                others += whole[position[k] as usize];
            }
            let first = self.pattern.diagonal_position(i);
            for &p in &position[first + 1..first + self.pattern.column(i).len()] {
                others += whole[p as usize].transpose();
            }
            Mat3::from_diagonal_element(diagonal[i]) - (others + others.transpose()) * 0.5
        };
        (0..self.pattern.n()).into_par_iter().with_min_len(PIECE).map(row).collect()
    }

    /// Looks up where the blocks of the assembly's pattern are in another one.
    fn embed(&mut self, whole: &Arc<BlockPattern>) -> Result<(), MatrixError> {
        if check_pattern(&self.whole, whole).is_err() {
            self.position = self.pattern.embedding(whole)?;
        }
        self.whole = whole.clone();
        Ok(())
    }
}
