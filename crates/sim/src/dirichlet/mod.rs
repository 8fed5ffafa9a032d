//! Prescribed motion: where the script wants each vertex, and the augmented Lagrangian that takes
//! it there when something is in the way [Li 2020, suppl. E].

use crate::definition::expression::{Expression, VectorExpression};
use crate::definition::{Condition, Motion, Pivot, PrescribedDef};
use crate::error::{BuildError, StepError};
use crate::model::{Body, Model, globalise};
use crate::potential::IncrementalPotential;
use crate::report::StepReport;
use crate::solver::Iterate;
use crate::state::State;
use standoff_linalg::nalgebra::{Rotation3, Unit};
use standoff_linalg::{Mat3, Vec3};

/// A prescribed motion with scene-wide vertices.
#[derive(Debug, Clone)]
pub struct Script {
    /// Name for messages.
    pub name: String,
    /// Scene-wide vertices.
    pub vertices: Vec<u32>,
    motion: Motion,
    /// Centre of the vertices' bounding box at the start, m.
    start_centre: Vec3,
    t0: f64,
    t1: f64,
    until: Option<Condition>,
}

impl Condition {
    /// Whether it holds at positions `x` (`#V`).
    fn holds(&self, model: &Model, x: &[Vec3]) -> bool {
        match self {
            Condition::AllBeyond { bodies, normal, offset } => bodies.iter().all(|&b| {
                x[model.bodies[b].vertices.clone()].iter().all(|p| normal.dot(p) > *offset)
            }),
        }
    }
}

impl Script {
    /// Checks a definition against its body; `start` are the scene's start positions.
    pub(crate) fn new(
        definition: &PrescribedDef,
        bodies: &[Body],
        start: &[Vec3],
    ) -> Result<Self, BuildError> {
        let body = &bodies[definition.body];
        let vertices = globalise(&definition.name, body, &definition.vertices)?;
        if let Motion::Sequence { frames } = &definition.motion
            && let Some(k) = frames.iter().position(|f| f.len() != vertices.len())
        {
            let problem = format!(
                "'{}': frame {k} of the sequence has {} positions for {} vertices",
                definition.name,
                frames[k].len(),
                vertices.len()
            );
            return Err(BuildError::Body { body: body.name.clone(), problem });
        }
        Ok(Self {
            name: definition.name.clone(),
            start_centre: centre(vertices.iter().map(|&v| start[v as usize])),
            vertices,
            motion: definition.motion.clone(),
            t0: definition.t0,
            t1: definition.t1,
            until: definition.until.clone(),
        })
    }

    /// Whether it acts in the step that starts at `t`, unless it has ended.
    fn due(&self, t: f64) -> bool {
        self.t0 <= t && t < self.t1
    }

    /// Whether its expressions have no finite value in a step from `t` to `end` in which it acts.
    pub(crate) fn undefined(&self, t: f64, end: f64) -> bool {
        let Motion::Expression { translation, angle, .. } = &self.motion else { return false };
        self.due(t)
            && !(translation.at(end).iter().all(|c| c.is_finite()) && angle.at(end).is_finite())
    }

    /// Translation and angle of an expression at the end of the last step: zero if that was before
    /// it began.
    fn pose_before(
        &self,
        translation: &VectorExpression,
        angle: &Expression,
        state: &State,
        h: f64,
    ) -> (Vec3, f64) {
        let acted = state.step > 0 && self.due((state.step - 1) as f64 * h);
        if acted {
            (translation.at(state.time), angle.at(state.time))
        } else {
            (Vec3::zeros(), 0.0)
        }
    }

    /// Rotation vector of its motion in the step, rad.
    fn spin(&self, state: &State, h: f64) -> Vec3 {
        match &self.motion {
            Motion::Fixed | Motion::Sequence { .. } => Vec3::zeros(),
            Motion::Rigid { angular, .. } => angular * h,
            Motion::Expression { translation, axis, angle, .. } => {
                let before = self.pose_before(translation, angle, state, h).1;
                axis * (angle.at(state.next_time(h)) - before)
            }
        }
    }

    /// Adds the displacement from the scripted positions at `t` to those at `t + h`.
    fn add_displacement(&self, state: &State, h: f64, target: &mut [Vec3]) {
        let at = |v: u32| state.scripted[v as usize];
        match &self.motion {
            Motion::Fixed => {}
            Motion::Rigid { linear, angular, pivot } => {
                let centre = match pivot {
                    Pivot::Point(p) => p + (state.time - self.t0.max(0.0)).max(0.0) * linear,
                    Pivot::StartCentre => {
                        self.start_centre + (state.time - self.t0.max(0.0)).max(0.0) * linear
                    }
                    Pivot::CurrentCentre => centre(self.vertices.iter().map(|&v| at(v))),
                };
                let turn = rotation(angular, h) - Mat3::identity();
                for &v in &self.vertices {
                    target[v as usize] += turn * (at(v) - centre) + h * linear;
                }
            }
            Motion::Expression { translation, axis, angle, pivot } => {
                let end = state.next_time(h);
                let (d0, a0) = self.pose_before(translation, angle, state, h);
                let (d1, a1) = (translation.at(end), angle.at(end));
                let centre = match pivot {
                    Pivot::Point(p) => p + d0,
                    Pivot::StartCentre => self.start_centre + d0,
                    Pivot::CurrentCentre => centre(self.vertices.iter().map(|&v| at(v))),
                };
                let turn = rotation(axis, a1 - a0) - Mat3::identity();
                for &v in &self.vertices {
                    target[v as usize] += turn * (at(v) - centre) + (d1 - d0);
                }
            }
            Motion::Sequence { frames } => {
                if let Some(frame) = frames.get(state.step).or(frames.last()) {
                    for (&v, p) in self.vertices.iter().zip(frame) {
                        target[v as usize] += p - at(v);
                    }
                }
            }
        }
    }
}

fn rotation(angular: &Vec3, h: f64) -> Mat3 {
    match Unit::try_new(*angular, 0.0) {
        Some(axis) => Rotation3::from_axis_angle(&axis, angular.norm() * h).into_inner(),
        None => Mat3::identity(),
    }
}

fn centre(points: impl Iterator<Item = Vec3>) -> Vec3 {
    let start = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    let (low, high) = points.fold(start, |(l, h), p| (l.inf(&p), h.sup(&p)));
    0.5 * (low + high)
}

/// After a Newton iteration: holds the prescribed vertices once they have arrived, else tightens
/// their constraints whenever the minimisation has `settled` under the present ones.
///
/// # Errors
/// `BlockedMotion` where tightening has long brought no progress.
pub(crate) fn advance(
    potential: &mut IncrementalPotential<'_>,
    it: &Iterate,
    settled: bool,
    report: &StepReport,
) -> Result<(), StepError> {
    let Some(equality) = &mut potential.equality else { return Ok(()) };
    let progress = equality.progress(&it.x);
    if progress >= ARRIVED {
        potential.release();
    } else if settled {
        if equality.blocked(progress) {
            return Err(blocked(potential, it, report));
        }
        equality.update(&it.x);
    }
    Ok(())
}

/// The error of a motion that something blocks: the vertex furthest from its target names the
/// script, the closest pair that involves a constrained vertex the obstacle.
pub(crate) fn blocked(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    report: &StepReport,
) -> StepError {
    let model = potential.model;
    let progress = potential.equality.as_ref().map_or(1.0, |e| e.progress(&it.x));
    let furthest = potential.equality.as_ref().and_then(|e| e.furthest(&it.x)).map(|(v, _)| v);
    let name = model.scripts.iter().find(|s| furthest.is_some_and(|v| s.vertices.contains(&v)));
    let closest = potential.describe_closest(it);
    StepError::BlockedMotion {
        step: report.step as usize,
        name: name.map_or_else(|| "(unnamed)".into(), |s| s.name.clone()),
        progress: 100.0 * progress.max(0.0),
        reason: closest.unwrap_or_else(|| "elements would invert".into()),
    }
}

/// Where the vertices have to be at the end of a step.
#[derive(Debug, Clone)]
pub struct Targets {
    /// Whether a vertex is prescribed in this step (`#V`).
    pub prescribed: Vec<bool>,
    /// Its target, m (`#V`); the current position where it is not prescribed.
    pub x: Vec<Vec3>,
    /// Prescribed vertices that have to move, ascending.
    pub moving: Vec<u32>,
    /// Which scripts have met their end condition.
    pub ended: Vec<bool>,
}

impl Targets {
    /// Targets of the step that starts in `state`.
    pub fn new(model: &Model, state: &State) -> Self {
        let h = model.resolved.h;
        // obstacles are always held, deformable vertices while a script names them
        let mut prescribed: Vec<bool> = model.deformable.iter().map(|d| !d).collect();
        let mut ended = state.ended.clone();
        let mut active: Vec<&Script> = Vec::new();
        for (script, ended) in model.scripts.iter().zip(&mut ended) {
            if *ended || !script.due(state.time) {
                continue;
            }
            *ended = script.until.as_ref().is_some_and(|c| c.holds(model, &state.x));
            if !*ended {
                active.push(script);
            }
        }
        for script in &active {
            for &v in &script.vertices {
                prescribed[v as usize] = true;
            }
        }
        let mut x = state.x.clone();
        for v in (0..x.len()).filter(|&v| prescribed[v]) {
            x[v] = state.scripted[v];
        }
        for script in &active {
            script.add_displacement(state, h, &mut x);
        }
        clamp_angles(model, state, &active, &mut prescribed, &mut x);
        let moving =
            (0..x.len() as u32).filter(|&v| x[v as usize] != state.x[v as usize]).collect();
        Self { prescribed, x, moving, ended }
    }
}

/// A segment of a rod, or an edge of a shell with a normal, is clamped where both of its ends are
/// prescribed: its angle then follows the rotation that they are told. A segment without corners has no use for its angle.
fn clamp_angles(
    model: &Model,
    state: &State,
    active: &[&Script],
    prescribed: &mut [bool],
    x: &mut [Vec3],
) {
    let rods = &model.rods;
    if rods.is_empty() {
        return;
    }
    let mut spin = vec![Vec3::zeros(); rods.first_angle];
    for script in active {
        let turn = script.spin(state, model.resolved.h);
        for &v in &script.vertices {
            spin[v as usize] += turn;
        }
    }
    for (k, ends) in rods.segments.iter().enumerate() {
        let angle = rods.first_angle + k;
        let [a, b] = ends.map(|v| v as usize);
        if prescribed[a] && prescribed[b] {
            let turn = 0.5 * (spin[a] + spin[b]);
            let d = &state.directors[k];
            let grown = rods.prescribed_angle(k, &turn, d, &state.x, x);
            prescribed[angle] = true;
            x[angle].x = state.scripted[angle].x + rods.radius[k] * grown;
        } else if rods.is_lone(k) {
            prescribed[angle] = true;
        }
    }
}

/// The equality constraints x_k = x̂_k of the moving prescribed vertices as an energy
///
/// Σ_k κ_A/2 m_k ‖x_k − x̂_k‖² − √m_k λ_k·(x_k − x̂_k)   [Li 2020, suppl. Eq. 4],
///
/// in the units of the incremental potential (not scaled by s).
#[derive(Debug, Clone)]
pub struct Equality {
    /// The moving vertices.
    pub vertices: Vec<u32>,
    /// Their targets x̂, m.
    pub target: Vec<Vec3>,
    /// Their masses, kg.
    mass: Vec<f64>,
    lambda: Vec<Vec3>,
    stiffness: f64,
    /// Σ ‖x̂ − xⁿ‖².
    way2: f64,
    /// Updates since the progress last grew by `NOTICEABLE`, and that progress.
    idle: (usize, f64),
}

/// Progress at which the vertices are held where they are [Li 2020, suppl. E].
const ARRIVED: f64 = 0.999;
/// Updates without noticeable progress after which a motion counts as blocked.
const PATIENCE: usize = 60;
const NOTICEABLE: f64 = 1e-4;

impl Equality {
    /// Constraints for `targets.moving`, with zero multipliers and stiffness 1e6; `x` are the
    /// positions at the start of the step.
    pub fn new(model: &Model, targets: &Targets, x: &[Vec3]) -> Self {
        let vertices = targets.moving.clone();
        let target: Vec<Vec3> = vertices.iter().map(|&v| targets.x[v as usize]).collect();
        let mass = vertices.iter().map(|&v| model.mass[v as usize]).collect();
        let way2 = distance2(&vertices, &target, x);
        let lambda = vec![Vec3::zeros(); vertices.len()];
        Self { vertices, target, mass, lambda, stiffness: 1e6, way2, idle: (0, 0.0) }
    }

    /// Progress η_A = 1 − √(Σ‖x̂ − x‖² / Σ‖x̂ − xⁿ‖²) [Li 2020, suppl. Eq. 5].
    pub fn progress(&self, x: &[Vec3]) -> f64 {
        if self.way2 == 0.0 {
            return 1.0;
        }
        1.0 - (distance2(&self.vertices, &self.target, x) / self.way2).sqrt()
    }

    /// The vertex furthest from its target and that distance, m.
    pub fn furthest(&self, x: &[Vec3]) -> Option<(u32, f64)> {
        let distance = |(&v, target): (&u32, &Vec3)| (v, (x[v as usize] - target).norm());
        let all = self.vertices.iter().zip(&self.target).map(distance);
        all.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Stiffens the penalty or updates the multipliers [Li 2020, suppl. Alg. 1].
    pub fn update(&mut self, x: &[Vec3]) {
        if self.progress(x) < 0.99 && self.stiffness < 1e8 {
            self.stiffness *= 2.0;
            return;
        }
        for k in 0..self.vertices.len() {
            let r = x[self.vertices[k] as usize] - self.target[k];
            self.lambda[k] -= self.stiffness * self.mass[k].sqrt() * r;
        }
    }

    /// Whether updates no longer bring the vertices closer to their targets.
    fn blocked(&mut self, progress: f64) -> bool {
        self.idle = if progress > self.idle.1 + NOTICEABLE {
            (0, progress)
        } else {
            (self.idle.0 + 1, self.idle.1)
        };
        self.idle.0 > PATIENCE
    }

    /// Value of the energy.
    pub fn value(&self, x: &[Vec3]) -> f64 {
        let term = |k: usize| {
            let r = x[self.vertices[k] as usize] - self.target[k];
            0.5 * self.stiffness * self.mass[k] * r.norm_squared()
                - self.mass[k].sqrt() * self.lambda[k].dot(&r)
        };
        (0..self.vertices.len()).map(term).sum()
    }

    /// Adds the gradient.
    pub fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        for k in 0..self.vertices.len() {
            let v = self.vertices[k] as usize;
            gradient[v] += self.stiffness * self.mass[k] * (x[v] - self.target[k])
                - self.mass[k].sqrt() * self.lambda[k];
        }
    }

    /// Second derivative of each vertex' term, a multiple of the identity: κ_A m_k.
    pub fn curvature(&self, k: usize) -> f64 {
        self.stiffness * self.mass[k]
    }
}

fn distance2(vertices: &[u32], target: &[Vec3], x: &[Vec3]) -> f64 {
    vertices.iter().zip(target).map(|(&v, t)| (t - x[v as usize]).norm_squared()).sum()
}
