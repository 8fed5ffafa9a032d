//! Funnel.

use super::{Build, ShapeError, limits, tube};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;
use std::f64::consts::TAU;

/// Cone without ends that goes over into a pipe, axis y, mouth up: triangles for an obstacle or a shell.
/// The cone's end, where the pipe begins, is at the origin. The diagonals of neighbouring cells have
/// opposite directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Funnel {
    /// Radius of the mouth, m.
    pub mouth: f64,
    /// Radius of the pipe, m.
    pub neck: f64,
    /// Height of the cone, m.
    pub height: f64,
    /// Length of the pipe, m.
    pub neck_length: f64,
    /// Number of cells around, an even one.
    pub around: u32,
    /// Number of cells along the cone, and along the pipe.
    pub along: u32,
}

impl Default for Funnel {
    fn default() -> Self {
        Self { mouth: 0.4, neck: 0.1, height: 0.3, neck_length: 0.2, around: 24, along: 6 }
    }
}

impl Build for Funnel {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let mouth = limits::length("funnel", "mouth", self.mouth)?;
        let neck = limits::length("funnel", "neck", self.neck)?;
        let height = limits::length("funnel", "height", self.height)?;
        let pipe = limits::length("funnel", "neck_length", self.neck_length)?;
        let around = limits::at_least("funnel", "around", self.around, 4)?;
        let along = limits::at_least("funnel", "along", self.along, 1)?;
        limits::require(around % 2 == 0, "funnel", "`around` must be even")?;
        limits::elements("funnel", &[4, around, along])?;
        // from the mouth down
        let section = |i: usize| {
            let t = i as f64 / along as f64;
            match i <= along {
                true => (height * (1.0 - t), mouth + (neck - mouth) * t),
                false => (pipe * (1.0 - t), neck),
            }
        };
        let mut mesh = Mesh::default();
        for i in 0..=2 * along {
            let (y, radius) = section(i);
            for j in 0..around {
                let (sin, cos) = (TAU * j as f64 / around as f64).sin_cos();
                mesh.points.push(Vec3::new(radius * cos, y, radius * sin));
            }
        }
        mesh.triangles = tube::cells(2 * along, around);
        Ok(mesh)
    }
}
