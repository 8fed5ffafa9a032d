//! Elements of a file as they are collected: polygons become triangles, labels become regions.

use super::polygon;
use super::solids::{SolidCell, Solids};
use crate::{Mesh, Region};
use standoff_geometry::quadratic::{NONE, four_triangles};
use standoff_linalg::Vec3;
use std::collections::BTreeMap;

/// Shape of a cell over a list of vertices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    /// Bare points.
    Points,
    /// A line through two or more vertices.
    Polyline,
    /// A polygon of three or more vertices.
    Polygon,
    /// Triangles around the first vertex.
    Fan,
    /// A strip of triangles.
    Strip,
    /// A rectangle whose last two vertices are exchanged.
    Pixel,
    /// A tetrahedron.
    Tet,
    /// Two segments with their common end last.
    QuadraticEdge,
    /// Four triangles between three corners and the middles of the edges 01, 12, 20.
    QuadraticTriangle,
    /// A tetrahedron with the middles of its edges, in the order of VTK.
    QuadraticTet,
    /// A quadrangle with the middles of its edges 01, 12, 23, 30, and maybe its centre.
    QuadraticQuadrangle,
    /// A solid that becomes tetrahedra.
    Solid(SolidCell),
}

/// What is wrong with a cell.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) what: String,
    /// What to do about it, where the reader does not know better.
    hint: Option<&'static str>,
}

impl Wrong {
    /// What to do about it; `else_do` where it is the list of vertices that is wrong.
    pub(crate) fn hint<'a>(&self, else_do: &'a str) -> &'a str
    where
        'static: 'a,
    {
        self.hint.unwrap_or(else_do)
    }
}

impl From<String> for Wrong {
    fn from(what: String) -> Self {
        Self { what, hint: None }
    }
}

impl From<Wrong> for String {
    fn from(wrong: Wrong) -> Self {
        wrong.what
    }
}

/// What to do about a solid that is not one.
const CORRECT: &str = "Correct its vertices in the program that made it, or delete it";

/// What to do about a polygon that has no inside.
pub(crate) const SPLIT: &str = "Triangulate the face in the program that made it, or delete it";

/// A mesh under construction with one label per element.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    pub(crate) mesh: Mesh,
    tets: Vec<u32>,
    triangles: Vec<u32>,
    edges: Vec<u32>,
    vertices: Vec<u32>,
    solids: Solids,
}

impl Cells {
    pub(crate) fn new(points: Vec<Vec3>) -> Self {
        Self { mesh: Mesh { points, ..Mesh::default() }, ..Self::default() }
    }

    /// Adds a cell; the error says what is wrong with its number of vertices or with an index.
    // long: an arm for each shape of a cell
    pub(crate) fn add(&mut self, cell: Cell, v: &[u32], label: u32) -> Result<(), Wrong> {
        let points = self.mesh.points.len();
        if let Some(i) = v.iter().find(|&&i| i as usize >= points) {
            let what = format!("vertex {i} (from 0) is named, but there are only {points}");
            return Err(what.into());
        }
        match cell {
            Cell::Points => v.iter().for_each(|&i| self.point(i, label)),
            Cell::Polyline if v.len() >= 2 => {
                v.windows(2).for_each(|w| self.edge([w[0], w[1]], label));
            }
            Cell::Polygon if v.len() >= 3 => {
                let triangles = polygon::triangles(&self.mesh.points, v).map_err(|what| Wrong {
                    what: format!("a polygon of {} vertices {what}", v.len()),
                    hint: Some(SPLIT),
                })?;
                let first = self.mesh.triangles.len();
                triangles.into_iter().for_each(|t| self.triangle(t, label));
                if let Ok(corners) = v.try_into() {
                    self.solids.quadrangle(corners, first, &self.mesh);
                }
            }
            Cell::Fan if v.len() >= 3 => {
                for k in 1..v.len() - 1 {
                    self.triangle([v[0], v[k], v[k + 1]], label);
                }
            }
            Cell::Strip if v.len() >= 3 => {
                for (k, w) in v.windows(3).enumerate() {
                    // every second triangle of a strip has the opposite orientation
                    let t = if k % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] };
                    self.triangle(t, label);
                }
            }
            Cell::Pixel => match *v {
                [a, b, c, d] => {
                    let first = self.mesh.triangles.len();
                    self.triangle([a, b, d], label);
                    self.triangle([a, d, c], label);
                    self.solids.quadrangle([a, b, d, c], first, &self.mesh);
                }
                _ => return Err(wrong_number(cell, v.len())),
            },
            Cell::Tet => match <[u32; 4]>::try_from(v) {
                Ok(t) => {
                    self.mesh.tets.push(t);
                    self.tets.push(label);
                }
                Err(_) => return Err(wrong_number(cell, v.len())),
            },
            Cell::QuadraticEdge => match *v {
                [a, b, middle] => {
                    self.edge([a, middle], label);
                    self.edge([middle, b], label);
                }
                _ => return Err(wrong_number(cell, v.len())),
            },
            Cell::QuadraticTriangle => match <[u32; 6]>::try_from(v) {
                Ok(nodes) => {
                    self.mesh.divided.push(self.mesh.triangles.len() as u32);
                    four_triangles(nodes).into_iter().for_each(|t| self.triangle(t, label))
                }
                Err(_) => return Err(wrong_number(cell, v.len())),
            },
            Cell::QuadraticTet => match <[u32; 10]>::try_from(v) {
                Ok(n) => {
                    self.mesh.middles.resize(self.mesh.tets.len(), NONE);
                    self.mesh.middles.push(std::array::from_fn(|e| n[4 + e]));
                    self.mesh.tets.push(std::array::from_fn(|a| n[a]));
                    self.tets.push(label);
                }
                Err(_) => return Err(wrong_number(cell, v.len())),
            },
            Cell::QuadraticQuadrangle if matches!(v.len(), 8 | 9) => {
                self.solids.quadratic_quadrangle(v, label);
            }
            Cell::Solid(solid) if v.len() == solid.order.len() => {
                let nodes: Vec<u32> = solid.order.iter().map(|k| v[*k]).collect();
                let added = self.solids.add(solid, &nodes, &mut self.mesh);
                added.map_err(|what| Wrong { what, hint: Some(CORRECT) })?;
                self.tets.resize(self.mesh.tets.len(), label);
            }
            _ => return Err(wrong_number(cell, v.len())),
        }
        Ok(())
    }

    /// Completes what needs all cells. Follows the last one, and comes before [`add_regions`](Self::add_regions).
    pub(crate) fn finish(&mut self) {
        for (triangle, label) in std::mem::take(&mut self.solids).finish(&mut self.mesh) {
            self.triangle(triangle, label);
        }
    }

    fn point(&mut self, v: u32, label: u32) {
        self.mesh.vertices.push(v);
        self.vertices.push(label);
    }

    fn edge(&mut self, e: [u32; 2], label: u32) {
        self.mesh.edges.push(e);
        self.edges.push(label);
    }

    fn triangle(&mut self, f: [u32; 3], label: u32) {
        self.mesh.triangles.push(f);
        self.triangles.push(label);
    }

    /// Adds one region per key, in order of the keys; `keys` says to which a label belongs.
    pub(crate) fn add_regions<K: Ord, I: IntoIterator<Item = K>>(
        &mut self,
        keys: impl Fn(u32) -> I,
        name: impl Fn(&K) -> String,
    ) {
        let mut found: BTreeMap<K, Region> = BTreeMap::new();
        let mut collect = |labels: &[u32], add: &dyn Fn(&mut Region, usize)| {
            for (e, &label) in labels.iter().enumerate() {
                for k in keys(label) {
                    add(found.entry(k).or_default(), e);
                }
            }
        };
        let m = &self.mesh;
        collect(&self.tets, &|r, e| {
            r.tets.push(e as u32);
            r.vertices.extend(m.tets[e]);
            r.vertices.extend(m.middles.get(e).filter(|m| **m != NONE).into_iter().flatten());
        });
        collect(&self.triangles, &|r, e| {
            r.triangles.push(e as u32);
            r.vertices.extend(m.triangles[e]);
        });
        collect(&self.edges, &|r, e| {
            r.edges.push(e as u32);
            r.vertices.extend(m.edges[e]);
        });
        collect(&self.vertices, &|r, e| r.vertices.push(m.vertices[e]));
        for (k, mut region) in found {
            region.name = name(&k);
            region.vertices.sort_unstable();
            region.vertices.dedup();
            self.mesh.regions.push(region);
        }
    }
}

fn wrong_number(cell: Cell, n: usize) -> Wrong {
    let name = match cell {
        Cell::Points => "point",
        Cell::Polyline => "line",
        Cell::Polygon => "polygon",
        Cell::Fan => "triangle fan",
        Cell::Strip => "triangle strip",
        Cell::Pixel => "rectangle",
        Cell::Tet => "tetrahedron",
        Cell::QuadraticEdge => "quadratic line",
        Cell::QuadraticTriangle => "quadratic triangle",
        Cell::QuadraticTet => "quadratic tetrahedron",
        Cell::QuadraticQuadrangle => "quadratic quadrangle",
        Cell::Solid(solid) => solid.name(),
    };
    format!("a {name} cannot have {n} vertices").into()
}
