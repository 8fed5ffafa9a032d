//! Projected Newton with a filtered line search [Li 2020, Alg. 1].
//!
//! Every iterate is free of intersections and inversions: the step length starts below the first
//! time of impact and below the first inversion, and is halved until the potential falls.

use super::balance::Balance;
use super::direction::{improve, measure, not_finite};
use super::forcing::Forcing;
use super::islands::Islands;
use super::line_search::{self, LineStep};
use super::prescribed;
use super::projecting::Projecting;
use super::termination::{Termination, Verdict};
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{Energy, IncrementalPotential, Strategy};
use crate::report::StepOutcome;
use crate::solver::workspace::Workspace;
use standoff_linalg::Vec3;

/// Minimises `potential` from `it`, which becomes the last iterate.
///
/// Stops after the step whose Newton direction p has ‖p‖∞/h below the tolerance [Li 2020, Alg. 1] if forces balance at its end
/// ([`Balance`]) and the Hessian was positive definite without projection, so that the error left is of second order. Without
/// a tolerance of forces the step has to be taken in full; after a shorter one the direction is
/// computed again. With `cumulative_toi` also by the step lengths, and where rounding hides any decrease.
///
/// # Errors
/// A non-finite number, an unsolvable system, a blocked boundary motion, an audit's finding. A
/// stall is not an error here but an outcome.
pub fn minimise(
    potential: &mut IncrementalPotential<'_>,
    it: &mut Iterate,
    work: &mut Workspace,
) -> Result<StepOutcome, StepError> {
    potential.begin_minimisation();
    let mut newton = Newton::new(potential, it, work);
    let result = newton.iterate();
    if potential.is_restricted() {
        Islands::resume(potential, it, work);
    }
    result
}

/// A minimisation under way.
struct Newton<'n, 'p> {
    potential: &'n mut IncrementalPotential<'p>,
    it: &'n mut Iterate,
    work: &'n mut Workspace,
    /// Which bodies may rest; none where all have to go on.
    islands: Option<Islands<'p>>,
    /// How accurately directions are solved for.
    forcing: Forcing,
    /// Which summands of the Hessian are projected.
    projecting: Projecting,
    /// When the minimisation ends.
    termination: Termination,
    here: Known,
}

/// What is known of the potential at the present iterate.
#[derive(Debug, Default)]
struct Known {
    value: Option<Energy>,
    gradient: Option<Vec<Vec3>>,
}

impl<'n, 'p> Newton<'n, 'p> {
    fn new(
        potential: &'n mut IncrementalPotential<'p>,
        it: &'n mut Iterate,
        work: &'n mut Workspace,
    ) -> Self {
        let context = potential.context;
        let termination = Termination::new(&context);
        let exact = !termination.is_by_direction() || !potential.allows(Strategy::RoughDirections);
        let solver = &context.settings.solver;
        let islands = Islands::new(potential);
        let forcing = Forcing::new(solver.linear_tolerance).exact_with_factor(exact);
        let projecting = Projecting::new(solver.projection);
        let here = Known::default();
        Self { potential, it, work, islands, forcing, projecting, termination, here }
    }

    /// Newton's method [Li 2020, Alg. 1]: direction, step length, κ, and whether that was the last iteration.
    fn iterate(&mut self) -> Result<StepOutcome, StepError> {
        for _ in 0..self.potential.context.settings.solver.max_iterations {
            let (p, gradient) = self.direction()?;
            let taken = self.advance(&p, &gradient)?;
            if self.will_look_closer(&taken) {
                continue;
            }
            if self.potential.end_iteration(self.it) {
                self.here.value = None;
            }
            let Some(verdict) = self.judge(&taken) else { continue };
            if let Some(outcome) = self.go_on(verdict, &p, &taken)? {
                return Ok(outcome);
            }
        }
        Ok(StepOutcome::IterationLimit)
    }

    /// The Newton direction, with the gradient.
    fn direction(&mut self) -> Result<(Vec<Vec3>, Vec<Vec3>), StepError> {
        let Self { potential, it, work, forcing, projecting, here, .. } = self;
        work.report.newton_iterations += 1;
        work.report.resting_iterations += u64::from(potential.is_restricted());
        let gradient = here.gradient.take().unwrap_or_else(|| potential.gradient(it));
        let p = accurate_direction(potential, it, &gradient, projecting, forcing, work)?;
        Ok((p, gradient))
    }

    /// Goes along `p` as far as the line search says, and forecasts forces for the next Hessian.
    fn advance(&mut self, p: &[Vec3], gradient: &[Vec3]) -> Result<LineStep, StepError> {
        let Self { potential, it, work, here, .. } = self;
        potential.begin_iteration(it);
        let max_contacts = &mut work.report.max_contacts;
        *max_contacts = (*max_contacts).max(it.contacts.len() as u64);
        potential.forecast_friction(it, p);
        let taken = line_search::search(potential, it, p, gradient, here.value, work);
        here.value = taken.value;
        if 0.0 < taken.alpha && taken.alpha < 1.0 {
            potential.forecast_contacts(&work.before, p, &mut it.contacts);
        }
        match taken.finite {
            true => Ok(taken),
            false => Err(not_finite("the potential", potential, it)),
        }
    }

    /// Whether a step that moved nothing calls for a direction that is more accurate, or by the projected Hessian.
    fn will_look_closer(&mut self, taken: &LineStep) -> bool {
        taken.alpha == 0.0
            && (self.work.linear.is_iterative() && self.forcing.tighten()
                || self.projecting.give_up())
    }

    /// Whether the minimum is reached, by the size of the direction and the balance of forces. None where what looks like the end may be
    /// a saddle, or hidden by rounding.
    fn judge(&mut self, taken: &LineStep) -> Option<Verdict> {
        let measure = self.assess();
        let Self { potential, it, projecting, termination, .. } = self;
        let mut verdict = termination.update(measure, taken);
        // where nothing moves any more although nothing is in the way, rounding of positions may be all that is left
        if verdict == Verdict::Stalled(StepOutcome::StalledLineSearch)
            && Balance::new(potential, it, &potential.gradient(it), 0.0).is_met
        {
            verdict = Verdict::Settled(StepOutcome::RoundOff);
        }
        let definite = projecting.is_definite(potential);
        let is_doubtful = match verdict {
            Verdict::Settled(StepOutcome::Converged) => {
                termination.wants_balance() && termination.is_near_saddle(measure, definite)
            }
            Verdict::Settled(StepOutcome::RoundOff) if projecting.give_up() => {
                termination.look_again();
                true
            }
            _ => false,
        };
        (!is_doubtful).then_some(verdict)
    }

    /// The measure by which the minimisation ends, see [`Termination::update`]. The report gets the balance of forces where all else
    /// says that the minimum is reached.
    fn assess(&mut self) -> f64 {
        let Self { potential, it, work, termination, here, .. } = self;
        let context = &potential.context;
        let mut measure = work.report.residual_speed / context.velocity_tolerance;
        if let (Some(norm), Some(tolerance)) =
            (&context.model.characteristic, context.settings.solver.characteristic_tolerance())
        {
            let gradient = here.gradient.insert(potential.gradient(it));
            let norm = norm.of(gradient, context.elastic_scale);
            work.report.characteristic_norm = Some(norm);
            measure = norm / tolerance;
        }
        if measure < 1.0 && termination.wants_balance() && potential.allows(Strategy::End) {
            let gradient = here.gradient.get_or_insert_with(|| potential.gradient(it));
            let balance = Balance::new(potential, it, gradient, context.force_tolerance);
            measure = termination.with_balance(measure, &balance);
        }
        measure
    }

    /// What follows from a verdict: prescribed vertices are pulled on, bodies come to rest or go on; or the outcome.
    fn go_on(
        &mut self,
        verdict: Verdict,
        p: &[Vec3],
        taken: &LineStep,
    ) -> Result<Option<StepOutcome>, StepError> {
        let Self { potential, it, work, islands, termination, here, .. } = self;
        let context = potential.context;
        let speed = Some(work.report.residual_speed);
        if prescribed::advance(potential, it, verdict, speed, termination.is_stuck())?.is_some() {
            *here = Known::default();
            return Ok(None);
        }
        match verdict {
            Verdict::Continue => {
                if islands.as_ref().is_some_and(|i| i.rest(potential, it, p, taken, work)) {
                    *here = Known::default();
                }
                Ok(None)
            }
            Verdict::Settled(_) if potential.is_restricted() => {
                Islands::resume(potential, it, work);
                *here = Known::default();
                *termination = Termination::new(&context);
                Ok(None)
            }
            Verdict::Settled(outcome) | Verdict::Stalled(outcome) => Ok(Some(outcome)),
        }
    }
}

/// The Newton direction, of which `report.residual_speed` becomes the size: a direction that is small enough to end the
/// minimisation is computed again as accurately as the solver can.
fn accurate_direction(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    gradient: &[Vec3],
    projecting: &mut Projecting,
    forcing: &mut Forcing,
    work: &mut Workspace,
) -> Result<Vec<Vec3>, StepError> {
    let (time, tolerance) = (potential.context.speed_time, potential.context.velocity_tolerance);
    let mut p = projecting.direction(potential, it, gradient, forcing, work)?;
    let is_small = |p: &[Vec3]| measure(potential, p) / time < tolerance;
    let mut small = is_small(&p);
    if small && potential.context.force_tolerance < 1.0 && !projecting.is_definite(potential) {
        // the matrix is now another one than that of `p` if it is indefinite, and this direction will not be the last one
        match projecting.direction_by_hessian(potential, it, gradient, forcing, work)? {
            Some(better) => (small, p) = (is_small(&better), better),
            None => small = false,
        }
    }
    if work.linear.is_iterative() && small && forcing.tighten() {
        p = match improve(potential, gradient, &p, forcing, work) {
            Some(p) => p,
            None => projecting.direction(potential, it, gradient, forcing, work)?,
        };
    }
    projecting.note(&p);
    forcing.relax();
    work.report.residual_speed = measure(potential, &p) / time;
    if !work.report.residual_speed.is_finite() || !p.iter().flatten().all(|c| c.is_finite()) {
        return Err(not_finite("the Newton direction", potential, it));
    }
    Ok(p)
}
