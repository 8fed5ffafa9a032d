//! Open tube.

use super::{Build, ShapeError, centred, limits};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;
use std::f64::consts::TAU;

/// Tube without ends, axis x: triangles for a shell or an obstacle. The diagonals of neighbouring
/// cells have opposite directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tube {
    /// Radius, m.
    pub radius: f64,
    /// Length, m.
    pub length: f64,
    /// Number of cells around, an even one.
    pub around: u32,
    /// Number of cells along.
    pub along: u32,
}

impl Default for Tube {
    fn default() -> Self {
        Self { radius: 0.1, length: 0.5, around: 16, along: 12 }
    }
}

impl Build for Tube {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let radius = limits::length("tube", "radius", self.radius)?;
        let length = limits::length("tube", "length", self.length)?;
        let around = limits::at_least("tube", "around", self.around, 4)?;
        let along = limits::at_least("tube", "along", self.along, 1)?;
        limits::require(around % 2 == 0, "tube", "`around` must be even")?;
        limits::elements("tube", &[2, around, along])?;
        let mut mesh = Mesh::default();
        for i in 0..=along {
            for j in 0..around {
                let (sin, cos) = (TAU * j as f64 / around as f64).sin_cos();
                mesh.points.push(Vec3::new(length * centred(i, along), radius * cos, radius * sin));
            }
        }
        mesh.triangles = cells(along, around);
        Ok(mesh)
    }
}

/// Triangles of `along` × `around` cells between rings of `around` points each, one ring after the other;
/// diagonals of neighbouring cells have opposite directions.
pub(super) fn cells(along: usize, around: usize) -> Vec<[u32; 3]> {
    let at = |i: usize, j: usize| (i * around + j % around) as u32;
    let mut triangles = Vec::with_capacity(2 * along * around);
    for i in 0..along {
        for j in 0..around {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            triangles.extend(match (i + j) % 2 {
                0 => [[a, c, b], [a, d, c]],
                _ => [[a, d, b], [b, d, c]],
            });
        }
    }
    triangles
}
