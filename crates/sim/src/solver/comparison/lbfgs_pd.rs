//! L-BFGS from the matrix of projective dynamics [Liu 2017], which the thesis calls LBFGS-PD [Li 2020 thesis, §3.3]: the
//! initial inverse Hessian is constant and factorised once in a run. For tetrahedra without contact.

use crate::error::StepError;
use crate::iterate::Iterate;
use crate::material::Lame;
use crate::potential::IncrementalPotential;
use crate::solver::direction::{linear_failure, not_finite};
use crate::solver::quasi_newton::{Due, InitialInverse};
use crate::solver::workspace::Workspace;
use standoff_linalg::Vec3;
use standoff_sparse::{Blend, SolveError};

/// Stiffness of a tetrahedron, Pa: λ + 2μ, by which the stress of every law grows with a principal stretch at rest.
pub fn stiffness(lame: &Lame) -> f64 {
    lame.lambda + 2.0 * lame.mu
}

/// The inverse of M + s Σ V (λ + 2μ) GᵀG.
pub struct ProjectiveDynamics;

impl InitialInverse for ProjectiveDynamics {
    const FOLLOWS: bool = false;

    fn renew(
        &self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        due: Due,
        work: &mut Workspace,
    ) -> Result<(), StepError> {
        if due == Due::Contacts {
            return Ok(());
        }
        let Workspace { laplacian, report, .. } = work;
        match laplacian.prepare(potential, stiffness) {
            Ok(factorised) => {
                report.subdomain_factorisations += u64::from(factorised);
                Ok(())
            }
            Err(SolveError::NotFinite { .. }) => Err(not_finite("the matrix", potential, it)),
            Err(e) => Err(linear_failure(report, e.to_string())),
        }
    }

    fn apply(&self, q: &[Vec3], _: Blend, work: &mut Workspace) -> Result<Vec<Vec3>, SolveError> {
        work.laplacian.solve(q)
    }

    /// Quasi-Newton steps begin with their whole length.
    fn first_length(&self, _: &[Vec3], _: f64, _: &Workspace) -> Result<f64, SolveError> {
        Ok(1.0)
    }
}
