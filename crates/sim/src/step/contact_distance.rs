//! The contact distance d̂ that shrinks within a step, where the settings ask for it.
//!
//! A step begins with d̂ = `contact.d_hat_start`. After every minimisation d̂² is halved, until d̂ is the
//! contact distance; friction is updated on the way. The minimiser that the step ends with is that of the
//! contact distance, so that a larger start only helps to find it: contacts are felt earlier and softer.
//! The code of [Li 2020] shrinks d̂ in the same way (`tuning` of its scripts), but may stop before, once
//! every pair within d̂ is closer than the target.

use crate::clock::Phase;
use crate::contact::stiffness;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::report::StepOutcome;
use crate::solver;
use crate::solver::workspace::Workspace;
use standoff_linalg::Vec3;

/// Widens the contacts of `it` to the distance at which the step begins, with a κ that bears at a loaded gap
/// what the present one does.
pub fn widen(potential: &mut IncrementalPotential<'_>, it: &mut Iterate, work: &mut Workspace) {
    let Some(start) = potential.context.settings.contact.d_hat_start else { return };
    let (clock, model) = (potential.context.clock, potential.context.model);
    work.detector.d_hat = start;
    let rest = vec![Vec3::zeros(); it.x.len()];
    clock.time(Phase::BroadPhase, || work.detector.sweep(model, &it.x, &rest, 0.0));
    let needed = potential.barrier().kappa;
    change(potential, it, start, needed, work);
}

/// Minimises the potential for every distance above the contact distance, and leaves `it` with the contacts
/// of that; the outcome of a minimisation that did not end at a minimum, if one did not.
///
/// # Errors
/// As [`newton::minimise`](solver::newton::minimise).
pub fn shrink(
    potential: &mut IncrementalPotential<'_>,
    it: &mut Iterate,
    work: &mut Workspace,
) -> Result<Option<StepOutcome>, StepError> {
    let target = potential.context.model.resolved.d_hat;
    while potential.context.d_hat > target {
        let outcome = solver::minimise(potential, it, work)?;
        work.report.lagging_iterations += 1;
        if !outcome.is_minimum() {
            return Ok(Some(outcome));
        }
        potential.lag_friction(it, potential.barrier().kappa);
        let needed = stiffness::load(potential.barrier(), &it.contacts, &it.x);
        let next = potential.context.d_hat * std::f64::consts::FRAC_1_SQRT_2;
        change(potential, it, next.max(target), needed, work);
    }
    Ok(None)
}

/// Goes over to another distance; `needed` is the κ with which contacts of the present one carry the load.
/// Candidates of the last sweep may be those of a larger distance: none is missing.
fn change(
    potential: &mut IncrementalPotential<'_>,
    it: &mut Iterate,
    d_hat: f64,
    needed: f64,
    work: &mut Workspace,
) {
    work.detector.d_hat = d_hat;
    let (clock, model) = (potential.context.clock, potential.context.model);
    it.contacts = clock.time(Phase::Contact, || work.detector.contacts(model, &it.x));
    potential.set_contact_distance(d_hat, needed, it);
}
