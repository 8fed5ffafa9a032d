//! Which linear solver a scene gets.

use crate::definition::settings::{Device, LinearSolver as Choice, SolverSettings};
use crate::thresholds::CONJUGATE_GRADIENT_ITERATIONS;
use standoff_linalg::Vec3;
use standoff_sparse::{
    BlockMatrix, Cholesky, ConjugateGradient, FaerCholesky, Hybrid, LinearSolver, MixedCholesky,
    Ordering, Preconditioner, SolveError, SolveReport,
};

/// The solver that the settings ask for.
pub fn solver(settings: &SolverSettings) -> Box<dyn LinearSolver> {
    if settings.device == Device::Gpu {
        return Box::new(Missing);
    }
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

/// What a graphics processor has in its place: this crate knows none, so that programs pass in a solver on it. Without that, nothing is
/// solved elsewhere unnoticed.
#[derive(Debug)]
struct Missing;

impl LinearSolver for Missing {
    fn solve(
        &mut self,
        _: &BlockMatrix,
        _: &[Vec3],
        _: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        let problem = "the settings ask for a graphics processor, and the program has passed in no solver on one";
        Err(SolveError::Device { problem: problem.into() })
    }
}
