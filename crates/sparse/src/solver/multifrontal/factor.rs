//! Numeric factorisation: fronts are assembled from the matrix and from the updates of their
//! children, eliminated, and leave an update for their parent [Duff & Reid 1983].

use standoff_linalg::Mat3;
use standoff_linalg::lanes::{self, Kernel, Width};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::analysis::{Analysis, Front};
use super::dense::{PartialCholesky, Update, WIDTH, each};
use super::pool::Pool;
use super::scalar::Scalar;
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
            let capacity = self.values.capacity();
            // there is that much; zeros from the system are written where the threads first use them
            self.values = Vec::new();
            self.values = vec![T::default(); capacity];
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
            sum.update(&mut update);
            children.into_iter().for_each(|child| child.give(pool));
            let result =
                lanes::dispatch_widest(PartialCholesky { panel, m, k, update: &mut update, pool });
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
        let children = children
            .iter()
            .zip(numbers)
            .map(|(update, relative)| Child { update, relative })
            .collect();
        Self { analysis, front: &analysis.fronts[f], children }
    }

    /// Writes the columns to be eliminated.
    fn panel(&self, panel: &mut [T], blocks: &[Mat3], scale: f64) {
        let parallel = panel.len() >= PARALLEL && rayon::current_num_threads() > 1;
        let height = U * self.front.m;
        let pack = columns_per_pack(height);
        let columns = panel.chunks_mut(U * height * pack).enumerate();
        each(columns, parallel, |(p, columns): (usize, &mut [T])| {
            columns.fill(T::default());
            let first = p * pack;
            for (c, column) in columns.chunks_exact_mut(U * height).enumerate() {
                for (block, row, transposed) in self.analysis.entries(self.front.first + first + c)
                {
                    let block = &blocks[block];
                    for t in 0..U {
                        for r in 0..U {
                            let v = if transposed { block[(t, r)] } else { block[(r, t)] };
                            column[t * height + U * row + r] = T::round(scale * v);
                        }
                    }
                }
            }
            for child in &self.children {
                lanes::dispatch(ExtendAdd { child, first, top: 0, height, columns: &mut *columns });
            }
        });
    }

    /// Writes the children's part of what is handed on.
    fn update(&self, update: &mut Update<T>) {
        const { assert!(WIDTH.is_multiple_of(U)) };
        let n = update.n;
        let parallel = n * n >= PARALLEL && rayon::current_num_threads() > 1;
        each(update.strips(), parallel, |(begin, strip)| {
            let height = n - begin;
            let top = self.front.k + begin / U;
            let pack = columns_per_pack(height);
            for (p, columns) in strip.chunks_mut(U * height * pack).enumerate() {
                let first = top + p * pack;
                columns.fill(T::default());
                for child in &self.children {
                    lanes::dispatch(ExtendAdd {
                        child,
                        first,
                        top,
                        height,
                        columns: &mut *columns,
                    });
                }
            }
        });
    }
}

/// Block columns that are assembled at once: some thousand scalars, which stay in the first-level cache.
fn columns_per_pack(height: usize) -> usize {
    (4096 / height.max(1)).max(1)
}

/// Adds what a child hands on to the block columns of its parent from `first` on, given from block row `top` on with
/// `height` scalars per column.
struct ExtendAdd<'a, 'b, T, const U: usize> {
    child: &'a Child<'b, T, U>,
    first: usize,
    top: usize,
    height: usize,
    columns: &'a mut [T],
}

impl<T: Scalar, const U: usize> Kernel for ExtendAdd<'_, '_, T, U> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, _: W) {
        let Self { child, first, top, height, columns } = self;
        let Child { update, relative } = child;
        let last = first + columns.len() / (U * height);
        let begin = relative.partition_point(|&j| (j as usize) < first);
        for c in begin..relative.len() {
            let j = relative[c] as usize;
            if j >= last {
                break;
            }
            let to = &mut columns[U * height * (j - first)..][..U * height];
            for (t, to) in to.chunks_exact_mut(height).enumerate() {
                let from = update.column(U * c + t, U * c);
                for (from, &row) in from.as_chunks::<U>().0.iter().zip(&relative[c..]) {
                    let at = U * (row as usize - top);
                    let to = &mut to[at..at + U];
                    for r in 0..U {
                        to[r] += from[r];
                    }
                }
            }
        }
    }
}
