//! The time step.

pub mod energetics;
pub mod integrator;

use crate::audit;
use crate::contact::{ContactSet, friction_relaxation};
use crate::definition::settings::{Integrator, Method};
use crate::diagnosis::Diagnosis;
use crate::dirichlet::Targets;
use crate::error::StepError;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::report::{StepOutcome, StepReport};
use crate::solver::forcing::Forcing;
use crate::solver::line_search::KEEP_PLANE_GAP;
use crate::solver::newton::{self, measure};
use crate::solver::{Iterate, Minimiser, barrier_free, initial_guess};
use crate::state::State;
use crate::timing::timed;
use standoff_linalg::Vec3;
use std::time::Instant;

/// Part of a gap that the direct motion of prescribed vertices keeps at least.
const KEEP_GAP_BOUNDARY: f64 = 0.5;

/// Part of a strain limit that the direct motion of prescribed vertices uses at most.
const USE_LIMIT_BOUNDARY: f64 = 0.9;
/// Halvings of that motion before it is left to the constraints altogether.
const HALVINGS_BOUNDARY: usize = 20;

/// Why a step failed, with what there is to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// The reason.
    pub error: StepError,
    /// The culprits at the last iterate.
    pub diagnosis: Diagnosis,
}

/// A failure before there was an iterate.
impl From<StepError> for Box<Failure> {
    fn from(error: StepError) -> Self {
        Box::new(Failure { error, diagnosis: Diagnosis::default() })
    }
}

/// One time step: the new state with its report, or a failure and nothing changed.
pub fn step(
    model: &Model,
    state: &State,
    work: &mut Minimiser,
) -> Result<(State, StepReport), Box<Failure>> {
    let clock = Instant::now();
    let h = model.resolved.h;
    let mut report = StepReport { step: state.step as u64 + 1, ..StepReport::default() };

    if let Some(name) = undefined(model, state) {
        let error = StepError::NotFinite {
            step: report.step as usize,
            what: "an expression of t",
            place: Some(format!("the end of the step, {} s, in '{name}'", state.next_time(h))),
        };
        let diagnosis = Diagnosis { x: state.x.clone(), culprits: Vec::new() };
        return Err(Box::new(Failure { error, diagnosis }));
    }

    // where prescribed vertices have to go, and how far they get at once
    let targets = Targets::new(model, state);
    let mut potential = IncrementalPotential::new(model, state, &targets);
    work.system.forget_contacts();
    let (it, solved) = match model.resolved.settings.solver.method {
        Method::Barrier => {
            let (start, mut it) =
                move_prescribed(&mut potential, &targets, state, work, &mut report);
            let solved = solve(&mut potential, state, start.as_ref(), &mut it, work, &mut report);
            (it, solved)
        }
        Method::BarrierFree => {
            let mut it = Iterate { x: state.x.clone(), active: ContactSet::default() };
            let solved = solve_barrier_free(&mut potential, &targets, &mut it, work, &mut report);
            (it, solved)
        }
    };
    let outcome = solved.map_err(|error| {
        let diagnosis = Diagnosis::new(&potential, &it, &error);
        Box::new(Failure { error, diagnosis })
    })?;

    // the new state
    let (v, a) = motion(&potential, &targets, state, &it.x, &mut report);
    let mut scripted = it.x.clone();
    for i in (0..scripted.len()).filter(|&i| targets.prescribed[i]) {
        scripted[i] = targets.x[i];
    }
    let count = state.step + 1;
    let rods = &model.rods;
    let (directors, frame_twists) =
        rods.advance(&state.directors, &state.frame_twists, &state.x, &it.x);
    let new = State {
        step: count,
        time: state.next_time(h),
        x: it.x.clone(),
        v,
        a,
        x_previous: state.x.clone(),
        v_previous: state.v.clone(),
        contact_forces: potential.contact_forces(&it),
        kappa: potential.barrier.kappa,
        scripted,
        held: targets.prescribed,
        ended: targets.ended,
        constraints: potential.constraints.constraints.clone(),
        directors,
        frame_twists,
    };
    report.outcome = outcome;
    potential.record(&it, &mut report);
    energetics::record(model, &new, &mut report);
    report.seconds.total = clock.elapsed().as_secs_f64();
    Ok((new, report))
}

/// Velocities and accelerations at the end of a step at `x`.
fn motion(
    potential: &IncrementalPotential<'_>,
    targets: &Targets,
    state: &State,
    x: &[Vec3],
    report: &mut StepReport,
) -> (Vec<Vec3>, Vec<Vec3>) {
    let (time, h) = (&potential.model.resolved.settings.time, potential.model.resolved.h);
    let integrator = time.integrator.at(state);
    let differences = |i: usize| {
        (integrator.velocity(state, i, x[i], h), integrator.acceleration(state, i, x[i], h))
    };
    if integrator != Integrator::Newmark || time.trapezoidal_contact {
        return (0..x.len()).map(differences).unzip();
    }
    // Newmark's velocity would swing about that of a prescribed motion
    let velocity = |i: usize| match targets.prescribed[i] {
        true => (x[i] - state.x[i]) / h,
        false => integrator.velocity(state, i, x[i], h),
    };
    let a = potential.accelerations_without_contact(x, &mut report.seconds);
    ((0..x.len()).map(velocity).collect(), a)
}

/// Minimises the potential, with friction forces from the last minimiser, again and again as the
/// settings ask for it, and audits the result.
fn solve(
    potential: &mut IncrementalPotential<'_>,
    state: &State,
    start: Option<&Iterate>,
    it: &mut Iterate,
    work: &mut Minimiser,
    report: &mut StepReport,
) -> Result<StepOutcome, StepError> {
    let (model, h) = (potential.model, potential.model.resolved.h);
    let before = start.unwrap_or(it);
    potential.init_stiffness(before, state.kappa, it, &mut report.seconds);
    // normal forces that acted: where and with the κ with which they did; at the very start none did,
    // and those of the first minimiser are the first
    let new = model.resolved.settings.friction.lag_with_new_stiffness;
    let first = state.step == 0;
    match first || new {
        false => potential.lag_friction(before, state.kappa),
        true => potential.lag_friction(it, potential.barrier.kappa),
    }
    initial_guess::fly(potential, it, work, report);
    let more = u64::from(first && !new && !potential.friction.contacts.is_empty());
    let updates = model.resolved.lagging.map(|n| u64::from(n) + more);
    let outcome = loop {
        let outcome = newton::minimise(potential, it, work, report)?;
        report.lagging_iterations += 1;
        let last = updates == Some(report.lagging_iterations);
        let frictional = model.has_friction && !it.active.is_empty();
        if outcome != StepOutcome::Converged || last || !frictional {
            break outcome;
        }
        let before = std::mem::take(&mut potential.friction);
        potential.lag_friction(it, potential.barrier.kappa);
        let g = potential.gradient(it, &mut report.seconds);
        let mut forcing = Forcing::exact(model.resolved.settings.solver.linear_tolerance);
        let p = newton::direction(potential, it, &g, &mut forcing, work, report)?;
        if measure(potential, &p) / h < model.resolved.velocity_tolerance {
            break StepOutcome::Converged;
        }
        if report.lagging_iterations >= u64::from(model.resolved.settings.friction.max_lagging) {
            break StepOutcome::LaggingLimit;
        }
        potential.friction.relax(&before, friction_relaxation::weight(report.lagging_iterations));
    };
    if outcome.is_stall() {
        return Err(stalled(potential, it, outcome, report));
    }
    audit::check_step(&mut work.auditor, model, &it.x, report)?;
    Ok(outcome)
}

/// One step of the barrier-free method, audited.
fn solve_barrier_free(
    potential: &mut IncrementalPotential<'_>,
    targets: &Targets,
    it: &mut Iterate,
    work: &mut Minimiser,
    report: &mut StepReport,
) -> Result<StepOutcome, StepError> {
    let outcome = barrier_free::advance(potential, targets, it, work, report)?;
    report.lagging_iterations = 1;
    if outcome.is_stall() {
        return Err(stalled(potential, it, outcome, report));
    }
    audit::check_step(&mut work.auditor, potential.model, &it.x, report)?;
    Ok(outcome)
}

/// Name of a load or motion whose expression has no finite value in the step.
fn undefined<'a>(model: &'a Model, state: &State) -> Option<&'a str> {
    let (t, end) = (state.time, state.next_time(model.resolved.h));
    let motion = model.scripts.iter().find(|s| s.undefined(t, end)).map(|s| s.name.as_str());
    motion.or_else(|| model.loads.undefined(t, end))
}

/// Moves the prescribed vertices towards their targets as far as that is safe while all others
/// stand still; where something is in the way, constraints take over the rest. Returns the start of the
/// step where vertices have moved since, and where they are now.
fn move_prescribed(
    potential: &mut IncrementalPotential<'_>,
    targets: &Targets,
    state: &State,
    work: &mut Minimiser,
    report: &mut StepReport,
) -> (Option<Iterate>, Iterate) {
    let model = potential.model;
    let mut x = state.x.clone();
    let mut dx = vec![Vec3::zeros(); x.len()];
    for &v in &targets.moving {
        dx[v as usize] = targets.x[v as usize] - x[v as usize];
    }
    let mut alpha = 1.0;
    if !targets.moving.is_empty() {
        alpha = timed(&mut report.seconds.ccd, || {
            let plane = work.detector.max_plane_step(model, &x, &dx, KEEP_PLANE_GAP);
            model.elastic.max_step(&x, &dx).min(plane)
        });
    }
    timed(&mut report.seconds.broad_phase, || work.detector.sweep(model, &x, &dx, alpha));
    let start = (!targets.moving.is_empty()).then(|| {
        let active = timed(&mut report.seconds.contact, || work.detector.active(model, &x));
        Iterate { x: x.clone(), active }
    });
    if !targets.moving.is_empty() {
        alpha = timed(&mut report.seconds.ccd, || {
            alpha.min(work.detector.max_step(model, &x, &dx, KEEP_GAP_BOUNDARY, alpha))
        });
        let alpha = within_limits(potential, &x, &dx, alpha);
        if alpha < 1.0 {
            potential.constrain(targets, &x);
        }
        for &v in &targets.moving {
            let v = v as usize;
            x[v] = if alpha < 1.0 { x[v] + alpha * dx[v] } else { targets.x[v] };
        }
    }
    let active = timed(&mut report.seconds.contact, || work.detector.active(model, &x));
    (start, Iterate { x, active })
}

/// The part of a motion of prescribed vertices that stretches no triangle close to its limit.
fn within_limits(
    potential: &IncrementalPotential<'_>,
    x: &[Vec3],
    dx: &[Vec3],
    mut alpha: f64,
) -> f64 {
    for _ in 0..HALVINGS_BOUNDARY {
        let trial: Vec<Vec3> = x.iter().zip(dx).map(|(x, dx)| x + alpha * dx).collect();
        if potential.thin.within_limits(&trial, USE_LIMIT_BOUNDARY) {
            return alpha;
        }
        alpha *= 0.5;
    }
    0.0
}

/// The error of a step that could not go on, with the closest pair for a culprit.
fn stalled(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    outcome: StepOutcome,
    report: &StepReport,
) -> StepError {
    let closest = potential.describe_closest(it).map(|c| format!("; {c}"));
    StepError::Stalled {
        step: report.step as usize,
        iterations: report.newton_iterations as usize,
        reason: format!("{}{}", outcome.describe(), closest.unwrap_or_default()),
        residual: report.residual_speed,
        tolerance: potential.model.resolved.velocity_tolerance,
    }
}
