//! Weights of contact pairs: counts, or shares of the rest surface's area.
//!
//! Of bodies of revolution a length stands for the surface of its ring, ∫ Nₐ 2πR ds, and a count for the circumference of one.

use standoff_geometry::topology::ascending;
use standoff_geometry::{CollisionMesh, SurfaceAdjacency};
use std::f64::consts::TAU;

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
            // ∫ Nₐ 2πR ds
            let parts = ends.map(|v| match mesh.axisymmetric {
                true => {
                    TAU * length * (mesh.rest[v].x + mesh.rest[ends[0]].x + mesh.rest[ends[1]].x)
                        / 6.0
                }
                false => 0.5 * length,
            });
            edge[e as usize] = parts[0] + parts[1];
            for (v, part) in ends.into_iter().zip(parts) {
                if !on_face[v] {
                    vertex[v] += part;
                }
            }
        }
        for &v in &mesh.codim_vertices {
            vertex[v as usize] =
                if mesh.axisymmetric { TAU * mesh.rest[v as usize].x } else { 1.0 };
        }
        Self { vertex, edge }
    }
}

/// The sum of the radii of an edge's ends at rest, m; `None` for an edge on the axis.
fn radii(mesh: &CollisionMesh, ends: &[usize; 2]) -> Option<f64> {
    let sum = mesh.rest[ends[0]].x + mesh.rest[ends[1]].x;
    (sum > 0.0).then_some(sum)
}

/// How pairs are weighted.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Weighting {
    /// Every pair of primitives counts 1.
    #[default]
    Count,
    /// Every pair counts as much as the circumference, m, of the ring that its vertex stands for (`#V`).
    Rings(Vec<f64>),
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

    /// Circumferences of the rings of a mesh of bodies of revolution: 2π times the mean radius, weighted by the shape function, of the
    /// edges at a vertex that are not on the axis. What is inside a body on the axis has none.
    pub fn rings(mesh: &CollisionMesh) -> Self {
        let areas = RestAreas::new(mesh);
        let mut length = vec![0.0; mesh.rest.len()];
        for e in &mesh.edges {
            let ends = e.map(|v| v as usize);
            if radii(mesh, &ends).is_some() {
                let half = 0.5 * (mesh.rest[ends[1]] - mesh.rest[ends[0]]).norm();
                ends.into_iter().for_each(|v| length[v] += half);
            }
        }
        for &v in &mesh.codim_vertices {
            length[v as usize] = 1.0;
        }
        let mean = |(area, length): (&f64, &f64)| if *length > 0.0 { area / length } else { 0.0 };
        Self::Rings(areas.vertex.iter().zip(&length).map(mean).collect())
    }

    /// The areas, where pairs are weighted by them.
    #[inline]
    pub fn areas(&self) -> Option<&RestAreas> {
        match self {
            Self::Count | Self::Rings(_) => None,
            Self::Area(areas) | Self::AreaWithoutDuplicates(areas, _) => Some(areas),
        }
    }

    /// A vertex's area, or its count.
    #[inline]
    pub(super) fn whole(&self, v: u32) -> f64 {
        match self {
            Self::Count => 1.0,
            Self::Rings(rings) => rings[v as usize],
            Self::Area(areas) | Self::AreaWithoutDuplicates(areas, _) => areas.vertex[v as usize],
        }
    }

    /// `share` of a vertex's area, or its count.
    #[inline]
    pub(super) fn vertex(&self, v: u32, share: f64) -> f64 {
        match self {
            Self::Count | Self::Rings(_) => self.whole(v),
            Self::Area(_) | Self::AreaWithoutDuplicates(..) => share * self.whole(v),
        }
    }

    /// `share` of an edge's area, or 1.
    #[inline]
    pub(super) fn edge(&self, e: u32, share: f64) -> f64 {
        self.areas().map_or(1.0, |a| share * a.edge[e as usize])
    }

    /// `share` of the areas of two vertices, or their mean count.
    pub(super) fn vertices(&self, a: u32, b: u32, share: f64) -> f64 {
        match self {
            Self::Count => 1.0,
            Self::Rings(_) => 0.5 * (self.whole(a) + self.whole(b)),
            Self::Area(_) | Self::AreaWithoutDuplicates(..) => {
                share * (self.whole(a) + self.whole(b))
            }
        }
    }

    pub(super) fn edges(&self, a: u32, b: u32, share: f64) -> f64 {
        self.areas().map_or(1.0, |w| share * (w.edge[a as usize] + w.edge[b as usize]))
    }
}
