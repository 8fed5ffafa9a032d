//! Operations on vectors of [`Vec3`] whose bits do not depend on the number of threads.

use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};

/// Summands of one partial sum of a reduction: fixed, so that sums are associated alike however
/// the work is spread.
pub(crate) const CHUNK: usize = 512;

/// Length from which threads pay.
pub(crate) const PARALLEL: usize = 8 * CHUNK;

/// Chunks that a thread takes at once, at most: few, so that the threads finish together.
pub(crate) const AT_ONCE: usize = 4;

/// Chunks of a slice of anything that a thread takes at once.
const PIECE: usize = 4096;

/// A fold whose result does not depend on how it is associated (a maximum, say), of f(aᵢ).
pub(crate) fn map_reduce<T: Sync, R: Copy + Send + Sync>(
    a: &[T],
    f: impl Fn(&T) -> R + Sync,
    start: R,
    join: impl Fn(R, R) -> R + Sync,
) -> R {
    let part = |a: &[T]| a.iter().fold(start, |r, a| join(r, f(a)));
    if a.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        a.par_chunks(PIECE).map(part).reduce(|| start, &join)
    } else {
        part(a)
    }
}

/// x ← x + α p, r ← r − α q; returns rᵀr. One pass over memory.
pub(crate) fn step(
    alpha: f64,
    (x, p): (&mut [Vec3], &[Vec3]),
    (r, q): (&mut [Vec3], &[Vec3]),
) -> f64 {
    type Part<'a> = ((&'a mut [Vec3], &'a [Vec3]), (&'a mut [Vec3], &'a [Vec3]));
    let part = |((x, p), (r, q)): Part<'_>| {
        let mut sum = 0.0;
        for (((x, p), r), q) in x.iter_mut().zip(p).zip(r).zip(q) {
            *x += alpha * p;
            *r -= alpha * q;
            sum += r.dot(r);
        }
        sum
    };
    if x.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        let first = x.par_chunks_mut(CHUNK).zip(p.par_chunks(CHUNK));
        let second = r.par_chunks_mut(CHUNK).zip(q.par_chunks(CHUNK));
        let sums: Vec<f64> = first.zip(second).with_max_len(AT_ONCE).map(part).collect();
        sums.iter().sum()
    } else {
        let first = x.chunks_mut(CHUNK).zip(p.chunks(CHUNK));
        let second = r.chunks_mut(CHUNK).zip(q.chunks(CHUNK));
        first.zip(second).map(part).sum()
    }
}

/// zᵢ ← Mᵢ rᵢ; returns rᵀz. One pass over memory.
pub(crate) fn apply_blocks(blocks: &[Mat3], r: &[Vec3], z: &mut [Vec3]) -> f64 {
    type Part<'a> = ((&'a [Mat3], &'a [Vec3]), &'a mut [Vec3]);
    let part = |((blocks, r), z): Part<'_>| {
        let mut sum = 0.0;
        for ((block, r), z) in blocks.iter().zip(r).zip(z) {
            *z = block * r;
            sum += r.dot(z);
        }
        sum
    };
    if r.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        let from = blocks.par_chunks(CHUNK).zip(r.par_chunks(CHUNK));
        let sums: Vec<f64> =
            from.zip(z.par_chunks_mut(CHUNK)).with_max_len(AT_ONCE).map(part).collect();
        sums.iter().sum()
    } else {
        let from = blocks.chunks(CHUNK).zip(r.chunks(CHUNK));
        from.zip(z.chunks_mut(CHUNK)).map(part).sum()
    }
}

/// Σ f(chunk of a, chunk of b): partial sums of [`CHUNK`] entries, added in order.
fn reduce(a: &[Vec3], b: &[Vec3], f: impl Fn(&Vec3, &Vec3) -> f64 + Sync) -> f64 {
    let partial =
        |(a, b): (&[Vec3], &[Vec3])| a.iter().zip(b).fold(0.0, |sum: f64, (a, b)| sum + f(a, b));
    if a.len() >= PARALLEL && rayon::current_num_threads() > 1 {
        let sums: Vec<f64> = a
            .par_chunks(CHUNK)
            .zip(b.par_chunks(CHUNK))
            .with_max_len(AT_ONCE)
            .map(partial)
            .collect();
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
        y.par_iter_mut()
            .zip(x)
            .with_min_len(CHUNK)
            .with_max_len(AT_ONCE * CHUNK)
            .for_each(|(y, x)| f(y, x));
    } else {
        y.iter_mut().zip(x).for_each(|(y, x)| f(y, x));
    }
}

/// Whether all entries are finite.
pub(crate) fn is_finite(a: &[Vec3]) -> bool {
    a.iter().all(|v| v.iter().all(|x| x.is_finite()))
}
