//! Flat rectangle.

use super::{Build, ShapeError, centred, limits};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;

/// Rectangle of triangles in the xz plane, centred at the origin, normal +y. Each cell has two
/// triangles; the diagonals of neighbouring cells have opposite directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plane {
    /// Extents along x and z, m.
    pub size: [f64; 2],
    /// Number of cells along x and z.
    pub cells: [u32; 2],
}

impl Default for Plane {
    fn default() -> Self {
        Self { size: [1.0; 2], cells: [1; 2] }
    }
}

impl Build for Plane {
    fn build(&self) -> Result<Mesh, ShapeError> {
        for s in self.size {
            limits::length("plane", "size", s)?;
        }
        let nx = limits::at_least("plane", "cells", self.cells[0], 1)?;
        let nz = limits::at_least("plane", "cells", self.cells[1], 1)?;
        limits::elements("plane", &[2, nx, nz])?;
        let mut mesh = Mesh::default();
        for z in 0..=nz {
            for x in 0..=nx {
                let (px, pz) = (self.size[0] * centred(x, nx), self.size[1] * centred(z, nz));
                mesh.points.push(Vec3::new(px, 0.0, pz));
            }
        }
        for z in 0..nz {
            for x in 0..nx {
                let a = (x + (nx + 1) * z) as u32;
                let [b, c, d] = [a + 1, a + nx as u32 + 2, a + nx as u32 + 1];
                mesh.triangles.extend(if (x + z) % 2 == 0 {
                    [[a, c, b], [a, d, c]]
                } else {
                    [[a, d, b], [b, d, c]]
                });
            }
        }
        Ok(mesh)
    }
}
