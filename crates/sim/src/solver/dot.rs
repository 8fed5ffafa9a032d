//! The decomposed optimisation time integrator [Li 2019]: L-BFGS whose initial inverse Hessian is made of
//! those of subdomains, factorised once per step.

use super::direction::{linear_failure, not_finite};
use super::lbfgs::dot;
use super::quasi_newton::{Due, InitialInverse};
use crate::clock::Phase;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::solver::workspace::Workspace;
use crate::thresholds::{LEAST_START, REGULARISATIONS};
use standoff_linalg::Vec3;
use standoff_sparse::{Blend, SolveError};

/// The mean over subdomains of what their inverse Hessians give [Li 2020 thesis, Eq. 3.13].
pub struct SubdomainHessians;

impl InitialInverse for SubdomainHessians {
    const FOLLOWS: bool = true;

    /// Where round-off makes a Hessian indefinite, the diagonal is raised, ten times more at each try.
    fn renew(
        &self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        due: Due,
        work: &mut Workspace,
    ) -> Result<(), StepError> {
        let context = &potential.context;
        let Some(decomposition) = &context.model.decomposition else {
            return Err(linear_failure(&work.report, "the scene has no subdomains".into()));
        };
        let Workspace { hessian, subdomains, report, .. } = work;
        let clock = context.clock;
        if due == Due::Contacts && it.contacts.is_empty() && !hessian.has_contacts() {
            return Ok(());
        }
        let renewed = match due {
            Due::All => hessian.renew_elastic(potential, it),
            Due::Contacts => Ok(()),
        };
        renewed
            .and_then(|()| hessian.assemble_contacts(potential, it))
            .map_err(|e| linear_failure(report, e.to_string()))?;
        let mut raise = 1e-12 * hessian.largest_diagonal(|_| true).unwrap_or(0.0);
        for _ in 0..REGULARISATIONS {
            let factorised = clock.time(Phase::Factorisation, || match due {
                Due::All => subdomains.factorize(potential, decomposition, hessian, it),
                Due::Contacts => subdomains.follow_contacts(potential, decomposition, hessian, it),
            });
            match factorised {
                Ok(count) => {
                    report.subdomain_factorisations += count as u64;
                    return Ok(());
                }
                Err(SolveError::NotFinite { .. }) => {
                    return Err(not_finite("the Hessian", potential, it));
                }
                Err(SolveError::NotPositiveDefinite { .. }) => {
                    hessian.raise_diagonal(raise);
                    raise *= 10.0;
                }
                Err(e) => return Err(linear_failure(report, e.to_string())),
            }
        }
        let reason = "the Hessian of a subdomain stays indefinite although its diagonal was raised";
        Err(linear_failure(report, reason.into()))
    }

    fn apply(
        &self,
        q: &[Vec3],
        blend: Blend,
        work: &mut Workspace,
    ) -> Result<Vec<Vec3>, SolveError> {
        work.subdomains.apply(&work.hessian, q, blend)
    }

    /// The minimum of the potential's quadratic model along the direction, with the Hessian that was assembled
    /// last [Li 2020 thesis, Eq. 3.14].
    fn first_length(&self, p: &[Vec3], slope: f64, work: &Workspace) -> Result<f64, SolveError> {
        let product = work.hessian.multiply(p).map_err(|_| SolveError::NotFactorized)?;
        let length = -slope / dot(p, &product);
        Ok(if length.is_finite() { length.max(LEAST_START) } else { 1.0 })
    }
}
