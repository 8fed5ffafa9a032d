//! Parallel assembly of element lists that stay the same over many matrices.

use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::Mat3;

use crate::matrix::{check_pattern, check_size, stencil_position};
use crate::{BlockMatrix, BlockPattern, MatrixError};

/// Where the blocks of a list of stencils over N vertices go, prepared once: for each block of the
/// matrix, which element blocks it sums.
///
/// Every matrix block is summed by one thread in the order of the elements, so the result has the
/// bits of [`BlockMatrix::add_stencil`] called for one element after the other.
#[derive(Debug, Clone)]
pub struct StencilAssembly<const N: usize> {
    pattern: Arc<BlockPattern>,
    stencil_count: usize,
    /// Offsets of the matrix blocks into `sources`.
    start: Vec<u32>,
    /// Element blocks, as (element · N + a) · N + b, ascending for each matrix block.
    sources: Vec<u32>,
}

impl<const N: usize> StencilAssembly<N> {
    /// Prepares the assembly of `stencils` into matrices on `pattern`, which must couple the
    /// vertices of each. Vertices may be [eliminated](BlockPattern::ELIMINATED).
    pub fn new(pattern: Arc<BlockPattern>, stencils: &[[u32; N]]) -> Result<Self, MatrixError> {
        let ids = stencils.len().checked_mul(N * N).and_then(|k| u32::try_from(k).ok());
        ids.ok_or(MatrixError::TooLarge { what: "element blocks" })?;
        // (matrix block, element block) in element order, then a stable counting sort by the first
        let mut targets = Vec::with_capacity(stencils.len() * N * (N + 1) / 2);
        for (e, vertices) in stencils.iter().enumerate() {
            for a in 0..N {
                for b in 0..N {
                    if let Some(k) = stencil_position(&pattern, vertices[a], vertices[b])? {
                        targets.push((k as u32, ((e * N + a) * N + b) as u32));
                    }
                }
            }
        }
        let mut start = vec![0u32; pattern.block_count() + 1];
        for &(k, _) in &targets {
            start[k as usize + 1] += 1;
        }
        for k in 0..pattern.block_count() {
            start[k + 1] += start[k];
        }
        let mut next = start.clone();
        let mut sources = vec![0u32; targets.len()];
        for &(k, source) in &targets {
            sources[next[k as usize] as usize] = source;
            next[k as usize] += 1;
        }
        Ok(Self { pattern, stencil_count: stencils.len(), start, sources })
    }

    /// The pattern on which this assembly works.
    pub fn pattern(&self) -> &Arc<BlockPattern> {
        &self.pattern
    }

    /// Adds the element Hessians, one for each stencil, to a matrix on the same pattern.
    pub fn add_to(
        &self,
        matrix: &mut BlockMatrix,
        hessians: &[[[Mat3; N]; N]],
    ) -> Result<(), MatrixError> {
        check_pattern(&self.pattern, matrix.pattern())?;
        check_size("element Hessians", self.stencil_count, hessians.len())?;
        let element_blocks = hessians.as_flattened().as_flattened();
        matrix.blocks_mut().par_iter_mut().enumerate().with_min_len(512).for_each(|(k, block)| {
            for &source in &self.sources[self.start[k] as usize..self.start[k + 1] as usize] {
                *block += element_blocks[source as usize];
            }
        });
        Ok(())
    }
}
