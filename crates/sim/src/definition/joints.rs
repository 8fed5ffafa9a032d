//! Joints between rigid bodies, and between them and regions of soft ones.

use super::expression::Expression;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;
use std::fmt;

/// A joint between two rigid bodies, or between the world and one. In the place of one of the two may be a region of a solid, a shell or a rod,
/// which the joint makes rigid.
#[derive(Clone, PartialEq)]
pub struct JointDef {
    /// Name, unique among the joints, for messages and output.
    pub name: String,
    /// What it lets free.
    pub kind: JointKind,
    /// Index of the body to which the axis belongs; `None` for the world.
    pub parent: Option<usize>,
    /// Index of the other body. Coordinates are those of this body relative to the parent, forces those on this body.
    pub child: usize,
    /// The vertices at which the joint holds the parent and the child: a region of a body that is not rigid; empty for the world and for a
    /// rigid body, which it holds as a whole.
    pub regions: [Vec<u32>; 2],
    /// The joint's point at the start, m; of a distance that of the parent.
    pub point: Vec3,
    /// Direction of its axis at the start, of any length: of a planar joint the normal of the plane. Spherical and fixed joints read none.
    pub axis: Vec3,
    /// The point of a distance on the child at the start, m.
    pub second_point: Vec3,
    /// The axis of a universal joint on the child at the start, of any length, at right angles to the axis.
    pub second_axis: Vec3,
    /// Whether the two bodies touch each other as any others do. Otherwise they do not, or where one is soft, not with what touches its region.
    pub collide: bool,
    /// The value of the angle or of the displacement at the start, rad or m.
    pub start: f64,
    /// The least and the greatest value of the coordinate of a joint that has one, rad or m. Of a distance without, the length stays what it is.
    pub limits: Option<[f64; 2]>,
    /// Damping of that coordinate, N m s/rad or N s/m.
    pub damping: f64,
    /// Dry friction of it, N m or N.
    pub friction: f64,
    /// Inertia of what turns or slides with that coordinate, such as the rotor of a motor through its gear, kg m² or kg.
    pub armature: f64,
    /// What pulls it back.
    pub spring: Option<JointSpring>,
    /// What moves it.
    pub drive: Option<DriveDef>,
    /// Which other joint it follows.
    pub mimic: Option<MimicDef>,
    /// The force, N, and the moment about its point, N m, that its equations bear at most: with more at the end of a step the joint breaks.
    /// Infinite for none.
    pub breaking_force: f64,
    /// See `breaking_force`.
    pub breaking_moment: f64,
}

impl JointDef {
    /// A joint at a point, with an axis of which spherical and fixed ones read none, and nothing along its coordinate.
    pub fn new(
        name: impl Into<String>,
        kind: JointKind,
        parent: Option<usize>,
        child: usize,
        point: Vec3,
        axis: Vec3,
    ) -> Self {
        Self {
            name: name.into(),
            kind,
            parent,
            child,
            regions: Default::default(),
            point,
            axis,
            second_point: point,
            second_axis: Vec3::zeros(),
            collide: false,
            start: 0.0,
            limits: None,
            damping: 0.0,
            friction: 0.0,
            armature: 0.0,
            spring: None,
            drive: None,
            mimic: None,
            breaking_force: f64::INFINITY,
            breaking_moment: f64::INFINITY,
        }
    }

    /// Whether it breaks under some force or moment.
    pub fn may_break(&self) -> bool {
        self.breaking_force.min(self.breaking_moment) < f64::INFINITY
    }

    /// The bodies that it joins, the world left out, each with the region at which it does.
    pub fn sides(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let [on_parent, on_child] = &self.regions;
        let parent = self.parent.map(|b| (b, on_parent.as_slice()));
        parent.into_iter().chain([(self.child, on_child.as_slice())])
    }

    /// Whether it holds a region of a soft body.
    pub fn has_region(&self) -> bool {
        self.regions.iter().any(|r| !r.is_empty())
    }

    /// The value of its coordinate at the start, if it has one.
    pub fn start_value(&self) -> f64 {
        match self.kind {
            JointKind::Distance => (self.second_point - self.point).norm(),
            _ => self.start,
        }
    }

    /// Whether the joint has exactly one coordinate, so that limits, damping, friction, drives and couplings can act along it.
    pub fn has_coordinate(&self) -> bool {
        match self.kind {
            JointKind::Revolute | JointKind::Prismatic => true,
            JointKind::Distance => self.limits.is_some(),
            _ => false,
        }
    }
}

impl fmt::Debug for JointDef {
    /// Without regions and breaking forces where there are none: the fingerprints of runs are made of this text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("JointDef");
        all.field("name", &self.name)
            .field("kind", &self.kind)
            .field("parent", &self.parent)
            .field("child", &self.child)
            .field("point", &self.point)
            .field("axis", &self.axis)
            .field("second_point", &self.second_point)
            .field("second_axis", &self.second_axis)
            .field("collide", &self.collide)
            .field("start", &self.start)
            .field("limits", &self.limits)
            .field("damping", &self.damping)
            .field("friction", &self.friction)
            .field("armature", &self.armature)
            .field("spring", &self.spring)
            .field("drive", &self.drive)
            .field("mimic", &self.mimic);
        if self.has_region() {
            all.field("regions", &self.regions);
        }
        if self.may_break() {
            all.field("breaking", &[self.breaking_force, self.breaking_moment]);
        }
        all.finish()
    }
}

/// A drive: the force τ = k (s* − s) + d (v* − ṡ) + τ₀ along the coordinate s of a joint, of which no more than a greatest magnitude acts.
/// The rate ṡ is that of the integrator.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveDef {
    /// s*, rad or m; without, nothing pulls at the coordinate itself.
    pub position: Option<Expression>,
    /// v*, rad/s or m/s; without 0.
    pub velocity: Option<Expression>,
    /// τ₀, N m or N; without 0.
    pub effort: Option<Expression>,
    /// k, N m/rad or N/m.
    pub stiffness: f64,
    /// d, N m s/rad or N s/m.
    pub damping: f64,
    /// The greatest magnitude of τ, N m or N; infinite for none.
    pub max_effort: f64,
}

/// A spring along the coordinate s of a joint: the force k (s₀ − s).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointSpring {
    /// k, N m/rad or N/m.
    pub stiffness: f64,
    /// s₀, rad or m.
    pub rest: f64,
}

/// A coordinate that follows another one: s = ratio · s' + offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MimicDef {
    /// Index of the joint with the coordinate s'.
    pub joint: usize,
    /// The ratio: of a pair of gears minus that of their radii, of a rack the radius of its pinion.
    pub ratio: f64,
    /// The offset, rad or m.
    pub offset: f64,
}

/// A tendon: the coordinate L = Σ c s of joints with the coordinates s, along which the same acts as along those of joints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TendonDef {
    /// Name, unique among joints and tendons, for messages and output.
    pub name: String,
    /// Indices of the joints, each once, and the factors c of their coordinates.
    pub joints: Vec<(usize, f64)>,
    /// The least and the greatest value of L: rad or m, as the factors have it.
    pub limits: Option<[f64; 2]>,
    /// Damping: force per rate of L.
    pub damping: f64,
    /// Dry friction: the force up to which L holds.
    pub friction: f64,
    /// What pulls L back.
    pub spring: Option<JointSpring>,
    /// What moves L.
    pub drive: Option<DriveDef>,
}

impl TendonDef {
    /// Its coordinate at the start.
    pub fn start(&self, joints: &[JointDef]) -> f64 {
        self.joints.iter().map(|(k, factor)| factor * joints[*k].start_value()).sum()
    }
}

/// What a joint lets free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JointKind {
    /// Turns about a point.
    Spherical,
    /// Turns about an axis.
    Revolute,
    /// Nothing.
    Fixed,
    /// Displacements along an axis.
    Prismatic,
    /// Displacements along an axis and turns about it.
    Cylindrical,
    /// Displacements in a plane and turns about its normal.
    Planar,
    /// Turns about two axes at right angles, one on each body.
    Universal,
    /// Everything, as long as two points keep their distance, or a distance within limits.
    Distance,
}

impl JointKind {
    /// How it is called in a scene file.
    pub fn key(self) -> &'static str {
        match self {
            Self::Spherical => "spherical",
            Self::Revolute => "revolute",
            Self::Fixed => "fixed",
            Self::Prismatic => "prismatic",
            Self::Cylindrical => "cylindrical",
            Self::Planar => "planar",
            Self::Universal => "universal",
            Self::Distance => "distance",
        }
    }

    /// Whether it has an axis.
    pub fn has_axis(self) -> bool {
        !matches!(self, Self::Spherical | Self::Fixed | Self::Distance)
    }
}
