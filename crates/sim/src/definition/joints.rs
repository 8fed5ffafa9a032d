//! Joints between rigid bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;

/// A joint between two rigid bodies, or between the world and one.
#[derive(Debug, Clone, PartialEq)]
pub struct JointDef {
    /// Name, unique among the joints, for messages and output.
    pub name: String,
    /// What it lets free.
    pub kind: JointKind,
    /// Index of the body to which the axis belongs; `None` for the world.
    pub parent: Option<usize>,
    /// Index of the other body. Coordinates are those of this body relative to the parent, forces those on this body.
    pub child: usize,
    /// The joint's point at the start, m.
    pub point: Vec3,
    /// Direction of its axis at the start, of any length: of a planar joint the normal of the plane. Spherical and fixed joints read none.
    pub axis: Vec3,
    /// Whether the two bodies touch each other as any others do.
    pub collide: bool,
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
        }
    }

    /// Whether it has an axis.
    pub fn has_axis(self) -> bool {
        !matches!(self, Self::Spherical | Self::Fixed)
    }

    /// Whether it turns about its axis.
    pub fn turns(self) -> bool {
        matches!(self, Self::Revolute | Self::Cylindrical | Self::Planar)
    }

    /// Whether it slides along its axis.
    pub fn slides(self) -> bool {
        matches!(self, Self::Prismatic | Self::Cylindrical)
    }
}
