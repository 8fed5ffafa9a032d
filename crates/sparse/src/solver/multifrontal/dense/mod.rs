//! Partial Cholesky factorisation of a dense front.
//!
//! A front is divided by its size alone and every part is computed by one thread, in sums whose order is that of the
//! columns, so the bits depend neither on the number of threads nor on the processor.

mod kernel;
mod packed;

use rayon::prelude::*;
use standoff_linalg::lanes::{self, Kernel, Width};
use std::ops::Range;

use super::pool::Pool;
use super::scalar::Scalar;
use kernel::{Factorise, Product, Solve, Subtract, To};
use packed::{Packed, View};

/// Columns eliminated at once, and terms that a sum gathers at once.
const PIVOTS: usize = 128;
/// Columns of a strip of an [`Update`], a multiple of the rows of every block of rows, of 2 and of 3.
pub(crate) const WIDTH: usize = 384;
/// Columns that one thread takes at once, a divisor of [`WIDTH`].
const COLUMNS: usize = 48;
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

    /// The same, [`COLUMNS`] by [`COLUMNS`].
    fn columns(&mut self) -> impl Iterator<Item = Columns<'_, T>> {
        let n = self.n;
        self.strips().into_iter().flat_map(move |(top, strip)| {
            let parts = strip.chunks_mut(COLUMNS * (n - top)).enumerate();
            parts.map(move |(p, values)| Columns { first: top + COLUMNS * p, top, values })
        })
    }
}

/// Some columns of a strip of an [`Update`].
struct Columns<'a, T> {
    first: usize,
    /// First row of the strip.
    top: usize,
    values: &'a mut [T],
}

/// Runs `f` over the items, on several threads if `parallel`.
pub(crate) fn each<I: Send>(
    items: impl IntoIterator<Item = I>,
    parallel: bool,
    f: impl Fn(I) + Sync + Send,
) {
    if parallel {
        let items: Vec<I> = items.into_iter().collect();
        items.into_par_iter().with_max_len(1).for_each(f);
    } else {
        items.into_iter().for_each(f);
    }
}

/// Factorises the first k columns of a front: `panel` holds them (m × k, column after column),
/// L₂ L₂ᵀ with the rows below is subtracted from `update`. Returns the first column whose pivot is not positive as the error.
pub(crate) struct PartialCholesky<'a, T> {
    pub(crate) panel: &'a mut [T],
    pub(crate) m: usize,
    pub(crate) k: usize,
    pub(crate) update: &'a mut Update<T>,
    pub(crate) pool: &'a Pool<T>,
}

impl<T: Scalar> Kernel for PartialCholesky<'_, T> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<W: Width>(self, width: W) -> Result<(), usize> {
        let Self { panel, m, k, update, pool } = self;
        for begin in (0..k).step_by(PIVOTS) {
            let columns = begin..k.min(begin + PIVOTS);
            eliminate(width, panel, m, k, columns, update, pool)?;
        }
        Ok(())
    }
}

/// Factorises some columns of a front, and subtracts what they contribute to those behind them.
#[inline(always)]
fn eliminate<T: Scalar, W: Width>(
    width: W,
    panel: &mut [T],
    m: usize,
    k: usize,
    columns: Range<usize>,
    update: &mut Update<T>,
    pool: &Pool<T>,
) -> Result<(), usize> {
    let threads = rayon::current_num_threads() > 1;
    let (begin, end) = (columns.start, columns.end);
    let mut reciprocals = [T::default(); PIVOTS];
    let mut pivots = Packed::new(width, panel, m, columns.clone(), columns.clone(), pool);
    let factorise = Factorise { matrix: &mut pivots, reciprocals: &mut reciprocals };
    factorise.run(width).map_err(|column| begin + column)?;
    pivots.unpack(width, panel, m, begin, columns.clone());
    // the rows of columns that are still to be eliminated, and those below
    let parts = [end..k, k..m].map(|rows| {
        let mut part = Packed::new(width, panel, m, rows.clone(), columns.clone(), pool);
        let parallel = threads && rows.len() * columns.len() * columns.len() > PARALLEL;
        let l = pivots.view();
        each(part.blocks_mut(width), parallel, |rows: &mut [T]| {
            lanes::on(width, Solve { rows, l, reciprocals: &reciprocals });
        });
        part.unpack(width, panel, m, rows.start, columns.clone());
        part
    });
    let [next, below] = [parts[0].view(), parts[1].view()];
    let parallel = threads && (m - end) * (k - end) * columns.len() > PARALLEL;
    let later = panel[end * m..].chunks_mut(COLUMNS * m).enumerate();
    each(later, parallel, |(s, c): (usize, &mut [T])| {
        lanes::on(width, FromPanel { next, below, first: COLUMNS * s, c, m });
    });
    let parallel = threads && update.n * update.n * columns.len() > 2 * PARALLEL;
    each(update.columns(), parallel, |to| {
        lanes::on(width, FromUpdate { below, to });
    });
    pivots.give(pool);
    parts.into_iter().for_each(|part| part.give(pool));
    Ok(())
}

/// Subtracts what eliminated columns contribute to some later columns of `m` rows, the first of which is the `first`
/// one behind them.
struct FromPanel<'a, T> {
    next: View<'a, T>,
    below: View<'a, T>,
    first: usize,
    c: &'a mut [T],
    m: usize,
}

impl<T: Scalar> Kernel for FromPanel<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let Self { next, below, first, c, m } = self;
        let range = first..first + c.len() / m;
        let k = m - below.rows;
        let product = Product { a: next, b: next, columns: range.clone() };
        let to = To { values: &mut *c, stride: m, at: k - next.rows + first };
        Subtract { product, first, triangle: true, to }.run(width);
        let product = Product { a: below, b: next, columns: range };
        let to = To { values: c, stride: m, at: k };
        Subtract { product, first: 0, triangle: false, to }.run(width);
    }
}

/// Subtracts what eliminated columns contribute to some columns of an update makes that these columns.
struct FromUpdate<'a, T> {
    below: View<'a, T>,
    to: Columns<'a, T>,
}

impl<T: Scalar> Kernel for FromUpdate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let Self { below, to: Columns { first, top, values } } = self;
        let stride = below.rows - top;
        let columns = first..first + values.len() / stride;
        let product = Product { a: below, b: below, columns };
        let to = To { values, stride, at: first - top };
        Subtract { product, first, triangle: true, to }.run(width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Factorises the first `k` of `m` columns of the lower triangle of `a`, entry by entry.
    fn twin<T: Scalar>(a: &mut [T], m: usize, k: usize) -> Result<(), usize> {
        for j in 0..m {
            for i in j..m {
                let mut sum = a[j * m + i];
                for t in 0..j.min(k) {
                    sum = T::minus_product(a[t * m + j], a[t * m + i], sum);
                }
                a[j * m + i] = sum;
            }
            if j < k {
                let pivot = a[j * m + j];
                if pivot <= T::default() {
                    return Err(j);
                }
                let reciprocal = T::ONE / pivot.root();
                a[j * m + j] = pivot.root();
                for i in j + 1..m {
                    a[j * m + i] = a[j * m + i] * reciprocal;
                }
            }
        }
        Ok(())
    }

    /// A positive definite matrix, column after column, of numbers without a pattern.
    fn matrix<T: Scalar>(m: usize) -> Vec<T> {
        let entry = |i: usize, j: usize| {
            let (i, j) = (i.max(j), i.min(j));
            let diagonal = if i == j { m as f64 } else { 0.0 };
            T::round(diagonal + (0.7 * (i * i) as f64 + 1.3 * j as f64).sin())
        };
        (0..m * m).map(|e| entry(e % m, e / m)).collect()
    }

    /// What a front becomes, and what is left of `a` behind its first `k` columns.
    fn eliminated<T: Scalar>(
        a: &[T],
        m: usize,
        k: usize,
        scalar: bool,
    ) -> (Result<(), usize>, Vec<T>) {
        let pool = Pool::default();
        let mut panel = a[..m * k].to_vec();
        let mut update = Update::new(m - k, &pool);
        for (begin, strip) in update.strips() {
            for (c, column) in strip.chunks_mut(m - k - begin).enumerate() {
                column.copy_from_slice(&a[(k + begin + c) * m + k + begin..][..m - k - begin]);
            }
        }
        let kernel = PartialCholesky { panel: &mut panel, m, k, update: &mut update, pool: &pool };
        let result = if scalar { lanes::scalar(kernel) } else { lanes::dispatch_widest(kernel) };
        for j in 0..m - k {
            panel.extend(vec![T::default(); k + j]);
            panel.extend(update.column(j, j));
        }
        (result, panel)
    }

    fn check<T: Scalar + std::fmt::Debug>() {
        let sizes = [(1, 1), (3, 3), (7, 3), (16, 8), (50, 48), (53, 21), (150, 6), (97, 97)];
        for (m, k) in sizes.into_iter().chain([(130, 129), (300, 260), (520, 70), (900, 140)]) {
            let a = matrix::<T>(m);
            let mut expected = a.clone();
            twin(&mut expected, m, k).unwrap();
            for scalar in [true, false] {
                let (result, found) = eliminated(&a, m, k, scalar);
                assert_eq!(result, Ok(()), "{m} {k}");
                for j in 0..m {
                    let range = j * m + j..(j + 1) * m;
                    assert_eq!(found[range.clone()], expected[range], "{m} {k} column {j}");
                }
            }
        }
    }

    #[test]
    fn vectors_of_every_width_give_the_bits_of_single_numbers() {
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn several_threads_give_the_bits_of_one() {
        let (m, k) = (1100, 300);
        let a = matrix::<f32>(m);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| eliminated(&a, m, k, false).1)
        };
        assert_eq!(run(1), run(3));
    }

    #[test]
    fn the_first_pivot_that_is_not_positive_is_named() {
        for (m, k, column) in [(5, 5, 0), (60, 30, 17), (300, 280, 200), (9, 9, 8)] {
            for bad in [-1.0, 0.0, f64::NAN, f64::INFINITY] {
                let mut a = matrix::<f64>(m);
                a[column * m + column] = bad;
                for scalar in [true, false] {
                    assert_eq!(eliminated(&a, m, k, scalar).0, Err(column), "{m} {column} {bad}");
                }
            }
        }
    }
}
