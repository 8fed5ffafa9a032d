//! Wires and points.

use super::{Build, ShapeError, centred, limits};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;

/// A coordinate axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// Along x.
    X,
    /// Along y.
    #[default]
    Y,
    /// Along z.
    Z,
}

/// Wires: parallel needles on a grid, centred at the origin. The grid lies across the needles: in
/// xz for `axis = "y"`, in yz for `"x"`, in xy for `"z"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Needles {
    /// Extents of the grid between its outermost needles, m.
    pub size: [f64; 2],
    /// Number of needles along both directions of the grid.
    pub count: [u32; 2],
    /// Length of a needle, m.
    pub length: f64,
    /// Number of segments of a needle.
    pub segments: u32,
    /// Direction of the needles.
    pub axis: Axis,
}

impl Default for Needles {
    fn default() -> Self {
        Self { size: [0.9; 2], count: [10; 2], length: 0.1, segments: 1, axis: Axis::Y }
    }
}

/// Wire: a line through given points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Polyline {
    /// Two or more points, m.
    pub points: Vec<[f64; 3]>,
    /// Whether a last piece leads back to the first point (three or more points).
    pub closed: bool,
    /// Number of segments between one point and the next.
    pub segments: u32,
}

impl Default for Polyline {
    fn default() -> Self {
        Self { points: vec![[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]], closed: false, segments: 1 }
    }
}

/// Bare points on a grid centred at the origin, numbered along x first, then y, then z. Along a
/// direction with one point the extent is without effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Points {
    /// Extents between the outermost points, m.
    pub size: [f64; 3],
    /// Number of points along x, y, z.
    pub count: [u32; 3],
}

impl Default for Points {
    fn default() -> Self {
        Self { size: [1.0; 3], count: [10, 1, 10] }
    }
}

/// Coordinate i of n between −size/2 and size/2, the middle where n is 1.
fn spread(i: usize, n: usize, size: f64) -> f64 {
    if n < 2 { 0.0 } else { size * centred(i, n - 1) }
}

impl Build for Needles {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let length = limits::length("needles", "length", self.length)?;
        let segments = limits::at_least("needles", "segments", self.segments, 1)?;
        let mut count = [0; 2];
        for k in 0..2 {
            count[k] = limits::at_least("needles", "count", self.count[k], 1)?;
            if count[k] > 1 {
                limits::length("needles", "size", self.size[k])?;
            }
        }
        limits::elements("needles", &[count[0], count[1], segments])?;
        let mut mesh = Mesh::default();
        for j in 0..count[1] {
            for i in 0..count[0] {
                let across = [spread(i, count[0], self.size[0]), spread(j, count[1], self.size[1])];
                for s in 0..=segments {
                    let along = length * centred(s, segments);
                    let v = mesh.points.len() as u32;
                    mesh.points.push(match self.axis {
                        Axis::X => Vec3::new(along, across[0], across[1]),
                        Axis::Y => Vec3::new(across[0], along, across[1]),
                        Axis::Z => Vec3::new(across[0], across[1], along),
                    });
                    if s > 0 {
                        mesh.edges.push([v - 1, v]);
                    }
                }
            }
        }
        Ok(mesh)
    }
}

impl Build for Polyline {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let given: Vec<Vec3> = self.points.iter().copied().map(Vec3::from).collect();
        let least = if self.closed { 3 } else { 2 };
        limits::at_least("polyline", "number of points", given.len() as u32, least)?;
        let segments = limits::at_least("polyline", "segments", self.segments, 1)?;
        limits::elements("polyline", &[given.len(), segments])?;
        limits::require(
            given.iter().all(|p| p.iter().all(|c| c.abs() <= 1e9)),
            "polyline",
            "every coordinate must lie between -1e9 and 1e9 m",
        )?;
        let pieces = if self.closed { given.len() } else { given.len() - 1 };
        let mut mesh = Mesh::default();
        for k in 0..pieces {
            let (a, b) = (given[k], given[(k + 1) % given.len()]);
            limits::require(a != b, "polyline", format!("point {k} equals the next one"))?;
            for s in 0..segments {
                let t = s as f64 / segments as f64;
                mesh.points.push(a * (1.0 - t) + b * t);
            }
        }
        if !self.closed {
            mesh.points.push(given[pieces]);
        }
        let n = mesh.points.len() as u32;
        mesh.edges = (0..(pieces * segments) as u32).map(|v| [v, (v + 1) % n]).collect();
        Ok(mesh)
    }
}

impl Build for Points {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let mut count = [0; 3];
        for k in 0..3 {
            count[k] = limits::at_least("points", "count", self.count[k], 1)?;
            if count[k] > 1 {
                limits::length("points", "size", self.size[k])?;
            }
        }
        limits::elements("points", &count)?;
        let mut mesh = Mesh::default();
        for z in 0..count[2] {
            for y in 0..count[1] {
                for x in 0..count[0] {
                    let place = [x, y, z];
                    mesh.points
                        .push(Vec3::from_fn(|k, _| spread(place[k], count[k], self.size[k])));
                }
            }
        }
        mesh.vertices = (0..mesh.points.len() as u32).collect();
        Ok(mesh)
    }
}
