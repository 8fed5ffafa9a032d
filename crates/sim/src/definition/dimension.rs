//! The number of dimensions of a simulation.
//!
//! Two dimensions are the plane z = 0 of three: positions stay 3-vectors with z = 0, solids are triangles
//! under plane strain (`energy/plane_strain.rs`) or of bodies of revolution (`energy/axisymmetric.rs`), surfaces are outlines
//! (`CollisionMesh::planar`), and `validate/plane.rs` refuses what has no form there. Terms, solvers and the step do not know of
//! it, but for [`Dimension::flatten`] and the pattern of the Newton matrix, whose rows have two unknowns (`solver/assembly.rs`).
//!
//! Of bodies of revolution vertices on the axis are held there (`dirichlet/targets.rs`), contacts and pressures are those of
//! whole rings (`contact/weighting.rs`, `energy/pressure.rs`), and momenta are along the axis (`step/energetics.rs`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;
use std::fmt;

/// Number of dimensions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
#[schemars(with = "Written", extend("enum" = [2, 3, "axisymmetric"]))]
pub enum Dimension {
    /// The plane z = 0 under plane strain, per metre of depth.
    Two,
    /// The half-plane x = r ≥ 0, z = 0 of bodies of revolution about the axis y.
    Axisymmetric,
    /// Space.
    #[default]
    Three,
}

/// The name of [`Dimension::Axisymmetric`] in scene files.
pub const AXISYMMETRIC: &str = "axisymmetric";

impl Dimension {
    /// Whether the simulation takes place in the plane z = 0.
    #[inline]
    pub fn is_planar(self) -> bool {
        self != Self::Three
    }

    /// Whether the plane is a half-plane through the axis of bodies of revolution.
    #[inline]
    pub fn is_axisymmetric(self) -> bool {
        self == Self::Axisymmetric
    }

    /// Number of coordinates: 2 or 3.
    pub fn count(self) -> u8 {
        if self.is_planar() { 2 } else { 3 }
    }

    /// The part of a force or a momentum that is left of a whole: of a ring that along the axis y.
    pub(crate) fn of_whole(self, v: Vec3) -> Vec3 {
        if self.is_axisymmetric() { Vec3::new(0.0, v.y, 0.0) } else { v }
    }

    /// Takes out of displacements what rounding in a linear solver may have left along z.
    pub(crate) fn flatten(self, mut p: Vec<Vec3>) -> Vec<Vec3> {
        if self.is_planar() {
            p.iter_mut().for_each(|p| p.z = 0.0);
        }
        p
    }
}

/// A dimension as a scene file has it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Written {
    Number(i64),
    Name(String),
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(n) => write!(f, "{n}"),
            Self::Name(name) => write!(f, "\"{name}\""),
        }
    }
}

impl fmt::Display for Dimension {
    /// As a scene file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Written::from(*self).fmt(f)
    }
}

impl From<Dimension> for Written {
    fn from(dimension: Dimension) -> Self {
        match dimension {
            Dimension::Two => Self::Number(2),
            Dimension::Three => Self::Number(3),
            Dimension::Axisymmetric => Self::Name(AXISYMMETRIC.into()),
        }
    }
}

impl TryFrom<Written> for Dimension {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match &written {
            Written::Number(2) => Ok(Self::Two),
            Written::Number(3) => Ok(Self::Three),
            Written::Name(name) if name == AXISYMMETRIC => Ok(Self::Axisymmetric),
            _ => Err(format!(
                "a scene has 2 or 3 dimensions, or is \"{AXISYMMETRIC}\", not {written}"
            )),
        }
    }
}
