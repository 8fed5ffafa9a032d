//! What changes from step to step, and nothing else: a checkpoint holds exactly this.

use standoff_linalg::Vec3;

/// The state of a simulation after `step` steps.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State {
    /// Number of completed steps.
    pub step: usize,
    /// Time, s: `step · h`.
    pub time: f64,
    /// Positions, m (`#V`).
    pub x: Vec<Vec3>,
    /// Velocities, m/s (`#V`).
    pub v: Vec<Vec3>,
    /// Where the script wants each prescribed vertex, m (`#V`); equals `x` where nothing is
    /// prescribed. Prescribed vertices end a step within 0.1 % of the way to it.
    pub scripted: Vec<Vec3>,
}
