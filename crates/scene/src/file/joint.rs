//! Joints between rigid bodies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_sim::definition::JointKind;

/// A joint between two rigid bodies, or between the world and one.
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
    /// The joint's point at the start, m.
    #[schemars(extend("x-unit" = "m"))]
    pub point: [f64; 3],
    /// Direction of the joint's axis at the start, of any length; of a planar joint the normal of the plane. Spherical and fixed joints have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<[f64; 3]>,
    /// Whether the two bodies touch each other. By default they pass through each other, as joints are mostly inside of them.
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
        Self { name: String::new(), kind, bodies, point, axis: None, collide: false }
    }
}
