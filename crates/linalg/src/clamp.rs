//! Projection of small symmetric matrices of any [`Real`] onto the positive semidefinite cone: Householder
//! tridiagonalisation and implicit QR steps, as in `crate::eigen` [Golub & Van Loan 2013, §8.3].

use crate::{Mask, Real};

/// A small matrix.
type Small<R, const N: usize> = [[R; N]; N];

/// Sets the negative eigenvalues of a symmetric matrix to zero, as [`crate::project_psd`] does, without its short cuts. Both triangles are read.
#[inline(always)]
// long: one algorithm
pub fn clamp_eigenvalues<R: Real, const N: usize>(m: &mut Small<R, N>) {
    let (zero, one) = (m[0][0].constant(0.0), m[0][0].constant(1.0));
    let mut scale = zero;
    for i in 0..N {
        for j in 0..=i {
            scale = scale.max(m[i][j].abs());
        }
    }
    // entries of size one, so that squares neither overflow nor underflow
    let inverse = R::select(zero.lt(scale), one / scale, zero);
    let mut a = *m;
    for i in 0..N {
        for j in 0..N {
            a[i][j] = m[i][j] * inverse;
        }
    }
    let mut q = [[zero; N]; N];
    for i in 0..N {
        q[i][i] = one;
    }
    tridiagonalise(&mut a, &mut q);
    let (mut d, mut e) = ([zero; N], [zero; N]);
    for i in 0..N {
        d[i] = a[i][i];
        if i + 1 < N {
            e[i] = a[i + 1][i];
        }
    }
    let mut end = N - 1;
    // two or three iterations per eigenvalue suffice; the bound only guards against surprises
    for _ in 0..30 * N {
        for k in 0..end {
            let size = d[k].abs() + 0.1 + d[k + 1].abs();
            // written so that NaN counts as zero, and the iteration ends
            let matters = (size * f64::EPSILON).lt(e[k].abs());
            e[k] = R::select(matters, e[k], zero);
        }
        while end > 0 && !zero.lt(e[end - 1].abs()).any() {
            end -= 1;
        }
        if end == 0 {
            break;
        }
        qr_step(&mut d, &mut e, &mut q, end);
    }
    for k in 0..N {
        let negative = d[k].min(zero) * scale;
        for i in 0..N {
            let by = negative * q[i][k];
            for j in 0..N {
                m[i][j] = m[i][j] - by * q[j][k];
            }
        }
    }
}

/// [`clamp_eigenvalues`] where `wanted` and where the matrix is not positive definite at first sight.
#[inline(always)]
pub fn project_where<R: Real, const N: usize>(wanted: R::Mask, m: &mut Small<R, N>) {
    let indefinite = wanted & !is_positive_definite(m);
    if indefinite.any() {
        let mut clamped = *m;
        clamp_eigenvalues(&mut clamped);
        for i in 0..N {
            for j in 0..N {
                m[i][j] = R::select(indefinite, clamped[i][j], m[i][j]);
            }
        }
    }
}

/// Whether the Cholesky factorisation meets only positive pivots; false with NaN.
#[inline(always)]
fn is_positive_definite<R: Real, const N: usize>(a: &Small<R, N>) -> R::Mask {
    let zero = a[0][0].constant(0.0);
    let mut l = *a;
    let mut definite = zero.le(zero);
    for j in 0..N {
        definite = definite & zero.lt(l[j][j]);
        let inverse = l[j][j].recip();
        for k in j + 1..N {
            let factor = l[k][j] * inverse;
            for i in k..N {
                l[i][k] = l[i][k] - l[i][j] * factor;
            }
        }
    }
    definite
}

/// Householder reduction to tridiagonal form.
#[inline(always)]
fn tridiagonalise<R: Real, const N: usize>(a: &mut Small<R, N>, q: &mut Small<R, N>) {
    let zero = a[0][0].constant(0.0);
    for k in 0..N.saturating_sub(2) {
        let mut tail = zero;
        for i in k + 2..N {
            tail = tail + a[i][k] * a[i][k];
        }
        let first = a[k + 1][k];
        let norm = (first * first + tail).sqrt();
        let mut v = [zero; N];
        for i in k + 1..N {
            v[i] = a[i][k];
        }
        v[k + 1] = first + R::select(first.lt(zero), -norm, norm);
        // nothing to do where the tail is zero
        let length = v[k + 1] * v[k + 1] + tail;
        let beta = R::select(zero.lt(tail), zero.constant(2.0) / length, zero);
        let mut p = [zero; N];
        for i in k..N {
            let mut sum = zero;
            for j in k + 1..N {
                sum = sum + a[i][j] * v[j];
            }
            p[i] = beta * sum;
        }
        let mut along = zero;
        for i in k + 1..N {
            along = along + p[i] * v[i];
        }
        let along = beta * 0.5 * along;
        for i in k..N {
            p[i] = p[i] - along * v[i];
        }
        for i in k..N {
            for j in k..N {
                a[i][j] = a[i][j] - (v[i] * p[j] + p[i] * v[j]);
            }
        }
        for i in 0..N {
            let mut sum = zero;
            for j in k + 1..N {
                sum = sum + q[i][j] * v[j];
            }
            let sum = beta * sum;
            for j in k + 1..N {
                q[i][j] = q[i][j] - sum * v[j];
            }
        }
    }
}

/// One implicitly shifted QR step on every unreduced block up to `end`, all with the shift of the last
/// one. A lane whose last block has split off is left alone.
#[inline(always)]
fn qr_step<R: Real, const N: usize>(
    d: &mut [R; N],
    e: &mut [R; N],
    q: &mut Small<R, N>,
    end: usize,
) {
    let (zero, one) = (d[0].constant(0.0), d[0].constant(1.0));
    let off = e[end - 1];
    let active = zero.lt(off.abs());
    let delta = (d[end - 1] - d[end]) * 0.5;
    let root = (delta * delta + off * off).sqrt();
    let shift = d[end] - off * off / (delta + R::select(delta.lt(zero), -root, root));
    // of blocks: entries off the diagonal may also vanish for a moment while the bulge passes
    let mut starts = [zero.le(zero); N];
    for k in 1..end {
        starts[k] = e[k - 1].abs().le(zero);
    }
    let (mut x, mut z) = (zero, zero);
    for k in 0..end {
        x = R::select(starts[k], d[k] - shift, x);
        z = R::select(starts[k], e[k], z);
        let r = (x * x + z * z).sqrt();
        let turns = zero.lt(R::select(active, r, zero));
        let c = R::select(turns, x / r, one);
        let s = R::select(turns, z / r, zero);
        if k > 0 {
            e[k - 1] = R::select(starts[k], e[k - 1], R::select(active, r, e[k - 1]));
        }
        let (d0, d1, off) = (d[k], d[k + 1], e[k]);
        let cross = c * s * off;
        d[k] = c * c * d0 + (cross + cross) + s * s * d1;
        d[k + 1] = s * s * d0 - (cross + cross) + c * c * d1;
        e[k] = (c * c - s * s) * off + c * s * (d1 - d0);
        if k + 1 < end {
            x = e[k];
            z = s * e[k + 1];
            e[k + 1] = c * e[k + 1];
        }
        for i in 0..N {
            let (u, v) = (q[i][k], q[i][k + 1]);
            q[i][k] = c * u + s * v;
            q[i][k + 1] = c * v - s * u;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::MatN;
    use crate::lanes::{Kernel, Lanes, MAX_LANES, Width, dispatch, scalar};
    use nalgebra::DMatrix;
    use standoff_testkit::Random;

    struct Project<'a, const N: usize>(&'a [MatN<N>]);

    impl<const N: usize> Kernel for Project<'_, N> {
        type Output = Vec<MatN<N>>;

        #[inline(always)]
        fn run<W: Width>(self, width: W) -> Vec<MatN<N>> {
            let mut out = Vec::new();
            for batch in self.0.chunks(W::F64_LANES) {
                let mut m = [[Lanes::splat(width, 0.0); N]; N];
                for i in 0..N {
                    for j in 0..N {
                        let mut row = [0.0; MAX_LANES];
                        batch.iter().enumerate().for_each(|(lane, a)| row[lane] = a[(i, j)]);
                        m[i][j] = Lanes::load(width, &row);
                    }
                }
                super::clamp_eigenvalues(&mut m);
                let lane = |k: usize| MatN::from_fn(|i, j| m[i][j].to_array()[k]);
                out.extend((0..batch.len()).map(lane));
            }
            out
        }
    }

    /// Symmetric matrices with entries of very different sizes, zero blocks, multiple eigenvalues.
    fn matrices<const N: usize>() -> Vec<MatN<N>> {
        let mut random = Random::new(1);
        let mut out = vec![MatN::zeros(), MatN::identity(), -MatN::<N>::identity()];
        for k in 0..200 {
            let mut m = MatN::zeros();
            for i in 0..N {
                for j in 0..=i {
                    let zero_block = k % 3 == 1 && i < 2;
                    let graded = if k % 3 == 2 { 10f64.powi(-3 * (i + j) as i32) } else { 1.0 };
                    m[(i, j)] = if zero_block { 0.0 } else { graded * random.signed() };
                    m[(j, i)] = m[(i, j)];
                }
            }
            out.push(m * 10f64.powi((k % 7) * 30 - 90));
        }
        out
    }

    /// The slow, obvious twin: clamps the eigenvalues that nalgebra finds.
    fn clamped<const N: usize>(m: &MatN<N>) -> MatN<N> {
        // of a matrix of size one: nalgebra's own thresholds are absolute
        let scale = m.amax().max(1e-300);
        let e = DMatrix::from_fn(N, N, |i, j| m[(i, j)] / scale).symmetric_eigen();
        MatN::from_fn(|i, j| {
            let part = |k: usize| {
                e.eigenvectors[(i, k)] * e.eigenvalues[k].max(0.0) * e.eigenvectors[(j, k)]
            };
            scale * (0..N).map(part).sum::<f64>()
        })
    }

    fn check<const N: usize>() {
        let all = matrices::<N>();
        let found = dispatch(Project(&all));
        assert_eq!(found, scalar(Project(&all)), "the bits are those of single numbers");
        for (m, found) in all.iter().zip(&found) {
            let error = (found - clamped(m)).amax();
            assert!(error <= 4e-14 * m.amax(), "{m}: {error:e}");
            assert!((found - crate::project_psd(m)).amax() <= 4e-14 * m.amax(), "{m}");
        }
    }

    #[test]
    fn projections_match_clamped_eigenvalues() {
        check::<1>();
        check::<2>();
        check::<3>();
        check::<5>();
        check::<9>();
    }

    #[test]
    fn nan_stays_in_its_lane() {
        let clean = matrices::<5>();
        let mut all = clean.clone();
        all[5][(1, 1)] = f64::NAN;
        let (clean, found) = (dispatch(Project(&clean)), dispatch(Project(&all)));
        (0..all.len()).filter(|&k| k != 5).for_each(|k| assert_eq!(found[k], clean[k]));
    }
}
