//! Projection of small symmetric matrices onto the positive semidefinite cone.

/// Sets the negative eigenvalues of a symmetric matrix to zero, by cyclic Jacobi rotations.
pub(super) fn project<const N: usize>(m: &mut [[f64; N]; N]) {
    let (values, vectors) = eigen(m);
    for k in 0..N {
        if values[k] < 0.0 {
            // m − λ v vᵀ
            for i in 0..N {
                for j in 0..N {
                    m[i][j] -= values[k] * vectors[i][k] * vectors[j][k];
                }
            }
        }
    }
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix.
pub(super) fn eigen<const N: usize>(m: &[[f64; N]; N]) -> ([f64; N], [[f64; N]; N]) {
    let mut a = *m;
    let mut v = [[0.0; N]; N];
    for i in 0..N {
        v[i][i] = 1.0;
    }
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
#[inline]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projection_clamps_the_spectrum() {
        // v diag vᵀ with a known rotation, graded eigenvalues of both signs
        let mut seed = 1u64;
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64 - 0.5
        };
        for power in [0, 3, 8] {
            let mut m = [[0.0; 5]; 5];
            for i in 0..5 {
                for j in 0..=i {
                    m[i][j] = next() * 10f64.powi(power * (i == 4 && j == 4) as i32);
                    m[j][i] = m[i][j];
                }
            }
            let (values, vectors) = eigen(&m);
            let scale = 10f64.powi(power);
            for i in 0..5 {
                for j in 0..5 {
                    let sum: f64 = (0..5).map(|k| values[k] * vectors[i][k] * vectors[j][k]).sum();
                    assert!((sum - m[i][j]).abs() < 1e-14 * scale);
                    let dot: f64 = (0..5).map(|k| vectors[k][i] * vectors[k][j]).sum();
                    assert!((dot - f64::from(i == j)).abs() < 1e-14);
                }
            }
            let mut projected = m;
            project(&mut projected);
            let (after, _) = eigen(&projected);
            let mut want = values.map(|l| l.max(0.0));
            let mut got = after;
            want.sort_by(f64::total_cmp);
            got.sort_by(f64::total_cmp);
            for k in 0..5 {
                assert!((want[k] - got[k]).abs() < 1e-14 * scale);
            }
        }
        let mut zero = [[0.0; 3]; 3];
        project(&mut zero);
        assert_eq!(zero, [[0.0; 3]; 3]);
    }
}
