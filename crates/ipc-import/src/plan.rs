//! What a reference scene amounts to: bodies with their positions, and what is done to which of
//! their vertices when. [`crate::definition`] and [`crate::scene_file`] write it down in two ways.

use crate::meshes::{Content, Source};
use standoff_linalg::{Mat3, Vec3};
use standoff_mesh::Mesh;
use standoff_sim::definition::{Condition, Pivot};
use standoff_sim::material::Material;
use standoff_sim::settings::Settings;
use std::path::PathBuf;
use std::sync::Arc;

/// A scene with all numbers computed.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The shapes in order, then the obstacles.
    pub bodies: Vec<PlannedBody>,
    /// How many of the bodies are shapes.
    pub shapes: usize,
    /// Half-spaces with their coefficient of friction.
    pub half_spaces: Vec<PlannedHalfSpace>,
    /// Gravity, m/s².
    pub gravity: Vec3,
    /// Settings with absolute lengths.
    pub settings: Settings,
    /// Whether shapes touch themselves and each other.
    pub self_collision: bool,
    /// ℓ: diagonal of the rest bounding box of the elastic shapes, m.
    pub length: f64,
    /// Frames are written every so many steps.
    pub every: u32,
}

/// A half-space.
#[derive(Debug, Clone)]
pub(crate) struct PlannedHalfSpace {
    pub origin: Vec3,
    pub normal: Vec3,
    pub friction: f64,
}

/// A shape, a copy of a matrix, or an obstacle.
#[derive(Debug, Clone)]
pub(crate) struct PlannedBody {
    /// Its line.
    pub line: usize,
    /// Name of the body, unique.
    pub name: String,
    /// Its mesh.
    pub source: Source,
    /// The matrix that it is a copy of.
    pub matrix: Option<MatrixMember>,
    /// How the mesh is placed at rest.
    pub placement: Placement,
    /// How the start follows from the rest, if it differs.
    pub turned: Option<Turn>,
    /// Rest positions, m.
    pub rest: Vec<Vec3>,
    /// Start positions, m.
    pub start: Vec<Vec3>,
    /// Density and law of a solid.
    pub material: (f64, Material),
    /// Velocity (m/s) and angular velocity (rad/s) at the start.
    pub velocity: (Vec3, Vec3),
    /// What is done to it.
    pub actions: Vec<Action>,
}

impl PlannedBody {
    /// Whether it is elastic.
    pub fn elastic(&self) -> bool {
        self.source.content == Content::Volume
    }
}

/// Membership in a `shapeMatrix`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatrixMember {
    /// Name of the matrix.
    pub name: String,
    /// Numbers of copies.
    pub counts: [u32; 3],
    /// Spacing of the copies, m.
    pub spacing: Vec3,
}

/// The placement p ↦ Rx·Ry·Rz·(scale ∘ p) + translate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Placement {
    pub scale: Vec3,
    /// Degrees.
    pub rotate: Vec3,
    pub translate: Vec3,
}

/// The rigid motion x ↦ Q·x + translate from rest to start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Turn {
    /// Axis of Q, of length 1.
    pub axis: Vec3,
    /// Angle of Q, degrees.
    pub angle: f64,
    pub translate: Vec3,
}

/// Something that is done to vertices of a body for a time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Action {
    /// A word for messages, such as "left".
    pub name: String,
    /// The vertices, not empty.
    pub vertices: Vec<u32>,
    /// The same as a region.
    pub region: Region,
    pub effect: Effect,
    /// Acts in the steps that start at t0 ≤ t < t1, s.
    pub t0: f64,
    pub t1: f64,
    /// Ends it for good.
    pub until: Option<Condition>,
    /// What a reader should know.
    pub comment: Option<String>,
}

/// What is done to vertices.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// They are held.
    Hold,
    /// They move.
    Rigid { linear: Vec3, angular: Vec3, pivot: Pivot },
    /// They follow a folder of meshes.
    Sequence { folder: PathBuf, frames: Vec<Arc<Mesh>> },
    /// They are accelerated.
    Accelerate(Vec3),
}

/// Vertices of a body in terms of positions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Region {
    /// All of them.
    All,
    /// Those in a box given as fractions of the bounding box of the file.
    Fractions([Vec3; 2]),
    /// Those in a box of scene coordinates at the start.
    Box([Vec3; 2]),
    /// Named one by one.
    List,
}

/// Corners of the bounding box of points; (∞, −∞) for none.
pub(crate) fn bounds<'a>(points: impl IntoIterator<Item = &'a Vec3>) -> (Vec3, Vec3) {
    let empty = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    points.into_iter().fold(empty, |(lo, hi), p| (lo.inf(p), hi.sup(p)))
}

/// Rx·Ry·Rz for angles in degrees.
pub(crate) fn euler(degrees: &Vec3) -> Mat3 {
    let turn = |axis, angle| axis_angle(&axis, angle);
    turn(Vec3::x(), degrees.x) * turn(Vec3::y(), degrees.y) * turn(Vec3::z(), degrees.z)
}

/// Rotation about an axis of length 1 by an angle in degrees; exact at multiples of 90°.
pub(crate) fn axis_angle(axis: &Vec3, degrees: f64) -> Mat3 {
    let (sin, cos) = match degrees.rem_euclid(360.0) {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        180.0 => (0.0, -1.0),
        270.0 => (-1.0, 0.0),
        d => d.to_radians().sin_cos(),
    };
    // Rodrigues: R = cos·I + sin·[a]× + (1 − cos)·a·aᵀ
    cos * Mat3::identity() + sin * axis.cross_matrix() + (1.0 - cos) * axis * axis.transpose()
}
