//! Rows of a front in the order in which kernels read them.

use std::ops::Range;

use standoff_linalg::lanes::Width;

use crate::solver::multifrontal::pool::Pool;
use crate::solver::multifrontal::scalar::Scalar;

/// Most vectors of a block of rows.
const VECTORS: usize = 3;
/// The same where vectors have fewer than four lanes.
const SHORT_VECTORS: usize = 4;
/// Columns that are computed at once.
const COLUMNS: usize = 8;
/// The same where a processor has few registers.
const FEW_COLUMNS: usize = 4;

/// How rows are divided into blocks, on a vector unit.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub(super) lanes: usize,
    /// Rows of a whole block, a multiple of `columns`.
    pub(super) rows: usize,
    /// Columns that are computed at once.
    pub(super) columns: usize,
}

impl Blocks {
    #[inline(always)]
    pub(super) fn of<T: Scalar, W: Width>() -> Self {
        let lanes = T::lanes::<W>();
        let vectors = if lanes < 4 { SHORT_VECTORS } else { VECTORS };
        let many = lanes >= COLUMNS && W::REGISTER_COUNT >= 32;
        Self { lanes, rows: vectors * lanes, columns: if many { COLUMNS } else { FEW_COLUMNS } }
    }

    /// Rows of the block that begins at row `first` of `rows`, some of which may lie behind the last row.
    #[inline(always)]
    fn height(self, first: usize, rows: usize) -> usize {
        if self.lanes < 4 {
            return self.rows;
        }
        self.rows.min((rows - first).next_multiple_of(self.lanes))
    }

    /// First row and height of each block.
    #[inline(always)]
    pub(super) fn all(self, rows: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..rows).step_by(self.rows).map(move |first| (first, self.height(first, rows)))
    }
}

/// Some rows of some columns of a front: block of rows after block of rows, and in each block column after column.
/// Rows and columns are filled up with zeros.
pub(super) struct Packed<T> {
    pub(super) values: Vec<T>,
    pub(super) rows: usize,
    pub(super) terms: usize,
}

/// [`Packed`] rows that are read.
#[derive(Clone, Copy)]
pub(super) struct View<'a, T> {
    pub(super) values: &'a [T],
    pub(super) rows: usize,
    pub(super) terms: usize,
}

/// Rows of a block at most: three vectors of sixteen numbers.
pub(super) const MOST_ROWS: usize = 48;

impl<'a, T: Scalar> View<'a, T> {
    /// The columns of a block of rows from row `row` of it on, and how far one column is behind the last.
    #[inline(always)]
    pub(super) fn behind(self, blocks: Blocks, row: usize) -> (&'a [T], usize) {
        let first = row - row % blocks.rows;
        let height = blocks.height(first, self.rows);
        let start = first * self.terms;
        (&self.values[start + row - first..start + height * self.terms], height)
    }
}

impl<T: Scalar> Packed<T> {
    /// Those rows of those columns of a panel of `m` rows.
    #[inline(always)]
    pub(super) fn new<W: Width>(
        _: W,
        panel: &[T],
        m: usize,
        rows: Range<usize>,
        columns: Range<usize>,
        pool: &Pool<T>,
    ) -> Self {
        let blocks = Blocks::of::<T, W>();
        let terms = columns.len().next_multiple_of(blocks.columns);
        let total: usize = blocks.all(rows.len()).map(|(_, height)| height).sum();
        let mut values = pool.take(total * terms);
        for (first, height) in blocks.all(rows.len()) {
            let used = height.min(rows.len() - first);
            let block = &mut values[first * terms..][..height * terms];
            let (some, none) = block.split_at_mut(height * columns.len());
            for (to, c) in some.chunks_exact_mut(height).zip(columns.clone()) {
                let (to, rest) = to.split_at_mut(used);
                to.copy_from_slice(&panel[c * m + rows.start + first..][..used]);
                rest.fill(T::default());
            }
            none.fill(T::default());
        }
        Self { values, rows: rows.len(), terms }
    }

    pub(super) fn give(self, pool: &Pool<T>) {
        pool.give(self.values);
    }

    pub(super) fn view(&self) -> View<'_, T> {
        View { values: &self.values, rows: self.rows, terms: self.terms }
    }

    /// The rows before row `first`, where a block begins, and this block.
    #[inline(always)]
    pub(super) fn split_at_row(&mut self, first: usize, height: usize) -> (View<'_, T>, &mut [T]) {
        let (before, rest) = self.values.split_at_mut(first * self.terms);
        let view = View { values: before, rows: self.rows, terms: self.terms };
        (view, &mut rest[..height * self.terms])
    }

    /// The blocks of rows.
    pub(super) fn blocks_mut<W: Width>(&mut self, _: W) -> impl Iterator<Item = &mut [T]> {
        let rows = Blocks::of::<T, W>().rows;
        self.values.chunks_mut(rows * self.terms)
    }

    /// Writes the rows to a panel of `m` rows, from a row and a column on.
    #[inline(always)]
    pub(super) fn unpack<W: Width>(
        &self,
        _: W,
        panel: &mut [T],
        m: usize,
        row: usize,
        columns: Range<usize>,
    ) {
        for (first, height) in Blocks::of::<T, W>().all(self.rows) {
            let used = height.min(self.rows - first);
            let block = &self.values[first * self.terms..][..height * self.terms];
            for (from, c) in block.chunks_exact(height).zip(columns.clone()) {
                panel[c * m + row + first..][..used].copy_from_slice(&from[..used]);
            }
        }
    }
}
