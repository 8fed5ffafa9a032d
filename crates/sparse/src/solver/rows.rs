//! The product of a matrix with vectors, fast: row by row, both triangles, in single precision.

use rayon::prelude::*;
use standoff_linalg::lanes::{self, Kernel, Lanes, Width};
use standoff_linalg::{Mat3, Vec3};

use crate::vector::{self, CHUNK};
use crate::{BlockMatrix, matrix::add_mul};

/// Entries of a block in memory, by columns; the loads of its last column reach one entry beyond.
const ENTRIES: usize = 9;

/// A copy Ã of a symmetric matrix made for products: whole rows, so that threads do not meet and
/// memory is read in order, and single precision off the diagonal, so that it is as large as the
/// lower triangle alone.
///
/// The diagonal blocks take up what rounding changes: Ã moves a rigid translation as A does, up to
/// double precision. The error is left with the differences of neighbours, where it is small against
/// A's own effect.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Power of two by which the entries below are scaled, so that they fit.
    scale: f64,
    /// n + 1 offsets of the rows' blocks.
    start: Vec<u32>,
    /// Columns, without the diagonal, ascending.
    cols: Vec<u32>,
    /// 9 entries per block and one more at the end.
    values: Vec<f32>,
    diagonal: Vec<Mat3>,
}

impl Rows {
    /// Becomes the copy of a matrix with finite entries, reusing memory.
    // long: one copy, cut into parts for the threads
    pub(super) fn assign(&mut self, a: &BlockMatrix) {
        let (pattern, blocks, n) = (&**a.pattern(), a.blocks(), a.n());
        let largest = vector::map_reduce(blocks, |b| b.amax(), 0.0, f64::max);
        self.scale = reciprocal_power_of_two(largest);
        self.start.clear();
        self.start.push(0);
        let mut end = 0;
        self.start.extend((0..n).map(|i| {
            end += pattern.degree(i) as u32;
            end
        }));
        self.cols.resize(end as usize, 0);
        self.values.resize(end as usize * ENTRIES + 1, 0.0);
        self.diagonal.resize(n, Mat3::zeros());
        let rows = (0..n).step_by(CHUNK).map(|i| (i, (i + CHUNK).min(n)));
        let (mut cols, mut values) = (&mut self.cols[..], &mut self.values[..]);
        let mut parts = Vec::with_capacity(n / CHUNK + 1);
        for ((first, last), diagonal) in rows.zip(self.diagonal.chunks_mut(CHUNK)) {
            let len = (self.start[last] - self.start[first]) as usize;
            let (head, tail) = cols.split_at_mut(len);
            let (block, rest) = values.split_at_mut(len * ENTRIES);
            (cols, values) = (tail, rest);
            parts.push((first, head, block, diagonal));
        }
        let scale = self.scale;
        parts.into_par_iter().for_each(|(first, cols, values, diagonal)| {
            let mut slots = cols.iter_mut().zip(values.chunks_exact_mut(ENTRIES));
            for (i, diagonal) in (first..).zip(diagonal) {
                let mut lost = Mat3::zeros();
                let mut put = |j: usize, block: Mat3| {
                    if let Some((col, slot)) = slots.next() {
                        *col = j as u32;
                        for ((value, &exact), lost) in
                            slot.iter_mut().zip(block.iter()).zip(lost.iter_mut())
                        {
                            *value = (scale * exact) as f32;
                            *lost += scale * exact - f64::from(*value);
                        }
                    }
                };
                for (j, k) in pattern.row(i) {
                    put(j, blocks[k]);
                }
                let at = pattern.diagonal_position(i);
                for (k, &j) in pattern.column(i).iter().enumerate().skip(1) {
                    put(j as usize, blocks[at + k].transpose());
                }
                *diagonal = blocks[at] * scale + (lost + lost.transpose()) * 0.5;
            }
        });
    }

    /// y ← Ã x; returns xᵀy. The bits do not depend on the number of threads.
    pub(super) fn multiply(&self, x: &[Vec3], y: &mut [Vec3]) -> f64 {
        let part = |(k, (x_part, y)): (usize, (&[Vec3], &mut [Vec3]))| {
            lanes::dispatch(Part { rows: self, first: k * CHUNK, x, y: &mut *y });
            x_part.iter().zip(&*y).fold(0.0, |sum, (x, y)| sum + x.dot(y))
        };
        if x.len() >= vector::PARALLEL && rayon::current_num_threads() > 1 {
            let parts = x.par_chunks(CHUNK).zip(y.par_chunks_mut(CHUNK)).enumerate();
            let sums: Vec<f64> = parts.with_max_len(2).map(part).collect();
            sums.iter().sum()
        } else {
            x.chunks(CHUNK).zip(y.chunks_mut(CHUNK)).enumerate().map(part).sum()
        }
    }
}

/// The product's rows from `first` on, as many as `y` has room for.
struct Part<'a> {
    rows: &'a Rows,
    first: usize,
    x: &'a [Vec3],
    y: &'a mut [Vec3],
}

impl Kernel for Part<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: Width>(self, width: W) {
        let Rows { scale, start, cols, values, diagonal } = self.rows;
        let unscale = 1.0 / scale;
        for (i, y) in (self.first..).zip(self.y) {
            let range = start[i] as usize..start[i + 1] as usize;
            let blocks = &values[ENTRIES * range.start..ENTRIES * range.end + 1];
            // the same operations in the same order, so the same bits
            let mut sum = if W::F64_LANES == 4 {
                row_in_lanes(width, blocks, &cols[range], self.x)
            } else {
                row(blocks, &cols[range], self.x)
            };
            add_mul(&mut sum, &diagonal[i], &self.x[i]);
            *y = sum * unscale;
        }
    }
}

/// Σ B x of a row's blocks.
#[inline(always)]
fn row(blocks: &[f32], cols: &[u32], x: &[Vec3]) -> Vec3 {
    let mut sum = Vec3::zeros();
    for (v, &j) in blocks.chunks_exact(ENTRIES).zip(cols) {
        let x = &x[j as usize];
        for r in 0..3 {
            let [a, b, c] = [v[r], v[3 + r], v[6 + r]].map(f64::from);
            sum[r] += a * x[0] + b * x[1] + c * x[2];
        }
    }
    sum
}

/// The same with a column of a block in four lanes, of which the last one is of no use.
#[inline(always)]
fn row_in_lanes<W: Width>(width: W, blocks: &[f32], cols: &[u32], x: &[Vec3]) -> Vec3 {
    let mut sum = Lanes::splat(width, 0.0);
    for (k, &j) in cols.iter().enumerate() {
        let Some(v) = blocks[ENTRIES * k..].first_chunk::<{ ENTRIES + 1 }>() else {
            break;
        };
        let x = &x[j as usize];
        let a = load(width, v[0], v[1], v[2], v[3]) * Lanes::splat(width, x[0]);
        let b = load(width, v[3], v[4], v[5], v[6]) * Lanes::splat(width, x[1]);
        let c = load(width, v[6], v[7], v[8], v[9]) * Lanes::splat(width, x[2]);
        sum = sum + (a + b + c);
    }
    let sum = sum.to_array();
    Vec3::new(sum[0], sum[1], sum[2])
}

#[inline(always)]
fn load<W: Width>(width: W, a: f32, b: f32, c: f32, d: f32) -> Lanes<W> {
    let [a, b, c, d] = [f64::from(a), f64::from(b), f64::from(c), f64::from(d)];
    Lanes::load(width, &[a, b, c, d, 0.0, 0.0, 0.0, 0.0])
}

/// The power of two next below 1/v; 1 where v is not a positive normal number.
pub(super) fn reciprocal_power_of_two(v: f64) -> f64 {
    if v.is_normal() && v > 0.0 { (-v.log2().ceil()).clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockPattern;
    use standoff_testkit::Random;
    use std::sync::Arc;

    /// A matrix with rows of all lengths over several chunks, and a vector.
    fn system(translation_free: bool) -> (BlockMatrix, Vec<Vec3>) {
        let n = 3 * CHUNK as u32 + 17;
        let mut random = Random::new(11);
        let pairs: Vec<_> = (0..4 * n)
            .map(|_| [(); 2].map(|()| random.below(u64::from(n)) as u32))
            .map(|[a, b]| (a, b))
            .collect();
        let pattern = BlockPattern::from_pairs(n as usize, &pairs).unwrap();
        let mut a = BlockMatrix::zeros(Arc::new(pattern));
        for &(i, j) in pairs.iter().filter(|(i, j)| i != j) {
            let m = Mat3::from_fn(|_, _| 5e6 * random.signed());
            let k = m * m.transpose();
            a.add_stencil(&[i, j], &[[k, -k], [-k, k]]).unwrap();
        }
        if !translation_free {
            a.add_diagonal(&vec![1e13; n as usize]).unwrap();
        }
        let x = random.vectors(n as usize);
        (a, x)
    }

    #[test]
    fn agrees_with_the_matrix_up_to_single_precision_and_is_symmetric() {
        let (a, x) = system(false);
        let mut rows = Rows::default();
        rows.assign(&a);
        let want = a.mul_vec(&x).unwrap();
        let mut y = vec![Vec3::zeros(); a.n()];
        let product = rows.multiply(&x, &mut y);
        let size = vector::norm(&want);
        let error: f64 = want.iter().zip(&y).map(|(a, b)| (a - b).norm_squared()).sum();
        assert!(error.sqrt() < 1e-7 * size && error > 0.0, "{error:e} {size:e}");
        assert!((product - vector::dot(&x, &y)).abs() <= 1e-15 * product.abs());
        // uᵀÃx = xᵀÃu
        let u: Vec<Vec3> = x.iter().rev().copied().collect();
        let first = vector::dot(&u, &y);
        let second = {
            rows.multiply(&u, &mut y);
            vector::dot(&x, &y)
        };
        assert!((first - second).abs() < 1e-13 * size, "{first:e} {second:e}");
    }

    #[test]
    fn lanes_and_single_numbers_give_the_same_bits() {
        let (a, x) = system(false);
        let mut rows = Rows::default();
        rows.assign(&a);
        let run = |wide: bool| {
            let mut y = vec![Vec3::zeros(); a.n() - 5];
            let part = Part { rows: &rows, first: 5, x: &x, y: &mut y };
            if wide {
                lanes::dispatch(part)
            } else {
                lanes::scalar(part)
            };
            y
        };
        assert_eq!(run(true), run(false));
    }

    #[test]
    fn a_translation_is_moved_as_by_the_matrix() {
        let (a, x) = system(true);
        let mut rows = Rows::default();
        rows.assign(&a);
        let mut y = vec![Vec3::zeros(); a.n()];
        rows.multiply(&x, &mut y);
        let size = vector::norm(&y);
        // what the antisymmetric part of the loss leaves is far below single precision
        rows.multiply(&vec![Vec3::new(1.0, -2.0, 3.0); a.n()], &mut y);
        assert!(vector::norm(&y) < 2e-8 * size, "{:e} {size:e}", vector::norm(&y));
    }

    #[test]
    fn one_and_more_threads_give_the_same_bits() {
        let (a, x) = system(false);
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let (mut rows, mut y) = (Rows::default(), vec![Vec3::zeros(); a.n()]);
                rows.assign(&a);
                let product = rows.multiply(&x, &mut y);
                (y, product.to_bits())
            })
        };
        assert_eq!(run(1), run(3));
    }
}
