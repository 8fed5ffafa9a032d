//! Angles that turn on beyond half a turn. An arc tangent gives them in (−π, π] only; a bending energy
//! that is quadratic in such an angle would jump where it passes 180°, and the jump would act as a wall.

use std::f64::consts::{PI, TAU};

/// How an angle goes on: within half a turn of what it was at the start of the step, at which whole turns
/// are counted.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Turning {
    /// The angle of the arc tangent at the start of the step, rad.
    start: f64,
    /// Whole turns that the angle had beyond that.
    turns: f64,
}

impl Turning {
    /// From an angle of the arc tangent (rad) at the start of a step, and whole turns beyond it.
    pub fn new(start: f64, turns: i32) -> Self {
        Self { start, turns: f64::from(turns) }
    }

    /// Start (rad) and whole turns, for lanes.
    pub(super) fn parts(&self) -> [f64; 2] {
        [self.start, self.turns]
    }

    /// Whole turns that belong to an angle of the arc tangent, rad.
    #[inline]
    fn whole(&self, angle: f64) -> f64 {
        let way = angle - self.start;
        let more = if way < -PI {
            1.0
        } else if way > PI {
            -1.0
        } else {
            0.0
        };
        self.turns + more
    }

    /// The angle that goes on, rad.
    #[inline]
    pub fn of(&self, angle: f64) -> f64 {
        angle + TAU * self.whole(angle)
    }

    /// Whole turns that belong to an angle of the arc tangent, rad: what the next step begins with.
    pub fn turns(&self, angle: f64) -> i32 {
        self.whole(angle) as i32
    }
}
