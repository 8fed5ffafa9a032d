//! Conjugate gradients with block Jacobi, plainly, on the processor: with the formulas and the tree of sums of the device, written
//! again.

use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::BlockMatrix;

/// Rows whose summands are added in a tree.
const LEAVES: usize = 256;

/// A solution.
pub struct Twin {
    pub x: Vec<Vec3>,
    pub iterations: usize,
    pub relative_residual: f64,
}

/// Solves A x = b for a positive definite A.
pub fn solve(a: &BlockMatrix, b: &[Vec3], tolerance: f64, max_iterations: usize) -> Twin {
    let inverse: Vec<Mat3> = (0..a.n()).map(|i| inverse_factor(a.diagonal_block(i))).collect();
    let precondition = |r: &[Vec3]| -> Vec<Vec3> {
        r.iter().zip(&inverse).map(|(r, k)| times(&k.transpose(), &times(k, r))).collect()
    };
    let b_norm = sum(b, b).sqrt();
    let mut x = vec![Vec3::zeros(); a.n()];
    let mut iterations = 0;
    loop {
        let product = a.mul_vec(&x).unwrap();
        let mut r: Vec<Vec3> = b.iter().zip(&product).map(|(b, p)| b - p).collect();
        let relative_residual = sum(&r, &r).sqrt() / b_norm;
        if relative_residual <= tolerance || iterations >= max_iterations {
            return Twin { x, iterations, relative_residual };
        }
        let mut z = precondition(&r);
        let mut rz = sum(&r, &z);
        let mut p = z.clone();
        loop {
            let q = a.mul_vec(&p).unwrap();
            let alpha = rz / sum(&p, &q);
            for i in 0..a.n() {
                x[i] += p[i] * alpha;
                r[i] -= q[i] * alpha;
            }
            iterations += 1;
            z = precondition(&r);
            let next = sum(&r, &z);
            if sum(&r, &r).sqrt() / b_norm <= tolerance || iterations >= max_iterations {
                break;
            }
            let beta = next / rz;
            rz = next;
            for i in 0..a.n() {
                p[i] = z[i] + p[i] * beta;
            }
        }
    }
}

/// L⁻¹ of L Lᵀ, by forward substitution.
fn inverse_factor(block: &Mat3) -> Mat3 {
    let mut l = Mat3::zeros();
    for j in 0..3 {
        let mut d = block[(j, j)];
        for k in 0..j {
            d -= l[(j, k)] * l[(j, k)];
        }
        l[(j, j)] = d.sqrt();
        for i in j + 1..3 {
            let mut v = block[(i, j)];
            for k in 0..j {
                v -= l[(i, k)] * l[(j, k)];
            }
            l[(i, j)] = v / l[(j, j)];
        }
    }
    let mut k = Mat3::zeros();
    for i in 0..3 {
        k[(i, i)] = 1.0 / l[(i, i)];
        for j in (0..i).rev() {
            let mut s = l[(i, j)] * k[(j, j)];
            for m in j + 1..i {
                s += l[(i, m)] * k[(m, j)];
            }
            k[(i, j)] = -s * k[(i, i)];
        }
    }
    k
}

/// M v, each row from left to right, without the zeros beside a triangle.
fn times(m: &Mat3, v: &Vec3) -> Vec3 {
    Vec3::from_fn(|i, _| {
        let mut row = (0..3).filter(|&j| m[(i, j)] != 0.0).map(|j| m[(i, j)] * v[j]);
        let first = row.next().unwrap_or(0.0);
        row.fold(first, |s, x| s + x)
    })
}

/// aᵀb: by trees over 256 rows each, their sums each 256th with each 256th, these by a tree.
fn sum(a: &[Vec3], b: &[Vec3]) -> f64 {
    let rows: Vec<f64> =
        a.iter().zip(b).map(|(a, b)| a[0] * b[0] + a[1] * b[1] + a[2] * b[2]).collect();
    let groups: Vec<f64> = rows.chunks(LEAVES).map(tree).collect();
    let mut strided = vec![0.0; LEAVES];
    for (k, group) in groups.iter().enumerate() {
        strided[k % LEAVES] += group;
    }
    tree(&strided)
}

/// The sum of up to 256 values, the upper half added to the lower one until one is left.
fn tree(values: &[f64]) -> f64 {
    let mut leaves = values.to_vec();
    leaves.resize(LEAVES, 0.0);
    while leaves.len() > 1 {
        let half = leaves.len() / 2;
        leaves = (0..half).map(|i| leaves[i] + leaves[i + half]).collect();
    }
    leaves[0]
}
