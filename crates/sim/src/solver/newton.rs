//! Projected Newton with a filtered line search [Li 2020, Alg. 1].
//!
//! Every iterate is free of intersections and inversions: the step length starts below the first
//! time of impact and below the first inversion, and is halved until the potential falls.

use super::balance::Balance;
use super::direction::{improve, measure, not_finite};
use super::line_search::{self, LineStep};
use super::prescribed;
use super::saddle;
use super::speedups::{Forcing, Speedups};
use super::termination::{Termination, Verdict};
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{Energy, IncrementalPotential, Strategy};
use crate::report::StepOutcome;
use crate::solver::workspace::Workspace;
use crate::thresholds::{ESCAPES, LOOSEST};
use standoff_linalg::Vec3;

/// Minimises `potential` from `it`, which becomes the last iterate.
///
/// Stops after the step whose Newton direction p has ‖p‖∞/h below the tolerance [Li 2020, Alg. 1] if forces balance at its end
/// ([`Balance`]), the Hessian was positive definite without projection, so that the error left is of second order, and the direction that
/// follows is shorter. Without
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
    Speedups::end(potential, it, work);
    result
}

/// A minimisation under way.
struct Newton<'n, 'p> {
    potential: &'n mut IncrementalPotential<'p>,
    it: &'n mut Iterate,
    work: &'n mut Workspace,
    /// What saves iterations and time.
    speedups: Speedups<'p>,
    /// When the minimisation ends.
    termination: Termination,
    here: Known,
    /// Saddles that were left.
    escapes: u32,
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
        let termination = Termination::new(&potential.context);
        let speedups = Speedups::new(potential, termination.is_by_direction());
        let (here, escapes) = (Known::default(), 0);
        Self { potential, it, work, speedups, termination, here, escapes }
    }

    /// Newton's method [Li 2020, Alg. 1]: direction, step length, κ, and whether that was the last iteration.
    fn iterate(&mut self) -> Result<StepOutcome, StepError> {
        for _ in 0..self.potential.context.settings.solver.end.max_iterations {
            let (p, gradient) = self.direction()?;
            let taken = self.advance(&p, &gradient)?;
            if self.will_look_closer(&taken) {
                continue;
            }
            let stiffened = self.potential.end_iteration(self.it);
            // at the end of a whole step the forces of joints are those that its direction foresaw
            if taken.alpha == 1.0 && self.potential.follow_joints(&self.it.x) || stiffened {
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
        let Self { potential, it, work, speedups, here, .. } = self;
        work.report.newton_iterations += 1;
        work.report.resting_iterations += u64::from(potential.is_restricted());
        let gradient = here.gradient.take().unwrap_or_else(|| potential.gradient(it));
        let p = speedups.direction(potential, it, &gradient, work)?;
        Ok((p, gradient))
    }

    /// Goes along `p` as far as the line search says, and forecasts forces for the next Hessian.
    fn advance(&mut self, p: &[Vec3], gradient: &[Vec3]) -> Result<LineStep, StepError> {
        let Self { potential, it, work, here, .. } = self;
        potential.begin_iteration(it);
        let max_contacts = &mut work.report.max_contacts;
        *max_contacts = (*max_contacts).max(it.contacts.len() as u64);
        Speedups::forecast_friction(potential, it, p);
        let taken = line_search::search(potential, it, p, gradient, here.value, work);
        here.value = taken.value;
        Speedups::forecast_contacts(potential, it, p, &taken, work);
        match taken.finite {
            true => Ok(taken),
            false => Err(not_finite("the potential", potential, it)),
        }
    }

    /// Whether a step that moved nothing calls for a direction that is more accurate, or by the projected Hessian.
    fn will_look_closer(&mut self, taken: &LineStep) -> bool {
        taken.alpha == 0.0 && self.speedups.look_closer(self.work)
    }

    /// Whether the minimum is reached, by the size of the direction and the balance of forces. None where what looks like the end may be
    /// a saddle, or hidden by rounding.
    fn judge(&mut self, taken: &LineStep) -> Option<Verdict> {
        let measure = self.assess();
        let Self { potential, it, speedups, termination, .. } = self;
        let mut verdict = termination.update(measure, taken);
        // where nothing moves any more although nothing is in the way, rounding of positions may be all that is left
        if verdict == Verdict::Stalled(StepOutcome::StalledLineSearch)
            && Balance::new(potential, it, &potential.gradient(it), 0.0).is_met
        {
            verdict = Verdict::Settled(StepOutcome::RoundOff);
        }
        let definite = speedups.is_definite(potential);
        let is_doubtful = match verdict {
            Verdict::Settled(StepOutcome::Converged) if termination.wants_balance() => {
                termination.is_near_saddle(measure, definite) || self.leads_on()
            }
            Verdict::Settled(StepOutcome::RoundOff) if speedups.project_all() => {
                termination.look_again();
                true
            }
            _ => false,
        };
        (!is_doubtful).then_some(verdict)
    }

    /// Whether the next direction, by the matrix of the last one, is so long that the last one does not tell how far the minimum is: where contact
    /// is stiff, the little of its forces that a direction leaves unbalanced may move what is soft further than that direction, and a matrix
    /// that is too stiff makes each direction too short. The report gets the longer of both.
    fn leads_on(&mut self) -> bool {
        let Self { potential, it, work, termination, here, .. } = self;
        if potential.is_restricted() {
            // all go on together before the end
            return false;
        }
        let gradient = here.gradient.get_or_insert_with(|| potential.gradient(it));
        let none = vec![Vec3::zeros(); gradient.len()];
        let mut forcing = Forcing::exact(LOOSEST);
        let Some(next) = improve(potential, gradient, &none, &mut forcing, work) else {
            return false;
        };
        let tolerance = potential.context.velocity_tolerance;
        let next = measure(potential, &next) / (potential.context.speed_time * tolerance);
        let last = work.report.residual_speed / tolerance;
        // where the residual is rounding, so are directions
        let is_rounding = || Balance::new(potential, it, gradient, 0.0).is_met;
        let leads_on = termination.leads_on(last, next) && (next >= 1.0 || !is_rounding());
        if !leads_on {
            work.report.residual_speed = next.max(last) * tolerance;
        }
        leads_on
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

    /// Leaves a saddle, where forces balance and the Hessian is not positive definite; whether there was one. With inertia, what is unstable
    /// grows in the course of steps; a step that seeks a lower minimum would go further than that takes it.
    fn leave_saddle(&mut self) -> Result<bool, StepError> {
        let Self { potential, it, work, speedups, termination, here, escapes } = self;
        work.report.saddle = false;
        if !termination.wants_balance() {
            return Ok(false);
        }
        let gradient = here.gradient.get_or_insert_with(|| potential.gradient(it));
        if !speedups.may_be_at_saddle(potential, work) {
            return Ok(false);
        }
        if potential.context.settings.time.scheme().inertial() {
            // it stays there, and says so
            saddle::find(potential, it, gradient, work)?;
            return Ok(false);
        }
        *escapes += 1;
        work.report.saddle = *escapes > ESCAPES;
        Ok(!work.report.saddle && saddle::leave(potential, it, gradient, work)?)
    }

    /// What follows from a verdict: joints are closed, prescribed vertices are pulled on, bodies come to rest or go on; or the outcome.
    fn go_on(
        &mut self,
        verdict: Verdict,
        p: &[Vec3],
        taken: &LineStep,
    ) -> Result<Option<StepOutcome>, StepError> {
        let Self { potential, it, work, speedups, termination, here, .. } = self;
        let context = potential.context;
        let speed = Some(work.report.residual_speed);
        if prescribed::advance(potential, it, verdict, speed, termination.is_stuck())?.is_some() {
            *here = Known::default();
            return Ok(None);
        }
        match verdict {
            Verdict::Continue => {
                if speedups.rest(potential, it, p, taken, work) {
                    *here = Known::default();
                }
                Ok(None)
            }
            Verdict::Settled(_) if potential.is_restricted() => {
                Speedups::end(potential, it, work);
                *here = Known::default();
                *termination = Termination::new(&context);
                Ok(None)
            }
            Verdict::Settled(outcome) if outcome.is_minimum() => {
                if !self.leave_saddle()? && !close_joints(self.potential, self.it)? {
                    return Ok(Some(outcome));
                }
                self.here = Known::default();
                self.termination = Termination::new(&context);
                Ok(None)
            }
            Verdict::Settled(outcome) | Verdict::Stalled(outcome) => Ok(Some(outcome)),
        }
    }
}

/// Tightens the joints that are still open at the minimum; whether there are some.
///
/// # Errors
/// `OpenJoint` where that has long been in vain.
fn close_joints(potential: &mut IncrementalPotential<'_>, it: &Iterate) -> Result<bool, StepError> {
    potential.tighten_joints(&it.x).ok_or_else(|| {
        let worst = potential.joints().worst(&it.x);
        let (joint, error) = worst.map_or_else(Default::default, |(j, e)| (j.name.clone(), e));
        StepError::OpenJoint { step: potential.context.step, joint, error }
    })
}
