//! Eigenvalues and eigenvectors of small symmetric matrices by cyclic Jacobi rotations.

use crate::{MatN, VecN};

/// Sweeps after which Jacobi stops in any case; it converges quadratically, in 4 to 8.
const MAX_SWEEPS: usize = 30;

/// Eigenvalues, ascending, and eigenvectors (columns, orthonormal) of the symmetric matrix `a`:
/// A = Q diag(w) Qᵀ. Only the lower triangle is read.
///
/// Cyclic Jacobi [Golub & Van Loan 2013, §8.5]; errors about 1e-15 ‖A‖. Where `a` holds NaN, so
/// does the result.
pub fn symmetric_eigen<const N: usize>(a: &MatN<N>) -> (VecN<N>, MatN<N>) {
    let (values, vectors) = jacobi(a);
    let mut order: [usize; N] = std::array::from_fn(|i| i);
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    (VecN::from_fn(|i, _| values[order[i]]), MatN::from_fn(|i, j| vectors[(i, order[j])]))
}

/// [`symmetric_eigen`] of a 2×2 matrix, in one rotation.
#[inline]
pub fn symmetric_eigen2(a: &MatN<2>) -> (VecN<2>, MatN<2>) {
    let (a00, a10, a11) = (a[(0, 0)], a[(1, 0)], a[(1, 1)]);
    if a10 == 0.0 {
        return if a00 <= a11 {
            (VecN::<2>::new(a00, a11), MatN::<2>::identity())
        } else {
            (VecN::<2>::new(a11, a00), MatN::<2>::new(0.0, -1.0, 1.0, 0.0))
        };
    }
    let (c, s, t) = rotation(a00, a11, a10);
    let (w0, w1) = (a00 - t * a10, a11 + t * a10);
    if w0 <= w1 {
        (VecN::<2>::new(w0, w1), MatN::<2>::new(c, s, -s, c))
    } else {
        (VecN::<2>::new(w1, w0), MatN::<2>::new(s, -c, c, s))
    }
}

/// Eigenvalues and eigenvectors in no particular order.
#[inline]
pub(crate) fn jacobi<const N: usize>(a: &MatN<N>) -> (VecN<N>, MatN<N>) {
    let mut a = *a;
    let mut vectors = MatN::<N>::identity();
    // an off-diagonal entry below this changes no eigenvalue by more than rounding
    let negligible = f64::EPSILON / 4.0 * max_lower(&a);
    for _ in 0..MAX_SWEEPS {
        let mut moved = false;
        for p in 0..N {
            for q in p + 1..N {
                if a[(q, p)].abs() > negligible {
                    rotate(&mut a, &mut vectors, p, q);
                    moved = true;
                }
            }
        }
        if !moved {
            break;
        }
    }
    (a.diagonal(), vectors)
}

/// max |a_ij| over the lower triangle.
fn max_lower<const N: usize>(a: &MatN<N>) -> f64 {
    let mut m = 0.0_f64;
    for j in 0..N {
        for i in j..N {
            m = m.max(a[(i, j)].abs());
        }
    }
    m
}

/// Cosine, sine and tangent of the smaller angle that annihilates a_qp by A ← JᵀAJ.
#[inline(always)]
fn rotation(app: f64, aqq: f64, aqp: f64) -> (f64, f64, f64) {
    let (diff, twice) = (aqq - app, 2.0 * aqp);
    let t = twice / (diff + diff.hypot(twice).copysign(diff));
    let c = 1.0 / (1.0 + t * t).sqrt();
    (c, c * t, t)
}

/// One Jacobi rotation in the plane (p, q), p < q, on the lower triangle of `a` and on `vectors`.
#[inline(always)]
fn rotate<const N: usize>(a: &mut MatN<N>, vectors: &mut MatN<N>, p: usize, q: usize) {
    let aqp = a[(q, p)];
    let (c, s, t) = rotation(a[(p, p)], a[(q, q)], aqp);
    a[(p, p)] -= t * aqp;
    a[(q, q)] += t * aqp;
    a[(q, p)] = 0.0;
    let mut turn = |ip: (usize, usize), iq: (usize, usize)| {
        let (x, y) = (a[ip], a[iq]);
        a[ip] = c * x - s * y;
        a[iq] = s * x + c * y;
    };
    for k in 0..p {
        turn((p, k), (q, k));
    }
    for k in p + 1..q {
        turn((k, p), (q, k));
    }
    for k in q + 1..N {
        turn((k, p), (k, q));
    }
    for k in 0..N {
        let (x, y) = (vectors[(k, p)], vectors[(k, q)]);
        vectors[(k, p)] = c * x - s * y;
        vectors[(k, q)] = s * x + c * y;
    }
}
