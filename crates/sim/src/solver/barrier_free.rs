//! The barrier-free method [Zheng 2025, Alg. 1–3].
//!
//! Two states take part in a step: the tentative state x̂ minimises the potential under linearised distance
//! constraints and may penetrate; x never does. x̂ takes (mostly single) Newton steps on the augmented
//! Lagrangian, and x moves towards x̂ as far as collision detection and the filter against inversion let
//! it:
//!
//! xᵏ⁺¹ = (1 − αᵏ⁺¹) xᵏ + αᵏ⁺¹ x̂ᵏ⁺¹.
//!
//! Every collision of that displacement becomes a constraint of the next solve, so that all contacts
//! respond at once. The step ends when the weight of the first `min_iterations` states in x, Π (1 − α), is
//! below ε. Multipliers and active set carry over to the next step: they are part of the state.

use super::contact_subproblem;
use super::direction::{linear_failure, measure, not_finite};
use super::line_search;
use crate::audit;
use crate::contact::ConstraintKey;
use crate::definition::settings::AuditLevel;
use crate::dirichlet::DirichletTargets;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{Energy, IncrementalPotential};
use crate::report::StepOutcome;
use crate::step::clock::Phase;
use crate::step::context::StepContext;
use crate::step::friction_lagging;
use crate::step::workspace::Workspace;
use standoff_geometry::ccd::Keep;
use standoff_linalg::Vec3;

/// Solves after which states count although the Newton direction is above the tolerance.
const SOLVES: u32 = 10;

/// Solves after which x̂ is reset to x before each of them.
const RESET_ALWAYS: u32 = 30;

/// Gap, in terms of δ, below which x moves only by half of a displacement that contact bounds.
const THIN_GAP: f64 = 0.1;

/// Error of a linearised gap, in terms of δ, up to which it is kept while x reaches x̂.
const LINEARISATION: f64 = 0.1;

/// Newton steps of one solve at most: a solve ends with the first full one.
const SUBPROBLEM_ITERATIONS: usize = 20;

/// Halvings of the line search on x̂.
const HALVINGS: usize = 40;

/// Part of the tolerance below which a step is not halved: the rounding of positions is in sight.
const INVISIBLE: f64 = 1e-3;

/// Consecutive small advances after which x̂ is reset to x.
const SMALL_ADVANCES: u32 = 5;

/// An advance α below this is small.
const SMALL: f64 = 1e-2;

/// An advance α below `STALLED` in `PATIENCE` consecutive iterations makes the contacts stiffer and their
/// separation smaller [Zheng 2025, §5.2].
const STALLED: f64 = 1e-4;
const PATIENCE: u32 = 50;
/// How often that may happen in a step.
const ROUNDS: u32 = 10;

/// Part of a strain limit that prescribed vertices of x̂ may use when they are moved.
const USE_LIMIT: f64 = 0.9;

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

/// How far x may follow x̂, and what is in the way.
struct Reach {
    /// Largest step without an inversion.
    inversion: f64,
    /// Largest step without contact.
    contact: f64,
    /// What collides along the whole displacement, with the times.
    collisions: Vec<(ConstraintKey, f64)>,
}

/// Counts that decide on restarts and the end of a step.
struct Progress {
    tolerance: f64,
    min_iterations: u32,
    /// ε of the weight of the first states.
    epsilon: f64,
    /// Weight of the first states in x.
    first_states: f64,
    /// Solves with the prescribed vertices where they belong.
    solves: u32,
    /// Consecutive small advances.
    small: u32,
    /// Consecutive advances that count as none.
    stalled: u32,
    /// How often contacts were stiffened.
    rounds: u32,
    /// Consecutive iterations whose x̂ could not be reached without inverting an element.
    inverted: u32,
    /// Whether contacts that are new in this step have friction already.
    new_friction: bool,
}

impl Progress {
    fn new(context: &StepContext<'_>) -> Self {
        let settings = &context.settings.solver.barrier_free;
        Self {
            tolerance: context.velocity_tolerance,
            min_iterations: settings.min_iterations.unwrap_or(SOLVES),
            epsilon: settings.tolerance,
            first_states: 1.0,
            solves: 0,
            small: 0,
            stalled: 0,
            rounds: 0,
            inverted: 0,
            new_friction: !context.model.has_friction,
        }
    }

    /// Whether x̂ should be reset to x before iteration `next`.
    fn should_reset(&self, full: bool, newton_steps: usize, iteration: u32) -> bool {
        let unsolved = !full && newton_steps > 1;
        // Newton steps may not undo what has tangled up in x̂; after many solves x̂ and x may be in
        // different folds of a crushed body
        self.inverted > 0 || unsolved || self.small >= SMALL_ADVANCES || iteration >= RESET_ALWAYS
    }

    /// Notes an advance; whether contacts have to be made stiffer.
    fn note_advance(&mut self, alpha: f64) -> bool {
        let counts = |below: f64| alpha < below && self.inverted == 0;
        self.small = if counts(SMALL) { self.small + 1 } else { 0 };
        self.stalled = if counts(STALLED) { self.stalled + 1 } else { 0 };
        if self.stalled < PATIENCE {
            return false;
        }
        self.stalled = 0;
        self.rounds += 1;
        // conditioning sets an end to both
        self.rounds <= ROUNDS
    }
}

/// Advances the step from the state in `it.x`; afterwards `it.x` is the end of the step, free of
/// intersections and inversions, and `potential.constraints` holds the multipliers there.
///
/// # Errors
/// A non-finite number, an unsolvable system, an audit's finding, a motion that never gets through.
pub fn advance(
    potential: &mut IncrementalPotential<'_>,
    targets: &DirichletTargets,
    it: &mut Iterate,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    let context = potential.context;
    let settings = &context.settings.solver.barrier_free;
    let (mesh, half_spaces) = (&context.model.collision, &context.model.half_spaces);
    let mut tentative = Tentative::new(it.x.clone());
    let start = it.x.clone();
    potential.constraints.linearise(mesh, half_spaces, &it.x, &start, 0.0);
    friction_lagging::lag_constraints(potential);
    let mut progress = Progress::new(&context);
    for iteration in 0..context.settings.solver.max_iterations {
        let arrived = move_prescribed(potential, targets, &mut tentative, progress.inverted);
        let newton_steps = if progress.inverted > 0 { 1 } else { SUBPROBLEM_ITERATIONS };
        let full = solve(potential, &mut tentative, iteration == 0, newton_steps, work)?;
        potential.constraints.update(&tentative.it.x, settings.decay);

        let dx: Vec<Vec3> = tentative.it.x.iter().zip(&it.x).map(|(a, b)| a - b).collect();
        let reach = reach(potential, &it.x, &dx, work);
        let alpha = advance_length(potential, &reach, progress.inverted);
        let alpha = move_towards(&context, &mut it.x, &dx, alpha, work);
        potential.constraints.expand(mesh, &reach.collisions, settings.filter);
        context.clock.time(Phase::Contact, || {
            // what may have stopped x is linearised anew
            let accuracy = if alpha == 1.0 { LINEARISATION } else { 0.0 };
            potential.constraints.linearise(mesh, half_spaces, &it.x, &start, accuracy);
        });
        let max_contacts = &mut work.report.max_contacts;
        *max_contacts = (*max_contacts).max(potential.constraints.len() as u64);

        let inverts = reach.inversion < reach.contact;
        progress.inverted = if inverts { progress.inverted + 1 } else { 0 };
        if progress.should_reset(full, newton_steps, iteration) {
            tentative.place(&it.x);
        }
        if counts_towards_end(potential, &mut progress, arrived, work.report.residual_speed) {
            progress.first_states *= 1.0 - alpha;
            if progress.first_states <= progress.epsilon {
                return Ok(StepOutcome::Converged);
            }
        }
        if progress.note_advance(alpha) {
            potential.constraints.stiffness *= 2.0;
            potential.constraints.separation *= 0.5;
        }
    }
    Ok(StepOutcome::IterationLimit)
}

/// Whether the state after this solve counts towards the end of the step: the Newton direction was small,
/// or there were enough solves. On the way there, contacts that are new in this step get friction, with
/// the forces found.
fn counts_towards_end(
    potential: &mut IncrementalPotential<'_>,
    progress: &mut Progress,
    arrived: bool,
    residual: f64,
) -> bool {
    progress.solves = if arrived { progress.solves + 1 } else { 0 };
    let (solves, least) = (progress.solves, progress.min_iterations);
    let converged = solves > 1 && residual < progress.tolerance;
    let mut counts = converged || solves >= least;
    if !progress.new_friction && (counts || 2 * solves >= least) {
        progress.new_friction = true;
        counts &= !friction_lagging::lag_new_constraints(potential);
    }
    counts
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
        let v = v as usize;
        dx[v] = targets.x[v] - x[v];
        away |= dx[v] != Vec3::zeros();
    }
    if !away {
        return true;
    }
    let halvings = inverted.saturating_sub(1).min(30) as i32;
    let mut t = potential.max_step(x, &dx) * 0.5_f64.powi(halvings);
    loop {
        let mut x = tentative.it.x.clone();
        for &v in &targets.moving {
            let v = v as usize;
            x[v] = if t >= 1.0 { targets.x[v] } else { x[v] + t * dx[v] };
        }
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

/// Newton steps on the augmented Lagrangian until one is taken in full [Zheng 2025, Alg. 2]; whether
/// one was. The `first` one of a step sets the stiffness of the constraints.
fn solve(
    potential: &mut IncrementalPotential<'_>,
    tentative: &mut Tentative,
    mut first: bool,
    newton_steps: usize,
    work: &mut Workspace,
) -> Result<bool, StepError> {
    let context = potential.context;
    for _ in 0..newton_steps {
        work.report.newton_iterations += 1;
        let mut gradient = potential.gradient_without_contact(&tentative.it.x);
        let assembled = work.hessian.assemble_without_contact(potential, &tentative.it);
        assembled.map_err(|e| linear_failure(&work.report, e.to_string()))?;
        if std::mem::take(&mut first) {
            let largest = work.hessian.largest_diagonal() / context.contact_scale;
            let penalty = context.settings.solver.barrier_free.penalty;
            potential.constraints.stiffness = penalty * largest;
        }
        let p = contact_subproblem::minimise(potential, &tentative.it, gradient.clone(), work)?;
        work.report.residual_speed = measure(potential, &p) / context.h;
        potential.add_contact_gradient(&tentative.it, &mut gradient);
        if descend(potential, tentative, &p, &gradient, work)? == 1.0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves x̂ along `p`, without regard to collisions, until the potential falls; the step length.
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
    for _ in 0..HALVINGS {
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
    // no decrease that arithmetic can see: x̂ is at the minimum
    Ok(1.0)
}

/// How far x may go along `dx` until an element inverts, how far until surfaces meet, and everything
/// that collides along all of it.
fn reach(
    potential: &IncrementalPotential<'_>,
    x: &[Vec3],
    dx: &[Vec3],
    work: &mut Workspace,
) -> Reach {
    let (clock, model) = (potential.context.clock, potential.context.model);
    let detector = &mut work.detector;
    clock.time(Phase::BroadPhase, || detector.sweep(model, x, dx, 1.0));
    let inversion = potential.max_step(x, dx);
    // x̂ that still penetrates must not pull x onto the surface: multipliers take some solves
    let keep = Keep { reach: potential.constraints.separation };
    let (collisions, contact) = clock.time(Phase::Ccd, || detector.collisions(model, x, dx, keep));
    if inversion < contact {
        work.report.step_cuts.inversion += 1;
    } else if contact < 1.0 {
        work.report.step_cuts.ccd += 1;
    }
    Reach { inversion, contact, collisions }
}

/// How far x follows x̂.
fn advance_length(potential: &IncrementalPotential<'_>, reach: &Reach, inverted: u32) -> f64 {
    // As far as possible would leave x with elements as flat as a step may leave them: another x̂ is
    // better, unless this one began at x already.
    if reach.inversion < reach.contact && inverted == 0 {
        return 0.0;
    }
    // Constraints open a thin gap at the beginning of a displacement, whatever closes it again later: the
    // gap is wider at half of the displacement than at its end, where it would be thinner each time.
    let constraints = &potential.constraints;
    let thin = reach.contact < 1.0 && constraints.min_gap() < THIN_GAP * constraints.separation;
    let contact = if thin { 0.5 * reach.contact } else { reach.contact };
    reach.inversion.min(contact)
}

/// x ← x + α dx; the audit, where it is wanted for every iterate, may shorten the step.
fn move_towards(
    context: &StepContext<'_>,
    x: &mut Vec<Vec3>,
    dx: &[Vec3],
    mut alpha: f64,
    work: &mut Workspace,
) -> f64 {
    let audited = context.settings.solver.audit == AuditLevel::EveryIterate;
    loop {
        let trial: Vec<Vec3> = x.iter().zip(dx).map(|(x, dx)| x + alpha * dx).collect();
        let auditor = &mut work.auditor;
        let violations = || audit::violations_by(auditor, context.model, &trial);
        let clean = !audited || context.clock.time(Phase::Audit, violations).is_empty();
        if clean || alpha == 0.0 {
            *x = trial;
            return alpha;
        }
        work.report.step_cuts.audit += 1;
        alpha = if alpha < 1e-12 { 0.0 } else { 0.5 * alpha };
    }
}
