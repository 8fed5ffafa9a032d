//! The number of dimensions of a simulation.
//!
//! Two dimensions are the plane z = 0 of three: positions stay 3-vectors with z = 0, solids are triangles
//! under plane strain (`energy/plane_strain.rs`), surfaces are outlines (`CollisionMesh::planar`), and
//! `validate/plane.rs` refuses what has no form there. Terms, solvers and the step do not know of it, but
//! for [`Dimension::flatten`] and the pattern of the Newton matrix, whose rows have two unknowns (`solver/assembly.rs`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;

/// Number of dimensions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(with = "u8", extend("enum" = [2, 3]))]
pub enum Dimension {
    /// The plane z = 0 under plane strain, per metre of depth.
    Two,
    /// Space.
    #[default]
    Three,
}

impl Dimension {
    /// Whether the simulation takes place in the plane z = 0.
    #[inline]
    pub fn is_planar(self) -> bool {
        self == Self::Two
    }

    /// Takes out of displacements what rounding in a linear solver may have left along z.
    pub(crate) fn flatten(self, mut p: Vec<Vec3>) -> Vec<Vec3> {
        if self.is_planar() {
            p.iter_mut().for_each(|p| p.z = 0.0);
        }
        p
    }
}

impl From<Dimension> for u8 {
    fn from(dimension: Dimension) -> u8 {
        match dimension {
            Dimension::Two => 2,
            Dimension::Three => 3,
        }
    }
}

impl TryFrom<u8> for Dimension {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        match number {
            2 => Ok(Self::Two),
            3 => Ok(Self::Three),
            _ => Err(format!("a scene has 2 or 3 dimensions, not {number}")),
        }
    }
}
