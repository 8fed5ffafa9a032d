//! Matrices and right-hand sides.

use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{BlockMatrix, BlockPattern};
use standoff_testkit::fastrand::Rng;
use std::sync::Arc;

/// A positive definite matrix that couples neighbours in a chain, by blocks that are not symmetric.
pub fn chain(n: usize) -> BlockMatrix {
    let pairs: Vec<_> = (1..n as u32).map(|i| (i, i - 1)).collect();
    coupled(n, &pairs, n as u64)
}

/// The same for neighbours in a lattice, diagonal ones included, with rows in a random order.
pub fn lattice(sides: [usize; 3], seed: u64) -> BlockMatrix {
    let n = sides.iter().product();
    let mut order: Vec<u32> = (0..n as u32).collect();
    Rng::with_seed(seed).shuffle(&mut order);
    let at = |p: [usize; 3]| order[p[0] + sides[0] * (p[1] + sides[1] * p[2])];
    let mut pairs = Vec::new();
    for x in 0..sides[0] {
        for y in 0..sides[1] {
            for z in 0..sides[2] {
                for step in [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]] {
                    let to = [x + step[0], y + step[1], z + step[2]];
                    if (0..3).all(|k| to[k] < sides[k]) {
                        pairs.push((at([x, y, z]), at(to)));
                    }
                }
            }
        }
    }
    coupled(n, &pairs, seed)
}

/// Σ over pairs of (xᵢ − C xⱼ)ᵀ S (xᵢ − C xⱼ) and a little of the identity: S is positive definite, C a rotation nearly.
fn coupled(n: usize, pairs: &[(u32, u32)], seed: u64) -> BlockMatrix {
    let mut rng = Rng::with_seed(seed);
    let mut number = move || 2.0 * rng.f64() - 1.0;
    let mut a = BlockMatrix::zeros(Arc::new(BlockPattern::from_pairs(n, pairs).unwrap()));
    for &(i, j) in pairs {
        let root = Mat3::from_fn(|_, _| number());
        let s = root * root.transpose() + Mat3::identity() * 0.1;
        let c = Mat3::identity() + Mat3::from_fn(|_, _| 0.1 * number());
        let off = -s * c;
        a.add_stencil(&[i, j], &[[s, off], [off.transpose(), c.transpose() * s * c]]).unwrap();
    }
    for i in 0..n {
        *a.diagonal_block_mut(i) += Mat3::identity() * (0.05 + 0.05 * number().abs());
    }
    // as they are read in part, let them be symmetric to the last bit
    for i in 0..n {
        let block = a.diagonal_block_mut(i);
        *block = (*block + block.transpose()) * 0.5;
    }
    a
}

/// A right-hand side of numbers of several magnitudes.
pub fn right_hand_side(n: usize) -> Vec<Vec3> {
    let mut rng = Rng::with_seed(9);
    (0..n).map(|_| Vec3::from_fn(|_, _| (rng.f64() - 0.5) * 10f64.powi(rng.i32(-3..3)))).collect()
}
