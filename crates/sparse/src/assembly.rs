//! Parallel assembly of element lists that stay the same over many matrices.

use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::Mat3;

use crate::matrix::{check_pattern, check_size, stencil_position};
use crate::{BlockMatrix, BlockPattern, MatrixError};

/// Blocks that a thread sums at once.
const PIECE: usize = 512;

/// A pattern as part of a larger one, into whose matrices it is assembled.
#[derive(Debug, Clone)]
pub struct Embedding {
    part: Arc<BlockPattern>,
    whole: Arc<BlockPattern>,
    /// Position in the whole of each block of the part: ascending, as both patterns are in order.
    position: Vec<u32>,
}

impl Embedding {
    /// `part` in `whole`.
    ///
    /// # Errors
    /// [`MatrixError::MissingBlock`] where the whole lacks a block, [`MatrixError::SizeMismatch`].
    pub fn new(part: Arc<BlockPattern>, whole: Arc<BlockPattern>) -> Result<Self, MatrixError> {
        let position = part.embedding(&whole)?;
        Ok(Self { part, whole, position })
    }

    /// A pattern in itself.
    pub fn identity(pattern: Arc<BlockPattern>) -> Self {
        let position = (0..pattern.block_count() as u32).collect();
        Self { part: pattern.clone(), whole: pattern, position }
    }

    /// The part.
    pub fn part(&self) -> &Arc<BlockPattern> {
        &self.part
    }

    /// The larger pattern.
    pub fn whole(&self) -> &Arc<BlockPattern> {
        &self.whole
    }

    /// Calls `f` for every block of the part, in parallel and in no particular order: its number and
    /// its place in a matrix over the whole.
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

/// Lists of sources, one list for each target, in one array.
#[derive(Debug, Clone)]
struct Lists {
    start: Vec<u32>,
    sources: Vec<u32>,
}

impl Lists {
    /// From (target, source) in the order in which sources are to be summed.
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

/// Where the blocks of a list of stencils over N vertices go, prepared once: for each block of the
/// matrix, which element blocks it sums.
///
/// Every matrix block is summed by one thread in the order of the elements, so the result has the
/// bits of [`BlockMatrix::add_stencil`] called for one element after the other.
#[derive(Debug, Clone)]
pub struct StencilAssembly<const N: usize> {
    pattern: Arc<BlockPattern>,
    stencil_count: usize,
    /// Element blocks of each matrix block, as (element · N + a) · N + b.
    sources: Lists,
}

impl<const N: usize> StencilAssembly<N> {
    /// Prepares the assembly of `stencils` into matrices on `pattern`, which must couple the
    /// vertices of each. Vertices may be [eliminated](BlockPattern::ELIMINATED).
    pub fn new(pattern: Arc<BlockPattern>, stencils: &[[u32; N]]) -> Result<Self, MatrixError> {
        check_sources(stencils.len(), N * N)?;
        // (matrix block, element block) in element order
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
        let sources = Lists::new(pattern.block_count(), &targets);
        Ok(Self { pattern, stencil_count: stencils.len(), sources })
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
        let embedding = Embedding::identity(matrix.pattern().clone());
        self.add_scaled(matrix, &embedding, 1.0, hessians)
    }

    /// Adds `scale` times the element Hessians, one for each stencil, to a matrix on a pattern in which
    /// this assembly's is [embedded](Embedding).
    pub fn add_scaled(
        &self,
        matrix: &mut BlockMatrix,
        embedding: &Embedding,
        scale: f64,
        hessians: &[[[Mat3; N]; N]],
    ) -> Result<(), MatrixError> {
        check_pattern(&self.pattern, embedding.part())?;
        check_pattern(embedding.whole(), matrix.pattern())?;
        check_size("element Hessians", self.stencil_count, hessians.len())?;
        let element_blocks = hessians.as_flattened().as_flattened();
        embedding.for_each(matrix.blocks_mut(), |k, block| {
            for &source in self.sources.of(k) {
                *block += element_blocks[source as usize] * scale;
            }
        });
        Ok(())
    }
}

/// The Hessian of an element over four vertices whose energy translations do not change, by its blocks
/// off the diagonal: (0,1), (0,2), (0,3), (1,2), (1,3), (2,3). Those below are their transposes, those
/// on the diagonal make rows sum to zero.
pub type EdgeBlocks = [Mat3; 6];

/// The vertices (a, b) of each of an element's [`EdgeBlocks`].
pub const EDGES: [(usize, usize); 6] = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];

/// Assembly of [`EdgeBlocks`]: a third of the memory of whole element Hessians, and a diagonal summed
/// from the few blocks of its row.
#[derive(Debug, Clone)]
pub struct EdgeAssembly {
    pattern: Arc<BlockPattern>,
    stencil_count: usize,
    /// Element blocks of each matrix block off the diagonal, as 2 (6 · element + edge), one more where
    /// transposed.
    sources: Lists,
    /// The same of each row's couplings to eliminated vertices.
    eliminated: Lists,
}

impl EdgeAssembly {
    /// Prepares the assembly of `stencils` into matrices on `pattern`, which must couple the
    /// vertices of each. Vertices may be [eliminated](BlockPattern::ELIMINATED).
    pub fn new(pattern: Arc<BlockPattern>, stencils: &[[u32; 4]]) -> Result<Self, MatrixError> {
        check_sources(stencils.len(), 2 * EDGES.len())?;
        let mut targets = Vec::with_capacity(stencils.len() * EDGES.len());
        let mut held = Vec::new();
        for (e, vertices) in stencils.iter().enumerate() {
            for (k, &(a, b)) in EDGES.iter().enumerate() {
                let source = 2 * (EDGES.len() * e + k) as u32;
                // block (a, b) belongs to the row of a
                let (row, col) = (vertices[a], vertices[b]);
                if let Some(k) = stencil_position(&pattern, row, col)? {
                    targets.push((k as u32, source));
                } else if let Some(k) = stencil_position(&pattern, col, row)? {
                    targets.push((k as u32, source + 1));
                } else if row != BlockPattern::ELIMINATED {
                    held.push((row, source));
                } else if col != BlockPattern::ELIMINATED {
                    held.push((col, source + 1));
                }
            }
        }
        let sources = Lists::new(pattern.block_count(), &targets);
        let eliminated = Lists::new(pattern.n(), &held);
        Ok(Self { pattern, stencil_count: stencils.len(), sources, eliminated })
    }

    /// Sets a matrix on a pattern in which this assembly's is [embedded](Embedding) to `scale` times
    /// the sum of all elements, plus `diagonal` times the identity in each row.
    ///
    /// The bits do not depend on the number of threads. Diagonal blocks are exactly symmetric.
    pub fn assemble(
        &self,
        matrix: &mut BlockMatrix,
        embedding: &Embedding,
        scale: f64,
        hessians: &[EdgeBlocks],
        diagonal: &[f64],
    ) -> Result<(), MatrixError> {
        check_pattern(&self.pattern, embedding.part())?;
        check_pattern(embedding.whole(), matrix.pattern())?;
        check_size("element Hessians", self.stencil_count, hessians.len())?;
        check_size("diagonal", self.pattern.n(), diagonal.len())?;
        let element_blocks = hessians.as_flattened();
        let sum = |sources: &[u32]| {
            let mut sum = Mat3::zeros();
            for &source in sources {
                let block = &element_blocks[source as usize / 2];
                if source % 2 == 0 {
                    sum += block;
                } else {
                    sum += block.transpose();
                }
            }
            sum
        };
        if self.pattern.block_count() < matrix.blocks().len() {
            matrix.set_zero();
        }
        embedding
            .for_each(matrix.blocks_mut(), |k, block| *block = sum(self.sources.of(k)) * scale);
        let (blocks, position) = (matrix.blocks(), &embedding.position);
        let row = |i: usize| {
            let mut others = sum(self.eliminated.of(i)) * scale;
            for (_, k) in self.pattern.row(i) {
                others += blocks[position[k] as usize];
            }
            let first = self.pattern.diagonal_position(i);
            for &p in &position[first + 1..first + self.pattern.column(i).len()] {
                others += blocks[p as usize].transpose();
            }
            Mat3::from_diagonal_element(diagonal[i]) - (others + others.transpose()) * 0.5
        };
        let rows: Vec<Mat3> =
            (0..self.pattern.n()).into_par_iter().with_min_len(PIECE).map(row).collect();
        for (i, block) in rows.iter().enumerate() {
            *matrix.diagonal_block_mut(i) = *block;
        }
        Ok(())
    }
}

/// A symmetric Hessian over four vertices: the blocks on the diagonal, then those of [`EDGES`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SymmetricBlocks(pub [Mat3; 10]);

impl From<&[[Mat3; 4]; 4]> for SymmetricBlocks {
    fn from(h: &[[Mat3; 4]; 4]) -> Self {
        let mut blocks = [Mat3::zeros(); 10];
        for (a, block) in blocks.iter_mut().take(4).enumerate() {
            *block = h[a][a];
        }
        for (block, (a, b)) in blocks[4..].iter_mut().zip(EDGES) {
            *block = h[a][b];
        }
        Self(blocks)
    }
}

/// Stencils over up to four vertices that change from matrix to matrix, contacts say, with the places
/// of their blocks.
#[derive(Debug, Clone, Default)]
pub struct StencilPlaces {
    vertices: Vec<[u32; 4]>,
    /// Places of the diagonal blocks, then of those of [`EDGES`]; [`NOWHERE`] where a vertex is
    /// eliminated.
    places: Vec<[u32; 10]>,
}

/// In place of a position: a vertex is eliminated, or the block is not in the pattern.
const NOWHERE: u32 = u32::MAX;

impl StencilPlaces {
    /// Looks the stencils up in a pattern, reusing memory; returns the pairs of vertices whose blocks
    /// it lacks, with repetitions. Vertices may be [eliminated](BlockPattern::ELIMINATED).
    pub fn find(&mut self, pattern: &BlockPattern, stencils: &[[u32; 4]]) -> Vec<(u32, u32)> {
        self.vertices.clear();
        self.vertices.extend_from_slice(stencils);
        let places = |v: &[u32; 4]| {
            let mut places = [NOWHERE; 10];
            for (a, place) in places.iter_mut().take(4).enumerate() {
                if (v[a] as usize) < pattern.n() {
                    *place = pattern.diagonal_position(v[a] as usize) as u32;
                }
            }
            for (place, (a, b)) in places[4..].iter_mut().zip(EDGES) {
                let (row, col) = (v[a].max(v[b]), v[a].min(v[b]));
                if row != BlockPattern::ELIMINATED {
                    *place = pattern.position(row, col).map_or(NOWHERE, |k| k as u32);
                }
            }
            places
        };
        stencils.par_iter().with_min_len(PIECE).map(places).collect_into_vec(&mut self.places);
        let mut missing = Vec::new();
        for (v, places) in stencils.iter().zip(&self.places) {
            for (&place, (a, b)) in places[4..].iter().zip(EDGES) {
                let (row, col) = (v[a].max(v[b]), v[a].min(v[b]));
                if place == NOWHERE && row != BlockPattern::ELIMINATED {
                    missing.push((row, col));
                }
            }
        }
        missing
    }

    /// Number of different blocks off the diagonal that the stencils have.
    pub fn distinct(&self, pattern: &BlockPattern) -> usize {
        let mut used = vec![false; pattern.block_count()];
        let edges = self.places.iter().flat_map(|p| &p[4..]).filter(|&&p| p != NOWHERE);
        edges.filter(|&&p| !std::mem::replace(&mut used[p as usize], true)).count()
    }

    /// Adds `scale` times the Hessians of the stencils from number `first` on to a matrix on the
    /// pattern in which they were found.
    ///
    /// # Errors
    /// [`MatrixError::SizeMismatch`] where there are more Hessians than stencils,
    /// [`MatrixError::MissingBlock`] where a block was not found.
    pub fn add(
        &self,
        matrix: &mut BlockMatrix,
        scale: f64,
        first: usize,
        hessians: &[SymmetricBlocks],
    ) -> Result<(), MatrixError> {
        let end = first + hessians.len();
        let size = |_| MatrixError::SizeMismatch {
            what: "element Hessians",
            expected: self.vertices.len(),
            found: end,
        };
        let vertices = self.vertices.get(first..end).ok_or(()).map_err(size)?;
        let blocks = matrix.blocks_mut();
        for ((v, places), h) in vertices.iter().zip(&self.places[first..end]).zip(hessians) {
            let ((on, off), (at, between)) = (h.0.split_at(4), places.split_at(4));
            for (&place, h) in at.iter().zip(on) {
                if let Some(block) = blocks.get_mut(place as usize) {
                    *block += h * scale;
                }
            }
            for ((&place, h), (a, b)) in between.iter().zip(off).zip(EDGES) {
                let (row, col) = (v[a].max(v[b]), v[a].min(v[b]));
                if let Some(block) = blocks.get_mut(place as usize) {
                    // the block of the lower triangle
                    *block += if row == v[a] { h * scale } else { h.transpose() * scale };
                } else if row != BlockPattern::ELIMINATED {
                    return Err(MatrixError::MissingBlock { row, col });
                }
            }
        }
        Ok(())
    }
}

fn check_sources(stencils: usize, per_stencil: usize) -> Result<(), MatrixError> {
    let ids = stencils.checked_mul(per_stencil).and_then(|k| u32::try_from(k).ok());
    ids.map(|_| ()).ok_or(MatrixError::TooLarge { what: "element blocks" })
}
