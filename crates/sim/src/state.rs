//! What changes from step to step, and nothing else: a checkpoint holds exactly this.

use crate::contact::{Constraint, PairForces};
use crate::controls::Controls;
use crate::energy::inelastic::Internal;
use crate::joints::{Efforts, Integrity};
use crate::past::Past;
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
    /// Accelerations, m/s² (`#V`): with Newmark, or an α below 1, those of all forces but contact, friction and limits of
    /// the stretch (of all forces with `trapezoidal_contact`); at the start those of loads and elasticity.
    pub a: Vec<Vec3>,
    /// Positions one step earlier, m (`#V`); `x` at the start.
    pub x_previous: Vec<Vec3>,
    /// Velocities one step earlier, m/s (`#V`); `v` at the start.
    pub v_previous: Vec<Vec3>,
    /// Contact and friction forces on the vertices at the end of the last step, N (`#V`). No step
    /// reads them; they are part of the results.
    pub contact_forces: Vec<Vec3>,
    /// Force (N) and torque about the origin (N m) that contact and friction exerted on each half-space
    /// at the end of the last step. No step reads them; they are part of the results.
    pub half_space_forces: Vec<[Vec3; 2]>,
    /// What contact and friction acted with at the end of the last step between each pair that touches, ascending. No step reads them;
    /// they are part of the results.
    pub pair_forces: Vec<PairForces>,
    /// Force (N) and moment about the origin (N m) with which each support acted on what it holds in the last
    /// step (`#prescribed motions`). No step reads them; they are part of the results.
    pub held_forces: Vec<[Vec3; 2]>,
    /// The same of each load (`#loads`, in the order of `Loads::names`).
    pub load_forces: Vec<[Vec3; 2]>,
    /// Barrier stiffness κ at the end of the last step, with which the contacts at `x` bear their
    /// forces; 0 at the start.
    pub kappa: f64,
    /// Where its prescribed motion takes each prescribed vertex, m (`#V`); equals `x` where nothing is
    /// prescribed. Prescribed vertices end a step within 0.1 % of the way to it.
    pub targets: Vec<Vec3>,
    /// Whether a vertex was prescribed in the last step (`#V`).
    pub prescribed: Vec<bool>,
    /// Whether a prescribed motion has met its end condition (`#prescribed motions`).
    pub ended: Vec<bool>,
    /// Active set of the barrier-free method with its multipliers; empty for others.
    pub constraints: Vec<Constraint>,
    /// Directors of the segments of rods and of the edges of shells with normals, unit vectors across
    /// them that follow their tangents (`#segments`).
    pub directors: Vec<Vec3>,
    /// Twist of the directors at the corners of rods, rad; counts whole turns (`#corners`).
    pub frame_twists: Vec<f64>,
    /// Whole turns of the angles of the hinges of shells beyond (−180°, 180°], then of the three of each shape operator
    /// (`#hinges + 3 #shape operators`).
    pub turns: Vec<i32>,
    /// What flowed of each part of the stress of solids that relaxes or yields (`#inelastic`).
    pub internal: Vec<Internal>,
    /// Consecutive steps up to this one that the barrier solver finished after the barrier-free solver had
    /// begun them.
    pub fallbacks: u64,
    /// Multipliers of the equations of the joints, N: the forces at the end of the last step, with which the next one begins.
    pub joint_multipliers: Vec<f64>,
    /// Angle (rad, whole turns included) and displacement (m) of each joint (`#joints`).
    pub joint_coordinates: Vec<[f64; 2]>,
    /// How the coordinate of each joint with an armature moves, zero of others (`#joints`).
    pub joint_motion: Vec<Past<f64>>,
    /// Which joints are broken (`#joints`, without tendons); empty where none can break.
    pub joint_integrity: Vec<Integrity>,
    /// What acted along the coordinate of each joint at the end of the last step (`#joints`).
    pub joint_efforts: Vec<Efforts>,
    /// What the user of the simulation has set in place of what the definition says.
    pub controls: Controls,
}

impl State {
    /// Time at the end of the step that starts here, s.
    pub fn next_time(&self, h: f64) -> f64 {
        (self.step + 1) as f64 * h
    }

    /// The state before the first step.
    pub fn start(x: Vec<Vec3>, v: Vec<Vec3>, motions: usize) -> Self {
        Self {
            step: 0,
            time: 0.0,
            a: vec![Vec3::zeros(); x.len()],
            x_previous: x.clone(),
            v_previous: v.clone(),
            contact_forces: vec![Vec3::zeros(); x.len()],
            half_space_forces: Vec::new(),
            pair_forces: Vec::new(),
            held_forces: Vec::new(),
            load_forces: Vec::new(),
            kappa: 0.0,
            targets: x.clone(),
            prescribed: vec![false; x.len()],
            ended: vec![false; motions],
            constraints: Vec::new(),
            fallbacks: 0,
            directors: Vec::new(),
            frame_twists: Vec::new(),
            turns: Vec::new(),
            internal: Vec::new(),
            joint_multipliers: Vec::new(),
            joint_coordinates: Vec::new(),
            joint_motion: Vec::new(),
            joint_integrity: Vec::new(),
            joint_efforts: Vec::new(),
            controls: Controls::default(),
            x,
            v,
        }
    }

    /// Whether it can be a later state of the simulation that starts in `start` with the time step
    /// `h`, s: every list has its length, every number is finite, the time is that of the step.
    ///
    /// # Errors
    /// A sentence that says what does not fit.
    // long: a check for each part of a state
    pub fn check(&self, start: &State, h: f64) -> Result<(), String> {
        for ((name, list), (_, expected)) in self.vectors().iter().zip(start.vectors()) {
            let (found, expected) = (list.len(), expected.len());
            if found != expected {
                return Err(format!("{name} of {found} vertices instead of {expected}"));
            }
            if let Some(v) = list.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
                return Err(format!("{name} of vertex {v} are not finite"));
            }
        }
        if self.prescribed.len() != start.prescribed.len() || self.ended.len() != start.ended.len()
        {
            return Err("another number of vertices or of prescribed motions".into());
        }
        if !(self.kappa.is_finite() && self.kappa >= 0.0) {
            return Err(format!("a barrier stiffness of {}", self.kappa));
        }
        let rods = (self.directors.len(), self.frame_twists.len());
        if rods != (start.directors.len(), start.frame_twists.len()) {
            return Err("another number of segments or corners of rods".into());
        }
        let finite = self.directors.iter().flatten().chain(&self.frame_twists);
        if !finite.into_iter().all(|c| c.is_finite()) {
            return Err("directors or twists of rods are not finite".into());
        }
        if self.turns.len() != start.turns.len() {
            return Err("another number of hinges or shape operators of shells".into());
        }
        if self.internal.len() != start.internal.len() {
            return Err("another number of internal variables of solids".into());
        }
        let finite =
            |i: &Internal| i.plastic_strain.is_finite() && i.inverse.iter().all(|c| c.is_finite());
        if !self.internal.iter().all(finite) {
            return Err("internal variables of solids are not finite".into());
        }
        if self.half_space_forces.len() != start.half_space_forces.len() {
            return Err("another number of half-spaces".into());
        }
        if self.held_forces.len() != start.held_forces.len() {
            return Err("forces of another number of prescribed motions".into());
        }
        if self.load_forces.len() != start.load_forces.len() {
            return Err("forces of another number of loads".into());
        }
        let joints = [&self, &start]
            .map(|s| (s.joint_multipliers.len(), s.joint_coordinates.len(), s.joint_efforts.len()));
        if joints[0] != joints[1] || self.joint_motion.len() != start.joint_motion.len() {
            return Err("another number of joints".into());
        }
        if self.joint_integrity.len() != start.joint_integrity.len() {
            return Err("another number of joints that can break".into());
        }
        let finite = self.joint_multipliers.iter().chain(self.joint_coordinates.iter().flatten());
        let motion = self.joint_motion.iter();
        let motion = motion.flat_map(|p| [p.x, p.v, p.x_previous, p.v_previous]);
        if !finite.copied().chain(motion).all(f64::is_finite) {
            return Err("forces or coordinates of joints are not finite".into());
        }
        self.controls.check(&start.controls)?;
        let time = self.step as f64 * h;
        if self.time.to_bits() != time.to_bits() {
            return Err(format!("time {} s after {} steps of {h} s", self.time, self.step));
        }
        Ok(())
    }

    /// Every quantity of the vertices, with its name in the plural.
    pub fn vectors(&self) -> [(&'static str, &Vec<Vec3>); 7] {
        [
            ("positions", &self.x),
            ("velocities", &self.v),
            ("accelerations", &self.a),
            ("earlier positions", &self.x_previous),
            ("earlier velocities", &self.v_previous),
            ("contact forces", &self.contact_forces),
            ("targets", &self.targets),
        ]
    }
}
