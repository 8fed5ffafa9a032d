//! Projection of small symmetric matrices onto the positive semidefinite cone, one per lane: Householder
//! tridiagonalisation and implicit QR steps, as in `crate::eigen` [Golub & Van Loan 2013, §8.3].

use super::{Lanes, Width};

/// A small matrix in each lane.
type Small<W, const N: usize> = [[Lanes<W>; N]; N];

/// Sets the negative eigenvalues of each lane's symmetric matrix to zero, as [`crate::project_psd`] does
/// for one matrix. Both triangles are read.
#[inline(always)]
// long: one algorithm
pub fn project_psd<W: Width, const N: usize>(width: W, m: &mut Small<W, N>) {
    let (zero, one) = (Lanes::splat(width, 0.0), Lanes::splat(width, 1.0));
    let mut scale = zero;
    for i in 0..N {
        for j in 0..=i {
            scale = scale.max(m[i][j].abs());
        }
    }
    // entries of size one, so that squares neither overflow nor underflow
    let inverse = zero.lt(scale).select(one / scale, zero);
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
    tridiagonalise(width, &mut a, &mut q);
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
            let size = Lanes::splat(width, 0.1) + d[k].abs() + d[k + 1].abs();
            // written so that NaN counts as zero, and the iteration ends
            let matters = (Lanes::splat(width, f64::EPSILON) * size).lt(e[k].abs());
            e[k] = matters.select(e[k], zero);
        }
        while end > 0 && !zero.lt(e[end - 1].abs()).any() {
            end -= 1;
        }
        if end == 0 {
            break;
        }
        qr_step(width, &mut d, &mut e, &mut q, end);
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

/// Householder reduction to tridiagonal form in each lane.
#[inline(always)]
fn tridiagonalise<W: Width, const N: usize>(width: W, a: &mut Small<W, N>, q: &mut Small<W, N>) {
    let (zero, half) = (Lanes::splat(width, 0.0), Lanes::splat(width, 0.5));
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
        v[k + 1] = first + first.lt(zero).select(-norm, norm);
        // nothing to do where the tail is zero
        let length = v[k + 1] * v[k + 1] + tail;
        let beta = zero.lt(tail).select(Lanes::splat(width, 2.0) / length, zero);
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
        let along = half * beta * along;
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
/// one. Lanes whose last block has split off are left alone.
#[inline(always)]
fn qr_step<W: Width, const N: usize>(
    width: W,
    d: &mut [Lanes<W>; N],
    e: &mut [Lanes<W>; N],
    q: &mut Small<W, N>,
    end: usize,
) {
    let (zero, one) = (Lanes::splat(width, 0.0), Lanes::splat(width, 1.0));
    let half = Lanes::splat(width, 0.5);
    let off = e[end - 1];
    let active = zero.lt(off.abs());
    let delta = half * (d[end - 1] - d[end]);
    let root = (delta * delta + off * off).sqrt();
    let shift = d[end] - off * off / (delta + delta.lt(zero).select(-root, root));
    // of blocks: entries off the diagonal may also vanish for a moment while the bulge passes
    let mut starts = [zero.le(zero); N];
    for k in 1..end {
        starts[k] = e[k - 1].abs().le(zero);
    }
    let (mut x, mut z) = (zero, zero);
    for k in 0..end {
        x = starts[k].select(d[k] - shift, x);
        z = starts[k].select(e[k], z);
        let r = (x * x + z * z).sqrt();
        let turns = zero.lt(active.select(r, zero));
        let c = turns.select(x / r, one);
        let s = turns.select(z / r, zero);
        if k > 0 {
            e[k - 1] = starts[k].select(e[k - 1], active.select(r, e[k - 1]));
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
                super::project_psd(width, &mut m);
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
