//! Angles that turn on beyond half a turn. An arc tangent gives them in (−π, π] only; a bending energy
//! that is quadratic in such an angle would jump where it passes 180°, and the jump would act as a wall.

use standoff_linalg::Real;
use std::f64::consts::{PI, TAU};

/// How an angle goes on: within half a turn of what it was at the start of the step, at which whole turns
/// are counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Turning<R = f64> {
    /// The angle of the arc tangent at the start of the step, rad.
    pub(super) start: R,
    /// Whole turns that the angle had beyond that.
    pub(super) turns: R,
}

impl Turning {
    /// From an angle of the arc tangent (rad) at the start of a step, and whole turns beyond it.
    pub fn new(start: f64, turns: i32) -> Self {
        Self { start, turns: f64::from(turns) }
    }

    /// Whole turns that belong to an angle of the arc tangent, rad: what the next step begins with.
    pub fn turns(&self, angle: f64) -> i32 {
        self.whole(angle) as i32
    }
}

impl<R: Real> Turning<R> {
    /// Whole turns that belong to an angle of the arc tangent, rad.
    #[inline(always)]
    fn whole(&self, angle: R) -> R {
        let change = angle - self.start;
        let (none, half) = (change.constant(0.0), change.constant(PI));
        let fewer = R::select(half.lt(change), none - 1.0, none);
        self.turns + R::select(change.lt(-half), none + 1.0, fewer)
    }

    /// The angle that goes on, rad.
    #[inline(always)]
    pub(super) fn of(&self, angle: R) -> R {
        angle + self.whole(angle) * TAU
    }
}
