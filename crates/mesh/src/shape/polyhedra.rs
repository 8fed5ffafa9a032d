//! Wedge, pyramid, spike and single tetrahedron: a few coarse tetrahedra, divided.

use super::{Build, ShapeError, limits, refine};
use crate::{Mesh, tet_determinant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;

/// Triangular prism standing on the plane y = 0: its base is a rectangle centred at the origin,
/// its ridge lies above the z axis. The defaults are the wedge of Erleben's contact tests.
/// 3·cells³ tetrahedra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wedge {
    /// Width of the base along x, height along y, length of the ridge along z, m.
    pub size: [f64; 3],
    /// Number of divisions of every edge.
    pub cells: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Wedge {
    fn default() -> Self {
        Self { size: [1.0, 3.0, 2.0], cells: 1, surface: false }
    }
}

/// Pyramid over a rectangle, apex on +y, centred at the origin (base at −height/2, apex at
/// height/2). 2·cells³ tetrahedra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pyramid {
    /// Width of the base along x, height along y, depth of the base along z, m.
    pub size: [f64; 3],
    /// Number of divisions of every edge.
    pub cells: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Pyramid {
    fn default() -> Self {
        Self { size: [1.0; 3], cells: 1, surface: false }
    }
}

/// Slender pyramid over a square standing on the plane y = 0, apex above the origin. The defaults
/// are the spike of Erleben's contact tests. 2·cells³ tetrahedra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spike {
    /// Edge of the base, m.
    pub width: f64,
    /// Height of the apex, m.
    pub height: f64,
    /// Number of divisions of every edge.
    pub cells: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Spike {
    fn default() -> Self {
        Self { width: 1.0, height: 3.0, cells: 1, surface: false }
    }
}

/// One tetrahedron: regular with a base parallel to the xz plane, apex on +y and centroid at the
/// origin, or with given corners. cells³ tetrahedra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tet {
    /// Edge length of the regular tetrahedron, m; without effect where `corners` are given.
    pub size: f64,
    /// The four corners in any order, m.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corners: Option<[[f64; 3]; 4]>,
    /// Number of divisions of every edge.
    pub cells: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Tet {
    fn default() -> Self {
        Self { size: 1.0, corners: None, cells: 1, surface: false }
    }
}

/// Divides coarse tetrahedra linearly.
fn divided(
    shape: &'static str,
    points: &[Vec3],
    tets: &[[u32; 4]],
    cells: u32,
    surface: bool,
) -> Result<Mesh, ShapeError> {
    let n = limits::at_least(shape, "cells", cells, 1)?;
    // every coarse tetrahedron has at most four faces on the surface
    let factor = if surface { 4 } else { n };
    limits::elements(shape, &[tets.len(), n, n, factor])?;
    let place = |w: &[(u32, u32)]| refine::linear(points, w);
    Ok(refine::tets_or_surface(surface, points, tets, cells, &place))
}

fn pyramid(
    shape: &'static str,
    [x, y, z]: [f64; 3],
    base: f64,
    cells: u32,
    surface: bool,
) -> Result<Mesh, ShapeError> {
    let (x, z) = (0.5 * x, 0.5 * z);
    let points = [
        Vec3::new(-x, base, -z),
        Vec3::new(x, base, -z),
        Vec3::new(x, base, z),
        Vec3::new(-x, base, z),
        Vec3::new(0.0, base + y, 0.0),
    ];
    divided(shape, &points, &[[0, 1, 2, 4], [0, 2, 3, 4]], cells, surface)
}

impl Build for Wedge {
    fn build(&self) -> Result<Mesh, ShapeError> {
        for s in self.size {
            limits::length("wedge", "size", s)?;
        }
        let [x, y, z] = [0.5 * self.size[0], self.size[1], 0.5 * self.size[2]];
        let end = |z: f64| [Vec3::new(-x, 0.0, z), Vec3::new(x, 0.0, z), Vec3::new(0.0, y, z)];
        let points = [end(-z), end(z)].concat();
        let tets = refine::prism([0, 1, 2], [3, 4, 5]);
        divided("wedge", &points, &tets, self.cells, self.surface)
    }
}

impl Build for Pyramid {
    fn build(&self) -> Result<Mesh, ShapeError> {
        for s in self.size {
            limits::length("pyramid", "size", s)?;
        }
        pyramid("pyramid", self.size, -0.5 * self.size[1], self.cells, self.surface)
    }
}

impl Build for Spike {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let width = limits::length("spike", "width", self.width)?;
        let height = limits::length("spike", "height", self.height)?;
        pyramid("spike", [width, height, width], 0.0, self.cells, self.surface)
    }
}

impl Build for Tet {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let size = limits::length("tet", "size", self.size)?;
        let points = match self.corners {
            Some(corners) => corners.map(Vec3::from),
            None => {
                // distance of the base from the centroid and of its corners from the axis
                let (down, out) = (size / 24.0f64.sqrt(), size / 3.0f64.sqrt());
                let corner = |x: f64, z: f64| Vec3::new(out * x, -down, out * z);
                let side = 0.75f64.sqrt();
                [
                    corner(1.0, 0.0),
                    corner(-0.5, -side),
                    corner(-0.5, side),
                    Vec3::new(0.0, 3.0 * down, 0.0),
                ]
            }
        };
        let longest = points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max);
        limits::require(
            points.iter().all(|p| p.iter().all(|c| c.abs() <= 1e9))
                && tet_determinant(&points).abs() > 1e-12 * longest.powi(3),
            "tet",
            "the corners must be finite and not lie in one plane",
        )?;
        divided("tet", &points, &[[0, 1, 2, 3]], self.cells, self.surface)
    }
}
