//! Operations on vectors of [`Vec3`] whose bits do not depend on the number of threads.

use rayon::prelude::*;
use standoff_linalg::Vec3;

/// Summands of one partial sum of a reduction: fixed, so that sums are associated alike however
/// the work is spread.
pub(crate) const CHUNK: usize = 512;

/// Length from which threads pay.
pub(crate) const PARALLEL: usize = 8 * CHUNK;

/// Σ f(chunk of a, chunk of b): partial sums of [`CHUNK`] entries, added in order.
fn reduce(a: &[Vec3], b: &[Vec3], f: impl Fn(&Vec3, &Vec3) -> f64 + Sync) -> f64 {
    let partial =
        |(a, b): (&[Vec3], &[Vec3])| a.iter().zip(b).fold(0.0, |sum: f64, (a, b)| sum + f(a, b));
    if a.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        let sums: Vec<f64> = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)).map(partial).collect();
        sums.iter().sum()
    } else {
        a.chunks(CHUNK).zip(b.chunks(CHUNK)).map(partial).sum()
    }
}

/// aᵀb.
pub(crate) fn dot(a: &[Vec3], b: &[Vec3]) -> f64 {
    reduce(a, b, |a, b| a.dot(b))
}

/// ‖a‖₂.
pub(crate) fn norm(a: &[Vec3]) -> f64 {
    dot(a, a).sqrt()
}

/// y ← y + α x.
pub(crate) fn axpy(y: &mut [Vec3], alpha: f64, x: &[Vec3]) {
    map2(y, x, |y, x| *y += alpha * x);
}

/// y ← x + β y.
pub(crate) fn xpby(y: &mut [Vec3], x: &[Vec3], beta: f64) {
    map2(y, x, |y, x| *y = x + beta * *y);
}

/// y ← α y.
pub(crate) fn scale(y: &mut [Vec3], alpha: f64) {
    y.iter_mut().for_each(|y| *y *= alpha);
}

/// f(yᵢ, xᵢ) for all i.
pub(crate) fn map2<T: Sync>(y: &mut [Vec3], x: &[T], f: impl Fn(&mut Vec3, &T) + Sync) {
    if y.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        y.par_iter_mut().zip(x).with_min_len(CHUNK).for_each(|(y, x)| f(y, x));
    } else {
        y.iter_mut().zip(x).for_each(|(y, x)| f(y, x));
    }
}

/// Whether all entries are finite.
pub(crate) fn is_finite(a: &[Vec3]) -> bool {
    a.iter().all(|v| v.iter().all(|x| x.is_finite()))
}
