//! Parallel assembly of stencils that stay the same over many matrices.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::Mat3;

use super::{PIECE, Stencils, block_pairs};
use crate::matrix::{check_pattern, check_size, stencil_position};
use crate::{BlockMatrix, BlockPattern, MatrixError};

/// Which blocks of its Hessians a list of summands gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// All [`block_count`](super::block_count) ones.
    Complete,
    /// Those off the diagonal only, in the same order: translations do no work, so the rows of a
    /// Hessian sum to zero, and the diagonal is summed from the few blocks of a matrix row.
    OffDiagonal,
}

impl Layout {
    /// Stored blocks of a Hessian over n vertices.
    pub const fn block_count(self, n: usize) -> usize {
        match self {
            Self::Complete => super::block_count(n),
            Self::OffDiagonal => n * n.saturating_sub(1) / 2,
        }
    }

    /// The local vertices (a, b), a ≤ b, of each stored block, in order.
    pub fn pairs(self, n: usize) -> impl Iterator<Item = (usize, usize)> {
        let skip = if self == Self::OffDiagonal { n } else { 0 };
        block_pairs(n).skip(skip)
    }
}

/// Where the Hessian blocks of fixed lists of stencils go, prepared once: for each block of the matrix,
/// which element blocks it sums. The blocks of all lists lie in one array, list after list, stencil
/// after stencil.
///
/// Every matrix block is summed by one thread in the order of the element blocks, so that the bits do
/// not depend on the number of threads.
#[derive(Debug, Clone)]
pub struct FixedAssembly {
    pattern: Arc<BlockPattern>,
    /// The element blocks of each list.
    lists: Vec<Range<usize>>,
    /// Element blocks that each matrix block sums, as 2 · block, one more where it is transposed: those
    /// of lists without a diagonal.
    balanced: Lists,
    /// The couplings of each row to eliminated vertices, of the same lists.
    eliminated: Lists,
    /// As `balanced`, of lists with a diagonal.
    complete: Option<Lists>,
    /// The pattern of the last matrix, and the position in it of each block of `pattern`.
    whole: Arc<BlockPattern>,
    position: Vec<u32>,
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
        let mut ranges = Vec::with_capacity(lists.len());
        let (mut balanced, mut eliminated, mut complete) = (Vec::new(), Vec::new(), Vec::new());
        let mut end = 0;
        for (stencils, layout) in lists {
            let begin = end;
            for stencil in stencils.iter() {
                let places = Places { pattern: &pattern, first: end };
                end += layout.block_count(stencil.len());
                check_sources(end)?;
                for (k, local) in layout.pairs(stencil.len()).enumerate() {
                    let ends = [stencil[local.0], stencil[local.1]];
                    match layout {
                        Layout::Complete => places.add_complete(k, local, ends, &mut complete)?,
                        Layout::OffDiagonal => {
                            places.add_balanced(k, ends, &mut balanced, &mut eliminated)?;
                        }
                    }
                }
            }
            ranges.push(begin..end);
        }
        let blocks = pattern.block_count();
        let complete = (!complete.is_empty()).then(|| Lists::new(blocks, &complete));
        Ok(Self {
            lists: ranges,
            balanced: Lists::new(blocks, &balanced),
            eliminated: Lists::new(pattern.n(), &eliminated),
            complete,
            whole: pattern.clone(),
            position: (0..blocks as u32).collect(),
            pattern,
        })
    }

    /// The pattern for which the assembly was prepared.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// The element blocks of each list, within the array of all.
    pub fn lists(&self) -> &[Range<usize>] {
        &self.lists
    }

    /// Number of element blocks of all lists.
    pub fn block_count(&self) -> usize {
        self.lists.last().map_or(0, |l| l.end)
    }

    /// Sets a matrix, in whose pattern that of the assembly is contained, to `scale` times the sum of all
    /// element Hessians, plus `diagonal` times the identity in each row.
    ///
    /// # Errors
    /// [`MatrixError::SizeMismatch`]; [`MatrixError::MissingBlock`] where the matrix's pattern lacks a block.
    pub fn assemble(
        &mut self,
        matrix: &mut BlockMatrix,
        scale: f64,
        blocks: &[Mat3],
        diagonal: &[f64],
    ) -> Result<(), MatrixError> {
        check_size("element blocks", self.block_count(), blocks.len())?;
        check_size("diagonal", self.pattern.n(), diagonal.len())?;
        self.embed(matrix.pattern())?;
        if self.pattern.block_count() < matrix.blocks().len() {
            matrix.set_zero();
        }
        self.for_each(matrix.blocks_mut(), |k, block| {
            *block = sum(blocks, self.balanced.of(k)) * scale;
        });
        let rows = self.balancing_diagonal(matrix, scale, blocks, diagonal);
        for (i, block) in rows.iter().enumerate() {
            *matrix.diagonal_block_mut(i) = *block;
        }
        if let Some(complete) = &self.complete {
            self.for_each(matrix.blocks_mut(), |k, block| {
                if !complete.of(k).is_empty() {
                    *block += sum(blocks, complete.of(k)) * scale;
                }
            });
        }
        Ok(())
    }

    /// Minus the sum of each row's blocks, made symmetric, plus `diagonal`.
    fn balancing_diagonal(
        &self,
        matrix: &BlockMatrix,
        scale: f64,
        blocks: &[Mat3],
        diagonal: &[f64],
    ) -> Vec<Mat3> {
        let (whole, position) = (matrix.blocks(), &self.position);
        let row = |i: usize| {
            let mut others = sum(blocks, self.eliminated.of(i)) * scale;
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

    /// Calls `f` for every block of the assembly's pattern, in parallel and in no particular order: its
    /// number and its place in a matrix over the whole.
    fn for_each(&self, blocks: &mut [Mat3], f: impl Fn(usize, &mut Mat3) + Sync) {
        let mut rest = blocks;
        let mut taken = 0;
        let mut pieces = Vec::with_capacity(self.position.len() / PIECE + 1);
        for (k, position) in self.position.chunks(PIECE).enumerate() {
            // positions ascend, so the pieces' ranges follow each other
            let end = position.last().map_or(taken, |&p| p as usize + 1);
            let (piece, tail) = rest.split_at_mut(end - taken);
            pieces.push((k * PIECE, position, taken, piece));
            (rest, taken) = (tail, end);
        }
        pieces.into_par_iter().for_each(|(first, position, begin, piece)| {
            for (k, &p) in (first..).zip(position) {
                f(k, &mut piece[p as usize - begin]);
            }
        });
    }
}

/// Σ of element blocks, some of them transposed.
#[inline]
fn sum(blocks: &[Mat3], sources: &[u32]) -> Mat3 {
    let mut sum = Mat3::zeros();
    for &source in sources {
        let block = &blocks[source as usize / 2];
        if source % 2 == 0 {
            sum += block;
        } else {
            sum += block.transpose();
        }
    }
    sum
}

/// Finds the places of one stencil's blocks, of which the first has the number `first`.
struct Places<'a> {
    pattern: &'a BlockPattern,
    first: usize,
}

/// (target, source) pairs in the order in which sources are summed.
type Targets = Vec<(u32, u32)>;

impl Places<'_> {
    fn source(&self, k: usize) -> u32 {
        2 * (self.first + k) as u32
    }

    /// Block `k` of a stencil between its local vertices `local`, which are a and b, of a list with a
    /// diagonal.
    fn add_complete(
        &self,
        k: usize,
        local: (usize, usize),
        [a, b]: [u32; 2],
        to: &mut Targets,
    ) -> Result<(), MatrixError> {
        let source = self.source(k);
        if let Some(k) = stencil_position(self.pattern, a, b)? {
            to.push((k as u32, source));
        }
        // Below the diagonal lies the mirror image; where a stencil names a vertex twice, both images lie
        // on the diagonal.
        if local.0 != local.1
            && let Some(k) = stencil_position(self.pattern, b, a)?
        {
            to.push((k as u32, source + 1));
        }
        Ok(())
    }

    /// The same of a list without a diagonal; `eliminated` collects couplings to vertices without a row.
    fn add_balanced(
        &self,
        k: usize,
        [a, b]: [u32; 2],
        to: &mut Targets,
        eliminated: &mut Targets,
    ) -> Result<(), MatrixError> {
        let source = self.source(k);
        if a == b {
            // rows sum to zero whatever a vertex does to itself
        } else if let Some(k) = stencil_position(self.pattern, a, b)? {
            to.push((k as u32, source));
        } else if let Some(k) = stencil_position(self.pattern, b, a)? {
            to.push((k as u32, source + 1));
        } else if a != BlockPattern::ELIMINATED {
            eliminated.push((a, source));
        } else if b != BlockPattern::ELIMINATED {
            eliminated.push((b, source + 1));
        }
        Ok(())
    }
}

/// Lists of sources, one list for each target, in one array.
#[derive(Debug, Clone)]
struct Lists {
    start: Vec<u32>,
    sources: Vec<u32>,
}

impl Lists {
    /// From (target, source) in the order in which sources must be summed.
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut start = vec![0u32; count + 1];
        for &(k, _) in pairs {
            start[k as usize + 1] += 1;
        }
        for k in 0..count {
            start[k + 1] += start[k];
        }
        let mut next = start.clone();
        let mut sources = vec![0u32; pairs.len()];
        for &(k, source) in pairs {
            sources[next[k as usize] as usize] = source;
            next[k as usize] += 1;
        }
        Self { start, sources }
    }

    #[inline]
    fn of(&self, k: usize) -> &[u32] {
        &self.sources[self.start[k] as usize..self.start[k + 1] as usize]
    }
}

fn check_sources(blocks: usize) -> Result<(), MatrixError> {
    let ids = blocks.checked_mul(2).and_then(|k| u32::try_from(k).ok());
    ids.map(|_| ()).ok_or(MatrixError::TooLarge { what: "element blocks" })
}
