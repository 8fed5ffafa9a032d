//! Joints between rigid bodies or regions of soft ones, and mass properties of rigid bodies.

use super::{Formula, Selection};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_sim::definition::JointKind;
use std::collections::BTreeMap;

/// A joint between two rigid bodies, or between the world and one. One of the two may be a solid, a shell or a rod, which the joint holds at some
/// of its vertices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointSection {
    /// Name for messages and results; numbered by default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What the joint lets free.
    pub kind: JointKind,
    /// The bodies: `["upper", "lower"]`, of which the first carries the axis and the second is moved, or `["arm"]` for a joint with the
    /// world. An object with copies is not enough: one copy is meant, `link[3,0,0]`.
    pub bodies: Vec<String>,
    /// Of a body that is not rigid, by its name, the vertices at which the joint holds it, and which it makes rigid:
    /// `{ wheel = { box = { min = [0, 0, 0], max = [1, 1, 1] } } }`, or the name of a region. What touches them does not touch the other body.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub vertices: BTreeMap<String, Selection>,
    /// The joint's point at the start, m; of a distance that on the first body, or of the world.
    #[schemars(extend("x-unit" = "m"))]
    pub point: [f64; 3],
    /// Direction of the joint's axis at the start, of any length; of a planar joint the normal of the plane. Spherical and fixed joints and distances have
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// The point of a distance on the moved body at the start, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "m"))]
    pub second_point: Option<[f64; 3]>,
    /// The axis of a universal joint on the moved body at the start, of any length, at right angles to `axis`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_axis: Option<[f64; 3]>,
    /// The angle (rad) of a revolute joint or the displacement (m) of a prismatic one at the start, from which on it counts; 0 by default.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub start: f64,
    /// The least and the greatest angle (rad) of a revolute joint, displacement (m) of a prismatic one, or distance (m), which no state
    /// passes; `-inf` and `inf` for none. A distance without limits is a rod of fixed length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
    /// Damping of that coordinate: force per rate, N m s/rad or N s/m.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub damping: f64,
    /// Dry friction of that coordinate: the moment (N m) or force (N) up to which it holds.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub friction: f64,
    /// Inertia of what turns or slides with that coordinate, such as a rotor's times the square of its gear ratio, kg m² or kg.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub armature: f64,
    /// What pulls that coordinate back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<JointSpringSection>,
    /// What moves that coordinate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveSection>,
    /// Which other joint that coordinate follows: gears, racks, the fingers of a gripper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mimic: Option<MimicSection>,
    /// The force, N, with which the joint breaks: with more at the end of a step it does nothing from then on. What it leaves out of contact
    /// touches again once it has come apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "N"))]
    pub breaking_force: Option<f64>,
    /// The moment about its point, N m, with which it breaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unit" = "N*m"))]
    pub breaking_moment: Option<f64>,
    /// Whether the two bodies touch each other. By default they pass through each other, as joints are mostly inside of them; of a body that is not
    /// rigid only what touches the vertices at which the joint holds it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collide: bool,
}

impl JointSection {
    /// A joint between bodies, at a point and without an axis.
    pub fn new<T: Into<String>>(
        kind: JointKind,
        bodies: impl IntoIterator<Item = T>,
        point: [f64; 3],
    ) -> Self {
        let bodies = bodies.into_iter().map(Into::into).collect();
        Self {
            name: String::new(),
            kind,
            bodies,
            vertices: BTreeMap::new(),
            point,
            axis: None,
            second_point: None,
            second_axis: None,
            start: 0.0,
            limits: None,
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
            spring: None,
            drive: None,
            mimic: None,
            breaking_force: None,
            breaking_moment: None,
            collide: false,
        }
    }
}

/// A tendon: the sum of the coordinates of joints, each times a factor, along which the same acts as along the coordinate of a joint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TendonSection {
    /// Name for messages and results, another one than that of a joint; numbered by default.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The joints by name, with the factors of their coordinates: `{ left = 0.5, right = 0.5 }`.
    pub joints: BTreeMap<String, f64>,
    /// The least and the greatest value of the sum, which no state passes; `-inf` and `inf` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
    /// Damping: force per rate of the sum.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub damping: f64,
    /// Dry friction: the force up to which the sum holds.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub friction: f64,
    /// What pulls the sum back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spring: Option<JointSpringSection>,
    /// What moves the sum.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<DriveSection>,
}

/// A motor or a servo: it acts with stiffness · (position − s) + damping · (velocity − rate of s) + effort along the coordinate s of its
/// joint, but never with more than `max_effort`. The three targets may be formulas of the time t.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveSection {
    /// Where the coordinate goes to, rad or m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Formula>,
    /// How fast it goes, rad/s or m/s; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub velocity: Option<Formula>,
    /// What is added, N m or N; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Formula>,
    /// Force per deviation from the position, N m/rad or N/m.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub stiffness: f64,
    /// Force per deviation from the velocity, N m s/rad or N s/m.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub damping: f64,
    /// The greatest magnitude of what the drive acts with, N m or N; none by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_effort: Option<f64>,
}

/// A spring along the coordinate s of a joint: it acts with stiffness · (rest − s).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JointSpringSection {
    /// Force per deviation, N m/rad or N/m.
    pub stiffness: f64,
    /// Where it is without force, rad or m; 0 by default.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub rest: f64,
}

/// A coordinate that is ratio times that of another joint, plus an offset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MimicSection {
    /// Name of the other joint.
    pub joint: String,
    /// The ratio, rad/rad, m/rad, rad/m or m/m: of two gears minus that of their radii, of a rack the radius of its pinion in m.
    #[serde(default = "one")]
    pub ratio: f64,
    /// The offset, rad or m.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub offset: f64,
}

fn one() -> f64 {
    1.0
}

/// Mass properties of a rigid body in the coordinates of its mesh, placed with it; a scale changes lengths and leaves the mass.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InertialSection {
    /// Mass, kg.
    #[schemars(extend("x-unit" = "kg"))]
    pub mass: f64,
    /// Centre of mass, m.
    #[schemars(extend("x-unit" = "m"))]
    pub centre: [f64; 3],
    /// The inertia tensor about the centre, kg m²: xx, yy, zz, and xy, xz, yz where the axes are not the principal ones.
    pub inertia: Vec<f64>,
}
