//! What is constant through a run: bodies, their elements and what may touch what.

use serde::{Deserialize, Serialize};
use standoff_geometry::quadratic::{self, four_triangles};
use standoff_linalg::Vec3;
use standoff_mesh::Mesh;
use standoff_sim::decomposition::Decomposition;
use standoff_sim::definition::{BodyDef, BodyKind, Definition};
use standoff_sim::energy::membrane::Sheet;

/// Elements of all bodies over the scene's vertices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Topology {
    /// Rest positions, m (`#V`).
    pub rest: Vec<Vec3>,
    /// Tetrahedra of the volumes (`#T×4`), by body.
    pub tets: Vec<[u32; 4]>,
    /// Quadratic tetrahedra of the volumes: corners, then the middles of edges 01, 12, 02, 03, 13, 23.
    pub quadratic: Vec<[u32; 10]>,
    /// Quadratic triangles of solids in two dimensions: corners, then the middles of edges 01, 12, 20.
    pub quadratic_triangles: Vec<[u32; 6]>,
    /// Triangles of shells, of obstacles and of surfaces that volumes carry, in two dimensions of the solids, by body.
    pub triangles: Vec<[u32; 3]>,
    /// Segments of rods and wires of obstacles, by body.
    pub edges: Vec<[u32; 2]>,
    /// Particles and bare points of obstacles, by body.
    pub points: Vec<u32>,
    /// Body of every cell: of the tetrahedra, then the triangles, wires and points.
    pub cell_body: Vec<u32>,
    /// Whether a cell is a triangle of a shell or a segment of a rod.
    pub thin: Vec<bool>,
    /// Thickness in contact of every cell, m.
    pub thickness: Vec<f64>,
    /// Radius of every cell of rods and particles, m; 0 elsewhere.
    pub radius: Vec<f64>,
    /// The bodies.
    pub bodies: Vec<BodyInfo>,
    /// Boundary of the volumes and triangles of shells and obstacles (`#F×3`), by body.
    pub surface: Vec<[u32; 3]>,
    /// Number of surface triangles of each body.
    pub surface_counts: Vec<usize>,
    /// Whether the run has two dimensions.
    pub planar: bool,
}

/// A body of a run, as `run.json` lists it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BodyInfo {
    /// Name.
    pub name: String,
    /// Whether it is a kinematic obstacle.
    pub obstacle: bool,
    /// Whether it is a rigid body.
    #[serde(default)]
    pub rigid: bool,
    /// Index of its first vertex.
    pub first_vertex: u32,
    /// Number of its vertices.
    pub vertices: u32,
    /// Its thickness in contact, m.
    pub contact_thickness: f64,
    /// Limits of the stretch, if it is a shell.
    pub limits: Option<LimitInfo>,
}

/// Limits of the stretch of a shell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitInfo {
    /// Limit of the principal stretches.
    pub stretch: Option<f64>,
    /// Limits of Green's strain along, across and between fibres.
    pub strain: Option<[f64; 3]>,
    /// Direction of the fibres.
    pub fibre: Option<[f64; 3]>,
}

fn limits(body: &BodyDef) -> Option<LimitInfo> {
    let BodyKind::Shell { material, .. } = &body.kind else { return None };
    let strain = match &material.sheet {
        Sheet::Orthotropic(law) => law.limits,
        Sheet::Isotropic(..) => None,
    };
    Some(LimitInfo {
        stretch: material.stretch_limit.map(|l| l.limit),
        strain,
        fibre: material.fibre.map(|f| f.into()),
    })
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
    // long: an arm for each kind of body
    pub fn new(definition: &Definition) -> Self {
        let mut all = Self { planar: definition.dimension.is_planar(), ..Self::default() };
        let (mut tet_body, mut quadratic_body) = (Vec::new(), Vec::new());
        let (mut triangle_body, mut curved_body) = (Vec::new(), Vec::new());
        let (mut edge_body, mut point_body) = (Vec::new(), Vec::new());
        for (index, body) in definition.bodies.iter().enumerate() {
            let (first, b) = (all.rest.len() as u32, index as u32);
            let mut mesh = Mesh { points: body.rest.clone(), ..Mesh::default() };
            let obstacle = match &body.kind {
                BodyKind::Volume { tets, middles, .. } if !middles.is_empty() => {
                    let nodes = quadratic::nodes(tets, middles);
                    all.quadratic.extend(nodes.iter().map(|n| n.map(|v| v + first)));
                    quadratic_body.resize(all.quadratic.len(), b);
                    // of a definition that is not valid, there is no boundary
                    mesh.triangles = quadratic::boundary(tets, middles).unwrap_or_default();
                    false
                }
                BodyKind::Volume { tets, .. } => {
                    mesh.tets.clone_from(tets);
                    all.tets.extend(tets.iter().map(|t| t.map(|v| v + first)));
                    tet_body.resize(all.tets.len(), b);
                    if let Some(surface) = &body.surface {
                        let carried = body.carried().start as u32;
                        let own = surface.triangles.iter().map(|t| t.map(|v| v + carried));
                        mesh.tets.clear();
                        mesh.triangles = own.collect();
                        all.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
                    }
                    false
                }
                BodyKind::Rigid { .. } => {
                    mesh.triangles =
                        body.surface.as_ref().map_or_else(Vec::new, |s| s.triangles.to_vec());
                    all.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
                    false
                }
                BodyKind::PlaneStrain { triangles, middles, .. } if !middles.is_empty() => {
                    let nodes = quadratic::triangle_nodes(triangles, middles);
                    all.quadratic_triangles.extend(nodes.iter().map(|n| n.map(|v| v + first)));
                    curved_body.resize(all.quadratic_triangles.len(), b);
                    mesh.triangles = nodes.into_iter().flat_map(four_triangles).collect();
                    false
                }
                BodyKind::PlaneStrain { triangles, .. } | BodyKind::Shell { triangles, .. } => {
                    mesh.triangles.clone_from(triangles);
                    all.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first)));
                    false
                }
                BodyKind::Rod { segments, .. } => {
                    all.edges.extend(segments.iter().map(|e| e.map(|v| v + first)));
                    false
                }
                BodyKind::Particles { points, .. } => {
                    all.points.extend(points.iter().map(|v| v + first));
                    false
                }
                BodyKind::Obstacle { triangles, edges, points } => {
                    mesh.triangles.clone_from(triangles);
                    all.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first)));
                    all.edges.extend(edges.iter().map(|e| e.map(|v| v + first)));
                    all.points.extend(points.iter().map(|v| v + first));
                    true
                }
            };
            triangle_body.resize(all.triangles.len(), b);
            edge_body.resize(all.edges.len(), b);
            point_body.resize(all.points.len(), b);
            let surface = mesh.surface();
            all.surface_counts.push(surface.len());
            all.surface.extend(surface.iter().map(|f| f.map(|v| v + first)));
            all.bodies.push(BodyInfo {
                name: body.name.clone(),
                obstacle,
                rigid: matches!(body.kind, BodyKind::Rigid { .. }),
                first_vertex: first,
                vertices: body.rest.len() as u32,
                contact_thickness: body.contact_thickness,
                limits: limits(body),
            });
            all.rest.extend(&body.rest);
        }
        all.cell_body =
            [tet_body, quadratic_body, triangle_body, curved_body, edge_body, point_body].concat();
        let bodies = all.cell_body.iter().map(|b| &definition.bodies[*b as usize]);
        for body in bodies {
            all.thickness.push(body.contact_thickness);
            all.thin.push(matches!(body.kind, BodyKind::Shell { .. } | BodyKind::Rod { .. }));
            all.radius.push(match &body.kind {
                BodyKind::Rod { material, .. } => material.radius,
                BodyKind::Particles { radius, .. } => *radius,
                _ => 0.0,
            });
        }
        all
    }

    /// Subdomain of every cell; of obstacles the first.
    pub fn subdomains(&self, decomposition: &Decomposition) -> Vec<u32> {
        let tets = self.tets.iter().map(|t| decomposition.owner(t));
        let triangles = self.triangles.iter().map(|t| decomposition.owner(t));
        let edges = self.edges.iter().map(|e| decomposition.owner(e));
        let points = self.points.iter().map(|p| decomposition.owner(&[*p]));
        let quadratic = self.quadratic.iter().map(|t| decomposition.owner(t));
        let curved = self.quadratic_triangles.iter().map(|t| decomposition.owner(t));
        tets.chain(quadratic).chain(triangles).chain(curved).chain(edges).chain(points).collect()
    }

    /// Number of cells that are solid and come first: tetrahedra, in two dimensions triangles.
    pub fn solids(&self) -> usize {
        match self.planar {
            true => self.triangles.len() + self.quadratic_triangles.len(),
            false => self.tets.len() + self.quadratic.len(),
        }
    }

    /// Number of cells in a frame.
    pub fn cells(&self) -> usize {
        let solids = self.tets.len() + self.quadratic.len();
        let triangles = self.triangles.len() + self.quadratic_triangles.len();
        solids + triangles + self.edges.len() + self.points.len()
    }
}
