//! Conjugate gradients as long as they are cheaper than a factorisation, else the factorisation.

use std::sync::Arc;
use std::time::Instant;

use standoff_linalg::Vec3;

use super::{ConjugateGradient, LinearSolver, MixedCholesky, Preconditioner, SolveReport};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError, VertexOrder};

/// Iterations of conjugate gradients that take as long as a factorisation with one block operation
/// per block of the matrix: measured with `benches/examples/solver_table.rs` on 10⁴ to 1.5·10⁵ degrees of
/// freedom.
const ITERATIONS: f64 = 0.08;

/// Share of a factorisation's time that is tried to be saved by conjugate gradients.
const TRIAL: f64 = 0.5;

/// Iterations below which conjugate gradients are not tried.
const FEWEST: usize = 20;

/// Block operations above which a factorisation takes too much memory and time.
const LARGEST: f64 = 1e11;

/// Iterations without subdomains that are made at most where there is no factorisation: they take as long as 100 with
/// subdomains, which is what blocks of one material need (`benches/examples/schwarz_table.rs`).
const LARGE_MAX: usize = 2000;

/// After every so many iterations those are given up unless [`LARGE_MAX`] can be expected to suffice.
const LARGE_TRIAL: usize = 200;

/// The linear solver for any system: conjugate gradients with
/// [stiff blocks](Preconditioner::StiffBlocks) within a budget of iterations that takes half the
/// time of a factorisation, by operations predicted for the pattern of the last restart (or the
/// system's own); then, for all systems until the next restart, [`MixedCholesky`].
///
/// Where a factor would be very large there is no factorisation: where 2,000 iterations do not suffice, or cannot be
/// expected to by the residual after any 200 of them, those with [subdomains](Preconditioner::Schwarz) take their place
/// until the next restart.
#[derive(Debug)]
pub struct Hybrid {
    /// Iterations of conjugate gradients at most where there is no factorisation.
    pub max_iterations: usize,
    /// Block operations above which there is no factorisation.
    pub largest_operations: f64,
    ordering: Ordering,
    iterative: ConjugateGradient,
    subdomains: ConjugateGradient,
    direct: MixedCholesky,
    /// Pattern of the last restart.
    base: Option<Arc<BlockPattern>>,
    /// Block operations predicted for it; `None` as long as `direct` does not know of the restart.
    base_operations: Option<f64>,
    /// Whether conjugate gradients have failed since the last restart.
    failed: bool,
}

impl Hybrid {
    /// A solver that iterates to the given residual, at most so many times.
    pub fn new(ordering: Ordering, tolerance: f64, max_iterations: usize) -> Self {
        let iterative = ConjugateGradient::new(tolerance, max_iterations);
        let subdomains = ConjugateGradient::new(tolerance, max_iterations);
        Self {
            max_iterations,
            largest_operations: LARGEST,
            ordering,
            iterative: iterative.with_preconditioner(Preconditioner::StiffBlocks),
            subdomains: subdomains.with_preconditioner(Preconditioner::Schwarz),
            direct: MixedCholesky::new(ordering),
            base: None,
            base_operations: None,
            failed: false,
        }
    }

    /// Iterations that are worth trying; `None` where nothing else is.
    fn budget(&mut self, pattern: &Arc<BlockPattern>) -> Option<usize> {
        let (blocks, operations) = match (&self.base, self.base_operations) {
            (Some(base), Some(operations)) => (base.block_count(), operations),
            (Some(base), None) => (base.block_count(), self.direct.restart_and_predict(base)),
            (None, _) => {
                let order = VertexOrder::new(pattern, self.ordering);
                (pattern.block_count(), order.tree.operations())
            }
        };
        self.base_operations = self.base.is_some().then_some(operations);
        // a block operation is the product of two blocks
        let share = (pattern.unknowns() as f64 / 3.0).powi(3);
        let iterations = TRIAL * ITERATIONS * share * operations / blocks.max(1) as f64;
        (operations <= self.largest_operations).then_some(iterations as usize)
    }
}

impl LinearSolver for Hybrid {
    fn is_iterative(&self) -> bool {
        true
    }

    fn set_tolerance(&mut self, relative_residual: f64) {
        self.iterative.set_tolerance(relative_residual);
        self.subdomains.set_tolerance(relative_residual);
    }

    fn place(&mut self, position: &[Vec3]) {
        self.subdomains.place(position);
    }

    fn restart(&mut self, base: &Arc<BlockPattern>) {
        self.base = Some(base.clone());
        (self.failed, self.base_operations) = (false, None);
    }

    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        let budget = self.budget(a.pattern());
        let worthwhile = budget.is_none_or(|iterations| iterations >= FEWEST);
        let mut wasted = SolveReport::default();
        if worthwhile && !(self.failed && self.base.is_some()) {
            let at_most = || LARGE_MAX.min(self.max_iterations);
            self.iterative.max_iterations = budget.unwrap_or_else(at_most);
            self.iterative.trial = budget.is_none().then_some(LARGE_TRIAL);
            let clock = Instant::now();
            match self.iterative.solve(a, b, x) {
                Err(SolveError::NotConverged { iterations, .. }) => {
                    wasted.iterations = iterations;
                    wasted.seconds.numeric = clock.elapsed().as_secs_f64();
                }
                result => return result,
            }
            self.failed = true;
        }
        let mut report = match budget {
            Some(_) => self.direct.solve(a, b, x)?,
            None => {
                self.subdomains.max_iterations = self.max_iterations;
                self.subdomains.solve(a, b, x)?
            }
        };
        report.iterations += wasted.iterations;
        report.seconds.numeric += wasted.seconds.numeric;
        Ok(report)
    }
}
