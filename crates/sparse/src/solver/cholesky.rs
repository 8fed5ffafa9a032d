//! Direct solution by sparse Cholesky factorisation P A Pᵀ = L Lᵀ in double precision.

use std::sync::Arc;
use std::time::Instant;

use standoff_linalg::Vec3;

use super::multifrontal::{Analyses, Factor};
use super::{
    LinearSolver, Refinement, SolveReport, SolveSeconds, check_matrix, check_sizes, check_vectors,
};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError};

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
    /// When solutions are refined and refused.
    pub refinement: Refinement,
    pub(super) analyses: Analyses,
    /// Whether `factor` is that of the last matrix.
    factorized: bool,
    factor: Factor<f64>,
    /// Permuted right-hand side, then solution.
    permuted: Vec<f64>,
}

impl Cholesky {
    /// A solver that orders by the given method.
    pub fn new(ordering: Ordering) -> Self {
        Self {
            refinement: Refinement::default(),
            analyses: Analyses::new(ordering),
            factorized: false,
            factor: Factor::default(),
            permuted: Vec::new(),
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
}

impl LinearSolver for Cholesky {
    fn prepare(&mut self, pattern: &Arc<BlockPattern>) {
        // solving reports what is wrong
        let _ = self.analyze(pattern);
    }

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
        check_vectors(a.n(), b, x)?;
        let clock = Instant::now();
        check_matrix(a)?;
        let analyzed = self.analyze(a.pattern())?;
        let symbolic = clock.elapsed().as_secs_f64();
        self.factorize(a)?;
        let numeric = clock.elapsed().as_secs_f64() - symbolic;
        let report = self.by_factor(a, b, x)?;
        let seconds = SolveSeconds { symbolic, numeric, ..report.seconds };
        Ok(SolveReport { analyzed, seconds, ..report })
    }

    fn improve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        check_vectors(a.n(), b, x)?;
        self.analyze(a.pattern())?;
        match self.factorized {
            true => self.by_factor(a, b, x),
            false => self.solve(a, b, x),
        }
    }
}

impl Cholesky {
    /// A⁻¹ b with the last factor, refined.
    fn by_factor(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        let (clock, refinement) = (Instant::now(), self.refinement);
        let solve = &mut |b: &[Vec3], x: &mut [Vec3]| self.back_solve(b, x);
        let (iterations, relative_residual) = refinement.solve(a, b, x, solve)?;
        let back_solve = clock.elapsed().as_secs_f64();
        Ok(SolveReport {
            iterations,
            relative_residual,
            analyzed: false,
            factor_nonzeros: self.factor_nonzeros(),
            seconds: SolveSeconds { back_solve, ..SolveSeconds::default() },
        })
    }
}
