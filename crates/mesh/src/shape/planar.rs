//! Shapes of triangles in the plane z = 0, for scenes of two dimensions.

use super::triangulate::{Point, divide, triangulate};
use super::{Build, ShapeError, centred, limits};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Rectangle of triangles in the xy plane, centred at the origin, for scenes of two dimensions. Each cell has
/// two triangles; the diagonals of neighbouring cells have opposite directions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rectangle {
    /// Extents along x and y, m.
    pub size: [f64; 2],
    /// Number of cells along x and y.
    pub cells: [u32; 2],
}

impl Default for Rectangle {
    fn default() -> Self {
        Self { size: [1.0; 2], cells: [4; 2] }
    }
}

/// Disc of triangles in the xy plane, centred at the origin, for scenes of two dimensions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Disc {
    /// Radius of the circle on which the points of the outline lie, m.
    pub radius: f64,
    /// Length of the edges, about, m.
    pub edge: f64,
}

impl Default for Disc {
    fn default() -> Self {
        Self { radius: 0.5, edge: 0.1 }
    }
}

/// Polygon of triangles in the xy plane, for scenes of two dimensions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Polygon {
    /// Corners of the outline in order, three or more, m.
    pub points: Vec<[f64; 2]>,
    /// Corners of the outlines of holes, m.
    pub holes: Vec<Vec<[f64; 2]>>,
    /// Length of the edges, at most on the outline, about inside, m.
    pub edge: f64,
}

impl Default for Polygon {
    fn default() -> Self {
        let points = vec![[-0.5, -0.5], [0.5, -0.5], [0.0, 0.5]];
        Self { points, holes: Vec::new(), edge: 0.2 }
    }
}

/// Rectangle with round corners, of triangles in the xy plane, centred at the origin, for scenes of two
/// dimensions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoundedRectangle {
    /// Extents along x and y, m.
    pub size: [f64; 2],
    /// Radius of the corners, at most half of the smaller extent, m.
    pub radius: f64,
    /// Length of the edges, at most on the outline, about inside, m.
    pub edge: f64,
    /// Number of edges of each corner at least.
    pub corner_edges: u32,
}

impl Default for RoundedRectangle {
    fn default() -> Self {
        Self { size: [1.0; 2], radius: 0.2, edge: 0.1, corner_edges: 4 }
    }
}

impl Build for Rectangle {
    fn build(&self) -> Result<Mesh, ShapeError> {
        for s in self.size {
            limits::length("rectangle", "size", s)?;
        }
        let nx = limits::at_least("rectangle", "cells", self.cells[0], 1)?;
        let ny = limits::at_least("rectangle", "cells", self.cells[1], 1)?;
        limits::elements("rectangle", &[2, nx, ny])?;
        let mut mesh = Mesh::default();
        for y in 0..=ny {
            for x in 0..=nx {
                let (px, py) = (self.size[0] * centred(x, nx), self.size[1] * centred(y, ny));
                mesh.points.push(Vec3::new(px, py, 0.0));
            }
        }
        for y in 0..ny {
            for x in 0..nx {
                let a = (x + (nx + 1) * y) as u32;
                let [b, c, d] = [a + 1, a + nx as u32 + 2, a + nx as u32 + 1];
                mesh.triangles.extend(if (x + y) % 2 == 0 {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[a, b, d], [b, c, d]]
                });
            }
        }
        Ok(mesh)
    }
}

/// Largest number of points of an outline.
const MOST_POINTS: f64 = 1e6;

/// Checks that an outline of this length has not too many points.
fn outline(shape: &'static str, length: f64, edge: f64) -> Result<(), ShapeError> {
    let what = "its outline has more than a million edges; make `edge` longer";
    limits::require(length / edge <= MOST_POINTS, shape, what)
}

impl Build for Disc {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let radius = limits::length("disc", "radius", self.radius)?;
        let edge = limits::length("disc", "edge", self.edge)?;
        outline("disc", TAU * radius, edge)?;
        let n = (TAU * radius / edge).ceil().max(6.0) as usize;
        let point = |k: usize| {
            let (s, c) = (TAU * k as f64 / n as f64).sin_cos();
            [radius * c, radius * s]
        };
        triangulate("disc", &[(0..n).map(point).collect()], edge)
    }
}

impl Build for Polygon {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let edge = limits::length("polygon", "edge", self.edge)?;
        let mut outlines = Vec::new();
        for corners in std::iter::once(&self.points).chain(&self.holes) {
            limits::at_least("polygon", "number of points", corners.len() as u32, 3)?;
            limits::require(
                corners.iter().flatten().all(|c| c.abs() <= 1e9),
                "polygon",
                "every coordinate must lie between -1e9 and 1e9 m",
            )?;
            let next = |k: usize| corners[(k + 1) % corners.len()];
            let length = |k: usize| {
                let ([ax, ay], [bx, by]) = (corners[k], next(k));
                (bx - ax).hypot(by - ay)
            };
            outline("polygon", (0..corners.len()).map(length).sum(), edge)?;
            let mut points = Vec::new();
            for (k, &corner) in corners.iter().enumerate() {
                let what = format!("point {k} equals the next one");
                limits::require(corner != next(k), "polygon", what)?;
                divide(corner, next(k), edge, &mut points);
            }
            outlines.push(points);
        }
        triangulate("polygon", &outlines, edge)
    }
}

impl Build for RoundedRectangle {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let shape = "rounded-rectangle";
        for s in self.size {
            limits::length(shape, "size", s)?;
        }
        let (radius, edge) = (
            limits::length(shape, "radius", self.radius)?,
            limits::length(shape, "edge", self.edge)?,
        );
        let least = limits::at_least(shape, "corner_edges", self.corner_edges, 1)?;
        let half = self.size.map(|s| 0.5 * s);
        let what = "the radius of its corners is more than half of its size; make it smaller";
        limits::require(radius <= half[0] && radius <= half[1], shape, what)?;
        outline(shape, 2.0 * (self.size[0] + self.size[1]), edge)?;
        outline(shape, f64::from(self.corner_edges), 1.0)?;
        let n = least.max((FRAC_PI_2 * radius / edge).ceil() as usize);
        let [x, y] = half.map(|h| h - radius);
        let mut points: Vec<Point> = Vec::new();
        // quarter turns from the corner at the lower right
        for (q, centre) in [[x, -y], [x, y], [-x, y], [-x, -y]].into_iter().enumerate() {
            let at = |k: usize| {
                let (s, c) = (FRAC_PI_2 * k as f64 / n as f64).sin_cos();
                let (s, c) = if k == n { (1.0, 0.0) } else { (s, c) };
                let [dx, dy] = [[s, -c], [c, s], [-s, c], [-c, -s]][q];
                [centre[0] + radius * dx, centre[1] + radius * dy]
            };
            points.extend((0..n).map(at));
            let next = [[x + radius, y], [-x, y + radius], [-x - radius, -y], [x, -y - radius]][q];
            // half a circle has no straight part
            if at(n) != next {
                divide(at(n), next, edge, &mut points);
            }
        }
        triangulate(shape, &[points], edge)
    }
}
