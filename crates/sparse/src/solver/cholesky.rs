//! Direct solution by sparse Cholesky factorisation P A Pᵀ = L Lᵀ in double precision.

use std::sync::Arc;
use std::time::Instant;

use standoff_linalg::Vec3;

use super::multifrontal::{Analyses, Factor};
use super::{
    LinearSolver, SolveReport, SolveSeconds, check_matrix, check_rhs, check_sizes, residual,
};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError, vector};

/// Sparse Cholesky factorisation with iterative refinement.
///
/// Multifrontal [Duff & Reid 1983]: the columns of L are eliminated in dense fronts; independent
/// subtrees of the elimination tree, and the tiles of large fronts, are worked on in parallel. The
/// bits do not depend on the number of threads. They may differ between processors with different
/// vector units.
///
/// The symbolic factorisation is kept as long as matrices have the same pattern (the same object
/// or the same contents), so a caller who wants to keep it while contacts come and go gives all
/// matrices a common superset pattern; blocks of zeros cost operations but do no harm. After a
/// [`restart`](LinearSolver::restart) the order of its pattern is kept for others, too, until the
/// predicted operations are 1.2 times those for which it was found. The memory of the factor is
/// kept in any case.
#[derive(Debug)]
pub struct Cholesky {
    /// Residual ‖b − A x‖₂ / ‖b‖₂ above which a solution is refined.
    pub refinement_threshold: f64,
    /// Refinement steps at most.
    pub max_refinements: usize,
    /// Residual ‖b − A x‖₂ / ‖b‖₂ above which the solution is refused: a matrix that is singular
    /// to working precision can pass the factorisation.
    pub tolerance: f64,
    pub(super) analyses: Analyses,
    /// Whether `factor` is that of the last matrix.
    factorized: bool,
    factor: Factor<f64>,
    /// Permuted right-hand side, then solution.
    permuted: Vec<f64>,
    residual: Vec<Vec3>,
    trial: Vec<Vec3>,
}

impl Cholesky {
    /// A solver that orders by the given method; refines residuals above 1e-10 at most 3 times and
    /// refuses those above 1e-3.
    pub fn new(ordering: Ordering) -> Self {
        Self {
            refinement_threshold: 1e-10,
            max_refinements: 3,
            tolerance: 1e-3,
            analyses: Analyses::new(ordering),
            factorized: false,
            factor: Factor::default(),
            permuted: Vec::new(),
            residual: Vec::new(),
            trial: Vec::new(),
        }
    }

    /// Orders and analyses a pattern, unless the last one was the same; returns whether it did.
    pub fn analyze(&mut self, pattern: &Arc<BlockPattern>) -> Result<bool, SolveError> {
        let (_, analyzed) = self.analyses.of(pattern)?;
        self.factorized &= !analyzed;
        Ok(analyzed)
    }

    /// Factorises a matrix, for any number of [`back_solve`](Self::back_solve)s; returns whether
    /// its pattern had to be analysed.
    pub fn factorize(&mut self, a: &BlockMatrix) -> Result<bool, SolveError> {
        self.factorized = false;
        check_matrix(a)?;
        let (analysis, analyzed) = self.analyses.of(a.pattern())?;
        self.factor.reserve(&analysis)?;
        let result = self.factor.compute(&analysis, a.blocks(), 1.0);
        result.map_err(|block| SolveError::NotPositiveDefinite { block })?;
        self.factorized = true;
        Ok(analyzed)
    }

    /// x ← A⁻¹ b with the last factor, without refinement.
    pub fn back_solve(&mut self, b: &[Vec3], x: &mut [Vec3]) -> Result<(), SolveError> {
        let (Some(analysis), true) = (self.analyses.last(), self.factorized) else {
            return Err(SolveError::NotFactorized);
        };
        check_sizes(analysis.pattern.n(), b, x)?;
        self.factor.solve(analysis, b, x, &mut self.permuted);
        Ok(())
    }

    /// Entries of the factor of the last analysed pattern, the zeros of merged fronts among them.
    pub fn factor_nonzeros(&self) -> usize {
        self.analyses.last().map_or(0, |a| a.factor_len())
    }

    /// Gives the memory of the factor back.
    pub(super) fn free(&mut self) {
        self.factor.free();
        self.factorized = false;
    }

    /// Solves by the factor of `a`, refines while that helps, and judges the outcome.
    fn solve_refined(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<(usize, f64), SolveError> {
        self.back_solve(b, x)?;
        let b_norm = vector::norm(b);
        if b_norm == 0.0 {
            return Ok((0, 0.0));
        }
        let mut r = std::mem::take(&mut self.residual);
        let mut trial = std::mem::take(&mut self.trial);
        r.resize(b.len(), Vec3::zeros());
        trial.resize(b.len(), Vec3::zeros());
        let mut relative = residual(a, b, x, &mut r) / b_norm;
        let mut steps = 0;
        while relative > self.refinement_threshold && steps < self.max_refinements {
            self.back_solve(&r, &mut trial)?;
            vector::axpy(&mut trial, 1.0, x);
            let refined = residual(a, b, &trial, &mut r) / b_norm;
            steps += 1;
            if refined >= relative || refined.is_nan() {
                break;
            }
            x.copy_from_slice(&trial);
            relative = refined;
        }
        (self.residual, self.trial) = (r, trial);
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

impl LinearSolver for Cholesky {
    fn restart(&mut self, base: &Arc<BlockPattern>) {
        self.factorized = false;
        self.analyses.restart(base);
    }

    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        check_sizes(a.n(), b, x)?;
        check_rhs(b)?;
        let clock = Instant::now();
        check_matrix(a)?;
        let analyzed = self.analyze(a.pattern())?;
        let symbolic = clock.elapsed().as_secs_f64();
        self.factorize(a)?;
        let numeric = clock.elapsed().as_secs_f64() - symbolic;
        let (iterations, relative_residual) = self.solve_refined(a, b, x)?;
        let back_solve = clock.elapsed().as_secs_f64() - symbolic - numeric;
        Ok(SolveReport {
            iterations,
            relative_residual,
            analyzed,
            factor_nonzeros: self.factor_nonzeros(),
            seconds: SolveSeconds { symbolic, numeric, back_solve },
        })
    }
}
