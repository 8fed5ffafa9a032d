//! The time step.

// long: the order of a step, with what is done at its start and at its end

mod contact_distance;
pub mod energetics;
mod fallback;
pub mod integrator;
pub mod minimum;
mod prescribed;
mod reactions;
pub use reactions::joint_forces;
pub mod start_forces;
mod unmet;

use crate::audit;
use crate::clock::{Clock, Phase};
use crate::context::StepContext;
use crate::definition::expression::Expression;
use crate::definition::settings::{AuditLevel, InitialGuess, Lagging, LaggingUntil, Method};
use crate::diagnosis::{self, Diagnosis};
use crate::dirichlet::DirichletTargets;
use crate::error::{StallCause, StepError};
use crate::iterate::Iterate;
use crate::joints::Integrity;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::report::{StepOutcome, StepReport};
use crate::solver::balance::Balance;
use crate::solver::direction::{direction, measure};
use crate::solver::speedups::{self, Forcing};
use crate::solver::workspace::Workspace;
use crate::solver::{self, barrier_free};
use crate::state::State;
use fallback::Before;
use minimum::End;
use standoff_linalg::Vec3;

/// Why a step failed, with what there is to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The reason.
    pub error: StepError,
    /// The culprits at the last iterate.
    pub diagnosis: Diagnosis,
}

/// One time step: the new state with its report, or a failure and nothing changed.
///
/// # Errors
/// See [`StepError`].
pub fn step(
    model: &Model,
    state: &State,
    work: &mut Workspace,
) -> Result<(State, StepReport), Box<Failure>> {
    step_with(model, state, work, |_| ()).map(|(state, report, ())| (state, report))
}

/// The same, with what `look` makes of the end.
///
/// # Errors
/// As [`step`].
// long: the order of a step: solve, again by the fallback, check, and record
pub fn step_with<R>(
    model: &Model,
    state: &State,
    work: &mut Workspace,
    look: impl FnOnce(&End<'_, '_>) -> R,
) -> Result<(State, StepReport, R), Box<Failure>> {
    let clock = Clock::start();
    let context = StepContext::new(model, state, &clock);
    work.report = StepReport { step: context.step as u64, ..StepReport::default() };
    check_expressions(&context, state)?;

    let targets = DirichletTargets::new(model, state);
    check_axis(&context, state, &targets)?;
    let mut potential = IncrementalPotential::new(context, state, &targets);
    work.hessian.forget_contacts();
    work.detector.d_hat = context.d_hat;
    work.found_directly = None;
    let (mut it, mut solved) = match context.settings.solver.method {
        Method::Barrier | Method::Dot | Method::LbfgsPd | Method::AdmmPd => {
            let before = Before { kappa: state.kappa, ..Before::default() };
            minimise_barrier(&mut potential, &targets, state, before, work)
        }
        Method::BarrierFree => minimise_barrier_free(&mut potential, &targets, state, work),
    };
    let reason = match context.settings.solver.method {
        Method::BarrierFree => fallback::reason(&context, &solved),
        Method::Barrier | Method::Dot | Method::LbfgsPd | Method::AdmmPd => None,
    };
    if let Some(reason) = reason {
        work.report.fallback = Some(reason);
        (potential, it, solved) = finish_by_barrier(context, &targets, state, work);
    }
    let outcome = solved.and_then(|outcome| {
        let outcome = refuse_stall(&potential, &it, outcome, &work.report)?;
        check_by_audit(&context, &it.x, work)?;
        Ok(outcome)
    });
    let outcome = outcome.map_err(|error| {
        let diagnosis = Diagnosis::new(&potential, &it, &error);
        Box::new(Failure { error, diagnosis })
    })?;

    if !outcome.is_success() {
        work.report.unmet = unmet::describe(&potential, &it, work);
    }
    let fallback = work.report.fallback;
    let seen =
        look(&End { start: state, targets: &targets, potential: &potential, it: &it, fallback });
    let mut new = end_state(&potential, targets, state, &it);
    reactions::record(&potential, state, &mut new);
    let mut report = std::mem::take(&mut work.report);
    if report.fallback.is_some() {
        new.constraints = fallback::constraints(&potential, &it);
        new.fallbacks = state.fallbacks + 1;
    }
    report.outcome = outcome;
    let balance = Balance::of_state(&potential, &it, 1.0);
    (report.imbalance, report.imbalance_force) = (balance.imbalance, balance.force);
    potential.end_step();
    let inelastic = &model.inelastic;
    let (internal, heat) = inelastic.after(&state.internal, [&state.x, &new.x], context.h);
    (new.internal, report.inelastic_heat) = (internal, (!inelastic.is_empty()).then_some(heat));
    energetics::record(&potential, &it, &new, &mut report);
    let joints = &model.joints;
    new.joint_integrity = after_breaking(model, &new);
    let broke = joints
        .integrity
        .iter()
        .zip(&new.joint_integrity)
        .map(|(old, new)| *old == Integrity::Whole && *new != Integrity::Whole);
    let broke = joints.all.iter().zip(broke).filter(|(_, broke)| *broke);
    report.broken_joints = broke.map(|(joint, _)| joint.name.clone()).collect();
    report.seconds = clock.seconds();
    Ok((new, report, seen))
}

/// Minimises the potential with the contact barrier: prescribed vertices move first, then κ, friction and
/// the initial guess are set, then projected Newton or L-BFGS runs, again and again as friction's lagging asks
/// for it. Returns the last iterate in any case.
fn minimise_barrier(
    potential: &mut IncrementalPotential<'_>,
    targets: &DirichletTargets,
    state: &State,
    before: Before,
    work: &mut Workspace,
) -> (Iterate, Result<StepOutcome, StepError>) {
    let (start, mut it) = prescribed::move_directly(potential, targets, state, work);
    let start = start.as_ref().unwrap_or(&it);
    potential.set_stiffness(start, before.kappa, &it);
    potential.raise_stiffness(before.force);
    if before.least_stiffness {
        potential.set_least_stiffness();
    }
    // normal forces that acted: where and with the κ with which they did; at the very start none did,
    // and those of the first minimiser are the first
    let with_new_stiffness = potential.context.settings.friction.lag_with_new_stiffness;
    let first = state.step == 0;
    match first || with_new_stiffness {
        _ if before.is_lagged => {}
        false => potential.lag_friction(start, before.kappa),
        true => potential.lag_friction(&it, potential.barrier().kappa),
    }
    contact_distance::widen(potential, &mut it, work);
    let solver = &potential.context.settings.solver;
    if solver.initial_guess != InitialGuess::Positions {
        speedups::advance_free_bodies(potential, &mut it, work);
    }
    // cumulative step lengths measure the way from the positions at the start
    let by_lengths = solver.end.cumulative_toi.is_some();
    if solver.initial_guess == InitialGuess::Extrapolation && !by_lengths {
        speedups::extrapolate(potential, &mut it, state, work);
    }
    match contact_distance::shrink(potential, &mut it, work) {
        Ok(None) => {}
        Ok(Some(outcome)) => return (it, Ok(outcome)),
        Err(e) => return (it, Err(e)),
    }
    let one_more = first && !with_new_stiffness && !potential.friction().is_idle();
    let solved = minimise_with_lagging(potential, &mut it, u64::from(one_more), work);
    (it, solved)
}

/// Minimises the potential, with friction forces from the last minimiser, again and again as the
/// settings ask for it, and `more` times beyond that.
fn minimise_with_lagging(
    potential: &mut IncrementalPotential<'_>,
    it: &mut Iterate,
    more: u64,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    let context = potential.context;
    let updates = context.model.resolved.lagging.map(|n| u64::from(n) + more);
    loop {
        let outcome = solver::minimise(potential, it, work)?;
        work.report.lagging_iterations += 1;
        let update = work.report.lagging_iterations;
        // friction of contacts that were lost has to go, too
        let idle = it.contacts.is_empty() && potential.friction().is_idle();
        let frictional = context.model.has_friction && !idle;
        if !outcome.is_minimum() || updates.is_some_and(|n| update >= n) || !frictional {
            return Ok(outcome);
        }
        potential.lag_friction(it, potential.barrier().kappa);
        if is_minimum(potential, it, work)? {
            return Ok(StepOutcome::Converged);
        }
        if updates.is_none() && update >= u64::from(context.settings.friction.max_lagging) {
            return Ok(StepOutcome::LaggingLimit);
        }
        if context.settings.friction.relaxation {
            potential.relax_friction(update);
        }
    }
}

/// Whether an iterate is the minimum of the potential by the measure that ends minimisations, which becomes that of the
/// report.
fn is_minimum(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    work: &mut Workspace,
) -> Result<bool, StepError> {
    let (context, gradient) = (potential.context, potential.gradient(it));
    let solver = &context.settings.solver;
    if context.settings.friction.lagging == Lagging::Until(LaggingUntil::MomentumBalance) {
        // [Li 2020, Eq. 17]
        let free = gradient.iter().zip(potential.free()).filter(|(_, free)| **free);
        let norm = free.map(|(g, _)| g.norm_squared()).sum::<f64>().sqrt();
        return Ok(norm <= context.velocity_tolerance);
    }
    let is_balanced = || {
        let tolerance = context.force_tolerance;
        tolerance == 1.0 || Balance::new(potential, it, &gradient, tolerance).is_met
    };
    if let (Some(norm), Some(tolerance)) =
        (&context.model.characteristic, solver.characteristic_tolerance())
    {
        let norm = norm.of(&gradient, context.elastic_scale);
        work.report.characteristic_norm = Some(norm);
        return Ok(norm < tolerance && is_balanced());
    }
    let mut forcing = Forcing::exact(solver.linear_tolerance);
    let p = direction(potential, it, &gradient, &mut forcing, work)?;
    work.report.residual_speed = measure(potential, &p) / context.speed_time;
    Ok(work.report.residual_speed < context.velocity_tolerance && is_balanced())
}

/// One step of the barrier-free method.
fn minimise_barrier_free(
    potential: &mut IncrementalPotential<'_>,
    targets: &DirichletTargets,
    state: &State,
    work: &mut Workspace,
) -> (Iterate, Result<StepOutcome, StepError>) {
    let mut it = Iterate::without_contacts(state.x.clone());
    let solved = barrier_free::advance(potential, targets, &mut it, work);
    work.report.lagging_iterations = 1;
    (it, solved)
}

/// Solves a step that the barrier-free method has begun again, from its start, with the barrier. Where its κ is so large that rounding
/// hides the minimum, as where most contacts of the start are barely within d̂, it begins again with the least κ.
fn finish_by_barrier<'a>(
    context: StepContext<'a>,
    targets: &DirichletTargets,
    state: &State,
    work: &mut Workspace,
) -> (IncrementalPotential<'a>, Iterate, Result<StepOutcome, StepError>) {
    let solve = |least_stiffness: bool, work: &mut Workspace| {
        let mut potential = IncrementalPotential::new(context, state, targets);
        work.hessian.forget_contacts();
        work.report.lagging_iterations = 0;
        let before = Before { least_stiffness, ..fallback::begin(&mut potential, state) };
        let iterations = work.report.newton_iterations;
        let (it, solved) = minimise_barrier(&mut potential, targets, state, before, work);
        work.report.linear_solves += work.report.newton_iterations - iterations;
        (potential, it, solved)
    };
    let first = solve(false, work);
    let adapted = context.settings.contact.stiffness.is_none();
    if !adapted || fallback::reason(&context, &first.2).is_none() {
        return first;
    }
    let (residual, norm) = (work.report.residual_speed, work.report.characteristic_norm);
    let second = solve(true, work);
    if first.2.is_ok() && second.2.is_err() {
        // a step above the tolerance lets the run go on, an error ends it
        work.hessian.forget_contacts();
        (work.report.residual_speed, work.report.characteristic_norm) = (residual, norm);
        return first;
    }
    second
}

/// The state at the end of a step.
fn end_state(
    potential: &IncrementalPotential<'_>,
    targets: DirichletTargets,
    state: &State,
    it: &Iterate,
) -> State {
    let (v, a) = motion(potential, &targets, state, &it.x);
    let mut end_targets = it.x.clone();
    for i in (0..end_targets.len()).filter(|&i| targets.prescribed[i]) {
        end_targets[i] = targets.x[i];
    }
    for (v, _) in targets.rails.iter() {
        end_targets[v as usize] += targets.left_of(v, &it.x[v as usize]);
    }
    let (half_space_forces, pair_forces) = potential.forces_between(it);
    let frames = &potential.context.model.frames;
    let (directors, frame_twists) =
        frames.advance(&state.directors, &state.frame_twists, &state.x, &it.x);
    State {
        step: potential.context.step,
        time: potential.context.end,
        x: it.x.clone(),
        v,
        a,
        x_previous: state.x.clone(),
        v_previous: state.v.clone(),
        contact_forces: potential.contact_forces(it),
        half_space_forces,
        pair_forces,
        held_forces: Vec::new(),
        load_forces: Vec::new(),
        controls: state.controls.clone(),
        kappa: potential.barrier().kappa,
        targets: end_targets,
        prescribed: targets.prescribed,
        ended: targets.ended,
        constraints: potential.constraints().all().to_vec(),
        fallbacks: 0,
        directors,
        frame_twists,
        turns: potential.turns(&it.x),
        internal: Vec::new(),
        joint_multipliers: potential.joints().forces(&it.x),
        joint_coordinates: potential.joints().coordinates(&it.x),
        joint_motion: potential.joints().motion(&it.x, state, &potential.context),
        joint_integrity: Vec::new(),
        joint_efforts: potential.joints().efforts(&it.x),
    }
}

/// Which joints are broken after a step that ended in a state: those that bear more than they can, and those that were. What they left out of
/// contact comes back as soon as that is apart.
fn after_breaking(model: &Model, end: &State) -> Vec<Integrity> {
    let (joints, x) = (&model.joints, &end.x);
    let mut integrity = joints.integrity.clone();
    for (joint, integrity) in joints.all.iter().zip(&mut integrity) {
        if joint.breaks(&end.joint_multipliers[joint.first_row..], x) {
            *integrity = Integrity::Broken;
        }
    }
    for k in 0..integrity.len() {
        let d_hat = model.resolved.d_hat;
        let left_out = &model.without_contact;
        if integrity[k] == Integrity::Broken
            && left_out.is_apart(k, &model.collision, &joints.integrity, x, d_hat)
        {
            integrity[k] = Integrity::Apart;
        }
    }
    integrity
}

/// Velocities and accelerations at the end of a step at `x`.
fn motion(
    potential: &IncrementalPotential<'_>,
    targets: &DirichletTargets,
    state: &State,
    x: &[Vec3],
) -> (Vec<Vec3>, Vec<Vec3>) {
    let StepContext { integrator, settings, h, .. } = potential.context;
    // the mean of two velocities would swing about that of a prescribed motion
    let implicit = !settings.time.trapezoidal_contact;
    let is_mean = integrator.theta() < 1.0 && implicit;
    let velocity = |i: usize| match is_mean && targets.prescribed[i] {
        true => (x[i] - state.x[i]) / h,
        false => integrator.velocity(state, i, x[i], h),
    };
    let mut v: Vec<Vec3> = (0..x.len()).map(velocity).collect();
    if is_mean {
        for (i, free) in targets.rails.iter() {
            let (i, along) = (i as usize, free * v[i as usize]);
            v[i] = along + targets.rails.held_part(i as u32, (x[i] - state.x[i]) / h);
        }
        potential.context.model.map.spread(&mut v);
    }
    if integrator.new_part() < 1.0 && implicit {
        return (v, potential.accelerations_without_constraints(x));
    }
    let acceleration = |i: usize| integrator.acceleration(state, i, [x[i], v[i]], h);
    let a = (0..x.len()).map(acceleration).collect();
    (v, a)
}

/// Refuses a step in which the expression of a load, a motion or a drive has no finite value.
fn check_expressions(context: &StepContext<'_>, state: &State) -> Result<(), Box<Failure>> {
    let StepContext { model, start, end, load_time, .. } = *context;
    let motion = model.motions.iter().find(|m| m.undefined(start, end)).map(|m| m.name.as_str());
    let load = || model.loads.undefined(&state.controls, start, load_time);
    let finite = |t: &Expression| t.at(load_time).is_finite();
    let muscle = || (!model.tensions.iter().all(finite)).then_some("the tension of fibres");
    let grows = || {
        let undefined = model.growth.as_ref().filter(|g| !g.is_defined(load_time));
        undefined.map(|_| "the growth of a material, which has to be above -1")
    };
    let undefined = motion.or_else(load).or_else(|| model.joints.undefined(end));
    let Some(name) = undefined.or_else(muscle).or_else(grows) else {
        return Ok(());
    };
    let error = StepError::NotFinite {
        step: context.step,
        what: "an expression of t",
        place: Some(format!("the end of the step, {end} s, in '{name}'")),
    };
    let diagnosis = Diagnosis { x: state.x.clone(), culprits: Vec::new() };
    Err(Box::new(Failure { error, diagnosis }))
}

/// Refuses a step that moves prescribed vertices behind the axis of bodies of revolution.
fn check_axis(
    context: &StepContext<'_>,
    state: &State,
    targets: &DirichletTargets,
) -> Result<(), Box<Failure>> {
    let model = context.model;
    let behind = |v: &&u32| targets.x[**v as usize].x < 0.0;
    if !model.dimension.is_axisymmetric() {
        return Ok(());
    }
    let Some(&vertex) = targets.moving.iter().find(behind) else { return Ok(()) };
    let of = model.motions.iter().find(|m| m.vertices.contains(&vertex));
    let reason =
        format!("it would lead {} behind the axis of revolution", model.describe_vertex(vertex));
    let name = of.map_or_else(String::new, |m| m.name.clone());
    let error = StepError::BlockedMotion { step: context.step, name, progress: 0.0, reason };
    let diagnosis = Diagnosis { x: state.x.clone(), culprits: Vec::new() };
    Err(Box::new(Failure { error, diagnosis }))
}

/// Audits the end of a step where the settings ask for it.
fn check_by_audit(
    context: &StepContext<'_>,
    x: &[Vec3],
    work: &mut Workspace,
) -> Result<(), StepError> {
    if context.settings.solver.audit == AuditLevel::Off {
        return Ok(());
    }
    let (model, auditor) = (context.model, &mut work.auditor);
    let violations = || audit::violations_by(auditor, model, x);
    let found = context.clock.time(Phase::Audit, violations);
    match found.first().or(work.found_directly.as_ref()) {
        None => Ok(()),
        Some(violation) => {
            let violation = violation.describe(model);
            Err(StepError::Audit { step: context.step, violation })
        }
    }
}

/// Makes an error of a step that could not go on, with what is in the way.
fn refuse_stall(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    outcome: StepOutcome,
    report: &StepReport,
) -> Result<StepOutcome, StepError> {
    if !outcome.is_stall() {
        return Ok(outcome);
    }
    let forces = match outcome {
        StepOutcome::StalledLineSearch => diagnosis::describe_unbalanced(potential, it),
        _ => None,
    };
    let (cause, obstacle) = match forces {
        Some(forces) => (StallCause::Forces, Some(format!("at {forces}"))),
        None => (StallCause::Obstacles, diagnosis::describe_obstacle(potential, it)),
    };
    let obstacle = obstacle.map(|c| format!("; {c}")).unwrap_or_default();
    Err(StepError::Stalled {
        cause,
        step: report.step as usize,
        iterations: report.newton_iterations as usize,
        reason: format!("{}{obstacle}", outcome.describe()),
        residual: report.residual_speed,
        tolerance: potential.context.velocity_tolerance,
    })
}
