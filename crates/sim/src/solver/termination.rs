//! When a minimisation ends.

use super::line_search::{LineStep, StepLimit};
use crate::report::StepOutcome;
use crate::step::context::StepContext;

/// Consecutive iterations that move by less than `TINY` of the Newton direction before the
/// minimisation counts as stalled. Our choice: none of the scenes and tests has more than a few dozen
/// before it goes on.
const PATIENCE: usize = 200;
const TINY: f64 = 1e-8;

/// Consecutive iterations without a decrease above round-off, or of the direction, after which the minimum is reached to
/// working precision. Our choice: the gradient's own rounding may hide one or two decreases.
const ROUND_OFF_ITERATIONS: usize = 4;

/// Part of the smallest direction so far below which a direction counts as progress.
const SHRINKING: f64 = 0.5;

/// Part of the tolerance below which a direction counts as taken in full, whatever its step length: rounding
/// of positions is in sight.
pub const NEGLIGIBLE: f64 = 1e-3;

/// The state of the tests that end a projected Newton minimisation.
#[derive(Debug, Clone)]
pub struct Termination {
    /// Newton tolerance, m/s, or that of the characteristic norm.
    tolerance: f64,
    /// Whether the characteristic norm ends the minimisation.
    by_gradient: bool,
    /// Consecutive directions that have to be below it.
    consecutive: u32,
    cumulative_toi: Option<f64>,
    iterations: usize,
    /// Consecutive directions below the tolerance whose steps were taken in full.
    below: u32,
    /// Consecutive iterations without a decrease above round-off.
    within_round_off: usize,
    /// The smallest direction so far, m/s.
    least: f64,
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
        match solver.characteristic_tolerance() {
            Some(norm) => Self::by(norm, true, 1, solver.cumulative_toi),
            None => {
                let tolerance = context.velocity_tolerance;
                Self::by(tolerance, false, solver.consecutive, solver.cumulative_toi)
            }
        }
    }

    fn by(
        tolerance: f64,
        by_gradient: bool,
        consecutive: u32,
        cumulative_toi: Option<f64>,
    ) -> Self {
        Self {
            tolerance,
            by_gradient,
            consecutive,
            cumulative_toi,
            iterations: 0,
            below: 0,
            within_round_off: 0,
            least: f64::INFINITY,
            tiny: 0,
            first_states: 1.0,
        }
    }

    /// Judges an iteration whose Newton direction over h was `speed` (m/s) and whose step was `taken`; where
    /// the characteristic norm ends the minimisation, `speed` is that norm after the step.
    pub fn update(&mut self, speed: f64, taken: &LineStep) -> Verdict {
        let LineStep { alpha, limit, within_round_off, .. } = *taken;
        // the direction may still shrink where the potential shows nothing any more
        let shrinks = speed < SHRINKING * self.least;
        self.least = self.least.min(speed);
        let hidden = within_round_off || speed < self.tolerance && alpha < TINY;
        let idle = hidden && !shrinks;
        self.within_round_off = if idle { self.within_round_off + 1 } else { 0 };
        let full = alpha == 1.0 || speed < NEGLIGIBLE * self.tolerance;
        let below = speed < self.tolerance && (full || self.by_gradient);
        self.below = if below { self.below + 1 } else { 0 };
        self.tiny = if alpha < TINY { self.tiny + 1 } else { 0 };
        if self.iterations > 0 {
            self.first_states *= 1.0 - alpha;
        }
        self.iterations += 1;
        let invisible = self.within_round_off >= ROUND_OFF_ITERATIONS;
        if self.below >= self.consecutive || invisible && speed < self.tolerance {
            Verdict::Settled(StepOutcome::Converged)
        } else if self.cumulative_toi.is_some_and(|epsilon| self.first_states < epsilon) {
            Verdict::Settled(StepOutcome::TimeOfImpact)
        } else if invisible || alpha == 0.0 && within_round_off {
            Verdict::Settled(StepOutcome::RoundOff)
        } else if alpha == 0.0 || self.tiny >= PATIENCE {
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

    /// Whether only the size of a direction ends the minimisation.
    pub fn is_by_direction(&self) -> bool {
        !self.by_gradient && self.cumulative_toi.is_none()
    }

    /// Whether tiny steps alone are a reason to stop, in a minimisation that continues after it settled.
    pub fn is_stuck(&self) -> bool {
        self.tiny >= PATIENCE
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

    /// A step along a direction of `speed` whose decrease is lost in round-off.
    fn hidden(speed: f64) -> (f64, LineStep) {
        let limit = StepLimit::None;
        let [alpha, slope, decrease] = [0.5, -1e-30, 0.0];
        let (within_round_off, finite, value) = (true, true, None);
        (speed, LineStep { alpha, limit, within_round_off, finite, slope, decrease, value })
    }

    #[test]
    fn round_off_ends_a_minimisation_after_four_iterations_and_four_more_where_it_looks_again() {
        let mut termination = Termination::by(1e-3, false, 1, None);
        let ends = |termination: &mut Termination| {
            let (speed, step) = hidden(1.0);
            termination.update(speed, &step) == Verdict::Settled(StepOutcome::RoundOff)
        };
        // the first direction counts as progress
        assert_eq!([(); 5].map(|()| ends(&mut termination)), [false, false, false, false, true]);
        termination.look_again();
        assert_eq!([(); 5].map(|()| ends(&mut termination)), [false, false, false, false, true]);
    }

    #[test]
    fn only_without_other_criteria_does_the_direction_end_a_minimisation() {
        let ends = |by_gradient, cumulative_toi| {
            Termination::by(1e-3, by_gradient, 1, cumulative_toi).is_by_direction()
        };
        assert!(ends(false, None));
        assert!(!ends(true, None));
        assert!(!ends(false, Some(1e-3)));
        assert!(!ends(true, Some(1e-3)));
    }
}
