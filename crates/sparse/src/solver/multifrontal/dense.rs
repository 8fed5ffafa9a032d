//! Partial Cholesky factorisation of a dense front, in tiles.
//!
//! The tiling is a function of the front's size alone and every tile is computed by one thread with
//! faer's sequential kernels, so the bits do not depend on the number of threads.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::mat::{MatMut, MatRef};
use faer::{Accum, Par};
use rayon::prelude::*;

use super::pool::Pool;
use super::scalar::Scalar;

/// Columns eliminated at once, and terms of a sum that a tile gathers at once: two such slices of
/// tiles and the tile itself stay in a second-level cache.
const PIVOTS: usize = 128;
/// Rows of a tile.
const ROWS: usize = 384;
/// Columns of a tile, a multiple of 2 and of 3.
pub(crate) const WIDTH: usize = 384;
/// Operations (multiplications with addition) below which threads do not pay.
const PARALLEL: usize = 4_000_000;

/// The part of a front that is handed to its parent: the lower triangle of a symmetric matrix, in
/// strips of [`WIDTH`] columns, each from its diagonal down.
#[derive(Debug)]
pub(crate) struct Update<T> {
    pub(crate) n: usize,
    values: Vec<T>,
}

impl<T: Scalar> Update<T> {
    /// n scalar columns of anything.
    pub(crate) fn new(n: usize, pool: &Pool<T>) -> Self {
        let mut len = 0;
        for begin in (0..n).step_by(WIDTH) {
            len += WIDTH.min(n - begin) * (n - begin);
        }
        Self { n, values: pool.take(len) }
    }

    /// Gives the memory back.
    pub(crate) fn give(self, pool: &Pool<T>) {
        pool.give(self.values);
    }

    /// First scalar of the strip that begins at column `begin`.
    fn start(&self, begin: usize) -> usize {
        let p = begin / WIDTH;
        WIDTH * (p * self.n - WIDTH * (p * (p.max(1) - 1) / 2))
    }

    /// Column `j` from row `i` ≥ j on.
    pub(crate) fn column(&self, j: usize, i: usize) -> &[T] {
        let begin = j - j % WIDTH;
        let height = self.n - begin;
        let at = self.start(begin) + (j - begin) * height;
        &self.values[at + i - begin..at + height]
    }

    /// The strips: first column and values of each.
    pub(crate) fn strips(&mut self) -> Vec<(usize, &mut [T])> {
        let mut strips = Vec::with_capacity(self.n.div_ceil(WIDTH));
        let mut rest = &mut self.values[..];
        for begin in (0..self.n).step_by(WIDTH) {
            let (strip, later) = rest.split_at_mut(WIDTH.min(self.n - begin) * (self.n - begin));
            strips.push((begin, strip));
            rest = later;
        }
        strips
    }
}

/// Runs `f` over the items, on several threads if `parallel`.
pub(crate) fn each<I: Send>(items: Vec<I>, parallel: bool, f: impl Fn(I) + Sync + Send) {
    if parallel && items.len() > 1 {
        items.into_par_iter().with_max_len(1).for_each(f);
    } else {
        items.into_iter().for_each(f);
    }
}

/// Factorises the first k columns of a front: `panel` holds them (m × k, column after column),
/// `update` becomes −L₂ L₂ᵀ with the rows below. Returns the first column whose pivot is not positive as the error.
pub(crate) fn partial_cholesky<T: Scalar>(
    panel: &mut [T],
    m: usize,
    k: usize,
    update: &mut Update<T>,
) -> Result<(), usize> {
    let threads = rayon::current_num_threads() > 1;
    let mut memory =
        MemBuffer::new(cholesky_in_place_scratch::<T>(k.min(PIVOTS), Par::Seq, Default::default()));
    for begin in (0..k).step_by(WIDTH) {
        let width = WIDTH.min(k - begin);
        let (before, rest) = panel.split_at_mut(begin * m);
        let before = MatRef::from_column_major_slice(before, m, begin);
        if begin > 0 {
            let columns = MatMut::from_column_major_slice_mut(&mut rest[..width * m], m, width);
            let parallel = threads && (m - begin) * width * begin > PARALLEL;
            let tiles = strip_tiles(columns.subrows_mut(begin, m - begin), begin);
            each(tiles, parallel, |(row, tile)| subtract(tile, Accum::Add, before, row, begin));
        }
        eliminate(&mut rest[..width * m], m, begin, threads, &mut memory)
            .map_err(|column| begin + column)?;
    }
    let u = m - k;
    let panel = MatRef::from_column_major_slice(panel, m, k);
    let mut tiles = Vec::new();
    for (begin, strip) in update.strips() {
        let (height, width) = (u - begin, WIDTH.min(u - begin));
        let strip = MatMut::from_column_major_slice_mut(strip, height, width);
        let strip = strip_tiles(strip, k + begin).into_iter();
        tiles.extend(strip.map(|(row, tile)| (row, k + begin, tile)));
    }
    let parallel = threads && u * u * k > 2 * PARALLEL;
    each(tiles, parallel, |(row, column, tile)| subtract(tile, Accum::Replace, panel, row, column));
    Ok(())
}

/// Factorises a strip of columns, of which the first is number `begin` of the front, from the
/// diagonal down; the columns before have been taken care of.
fn eliminate<T: Scalar>(
    strip: &mut [T],
    m: usize,
    begin: usize,
    threads: bool,
    memory: &mut MemBuffer,
) -> Result<(), usize> {
    let width = strip.len() / m;
    for first in (0..width).step_by(PIVOTS) {
        let pivots = PIVOTS.min(width - first);
        let top = begin + first;
        let (before, rest) = strip.split_at_mut(first * m);
        let before = MatRef::from_column_major_slice(before, m, first);
        let columns = MatMut::from_column_major_slice_mut(&mut rest[..pivots * m], m, pivots);
        let (mut pivot, below) = columns.split_at_row_mut(top).1.split_at_row_mut(pivots);
        subtract(pivot.as_mut(), Accum::Add, before, top, top);
        let stack = MemStack::new(memory);
        cholesky_in_place(pivot.as_mut(), Default::default(), Par::Seq, stack, Default::default())
            .map_err(|LltError::NonPositivePivot { index }| first + index)?;
        let pivot = pivot.as_ref();
        let parallel = threads && (m - top) * pivots * (first + pivots) > PARALLEL;
        each(row_tiles(below, top + pivots), parallel, |(row, mut tile)| {
            subtract(tile.as_mut(), Accum::Add, before, row, top);
            solve_lower_triangular_in_place(pivot, tile.transpose_mut(), Par::Seq);
        });
    }
    Ok(())
}

/// C ← C − L₁ L₂ᵀ or C ← −L₁ L₂ᵀ with the rows of L from `row` on and from `column` on; the lower
/// triangle only where these are the same.
fn subtract<T: Scalar>(
    mut tile: MatMut<'_, T>,
    mut accum: Accum,
    l: MatRef<'_, T>,
    row: usize,
    column: usize,
) {
    for first in (0..l.ncols()).step_by(PIVOTS) {
        let terms = PIVOTS.min(l.ncols() - first);
        let left = l.submatrix(row, first, tile.nrows(), terms);
        let right = l.submatrix(column, first, tile.ncols(), terms).transpose();
        let tile = tile.as_mut();
        if row == column {
            let (lower, full) = (BlockStructure::TriangularLower, BlockStructure::Rectangular);
            triangular::matmul(tile, lower, accum, left, full, right, full, -T::ONE, Par::Seq);
        } else {
            matmul(tile, accum, left, right, -T::ONE, Par::Seq);
        }
        accum = Accum::Add;
    }
}

/// Cuts a strip that begins at its diagonal, row `first`, into the tile of the diagonal and tiles of
/// [`ROWS`] rows below.
fn strip_tiles<T>(strip: MatMut<'_, T>, first: usize) -> Vec<(usize, MatMut<'_, T>)> {
    let width = strip.ncols();
    let (diagonal, below) = strip.split_at_row_mut(width);
    let mut tiles = vec![(first, diagonal)];
    tiles.extend(row_tiles(below, first + width));
    tiles
}

/// Cuts a matrix whose first row is number `first` into tiles of [`ROWS`] rows.
fn row_tiles<T>(matrix: MatMut<'_, T>, first: usize) -> Vec<(usize, MatMut<'_, T>)> {
    let mut tiles = Vec::with_capacity(matrix.nrows().div_ceil(ROWS));
    let (mut rest, mut first) = (matrix, first);
    while rest.nrows() > 0 {
        let rows = ROWS.min(rest.nrows());
        let (tile, later) = rest.split_at_row_mut(rows);
        tiles.push((first, tile));
        (rest, first) = (later, first + rows);
    }
    tiles
}
