//! The barrier-free method [Zheng 2025, Alg. 1–3].
//!
//! Two states take part in a step: x̂ minimises the potential under linearised distance constraints and
//! may penetrate; x never does. x̂ takes (mostly single) Newton steps on the augmented Lagrangian, and x
//! moves towards x̂ as far as collision detection and the filter against inversion let it:
//!
//! xᵏ⁺¹ = (1 − αᵏ⁺¹) xᵏ + αᵏ⁺¹ x̂ᵏ⁺¹.
//!
//! Every collision on that way becomes a constraint of the next solve, so that all contacts respond at
//! once. The step ends when the weight of the first `min_iterations` states in x, Π (1 − α), is below
//! ε. Multipliers and active set carry over to the next step: they are part of the state.

use super::{Iterate, Minimiser, contact_subproblem, newton};
use crate::audit;
use crate::contact::{ContactSet, Subject};
use crate::definition::settings::AuditLevel;
use crate::dirichlet::Targets;
use crate::error::StepError;
use crate::model::Model;
use crate::potential::{Energy, IncrementalPotential};
use crate::report::{StepOutcome, StepReport};
use crate::solver::line_search;
use crate::timing::timed;
use newton::measure;
use standoff_geometry::audit::Auditor;
use standoff_geometry::ccd::Keep;
use standoff_linalg::Vec3;

/// Solves after which states count although the Newton direction is above the tolerance.
const SOLVES: u32 = 10;

/// Solves after which x̂ begins again at x each time.
const LOST: u32 = 30;

/// Gap, in terms of δ, below which x goes only half of a way that contact bounds.
const THIN: f64 = 0.1;

/// Error of a linearised gap, in terms of δ, up to which it is kept while x follows x̂.
const LINEARISATION: f64 = 0.1;

/// Newton steps of one solve at most: a solve ends with the first full one.
const SUBPROBLEM_ITERATIONS: usize = 20;

/// Halvings of the line search on x̂.
const HALVINGS: usize = 40;

/// Part of the tolerance below which a step is not halved: the rounding of positions is in sight.
const INVISIBLE: f64 = 1e-3;

/// Consecutive small advances after which x̂ begins again at x.
const RESTART: usize = 5;

/// An advance below this is small.
const SMALL: f64 = 1e-2;

/// An advance below `STUCK` in `PATIENCE` consecutive iterations makes the contacts stiffer and their
/// separation smaller [Zheng 2025, §5.2].
const STUCK: f64 = 1e-4;
const PATIENCE: usize = 50;
/// How often that may happen in a step.
const ROUNDS: usize = 10;

/// The state x̂.
struct Hat {
    it: Iterate,
    /// The potential there without contact and friction, where it is known.
    smooth: Option<Energy>,
}

impl Hat {
    fn new(x: Vec<Vec3>) -> Self {
        Self { it: Iterate { x, active: ContactSet::default() }, smooth: None }
    }

    fn place(&mut self, x: &[Vec3]) {
        self.it.x.copy_from_slice(x);
        self.smooth = None;
    }
}

/// Advances the step from the state in `it.x`; afterwards `it.x` is the end of the step, free of
/// intersections and inversions, and `potential.constraints` holds the multipliers there.
///
/// # Errors
/// A non-finite number, an unsolvable system, an audit's finding, a motion that never gets through.
pub fn advance(
    potential: &mut IncrementalPotential<'_>,
    targets: &Targets,
    it: &mut Iterate,
    work: &mut Minimiser,
    report: &mut StepReport,
) -> Result<StepOutcome, StepError> {
    let model = potential.model;
    let settings = &model.resolved.settings.solver.barrier_free;
    let tolerance = model.resolved.velocity_tolerance;
    let min_iterations = settings.min_iterations.unwrap_or(SOLVES);
    let mut hat = Hat::new(it.x.clone());
    let start = it.x.clone();
    potential.constraints.linearise(&model.collision, &model.half_spaces, &it.x, &start, 0.0);
    potential.lag_friction_of_constraints();

    // weight of the first states in x, and how many solves had the boundary where it belongs
    let (mut beta, mut solves, mut small, mut stuck) = (1.0, 0, 0, 0);
    let mut rounds = 0;
    let mut rubbed = !model.has_friction;
    // consecutive iterations whose x̂ could not be reached without inverting an element
    let mut inverted = 0;
    for iteration in 0..model.resolved.settings.solver.max_iterations {
        let arrived = move_prescribed(potential, targets, &mut hat, inverted);
        let newton_steps = if inverted > 0 { 1 } else { SUBPROBLEM_ITERATIONS };
        let full = solve(potential, &mut hat, iteration == 0, newton_steps, work, report)?;
        potential.constraints.update(&hat.it.x, settings.decay);

        let dx: Vec<Vec3> = hat.it.x.iter().zip(&it.x).map(|(a, b)| a - b).collect();
        let reach = potential.constraints.separation;
        let (upright, contact, found) = approach(model, &it.x, &dx, reach, work, report);
        // as far as possible would leave x with elements as flat as a step may leave them: better
        // another x̂, unless this one began at x already
        let turns = upright < contact && inverted == 0;
        // Constraints open a thin gap at the beginning of the way, whatever closes it again further on: a
        // gap is wider at half of the way than at its end, where it would be thinner each time.
        let thin = contact < 1.0 && potential.constraints.min_gap() < THIN * reach;
        let contact_share = if thin { 0.5 * contact } else { contact };
        let alpha = if turns { 0.0 } else { upright.min(contact_share) };
        let alpha = move_towards(model, &mut it.x, &dx, alpha, &mut work.auditor, report);
        potential.constraints.expand(&model.collision, &found, settings.filter);
        timed(&mut report.seconds.contact, || {
            let (mesh, half_spaces) = (&model.collision, &model.half_spaces);
            // what may have stopped x is looked at anew
            let accuracy = if alpha == 1.0 { LINEARISATION } else { 0.0 };
            potential.constraints.linearise(mesh, half_spaces, &it.x, &start, accuracy);
        });
        report.max_contacts = report.max_contacts.max(potential.constraints.len() as u64);

        // x̂ may have tangled itself beyond what Newton steps undo: begin again at x, with all that is
        // known by now. One Newton step from x leads straight to x̂, and upright.
        inverted = if upright < contact { inverted + 1 } else { 0 };
        // After many solves x̂ and x may be in different folds of a crushed body: then always.
        let lost = inverted > 0 || !full && newton_steps > 1 || small >= RESTART;
        if lost || iteration >= LOST {
            hat.place(&it.x);
        }

        solves = if arrived { solves + 1 } else { 0 };
        let converged = solves > 1 && report.residual_speed < tolerance;
        let mut counts = converged || solves >= min_iterations;
        if !rubbed && (counts || 2 * solves >= min_iterations) {
            // contacts that are new in this step rub from now on, with the forces found
            rubbed = true;
            counts &= !potential.lag_friction_of_new_constraints();
        }
        if counts {
            beta *= 1.0 - alpha;
            if beta <= settings.tolerance {
                return Ok(StepOutcome::Converged);
            }
        }
        small = if alpha < SMALL && inverted == 0 { small + 1 } else { 0 };
        stuck = if alpha < STUCK && inverted == 0 { stuck + 1 } else { 0 };
        if stuck >= PATIENCE {
            stuck = 0;
            rounds += 1;
            // conditioning sets an end to both
            if rounds <= ROUNDS {
                potential.constraints.stiffness *= 2.0;
                potential.constraints.separation *= 0.5;
            }
        }
    }
    Ok(StepOutcome::IterationLimit)
}

/// Puts prescribed vertices of x̂ where they have to go, as far as no element inverts and by halves of
/// that after `inverted` vain attempts; whether they are there [Zheng 2025, §5.3].
fn move_prescribed(
    potential: &IncrementalPotential<'_>,
    targets: &Targets,
    hat: &mut Hat,
    inverted: i32,
) -> bool {
    let (model, x) = (potential.model, &hat.it.x);
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
    let mut t = model.elastic.max_step(x, &dx) * 0.5_f64.powi((inverted - 1).clamp(0, 30));
    loop {
        let mut x = hat.it.x.clone();
        for &v in &targets.moving {
            let v = v as usize;
            x[v] = if t >= 1.0 { targets.x[v] } else { x[v] + t * dx[v] };
        }
        // nor may a shell stretch beyond its limit
        if potential.thin.within_limits(&x, 0.9) {
            hat.place(&x);
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
    hat: &mut Hat,
    mut first: bool,
    newton_steps: usize,
    work: &mut Minimiser,
    report: &mut StepReport,
) -> Result<bool, StepError> {
    let (model, h) = (potential.model, potential.model.resolved.h);
    for _ in 0..newton_steps {
        report.newton_iterations += 1;
        let mut gradient = potential.gradient_without_contact(&hat.it.x, &mut report.seconds);
        let assembled = work.system.assemble_smooth(potential, &hat.it, &mut report.seconds);
        assembled.map_err(|e| newton::linear_failure(report, e.to_string()))?;
        if std::mem::take(&mut first) {
            let largest = work.system.largest_diagonal() / potential.contact_scale;
            potential.constraints.stiffness =
                model.resolved.settings.solver.barrier_free.penalty * largest;
        }
        let p = contact_subproblem::minimise(potential, &hat.it, gradient.clone(), work, report)?;
        report.residual_speed = measure(potential, &p) / h;
        potential.add_contact_gradient(&hat.it, &mut gradient);
        if descend(potential, hat, &p, &gradient, report)? == 1.0 {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves x̂ along `p`, without regard to collisions, until the potential falls; the step length.
fn descend(
    potential: &IncrementalPotential<'_>,
    hat: &mut Hat,
    p: &[Vec3],
    gradient: &[Vec3],
    report: &mut StepReport,
) -> Result<f64, StepError> {
    let model = potential.model;
    let max_step = || model.elastic.max_step(&hat.it.x, p);
    let mut alpha = timed(&mut report.seconds.elasticity, max_step);
    if alpha < 1.0 {
        report.step_cuts.inversion += 1;
    }
    let slope: f64 = gradient.iter().zip(p).map(|(g, p)| g.dot(p)).sum();
    let seconds = &mut report.seconds;
    let mut before = *hat.smooth.get_or_insert_with(|| potential.smooth_value(&hat.it.x, seconds));
    potential.add_contact_value(&hat.it, &mut before);
    if !before.value.is_finite() {
        return Err(newton::not_finite("the potential", potential, &hat.it, report));
    }
    let mut trial = hat.it.clone();
    for _ in 0..HALVINGS {
        for v in 0..trial.x.len() {
            trial.x[v] = hat.it.x[v] + alpha * p[v];
        }
        if !potential.thin.within_limits(&trial.x, 1.0) {
            report.step_cuts.strain += 1;
            alpha *= 0.5;
            continue;
        }
        let smooth = potential.smooth_value(&trial.x, &mut report.seconds);
        let mut after = smooth;
        potential.add_contact_value(&trial, &mut after);
        if line_search::falls(&before, &after, alpha * slope) {
            *hat = Hat { it: trial, smooth: Some(smooth) };
            return Ok(alpha);
        }
        if alpha * report.residual_speed < INVISIBLE * model.resolved.velocity_tolerance {
            break;
        }
        report.step_cuts.line_search += 1;
        alpha *= 0.5;
    }
    // no decrease that arithmetic can see: x̂ is at the minimum
    Ok(1.0)
}

/// How far x may go along `dx` until an element turns inside out, how far until surfaces meet, and
/// everything that collides on the whole way.
fn approach(
    model: &Model,
    x: &[Vec3],
    dx: &[Vec3],
    reach: f64,
    work: &mut Minimiser,
    report: &mut StepReport,
) -> (f64, f64, Vec<(Subject, f64)>) {
    timed(&mut report.seconds.broad_phase, || work.detector.sweep(model, x, dx, 1.0));
    let upright = timed(&mut report.seconds.elasticity, || model.elastic.max_step(x, dx));
    // x̂ that still penetrates shall not draw x to the surface: multipliers need their time
    let keep = Keep { reach };
    let (found, contact) =
        timed(&mut report.seconds.ccd, || work.detector.collisions(model, x, dx, keep));
    if upright < contact {
        report.step_cuts.inversion += 1;
    } else if contact < 1.0 {
        report.step_cuts.ccd += 1;
    }
    (upright, contact, found)
}

/// x ← x + α dx; the audit, where it is wanted for every iterate, may shorten the step.
fn move_towards(
    model: &Model,
    x: &mut Vec<Vec3>,
    dx: &[Vec3],
    mut alpha: f64,
    auditor: &mut Auditor,
    report: &mut StepReport,
) -> f64 {
    loop {
        let trial: Vec<Vec3> = x.iter().zip(dx).map(|(x, dx)| x + alpha * dx).collect();
        let audited = model.resolved.settings.solver.audit == AuditLevel::EveryIterate;
        let clean = !audited
            || timed(&mut report.seconds.audit, || audit::violations_by(auditor, model, &trial))
                .is_empty();
        if clean || alpha == 0.0 {
            *x = trial;
            return alpha;
        }
        report.step_cuts.audit += 1;
        alpha = if alpha < 1e-12 { 0.0 } else { 0.5 * alpha };
    }
}
