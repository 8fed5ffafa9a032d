//! Newton steps on the augmented Lagrangian of the true distances, each with a line search, from a state
//! without intersections.
//!
//! For fixed multipliers Λ and stiffness M the merit function
//!
//! L(x) = E(x) + s_c [ Σ m φ(d(x) − ξ − δ) + Ψ_friction(x) ],   φ(c) = M/2 max(0, Λ/M − c)²
//!
//! is minimised: linearised at x itself, the constraints have its gradient, so that the direction of the
//! subproblem leads down, and a step is halved until L falls. All that could collide along the direction is
//! among the constraints before that. Where a minimisation has come close enough to its minimum,
//! multipliers are updated, Λ ← max(0, Λ − M c) [Nocedal & Wright 2006, Alg. 17.4]; the required accuracy
//! is raised from update to update, up to the tolerance of the step. Where contact cuts a step, the minimum
//! for the present multipliers penetrates, and they are updated with the linearised gaps at its end.

use super::saddles::Saddles;
use super::search::{search, smooth_gradient};
use super::{Stalls, StepBounds, Subproblem, is_out_of_work, step_bounds};
use crate::dirichlet::Pulled;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{IncrementalPotential, Strategy};
use crate::report::StepOutcome;
use crate::solver::balance::{Balance, gradient_of_state, sums_by_body};
use crate::solver::direction::{improve, measure, not_finite};
use crate::solver::line_search::size;
use crate::solver::path::StepLimit;
use crate::solver::prescribed;
use crate::solver::speedups::{Forcing, Projecting};
use crate::solver::termination::{Verdict, stall};
use crate::solver::workspace::Workspace;
use crate::thresholds::{
    COMPLETIONS, GAP_ERROR, GAP_REDUCTION, LOOSEST, MOST_LEFT, MULTIPLIER_UPDATES, NO_STEP,
    PENETRATIONS, PROJECT_ALL, REFUSALS, RISES, ROUND_OFF_ITERATIONS, STALLED_ADVANCES, STIFFENING,
    STIFFENINGS, UNRESOLVED, UPDATE_REDUCTION,
};
use standoff_linalg::Vec3;

/// A direction and what is known of it.
struct Direction {
    /// The direction (`#V`), m.
    p: Vec<Vec3>,
    /// The gradient of L where it begins (`#V`), kg m.
    gradient: Vec<Vec3>,
    /// How far it leads.
    bounds: StepBounds,
    /// Whether all that collides along it was among its constraints.
    complete: bool,
}

/// The multiplier updates of a step.
struct Updates {
    /// Speed below which the next one is due, m/s.
    due_below: f64,
    /// The distance of loaded gaps from their targets at the last one, if that was at a minimum, m; else infinite.
    gap_error: f64,
    /// How often contacts became stiffer because that did not fall.
    stiffened: u32,
    /// How many there were at minima.
    at_minima: u32,
    /// How many there were because a minimum penetrates.
    penetrations: u32,
    /// Whether contacts that are new in this step have friction already.
    new_friction: bool,
}

impl Updates {
    /// Notes an update because a minimum penetrates; where multipliers alone do not help, contacts become
    /// stiffer.
    fn note_penetration(&mut self, potential: &mut IncrementalPotential<'_>) {
        self.penetrations += 1;
        if self.penetrations.is_multiple_of(PENETRATIONS) && self.penetrations <= 10 * PENETRATIONS
        {
            potential.constraints_mut().stiffen(2.0);
        }
    }

    /// Whether minima still penetrate although contacts were made stiffer as often as that may be.
    fn keep_penetrating(&self) -> bool {
        self.penetrations >= 50 * PENETRATIONS
    }
}

/// Iterates until the direction is below the tolerance, its step was taken in full, and multipliers were
/// updated until the gaps of loaded contacts are at their targets as nearly as the velocity tolerance requires and the forces
/// change no more than the force tolerance admits, or as often as that
/// helps, and until forces balance with the multipliers of the end, which are the contact forces of the state. Contacts that are new in
/// the step get friction if it `takes_friction`.
///
/// # Errors
/// A non-finite number, an unsolvable system, a motion that is blocked.
// long: one loop; what its iterations share is what makes it end
pub fn run(
    potential: &mut IncrementalPotential<'_>,
    start: &[Vec3],
    it: &mut Iterate,
    takes_friction: bool,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    let context = potential.context;
    let mut updates = Updates {
        due_below: f64::INFINITY,
        gap_error: f64::INFINITY,
        stiffened: 0,
        at_minima: 0,
        penetrations: 0,
        new_friction: !(takes_friction && context.model.has_friction),
    };
    let (mut stalls, mut within_round_off, mut refused) = (Stalls::default(), 0, 0_u32);
    let mut last_speed = f64::INFINITY;
    let mut projecting = Projecting::new(context.settings.solver.projection);
    let mut saddles = Saddles::default();
    let iterations = u64::from(context.settings.solver.end.max_iterations);
    while work.report.newton_iterations < iterations && !is_out_of_work(&context, &work.report) {
        let Direction { p, gradient, bounds, complete } =
            complete_direction(potential, start, it, &mut projecting, work)?;
        let speed = work.report.residual_speed;
        let target: Vec<Vec3> = it.x.iter().zip(&p).map(|(x, p)| x + p).collect();
        let rise = refused.is_multiple_of(REFUSALS) && (1..=RISES * REFUSALS).contains(&refused);
        let taken = search(potential, it, &p, &gradient, &bounds, rise, work)?;
        refused += u32::from(taken.alpha < NO_STEP && !taken.within_round_off || rise);
        // the minimum for these multipliers penetrates
        let penetrates = potential.constraints().penetrates(&bounds.collisions, &target);
        if taken.alpha < 1.0 && taken.limit == StepLimit::Contact && complete && penetrates {
            potential.constraints_mut().update_forces_at_penetrating(&target);
            updates.note_penetration(potential);
        }
        potential.linearise(&it.x, start, 0.0);
        // what begins to slip does so in directions that grow, although the potential hardly shows it
        let slips_on = speed > last_speed && potential.friction().is_falling(&it.x);
        last_speed = speed;
        let idle = taken.within_round_off && !slips_on;
        within_round_off = if idle { within_round_off + 1 } else { 0 };
        if taken.alpha < NO_STEP && projecting.give_up() {
            // the projected Hessian may lead on
            continue;
        }
        let full = taken.alpha == 1.0 || size(&p) <= UNRESOLVED * size(&it.x);
        let round_off = within_round_off >= ROUND_OFF_ITERATIONS;
        let converged = speed < context.velocity_tolerance && (full || round_off);
        stalls.note(taken.alpha, STALLED_ADVANCES, potential);
        let stalled = stalls.is_final() || updates.keep_penetrating();
        let verdict = match (converged, round_off) {
            (true, _) => Verdict::Settled(StepOutcome::Converged),
            (_, true) => Verdict::Settled(StepOutcome::RoundOff),
            _ => Verdict::Continue,
        };
        if prescribed::advance(potential, it, verdict, None, stalled)? == Some(Pulled::Arrived) {
            // the direction was that of a potential with constraints, and perhaps of other laws
            continue;
        }
        if full && (speed < updates.due_below || converged) || round_off {
            let settled = update(potential, &mut updates, it, speed, converged);
            let end = settled && Balance::of_state(potential, it, context.force_tolerance).is_met;
            // multipliers need not settle
            let is_blind =
                round_off && (!converged || updates.at_minima > MULTIPLIER_UPDATES && !end);
            let converged = converged && end;
            let outcome = if converged { StepOutcome::Converged } else { StepOutcome::RoundOff };
            let rest = match end && context.force_tolerance < 1.0 {
                true => what_follows(potential, it, &p, work),
                false => 1.0,
            };
            // rounding may be what is left
            let is_short = rest * speed < context.velocity_tolerance || taken.within_round_off;
            let end =
                end && is_short && !saddles.lead_on(potential, start, it, &projecting, work)?;
            if potential.allows(Strategy::End) && (end || is_blind) {
                if converged {
                    work.report.residual_speed = (rest * speed).min(context.velocity_tolerance);
                }
                return Ok(outcome);
            }
        }
        if stalled {
            return Ok(stall(taken.limit));
        }
    }
    Ok(StepOutcome::IterationLimit)
}

/// Updates multipliers and, once, the friction of contacts that are new in this step; whether there was
/// nothing to update any more.
fn update(
    potential: &mut IncrementalPotential<'_>,
    updates: &mut Updates,
    it: &Iterate,
    speed: f64,
    converged: bool,
) -> bool {
    let context = potential.context;
    let tolerance = context.velocity_tolerance;
    let distance = tolerance * context.speed_time;
    let allowed = distance.min(GAP_ERROR * potential.constraints().separation());
    let gap_error = potential.constraints().gap_error(&it.x);
    let gaps_settled = gap_error < allowed;
    let before = potential.contact_forces(it);
    potential.constraints_mut().update(&it.x, context.settings.solver.barrier_free.decay);
    // gaps tell no more than the digits of positions
    let rounding = UNRESOLVED * size(&it.x);
    let settled = updates.at_minima >= MULTIPLIER_UPDATES
        || gaps_settled
            && converged
            && (gap_error <= rounding || forces_settled(potential, it, &before));
    let wants_forces = context.force_tolerance < 1.0;
    if wants_forces && converged && !settled && gap_error > GAP_REDUCTION * updates.gap_error {
        let constraints = potential.constraints_mut();
        let hidden = STIFFENING * constraints.stiffness() * rounding;
        if updates.stiffened < STIFFENINGS
            && hidden <= context.force_tolerance * constraints.largest_force()
        {
            constraints.stiffen(STIFFENING);
            updates.stiffened += 1;
        }
    }
    updates.gap_error = if converged { gap_error } else { f64::INFINITY };
    updates.due_below = (UPDATE_REDUCTION * speed).max(tolerance);
    updates.at_minima += u32::from(converged);
    if !(converged && settled) {
        return false;
    }
    if !updates.new_friction {
        updates.new_friction = true;
        return !potential.lag_friction_of_new_constraints();
    }
    true
}

/// The way that is left after a whole step along `p`, in terms of `p`, at least 1. Multipliers change further, and a matrix that is projected is too stiff. With
/// the ratio θ of the next direction by the same matrix to the last one, the steps to come are a geometric series.
fn what_follows(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    p: &[Vec3],
    work: &mut Workspace,
) -> f64 {
    let (gradient, none) = (gradient_of_state(potential, it), vec![Vec3::zeros(); p.len()]);
    let mut forcing = Forcing::exact(LOOSEST);
    let next = improve(potential, &gradient, &none, &mut forcing, work);
    let left = next.map_or(0.0, |next| measure(potential, &next) / measure(potential, p));
    // what is not a number is nothing, after a direction without length
    let left = if left.is_nan() { 0.0 } else { left.min(MOST_LEFT) };
    (left / (1.0 - left)).max(1.0)
}

/// Whether the contact forces of each body differ from those `before` by less than what may be missing in the
/// balance of its forces.
fn forces_settled(potential: &IncrementalPotential<'_>, it: &Iterate, before: &[Vec3]) -> bool {
    let context = &potential.context;
    let after = potential.contact_forces(it);
    let changed = |v: usize| context.contact_scale * (after[v] - before[v]).norm();
    let changes = sums_by_body(potential, &|v| if potential.free()[v] { changed(v) } else { 0.0 });
    let acting = potential.acting_forces(it).at_vertices;
    let acting = sums_by_body(potential, &|v| acting[v]);
    changes.iter().zip(&acting).all(|(change, a)| *change <= context.force_tolerance * a)
}

/// The direction of the subproblem at x, with all that it would collide with among its constraints.
fn complete_direction(
    potential: &mut IncrementalPotential<'_>,
    start: &[Vec3],
    it: &Iterate,
    projecting: &mut Projecting,
    work: &mut Workspace,
) -> Result<Direction, StepError> {
    let mesh = &potential.context.model.collision;
    let mut solve = 0;
    loop {
        solve += 1;
        work.report.newton_iterations += 1;
        let gradient = smooth_gradient(potential, &it.x);
        let mut subproblem = Subproblem { potential, at: it, smooth: &gradient, work };
        let (p, gradient) = least_projected(projecting, &mut subproblem)?;
        if !work.report.residual_speed.is_finite() {
            return Err(not_finite("the Newton direction", potential, it));
        }
        let bounds = step_bounds(potential, &it.x, &p, work);
        let added = potential.constraints_mut().expand(mesh, &bounds.collisions, false);
        potential.linearise(&it.x, start, 0.0);
        let max_contacts = &mut work.report.max_contacts;
        *max_contacts = (*max_contacts).max(potential.constraints().len() as u64);
        if added == 0 || solve == COMPLETIONS {
            return Ok(Direction { p, gradient, bounds, complete: added == 0 });
        }
    }
}

/// The direction by the Hessian without contact of which as few summands are projected as definiteness allows, without any where it is
/// short enough to be the last one; after many iterations by the projected one, with which they go round in circles less easily.
fn least_projected(
    projecting: &mut Projecting,
    subproblem: &mut Subproblem<'_, '_>,
) -> Result<(Vec<Vec3>, Vec<Vec3>), StepError> {
    let context = subproblem.potential.context;
    if subproblem.work.report.newton_iterations >= PROJECT_ALL {
        projecting.give_up();
        return projecting.direction(subproblem);
    }
    let mut direction = projecting.direction(subproblem)?;
    let is_small = subproblem.work.report.residual_speed < context.velocity_tolerance;
    if is_small && context.force_tolerance < 1.0 && !projecting.is_definite(subproblem.potential) {
        direction = projecting.direction_by_hessian(subproblem)?.unwrap_or(direction);
    }
    projecting.note(&direction.0);
    Ok(direction)
}
