//! The mesh container: what a mesh file holds or a built-in shape produces.
//!
//! This module knows geometry and connectivity only: no material, no placement, no file format.
//! Readers ([`crate::format`]) and shapes ([`crate::shape`]) fill a [`Mesh`]; [`Mesh::check`]
//! says what is wrong with it, [`Mesh::quality`] how good its elements are.

mod check;
mod defect;
mod error;
mod hull;
mod quadratic;
mod quality;
mod weld;

pub use defect::{Defect, ElementKind, Severity};
pub use error::{MeshError, Place};
pub(crate) use hull::hull;
pub use quality::{Quality, tet_quality};
pub use weld::first_within;

use standoff_geometry::quadratic::divide_faces;
use standoff_linalg::Vec3;

/// Points with tetrahedra, triangles, wires and bare points over them.
///
/// Vertex order is that of the file or the shape. A body uses one kind of element: a solid its
/// `tets`, an obstacle its surface, wires and points.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mesh {
    /// Positions, m (`#V`).
    pub points: Vec<Vec3>,
    /// Tetrahedra (`#T×4`); positive where det[x1−x0, x2−x0, x3−x0] > 0.
    pub tets: Vec<[u32; 4]>,
    /// Nodes in the middles of the edges of every tetrahedron (`#T×6`, in the order of [`EDGES`](standoff_geometry::quadratic::EDGES)), which make them quadratic; empty for
    /// linear ones.
    pub middles: Vec<[u32; 6]>,
    /// Triangles (`#F×3`).
    pub triangles: Vec<[u32; 3]>,
    /// The first of each four triangles that a file has as one of six nodes, see [`Mesh::join_divided`]; ascending.
    pub divided: Vec<u32>,
    /// Nodes in the middles of the edges of every triangle (`#F×3`, in the order of [`TRIANGLE_EDGES`](standoff_geometry::quadratic::TRIANGLE_EDGES)), which make
    /// those of a solid in the plane quadratic; empty for linear ones.
    pub triangle_middles: Vec<[u32; 3]>,
    /// Wires (`#E×2`).
    pub edges: Vec<[u32; 2]>,
    /// Bare points: indices into `points`.
    pub vertices: Vec<u32>,
    /// Named sets (Gmsh physical groups, integer cell data of VTK files).
    pub regions: Vec<Region>,
    /// What a reader changed or left out, for the user to know; one sentence each.
    pub notes: Vec<String>,
}

/// A named set of elements and of the vertices they use. Index lists are ascending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Region {
    /// Name, unique in the mesh. Gmsh: the physical name, or `volume-3`, `surface-3`, `curve-3`,
    /// `point-3` where the group has a number only. VTK: `array=value`.
    pub name: String,
    /// Indices into [`Mesh::tets`].
    pub tets: Vec<u32>,
    /// Indices into [`Mesh::triangles`].
    pub triangles: Vec<u32>,
    /// Indices into [`Mesh::edges`].
    pub edges: Vec<u32>,
    /// Indices into [`Mesh::points`] of every vertex of the region's elements and bare points.
    pub vertices: Vec<u32>,
}

/// Six times the signed volume of a tetrahedron: det[x1−x0, x2−x0, x3−x0], m³.
#[inline]
pub fn tet_determinant(x: &[Vec3; 4]) -> f64 {
    (x[1] - x[0]).cross(&(x[2] - x[0])).dot(&(x[3] - x[0]))
}

/// The four faces of a positive tetrahedron, seen counter-clockwise from outside.
pub fn tet_faces(t: [u32; 4]) -> [[u32; 3]; 4] {
    let [a, b, c, d] = t;
    [[a, c, b], [a, b, d], [b, c, d], [a, d, c]]
}

/// Whether triangles bound a volume: every directed edge is met once, and its opposite once.
/// True for an empty list.
pub fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let mut directed: Vec<[u32; 2]> =
        triangles.iter().flat_map(|f| (0..3).map(|k| [f[k], f[(k + 1) % 3]])).collect();
    directed.sort_unstable();
    directed.windows(2).all(|w| w[0] != w[1])
        && directed.iter().all(|&[a, b]| a != b && directed.binary_search(&[b, a]).is_ok())
}

impl Mesh {
    /// Dimension of the highest-dimensional elements: 3 tetrahedra, 2 triangles, 1 wires,
    /// 0 points; `None` for a mesh without elements.
    pub fn dimension(&self) -> Option<usize> {
        let counts = [self.vertices.len(), self.edges.len(), self.triangles.len(), self.tets.len()];
        (0..4).rev().find(|&d| counts[d] > 0)
    }

    /// Positions of a tetrahedron's vertices, m.
    ///
    /// # Panics
    /// Where an index is out of range; readers and shapes never produce one.
    pub fn tet_points(&self, tet: usize) -> [Vec3; 4] {
        self.tets[tet].map(|v| self.points[v as usize])
    }

    /// Total signed volume of the tetrahedra, m³.
    pub fn volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| tet_determinant(&self.tet_points(t)) / 6.0).sum()
    }

    /// Corners (smallest, largest) of the bounding box of all points, m; `None` without points.
    pub fn bounding_box(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.points.first()?;
        Some(self.points.iter().fold((first, first), |(lo, hi), p| (lo.inf(p), hi.sup(p))))
    }

    /// The region of a name.
    pub fn region(&self, name: &str) -> Option<&Region> {
        self.regions.iter().find(|r| r.name == name)
    }

    /// Boundary of the tetrahedra, oriented outwards where they are positive: the faces that
    /// belong to one tetrahedron, in order of the tetrahedra, each as four triangles where tetrahedra are quadratic. Where there are no tetrahedra, the
    /// triangles as they are.
    pub fn surface(&self) -> Vec<[u32; 3]> {
        if self.tets.is_empty() {
            return self.triangles.clone();
        }
        let faces: Vec<[u32; 3]> = self.tets.iter().flat_map(|&t| tet_faces(t)).collect();
        let mut keys: Vec<([u32; 3], usize)> = faces
            .iter()
            .enumerate()
            .map(|(i, &f)| {
                let mut key = f;
                key.sort_unstable();
                (key, i)
            })
            .collect();
        keys.sort_unstable();
        let mut single: Vec<usize> =
            keys.chunk_by(|a, b| a.0 == b.0).filter(|g| g.len() == 1).map(|g| g[0].1).collect();
        single.sort_unstable();
        let boundary = single.into_iter().map(|i| faces[i]).collect();
        match self.middles.is_empty() {
            true => boundary,
            false => divide_faces(boundary, &self.tets, &self.middles),
        }
    }

    /// Edges of tetrahedra, triangles and wires, each once with ascending ends, in order of first
    /// appearance.
    pub fn unique_edges(&self) -> Vec<[u32; 2]> {
        const TET_EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
        let tets = self.tets.iter().flat_map(|t| TET_EDGES.map(|[a, b]| [t[a], t[b]]));
        let triangles =
            self.triangles.iter().flat_map(|f| [[f[0], f[1]], [f[1], f[2]], [f[2], f[0]]]);
        let mut seen = std::collections::HashSet::new();
        tets.chain(triangles)
            .chain(self.edges.iter().copied())
            .map(|[a, b]| [a.min(b), a.max(b)])
            .filter(|e| seen.insert(*e))
            .collect()
    }

    /// Turns every tetrahedron around (swaps its last two vertices) if all of them have negative
    /// volume, as files of the opposite convention have; says whether it did.
    pub fn flip_if_all_inverted(&mut self) -> bool {
        let n = self.points.len();
        let inverted = |t: &[u32; 4]| {
            t.iter().all(|&v| (v as usize) < n)
                && tet_determinant(&t.map(|v| self.points[v as usize])) < 0.0
        };
        let all = !self.tets.is_empty() && self.tets.iter().all(inverted);
        if all {
            self.flip();
        }
        all
    }

    /// Removes points that no element uses, keeping the order of the others; returns the old
    /// index of each kept point.
    pub fn compact(&mut self) -> Vec<u32> {
        let mut used = vec![false; self.points.len()];
        for v in self.referenced() {
            used[v as usize] = true;
        }
        let kept: Vec<u32> = (0..self.points.len() as u32).filter(|&v| used[v as usize]).collect();
        let mut new_index = vec![u32::MAX; self.points.len()];
        for (new, &old) in kept.iter().enumerate() {
            new_index[old as usize] = new as u32;
        }
        let renumber = |v: &mut u32| *v = new_index[*v as usize];
        self.tets.iter_mut().flatten().for_each(renumber);
        self.middles.iter_mut().flatten().for_each(renumber);
        self.triangles.iter_mut().flatten().for_each(renumber);
        self.triangle_middles.iter_mut().flatten().for_each(renumber);
        self.edges.iter_mut().flatten().for_each(renumber);
        self.vertices.iter_mut().for_each(renumber);
        for region in &mut self.regions {
            region.vertices.iter_mut().for_each(renumber);
        }
        self.points = kept.iter().map(|&v| self.points[v as usize]).collect();
        kept
    }

    /// The surface alone, as a triangle mesh without interior points, and the old index of each
    /// of its points.
    pub fn to_surface(&self) -> (Mesh, Vec<u32>) {
        let mut surface =
            Mesh { points: self.points.clone(), triangles: self.surface(), ..Mesh::default() };
        let kept = surface.compact();
        (surface, kept)
    }

    /// The unique edges of all elements as wires over the same points.
    pub fn to_wires(&self) -> Mesh {
        Mesh { points: self.points.clone(), edges: self.unique_edges(), ..Mesh::default() }
    }

    /// All points as bare points.
    pub fn to_points(&self) -> Mesh {
        Mesh {
            points: self.points.clone(),
            vertices: (0..self.points.len() as u32).collect(),
            ..Mesh::default()
        }
    }

    /// Every vertex index that an element holds, repetitions included.
    fn referenced(&self) -> impl Iterator<Item = u32> + '_ {
        let tets = self.tets.iter().flatten().chain(self.middles.iter().flatten());
        let triangles =
            self.triangles.iter().flatten().chain(self.triangle_middles.iter().flatten());
        let edges = self.edges.iter().flatten();
        tets.chain(triangles).chain(edges).chain(&self.vertices).copied()
    }
}
