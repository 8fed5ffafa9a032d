//! Cholesky factorisation in single precision, as a preconditioner of conjugate gradients in double.

use std::sync::Arc;
use std::time::Instant;

use standoff_linalg::Vec3;

use super::multifrontal::{Analysis, Factor};
use super::pcg::{Limits, System, iterate, multiply};
use super::rows::reciprocal_power_of_two;
use super::{
    Cholesky, LinearSolver, Residuals, SolveReport, SolveSeconds, check_matrix, check_vectors,
};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError, vector};

/// The smallest relative residual.
const TIGHTEST: f64 = 1e-10;

/// Conjugate gradients preconditioned by a Cholesky factor in single precision: half the memory and
/// about half the time of [`Cholesky`], with residuals as small.
///
/// Where the single-precision factorisation meets a pivot that is not positive, or the iteration
/// does not converge, the system is solved by [`Cholesky`]. Everything said there of bits, threads
/// and symbolic work holds here too.
#[derive(Debug)]
pub struct MixedCholesky {
    /// ‖b − A x‖₂ / ‖b‖₂ at which the iteration ends.
    pub tolerance: f64,
    /// Iterations after which the system is solved in double precision.
    pub max_iterations: usize,
    double: Cholesky,
    factor: Factor<f32>,
    permuted: Vec<f32>,
    scaled: Vec<Vec3>,
    work: [Vec<Vec3>; 4],
    /// Whether `factor` is that of the last system.
    factorised: bool,
}

impl MixedCholesky {
    /// A solver that orders by the given method and iterates to a residual of 1e-10, at most 25
    /// times.
    pub fn new(ordering: Ordering) -> Self {
        Self {
            tolerance: TIGHTEST,
            max_iterations: 25,
            double: Cholesky::new(ordering),
            factor: Factor::default(),
            permuted: Vec::new(),
            scaled: Vec::new(),
            work: Default::default(),
            factorised: false,
        }
    }

    /// As [`restart`](LinearSolver::restart); returns the block operations predicted for `base`.
    pub(super) fn restart_and_predict(&mut self, base: &Arc<BlockPattern>) -> f64 {
        self.double.analyses.restart(base)
    }

    /// Factorises in single precision and iterates; the inner error where that does not lead to a solution.
    fn solve_single(
        &mut self,
        analysis: &Arc<Analysis>,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<Result<(usize, f64, f64), Single>, SolveError> {
        let clock = Instant::now();
        self.factorised = false;
        self.factor.reserve(analysis)?;
        // single precision has a narrow range: the largest entry becomes about 1
        let largest = vector::map_reduce(a.blocks(), |block| block.amax(), 0.0, f64::max);
        let scale = reciprocal_power_of_two(largest);
        if let Err(block) = self.factor.compute(analysis, a.blocks(), scale) {
            return Ok(Err(Single::NotPositiveDefinite { block }));
        }
        self.factorised = true;
        let numeric = clock.elapsed().as_secs_f64();
        x.fill(Vec3::zeros());
        match self.iterate(analysis, a, b, x) {
            Some((iterations, residual)) => Ok(Ok((iterations, residual, numeric))),
            None => Ok(Err(Single::NotConverged)),
        }
    }

    /// Conjugate gradients from `x` with the last factor: iterations and relative residual; none where they do not converge.
    fn iterate(
        &mut self,
        analysis: &Analysis,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Option<(usize, f64)> {
        let Self { tolerance, max_iterations, factor, permuted, scaled, work, .. } = self;
        let mut system = SinglePrecision { a, analysis, factor, permuted, scaled };
        let (tolerance, max_iterations) = (*tolerance, *max_iterations);
        let limits = Limits { tolerance, tightest: tolerance, max_iterations, trial: None };
        iterate(limits, a, &mut system, b, x, work).ok().filter(|_| vector::is_finite(x))
    }
}

/// Why there is no solution in single precision.
enum Single {
    NotPositiveDefinite { block: usize },
    NotConverged,
}

/// A matrix and its factor in single precision.
struct SinglePrecision<'a> {
    a: &'a BlockMatrix,
    analysis: &'a Analysis,
    factor: &'a mut Factor<f32>,
    permuted: &'a mut Vec<f32>,
    scaled: &'a mut Vec<Vec3>,
}

impl System for SinglePrecision<'_> {
    fn multiply(&mut self, p: &[Vec3], q: &mut [Vec3]) -> f64 {
        multiply(self.a, p, q)
    }

    fn precondition(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        let scale = reciprocal_power_of_two(r.iter().map(|r| r.amax()).fold(0.0, f64::max));
        self.scaled.clear();
        self.scaled.extend(r.iter().map(|r| scale * r));
        self.factor.solve(self.analysis, self.scaled, z, self.permuted);
        vector::scale(z, 1.0 / scale);
        vector::dot(r, z)
    }
}

impl LinearSolver for MixedCholesky {
    fn is_iterative(&self) -> bool {
        true
    }

    fn set_tolerance(&mut self, residuals: Residuals) {
        self.tolerance = residuals.factorised.max(TIGHTEST);
    }

    fn improve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        check_vectors(a.n(), b, x)?;
        let clock = Instant::now();
        let (analysis, analyzed) = self.double.analyses.of(a.pattern())?;
        if self.factorised
            && !analyzed
            && let Some((iterations, relative_residual)) = self.iterate(&analysis, a, b, x)
        {
            let factor_nonzeros = analysis.factor_len();
            let seconds =
                SolveSeconds { back_solve: clock.elapsed().as_secs_f64(), ..Default::default() };
            return Ok(SolveReport {
                iterations,
                relative_residual,
                analyzed,
                factor_nonzeros,
                seconds,
            });
        }
        self.solve(a, b, x)
    }

    fn prepare(&mut self, pattern: &Arc<BlockPattern>) {
        self.double.prepare(pattern);
    }

    fn restart(&mut self, base: &Arc<BlockPattern>) {
        self.double.restart(base);
    }

    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        self.solve_by(false, a, b, x)
    }

    fn solve_if_definite(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        self.solve_by(true, a, b, x)
    }
}

impl MixedCholesky {
    /// Solves in single precision, else in double precision, unless the matrix does not look definite and may not be.
    fn solve_by(
        &mut self,
        may_be_indefinite: bool,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        check_vectors(a.n(), b, x)?;
        check_matrix(a)?;
        let clock = Instant::now();
        let (analysis, analyzed) = self.double.analyses.of(a.pattern())?;
        let symbolic = clock.elapsed().as_secs_f64();
        let single = self.solve_single(&analysis, a, b, x)?;
        let total = clock.elapsed().as_secs_f64();
        match single {
            Ok((iterations, relative_residual, numeric)) => {
                self.double.free();
                let back_solve = total - symbolic - numeric;
                return Ok(SolveReport {
                    iterations,
                    relative_residual,
                    analyzed,
                    factor_nonzeros: analysis.factor_len(),
                    seconds: SolveSeconds { symbolic, numeric, back_solve },
                });
            }
            Err(Single::NotPositiveDefinite { block }) if may_be_indefinite => {
                return Err(SolveError::NotPositiveDefinite { block });
            }
            Err(_) => {}
        }
        self.factor.free();
        self.factorised = false;
        let mut report = self.double.solve(a, b, x)?;
        report.analyzed = analyzed;
        report.seconds.symbolic += symbolic;
        report.seconds.numeric += total - symbolic;
        Ok(report)
    }
}
