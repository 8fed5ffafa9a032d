//! The decomposed optimisation time integrator [Li 2019]: L-BFGS whose initial inverse Hessian is made of
//! those of subdomains, factorised once per step.
//!
//! Every iterate is free of intersections and inversions, as those of projected Newton are: the line search
//! is the same.

use super::direction::{REGULARISATIONS, check_time, linear_failure, measure, not_finite};
use super::lbfgs::{Lbfgs, dot};
use super::newton::Adaptations;
use super::termination::{Termination, Verdict};
use super::{line_search, prescribed};
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::report::StepOutcome;
use crate::step::clock::Phase;
use crate::step::workspace::Workspace;
use standoff_linalg::Vec3;
use standoff_sparse::{Blend, SolveError};

/// The least first step length [Li 2020 thesis, Eq. 3.14].
const LEAST_START: f64 = 0.1;

/// Part of the decrease that the slope promises that a step has to bring [Nocedal & Wright 2006, Eq. 3.4].
const DECREASE: f64 = 1e-4;

/// Iterations after which all Hessians are computed again at the current iterate. Our choice: the scenes of
/// chapter 3 of [Li 2020 thesis] need fewer in a step; where energies diverge, as those of contact or of
/// elements that are nearly flat do, the ones of the step's start may no longer do.
const RENEWAL: usize = 40;

/// What of the subdomains' Hessians has to be computed before the next direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    /// Everything, at the present iterate.
    All,
    /// Contact and friction, where they have changed.
    Contacts,
}

/// Minimises `potential` from `it`, which becomes the last iterate.
///
/// Stops once the characteristic norm of the gradient is below its tolerance [Li 2020 thesis, Eq. 3.15], after at least one
/// iteration: the gradient of a stiff body at rest in its first step under gravity may be below.
///
/// # Errors
/// As [`newton::minimise`](super::newton::minimise).
// long: one loop; what its iterations share is what makes it end
pub fn minimise(
    potential: &mut IncrementalPotential<'_>,
    it: &mut Iterate,
    adapt: &mut Adaptations,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    let context = potential.context;
    let mut termination = Termination::new(&context);
    let mut memory = Lbfgs::default();
    let (mut due, mut age) = (Due::All, 0);
    adapt.limits.begin();
    potential.friction.secant = false;
    let mut gradient = finite_gradient(potential, it)?;
    for _ in 0..context.settings.solver.max_iterations {
        work.report.newton_iterations += 1;
        check_time(potential, it, &work.report)?;
        if age >= RENEWAL {
            due = Due::All;
        }
        age = if due == Due::All { 1 } else { age + 1 };
        renew(potential, it, due, work)?;
        due = Due::Contacts;
        let p = scaled_direction(potential, it, &gradient, &mut memory, work)?;
        adapt.stiffness.observe(potential, it);
        let max_contacts = &mut work.report.max_contacts;
        *max_contacts = (*max_contacts).max(it.contacts.len() as u64);
        let x = it.x.clone();
        let taken = line_search::search_sufficient(potential, it, &p, &gradient, DECREASE, work);
        if !taken.finite {
            return Err(not_finite("the potential", potential, it));
        }
        let after = finite_gradient(potential, it)?;
        if taken.alpha == 0.0 && (!memory.is_empty() || age > 1) {
            // what is old may mislead where the Hessians of now do not
            memory.clear();
            due = Due::All;
            continue;
        }
        let s: Vec<Vec3> = it.x.iter().zip(&x).map(|(a, b)| a - b).collect();
        let y: Vec<Vec3> = after.iter().zip(&gradient).map(|(a, b)| a - b).collect();
        memory.add(s, y);
        gradient = after;
        let norm = characteristic_norm(potential, &gradient);
        work.report.characteristic_norm = Some(norm);
        let before = (potential.barrier.kappa, adapt.limits.doublings());
        adapt.stiffness.update(potential, it);
        adapt.limits.update(&mut potential.codim.membranes, &it.x);
        let mut changed = before != (potential.barrier.kappa, adapt.limits.doublings());
        let verdict = termination.update(norm, &taken);
        if potential.dirichlet.is_some() {
            let coarse = context.settings.solver.boundary_tolerance_relative;
            let coarse = coarse.map_or(0.0, |t| t * context.model.length);
            let settled = work.report.residual_speed < coarse;
            prescribed::advance(potential, it, verdict, settled, termination.is_stuck())?;
            changed |= settled || verdict != Verdict::Continue || potential.dirichlet.is_none();
        } else {
            match verdict {
                Verdict::Continue => {}
                Verdict::Settled(outcome) | Verdict::Stalled(outcome) => return Ok(outcome),
            }
        }
        if changed {
            memory.clear();
            due = Due::All;
            gradient = finite_gradient(potential, it)?;
        }
    }
    Ok(StepOutcome::IterationLimit)
}

/// The characteristic norm of a gradient; without one that of the scene it is no number.
pub fn characteristic_norm(potential: &IncrementalPotential<'_>, gradient: &[Vec3]) -> f64 {
    let context = &potential.context;
    let norm = &context.model.characteristic;
    norm.as_ref().map_or(f64::NAN, |norm| norm.of(gradient, context.elastic_scale))
}

fn finite_gradient(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
) -> Result<Vec<Vec3>, StepError> {
    let gradient = potential.gradient(it);
    match gradient.iter().flatten().all(|c| c.is_finite()) {
        true => Ok(gradient),
        false => Err(not_finite("the gradient", potential, it)),
    }
}

/// Computes the subdomains' Hessians that are due and factorises them. Where round-off makes one indefinite,
/// the diagonal is raised, ten times more at each try.
fn renew(
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
    let assembled = match due {
        Due::All => hessian.assemble(potential, it),
        Due::Contacts => hessian.assemble_contacts(potential, it),
    };
    assembled.map_err(|e| linear_failure(report, e.to_string()))?;
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

/// The direction of L-BFGS times the first step length: the minimum of the potential's quadratic model along
/// it, with the Hessian that was assembled last [Li 2020 thesis, Eq. 3.14]. `report.residual_speed` becomes the size of the
/// direction.
///
/// The mean over subdomains is not symmetric, so that a direction may lead upwards; then the pairs are
/// forgotten and its symmetric twin takes its place, which is positive definite.
fn scaled_direction(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    memory: &mut Lbfgs,
    work: &mut Workspace,
) -> Result<Vec<Vec3>, StepError> {
    let context = &potential.context;
    let Workspace { hessian, subdomains, report, .. } = work;
    let clock = context.clock;
    let mut find = |memory: &Lbfgs, blend: Blend| {
        let found = clock.time(Phase::Solve, || {
            memory.direction(gradient, |q| subdomains.apply(hessian, q, blend))
        });
        report.linear_iterations += 1;
        let p = found.map_err(|e| linear_failure(report, e.to_string()))?;
        let p = context.model.dimension.flatten(p);
        report.residual_speed = measure(potential, &p) / context.h;
        if !report.residual_speed.is_finite() || !p.iter().flatten().all(|c| c.is_finite()) {
            return Err(not_finite("the direction", potential, it));
        }
        let slope = dot(gradient, &p);
        Ok((p, slope))
    };
    let (mut p, mut slope) = find(memory, Blend::Mean)?;
    if slope > 0.0 {
        memory.clear();
        (p, slope) = find(memory, Blend::Symmetric)?;
    }
    let product = clock.time(Phase::Solve, || hessian.multiply(&p));
    let product = product.map_err(|e| linear_failure(&work.report, e.to_string()))?;
    let start = -slope / dot(&p, &product);
    if start.is_finite() {
        let start = start.max(LEAST_START);
        p.iter_mut().for_each(|p| *p *= start);
    }
    Ok(p)
}
