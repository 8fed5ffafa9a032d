//! Weights of contact pairs: counts, or shares of the rest surface's area.

use standoff_geometry::topology::ascending;
use standoff_geometry::{CollisionMesh, SurfaceAdjacency};

/// Areas that the vertices and edges of the rest surface stand for, m².
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RestAreas {
    /// A third of the incident triangles' areas; for a vertex of wires only, half of their lengths
    /// (m); 1 for a point (`#V`).
    pub vertex: Vec<f64>,
    /// A third of the incident triangles' areas; for a wire, its length (m) (`#E`).
    pub edge: Vec<f64>,
}

impl RestAreas {
    /// Areas of the rest shape.
    pub fn new(mesh: &CollisionMesh) -> Self {
        let index = mesh.edge_index();
        let mut vertex = vec![0.0; mesh.rest.len()];
        let mut edge = vec![0.0; mesh.edges.len()];
        let mut on_face = vec![false; mesh.rest.len()];
        for f in &mesh.faces {
            let [a, b, c] = f.map(|v| mesh.rest[v as usize]);
            let third = (b - a).cross(&(c - a)).norm() / 6.0;
            for k in 0..3 {
                vertex[f[k] as usize] += third;
                on_face[f[k] as usize] = true;
                if let Some(&e) = index.get(&ascending(f[k], f[(k + 1) % 3])) {
                    edge[e as usize] += third;
                }
            }
        }
        for &e in &mesh.codim_edges {
            let ends = mesh.edges[e as usize].map(|v| v as usize);
            let length = (mesh.rest[ends[1]] - mesh.rest[ends[0]]).norm();
            edge[e as usize] = length;
            for v in ends {
                if !on_face[v] {
                    vertex[v] += 0.5 * length;
                }
            }
        }
        for &v in &mesh.codim_vertices {
            vertex[v as usize] = 1.0;
        }
        Self { vertex, edge }
    }
}

/// How pairs are weighted.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Weighting {
    /// Every pair of primitives counts 1.
    #[default]
    Count,
    /// By rest area: a quarter of the vertex's (face–vertex) or of both edges' (edge–edge); a half
    /// where a codimensional vertex or edge is involved.
    Area(RestAreas),
    /// By rest area, with what neighbouring primitives count twice taken off again (weights may be
    /// negative) [Li 2023, "Convergent IPC"].
    AreaWithoutDuplicates(RestAreas, SurfaceAdjacency),
}

impl Weighting {
    /// Area weighting of a mesh.
    pub fn area(mesh: &CollisionMesh) -> Self {
        Self::Area(RestAreas::new(mesh))
    }

    /// Area weighting of a mesh without duplicates.
    pub fn area_without_duplicates(mesh: &CollisionMesh) -> Self {
        Self::AreaWithoutDuplicates(RestAreas::new(mesh), SurfaceAdjacency::new(mesh))
    }

    /// The areas, where pairs are weighted by them.
    #[inline]
    pub fn areas(&self) -> Option<&RestAreas> {
        match self {
            Self::Count => None,
            Self::Area(areas) | Self::AreaWithoutDuplicates(areas, _) => Some(areas),
        }
    }

    /// `share` of a vertex's area, or 1.
    #[inline]
    pub(super) fn vertex(&self, v: u32, share: f64) -> f64 {
        self.areas().map_or(1.0, |a| share * a.vertex[v as usize])
    }

    /// `share` of an edge's area, or 1.
    #[inline]
    pub(super) fn edge(&self, e: u32, share: f64) -> f64 {
        self.areas().map_or(1.0, |a| share * a.edge[e as usize])
    }

    pub(super) fn vertices(&self, a: u32, b: u32, share: f64) -> f64 {
        self.areas().map_or(1.0, |w| share * (w.vertex[a as usize] + w.vertex[b as usize]))
    }

    pub(super) fn edges(&self, a: u32, b: u32, share: f64) -> f64 {
        self.areas().map_or(1.0, |w| share * (w.edge[a as usize] + w.edge[b as usize]))
    }
}
