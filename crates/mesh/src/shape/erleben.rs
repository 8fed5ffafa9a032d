//! Obstacles of the contact tests of [Erleben 2018] as [Li 2020, Fig. 11] uses them; spike and
//! wedge are elsewhere. All are closed surfaces.

use super::{Build, ShapeError, limits};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;

/// Obstacle: block with a square top smaller than its square bottom, centred at the origin: a
/// cube of the top's size lands edge on edge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cliff {
    /// Edge of the bottom, m.
    pub bottom: f64,
    /// Edge of the top, m.
    pub top: f64,
    /// Extent along y, m.
    pub height: f64,
}

impl Default for Cliff {
    fn default() -> Self {
        Self { bottom: 1.5, top: 1.0, height: 1.0 }
    }
}

/// Obstacle: block with a V-shaped groove along z in its top, centred at the origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Crack {
    /// Extents of the block, m.
    pub size: [f64; 3],
    /// Width of the groove along x at the top, m; smaller than the block.
    pub opening: f64,
    /// Depth of the groove below the top, m; smaller than the block.
    pub depth: f64,
}

impl Default for Crack {
    fn default() -> Self {
        Self { size: [2.0, 1.0, 4.0], opening: 1.0, depth: 0.5 }
    }
}

/// Obstacle: block with a square pit with vertical walls in the middle of its top, centred at the
/// origin.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hole {
    /// Extents of the block, m.
    pub size: [f64; 3],
    /// Edge of the pit, m; smaller than the block.
    pub opening: f64,
    /// Depth of the pit below the top, m; smaller than the block.
    pub depth: f64,
}

impl Default for Hole {
    fn default() -> Self {
        Self { size: [2.0, 1.0, 2.0], opening: 1.0, depth: 0.5 }
    }
}

/// Obstacle: block centred at the origin whose flat top is divided by edges between corners,
/// middles of its sides and two inner vertices: edges inside a flat face must not catch a body
/// that slides over them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InternalEdges {
    /// Extents of the block, m.
    pub size: [f64; 3],
}

impl Default for InternalEdges {
    fn default() -> Self {
        Self { size: [2.0, 1.0, 2.0] }
    }
}

/// Adds the two triangles of a flat quadrangle a b c d.
fn quad(mesh: &mut Mesh, [a, b, c, d]: [u32; 4]) {
    mesh.triangles.extend([[a, b, c], [a, c, d]]);
}

impl Build for Cliff {
    fn build(&self) -> Result<Mesh, ShapeError> {
        let bottom = limits::length("cliff", "bottom", self.bottom)?;
        let top = limits::length("cliff", "top", self.top)?;
        let height = limits::length("cliff", "height", self.height)?;
        let mut mesh = Mesh::default();
        for (edge, y) in [(bottom, -0.5 * height), (top, 0.5 * height)] {
            let h = 0.5 * edge;
            for (x, z) in [(-h, -h), (h, -h), (h, h), (-h, h)] {
                mesh.points.push(Vec3::new(x, y, z));
            }
        }
        quad(&mut mesh, [0, 1, 2, 3]);
        quad(&mut mesh, [7, 6, 5, 4]);
        for k in 0..4 {
            let next = (k + 1) % 4;
            quad(&mut mesh, [k, k + 4, next + 4, next]);
        }
        Ok(mesh)
    }
}

impl Build for Crack {
    fn build(&self) -> Result<Mesh, ShapeError> {
        for s in self.size {
            limits::length("crack", "size", s)?;
        }
        let opening = limits::length("crack", "opening", self.opening)?;
        let depth = limits::length("crack", "depth", self.depth)?;
        let [x, y, z] = self.size.map(|s| 0.5 * s);
        let fits = opening < self.size[0] && depth < self.size[1];
        limits::require(fits, "crack", "opening and depth must be smaller than the block")?;
        // the profile in columns: bottom and top at five places along x
        let places = [-x, -0.5 * opening, 0.0, 0.5 * opening, x];
        let tops = [y, y, y - depth, y, y];
        let mut mesh = Mesh::default();
        for z in [-z, z] {
            mesh.points.extend(places.map(|x| Vec3::new(x, -y, z)));
            mesh.points.extend((0..5).map(|k| Vec3::new(places[k], tops[k], z)));
        }
        let (top, far) = (5, 10);
        for k in 0..4 {
            // both ends, bottom and top
            quad(&mut mesh, [k, k + top, k + 1 + top, k + 1]);
            quad(&mut mesh, [k, k + 1, k + 1 + top, k + top].map(|v| v + far));
            quad(&mut mesh, [k, k + 1, k + 1 + far, k + far]);
            quad(&mut mesh, [k, k + far, k + 1 + far, k + 1].map(|v| v + top));
        }
        quad(&mut mesh, [0, far, far + top, top]);
        quad(&mut mesh, [4, 4 + top, 4 + far + top, 4 + far]);
        Ok(mesh)
    }
}

impl Build for Hole {
    // long: the vertices and triangles of one shape
    fn build(&self) -> Result<Mesh, ShapeError> {
        for s in self.size {
            limits::length("hole", "size", s)?;
        }
        let opening = limits::length("hole", "opening", self.opening)?;
        let depth = limits::length("hole", "depth", self.depth)?;
        let fits = opening < self.size[0] && opening < self.size[2] && depth < self.size[1];
        limits::require(fits, "hole", "opening and depth must be smaller than the block")?;
        let [x, y, z] = self.size.map(|s| 0.5 * s);
        let edge = 0.5 * opening;
        let (xs, zs) = ([-x, -edge, edge, x], [-z, -edge, edge, z]);
        let mut mesh = Mesh::default();
        // 4 × 4 vertices below, 4 × 4 above, 4 on the floor of the pit
        for height in [-y, y] {
            for z in zs {
                mesh.points.extend(xs.map(|x| Vec3::new(x, height, z)));
            }
        }
        for z in [-edge, edge] {
            mesh.points.extend([-edge, edge].map(|x| Vec3::new(x, y - depth, z)));
        }
        let at = |i: u32, j: u32| i + 4 * j;
        for j in 0..3 {
            for i in 0..3 {
                let cell = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                quad(&mut mesh, cell);
                if (i, j) != (1, 1) {
                    let [a, b, c, d] = cell.map(|v| v + 16);
                    quad(&mut mesh, [d, c, b, a]);
                }
            }
        }
        for k in 0..3 {
            let sides = [
                [at(k, 0), at(k + 1, 0)],
                [at(3, k), at(3, k + 1)],
                [at(k + 1, 3), at(k, 3)],
                [at(0, k + 1), at(0, k)],
            ];
            for [a, b] in sides {
                quad(&mut mesh, [a, a + 16, b + 16, b]);
            }
        }
        // rim and floor of the pit, around
        let rim = [at(1, 1), at(2, 1), at(2, 2), at(1, 2)].map(|v| v + 16);
        let floor = [32, 33, 35, 34];
        quad(&mut mesh, [floor[3], floor[2], floor[1], floor[0]]);
        for k in 0..4 {
            let next = (k + 1) % 4;
            quad(&mut mesh, [floor[k], floor[next], rim[next], rim[k]]);
        }
        Ok(mesh)
    }
}

impl Build for InternalEdges {
    // long: the vertices and triangles of one shape
    fn build(&self) -> Result<Mesh, ShapeError> {
        for s in self.size {
            limits::length("internal-edges", "size", s)?;
        }
        // corners and middles of the top around, its two inner vertices, corners of the bottom;
        // in halves of the extents
        let top = [
            (-1.0, -1.0),
            (0.0, -1.0),
            (1.0, -1.0),
            (1.0, 0.0),
            (1.0, 1.0),
            (0.0, 1.0),
            (-1.0, 1.0),
            (-1.0, 0.0),
            (-0.5, 0.5),
            (0.5, 0.5),
        ];
        let bottom = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let half = Vec3::from(self.size) * 0.5;
        let all = top.map(|p| (p, 1.0)).into_iter().chain(bottom.map(|p| (p, -1.0)));
        let mut mesh = Mesh {
            points: all.map(|((x, z), y)| Vec3::new(x, y, z).component_mul(&half)).collect(),
            ..Mesh::default()
        };
        let (left, right) = (8, 9);
        mesh.triangles.extend([
            [1, 0, 7],
            [1, 3, 2],
            [3, right, 4],
            [right, 5, 4],
            [left, 6, 5],
            [7, 6, left],
            [1, 7, left],
            [1, right, 3],
            [1, left, 5],
            [1, 5, right],
        ]);
        // a side is a fan of the middle of its upper edge
        for k in 0..4 {
            let next = (k + 1) % 4;
            let (a, middle, b) = (2 * k, 2 * k + 1, 2 * next);
            let (below_a, below_b) = (10 + k, 10 + next);
            mesh.triangles.extend([
                [below_a, a, middle],
                [below_a, middle, below_b],
                [below_b, middle, b],
            ]);
        }
        quad(&mut mesh, [10, 11, 12, 13]);
        Ok(mesh)
    }
}
