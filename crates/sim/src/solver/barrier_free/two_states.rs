//! The published pipeline of the barrier-free method [Zheng 2025, Alg. 1–3].
//!
//! Two states take part: the tentative state x̂ minimises the potential under linearised distance
//! constraints and may penetrate; x never does. x̂ takes (mostly single) Newton steps on the augmented
//! Lagrangian, and x moves towards x̂ as far as collision detection and the filter against inversion let
//! it:
//!
//! xᵏ⁺¹ = (1 − αᵏ⁺¹) xᵏ + αᵏ⁺¹ x̂ᵏ⁺¹.
//!
//! Every collision of that displacement becomes a constraint of the next solve.

use super::{Stalls, StepBounds, Subproblem, is_out_of_work, step_bounds};
use crate::context::StepContext;
use crate::dirichlet::DirichletTargets;
use crate::energy::Projection;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{Energy, IncrementalPotential};
use crate::report::{Advance, StepOutcome};
use crate::solver::direction::not_finite;
use crate::solver::line_search;
use crate::solver::speedups::NewtonSystem;
use crate::solver::workspace::Workspace;
use crate::thresholds::{
    ADVANCE_HALVINGS, INVISIBLE, LINEARISATION, RESET_ALWAYS, SMALL_ADVANCE, SMALL_ADVANCES,
    STALLED_ADVANCES, SUBPROBLEM_ITERATIONS, USE_LIMIT,
};
use standoff_linalg::Vec3;

/// The tentative state x̂.
struct Tentative {
    it: Iterate,
    /// The potential there without contact and friction, where it is known.
    value_without_contact: Option<Energy>,
}

impl Tentative {
    fn new(x: Vec<Vec3>) -> Self {
        Self { it: Iterate::without_contacts(x), value_without_contact: None }
    }

    fn place(&mut self, x: &[Vec3]) {
        self.it.x.copy_from_slice(x);
        self.value_without_contact = None;
    }
}

/// Counts that decide on resets and the published end of a step.
struct Progress {
    /// Solves K_min after which states count [Zheng 2025, Alg. 1]; none where the end is another one.
    min_iterations: Option<u32>,
    /// ε of the weight of the first states.
    epsilon: f64,
    /// Weight of the first states in x.
    first_states: f64,
    /// Solves with the prescribed vertices where they belong.
    solves: u32,
    /// Consecutive small advances.
    small: u32,
    /// Consecutive iterations whose x̂ could not be reached without inverting an element.
    inverted: u32,
    /// Whether contacts that are new in this step have friction already.
    new_friction: bool,
}

impl Progress {
    fn new(context: &StepContext<'_>) -> Self {
        let settings = &context.settings.solver.barrier_free;
        Self {
            min_iterations: settings.min_iterations,
            epsilon: settings.tolerance,
            first_states: 1.0,
            solves: 0,
            small: 0,
            inverted: 0,
            new_friction: !context.model.has_friction,
        }
    }

    /// Whether x̂ should be reset to x after an iteration.
    fn should_reset(&self, full: bool, newton_steps: usize, iteration: usize) -> bool {
        let unsolved = !full && newton_steps > 1;
        // Newton steps may not undo what has tangled up in x̂; after many solves x̂ and x may be in
        // different folds of a crushed body
        self.inverted > 0 || unsolved || self.small >= SMALL_ADVANCES || iteration >= RESET_ALWAYS
    }

    /// Whether the state after a solve counts towards the published end. On the way there, contacts that
    /// are new in this step get friction, with the forces found.
    fn counts(&mut self, arrived: bool, potential: &mut IncrementalPotential<'_>) -> bool {
        self.solves = if arrived { self.solves + 1 } else { 0 };
        let Some(least) = self.min_iterations else { return false };
        let mut counts = self.solves >= least;
        if !self.new_friction && (counts || 2 * self.solves >= least) {
            self.new_friction = true;
            counts &= !potential.lag_friction_of_new_constraints();
        }
        counts
    }
}

/// Iterates until x has reached x̂, after `limit` solves at most; or, with `min_iterations`, until the
/// weight of the first states in x is below ε, which ends the step.
///
/// # Errors
/// A non-finite number, an unsolvable system.
// long: one loop: the published algorithm in the order of its lines
pub fn run(
    potential: &mut IncrementalPotential<'_>,
    targets: &DirichletTargets,
    start: &[Vec3],
    it: &mut Iterate,
    limit: usize,
    work: &mut Workspace,
) -> Result<Option<StepOutcome>, StepError> {
    let context = potential.context;
    let settings = &context.settings.solver.barrier_free;
    let mesh = &context.model.collision;
    let mut tentative = Tentative::new(it.x.clone());
    let (mut progress, mut stalls) = (Progress::new(&context), Stalls::default());
    for iteration in 0..limit.min(context.settings.solver.end.max_iterations as usize) {
        if is_out_of_work(&context, &work.report) {
            return Ok(Some(StepOutcome::IterationLimit));
        }
        let arrived = move_prescribed(potential, targets, &mut tentative, progress.inverted);
        let newton_steps = if progress.inverted > 0 { 1 } else { SUBPROBLEM_ITERATIONS };
        let full = solve(potential, &mut tentative, newton_steps, work)?;
        potential.constraints_mut().update(&tentative.it.x, settings.decay);

        let dx: Vec<Vec3> = tentative.it.x.iter().zip(&it.x).map(|(a, b)| a - b).collect();
        let bounds = step_bounds(potential, &it.x, &dx, work);
        let alpha = advance_length(potential, &bounds, progress.inverted);
        let alpha = move_towards(&context, &mut it.x, &dx, alpha, work);
        potential.constraints_mut().expand(mesh, &bounds.collisions, settings.filter);
        // what may have stopped x is linearised again
        potential.linearise(&it.x, start, if alpha == 1.0 { LINEARISATION } else { 0.0 });
        let max_contacts = &mut work.report.max_contacts;
        *max_contacts = (*max_contacts).max(potential.constraints().len() as u64);

        let inverts = bounds.inversion < bounds.contact;
        progress.inverted = if inverts { progress.inverted + 1 } else { 0 };
        let converged = work.report.residual_speed < context.velocity_tolerance;
        let ends = progress.min_iterations.is_none() && converged && full && arrived;
        let counts = !(ends && alpha == 1.0) && progress.counts(arrived, potential);
        if counts {
            progress.first_states *= 1.0 - alpha;
        }
        if settings.record_iterations {
            work.report.iterations.push(Advance { alpha, beta: progress.first_states });
        }
        if ends && alpha == 1.0 {
            return Ok(None);
        }
        if counts && progress.first_states <= progress.epsilon {
            return Ok(Some(StepOutcome::TimeOfImpact));
        }
        if progress.should_reset(full, newton_steps, iteration) {
            tentative.place(&it.x);
        }
        progress.small = if alpha < SMALL_ADVANCE && !inverts { progress.small + 1 } else { 0 };
        if !inverts {
            stalls.note(alpha, STALLED_ADVANCES, potential);
        }
    }
    Ok(progress.min_iterations.map(|_| StepOutcome::IterationLimit))
}

/// Whether the prescribed vertices can go from `x` to their targets at once, all others standing still,
/// without inverting an element or stretching a shell beyond its limit.
pub fn reach_targets_at_once(
    potential: &IncrementalPotential<'_>,
    targets: &DirichletTargets,
    x: &[Vec3],
) -> bool {
    let mut moved = x.to_vec();
    let mut dx = vec![Vec3::zeros(); x.len()];
    for &v in &targets.moving {
        let v = v as usize;
        (moved[v], dx[v]) = (targets.x[v], targets.x[v] - x[v]);
    }
    targets.moving.is_empty()
        || potential.max_step(x, &dx) >= 1.0 && potential.within_limits(&moved, USE_LIMIT)
}

/// Puts prescribed vertices of x̂ where they have to go, as far as no element inverts and by halves of
/// that after `inverted` vain attempts; whether they are there [Zheng 2025, §5.3].
fn move_prescribed(
    potential: &IncrementalPotential<'_>,
    targets: &DirichletTargets,
    tentative: &mut Tentative,
    inverted: u32,
) -> bool {
    let x = &tentative.it.x;
    let mut dx = vec![Vec3::zeros(); x.len()];
    let mut away = false;
    for &v in &targets.moving {
        let left = targets.left_of(v, &x[v as usize]);
        dx[v as usize] = left;
        away |= left != Vec3::zeros();
    }
    if !away {
        return true;
    }
    let map = &potential.context.model.map;
    map.spread(&mut dx);
    let halvings = inverted.saturating_sub(1).min(30) as i32;
    let mut t = potential.max_step(x, &dx) * 0.5_f64.powi(halvings);
    loop {
        let mut x = tentative.it.x.clone();
        for &v in &targets.moving {
            let v = v as usize;
            x[v] = match t >= 1.0 && targets.rails.of(v as u32).is_none() {
                true => targets.x[v],
                false => x[v] + t.min(1.0) * dx[v],
            };
        }
        map.advance(&mut x, t.min(1.0), &dx);
        // nor may a shell stretch beyond its limit
        if potential.within_limits(&x, USE_LIMIT) {
            tentative.place(&x);
            return t >= 1.0;
        }
        if t < 1e-9 {
            return false;
        }
        t *= 0.5;
    }
}

/// Newton steps on the augmented Lagrangian until one is taken in full [Zheng 2025, Alg. 2], or none is
/// taken; whether one was taken in full.
fn solve(
    potential: &mut IncrementalPotential<'_>,
    tentative: &mut Tentative,
    newton_steps: usize,
    work: &mut Workspace,
) -> Result<bool, StepError> {
    for _ in 0..newton_steps {
        work.report.newton_iterations += 1;
        let smooth = potential.gradient_without_contact(&tentative.it.x);
        let mut subproblem = Subproblem { potential, at: &tentative.it, smooth: &smooth, work };
        let (p, gradient) = subproblem.solve(Projection::All, false)?;
        let alpha = descend(potential, tentative, &p, &gradient, work)?;
        // where no step was taken, another one would be the same
        if alpha == 1.0 || alpha == 0.0 {
            return Ok(alpha == 1.0);
        }
    }
    Ok(false)
}

/// Moves x̂ along `p`, without regard to collisions, until the potential falls; the step length, 0 where no
/// length lowers it. A direction whose decrease rounding hides counts as taken: x̂ is at the minimum.
fn descend(
    potential: &IncrementalPotential<'_>,
    tentative: &mut Tentative,
    p: &[Vec3],
    gradient: &[Vec3],
    work: &mut Workspace,
) -> Result<f64, StepError> {
    let mut alpha = potential.max_step(&tentative.it.x, p);
    let report = &mut work.report;
    if alpha < 1.0 {
        report.step_cuts.inversion += 1;
    }
    let slope: f64 = gradient.iter().zip(p).map(|(g, p)| g.dot(p)).sum();
    let known = tentative.value_without_contact;
    let mut before = known.unwrap_or_else(|| potential.value_without_contact(&tentative.it.x));
    potential.add_contact_value(&tentative.it, &mut before);
    if !before.value.is_finite() {
        return Err(not_finite("the potential", potential, &tentative.it));
    }
    let mut trial = tentative.it.clone();
    for _ in 0..ADVANCE_HALVINGS {
        for v in 0..trial.x.len() {
            trial.x[v] = tentative.it.x[v] + alpha * p[v];
        }
        if !potential.within_limits(&trial.x, 1.0) {
            report.step_cuts.strain += 1;
            alpha *= 0.5;
            continue;
        }
        let without_contact = potential.value_without_contact(&trial.x);
        let mut after = without_contact;
        potential.add_contact_value(&trial, &mut after);
        if line_search::falls(&before, &after, alpha * slope) {
            *tentative = Tentative { it: trial, value_without_contact: Some(without_contact) };
            return Ok(alpha);
        }
        if alpha * report.residual_speed < INVISIBLE * potential.context.velocity_tolerance {
            break;
        }
        report.step_cuts.line_search += 1;
        alpha *= 0.5;
    }
    let at_minimum = line_search::promises_nothing(slope, before.noise())
        || report.residual_speed < INVISIBLE * potential.context.velocity_tolerance;
    Ok(f64::from(u8::from(at_minimum)))
}

/// How far x follows x̂.
fn advance_length(potential: &IncrementalPotential<'_>, bounds: &StepBounds, inverted: u32) -> f64 {
    // As far as possible would leave x with elements as flat as a step may leave them: another x̂ is
    // better, unless this one began at x already.
    if bounds.inversion < bounds.contact && inverted == 0 {
        return 0.0;
    }
    bounds.inversion.min(bounds.until_contact(potential))
}

/// x ← x + α dx; the audit, where it is wanted for every iterate, may shorten the step.
fn move_towards(
    context: &StepContext<'_>,
    x: &mut Vec<Vec3>,
    dx: &[Vec3],
    mut alpha: f64,
    work: &mut Workspace,
) -> f64 {
    loop {
        let trial: Vec<Vec3> = x.iter().zip(dx).map(|(x, dx)| x + alpha * dx).collect();
        if line_search::audited(context, x, &trial, work) || alpha == 0.0 {
            *x = trial;
            return alpha;
        }
        work.report.step_cuts.audit += 1;
        alpha = if alpha < 1e-12 { 0.0 } else { 0.5 * alpha };
    }
}
