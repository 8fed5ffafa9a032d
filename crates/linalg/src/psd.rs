//! Projection of small symmetric matrices onto the positive semidefinite cone.

use crate::MatN;
use crate::eigen::{symmetric_eigen2, unsorted_eigen};

/// Whether the Cholesky factorisation of the symmetric matrix `a` meets only positive pivots.
/// Only the lower triangle is read. False where `a` holds NaN.
///
/// True means that the smallest eigenvalue exceeds −c ε ‖A‖ with a small c, no more.
#[inline]
pub fn is_positive_definite<const N: usize>(a: &MatN<N>) -> bool {
    let mut l = *a;
    for j in 0..N {
        let pivot = l[(j, j)];
        // written so that NaN fails
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let inverse = 1.0 / pivot;
        for k in j + 1..N {
            let factor = l[(k, j)] * inverse;
            for i in k..N {
                l[(i, k)] -= l[(i, j)] * factor;
            }
        }
    }
    true
}

/// The nearest (in the Frobenius norm) positive semidefinite matrix to the symmetric matrix `a`:
/// its negative eigenvalues become 0.
///
/// Only the lower triangle is read; the result is exactly symmetric. A matrix that is positive
/// definite already is returned as it is, after a Cholesky test that costs a small fraction of the
/// eigenvalues.
pub fn project_psd<const N: usize>(a: &MatN<N>) -> MatN<N> {
    if is_positive_definite(a) {
        return MatN::from_fn(|i, j| a[(i.max(j), i.min(j))]);
    }
    let (values, vectors) = unsorted_eigen(a);
    // from A without the negative part, or from the positive part alone: whichever is shorter
    let negative = values.iter().filter(|w| **w < 0.0).count();
    let (mut out, sign) = if 2 * negative <= N { (*a, -1.0) } else { (MatN::zeros(), 1.0) };
    for (w, q) in values.iter().zip(&vectors).filter(|(w, _)| **w * sign > 0.0) {
        for j in 0..N {
            let factor = sign * w * q[j];
            for i in 0..N {
                out[(i, j)] += factor * q[i];
            }
        }
    }
    out.fill_upper_triangle_with_lower_triangle();
    out
}

/// [`project_psd`] of a matrix in arrays.
pub fn project_psd_array<const N: usize>(m: &mut [[f64; N]; N]) {
    *m = project_psd(&MatN::<N>::from(*m)).into();
}

/// [`project_psd`] of a 2×2 matrix, in closed form.
#[inline]
pub fn project_psd2(a: &MatN<2>) -> MatN<2> {
    let (w, q) = symmetric_eigen2(a);
    if w[0] >= 0.0 {
        return MatN::<2>::new(a[(0, 0)], a[(1, 0)], a[(1, 0)], a[(1, 1)]);
    }
    let (w, x, y) = (w[1].max(0.0), q[(0, 1)], q[(1, 1)]);
    MatN::<2>::new(w * x * x, w * x * y, w * x * y, w * y * y)
}
