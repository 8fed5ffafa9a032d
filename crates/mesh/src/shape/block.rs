//! Box and mat: grids of cells, six tetrahedra each (Kuhn's division).

use super::{Build, ShapeError, centred, limits};
use crate::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;

/// Box with edges along the axes, centred at the origin. Each of its cells is divided into six
/// tetrahedra around the diagonal from the smallest to the largest corner.
///
/// Vertices are numbered along x first, then y, then z.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BoxShape {
    /// Extents along x, y, z, m.
    pub size: [f64; 3],
    /// Number of cells along x, y, z.
    pub cells: [u32; 3],
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for BoxShape {
    fn default() -> Self {
        Self { size: [1.0; 3], cells: [1; 3], surface: false }
    }
}

/// Thin horizontal box, centred at the origin: the mat of many contact examples. The defaults are
/// 40 × 40 × 2 vertices and 9126 tetrahedra.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Mat {
    /// Extents along x and z, m.
    pub size: [f64; 2],
    /// Extent along y, m.
    pub thickness: f64,
    /// Number of cells along x and z.
    pub cells: [u32; 2],
    /// Number of cells along y.
    pub layers: u32,
    /// Only the surface, as triangles.
    pub surface: bool,
}

impl Default for Mat {
    fn default() -> Self {
        Self { size: [1.0; 2], thickness: 0.008, cells: [39; 2], layers: 1, surface: false }
    }
}

impl Build for BoxShape {
    fn build(&self) -> Result<Mesh, ShapeError> {
        for s in self.size {
            limits::length("box", "size", s)?;
        }
        let [nx, ny, nz] = self.cells;
        let cells = [
            limits::at_least("box", "cells", nx, 1)?,
            limits::at_least("box", "cells", ny, 1)?,
            limits::at_least("box", "cells", nz, 1)?,
        ];
        grid("box", self.size, cells, self.surface)
    }
}

impl Build for Mat {
    fn build(&self) -> Result<Mesh, ShapeError> {
        for s in self.size {
            limits::length("mat", "size", s)?;
        }
        limits::length("mat", "thickness", self.thickness)?;
        let cells = [
            limits::at_least("mat", "cells", self.cells[0], 1)?,
            limits::at_least("mat", "layers", self.layers, 1)?,
            limits::at_least("mat", "cells", self.cells[1], 1)?,
        ];
        grid("mat", [self.size[0], self.thickness, self.size[1]], cells, self.surface)
    }
}

fn grid(
    shape: &'static str,
    size: [f64; 3],
    n: [usize; 3],
    surface: bool,
) -> Result<Mesh, ShapeError> {
    if surface {
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            limits::elements(shape, &[12, n[a], n[b]])?;
        }
    } else {
        limits::elements(shape, &[6, n[0], n[1], n[2]])?;
    }
    let place = |v: [usize; 3]| Vec3::from_fn(|k, _| size[k] * centred(v[k], n[k]));
    let mut mesh = Mesh::default();
    if surface {
        grid_surface(&mut mesh, n, &place);
        return Ok(mesh);
    }
    let index = |v: [usize; 3]| (v[0] + (n[0] + 1) * (v[1] + (n[1] + 1) * v[2])) as u32;
    for z in 0..=n[2] {
        for y in 0..=n[1] {
            mesh.points.extend((0..=n[0]).map(|x| place([x, y, z])));
        }
    }
    // the paths from the smallest to the largest corner of a cell, along one axis after another
    let paths = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    for z in 0..n[2] {
        for y in 0..n[1] {
            for x in 0..n[0] {
                for (k, path) in paths.iter().enumerate() {
                    let mut corner = [x, y, z];
                    let mut tet = [index(corner); 4];
                    for (step, &axis) in path.iter().enumerate() {
                        corner[axis] += 1;
                        tet[step + 1] = index(corner);
                    }
                    // odd permutations of the axes give negative tetrahedra
                    if k >= 3 {
                        tet.swap(2, 3);
                    }
                    mesh.tets.push(tet);
                }
            }
        }
    }
    Ok(mesh)
}

/// The six sides, with the diagonals of the solid: from the smallest to the largest corner.
fn grid_surface(mesh: &mut Mesh, n: [usize; 3], place: &dyn Fn([usize; 3]) -> Vec3) {
    let mut index = std::collections::HashMap::new();
    for axis in 0..3 {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for side in [0, n[axis]] {
            for j in 0..n[v] {
                for i in 0..n[u] {
                    let mut corner = |di: usize, dj: usize| {
                        let mut at = [0; 3];
                        (at[axis], at[u], at[v]) = (side, i + di, j + dj);
                        *index.entry(at).or_insert_with(|| {
                            mesh.points.push(place(at));
                            (mesh.points.len() - 1) as u32
                        })
                    };
                    let [a, b, c, d] = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    let outward =
                        if side == 0 { [[a, c, b], [a, d, c]] } else { [[a, b, c], [a, c, d]] };
                    mesh.triangles.extend(outward);
                }
            }
        }
    }
}
