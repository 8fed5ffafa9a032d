//! What is in a scene, and whether it can start.

use crate::memory::{memory, pairs_of_shells};
use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::{Candidates, candidates};
use standoff_geometry::distance::{edge_edge, point_edge, point_point, point_triangle};
use standoff_geometry::quadratic;
use standoff_linalg::Vec3;
use standoff_mesh::{Mesh, Quality, tet_determinant};
use standoff_scene::Scene;
use standoff_scene::bending::{Bending, bending};
use standoff_sim::audit::allowed_inversions;
use standoff_sim::body::Body;
use standoff_sim::build::build;
use standoff_sim::build::start::{check_held, obstructions};
use standoff_sim::contact::orientation::ActivationDistance;
use standoff_sim::definition::{BodyDef, BodyKind, Definition, Dimension};
use standoff_sim::energy::quadratic_triangle::QuadraticTriangle;
use standoff_sim::settings::{ContactPotential, Method, Settings};
use standoff_sim::sizes::BodyScale;
use standoff_sim::step::start_forces::{StartForce, start_forces};
use standoff_sim::{BuildError, Model};

/// What a scene holds and how close its bodies are at the start.
#[derive(Debug, Clone)]
pub struct CheckReport<'a> {
    /// The bodies in order.
    pub bodies: Vec<BodyReport<'a>>,
    /// Number of steps.
    pub steps: u64,
    /// Time step, s.
    pub step: f64,
    /// End of the simulation, s.
    pub end: f64,
    /// Contact distance d̂, stick speed and velocity tolerance of each deformable body, by name.
    pub scales: Vec<(String, BodyScale)>,
    /// Bodies on which contact acts at the start, by name.
    pub start_forces: Vec<(String, StartForce)>,
    /// The greatest contact distance d̂, m.
    pub d_hat: f64,
    /// The smallest distance between two bodies; `None` if it is more than [`Self::far`].
    pub closest: Option<Gap>,
    /// Distance up to which bodies were searched for, m.
    pub far: f64,
    /// Number of pairs of primitives closer than d̂.
    pub pairs_within_d_hat: usize,
    /// Number of pairs of neighbours nearer at rest than their thickness, which ignore each other.
    pub neighbours: usize,
    /// The lowest vertex above each half-space.
    pub half_spaces: Vec<HalfSpaceGap>,
    /// Bodies that keep the IPC potential although the orientation-aware one was chosen.
    pub keeping_ipc: Vec<IpcBody>,
    /// How far the orientation-aware potential acts, where its distance is adaptive.
    pub reach: Vec<Reach>,
    /// Estimate of the peak memory of a run, bytes, while as much is in contact as at the start.
    pub memory: f64,
    /// The same once the shells lie on each other or on something else.
    pub memory_in_contact: f64,
    /// Inverted tetrahedra, where the scene allows them.
    pub inverted: Option<usize>,
    /// Whether anything may touch anything.
    pub may_touch: bool,
    /// Intersections, inverted elements, vertices behind half-spaces.
    pub violations: Vec<String>,
}

/// A body with its mass and the quality of its mesh.
#[derive(Debug, Clone)]
pub struct BodyReport<'a> {
    /// The body.
    pub body: &'a BodyDef,
    /// The dimension of the scene, by which triangles of a solid are under plane strain or rings.
    pub dimension: Dimension,
    /// Its mesh's quality.
    pub quality: Quality,
    /// Mass of a volume, kg.
    pub mass: Option<f64>,
    /// How a solid of linear tetrahedra bends.
    pub bending: Option<Bending>,
}

/// A distance between two primitives beyond their thickness, m.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// The distance, m.
    pub gap: f64,
    /// The one, in words.
    pub a: String,
    /// The other, in words.
    pub b: String,
}

/// The distance of the closest vertex to a half-space.
#[derive(Debug, Clone, PartialEq)]
pub struct HalfSpaceGap {
    /// Name of the half-space.
    pub name: String,
    /// The distance, m.
    pub gap: f64,
    /// The vertex, in words.
    pub vertex: String,
}

/// A body whose surface the orientation-aware potential does not cover.
#[derive(Debug, Clone, PartialEq)]
pub struct IpcBody {
    /// Name of the body.
    pub body: String,
    /// The primitive that shows why, in words.
    pub primitive: String,
    /// Why.
    pub problem: String,
}

/// Adaptive distances ε up to which the orientation-aware potential acts, over the covered vertices.
#[derive(Debug, Clone, PartialEq)]
pub struct Reach {
    /// Between what: `within a body`, `between bodies`, or `half-spaces`.
    pub between: &'static str,
    /// The smallest ε, m.
    pub least: f64,
    /// The median of ε, m.
    pub median: f64,
}

/// Says what is in a scene and whether it can start, without simulating it.
///
/// # Errors
/// The scene cannot be simulated for another reason than intersections.
pub fn check(scene: &Scene) -> Result<CheckReport<'_>, BuildError> {
    let definition = &scene.definition;
    let (model, state) = build(definition)?;
    check_held(definition, &model, &state.x)?;
    let d_hat = model.resolved.d_hat;
    let far = (FAR * model.length).max(d_hat);
    let closest = smallest_gap(&between_bodies(&model), &state.x, d_hat, far);
    let found = candidates(&model.collision, &state.x, 0.5 * d_hat);
    let within = gaps(&model.collision, &state.x, &found).filter(|p| p.gap < d_hat).count();
    let bearing = if bears_within_d_hat(definition) { within } else { 0 };
    let in_contact = match model.may_touch {
        true => bearing.max(pairs_of_shells(definition, d_hat)),
        false => bearing,
    };
    let name = |k: usize| model.bodies[k].name.clone();
    let is_shown = |b: &Body| !b.obstacle && b.owner.is_none();
    let deformable = model.scales.iter().enumerate().filter(|(k, _)| is_shown(&model.bodies[*k]));
    // surfaces that intersect have no finite force
    let forces = start_forces(&model, &state).into_iter().filter(|f| f.force.is_finite());
    Ok(CheckReport {
        scales: deformable.map(|(k, scale)| (name(k), *scale)).collect(),
        start_forces: forces.map(|f| (name(f.body), f)).collect(),
        bodies: definition.bodies.iter().map(|body| describe(body, definition.dimension)).collect(),
        steps: scene.steps(),
        step: definition.settings.time.step,
        end: definition.settings.time.end,
        d_hat,
        closest: closest.map(|p| Gap {
            gap: p.gap,
            a: model.describe_primitive(p.a.vertices()),
            b: model.describe_primitive(p.b.vertices()),
        }),
        far,
        pairs_within_d_hat: within,
        neighbours: model.collision.neighbours.len(),
        half_spaces: half_space_gaps(&model, &state.x),
        keeping_ipc: keeping_ipc(&model),
        reach: reach(&model),
        memory: memory(definition, bearing),
        memory_in_contact: memory(definition, in_contact),
        inverted: definition
            .settings
            .solver
            .allow_inversion
            .then(|| allowed_inversions(&model, &state.x)),
        may_touch: model.may_touch,
        violations: obstructions(&model, &state.x).iter().map(|v| v.describe(&model)).collect(),
    })
}

/// Whether pairs closer than d̂ are contacts, which take memory: the barrier-free solver has constraints only where something would collide, and the
/// orientation-aware potential leaves out what does not face each other, which is most of it where d̂ is longer than edges.
fn bears_within_d_hat(definition: &Definition) -> bool {
    let Settings { solver, contact, .. } = &definition.settings;
    solver.method != Method::BarrierFree && contact.potential != ContactPotential::OrientationAware
}

/// The bodies that keep the IPC potential, each with the first reason.
fn keeping_ipc(model: &Model) -> Vec<IpcBody> {
    let Some(contact) = &model.orientation else { return Vec::new() };
    let (around, vertices) = (&contact.surface.around, &model.collision.vertices);
    let defect = |body: &Body| {
        let of_body = vertices.iter().filter(|v| body.vertices.contains(&(**v as usize)));
        let mut components = of_body.filter_map(|&v| around.component(v));
        let defect = components.find_map(|c| around.defect(c))?;
        Some(IpcBody {
            body: body.name.clone(),
            primitive: model.describe_primitive(&defect.witness()),
            problem: defect.problem().to_string(),
        })
    };
    model.bodies.iter().filter_map(defect).collect()
}

/// How far the orientation-aware potential acts; empty where that is d̂ everywhere.
fn reach(model: &Model) -> Vec<Reach> {
    let Some(contact) = &model.orientation else { return Vec::new() };
    let surface = &contact.surface;
    let ActivationDistance::Adaptive { within, between } = &surface.epsilon else {
        return Vec::new();
    };
    let rows = [
        ("within a body", &within.vertex),
        ("between bodies", &between.vertex),
        ("half-spaces", &contact.plane_reach),
    ];
    let summarise = |(between, eps): (&'static str, &Vec<f64>)| {
        let covered = model.collision.vertices.iter().filter(|v| surface.covered[**v as usize]);
        let mut eps: Vec<f64> = covered.map(|&v| eps[v as usize]).collect();
        eps.sort_by(f64::total_cmp);
        let least = *eps.first()?;
        Some(Reach { between, least, median: eps[eps.len() / 2] })
    };
    rows.into_iter().filter_map(summarise).collect()
}

fn describe(body: &BodyDef, dimension: Dimension) -> BodyReport<'_> {
    let mut mesh = Mesh { points: body.rest.clone(), ..Mesh::default() };
    match &body.kind {
        BodyKind::Volume { tets, .. } => mesh.tets.clone_from(tets),
        BodyKind::Rigid { mass } => {
            let surface = body.surface.as_ref();
            mesh.triangles = surface.map_or_else(Vec::new, |s| s.triangles.to_vec());
            let mass = Some(*mass);
            let quality = mesh.quality();
            return BodyReport { body, dimension, quality, mass, bending: None };
        }
        BodyKind::PlaneStrain { triangles, .. } | BodyKind::Shell { triangles, .. } => {
            mesh.triangles.clone_from(triangles)
        }
        BodyKind::Rod { segments, .. } => mesh.edges.clone_from(segments),
        BodyKind::Particles { points, .. } => mesh.vertices.clone_from(points),
        BodyKind::Obstacle { triangles, edges, points } => {
            mesh.triangles.clone_from(triangles);
            mesh.edges.clone_from(edges);
            mesh.vertices.clone_from(points);
        }
    }
    let quality = mesh.quality();
    let mass = body.solid().map(|_| mass(body, dimension));
    BodyReport { body, dimension, quality, mass, bending: bending(body) }
}

/// The mass of a solid, kg; under plane strain per metre of depth.
fn mass(body: &BodyDef, dimension: Dimension) -> f64 {
    let at = |v: u32| body.rest[v as usize];
    let sizes: Vec<f64> = match &body.kind {
        BodyKind::Volume { tets, .. } => {
            tets.iter().map(|t| tet_determinant(&t.map(at)) / 6.0).collect()
        }
        BodyKind::PlaneStrain { triangles, middles, .. } => {
            let area = |[a, b, c]: [Vec3; 3]| {
                // of a ring by the path of its centroid
                let path = std::f64::consts::TAU * (a.x + b.x + c.x) / 3.0;
                let depth = if dimension.is_axisymmetric() { path } else { 1.0 };
                0.5 * (b - a).cross(&(c - a)).norm() * depth
            };
            let curved = quadratic::triangle_nodes(triangles, middles);
            let whole = |nodes: &[u32; 6]| {
                let [weights, _] =
                    QuadraticTriangle::shares(&nodes.map(at), dimension.is_axisymmetric());
                weights.iter().sum()
            };
            match middles[..] {
                [] => triangles.iter().map(|t| area(t.map(at))).collect(),
                _ => curved.iter().map(whole).collect(),
            }
        }
        _ => Vec::new(),
    };
    sizes.iter().zip(body.substances()).map(|(size, of)| size * of.density).sum()
}

/// Objects farther apart than this share of the deformable bodies' diagonal are not measured.
const FAR: f64 = 0.1;

fn half_space_gaps(model: &Model, x: &[Vec3]) -> Vec<HalfSpaceGap> {
    let mut all = Vec::new();
    for (plane, name) in model.half_spaces.iter().zip(&model.half_space_names) {
        let groups = model.half_space_vertices.iter();
        let gaps = groups.flat_map(|(half, vertices)| {
            vertices.iter().map(move |&v| (plane.signed_distance(&x[v as usize]) - half, v))
        });
        if let Some((gap, vertex)) = gaps.min_by(|a, b| a.0.total_cmp(&b.0)) {
            let (name, vertex) = (name.clone(), model.describe_vertex(vertex));
            all.push(HalfSpaceGap { name, gap, vertex });
        }
    }
    all
}

/// The vertices of a surface primitive: one, two or three.
#[derive(Debug, Clone, Copy)]
struct Primitive {
    vertices: [u32; 3],
    count: usize,
}

impl Primitive {
    fn new(vertices: &[u32]) -> Self {
        let mut all = [0; 3];
        all[..vertices.len()].copy_from_slice(vertices);
        Self { vertices: all, count: vertices.len() }
    }

    fn vertices(&self) -> &[u32] {
        &self.vertices[..self.count]
    }
}

/// Two primitives and their distance beyond their thickness, m.
struct PairGap {
    gap: f64,
    a: Primitive,
    b: Primitive,
}

/// The collision mesh without contact of bodies with themselves.
fn between_bodies(model: &Model) -> CollisionMesh {
    let mut mesh = model.collision.clone();
    let bodies: Vec<_> = model.bodies.iter().map(|b| b.vertices.clone()).collect();
    mesh.exclude_own(&bodies);
    // distances are of interest beyond those at which contact acts
    mesh.reach.clear();
    mesh
}

/// The closest pair of primitives that may collide, if closer than `far`. Looks farther and farther
/// away, from `reach` on.
fn smallest_gap(mesh: &CollisionMesh, x: &[Vec3], mut reach: f64, far: f64) -> Option<PairGap> {
    loop {
        // the broad phase finds every pair within `reach`, so a smaller gap is the smallest one
        let found = candidates(mesh, x, 0.5 * reach);
        let closest = gaps(mesh, x, &found).min_by(|a, b| a.gap.total_cmp(&b.gap));
        match closest {
            Some(pair) if pair.gap <= reach => return Some(pair),
            _ if reach >= far => return None,
            _ => reach = (2.0 * reach).min(far),
        }
    }
}

/// The distances of candidate pairs.
fn gaps<'a>(
    mesh: &'a CollisionMesh,
    x: &'a [Vec3],
    found: &'a Candidates,
) -> impl Iterator<Item = PairGap> + 'a {
    let p = |v: u32| &x[v as usize];
    let gap = |d2: f64, a: &[u32], b: &[u32]| PairGap {
        gap: d2.sqrt() - mesh.thickness(a, b),
        a: Primitive::new(a),
        b: Primitive::new(b),
    };
    let edges = found.edge_edge.iter().map(move |[e, f]| {
        let (a, b) = (mesh.edges[*e as usize], mesh.edges[*f as usize]);
        gap(edge_edge::edge_edge_d2(p(a[0]), p(a[1]), p(b[0]), p(b[1])), &a, &b)
    });
    let faces = found.face_vertex.iter().map(move |&[f, v]| {
        let t = mesh.faces[f as usize];
        gap(point_triangle::point_triangle_d2(p(v), p(t[0]), p(t[1]), p(t[2])), &t, &[v])
    });
    let wires = found.edge_vertex.iter().map(move |&[e, v]| {
        let a = mesh.edges[e as usize];
        gap(point_edge::point_edge_d2(p(v), p(a[0]), p(a[1])), &a, &[v])
    });
    let points = found
        .vertex_vertex
        .iter()
        .map(move |&[v, w]| gap(point_point::point_point_d2(p(v), p(w)), &[v], &[w]));
    edges.chain(faces).chain(wires).chain(points)
}
