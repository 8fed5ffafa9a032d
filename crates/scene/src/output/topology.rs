//! What is constant through a run: bodies, their elements and what may touch what.

use crate::mesh::Mesh;
use serde::{Deserialize, Serialize};
use standoff_linalg::Vec3;
use standoff_sim::definition::{BodyKind, Definition};

/// Elements of all bodies over the scene's vertices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Topology {
    /// Rest positions, m (`#V`).
    pub rest: Vec<Vec3>,
    /// Tetrahedra of the volumes (`#T×4`), by body.
    pub tets: Vec<[u32; 4]>,
    /// Triangles of the obstacles, by body.
    pub triangles: Vec<[u32; 3]>,
    /// Wires of the obstacles, by body.
    pub edges: Vec<[u32; 2]>,
    /// Bare points of the obstacles, by body.
    pub points: Vec<u32>,
    /// Body of every cell: of the tetrahedra, then the triangles, wires and points.
    pub cell_body: Vec<u32>,
    /// The bodies.
    pub bodies: Vec<BodyInfo>,
    /// Boundary of the volumes and triangles of the obstacles (`#F×3`), by body.
    pub surface: Vec<[u32; 3]>,
    /// Number of surface triangles of each body.
    pub surface_counts: Vec<usize>,
}

/// A body of a run, as `run.json` lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BodyInfo {
    /// Name.
    pub name: String,
    /// Whether it is a kinematic obstacle.
    pub obstacle: bool,
    /// Index of its first vertex.
    pub first_vertex: u32,
    /// Number of its vertices.
    pub vertices: u32,
}

/// A half-space of a run, as `run.json` lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HalfSpaceInfo {
    /// Name.
    pub name: String,
    /// A point on the plane, m.
    pub origin: [f64; 3],
    /// Outward normal.
    pub normal: [f64; 3],
}

impl Topology {
    /// Joins the bodies of a definition.
    pub fn new(definition: &Definition) -> Self {
        let mut all = Self::default();
        let (mut tet_body, mut triangle_body) = (Vec::new(), Vec::new());
        let (mut edge_body, mut point_body) = (Vec::new(), Vec::new());
        for (index, body) in definition.bodies.iter().enumerate() {
            let (first, b) = (all.rest.len() as u32, index as u32);
            let mut mesh = Mesh { points: body.rest.clone(), ..Mesh::default() };
            let obstacle = match &body.kind {
                BodyKind::Volume { tets, .. } => {
                    mesh.tets.clone_from(tets);
                    all.tets.extend(tets.iter().map(|t| t.map(|v| v + first)));
                    tet_body.resize(all.tets.len(), b);
                    false
                }
                BodyKind::Obstacle { triangles, edges, points } => {
                    mesh.triangles.clone_from(triangles);
                    all.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first)));
                    all.edges.extend(edges.iter().map(|e| e.map(|v| v + first)));
                    all.points.extend(points.iter().map(|v| v + first));
                    triangle_body.resize(all.triangles.len(), b);
                    edge_body.resize(all.edges.len(), b);
                    point_body.resize(all.points.len(), b);
                    true
                }
            };
            let surface = mesh.surface();
            all.surface_counts.push(surface.len());
            all.surface.extend(surface.iter().map(|f| f.map(|v| v + first)));
            all.bodies.push(BodyInfo {
                name: body.name.clone(),
                obstacle,
                first_vertex: first,
                vertices: body.rest.len() as u32,
            });
            all.rest.extend(&body.rest);
        }
        all.cell_body = [tet_body, triangle_body, edge_body, point_body].concat();
        all
    }

    /// Number of cells in a frame.
    pub fn cells(&self) -> usize {
        self.tets.len() + self.triangles.len() + self.edges.len() + self.points.len()
    }
}
