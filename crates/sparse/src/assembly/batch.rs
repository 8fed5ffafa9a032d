//! Consecutive stencils of a list, and where their Hessian blocks go.

use std::ops::Range;

use rayon::prelude::*;
use standoff_linalg::Mat3;

use super::{Layout, PIECE, Stencils};
use crate::matrix::stencil_position;
use crate::{BlockPattern, MatrixError};

/// Element blocks of a batch: as many as a cache holds. The blocks of all elements take a multiple of the
/// memory of the matrix.
const BATCH: usize = 20_480;

/// Batches begin at multiples of this number of stencils, so that kernels that compute several elements
/// at once group them as they would without batches.
const GROUP: usize = 64;

/// Consecutive stencils of a list, whose blocks are added at once.
#[derive(Debug, Clone)]
pub struct Batch {
    pub(super) list: usize,
    pub(super) stencils: Range<usize>,
    pub(super) blocks: usize,
    /// Into the matrix, from a list without a diagonal.
    pub(super) balanced: Sums,
    /// Into the sums of `eliminated`.
    pub(super) eliminated: Sums,
    /// Into the sums of `complete`.
    pub(super) complete: Sums,
}

impl Batch {
    /// Number of the list.
    pub fn list(&self) -> usize {
        self.list
    }

    /// Its stencils within the list.
    pub fn stencils(&self) -> Range<usize> {
        self.stencils.clone()
    }

    /// Number of stored blocks of these stencils.
    pub fn block_count(&self) -> usize {
        self.blocks
    }

    /// About [`BATCH`] blocks of a list, at least one stencil, from stencil `begin` on.
    pub(super) fn new(
        pattern: &BlockPattern,
        list: usize,
        stencils: &Stencils<'_>,
        layout: Layout,
        begin: usize,
    ) -> Result<Self, MatrixError> {
        let (mut balanced, mut eliminated, mut complete) = (Vec::new(), Vec::new(), Vec::new());
        let (mut end, mut blocks) = (begin, 0);
        for i in begin..stencils.len() {
            let stencil = stencils.get(i);
            let count = layout.block_count(stencil.len());
            if blocks + count > BATCH && (i - begin).is_multiple_of(GROUP) && i > begin {
                break;
            }
            let places = Places { pattern, first: blocks };
            check_sources(blocks + count)?;
            for (k, local) in layout.pairs(stencil.len()).enumerate() {
                let ends = [stencil[local.0], stencil[local.1]];
                match layout {
                    Layout::Complete => places.add_complete(k, local, ends, &mut complete)?,
                    Layout::OffDiagonal => {
                        places.add_balanced(k, ends, &mut balanced, &mut eliminated)?;
                    }
                }
            }
            (end, blocks) = (i + 1, blocks + count);
        }
        Ok(Self {
            list,
            stencils: begin..end,
            blocks,
            balanced: Sums::new(balanced),
            eliminated: Sums::new(eliminated),
            complete: Sums::new(complete),
        })
    }
}

/// Σ of element blocks, some of them transposed, added to one sum.
#[inline]
fn add_to(mut sum: Mat3, blocks: &[Mat3], sources: &[u32]) -> Mat3 {
    for &source in sources {
        let block = &blocks[source as usize / 2];
        if source.is_multiple_of(2) {
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

/// (target, source) pairs; sources ascend.
type Pairs = Vec<(u32, u32)>;

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
        to: &mut Pairs,
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
        to: &mut Pairs,
        eliminated: &mut Pairs,
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

/// Which element blocks of a batch each target sums, as 2 · block, one more where it is transposed.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    /// Ascending.
    pub(super) targets: Vec<u32>,
    /// Where each target's sources begin, and where the last one's end.
    start: Vec<u32>,
    sources: Vec<u32>,
}

impl Sums {
    fn new(mut pairs: Pairs) -> Self {
        // the order of the sources is that of the sums
        pairs.sort_unstable();
        let (mut targets, mut start) = (Vec::new(), Vec::new());
        for (k, &(target, _)) in pairs.iter().enumerate() {
            if targets.last() != Some(&target) {
                targets.push(target);
                start.push(k as u32);
            }
        }
        start.push(pairs.len() as u32);
        targets.shrink_to_fit();
        start.shrink_to_fit();
        Self { targets, start, sources: pairs.iter().map(|p| p.1).collect() }
    }

    /// Adds the sources of every target, in parallel. `place` is the index in `out` of a target, and ascends.
    pub(super) fn add(
        &self,
        blocks: &[Mat3],
        out: &mut [Mat3],
        place: impl Fn(u32) -> usize + Sync,
    ) {
        let mut rest = out;
        let mut taken = 0;
        let mut pieces = Vec::with_capacity(self.targets.len() / PIECE + 1);
        for (k, targets) in self.targets.chunks(PIECE).enumerate() {
            // places ascend, so the pieces' ranges follow each other
            let end = targets.last().map_or(taken, |&t| place(t) + 1);
            let (piece, tail) = rest.split_at_mut(end - taken);
            pieces.push((k * PIECE, targets, taken, piece));
            (rest, taken) = (tail, end);
        }
        pieces.into_par_iter().for_each(|(first, targets, begin, piece)| {
            for (k, &target) in (first..).zip(targets) {
                let sources = &self.sources[self.start[k] as usize..self.start[k + 1] as usize];
                let sum = &mut piece[place(target) - begin];
                *sum = add_to(*sum, blocks, sources);
            }
        });
    }
}

fn check_sources(blocks: usize) -> Result<(), MatrixError> {
    let ids = blocks.checked_mul(2).and_then(|k| u32::try_from(k).ok());
    ids.map(|_| ()).ok_or(MatrixError::TooLarge { what: "element blocks" })
}
