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
    /// Accelerations, m/s² (`#V`); at the start those of gravity and elasticity.
    pub a: Vec<Vec3>,
    /// Positions one step earlier, m (`#V`); `x` at the start.
    pub x_previous: Vec<Vec3>,
    /// Velocities one step earlier, m/s (`#V`); `v` at the start.
    pub v_previous: Vec<Vec3>,
    /// Where the script wants each prescribed vertex, m (`#V`); equals `x` where nothing is
    /// prescribed. Prescribed vertices end a step within 0.1 % of the way to it.
    pub scripted: Vec<Vec3>,
    /// Whether a vertex was prescribed in the last step (`#V`).
    pub held: Vec<bool>,
    /// Whether a prescription has met its end condition, in the order of the scripts.
    pub ended: Vec<bool>,
}

impl State {
    /// Time at the end of the step that starts here, s.
    pub fn next_time(&self, h: f64) -> f64 {
        (self.step + 1) as f64 * h
    }

    /// The state before the first step.
    pub fn start(x: Vec<Vec3>, v: Vec<Vec3>, scripts: usize) -> Self {
        Self {
            step: 0,
            time: 0.0,
            a: vec![Vec3::zeros(); x.len()],
            x_previous: x.clone(),
            v_previous: v.clone(),
            scripted: x.clone(),
            held: vec![false; x.len()],
            ended: vec![false; scripts],
            x,
            v,
        }
    }
}
