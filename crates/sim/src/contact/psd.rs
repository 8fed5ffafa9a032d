//! Projection of small symmetric matrices onto the positive semidefinite cone.

/// Sets the negative eigenvalues of a symmetric matrix to zero.
pub(crate) fn project<const N: usize>(m: &mut [[f64; N]; N]) {
    let (values, vectors) = eigen(m);
    for k in 0..N {
        if values[k] < 0.0 {
            // m − λ v vᵀ
            for i in 0..N {
                let scaled = values[k] * vectors[i][k];
                for j in 0..N {
                    m[i][j] -= scaled * vectors[j][k];
                }
            }
        }
    }
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by reduction to tridiagonal form
/// and the implicit QR iteration with Wilkinson's shift [Golub & Van Loan, §8.3].
fn eigen<const N: usize>(m: &[[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    let scale = m.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
    let mut q = identity();
    if !(scale > 0.0 && scale.is_finite()) {
        return (std::array::from_fn(|i| m[i][i]), q);
    }
    // entries of size one, so that squares neither overflow nor underflow
    let mut a = m.map(|row| row.map(|x| x / scale));
    tridiagonalise(&mut a, &mut q);
    let mut d: [f64; N] = std::array::from_fn(|i| a[i][i]);
    let mut e: [f64; N] = std::array::from_fn(|i| if i + 1 < N { a[i + 1][i] } else { 0.0 });
    let mut end = N - 1;
    // two or three iterations per eigenvalue suffice; the bound only guards against NaN
    for _ in 0..30 * N {
        while end > 0 && is_negligible(&d, &mut e, end - 1) {
            end -= 1;
        }
        if end == 0 {
            break;
        }
        let mut start = end - 1;
        while start > 0 && !is_negligible(&d, &mut e, start - 1) {
            start -= 1;
        }
        qr_step(&mut d, &mut e, &mut q, start, end);
    }
    (d.map(|x| x * scale), q)
}

fn identity<const N: usize>() -> [[f64; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)))
}

/// Whether the off-diagonal entry `k` is zero up to rounding; sets it to zero then.
#[inline]
fn is_negligible<const N: usize>(d: &[f64; N], e: &mut [f64; N], k: usize) -> bool {
    let negligible = e[k].abs() <= f64::EPSILON * (0.1 + d[k].abs() + d[k + 1].abs());
    if negligible {
        e[k] = 0.0;
    }
    negligible
}

/// Householder reduction a ← QᵀaQ to tridiagonal form; only a's diagonal and the entries below it
/// are meaningful afterwards.
#[inline]
fn tridiagonalise<const N: usize>(a: &mut [[f64; N]; N], q: &mut [[f64; N]; N]) {
    for k in 0..N.saturating_sub(2) {
        let tail: f64 = (k + 2..N).map(|i| a[i][k] * a[i][k]).sum();
        if tail == 0.0 {
            continue;
        }
        let norm = (a[k + 1][k] * a[k + 1][k] + tail).sqrt();
        // reflector I − β v vᵀ that maps the column onto its first entry
        let mut v = [0.0; N];
        for i in k + 1..N {
            v[i] = a[i][k];
        }
        v[k + 1] += norm.copysign(a[k + 1][k]);
        let beta = 2.0 / (v[k + 1] * v[k + 1] + tail);
        let mut p = [0.0; N];
        for i in k..N {
            p[i] = beta * (k + 1..N).map(|j| a[i][j] * v[j]).sum::<f64>();
        }
        let half = 0.5 * beta * (k + 1..N).map(|i| p[i] * v[i]).sum::<f64>();
        for i in k..N {
            p[i] -= half * v[i];
        }
        for i in k..N {
            for j in k..N {
                a[i][j] -= v[i] * p[j] + p[i] * v[j];
            }
        }
        for row in q.iter_mut() {
            let dot = beta * (k + 1..N).map(|j| row[j] * v[j]).sum::<f64>();
            for j in k + 1..N {
                row[j] -= dot * v[j];
            }
        }
    }
}

/// One implicitly shifted QR step on the unreduced block `start..=end`.
#[inline]
fn qr_step<const N: usize>(
    d: &mut [f64; N],
    e: &mut [f64; N],
    q: &mut [[f64; N]; N],
    start: usize,
    end: usize,
) {
    let off = e[end - 1];
    let delta = 0.5 * (d[end - 1] - d[end]);
    let shift = d[end] - off * off / (delta + (delta * delta + off * off).sqrt().copysign(delta));
    let (mut x, mut z) = (d[start] - shift, e[start]);
    for k in start..end {
        let r = (x * x + z * z).sqrt();
        let (c, s) = if r > 0.0 { (x / r, z / r) } else { (1.0, 0.0) };
        if k > start {
            e[k - 1] = r;
        }
        let (d0, d1, off) = (d[k], d[k + 1], e[k]);
        d[k] = c * c * d0 + 2.0 * c * s * off + s * s * d1;
        d[k + 1] = s * s * d0 - 2.0 * c * s * off + c * c * d1;
        e[k] = (c * c - s * s) * off + c * s * (d1 - d0);
        if k + 1 < end {
            x = e[k];
            z = s * e[k + 1];
            e[k + 1] *= c;
        }
        for row in q.iter_mut() {
            let (u, v) = (row[k], row[k + 1]);
            row[k] = c * u + s * v;
            row[k + 1] = c * v - s * u;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_testkit::Random;

    /// The slow and obvious twin: cyclic Jacobi rotations.
    fn jacobi<const N: usize>(m: &[[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
        let mut a = *m;
        let mut v = identity();
        let scale = a.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
        let negligible = 1e-17 * scale;
        // a handful of sweeps suffice; the bound only guards against NaN
        for _ in 0..30 {
            let mut rotated = false;
            for p in 0..N {
                for q in p + 1..N {
                    if a[p][q].abs() > negligible {
                        rotate(&mut a, &mut v, p, q);
                        rotated = true;
                    }
                }
            }
            if !rotated {
                break;
            }
        }
        (std::array::from_fn(|i| a[i][i]), v)
    }

    /// One Jacobi rotation that annihilates a[p][q].
    fn rotate<const N: usize>(a: &mut [[f64; N]; N], v: &mut [[f64; N]; N], p: usize, q: usize) {
        let apq = a[p][q];
        let theta = (a[q][q] - a[p][p]) / (2.0 * apq);
        let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
        let c = 1.0 / (t * t + 1.0).sqrt();
        let s = t * c;
        a[p][p] -= t * apq;
        a[q][q] += t * apq;
        a[p][q] = 0.0;
        a[q][p] = 0.0;
        for k in 0..N {
            if k != p && k != q {
                let (kp, kq) = (a[k][p], a[k][q]);
                a[k][p] = c * kp - s * kq;
                a[k][q] = s * kp + c * kq;
                a[p][k] = a[k][p];
                a[q][k] = a[k][q];
            }
            let (kp, kq) = (v[k][p], v[k][q]);
            v[k][p] = c * kp - s * kq;
            v[k][q] = s * kp + c * kq;
        }
    }

    /// Symmetric matrices with entries of very different sizes, zero blocks, multiple eigenvalues.
    fn matrices<const N: usize>() -> Vec<[[f64; N]; N]> {
        let mut random = Random::new(1);
        let mut out = vec![[[0.0; N]; N], identity()];
        for k in 0..200 {
            let mut m = [[0.0; N]; N];
            for i in 0..N {
                for j in 0..=i {
                    let zero_block = k % 3 == 1 && i < 2;
                    let graded = if k % 3 == 2 { 10f64.powi(-3 * (i + j) as i32) } else { 1.0 };
                    m[i][j] = if zero_block { 0.0 } else { 0.5 * graded * random.signed() };
                    m[j][i] = m[i][j];
                }
            }
            out.push(m.map(|row| row.map(|x| x * 10f64.powi((k % 7) * 30 - 90))));
        }
        out
    }

    fn check<const N: usize>() {
        for m in matrices::<N>() {
            let scale = m.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
            let (values, vectors) = eigen(&m);
            for i in 0..N {
                for j in 0..N {
                    let sum: f64 = (0..N).map(|k| values[k] * vectors[i][k] * vectors[j][k]).sum();
                    assert!((sum - m[i][j]).abs() <= 1e-14 * scale, "{m:?}");
                    let dot: f64 = (0..N).map(|k| vectors[k][i] * vectors[k][j]).sum();
                    assert!((dot - f64::from(i == j)).abs() < 1e-14);
                }
            }
            let (slow, v) = jacobi(&m);
            let mut got = m;
            project(&mut got);
            for i in 0..N {
                for j in 0..N {
                    let want: f64 = (0..N).map(|k| slow[k].max(0.0) * v[i][k] * v[j][k]).sum();
                    assert!((got[i][j] - want).abs() <= 2e-14 * scale, "{m:?}");
                }
            }
        }
    }

    #[test]
    fn projection_matches_jacobi() {
        check::<1>();
        check::<2>();
        check::<3>();
        check::<5>();
        check::<9>();
    }

    #[test]
    fn projection_ends_on_nan() {
        let mut m = [[f64::NAN; 5]; 5];
        project(&mut m);
        assert!(m[0][0].is_nan());
        let mut m = [[1.0, f64::INFINITY], [f64::INFINITY, 0.0]];
        project(&mut m);
    }
}
