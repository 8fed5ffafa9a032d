//! Minimisers of the incremental potential, one file each, and what they are made of.

pub mod assembly;
pub mod balance;
pub mod barrier_free;
pub mod comparison;
pub mod contact_subproblem;
pub mod direction;
pub mod dot;
pub mod lbfgs;
pub mod line_search;
pub mod linear;
mod linkage;
pub mod newton;
pub mod path;
mod prescribed;
pub mod quasi_newton;
pub(crate) mod saddle;
pub mod speedups;
pub mod subdomains;
pub mod termination;
pub mod workspace;

use crate::definition::settings::Method;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::report::StepOutcome;
use crate::solver::comparison::lbfgs_pd::ProjectiveDynamics;
use crate::solver::workspace::Workspace;

/// Minimises the potential of the barrier from `it`, which becomes the last iterate, by the method of the
/// settings.
///
/// # Errors
/// As [`newton::minimise`].
pub fn minimise(
    potential: &mut IncrementalPotential<'_>,
    it: &mut Iterate,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    match potential.context.settings.solver.method {
        Method::Dot => quasi_newton::minimise(&dot::SubdomainHessians, potential, it, work),
        Method::LbfgsPd => quasi_newton::minimise(&ProjectiveDynamics, potential, it, work),
        Method::AdmmPd => comparison::admm_pd::minimise(potential, it, work),
        Method::Barrier | Method::BarrierFree => newton::minimise(potential, it, work),
    }
}
