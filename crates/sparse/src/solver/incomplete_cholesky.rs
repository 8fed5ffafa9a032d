//! Block Cholesky factorisation without fill, IC(0) [Saad 2003, §10.3], as a preconditioner.

use std::sync::Arc;

use standoff_linalg::{Mat3, Vec3};

use crate::matrix::add_mul;
use crate::{BlockMatrix, BlockPattern, SolveError};

/// First relative shift of the diagonal where a pivot fails, and its growth [Manteuffel 1980].
const FIRST_SHIFT: f64 = 1e-3;
const SHIFT_GROWTH: f64 = 4.0;

/// A ≈ L Lᵀ with blocks of L only where A has them.
pub(crate) struct IncompleteCholesky {
    pattern: Arc<BlockPattern>,
    /// Off-diagonal blocks of L; at diagonal positions the inverses of its diagonal blocks.
    blocks: Vec<Mat3>,
}

impl IncompleteCholesky {
    /// Factorises `a`. Dropping fill can make pivots fail even where A is positive definite; then
    /// the diagonal blocks are enlarged by a growing factor until they do not.
    pub(crate) fn new(a: &BlockMatrix) -> Result<Self, SolveError> {
        for i in 0..a.n() {
            if a.diagonal_block(i).cholesky().is_none() {
                return Err(SolveError::NotPositiveDefinite { block: i });
            }
        }
        let pattern = a.pattern().clone();
        let mut shift = 0.0;
        loop {
            let mut blocks = a.blocks().to_vec();
            for i in 0..a.n() {
                blocks[pattern.diagonal_position(i)] *= 1.0 + shift;
            }
            match factorize(&pattern, &mut blocks) {
                Ok(()) => return Ok(Self { pattern, blocks }),
                // a diagonal thus enlarged dominates unless A is far from positive definite
                Err(block) if shift > 1e3 => {
                    return Err(SolveError::NotPositiveDefinite { block });
                }
                Err(_) if shift == 0.0 => shift = FIRST_SHIFT,
                Err(_) => shift *= SHIFT_GROWTH,
            }
        }
    }

    /// z ← (L Lᵀ)⁻¹ z.
    pub(crate) fn solve_in_place(&self, z: &mut [Vec3]) {
        let p = &*self.pattern;
        for j in 0..p.n() {
            let first = p.diagonal_position(j);
            z[j] = self.blocks[first] * z[j];
            let minus = -z[j];
            for (k, &i) in p.column(j).iter().enumerate().skip(1) {
                add_mul(&mut z[i as usize], &self.blocks[first + k], &minus);
            }
        }
        for j in (0..p.n()).rev() {
            let first = p.diagonal_position(j);
            let mut sum = z[j];
            for (k, &i) in p.column(j).iter().enumerate().skip(1) {
                sum -= self.blocks[first + k].tr_mul(&z[i as usize]);
            }
            z[j] = self.blocks[first].tr_mul(&sum);
        }
    }

    pub(crate) fn nonzeros(&self) -> usize {
        9 * self.blocks.len()
    }
}

/// Right-looking elimination within the pattern; the failing block row as the error.
fn factorize(p: &BlockPattern, blocks: &mut [Mat3]) -> Result<(), usize> {
    for k in 0..p.n() {
        let first = p.diagonal_position(k);
        let column = p.column(k);
        let pivot = blocks[first].cholesky().ok_or(k)?;
        let inverse = pivot.l().try_inverse().ok_or(k)?;
        if !inverse.iter().all(|v| v.is_finite()) {
            return Err(k);
        }
        blocks[first] = inverse;
        for block in &mut blocks[first + 1..first + column.len()] {
            *block *= inverse.transpose();
        }
        // A_ij -= L_ik L_jkᵀ where (i, j) is stored: merge the tail of column k with column j
        for (s, &j) in column.iter().enumerate().skip(1) {
            let l_jk = blocks[first + s].transpose();
            let begin = p.diagonal_position(j as usize);
            let rows = p.column(j as usize);
            let mut at = 0;
            for (t, &i) in column.iter().enumerate().skip(s) {
                while at < rows.len() && rows[at] < i {
                    at += 1;
                }
                if rows.get(at) == Some(&i) {
                    let update = blocks[first + t] * l_jk;
                    blocks[begin + at] -= update;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConjugateGradient, LinearSolver, Preconditioner};

    /// Kershaw's matrix: positive definite, but once fill is dropped the last pivot is 3 − 8 < 0
    /// [Kershaw 1978, J. Comput. Phys. 26]. The shifted factor still preconditions.
    #[test]
    fn failing_pivots_are_cured_by_a_shift() {
        let pairs = [(1, 0), (2, 1), (3, 2), (3, 0)];
        let pattern = Arc::new(BlockPattern::from_pairs(4, &pairs).unwrap());
        let mut a = BlockMatrix::zeros(pattern.clone());
        for (row, col, v) in [(1, 0, -2.0), (2, 1, -2.0), (3, 2, -2.0), (3, 0, 2.0)] {
            a.blocks_mut()[pattern.position(row, col).unwrap()] = v * Mat3::identity();
        }
        a.add_diagonal(&[3.0; 4]).unwrap();
        assert_eq!(factorize(&pattern, &mut a.blocks().to_vec()), Err(3));
        let b: Vec<_> = (0..4).map(|i| Vec3::new(1.0, f64::from(i), -0.5)).collect();
        let mut x = vec![Vec3::zeros(); 4];
        let mut cg = ConjugateGradient::new(1e-12, 50)
            .with_preconditioner(Preconditioner::IncompleteCholesky);
        let report = cg.solve(&a, &b, &mut x).unwrap();
        assert!(report.iterations <= 6, "{report:?}");
    }
}
