//! L-BFGS on the incremental potential, from an initial inverse Hessian that the method chooses: the loop that `dot` and
//! `lbfgs-pd` share.
//!
//! Every iterate is free of intersections and inversions, as those of projected Newton are: the line search
//! is the same.

use super::balance::Balance;
use super::direction::{linear_failure, may_go_on, measure, not_finite};
use super::lbfgs::{Lbfgs, dot};
use super::termination::{Termination, Verdict};
use super::{line_search, prescribed};
use crate::clock::Phase;
use crate::dirichlet::Pulled;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{IncrementalPotential, Strategy};
use crate::report::StepOutcome;
use crate::solver::workspace::Workspace;
use crate::thresholds::{DECREASE, RENEWAL};
use standoff_linalg::Vec3;
use standoff_sparse::{Blend, SolveError};

/// What of the initial inverse has to be computed before the next direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Everything, at the present iterate.
    All,
    /// Contact and friction, where they have changed.
    Contacts,
}

/// The inverse Hessian that L-BFGS updates. Its factors are in the workspace.
pub trait InitialInverse {
    /// Whether it depends on the iterate at which it is computed: if a line search fails, computing it again may then
    /// help.
    const FOLLOWS: bool;

    /// Computes and factorises what is due.
    ///
    /// # Errors
    /// A matrix that cannot be factorised.
    fn renew(
        &self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        due: Due,
        work: &mut Workspace,
    ) -> Result<(), StepError>;

    /// The inverse times a vector over all vertices (`#V`). An inverse that is not symmetric has a twin that
    /// is, [`Blend::Symmetric`].
    ///
    /// # Errors
    /// Factors that are missing.
    fn apply(
        &self,
        q: &[Vec3],
        blend: Blend,
        work: &mut Workspace,
    ) -> Result<Vec<Vec3>, SolveError>;

    /// The first step length along a direction `p` with slope pᵀ∇E.
    ///
    /// # Errors
    /// A matrix that is missing.
    fn first_length(&self, p: &[Vec3], slope: f64, work: &Workspace) -> Result<f64, SolveError>;
}

/// Minimises `potential` from `it`, which becomes the last iterate.
///
/// Stops once the characteristic norm of the gradient is below its tolerance [Li 2020 thesis, Eq. 3.15], after at least one
/// iteration: the gradient of a stiff body at rest in its first step under gravity may be below.
///
/// # Errors
/// As [`newton::minimise`](super::newton::minimise).
// long: one loop; what its iterations share is what makes it end
pub fn minimise<I: InitialInverse>(
    inverse: &I,
    potential: &mut IncrementalPotential<'_>,
    it: &mut Iterate,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    let context = potential.context;
    let mut termination = Termination::new(&context);
    let mut memory = Lbfgs::default();
    let (mut due, mut age) = (Due::All, 0);
    potential.begin_minimisation();
    let mut gradient = finite_gradient(potential, it)?;
    for _ in 0..context.settings.solver.end.max_iterations {
        work.report.newton_iterations += 1;
        may_go_on(potential, it, work)?;
        if age >= RENEWAL {
            due = Due::All;
        }
        age = if due == Due::All { 1 } else { age + 1 };
        inverse.renew(potential, it, due, work)?;
        due = Due::Contacts;
        let p = scaled_direction(inverse, potential, it, &gradient, &mut memory, work)?;
        potential.begin_iteration(it);
        let max_contacts = &mut work.report.max_contacts;
        *max_contacts = (*max_contacts).max(it.contacts.len() as u64);
        let x = it.x.clone();
        let taken = line_search::search_sufficient(potential, it, &p, &gradient, DECREASE, work);
        if !taken.finite {
            return Err(not_finite("the potential", potential, it));
        }
        let after = finite_gradient(potential, it)?;
        if taken.alpha == 0.0 && (!memory.is_empty() || I::FOLLOWS && age > 1) {
            // what is old may mislead where what is of now does not
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
        let mut changed = potential.end_iteration(it);
        let mut measure = norm / context.settings.solver.characteristic_tolerance().unwrap_or(0.0);
        if measure < 1.0 && termination.wants_balance() && potential.allows(Strategy::End) {
            let balance = Balance::new(potential, it, &gradient, context.force_tolerance);
            measure = termination.with_balance(measure, &balance);
        }
        let verdict = termination.update(measure, &taken);
        let speed = Some(work.report.residual_speed);
        match (prescribed::advance(potential, it, verdict, speed, termination.is_stuck())?, verdict)
        {
            (Some(pulled), _) => changed |= pulled != Pulled::On,
            (None, Verdict::Continue) => {}
            (None, Verdict::Settled(outcome) | Verdict::Stalled(outcome)) => return Ok(outcome),
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

/// The direction of L-BFGS times the first step length. `report.residual_speed` becomes the size of the
/// direction.
///
/// An inverse that is not symmetric may give a direction that leads upwards; then the pairs are forgotten and its
/// symmetric twin takes its place, which is positive definite.
fn scaled_direction<I: InitialInverse>(
    inverse: &I,
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    memory: &mut Lbfgs,
    work: &mut Workspace,
) -> Result<Vec<Vec3>, StepError> {
    let context = &potential.context;
    let clock = context.clock;
    let mut find = |memory: &Lbfgs, blend: Blend| {
        let found = clock
            .time(Phase::Solve, || memory.direction(gradient, |q| inverse.apply(q, blend, work)));
        work.report.linear_iterations += 1;
        let p = found.map_err(|e| linear_failure(&work.report, e.to_string()))?;
        let p = context.model.dimension.flatten(p);
        work.report.residual_speed = measure(potential, &p) / context.speed_time;
        if !work.report.residual_speed.is_finite() || !p.iter().flatten().all(|c| c.is_finite()) {
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
    let length = clock.time(Phase::Solve, || inverse.first_length(&p, slope, work));
    let length = length.map_err(|e| linear_failure(&work.report, e.to_string()))?;
    if length.is_finite() && length != 1.0 {
        p.iter_mut().for_each(|p| *p *= length);
    }
    Ok(p)
}
