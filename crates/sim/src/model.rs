//! What is constant during a step: rest mesh, masses, elastic elements, collision primitives,
//! half-spaces, friction table, scripts and the settings with all relative lengths resolved.

use crate::build::bodies::{Collected, check_masses, check_start};
use crate::contact::{FrictionMaterials, HalfSpace, Weighting};
use crate::definition::Definition;
use crate::definition::settings::{FrictionSettings, Lagging, Settings};
use crate::dirichlet::Script;
use crate::energy::spring;
use crate::energy::tet::ElasticTets;
use crate::energy::thin::ThinElements;
use crate::error::BuildError;
use crate::loads::{Loads, Scene};
use crate::rods::Rods;
use crate::state::State;
use standoff_geometry::CollisionMesh;
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
    /// Its triangles in `Model::thin.membranes`.
    pub triangles: Range<usize>,
    /// Its segments in `Model::rods`.
    pub segments: Range<usize>,
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
    /// Rest positions, m (`#V`): those of all bodies, then zeros for the angles of rods and edges.
    pub rest: Vec<Vec3>,
    /// Lumped masses, kg (`#V`). Obstacle vertices carry the fictitious mass of [Li 2020, suppl. E].
    pub mass: Vec<f64>,
    /// Mean mass of the deformable bodies' vertices, kg.
    pub mean_mass: f64,
    /// Whether a vertex belongs to a deformable body (`#V`).
    pub deformable: Vec<bool>,
    /// Tetrahedra of all volumes.
    pub elastic: ElasticTets,
    /// Elements of shells and rods.
    pub thin: ThinElements,
    /// How the segments of rods follow each other, and the edges of shells with normals.
    pub rods: Rods,
    /// The two triangles (in `thin.membranes`) of each hinge.
    pub hinge_sides: Vec<[u32; 2]>,
    /// The triangle (in `thin.membranes`) of each shape operator.
    pub operator_triangles: Vec<u32>,
    /// Surface primitives.
    pub collision: CollisionMesh,
    /// Surface vertices of the deformable bodies, which half-spaces repel, by half thickness (m).
    pub half_space_vertices: Vec<(f64, Vec<u32>)>,
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
        let mut all = Collected::new(definition)?;
        if !all.deformable.contains(&true) {
            return Err(BuildError::NothingToSimulate);
        }
        let names = friction_names(definition);
        let mut friction_material = Vec::new();
        for (body, place) in definition.bodies.iter().zip(&all.bodies) {
            let material = material_index(&names, &body.friction_material);
            friction_material.resize(place.vertices.end, material);
        }
        let elastic = all.build_tets()?;
        check_start(&all.bodies, &elastic, &all.start)?;
        check_masses(&all.bodies, &all.deformable, &all.mass)?;
        let positions = all.rest.len();
        let n_deformable = all.deformable.iter().filter(|d| **d).count();
        let mean_mass = all.mass.iter().sum::<f64>() / n_deformable as f64;
        let mean_density = all.mass.iter().sum::<f64>() / all.volume;
        let length = bounding_diagonal(&all.rest, &all.deformable);
        all.append_angles();
        friction_material.resize(all.rest.len(), 0);
        let Collected {
            bodies,
            rest,
            start,
            velocity,
            deformable,
            half_thickness,
            thin,
            rods,
            hinge_sides,
            operator_triangles,
            mut mass,
            faces,
            wires,
            points,
            ..
        } = all;
        check_stretch(&bodies, &thin, &start)?;
        let mut collision = CollisionMesh::new(rest.clone(), faces, &wires, &points);
        collision.mobile.clone_from(&deformable);
        collision.body = vec![0; rest.len()];
        for (k, body) in bodies.iter().enumerate() {
            collision.body[body.vertices.clone()].fill(k as u32);
        }
        if half_thickness.iter().any(|t| *t > 0.0) {
            collision.half_thickness = half_thickness;
        }
        apply_no_contact(&mut collision, &bodies, definition);
        add_obstacle_masses(&mut mass, &collision, &deformable, mean_density, mean_mass);
        let half_space_vertices = by_thickness(&collision, &deformable);
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
        let (directors, twists) = rods.start(&rest, &start, &thin.corners);
        let mut state = State::start(start, velocity, definition.prescribed.len());
        (state.directors, state.frame_twists) = (directors, twists);
        if !definition.settings.time.zero_initial_acceleration {
            let mut gradient = vec![Vec3::zeros(); mass.len()];
            elastic.add_gradient(&state.x, &mut gradient);
            let mut placed = thin.clone();
            rods.place(&mut placed, &state.directors, &state.frame_twists, &state.x);
            placed.add_gradient(&state.x, &mut gradient);
            spring::add_gradient(&loads.springs, 0.0, &state.x, &mut gradient);
            loads.pressures(0.0, 0.0, &state.x).add_gradient(&state.x, &mut gradient);
            let forced = loads.accelerations(definition.gravity, positions, mass.len(), 0.0, 0.0);
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
            thin,
            rods,
            hinge_sides,
            operator_triangles,
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

    /// Number of vertices of all bodies. The angles of rods and of edges of shells come behind them.
    pub fn vertex_count(&self) -> usize {
        self.rods.first_angle
    }

    /// The body of a vertex and the vertex's index within it.
    pub fn locate(&self, vertex: u32) -> (&Body, u32) {
        let v = match (vertex as usize).checked_sub(self.rods.first_angle) {
            // an angle is where its segment begins
            Some(k) => self.rods.segments[k][0] as usize,
            None => vertex as usize,
        };
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
    positive("solver.barrier_free.tolerance", s.solver.barrier_free.tolerance)?;
    positive("solver.barrier_free.penalty", s.solver.barrier_free.penalty)?;
    let at_least_one = |key, value: u32| {
        if value >= 1 {
            Ok(())
        } else {
            let must = "it must be at least 1";
            Err(BuildError::Setting { key, value: value.to_string(), must })
        }
    };
    at_least_one("solver.max_iterations", s.solver.max_iterations)?;
    at_least_one("solver.consecutive", s.solver.consecutive)?;
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

/// Surface vertices of the deformable bodies by half thickness, m.
fn by_thickness(mesh: &CollisionMesh, deformable: &[bool]) -> Vec<(f64, Vec<u32>)> {
    let mut groups: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for &v in mesh.vertices.iter().filter(|v| deformable[**v as usize]) {
        let half = mesh.half_thickness.get(v as usize).copied().unwrap_or(0.0);
        // bits of numbers that are not negative are ordered like the numbers
        groups.entry(half.to_bits()).or_default().push(v);
    }
    groups.into_iter().map(|(bits, vertices)| (f64::from_bits(bits), vertices)).collect()
}

/// No triangle may start at or beyond its limit.
fn check_stretch(bodies: &[Body], thin: &ThinElements, x: &[Vec3]) -> Result<(), BuildError> {
    for body in bodies {
        for t in body.triangles.clone() {
            let corners = thin.membranes.gather(t, x);
            if thin.membranes.elements[t].limit_use(&corners).is_some_and(|u| u >= 1.0) {
                let [s, _] = thin.membranes.elements[t].stretches(&corners);
                let problem = format!(
                    "triangle {} starts beyond its strain limit (stretch {s:.6}); start from a \
                     shape closer to the one at rest",
                    t - body.triangles.start
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
