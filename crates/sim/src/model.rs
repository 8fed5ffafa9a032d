//! What is constant during a step: rest mesh, masses, elastic elements, collision primitives,
//! half-spaces, friction table, scripts and the settings with all relative lengths resolved.

use crate::boundary::Script;
use crate::contact::{FrictionMaterials, HalfSpace, Weighting};
use crate::definition::{BodyDef, BodyKind, Definition};
use crate::energy::spring;
use crate::energy::tet::{ElasticTets, TetError};
use crate::error::BuildError;
use crate::load::{Loads, Scene};
use crate::material::Material;
use crate::settings::{FrictionSettings, Lagging, Settings};
use crate::state::State;
use standoff_geometry::{CollisionMesh, topology};
use standoff_linalg::Vec3;
use std::collections::BTreeMap;
use std::ops::Range;

/// A body's place in the scene-wide numbering.
#[derive(Debug, Clone)]
pub struct Body {
    /// Name, unique in the scene.
    pub name: String,
    /// Its vertices.
    pub vertices: Range<usize>,
    /// Its tetrahedra in `Model::elastic`.
    pub tets: Range<usize>,
    /// Whether it is a kinematic obstacle.
    pub obstacle: bool,
}

/// Settings with relative lengths resolved, SI units.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// Time step h, s.
    pub h: f64,
    /// Number of steps, ceil(end/h).
    pub steps: usize,
    /// Barrier distance d̂, m.
    pub d_hat: f64,
    /// Stick speed ε_v, m/s.
    pub stick_speed: f64,
    /// Newton tolerance ε_d, m/s.
    pub velocity_tolerance: f64,
    /// Minimisations per step with updated friction; `None` until converged.
    pub lagging: Option<u32>,
    /// The settings as given.
    pub settings: Settings,
}

/// A simulation's constant data.
#[derive(Debug, Clone)]
pub struct Model {
    /// Bodies in order of definition.
    pub bodies: Vec<Body>,
    /// Rest positions, m (`#V`).
    pub rest: Vec<Vec3>,
    /// Lumped masses, kg (`#V`). Obstacle vertices carry the fictitious mass of [Li 2020, suppl. E].
    pub mass: Vec<f64>,
    /// Mean mass of the deformable bodies' vertices, kg.
    pub mean_mass: f64,
    /// Whether a vertex belongs to a deformable body (`#V`).
    pub deformable: Vec<bool>,
    /// Tetrahedra of all volumes.
    pub elastic: ElasticTets,
    /// Surface primitives.
    pub collision: CollisionMesh,
    /// Surface vertices of the deformable bodies, which half-spaces repel.
    pub half_space_vertices: Vec<u32>,
    /// Half-spaces.
    pub half_spaces: Vec<HalfSpace>,
    /// Their names.
    pub half_space_names: Vec<String>,
    /// How contact pairs are weighted.
    pub weighting: Weighting,
    /// Friction materials of vertices and half-spaces and the coefficients between them.
    pub friction: FrictionMaterials,
    /// Whether any coefficient is positive.
    pub has_friction: bool,
    /// Prescribed motions.
    pub scripts: Vec<Script>,
    /// Forces, pressures and attachments.
    pub loads: Loads,
    /// Gravity, m/s².
    pub gravity: Vec3,
    /// Characteristic length l, m: diagonal of the bounding box of the deformable bodies at rest.
    pub length: f64,
    /// Settings.
    pub resolved: Resolved,
}

impl Model {
    /// Checks a definition and builds the model and its initial state.
    ///
    /// # Errors
    /// The first inconsistency, non-finite number, or inverted element. Intersections are checked
    /// by `Simulation::new`.
    pub fn new(definition: &Definition) -> Result<(Model, State), BuildError> {
        check_settings(&definition.settings)?;
        let mut bodies = Vec::new();
        let (mut rest, mut start, mut velocity) = (Vec::new(), Vec::new(), Vec::new());
        let (mut deformable, mut friction_material) = (Vec::new(), Vec::new());
        let mut elements = Elements::default();
        let (mut faces, mut wires, mut points) = (Vec::new(), Vec::new(), Vec::new());
        let names = friction_names(definition);
        for body in &definition.bodies {
            check_body(body)?;
            let first = rest.len();
            let first_tet = elements.vertices.len();
            rest.extend_from_slice(&body.rest);
            start.extend_from_slice(if body.start.is_empty() { &body.rest } else { &body.start });
            if body.velocity.is_empty() {
                velocity.resize(rest.len(), Vec3::zeros());
            } else {
                velocity.extend_from_slice(&body.velocity);
            }
            let shift = |v: u32| v + first as u32;
            let obstacle = match &body.kind {
                BodyKind::Volume { tets, density, material, overrides } => {
                    let exceptions: BTreeMap<u32, _> =
                        overrides.iter().map(|&(e, d, m)| (e, (d, m))).collect();
                    for (e, tet) in tets.iter().enumerate() {
                        let (rho, law) =
                            exceptions.get(&(e as u32)).copied().unwrap_or((*density, *material));
                        elements.vertices.push(tet.map(shift));
                        elements.densities.push(rho);
                        elements.materials.push(law);
                    }
                    let boundary = topology::boundary_faces(tets).map_err(|e| {
                        BuildError::Body { body: body.name.clone(), problem: e.to_string() }
                    })?;
                    faces.extend(boundary.iter().map(|f| f.map(shift)));
                    false
                }
                BodyKind::Obstacle { triangles, edges, points: bare } => {
                    faces.extend(triangles.iter().map(|f| f.map(shift)));
                    wires.extend(edges.iter().map(|e| e.map(shift)));
                    points.extend(bare.iter().map(|&p| shift(p)));
                    true
                }
            };
            deformable.resize(rest.len(), !obstacle);
            friction_material.resize(rest.len(), material_index(&names, &body.friction_material));
            bodies.push(Body {
                name: body.name.clone(),
                vertices: first..rest.len(),
                tets: first_tet..elements.vertices.len(),
                obstacle,
            });
        }
        if elements.vertices.is_empty() {
            return Err(BuildError::NothingToSimulate);
        }
        let densities = std::mem::take(&mut elements.densities);
        let elastic = elements.build(&rest, &bodies)?;
        check_start(&bodies, &elastic, &start)?;
        let mut mass = vec![0.0; rest.len()];
        elastic.add_lumped_mass(&densities, &mut mass);
        check_masses(&bodies, &deformable, &mass)?;
        let n_deformable = deformable.iter().filter(|d| **d).count();
        let mean_mass = mass.iter().sum::<f64>() / n_deformable as f64;
        let mean_density =
            mass.iter().sum::<f64>() / elastic.elements().iter().map(|e| e.volume()).sum::<f64>();
        let length = bounding_diagonal(&rest, &deformable);
        let mut collision = CollisionMesh::new(rest.clone(), faces, &wires, &points);
        collision.mobile.clone_from(&deformable);
        apply_no_contact(&mut collision, &bodies, definition);
        add_obstacle_masses(&mut mass, &collision, &deformable, mean_density, mean_mass);
        let half_space_vertices =
            collision.vertices.iter().copied().filter(|&v| deformable[v as usize]).collect();
        let half_spaces = half_spaces(definition)?;
        let half_space_friction = definition
            .half_spaces
            .iter()
            .map(|h| material_index(&names, &h.friction_material))
            .collect();
        let weighting = if definition.settings.contact.area_weighting {
            Weighting::area(&collision)
        } else {
            Weighting::default()
        };
        let friction = FrictionMaterials {
            vertex: friction_material,
            half_space: half_space_friction,
            coefficients: friction_coefficients(&names, &definition.settings.friction),
            count: names.len(),
        };
        let scripts = definition
            .prescribed
            .iter()
            .map(|p| Script::new(p, &bodies, &start))
            .collect::<Result<_, _>>()?;
        let scene = Scene { bodies: &bodies, start: &start, mass: &mass, faces: &collision.faces };
        let loads = Loads::new(definition, &scene)?;
        let resolved = resolve(&definition.settings, length);
        let mut state = State::start(start, velocity, definition.prescribed.len());
        if !definition.settings.time.zero_initial_acceleration {
            let mut gradient = vec![Vec3::zeros(); mass.len()];
            elastic.add_gradient(&state.x, &mut gradient);
            spring::add_gradient(&loads.springs, 0.0, &state.x, &mut gradient);
            loads.pressures(0.0, 0.0, &state.x).add_gradient(&state.x, &mut gradient);
            let forced = loads.accelerations(definition.gravity, mass.len(), 0.0, 0.0);
            for v in (0..mass.len()).filter(|&v| deformable[v]) {
                state.a[v] = forced[v] - gradient[v] / mass[v];
            }
        }
        let model = Model {
            bodies,
            rest,
            mass,
            mean_mass,
            deformable,
            elastic,
            collision,
            half_space_vertices,
            half_spaces,
            half_space_names: definition.half_spaces.iter().map(|h| h.name.clone()).collect(),
            weighting,
            has_friction: friction.coefficients.iter().any(|&m| m > 0.0),
            friction,
            scripts,
            loads,
            gravity: definition.gravity,
            length,
            resolved,
        };
        Ok((model, state))
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.rest.len()
    }

    /// The body of a vertex and the vertex's index within it.
    pub fn locate(&self, vertex: u32) -> (&Body, u32) {
        let v = vertex as usize;
        let body = self.bodies.partition_point(|b| b.vertices.end <= v);
        (&self.bodies[body], (v - self.bodies[body].vertices.start) as u32)
    }

    /// "vertex 3 of 'ball'".
    pub fn describe_vertex(&self, vertex: u32) -> String {
        let (body, local) = self.locate(vertex);
        format!("vertex {local} of '{}'", body.name)
    }

    /// "edge (3, 7) of 'ball'", "triangle (1, 2, 3) of 'board'" or "vertex 3 of 'ball'".
    pub fn describe_primitive(&self, vertices: &[u32]) -> String {
        let (body, _) = self.locate(vertices[0]);
        let local: Vec<String> = vertices.iter().map(|&v| self.locate(v).1.to_string()).collect();
        match local.len() {
            1 => format!("vertex {} of '{}'", local[0], body.name),
            2 => format!("edge ({}) of '{}'", local.join(", "), body.name),
            3 => format!("triangle ({}) of '{}'", local.join(", "), body.name),
            _ => format!("tetrahedron ({}) of '{}'", local.join(", "), body.name),
        }
    }
}

/// Tetrahedra of all bodies while they are collected.
#[derive(Default)]
struct Elements {
    vertices: Vec<[u32; 4]>,
    densities: Vec<f64>,
    materials: Vec<Material>,
}

impl Elements {
    fn build(self, rest: &[Vec3], bodies: &[Body]) -> Result<ElasticTets, BuildError> {
        let vertices = self.vertices.clone();
        ElasticTets::new(rest, self.vertices, &self.materials).map_err(|error| {
            let (element, what) = match error {
                TetError::Inverted { element } => (element, "inverted at rest"),
                TetError::Degenerate { element } => (element, "flat at rest"),
                other => {
                    return BuildError::Body { body: String::new(), problem: other.to_string() };
                }
            };
            let body = &bodies[bodies.partition_point(|b| b.tets.end <= element)];
            BuildError::Element {
                body: body.name.clone(),
                element: (element - body.tets.start) as u32,
                vertices: vertices[element].map(|v| v - body.vertices.start as u32),
                what,
            }
        })
    }
}

fn check_settings(s: &Settings) -> Result<(), BuildError> {
    let positive = |key, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            let must = "it must be a positive, finite number";
            Err(BuildError::Setting { key, value: value.to_string(), must })
        }
    };
    positive("time.step", s.time.step)?;
    positive("time.end", s.time.end)?;
    positive("contact.d_hat_relative", s.contact.d_hat_relative)?;
    positive("contact.d_hat", s.contact.d_hat.unwrap_or(1.0))?;
    positive("contact.stiffness", s.contact.stiffness.unwrap_or(1.0))?;
    positive("friction.stick_speed_relative", s.friction.stick_speed_relative)?;
    positive("friction.stick_speed", s.friction.stick_speed.unwrap_or(1.0))?;
    positive("solver.velocity_tolerance_relative", s.solver.velocity_tolerance_relative)?;
    positive("solver.velocity_tolerance", s.solver.velocity_tolerance.unwrap_or(1.0))?;
    positive("solver.linear_tolerance", s.solver.linear_tolerance)?;
    let at_least_one = |key, value: u32| {
        if value >= 1 {
            Ok(())
        } else {
            let must = "it must be at least 1";
            Err(BuildError::Setting { key, value: value.to_string(), must })
        }
    };
    at_least_one("solver.max_iterations", s.solver.max_iterations)?;
    at_least_one("friction.max_lagging", s.friction.max_lagging)?;
    if let Lagging::Count(n) = s.friction.lagging {
        at_least_one("friction.lagging", n)?;
    }
    if s.friction.coefficient < 0.0 || !s.friction.coefficient.is_finite() {
        let must = "it must be a finite number, at least 0";
        let value = s.friction.coefficient.to_string();
        return Err(BuildError::Setting { key: "friction.coefficient", value, must });
    }
    Ok(())
}

fn check_body(body: &BodyDef) -> Result<(), BuildError> {
    let err = |problem: String| Err(BuildError::Body { body: body.name.clone(), problem });
    let n = body.rest.len();
    if n == 0 {
        return err("it has no vertices".into());
    }
    for (what, array) in [("start", &body.start), ("velocity", &body.velocity)] {
        if !array.is_empty() && array.len() != n {
            return err(format!("`{what}` has {} entries for {n} vertices", array.len()));
        }
    }
    for (what, array) in [
        ("the rest position", &body.rest),
        ("the start position", &body.start),
        ("the velocity", &body.velocity),
    ] {
        if let Some(vertex) = array.iter().position(|p| !p.iter().all(|c| c.is_finite())) {
            return Err(BuildError::NotFinite {
                body: body.name.clone(),
                vertex: vertex as u32,
                what,
            });
        }
    }
    let indices: Box<dyn Iterator<Item = u32>> = match &body.kind {
        BodyKind::Volume { tets, density, material, overrides } => {
            for (_, rho, m) in std::iter::once(&(0, *density, *material)).chain(overrides) {
                if !(*rho > 0.0 && rho.is_finite()) {
                    return err(format!("density {rho} kg/m³ must be positive and finite"));
                }
                if !(m.young_modulus > 0.0 && m.young_modulus.is_finite()) {
                    return err(format!("Young's modulus {} Pa must be positive", m.young_modulus));
                }
                if !(m.poisson_ratio > -1.0 && m.poisson_ratio < 0.5) {
                    return err(format!(
                        "Poisson's ratio {} must be in (-1, 0.5)",
                        m.poisson_ratio
                    ));
                }
            }
            if tets.is_empty() {
                return err("a volume needs tetrahedra".into());
            }
            Box::new(tets.iter().flatten().copied())
        }
        BodyKind::Obstacle { triangles, edges, points } => {
            if triangles.is_empty() && edges.is_empty() && points.is_empty() {
                return err("an obstacle needs triangles, edges or points".into());
            }
            Box::new(
                triangles
                    .iter()
                    .flatten()
                    .chain(edges.iter().flatten())
                    .chain(points.iter())
                    .copied(),
            )
        }
    };
    if let Some(bad) = indices.into_iter().find(|&i| i as usize >= n) {
        return err(format!("an element refers to vertex {bad}, but there are only {n} vertices"));
    }
    Ok(())
}

fn check_start(bodies: &[Body], elastic: &ElasticTets, x: &[Vec3]) -> Result<(), BuildError> {
    for body in bodies {
        for e in body.tets.clone() {
            let global = elastic.vertices()[e];
            let p = global.map(|v| x[v as usize]);
            if (p[1] - p[0]).cross(&(p[2] - p[0])).dot(&(p[3] - p[0])) <= 0.0 {
                return Err(BuildError::Element {
                    body: body.name.clone(),
                    element: (e - body.tets.start) as u32,
                    vertices: global.map(|v| v - body.vertices.start as u32),
                    what: "inverted or flat at the start",
                });
            }
        }
    }
    Ok(())
}

/// A vertex without an element has no mass and would make the system singular.
fn check_masses(bodies: &[Body], deformable: &[bool], mass: &[f64]) -> Result<(), BuildError> {
    for body in bodies {
        for v in body.vertices.clone() {
            if deformable[v] && mass[v] <= 0.0 {
                let problem = format!(
                    "vertex {} belongs to no tetrahedron; remove it from the mesh",
                    v - body.vertices.start
                );
                return Err(BuildError::Body { body: body.name.clone(), problem });
            }
        }
    }
    Ok(())
}

fn friction_names(definition: &Definition) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let bodies = definition.bodies.iter().map(|b| &b.friction_material);
    for name in bodies.chain(definition.half_spaces.iter().map(|h| &h.friction_material)) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Symmetric table of coefficients; a pair that names a material without a body has no effect.
fn friction_coefficients(names: &[String], settings: &FrictionSettings) -> Vec<f64> {
    let n = names.len();
    let mut table = vec![settings.coefficient; n * n];
    for pair in &settings.pairs {
        let find = |name: &str| names.iter().position(|m| m == name);
        if let (Some(a), Some(b)) = (find(&pair.materials.0), find(&pair.materials.1)) {
            table[a * n + b] = pair.coefficient;
            table[b * n + a] = pair.coefficient;
        }
    }
    table
}

fn material_index(names: &[String], name: &str) -> u16 {
    names.iter().position(|n| n == name).unwrap_or(0) as u16
}

fn half_spaces(definition: &Definition) -> Result<Vec<HalfSpace>, BuildError> {
    let build = |h: &crate::definition::HalfSpaceDef| {
        let norm = h.normal.norm();
        if !(norm > 0.0 && norm.is_finite() && h.origin.iter().all(|c| c.is_finite())) {
            return Err(BuildError::Body {
                body: h.name.clone(),
                problem: "a half-space needs a finite origin and a normal of positive length"
                    .into(),
            });
        }
        Ok(HalfSpace { origin: h.origin, normal: h.normal / norm })
    };
    definition.half_spaces.iter().map(build).collect()
}

/// Scene-wide numbers of a body's vertices.
pub(crate) fn globalise(name: &str, body: &Body, vertices: &[u32]) -> Result<Vec<u32>, BuildError> {
    let (first, n) = (body.vertices.start as u32, body.vertices.len() as u32);
    let fail = |problem: String| Err(BuildError::Body { body: body.name.clone(), problem });
    if vertices.is_empty() {
        return fail(format!("'{name}' selects no vertex"));
    }
    if let Some(bad) = vertices.iter().find(|v| **v >= n) {
        return fail(format!("'{name}' refers to vertex {bad}, but there are only {n}"));
    }
    Ok(vertices.iter().map(|v| v + first).collect())
}

fn bounding_diagonal(rest: &[Vec3], deformable: &[bool]) -> f64 {
    let mut low = Vec3::repeat(f64::INFINITY);
    let mut high = -low;
    for (p, _) in rest.iter().zip(deformable).filter(|(_, d)| **d) {
        low = low.inf(p);
        high = high.sup(p);
    }
    (high - low).norm()
}

/// Bodies become collision groups where some pair of them ignores each other.
fn apply_no_contact(collision: &mut CollisionMesh, bodies: &[Body], definition: &Definition) {
    let own = !definition.settings.contact.self_contact;
    if definition.no_contact.is_empty() && !own {
        return;
    }
    let n = bodies.len();
    collision.groups = n;
    collision.excluded = vec![false; n * n];
    for (g, body) in bodies.iter().enumerate() {
        collision.group[body.vertices.clone()].fill(g as u16);
        collision.excluded[g * n + g] = own;
    }
    for &(a, b) in &definition.no_contact {
        collision.excluded[a * n + b] = true;
        collision.excluded[b * n + a] = true;
    }
}

/// Fictitious masses of obstacle vertices, which only scale the penalty that moves them when
/// something is in the way: ρ times a half-ball whose diameter is the mean length of the incident
/// edges, π L³/12; bare points take the mean nodal mass [Li 2020, suppl. E].
fn add_obstacle_masses(
    mass: &mut [f64],
    collision: &CollisionMesh,
    deformable: &[bool],
    density: f64,
    mean_mass: f64,
) {
    let mut sum = vec![(0.0, 0u32); mass.len()];
    for e in &collision.edges {
        let length = (collision.rest[e[0] as usize] - collision.rest[e[1] as usize]).norm();
        for &v in e {
            let (s, n) = &mut sum[v as usize];
            (*s, *n) = (*s + length, *n + 1);
        }
    }
    for v in (0..mass.len()).filter(|&v| !deformable[v]) {
        let (s, n) = sum[v];
        mass[v] = if n > 0 && s > 0.0 {
            density * std::f64::consts::PI * (s / f64::from(n)).powi(3) / 12.0
        } else {
            mean_mass
        };
    }
}

fn resolve(settings: &Settings, length: f64) -> Resolved {
    let (t, c, f, s) = (&settings.time, &settings.contact, &settings.friction, &settings.solver);
    Resolved {
        h: t.step,
        // a step count that is an integer up to round-off is that integer
        steps: ((t.end / t.step) * (1.0 - 1e-12)).ceil() as usize,
        d_hat: c.d_hat.unwrap_or(c.d_hat_relative * length),
        stick_speed: f.stick_speed.unwrap_or(f.stick_speed_relative * length),
        velocity_tolerance: s.velocity_tolerance.unwrap_or(s.velocity_tolerance_relative * length),
        lagging: match f.lagging {
            Lagging::Count(n) => Some(n),
            Lagging::Until(_) => None,
        },
        settings: settings.clone(),
    }
}
