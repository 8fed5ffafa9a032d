//! Assembly of stencils that change from matrix to matrix, contacts say.

use rayon::prelude::*;
use standoff_linalg::Mat3;
use std::ops::Range;

use super::{PIECE, Stencils, block_count, block_pairs};
use crate::{BlockMatrix, BlockPattern, MatrixError};

/// In place of a position: a vertex is eliminated, or the block is not in the pattern.
const NOWHERE: u32 = u32::MAX;

/// Lists of stencils over the rows of a matrix, with the places of their blocks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VariableAssembly {
    /// Rows of all stencils, one after the other.
    rows: Vec<u32>,
    /// Where each stencil's rows begin, and where the last one's end.
    begin: Vec<u32>,
    /// Places of each stencil's blocks, in the order of [`block_pairs`].
    places: Vec<u32>,
    /// Where each stencil's places begin, and where the last one's end.
    places_begin: Vec<usize>,
    /// Whether the pattern had all blocks.
    complete: bool,
}

impl VariableAssembly {
    /// Looks lists of stencils up in a pattern, reusing memory. `row` is the row of a vertex, or
    /// [`BlockPattern::ELIMINATED`]. The stencils are numbered list after list.
    ///
    /// Returns the pairs of rows whose blocks the pattern lacks, with repetitions.
    pub fn find(
        &mut self,
        pattern: &BlockPattern,
        lists: &[Stencils<'_>],
        row: impl Fn(u32) -> u32,
    ) -> Vec<(u32, u32)> {
        self.rows.clear();
        self.begin.clear();
        self.begin.push(0);
        self.places_begin.clear();
        self.places_begin.push(0);
        let mut end = 0;
        for stencil in lists.iter().flat_map(Stencils::iter) {
            self.rows.extend(stencil.iter().map(|&v| row(v)));
            self.begin.push(self.rows.len() as u32);
            end += block_count(stencil.len());
            self.places_begin.push(end);
        }
        self.find_again(pattern)
    }

    /// Looks the same stencils up in another pattern; else as [`VariableAssembly::find`].
    pub fn find_again(&mut self, pattern: &BlockPattern) -> Vec<(u32, u32)> {
        self.places.clear();
        self.places.resize(self.places_begin.last().copied().unwrap_or(0), NOWHERE);
        let Self { rows, begin, places_begin, places, .. } = self;
        let pieces = pieces(places_begin, places);
        let search = |(stencils, mut piece): (Range<usize>, &mut [u32])| {
            let mut missing = Vec::new();
            for i in stencils {
                let stencil = &rows[begin[i] as usize..begin[i + 1] as usize];
                let (places, tail) = piece.split_at_mut(block_count(stencil.len()));
                if !look_up(pattern, stencil, places) {
                    missing.extend(missing_blocks(stencil, places));
                }
                piece = tail;
            }
            missing
        };
        let missing: Vec<Vec<(u32, u32)>> = pieces.into_par_iter().map(search).collect();
        let missing = missing.concat();
        self.complete = missing.is_empty();
        missing
    }

    /// Goes over from the pattern of the last search to one that holds it and more: places are moved, and only blocks
    /// that had none are searched. The outcome is that of [`VariableAssembly::find_again`].
    ///
    /// # Errors
    /// A `new` pattern that lacks blocks of the `old` one.
    pub fn extend(&mut self, old: &BlockPattern, new: &BlockPattern) -> Result<(), MatrixError> {
        let moved = old.embedding(new)?;
        let Self { rows, begin, places_begin, places, .. } = self;
        let extend = |(stencils, mut piece): (Range<usize>, &mut [u32])| {
            let mut complete = true;
            for i in stencils {
                let stencil = &rows[begin[i] as usize..begin[i + 1] as usize];
                let (places, tail) = piece.split_at_mut(block_count(stencil.len()));
                let mut found = true;
                for place in places.iter_mut() {
                    match moved.get(*place as usize) {
                        Some(&to) => *place = to,
                        None => found = false,
                    }
                }
                if !found {
                    complete &= look_up(new, stencil, places)
                        || missing_blocks(stencil, places).next().is_none();
                }
                piece = tail;
            }
            complete
        };
        let complete = pieces(places_begin, places).into_par_iter().map(extend);
        let complete = complete.reduce(|| true, |a, b| a && b);
        self.complete = complete;
        Ok(())
    }

    /// Number of stencils.
    pub fn len(&self) -> usize {
        self.begin.len().saturating_sub(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Rows of stencil `i` and places of its blocks.
    #[inline]
    fn get(&self, i: usize) -> (&[u32], &[u32]) {
        let rows = &self.rows[self.begin[i] as usize..self.begin[i + 1] as usize];
        (rows, &self.places[self.places_begin[i]..self.places_begin[i + 1]])
    }

    /// Number of different blocks off the diagonal that the stencils have.
    pub fn distinct(&self, pattern: &BlockPattern) -> usize {
        let mut used = vec![false; pattern.block_count()];
        let mut count = 0;
        for i in 0..self.len() {
            let (stencil, places) = self.get(i);
            for &place in places[stencil.len()..].iter().filter(|&&p| p != NOWHERE) {
                count += usize::from(!std::mem::replace(&mut used[place as usize], true));
            }
        }
        count
    }

    /// Adds `scale` times the Hessians of the stencils from number `first` on to a matrix on the
    /// pattern in which they were found; `blocks` holds the stored blocks of one after the other, as
    /// many as there are. One thread does it, so that others can compute the next blocks.
    ///
    /// # Errors
    /// [`MatrixError::SizeMismatch`] where the blocks are not those of whole stencils,
    /// [`MatrixError::MissingBlock`] where a block was not found.
    pub fn add(
        &self,
        matrix: &mut BlockMatrix,
        scale: f64,
        first: usize,
        blocks: &[Mat3],
    ) -> Result<(), MatrixError> {
        let start = self.places_begin.get(first).copied().unwrap_or(usize::MAX);
        let end = start.saturating_add(blocks.len());
        let Ok(last) = self.places_begin.binary_search(&end) else {
            let expected = self.places.len().saturating_sub(start);
            return Err(MatrixError::SizeMismatch {
                what: "blocks of stencils",
                expected,
                found: blocks.len(),
            });
        };
        if let Some(missing) = self.missing(first..last) {
            return Err(missing);
        }
        let mut rest = blocks;
        for i in first..last {
            let (stencil, places) = self.get(i);
            let (h, tail) = rest.split_at(places.len());
            // sizes that the compiler knows
            match stencil.len() {
                2 => add_blocks(matrix.blocks_mut(), stencil, places, scale, h, 2),
                3 => add_blocks(matrix.blocks_mut(), stencil, places, scale, h, 3),
                4 => add_blocks(matrix.blocks_mut(), stencil, places, scale, h, 4),
                n => add_blocks(matrix.blocks_mut(), stencil, places, scale, h, n),
            }
            rest = tail;
        }
        Ok(())
    }

    /// The first block of some stencils that was not found and is not of an eliminated vertex.
    fn missing(&self, mut stencils: Range<usize>) -> Option<MatrixError> {
        let of = |i| {
            let (stencil, places) = self.get(i);
            missing_blocks(stencil, places).next()
        };
        let missing = if self.complete { None } else { stencils.find_map(of) };
        missing.map(|(row, col)| MatrixError::MissingBlock { row, col })
    }
}

/// Pieces of as many stencils each, with their places, which lie one after the other.
fn pieces<'a>(places_begin: &[usize], places: &'a mut [u32]) -> Vec<(Range<usize>, &'a mut [u32])> {
    let count = places_begin.len().saturating_sub(1);
    let mut rest = places;
    let mut pieces = Vec::with_capacity(count.div_ceil(PIECE));
    for first in (0..count).step_by(PIECE) {
        let end = (first + PIECE).min(count);
        let (piece, tail) = rest.split_at_mut(places_begin[end] - places_begin[first]);
        pieces.push((first..end, piece));
        rest = tail;
    }
    pieces
}

/// Rows and columns of the blocks of a stencil that have no place, but for those of eliminated vertices.
fn missing_blocks(stencil: &[u32], places: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    let off_diagonal = block_pairs(stencil.len()).zip(places).skip(stencil.len());
    let missing = off_diagonal.filter(|(_, place)| **place == NOWHERE);
    let blocks =
        missing.map(|((a, b), _)| (stencil[a].max(stencil[b]), stencil[a].min(stencil[b])));
    blocks.filter(|(row, _)| *row != BlockPattern::ELIMINATED)
}

/// Positions in a pattern of the blocks of a stencil; whether there is none without.
#[inline]
fn look_up(pattern: &BlockPattern, stencil: &[u32], places: &mut [u32]) -> bool {
    // in the order of `block_pairs`, which as an iterator costs as much as the search
    let n = stencil.len();
    let diagonal = |row: u32| match (row as usize) < pattern.n() {
        true => pattern.diagonal_position(row as usize) as u32,
        false => NOWHERE,
    };
    for (place, &row) in places.iter_mut().zip(stencil) {
        *place = diagonal(row);
    }
    let mut k = n;
    for a in 0..n {
        for b in a + 1..n {
            let (row, col) = (stencil[a].max(stencil[b]), stencil[a].min(stencil[b]));
            places[k] = match row {
                BlockPattern::ELIMINATED => NOWHERE,
                _ if row == col => diagonal(row),
                _ => pattern.position(row, col).map_or(NOWHERE, |k| k as u32),
            };
            k += 1;
        }
    }
    places.iter().all(|&place| place != NOWHERE)
}

#[inline(always)]
fn add_blocks(
    matrix: &mut [Mat3],
    stencil: &[u32],
    places: &[u32],
    scale: f64,
    h: &[Mat3],
    n: usize,
) {
    for (&place, h) in places[..n].iter().zip(&h[..n]) {
        if let Some(block) = matrix.get_mut(place as usize) {
            *block += h * scale;
        }
    }
    let mut k = n;
    for a in 0..n {
        for b in a + 1..n {
            let (place, h) = (places[k], &h[k]);
            k += 1;
            if let Some(block) = matrix.get_mut(place as usize) {
                // the block of the lower triangle; both images where a vertex is named twice
                let row = stencil[a].max(stencil[b]);
                if row == stencil[a] {
                    *block += h * scale;
                }
                if row == stencil[b] {
                    *block += h.transpose() * scale;
                }
            }
        }
    }
}
