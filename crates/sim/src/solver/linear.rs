//! Which linear solver a scene gets.

use crate::definition::settings::{LinearSolver as Choice, SolverSettings};
use standoff_sparse::{
    Cholesky, ConjugateGradient, FaerCholesky, Hybrid, LinearSolver, MixedCholesky, Ordering,
    Preconditioner,
};

/// Iterations of conjugate gradients at most.
const MAX_ITERATIONS: usize = 10_000;

/// The solver that the settings ask for.
pub fn solver(settings: &SolverSettings) -> Box<dyn LinearSolver + Send> {
    let (ordering, tolerance) = (Ordering::Automatic, settings.linear_tolerance);
    match settings.linear {
        Choice::Auto => Box::new(Hybrid::new(ordering, tolerance, MAX_ITERATIONS)),
        Choice::Cholesky => Box::new(Cholesky::new(ordering)),
        Choice::FaerCholesky => Box::new(FaerCholesky::new(ordering)),
        Choice::MixedCholesky => Box::new(MixedCholesky::new(ordering)),
        Choice::ConjugateGradient => iterative(tolerance, Preconditioner::StiffBlocks),
        Choice::TwoLevel => iterative(tolerance, Preconditioner::TwoLevel),
        Choice::Schwarz => iterative(tolerance, Preconditioner::Schwarz),
    }
}

fn iterative(tolerance: f64, preconditioner: Preconditioner) -> Box<dyn LinearSolver + Send> {
    let solver = ConjugateGradient::new(tolerance, MAX_ITERATIONS);
    Box::new(solver.with_preconditioner(preconditioner))
}
