//! What the next step has to know of something that moves.

use standoff_linalg::Vec3;
use std::ops::{Add, Div, Mul, Sub};

/// What moves: a point, or a coordinate.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<f64, Output = Self> + Div<f64, Output = Self>
{
}

impl Number for Vec3 {}
impl Number for f64 {}

/// Where something was at the end of the last step and of the one before, with its rates, and its second derivative at the end of the last one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Past<T> {
    /// At the end of the last step.
    pub x: T,
    /// Its rate.
    pub v: T,
    /// Its second derivative.
    pub a: T,
    /// At the end of the step before.
    pub x_previous: T,
    /// Its rate.
    pub v_previous: T,
}

impl Past<f64> {
    /// As if it had moved uniformly up to now.
    pub fn uniform(x: f64, v: f64, h: f64) -> Self {
        Self { x, v, a: 0.0, x_previous: x - v * h, v_previous: v }
    }
}
