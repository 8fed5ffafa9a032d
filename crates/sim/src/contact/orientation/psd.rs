//! Projection of Hessians of any number of vertices onto the positive semidefinite cone, in relative
//! coordinates.

use standoff_linalg::nalgebra::DMatrix;
use standoff_linalg::{Mat3, MatN, project_psd};

/// Row k of the orthonormal basis of vectors of sum zero in Rⁿ: (1, …, 1, −k−1, 0, …)/√((k+1)(k+2)).
#[inline]
fn helmert(k: usize) -> (f64, f64) {
    let m = (k + 1) as f64;
    let scale = 1.0 / (m * (m + 1.0)).sqrt();
    (scale, -m * scale)
}

/// Sets the negative eigenvalues of the Hessian `h` (`n×n` blocks, by rows) of a function that
/// translations do not change to zero.
pub(super) fn project(n: usize, h: &mut [Mat3]) {
    if n < 2 {
        return;
    }
    let m = n - 1;
    // B H Bᵀ with the basis B, by running sums
    let mut rows = vec![Mat3::zeros(); m * n];
    for j in 0..n {
        let mut sum = Mat3::zeros();
        for k in 0..m {
            sum += h[k * n + j];
            let (a, b) = helmert(k);
            rows[k * n + j] = sum * a + h[(k + 1) * n + j] * b;
        }
    }
    let mut dense = DMatrix::<f64>::zeros(3 * m, 3 * m);
    for k in 0..m {
        let mut sum = Mat3::zeros();
        for l in 0..m {
            sum += rows[k * n + l];
            let (a, b) = helmert(l);
            let block = sum * a + rows[k * n + l + 1] * b;
            dense.fixed_view_mut::<3, 3>(3 * k, 3 * l).copy_from(&block);
        }
    }
    clamp(&mut dense);
    // Bᵀ M B
    let block = |k: usize, l: usize| dense.fixed_view::<3, 3>(3 * k, 3 * l).into_owned();
    for k in 0..m {
        let mut tail = Mat3::zeros();
        for j in (0..n).rev() {
            let (a, b) = if j > 0 { helmert(j - 1) } else { (0.0, 0.0) };
            let own = if j > 0 { block(k, j - 1) } else { Mat3::zeros() };
            rows[k * n + j] = tail + own * b;
            tail += own * a;
        }
    }
    for j in 0..n {
        let mut tail = Mat3::zeros();
        for i in (0..n).rev() {
            let (a, b) = if i > 0 { helmert(i - 1) } else { (0.0, 0.0) };
            let own = if i > 0 { rows[(i - 1) * n + j] } else { Mat3::zeros() };
            h[i * n + j] = tail + own * b;
            tail += own * a;
        }
    }
    symmetrise(n, h);
}

/// Sets the negative eigenvalues of any Hessian `h` (`n×n` blocks, by rows) to zero.
pub(super) fn project_whole(n: usize, h: &mut [Mat3]) {
    let mut dense = DMatrix::from_fn(3 * n, 3 * n, |i, j| h[i / 3 * n + j / 3][(i % 3, j % 3)]);
    clamp(&mut dense);
    for (k, block) in h.iter_mut().enumerate() {
        block.copy_from(&dense.fixed_view::<3, 3>(3 * (k / n), 3 * (k % n)));
    }
    symmetrise(n, h);
}

/// Sets negative eigenvalues to zero: on the stack where few vertices count, as they mostly do.
fn clamp(m: &mut DMatrix<f64>) {
    match m.nrows() {
        3 => clamp_fixed::<3>(m),
        6 => clamp_fixed::<6>(m),
        9 => clamp_fixed::<9>(m),
        12 => clamp_fixed::<12>(m),
        15 => clamp_fixed::<15>(m),
        18 => clamp_fixed::<18>(m),
        21 => clamp_fixed::<21>(m),
        _ => {
            let eigen = m.clone().symmetric_eigen();
            for (k, &w) in eigen.eigenvalues.iter().enumerate() {
                if w < 0.0 {
                    let v = eigen.eigenvectors.column(k);
                    m.ger(-w, &v, &v, 1.0);
                }
            }
        }
    }
}

fn clamp_fixed<const N: usize>(m: &mut DMatrix<f64>) {
    let clamped = project_psd(&MatN::<N>::from_fn(|i, j| m[(i, j)]));
    m.copy_from(&clamped);
}

/// Makes blocks exactly each other's transposes.
pub(super) fn symmetrise(n: usize, h: &mut [Mat3]) {
    for i in 0..n {
        for j in 0..=i {
            let mean = (h[i * n + j] + h[j * n + i].transpose()) * 0.5;
            h[i * n + j] = mean;
            h[j * n + i] = mean.transpose();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use standoff_linalg::Vec3;

    #[test]
    fn projection_is_that_of_the_whole_matrix() {
        let mut random = standoff_testkit::Random::new(7);
        for n in [2, 3, 4, 5, 6, 7, 8, 14] {
            // a symmetric matrix whose rows sum to zero
            let mut full = DMatrix::from_fn(3 * n, 3 * n, |_, _| random.signed());
            full = &full + full.transpose();
            let centre = DMatrix::from_fn(3 * n, 3 * n, |i, j| {
                f64::from(i == j) - f64::from(i % 3 == j % 3) / n as f64
            });
            let full = &centre * full * &centre;
            let mut h: Vec<Mat3> = (0..n * n)
                .map(|k| full.fixed_view::<3, 3>(3 * (k / n), 3 * (k % n)).into_owned())
                .collect();
            project(n, &mut h);
            let mut want = full.clone();
            clamp(&mut want);
            for k in 0..n * n {
                let block = want.fixed_view::<3, 3>(3 * (k / n), 3 * (k % n)).into_owned();
                assert!((h[k] - block).norm() < 1e-13, "{n} {k}");
            }
            let moved: Vec3 = (0..n).map(|j| h[j] * Vec3::new(1.0, 2.0, 3.0)).sum();
            assert!(moved.norm() < 1e-13);
        }
    }
}
