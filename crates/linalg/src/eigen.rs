//! Eigenvalues and eigenvectors of small symmetric matrices: Householder tridiagonalisation and
//! implicit QR steps, on the stack. At 12×12 this takes a quarter of the time of cyclic Jacobi.

use crate::{MatN, VecN};

/// Columns of a matrix; fixed lengths let the compiler unroll and vectorise.
type Columns<const N: usize> = [[f64; N]; N];

/// QR steps per eigenvalue after which the search stops in any case; it needs about two.
const MAX_STEPS: usize = 30;

/// Eigenvalues, ascending, and eigenvectors (columns, orthonormal) of the symmetric matrix `a`:
/// A = Q diag(w) Qᵀ. Only the lower triangle is read.
///
/// Errors are about 1e-15 ‖A‖ [Golub & Van Loan 2013, §8.3]. Where `a` holds NaN, so does the
/// result.
pub fn symmetric_eigen<const N: usize>(a: &MatN<N>) -> (VecN<N>, MatN<N>) {
    let (values, vectors) = unsorted_eigen(a);
    let mut order: [usize; N] = std::array::from_fn(|i| i);
    order.sort_unstable_by(|&i, &j| values[i].total_cmp(&values[j]).then(i.cmp(&j)));
    (VecN::from_fn(|i, _| values[order[i]]), MatN::from_fn(|i, j| vectors[order[j]][i]))
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
    // tangent of the smaller angle that annihilates a10
    let (diff, twice) = (a11 - a00, 2.0 * a10);
    let t = twice / (diff + diff.hypot(twice).copysign(diff));
    let c = 1.0 / (1.0 + t * t).sqrt();
    let s = c * t;
    let (w0, w1) = (a00 - t * a10, a11 + t * a10);
    if w0 <= w1 {
        (VecN::<2>::new(w0, w1), MatN::<2>::new(c, s, -s, c))
    } else {
        (VecN::<2>::new(w1, w0), MatN::<2>::new(s, -c, c, s))
    }
}

/// Eigenvalues and eigenvectors in no particular order.
pub(crate) fn unsorted_eigen<const N: usize>(a: &MatN<N>) -> ([f64; N], Columns<N>) {
    let mut a: Columns<N> =
        std::array::from_fn(|j| std::array::from_fn(|i| a[(i.max(j), i.min(j))]));
    let (scale, unscale) =
        crate::power_of_two_scale(a.as_flattened().iter().fold(0.0_f64, |m, v| m.max(v.abs())));
    a.as_flattened_mut().iter_mut().for_each(|v| *v *= scale);
    let (mut diagonal, mut off, mut vectors) = tridiagonalise(a);
    diagonalise(&mut diagonal, &mut off, &mut vectors);
    (diagonal.map(|w| w * unscale), vectors)
}

#[inline(always)]
fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    (0..N).map(|i| a[i] * b[i]).sum()
}

/// A = Q T Qᵀ with T tridiagonal, by Householder reflections: T's diagonal, its off-diagonal (in
/// the first N − 1 entries) and Q.
#[inline(always)]
// long: one algorithm: reflections, and then their product
fn tridiagonalise<const N: usize>(mut a: Columns<N>) -> ([f64; N], [f64; N], Columns<N>) {
    let mut off = [0.0; N];
    // reflection k is I − βvvᵀ with v = a[k], whose entries up to k are 0
    let mut beta = [0.0; N];
    for k in 0..N.saturating_sub(2) {
        let head = a[k][k + 1];
        let tail: f64 = (k + 2..N).map(|i| a[k][i] * a[k][i]).sum();
        let mut v = a[k];
        v[..=k].fill(0.0);
        if tail == 0.0 {
            off[k] = head;
            continue;
        }
        let alpha = -(head * head + tail).sqrt().copysign(head);
        off[k] = alpha;
        v[k + 1] = head - alpha;
        beta[k] = 1.0 / (alpha * (alpha - head));
        // A ← A − v wᵀ − w vᵀ with p = βAv, w = p − (β/2)(pᵀv) v
        let mut p = [0.0; N];
        for j in k + 1..N {
            let factor = beta[k] * v[j];
            for i in 0..N {
                p[i] += a[j][i] * factor;
            }
        }
        let half = 0.5 * beta[k] * dot(&p, &v);
        let w: [f64; N] = std::array::from_fn(|i| p[i] - half * v[i]);
        for j in k + 1..N {
            for i in 0..N {
                a[j][i] -= v[i] * w[j] + w[i] * v[j];
            }
        }
        // the diagonal entry (k, k) moves to where v holds a zero
        let diagonal = a[k][k];
        a[k] = v;
        a[k][k] = diagonal;
    }
    if N >= 2 {
        off[N - 2] = a[N - 2][N - 1];
    }
    let diagonal = std::array::from_fn(|k| a[k][k]);

    let mut q: Columns<N> = [[0.0; N]; N];
    for k in 0..N {
        q[k][k] = 1.0;
    }
    for k in (0..N.saturating_sub(2)).rev() {
        if beta[k] == 0.0 {
            continue;
        }
        let mut v = a[k];
        v[k] = 0.0;
        for column in &mut q[k + 1..] {
            let factor = beta[k] * dot(&v, column);
            for i in 0..N {
                column[i] -= factor * v[i];
            }
        }
    }
    (diagonal, off, q)
}

/// Implicit QR steps with Wilkinson's shift until the off-diagonal is negligible; `q` collects
/// the rotations.
#[inline(always)]
fn diagonalise<const N: usize>(d: &mut [f64; N], e: &mut [f64; N], q: &mut Columns<N>) {
    let size = d.iter().chain(e.iter()).fold(0.0_f64, |m, v| m.max(v.abs()));
    // an entry below this moves no eigenvalue by more than rounding does
    let negligible = 0.5 * f64::EPSILON * size;
    let mut end = N.saturating_sub(1);
    for _ in 0..MAX_STEPS * N {
        // the unreduced block begin..=end
        while end > 0 && (e[end - 1].abs() <= negligible || e[end - 1].is_nan()) {
            end -= 1;
        }
        if end == 0 {
            return;
        }
        let mut begin = end - 1;
        while begin > 0 && e[begin - 1].abs() > negligible {
            begin -= 1;
        }
        let (delta, last) = (0.5 * (d[end - 1] - d[end]), e[end - 1]);
        let root = (delta * delta + last * last).sqrt().copysign(delta);
        let shift = d[end] - last * (last / (delta + root));
        let (mut x, mut z) = (d[begin] - shift, e[begin]);
        for k in begin..end {
            // the rotation that takes (x, z) to (r, 0)
            let r = (x * x + z * z).sqrt();
            let (c, s) = if r > 0.0 { (x / r, z / r) } else { (1.0, 0.0) };
            if k > begin {
                e[k - 1] = r;
            }
            let g = (d[k + 1] - d[k]) * s + 2.0 * c * e[k];
            d[k] += s * g;
            d[k + 1] -= s * g;
            e[k] = c * g - e[k];
            if k + 1 < end {
                (x, z) = (e[k], s * e[k + 1]);
                e[k + 1] *= c;
            }
            let (left, right) = q.split_at_mut(k + 1);
            let (a, b) = (&mut left[k], &mut right[0]);
            for i in 0..N {
                (a[i], b[i]) = (c * a[i] + s * b[i], c * b[i] - s * a[i]);
            }
        }
    }
}
