//! When a minimisation ends.

use super::balance::Balance;
use super::line_search::LineStep;
use super::path::StepLimit;
use crate::context::StepContext;
use crate::report::StepOutcome;
use crate::thresholds::{
    CONTRACTION, IMPERCEPTIBLE, NEGLIGIBLE, ROUND_OFF_ITERATIONS, SADDLES, SHRINKING, SLOW_ENDS,
    TINY, TINY_STEPS,
};

/// The state of the tests that end a projected Newton minimisation.
#[derive(Debug, Clone)]
pub struct Termination {
    /// Whether the characteristic norm ends the minimisation.
    by_gradient: bool,
    /// Part of the acting forces to which those on each body have to balance; 1 where that is no criterion.
    force_tolerance: f64,
    /// Consecutive measures that have to be below 1.
    consecutive: u32,
    cumulative_toi: Option<f64>,
    iterations: usize,
    /// Consecutive measures below 1.
    below: u32,
    /// Consecutive iterations without a decrease above round-off.
    within_round_off: usize,
    /// The smallest measure so far.
    least: f64,
    /// Iterations that went on because the Hessian was not positive definite.
    saddles: u32,
    /// Iterations that went on because the next direction was not short beside the last one.
    slow: u32,
    /// Consecutive iterations of tiny step lengths.
    tiny: usize,
    /// Weight of the states before the second iteration's in the last one, Π (1 − α).
    first_states: f64,
}

/// What follows from an iteration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Another iteration.
    Continue,
    /// The minimum is reached: as accurately as required, to working precision, or by step lengths.
    Settled(StepOutcome),
    /// No progress is possible.
    Stalled(StepOutcome),
}

impl Termination {
    /// Before the first iteration of a minimisation.
    pub fn new(context: &StepContext<'_>) -> Self {
        let solver = &context.settings.solver;
        let by_gradient = solver.characteristic_tolerance().is_some();
        let consecutive = if by_gradient { 1 } else { solver.end.consecutive };
        Self::by(by_gradient, context.force_tolerance, consecutive, solver.end.cumulative_toi)
    }

    fn by(
        by_gradient: bool,
        force_tolerance: f64,
        consecutive: u32,
        cumulative_toi: Option<f64>,
    ) -> Self {
        Self {
            by_gradient,
            force_tolerance,
            consecutive,
            cumulative_toi,
            iterations: 0,
            below: 0,
            within_round_off: 0,
            least: f64::INFINITY,
            saddles: 0,
            slow: 0,
            tiny: 0,
            first_states: 1.0,
        }
    }

    /// Raises a `measure` below 1, of the direction or the characteristic norm, by how far forces are from `balance` in terms of
    /// its tolerance.
    pub fn with_balance(&self, measure: f64, balance: &Balance) -> f64 {
        match balance.is_met {
            true => measure,
            // what is not a number is no balance
            false => (balance.imbalance / self.force_tolerance).max(1.0),
        }
    }

    /// Whether forces have to balance.
    pub fn wants_balance(&self) -> bool {
        self.force_tolerance < 1.0
    }

    /// Judges an iteration whose step was `taken`. Its `measure` is below 1 where the minimum is reached as accurately as the settings
    /// ask for: the size of the Newton direction in terms of its tolerance, or that of the characteristic norm after the step; and
    /// the balance of forces after the step.
    pub fn update(&mut self, measure: f64, taken: &LineStep) -> Verdict {
        let LineStep { alpha, limit, within_round_off, .. } = *taken;
        // the direction may still shrink where the potential shows nothing any more
        let shrinks = measure < SHRINKING * self.least;
        self.least = self.least.min(measure);
        let hidden = within_round_off || measure < 1.0 && alpha < TINY;
        let idle = hidden && !shrinks;
        self.within_round_off = if idle { self.within_round_off + 1 } else { 0 };
        // a direction alone tells nothing of where a shortened step leads
        let full = alpha == 1.0 || measure < NEGLIGIBLE;
        let below = measure < 1.0 && (full || self.by_gradient || self.wants_balance());
        self.below = if below { self.below + 1 } else { 0 };
        self.tiny = if alpha < TINY { self.tiny + 1 } else { 0 };
        if self.iterations > 0 {
            self.first_states *= 1.0 - alpha;
        }
        self.iterations += 1;
        let invisible = self.within_round_off >= ROUND_OFF_ITERATIONS;
        if self.below >= self.consecutive || invisible && measure < 1.0 {
            Verdict::Settled(StepOutcome::Converged)
        } else if self.cumulative_toi.is_some_and(|epsilon| self.first_states < epsilon) {
            Verdict::Settled(StepOutcome::TimeOfImpact)
        } else if invisible || alpha == 0.0 && within_round_off {
            Verdict::Settled(StepOutcome::RoundOff)
        } else if alpha == 0.0 || self.tiny >= TINY_STEPS {
            Verdict::Stalled(stall(limit))
        } else {
            Verdict::Continue
        }
    }

    /// Counts iterations within round-off from the beginning: directions that are computed in another way may show more.
    pub fn look_again(&mut self) {
        self.within_round_off = 0;
        self.least = f64::INFINITY;
    }

    /// Whether an iteration that ends the minimisation should be followed by another one, because the Hessian was not positive
    /// definite where it ended: the iterate may be close to a saddle. Not from a saddle itself, where no direction leads on.
    pub fn is_near_saddle(&mut self, measure: f64, is_definite: bool) -> bool {
        let near = !is_definite && measure > NEGLIGIBLE && self.saddles < SADDLES;
        self.saddles += u32::from(near);
        near
    }

    /// Whether an iteration that ends the minimisation should be followed by another one, because the direction after it is hardly shorter than
    /// the `last` one; both in terms of the tolerance.
    pub fn leads_on(&mut self, last: f64, next: f64) -> bool {
        let slow = next > CONTRACTION * last && next > IMPERCEPTIBLE && self.slow < SLOW_ENDS;
        self.slow += u32::from(slow);
        slow || next >= 1.0
    }

    /// Whether only the size of a direction ends the minimisation.
    pub fn is_by_direction(&self) -> bool {
        !self.by_gradient && self.cumulative_toi.is_none()
    }

    /// Whether tiny steps alone are a reason to stop, in a minimisation that continues after it settled.
    pub fn is_stuck(&self) -> bool {
        self.tiny >= TINY_STEPS
    }
}

/// The outcome of a minimisation that makes no progress because of a limit.
pub fn stall(limit: StepLimit) -> StepOutcome {
    match limit {
        StepLimit::Inversion => StepOutcome::StalledInversion,
        StepLimit::Contact | StepLimit::HalfSpace => StepOutcome::StalledCcd,
        StepLimit::None => StepOutcome::StalledLineSearch,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step with a `measure` whose decrease is lost in round-off.
    fn hidden(measure: f64) -> (f64, LineStep) {
        let limit = StepLimit::None;
        let [alpha, slope, decrease] = [0.5, -1e-30, 0.0];
        let (within_round_off, finite, value) = (true, true, None);
        (measure, LineStep { alpha, limit, within_round_off, finite, slope, decrease, value })
    }

    #[test]
    fn round_off_ends_a_minimisation_after_four_iterations_and_four_more_where_it_looks_again() {
        let mut termination = Termination::by(false, 1.0, 1, None);
        let ends = |termination: &mut Termination| {
            let (measure, step) = hidden(1000.0);
            termination.update(measure, &step) == Verdict::Settled(StepOutcome::RoundOff)
        };
        // the first direction counts as progress
        assert_eq!([(); 5].map(|()| ends(&mut termination)), [false, false, false, false, true]);
        termination.look_again();
        assert_eq!([(); 5].map(|()| ends(&mut termination)), [false, false, false, false, true]);
    }

    /// A direction that is not followed by a shorter one ends nothing, except below what anyone sees, or after ten more.
    #[test]
    fn slow_ends_go_on() {
        let new = || Termination::by(false, 1e-4, 1, None);
        assert!(!new().leads_on(0.1, 0.04));
        assert!(new().leads_on(0.1, 0.06));
        assert!(!new().leads_on(1e-6, 9e-6));
        let mut termination = new();
        assert_eq!((0..20).filter(|_| termination.leads_on(0.1, 0.2)).count(), 10);
        // beyond the tolerance there is no end
        assert!(termination.leads_on(0.1, 1.1));
    }

    #[test]
    fn only_without_other_criteria_does_the_direction_end_a_minimisation() {
        let ends = |by_gradient, cumulative_toi| {
            Termination::by(by_gradient, 1.0, 1, cumulative_toi).is_by_direction()
        };
        assert!(ends(false, None));
        assert!(!ends(true, None));
        assert!(!ends(false, Some(1e-3)));
        assert!(!ends(true, Some(1e-3)));
    }
}
