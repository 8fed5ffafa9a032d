//! Which linear solver a scene gets.

use crate::definition::settings::{LinearSolver as Choice, SolverSettings};
use crate::thresholds::CONJUGATE_GRADIENT_ITERATIONS;
use standoff_sparse::{
    Cholesky, ConjugateGradient, FaerCholesky, Hybrid, LinearSolver, MixedCholesky, Ordering,
    Preconditioner,
};

/// The solver that the settings ask for.
pub fn solver(settings: &SolverSettings) -> Box<dyn LinearSolver> {
    let (ordering, tolerance) = (Ordering::Automatic, settings.linear_tolerance);
    let subdomains = settings.schwarz_subdomains.map(|n| n as usize);
    let iterative = |preconditioner| {
        let mut solver = ConjugateGradient::new(tolerance, CONJUGATE_GRADIENT_ITERATIONS);
        (solver.preconditioner, solver.subdomains) = (preconditioner, subdomains);
        Box::new(solver)
    };
    match settings.linear {
        Choice::Auto => {
            let solver = Hybrid::new(ordering, tolerance, CONJUGATE_GRADIENT_ITERATIONS);
            Box::new(solver.with_subdomains(subdomains))
        }
        Choice::Cholesky => Box::new(Cholesky::new(ordering)),
        Choice::FaerCholesky => Box::new(FaerCholesky::new(ordering)),
        Choice::MixedCholesky => Box::new(MixedCholesky::new(ordering)),
        Choice::ConjugateGradient => iterative(Preconditioner::StiffBlocks),
        Choice::TwoLevel => iterative(Preconditioner::TwoLevel),
        Choice::Schwarz => iterative(Preconditioner::Schwarz),
    }
}
