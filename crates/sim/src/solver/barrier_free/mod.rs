//! The barrier-free method [Zheng 2025], with an end at which the tolerance is met.
//!
//! Linearised distance constraints with multipliers take the place of the barrier. A step has two phases:
//!
//! - `two_states` is the published pipeline: a tentative state x̂ that may penetrate takes Newton steps
//!   under the constraints, and the state x follows it as far as collision detection allows. Every
//!   collision becomes a constraint, so that all contacts respond at once. Nothing there bounds what x̂ does
//!   when linearisations and multipliers change with every solve, and it may go round in circles.
//! - `safeguarded` continues from x by Newton steps whose length a line search on the augmented Lagrangian
//!   of the true distances chooses. For fixed multipliers that is a descent method, and multipliers change
//!   only where it has come close to its minimum.
//!
//! A step begins with the first phase, unless prescribed vertices cannot go to their targets at once, and
//! goes over to the second when x has reached x̂ or after `EXPLORE` solves. With
//! `solver.barrier_free.min_iterations` the first phase alone runs, to its published end. Multipliers and
//! active set carry over to the next step: they are part of the state.

mod saddles;
mod safeguarded;
mod search;
mod two_states;

use super::contact_subproblem::{self, Solution};
use super::direction::{linear_failure, measure};
use super::speedups::NewtonSystem;
use crate::clock::Phase;
use crate::contact::ConstraintKey;
use crate::context::StepContext;
use crate::definition::settings;
use crate::dirichlet::DirichletTargets;
use crate::energy::{Projection, Term};
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{Energy, IncrementalPotential};
use crate::report::{StepOutcome, StepReport};
use crate::solver::workspace::Workspace;
use crate::thresholds::{EXPLORE, STALLED, STALLED_ROUNDS, THIN_GAP};
use standoff_geometry::ccd::Keep;
use standoff_linalg::Vec3;

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
    let start = it.x.clone();
    potential.linearise(&it.x, &start, 0.0);
    potential.lag_friction_of_constraints();
    let published = context.settings.solver.barrier_free.min_iterations.is_some();
    let jumps = potential.free().contains(&true)
        && two_states::reach_targets_at_once(potential, targets, &it.x);
    if published || jumps {
        let limit = if published { usize::MAX } else { EXPLORE };
        let end = two_states::run(potential, targets, &start, it, limit, work)?;
        if let Some(outcome) = end {
            return Ok(outcome);
        }
    }
    if targets.moving.iter().any(|&v| it.x[v as usize] != targets.x[v as usize]) {
        potential.constrain(targets, &start);
    }
    safeguarded::run(potential, &start, it, true, work)
}

/// Continues from where a step that began at `start` ended, with its friction forces and the stiffness of its constraints.
///
/// # Errors
/// As [`advance`].
pub fn go_on(
    potential: &mut IncrementalPotential<'_>,
    start: &[Vec3],
    it: &mut Iterate,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    // the first direction of a step sets the stiffness
    work.report.newton_iterations = 1;
    safeguarded::run(potential, start, it, false, work)
}

/// The Newton direction at an iterate with contact and friction exact in the linearised constraints, and the
/// gradient there with them. `report.residual_speed` becomes the direction's size, with what is missing of it
/// where the subproblem was not solved. The first one of a step sets the stiffness of the constraints.
struct Subproblem<'s, 'p> {
    potential: &'s mut IncrementalPotential<'p>,
    at: &'s Iterate,
    /// The gradient without contact (`#V`), kg m.
    smooth: &'s [Vec3],
    work: &'s mut Workspace,
}

impl Subproblem<'_, '_> {
    fn minimise(
        &mut self,
        projection: Projection<'_>,
        may_be_indefinite: bool,
    ) -> Result<Option<(Vec<Vec3>, Vec<Vec3>)>, StepError> {
        let Self { potential, at, smooth, work } = self;
        let assembled = work.hessian.assemble_without_contact(potential, at, projection);
        assembled.map_err(|e| linear_failure(&work.report, e.to_string()))?;
        if work.report.newton_iterations == 1 {
            set_stiffness(potential, work);
        }
        let context = potential.context;
        let solve = match context.settings.solver.barrier_free.subproblem {
            settings::Subproblem::ActiveSet => contact_subproblem::minimise,
            settings::Subproblem::Published => contact_subproblem::newton_step,
        };
        let solution = solve(potential, at, smooth.to_vec(), may_be_indefinite, work)?;
        let Some(Solution { p, missing }) = solution else { return Ok(None) };
        let mut gradient = smooth.to_vec();
        potential.add_contact_gradient(at, &mut gradient);
        let descends = || gradient.iter().zip(&p).map(|(g, p)| g.dot(p)).sum::<f64>() <= 0.0;
        if may_be_indefinite && !descends() {
            return Ok(None);
        }
        work.report.residual_speed = (measure(potential, &p) + missing) / context.speed_time;
        Ok(Some((p, gradient)))
    }
}

impl NewtonSystem for Subproblem<'_, '_> {
    type Direction = (Vec<Vec3>, Vec<Vec3>);

    fn potential(&self) -> &IncrementalPotential<'_> {
        self.potential
    }

    fn solve(&mut self, projection: Projection<'_>, _: bool) -> Result<Self::Direction, StepError> {
        let solution = self.minimise(projection, false)?;
        solution.ok_or_else(|| linear_failure(&self.work.report, "no direction".into()))
    }

    fn solve_if_definite(
        &mut self,
        projection: Projection<'_>,
        _: bool,
    ) -> Result<Option<Self::Direction>, StepError> {
        self.minimise(projection, true)
    }
}

/// Sets the stiffness of the constraints by the matrix without contact.
fn set_stiffness(potential: &mut IncrementalPotential<'_>, work: &Workspace) {
    let context = potential.context;
    // the constraints of prescribed vertices are much stiffer than anything else: where there is
    // more, they do not count
    let held = |v: u32| potential.is_prescribed(v);
    let of_bodies = work.hessian.largest_diagonal(|v| !held(v));
    let largest = of_bodies.or_else(|| work.hessian.largest_diagonal(held));
    let penalty = context.settings.solver.barrier_free.penalty;
    if let Some(largest) = largest {
        let stiffness = penalty * largest / context.contact_scale;
        potential.constraints_mut().set_stiffness(stiffness);
    }
}

/// Whether another solver should finish the step because this one has solved as many linear systems as it
/// may.
fn is_out_of_work(context: &StepContext<'_>, report: &StepReport) -> bool {
    context.work_limit.is_some_and(|limit| report.linear_solves >= limit)
}

/// How far x may go along a displacement, and what is in the way.
struct StepBounds {
    /// Largest step without an inversion.
    inversion: f64,
    /// Largest step without contact.
    contact: f64,
    /// What collides along the whole displacement, with the times.
    collisions: Vec<(ConstraintKey, f64)>,
}

impl StepBounds {
    /// How far x goes before contact. Constraints open a thin gap at the beginning of a displacement, whatever closes it again
    /// later: the gap is wider at half of the displacement than at its end, where it would be thinner each time.
    fn until_contact(&self, potential: &IncrementalPotential<'_>) -> f64 {
        let constraints = potential.constraints();
        let gap = THIN_GAP * constraints.separation();
        let thin = self.contact < 1.0 && constraints.min_gap() < gap;
        if thin { 0.5 * self.contact } else { self.contact }
    }
}

/// How far x may go along `dx` until an element inverts, how far until surfaces meet, and everything
/// that collides along all of it.
fn step_bounds(
    potential: &IncrementalPotential<'_>,
    x: &[Vec3],
    dx: &[Vec3],
    work: &mut Workspace,
) -> StepBounds {
    let (clock, model) = (potential.context.clock, potential.context.model);
    let detector = &mut work.detector;
    clock.time(Phase::BroadPhase, || detector.sweep(model, x, dx, 1.0));
    let inversion = potential.max_step(x, dx);
    // x̂ that still penetrates must not pull x onto the surface: multipliers take some solves
    let keep = Keep { reach: potential.constraints().separation() };
    let (collisions, contact) = clock.time(Phase::Ccd, || detector.collisions(model, x, dx, keep));
    if inversion < contact {
        work.report.step_cuts.inversion += 1;
    } else if contact < 1.0 {
        work.report.step_cuts.ccd += 1;
    }
    StepBounds { inversion, contact, collisions }
}

/// Counts advances that are too small to count as such.
#[derive(Default)]
struct Stalls {
    consecutive: u32,
    rounds: u32,
}

impl Stalls {
    /// Notes an advance; where x has stalled, contacts become stiffer and their separation smaller.
    fn note(&mut self, alpha: f64, patience: u32, potential: &mut IncrementalPotential<'_>) {
        self.consecutive = if alpha < STALLED { self.consecutive + 1 } else { 0 };
        if self.consecutive < patience {
            return;
        }
        self.consecutive = 0;
        self.rounds += 1;
        if self.rounds <= STALLED_ROUNDS {
            potential.constraints_mut().stiffen(2.0);
            potential.constraints_mut().draw_near();
        }
    }

    /// Whether x stays where it is although contacts were made stiffer as often as that may be.
    fn is_final(&self) -> bool {
        self.rounds > STALLED_ROUNDS
    }
}

/// The augmented Lagrangian L(x) of the true distances.
fn merit(potential: &IncrementalPotential<'_>, x: &[Vec3]) -> Energy {
    let context = &potential.context;
    let mut energy = potential.value_without_contact(x);
    potential.add_dirichlet_value(x, &mut energy);
    let (mesh, half_spaces) = (&context.model.collision, &context.model.half_spaces);
    context.clock.time(Phase::Contact, || {
        let contact = potential.constraints().nonlinear_value(mesh, half_spaces, x);
        energy.add(context.contact_scale * contact);
        energy.add(context.contact_scale * potential.friction().value(x));
    });
    energy
}
