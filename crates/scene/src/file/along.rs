//! Directions in which vertices are held or moved.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Directions: an axis, a vector, or several of these.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Along {
    /// An axis.
    Axis(AxisName),
    /// A vector of any length.
    Vector([f64; 3]),
    /// Several.
    Several(Vec<Direction>),
}

/// An axis of the scene.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AxisName {
    /// x.
    X,
    /// y.
    Y,
    /// z.
    Z,
}

/// A direction: an axis or a vector.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Direction {
    /// An axis.
    Axis(AxisName),
    /// A vector of any length.
    Vector([f64; 3]),
}

impl AxisName {
    fn vector(self) -> [f64; 3] {
        match self {
            Self::X => [1.0, 0.0, 0.0],
            Self::Y => [0.0, 1.0, 0.0],
            Self::Z => [0.0, 0.0, 1.0],
        }
    }

    /// The axis of a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "x" => Some(Self::X),
            "y" => Some(Self::Y),
            "z" => Some(Self::Z),
            _ => None,
        }
    }
}

impl Along {
    /// The directions as vectors.
    pub fn vectors(&self) -> Vec<[f64; 3]> {
        match self {
            Self::Axis(axis) => vec![axis.vector()],
            Self::Vector(v) => vec![*v],
            Self::Several(all) => all
                .iter()
                .map(|d| match d {
                    Direction::Axis(axis) => axis.vector(),
                    Direction::Vector(v) => *v,
                })
                .collect(),
        }
    }
}
