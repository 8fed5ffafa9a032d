//! Iterative refinement of what a factorisation solved.

use standoff_linalg::Vec3;

use super::residual;
use crate::{BlockMatrix, SolveError, vector};

/// When a direct solution is refined, and when it is refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Refinement {
    /// Residual ‖b − A x‖₂ / ‖b‖₂ above which a solution is refined.
    pub threshold: f64,
    /// Refinement steps at most.
    pub max_steps: usize,
    /// Residual ‖b − A x‖₂ / ‖b‖₂ above which the solution is refused: a matrix that is singular
    /// to working precision can pass the factorisation.
    pub tolerance: f64,
}

/// Refines residuals above 1e-10 at most 3 times and refuses those above 1e-3.
impl Default for Refinement {
    fn default() -> Self {
        Self { threshold: 1e-10, max_steps: 3, tolerance: 1e-3 }
    }
}

impl Refinement {
    /// Solves by `back_solve` (x ← A⁻¹ b), refines while that helps, and judges the outcome. Returns the
    /// refinement steps and ‖b − A x‖₂ / ‖b‖₂.
    pub(super) fn solve(
        self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
        back_solve: &mut dyn FnMut(&[Vec3], &mut [Vec3]) -> Result<(), SolveError>,
    ) -> Result<(usize, f64), SolveError> {
        back_solve(b, x)?;
        let b_norm = vector::norm(b);
        if b_norm == 0.0 {
            return Ok((0, 0.0));
        }
        let mut r = vec![Vec3::zeros(); b.len()];
        let mut trial = Vec::new();
        let mut relative = residual(a, b, x, &mut r) / b_norm;
        let mut steps = 0;
        while relative > self.threshold && steps < self.max_steps {
            trial.resize(b.len(), Vec3::zeros());
            back_solve(&r, &mut trial)?;
            vector::axpy(&mut trial, 1.0, x);
            let refined = residual(a, b, &trial, &mut r) / b_norm;
            steps += 1;
            if refined >= relative || refined.is_nan() {
                break;
            }
            x.copy_from_slice(&trial);
            relative = refined;
        }
        if !vector::is_finite(x) || !relative.is_finite() {
            return Err(SolveError::NotFinite { what: "solution" });
        }
        if relative > self.tolerance {
            return Err(SolveError::NotConverged {
                iterations: steps,
                relative_residual: relative,
                tolerance: self.tolerance,
            });
        }
        Ok((steps, relative))
    }
}
