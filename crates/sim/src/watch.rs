//! What a program may see of a step that is under way, and how it ends it.

use standoff_linalg::Vec3;
use std::ops::ControlFlow;

/// A step in one of its iterations.
#[derive(Debug, Clone, Copy)]
pub struct Iteration<'a> {
    /// Number of the step, from 1.
    pub step: u64,
    /// Number of the iteration that is under way, from 1: of Newton's method, or of the method that takes its place.
    pub number: u64,
    /// Largest nodal Newton direction of the iteration before, divided by h, m/s; none before the first one.
    pub residual_speed: Option<f64>,
    /// The Newton tolerance ε_d, m/s.
    pub tolerance: f64,
    /// Positions of the iterate, m (`#V`); with `admm-pd` those at the start of the step.
    pub positions: &'a [Vec3],
}

/// Is called in every iteration before its linear system is solved; where that is tried several times, before each of them.
/// [`ControlFlow::Break`] ends the step with [`StepError::Cancelled`](crate::StepError::Cancelled). It sees the step, and
/// changes nothing of it.
pub type Watcher = Box<dyn FnMut(&Iteration<'_>) -> ControlFlow<()> + Send>;
