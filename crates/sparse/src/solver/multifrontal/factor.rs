//! Numeric factorisation: fronts are assembled from the matrix and from the updates of their
//! children, eliminated, and leave an update for their parent [Duff & Reid 1983].

use standoff_linalg::Mat3;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::analysis::{Analysis, Front};
use super::dense::{Update, WIDTH, each, partial_cholesky};
use super::pool::Pool;
use super::scalar::{LANES, Scalar};
use super::traverse::{GRAIN, Pieces};
use crate::SolveError;

/// Scalars of a front from which threads share its assembly.
const PARALLEL: usize = 400_000;

/// Cholesky factor of a permuted matrix, the panels of its fronts one after the other.
#[derive(Debug, Default)]
pub(crate) struct Factor<T> {
    values: Vec<T>,
    pool: Pool<T>,
}

impl<T: Scalar> Factor<T> {
    /// Makes room for a factor; keeps the memory it has if that is enough.
    pub(crate) fn reserve(&mut self, analysis: &Analysis) -> Result<(), SolveError> {
        let len = analysis.factor_len();
        if self.values.len() < len {
            // free first: both at once could exceed the memory
            self.values = Vec::new();
            // some slack, as contacts make factors grow
            let slack = self.values.try_reserve_exact(len.saturating_add(len / 8));
            slack
                .or_else(|_| self.values.try_reserve_exact(len))
                .map_err(|_| SolveError::OutOfMemory { nonzeros: len })?;
            self.values.resize(self.values.capacity(), T::default());
        }
        Ok(())
    }

    /// Gives the memory back.
    pub(crate) fn free(&mut self) {
        self.values = Vec::new();
        self.pool.clear();
    }

    /// The panel of a front.
    pub(crate) fn panel(&self, analysis: &Analysis, f: usize) -> &[T] {
        &self.values[analysis.panels[f]..analysis.panels[f + 1]]
    }

    /// Factorises `scale` times the matrix with these blocks; a block row whose pivot is not positive
    /// is the error.
    pub(crate) fn compute(
        &mut self,
        analysis: &Analysis,
        blocks: &[Mat3],
        scale: f64,
    ) -> Result<(), usize> {
        match analysis.unknowns {
            1 => self.compute_of::<1>(analysis, blocks, scale),
            2 => self.compute_of::<2>(analysis, blocks, scale),
            _ => self.compute_of::<3>(analysis, blocks, scale),
        }
    }

    /// The same with `U` scalar columns in a block column.
    fn compute_of<const U: usize>(
        &mut self,
        analysis: &Analysis,
        blocks: &[Mat3],
        scale: f64,
    ) -> Result<(), usize> {
        let pieces = Pieces { analysis, start: &analysis.panels, grain: GRAIN };
        let values = &mut self.values[..analysis.factor_len()];
        let pool = &self.pool;
        // the first front in order that failed, after which no other matters
        let failed = AtomicUsize::new(usize::MAX);
        pieces.bottom_up(values, &|f, panel, children: Vec<Update<T>>| {
            if f > failed.load(Relaxed) {
                children.into_iter().for_each(|child| child.give(pool));
                return Err(usize::MAX);
            }
            let front = &analysis.fronts[f];
            let (m, k) = (U * front.m, U * front.k);
            let mut update = Update::new(m - k, pool);
            let sum = Assembly::<T, U>::new(analysis, f, &children);
            sum.panel(panel, blocks, scale);
            let result = partial_cholesky(panel, m, k, &mut update);
            sum.update(&mut update);
            children.into_iter().for_each(|child| child.give(pool));
            match result {
                Ok(()) => Ok(update),
                Err(column) => {
                    failed.fetch_min(f, Relaxed);
                    let old = analysis.permutation.new_to_old();
                    Err(old[front.first + column / U] as usize)
                }
            }
        })
    }
}

/// A child's update with the rows that it has in the parent.
struct Child<'a, T, const U: usize> {
    update: &'a Update<T>,
    /// Block rows of the parent.
    relative: &'a [u32],
    /// Neighbouring block rows that are neighbours in the parent too: the end of each such run.
    run_end: Vec<u32>,
}

/// What a front is the sum of: the matrix' entries and the children's updates.
struct Assembly<'a, T, const U: usize> {
    analysis: &'a Analysis,
    front: &'a Front,
    children: Vec<Child<'a, T, U>>,
}

impl<'a, T: Scalar, const U: usize> Assembly<'a, T, U> {
    fn new(analysis: &'a Analysis, f: usize, children: &'a [Update<T>]) -> Self {
        let numbers = analysis.children(f).iter().map(|&c| analysis.relative(c as usize));
        let children = children.iter().zip(numbers).map(|(u, r)| Child::new(u, r)).collect();
        Self { analysis, front: &analysis.fronts[f], children }
    }

    /// Writes the columns to be eliminated.
    fn panel(&self, panel: &mut [T], blocks: &[Mat3], scale: f64) {
        let parallel = panel.len() >= PARALLEL && rayon::current_num_threads() > 1;
        let height = U * self.front.m;
        // columns in packs of some thousand scalars
        let pack = (4096 / height.max(1)).max(1);
        let columns = panel.chunks_mut(U * height * pack).enumerate().collect();
        each(columns, parallel, |(p, columns): (usize, &mut [T])| {
            columns.fill(T::default());
            for (c, column) in columns.chunks_exact_mut(U * height).enumerate() {
                let j = p * pack + c;
                for (block, row, transposed) in self.analysis.entries(self.front.first + j) {
                    let block = &blocks[block];
                    for t in 0..U {
                        for r in 0..U {
                            let v = if transposed { block[(t, r)] } else { block[(r, t)] };
                            column[t * height + U * row + r] = T::round(scale * v);
                        }
                    }
                }
                self.children.iter().for_each(|child| child.add_to(j, 0, column, height));
            }
        });
    }

    /// Adds the children's part of what is handed on.
    fn update(&self, update: &mut Update<T>) {
        const { assert!(WIDTH.is_multiple_of(U)) };
        if self.children.is_empty() {
            return;
        }
        let n = update.n;
        let parallel = n * n >= PARALLEL && rayon::current_num_threads() > 1;
        each(update.strips(), parallel, |(begin, strip)| {
            let height = n - begin;
            let first = self.front.k + begin / U;
            for (c, column) in strip.chunks_exact_mut(U * height).enumerate() {
                let j = first + c;
                self.children.iter().for_each(|child| child.add_to(j, first, column, height));
            }
        });
    }
}

impl<'a, T: Scalar, const U: usize> Child<'a, T, U> {
    fn new(update: &'a Update<T>, relative: &'a [u32]) -> Self {
        let mut run_end = Vec::new();
        for i in 1..=relative.len() {
            if relative.get(i) != Some(&(relative[i - 1] + 1)) {
                run_end.push(i as u32);
            }
        }
        Self { update, relative, run_end }
    }

    /// Adds what falls into block column `j` of the parent to its scalar columns, given from
    /// block row `top` on with `height` scalars each.
    fn add_to(&self, j: usize, top: usize, columns: &mut [T], height: usize) {
        let Ok(c) = self.relative.binary_search(&(j as u32)) else { return };
        let source: [&[T]; U] = std::array::from_fn(|t| self.update.column(U * c + t, U * c));
        let mut i = c;
        let mut run = self.run_end.partition_point(|&end| end as usize <= c);
        while i < self.relative.len() {
            let end = self.run_end[run] as usize;
            let to = U * (self.relative[i] as usize - top);
            for t in 0..U {
                let from = &source[t][U * (i - c)..U * (end - c)];
                add(&mut columns[t * height + to..][..from.len()], from);
            }
            i = end;
            run += 1;
        }
    }
}

/// y ← y + x.
#[inline(always)]
fn add<T: Scalar>(y: &mut [T], x: &[T]) {
    // most are short: whole vectors of one length, not several at once
    let (vectors, rest) = y.as_chunks_mut::<LANES>();
    let (from, from_rest) = x.as_chunks::<LANES>();
    for (y, x) in vectors.iter_mut().zip(from) {
        for l in 0..LANES {
            y[l] += x[l];
        }
    }
    for (y, &x) in rest.iter_mut().zip(from_rest) {
        *y += x;
    }
}
