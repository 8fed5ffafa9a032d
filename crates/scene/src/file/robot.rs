//! Robots that become objects and joints of a scene.

use super::{DriveSection, Rotation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A robot (URDF) or a model of MuJoCo (MJCF): its links become rigid objects, and its joints joints of the scene.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RobotSection {
    /// Its file, relative to the scene file.
    pub file: String,
    /// Written with a slash before the names of its objects and joints, so that a scene may have several of one file; without it they have
    /// those of the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Rotation about the origin of the file, as of an object. Robots have z up, scenes y unless their gravity says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotate: Option<Rotation>,
    /// Translation after rotation, m.
    #[schemars(extend("x-unit" = "m"))]
    #[serde(skip_serializing_if = "super::is_default")]
    pub translate: [f64; 3],
    /// Keyframe of MJCF at which it starts, by its name or its number from 0: coordinates, velocities, and what actuators are told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyframe: Option<String>,
    /// Whether its meshes touch as their convex hulls, as in MuJoCo, and not as they are.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub hulls: bool,
    /// Where joints start, by their names in the file, rad or m, also in place of what the keyframe says.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pose: BTreeMap<String, f64>,
    /// What moves joints and tendons, by their names in the file. What is not given here stays as the file has it, such as the greatest effort.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub drives: BTreeMap<String, DriveSection>,
}
