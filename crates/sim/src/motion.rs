//! Prescribed motions: where a scene wants vertices to be, as functions of time.

use crate::body::Body;
use crate::definition::expression::{Expression, VectorExpression};
use crate::definition::{Condition, Motion, Pivot, PrescribedDef};
use crate::error::BuildError;
use crate::rails;
use crate::state::State;
use standoff_linalg::nalgebra::{Rotation3, Unit};
use standoff_linalg::{Mat3, Vec3};

/// A prescribed motion with scene-wide vertices.
#[derive(Debug, Clone)]
pub struct PrescribedMotion {
    /// Name for messages.
    pub name: String,
    /// Scene-wide vertices: those that a scene selects, or the control points of a rigid body.
    pub vertices: Vec<u32>,
    /// Those that the scene selects, the middle of which a rotation may be about.
    outline: Vec<u32>,
    motion: Motion,
    /// An orthonormal basis of the directions in which it prescribes; empty for all.
    pub(crate) along: Vec<Vec3>,
    /// Centre of the vertices' bounding box at the start, m.
    start_centre: Vec3,
    /// Mean of the vertices at the start, m.
    start_mean: Vec3,
    t0: f64,
    t1: f64,
    until: Option<Condition>,
}

impl Condition {
    /// Whether it holds at positions `x` (`#V`).
    fn holds(&self, all: &[Body], x: &[Vec3]) -> bool {
        match self {
            Condition::AllBeyond { bodies, normal, offset } => bodies
                .iter()
                .all(|&b| x[all[b].vertices.clone()].iter().all(|p| normal.dot(p) > *offset)),
        }
    }
}

impl PrescribedMotion {
    /// Checks a definition against its body; `start` are the scene's start positions.
    pub(crate) fn new(
        definition: &PrescribedDef,
        bodies: &[Body],
        start: &[Vec3],
    ) -> Result<Self, BuildError> {
        let body = &bodies[definition.body];
        let outline = body.scene_wide(&definition.name, &definition.vertices)?;
        let vertices = body.moved(&definition.name, &definition.vertices)?;
        if let (true, Motion::Sequence { .. }) = (body.rigid, &definition.motion) {
            let problem = format!(
                "'{}' gives the positions of vertices step by step, which a rigid body cannot follow; move it by velocities or expressions",
                definition.name
            );
            return Err(BuildError::Body { body: body.name.clone(), problem });
        }
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
            start_centre: centre(outline.iter().map(|&v| start[v as usize])),
            start_mean: mean(&vertices, start),
            vertices,
            outline,
            motion: definition.motion.clone(),
            along: match rails::basis(&definition.along) {
                all if all.len() == 3 => Vec::new(),
                some => some,
            },
            t0: definition.t0,
            t1: definition.t1,
            until: definition.until.clone(),
        })
    }

    /// Mean displacement of its vertices from the start to positions `x` (`#V`), m.
    pub fn displacement(&self, x: &[Vec3]) -> Vec3 {
        mean(&self.vertices, x) - self.start_mean
    }

    /// Whether it acts in the step that starts at `t`, unless it has ended.
    pub(crate) fn due(&self, t: f64) -> bool {
        self.t0 <= t && t < self.t1
    }

    /// Whether its end condition holds at positions `x` (`#V`).
    pub(super) fn has_met_its_end(&self, bodies: &[Body], x: &[Vec3]) -> bool {
        self.until.as_ref().is_some_and(|c| c.holds(bodies, x))
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
    pub(super) fn spin(&self, state: &State, h: f64) -> Vec3 {
        match &self.motion {
            Motion::Fixed | Motion::Sequence { .. } => Vec3::zeros(),
            Motion::Rigid { angular, .. } => angular * h,
            Motion::Expression { translation, axis, angle, .. } => {
                let before = self.pose_before(translation, angle, state, h).1;
                axis * (angle.at(state.next_time(h)) - before)
            }
        }
    }

    /// The part of a vector in the directions that it prescribes.
    pub(crate) fn own_part(&self, d: Vec3) -> Vec3 {
        match self.along.is_empty() {
            true => d,
            false => self.along.iter().map(|n| n * n.dot(&d)).sum(),
        }
    }

    /// Adds the displacement from the target at `t` to that at `t + h`.
    pub(super) fn add_displacement(&self, state: &State, h: f64, target: &mut [Vec3]) {
        let mut add = |v: u32, d: Vec3| target[v as usize] += self.own_part(d);
        let at = |v: u32| state.targets[v as usize];
        match &self.motion {
            Motion::Fixed => {}
            Motion::Rigid { linear, angular, pivot } => {
                let centre = match pivot {
                    Pivot::Point(p) => p + (state.time - self.t0.max(0.0)).max(0.0) * linear,
                    Pivot::StartCentre => {
                        self.start_centre + (state.time - self.t0.max(0.0)).max(0.0) * linear
                    }
                    Pivot::CurrentCentre => centre(self.outline.iter().map(|&v| at(v))),
                };
                let turn = rotation(angular, h) - Mat3::identity();
                for &v in &self.vertices {
                    add(v, turn * (at(v) - centre) + h * linear);
                }
            }
            Motion::Expression { translation, axis, angle, pivot } => {
                let end = state.next_time(h);
                let (d0, a0) = self.pose_before(translation, angle, state, h);
                let (d1, a1) = (translation.at(end), angle.at(end));
                let centre = match pivot {
                    Pivot::Point(p) => p + d0,
                    Pivot::StartCentre => self.start_centre + d0,
                    Pivot::CurrentCentre => centre(self.outline.iter().map(|&v| at(v))),
                };
                let turn = rotation(axis, a1 - a0) - Mat3::identity();
                for &v in &self.vertices {
                    add(v, turn * (at(v) - centre) + (d1 - d0));
                }
            }
            Motion::Sequence { frames } => {
                if let Some(frame) = frames.get(state.step).or(frames.last()) {
                    for (&v, p) in self.vertices.iter().zip(frame) {
                        add(v, p - at(v));
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

fn mean(vertices: &[u32], x: &[Vec3]) -> Vec3 {
    vertices.iter().map(|&v| x[v as usize]).sum::<Vec3>() / vertices.len() as f64
}
