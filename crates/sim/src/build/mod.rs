//! From a definition to a model and its first state.

// long: the model's parts, in the order in which they depend on each other

pub mod bodies;
mod characteristic;
mod grips;
mod joints;
pub mod loads;
mod orientation;
mod rigid;
mod scope;
pub mod start;
mod stiffest;
mod ties;

use crate::audit::{StrainLimit, by_thickness};
use crate::body::Body;
use crate::clock::Clock;
use crate::contact::{Coulomb, FrictionMaterials, HalfSpace, Weighting};
use crate::context::StepContext;
use crate::controls::Controls;
use crate::decomposition::Decomposition;
use crate::definition::expression::Expression;
use crate::definition::settings::{
    ContactPotential, ContactSettings, FrictionSettings, Integrator, Lagging, Method, Settings,
};
use crate::definition::{Definition, Dimension, FibreFamily};
use crate::dirichlet::DirichletTargets;
use crate::energy::fibres::{self, Family, Fibres, Muscles};
use crate::energy::inelastic::{Inelastic, Internal};
use crate::energy::{CodimElements, Element, Solids, Term};
use crate::error::BuildError;
use crate::frames::MaterialFrames;
use crate::growth::{Grown, Growth};
use crate::joint_contact::WithoutContact;
use crate::joints::{Efforts, JointTarget};
use crate::material::inelastic::Inelasticity;
use crate::model::{Model, Resolved};
use crate::motion::PrescribedMotion;
use crate::names::numbered;
use crate::past::Past;
use crate::potential::{IncrementalPotential, Part};
use crate::recovery;
use crate::sizes::BodyScale;
use crate::state::State;
use crate::threads;
use crate::tie::Tie;
use crate::unknowns::VertexMap;
use bodies::{Collected, check_masses, check_start};
use standoff_geometry::CollisionMesh;
use standoff_linalg::Vec3;
use standoff_sparse::MatrixError;
use std::sync::Arc;

/// Checks a definition and builds the model and its initial state.
///
/// # Errors
/// The first inconsistency, non-finite number, or inverted element. Intersections are checked
/// by `Simulation::new`.
pub fn build(definition: &Definition) -> Result<(Model, State), BuildError> {
    definition.validate()?;
    definition.settings.check_read(definition.dimension)?;
    build_valid(definition)
}

/// Builds a definition whose numbers are valid. It may have settings that nothing reads, which a test varies.
#[doc(hidden)]
// long: the order in which the parts of a model are built, and the list of them
pub fn build_valid(definition: &Definition) -> Result<(Model, State), BuildError> {
    threads::start(0)?;
    let mut all = Collected::new(definition)?;
    grips::add(&mut all, definition)?;
    ties::add(&mut all, definition)?;
    all.complete(definition);
    if !all.deformable.contains(&true) {
        return Err(BuildError::NothingToSimulate);
    }
    let solver = &definition.settings.solver;
    let solids = all.build_solids(solver)?;
    if !solver.allow_inversion {
        check_start(&all.bodies, &solids, &all.start)?;
    }
    check_masses(&all.bodies, &all.deformable, &all.mass)?;
    // loads act in proportion to the masses that vertices have of their own
    let own_mass = (!all.grips.all.is_empty() || !all.ties.is_empty()).then(|| all.mass.clone());
    grips::hand_over(&mut all);
    ties::hand_over(&mut all);
    let unknown = |v: &usize| all.deformable[*v] && !all.map.is_carried(*v);
    let n_deformable = (0..all.deformable.len()).filter(unknown).count();
    let mean_mass = all.mass.iter().sum::<f64>() / n_deformable as f64;
    let mean_density = all.mass.iter().sum::<f64>() / all.volume;
    let scene_length = characteristic_length(&all)?;
    all.append_angles();
    let outline = std::mem::take(&mut all.outline);
    let axis = all.axis();
    let Collected { bodies, rest, start, velocity, deformable, codim, frames, mut mass, .. } = all;
    let codim = codim.finish(rest.len());
    check_stretch(&bodies, &codim, &start)?;
    start::check_folds(&bodies, &codim, &rest)?;
    let mut collision = match definition.dimension {
        Dimension::Two | Dimension::Axisymmetric => {
            CollisionMesh::planar(rest.clone(), &all.wires, &all.points)
        }
        Dimension::Three => CollisionMesh::new(rest.clone(), all.touching, &all.wires, &all.points),
    };
    collision.axisymmetric = definition.dimension.is_axisymmetric();
    collision.mobile.clone_from(&deformable);
    collision.body = vec![0; rest.len()];
    for (k, body) in bodies.iter().enumerate() {
        collision.body[body.vertices.clone()].fill(k as u32);
    }
    if all.half_thickness.iter().any(|t| *t > 0.0) {
        collision.half_thickness = all.half_thickness;
    }
    let ranges = bodies.iter().map(|b| b.vertices.clone()).collect();
    let without_contact = WithoutContact::new(definition, ranges);
    without_contact.exclude(&mut collision, &[]);
    if !definition.settings.contact.enabled {
        collision.mobile.fill(false);
    }
    let body_of = body_of(&bodies, &frames);
    // grips have those of the bodies to which they belong
    let (named, settings) = (&bodies[..definition.bodies.len()], &definition.settings);
    let mut scales = BodyScale::all(settings, named, &collision, scene_length);
    for (_, owner) in all.grips.owners() {
        scales.push(scales[owner]);
    }
    let length = BodyScale::greatest(&scales, |s| s.size);
    collision.reach = BodyScale::by_vertex(&scales, &body_of, |s| s.d_hat);
    collision.exclude_neighbours(1.0);
    check_duplicates(definition, &collision)?;
    add_obstacle_masses(&mut mass, &collision, &deformable, mean_density, mean_mass);
    let motions = definition.prescribed.iter().map(|p| PrescribedMotion::new(p, &bodies, &start));
    let motions = motions.collect::<Result<Vec<_>, _>>()?;
    check_motions(&motions, &bodies, &all.map, &all.ties)?;
    let scene = loads::LoadedBodies {
        bodies: &bodies,
        start: &start,
        mass: own_mass.as_deref().unwrap_or(&mass),
        lumped: &mass,
        ties: &all.ties,
        faces: &all.faces,
        outline: &outline,
        axis: definition.dimension.is_axisymmetric(),
        map: &all.map,
        grips: &all.grips,
    };
    let loads = loads::loads(definition, &scene)?;
    check_energies(&definition.energies, &start)?;
    let mut friction = friction_materials(definition, &bodies, rest.len());
    friction.stick = part_of_greatest(&scales, &body_of, |s| s.stick_speed);
    let jointed = joints::JointedBodies {
        bodies: &bodies,
        rest: &rest,
        start: &start,
        mass: &mass,
        scales: &scales,
        grips: &all.grips,
    };
    let joints = joints::joints(definition, &jointed)?;
    let mut state = first_state(&frames, &codim, &rest, start, velocity, definition);
    state.joint_multipliers = vec![0.0; joints.row_count()];
    let near: Vec<_> = definition.joints.iter().map(|j| [j.start, 0.0]).collect();
    state.joint_coordinates = joints.coordinates(&state.x, &near);
    state.joint_motion = vec![Past::default(); joints.count()];
    state.joint_efforts = vec![Efforts::default(); joints.count()];
    state.joint_integrity.clone_from(&joints.integrity);
    state.controls.joints = vec![JointTarget::default(); joints.count()];
    let resolved = resolve(&definition.settings, &scales)?;
    scope::check_method(definition, &bodies, &collision)?;
    scope::check_carried(definition)?;
    scope::check_rails(definition)?;
    scope::check_axisymmetric(definition)?;
    scope::check_joints(definition)?;
    scope::check_armatures(definition)?;
    scope::check_intermediate(definition)?;
    scope::check_inversion(definition, &bodies, &collision)?;
    // what may be inverted is never crushed by a motion that is constrained
    let unguarded = !solver.inversion_barrier && !solver.allow_inversion;
    let guarded = (unguarded && !motions.is_empty()).then(|| solids.with_inversion_barrier());
    let inelastic = inelastic(definition, &bodies, &solids, rest.len());
    state.internal = vec![Internal::default(); inelastic.len()];
    let (fibres, muscles, tensions) = fibres(definition, &bodies, &solids, &rest)?;
    let strains = growths(definition, &bodies, solids.len());
    let grown = || Grown {
        solids: solids.clone(),
        guarded: guarded.clone(),
        inelastic: inelastic.clone(),
        fibres: fibres.clone(),
        muscles: muscles.clone(),
    };
    let growth = Growth::new(strains.into_iter(), grown);
    let mut model = Model {
        may_touch: scope::first_contact(definition, &bodies, &collision).is_some()
            || definition.settings.contact.enabled
                && without_contact.may_come_back(&joints.integrity),
        without_contact,
        half_space_vertices: by_thickness(&collision, &collision.mobile),
        half_spaces: half_spaces(definition)?,
        half_space_names: definition.half_spaces.iter().map(|h| h.name.clone()).collect(),
        strain_limits: StrainLimit::all(definition),
        weighting: weighting(&definition.settings.contact, &collision),
        orientation: None,
        axis,
        tolerance: part_of_greatest(&scales, &body_of, |s| s.velocity_tolerance),
        stiffest: 0.0,
        visible: all.visible,
        grips: all.grips.all,
        ties: all.ties,
        grip_turns: Vec::new(),
        map: all.map,
        weight_excess: all.weight_excess,
        body_of,
        scales,
        regions: recovery::regions(definition, &bodies, solids.len()),
        bodies,
        rest,
        mass,
        mean_mass,
        deformable,
        solids,
        guarded,
        inelastic,
        fibres,
        muscles,
        tensions,
        growth,
        codim,
        frames,
        hinge_sides: all.hinge_sides,
        operator_triangles: all.operator_triangles,
        energies: definition.energies.clone(),
        collision,
        held_names: numbered(motions.iter().map(|m| m.name.as_str())),
        load_names: numbered(loads.names()),
        joints,
        has_friction: friction.coefficients.iter().any(|c| c.at_rest > 0.0),
        friction,
        motions,
        loads,
        decomposition: None,
        characteristic: None,
        gravity: definition.gravity,
        dimension: definition.dimension,
        length,
        resolved,
    };
    model.stiffest = stiffest::largest_stiffness(&model, &state);
    model.grip_turns = grips::turns(&model, &state);
    if definition.settings.contact.enabled {
        model.orientation = orientation::build(&model, &state.x)?;
    }
    add_decomposition(&mut model, &state)?;
    add_characteristic_norm(&mut model)?;
    model.grow(state.time);
    let mut state = with_initial_acceleration(&model, state);
    state.joint_motion = joint_motion(&model, &state);
    Ok((model, state))
}

/// What a joint holds moves as the joint lets it.
fn check_motions(
    motions: &[PrescribedMotion],
    bodies: &[Body],
    map: &VertexMap,
    ties: &[Tie],
) -> Result<(), BuildError> {
    for motion in motions {
        let Some(v) = motion.vertices.iter().find(|v| map.is_carried(**v as usize)) else {
            continue;
        };
        let body = &bodies[bodies.partition_point(|b| b.vertices.end <= *v as usize)];
        let tie = ties.iter().find(|t| t.vertices.binary_search(v).is_ok());
        let what = match tie {
            Some(tie) => format!("which tie '{}' ties to another body", tie.name),
            None => "at which a joint holds this body".into(),
        };
        let problem = format!(
            "'{}' moves vertex {}, {what}; leave it out of one of the two",
            motion.name,
            *v as usize - body.vertices.start
        );
        return Err(BuildError::Body { body: body.name.clone(), problem });
    }
    Ok(())
}

/// What relaxes or yields of the solids of all bodies.
fn inelastic(
    definition: &Definition,
    bodies: &[Body],
    solids: &Solids,
    vertex_count: usize,
) -> Inelastic {
    let mut of: Vec<&[Inelasticity]> = vec![&[]; solids.len()];
    for (own, body) in definition.bodies.iter().zip(bodies) {
        for (of, substance) in of[body.solids.clone()].iter_mut().zip(own.substances()) {
            *of = substance.inelastic;
        }
    }
    Inelastic::new(solids, vertex_count, |e| of[e])
}

/// The strain without stress of each element of solids.
fn growths<'a>(
    definition: &'a Definition,
    bodies: &[Body],
    count: usize,
) -> Vec<Option<&'a Expression>> {
    let mut of = vec![None; count];
    for (own, body) in definition.bodies.iter().zip(bodies).filter(|(own, _)| own.grows()) {
        for (of, substance) in of[body.solids.clone()].iter_mut().zip(own.substances()) {
            *of = substance.growth;
        }
    }
    of
}

/// The fibres of the solids of all bodies.
fn fibres(
    definition: &Definition,
    bodies: &[Body],
    solids: &Solids,
    rest: &[Vec3],
) -> Result<(Fibres, Muscles, Vec<Expression>), BuildError> {
    let mut of: Vec<&[FibreFamily]> = vec![&[]; solids.len()];
    for (own, body) in definition.bodies.iter().zip(bodies).filter(|(own, _)| own.has_fibres()) {
        for (of, substance) in of[body.solids.clone()].iter_mut().zip(own.substances()) {
            *of = substance.fibres;
        }
    }
    // what draws in the same way has one number
    let mut tensions: Vec<Expression> = Vec::new();
    let mut number = |tension: &Expression| {
        let known = tensions.iter().position(|t| t == tension);
        known.unwrap_or_else(|| {
            tensions.push(tension.clone());
            tensions.len() - 1
        }) as u32
    };
    let mut family = |f: &FibreFamily| Family {
        direction: f.direction,
        law: f.law,
        tension: f.tension.as_ref().map(&mut number),
    };
    let made = fibres::fibres(solids, rest, |e| of[e].iter().map(&mut family).collect());
    let (fibres, muscles) = made.map_err(|on_axis| {
        let (e, k) = (on_axis.element, on_axis.family);
        let body = bodies.iter().find(|b| b.solids.contains(&e));
        let (body, first) = body.map_or_else(Default::default, |b| (b.name.clone(), b.solids.start));
        let problem = format!(
            "element {} is on the axis around which family {k} of its fibres is wound, where they have no direction; leave out the \
             elements at the axis by a material of their own (`materials` of the object)",
            e - first
        );
        BuildError::Body { body, problem }
    })?;
    Ok((fibres, muscles, tensions))
}

/// A value by vertex in terms of the greatest one of the deformable bodies (`#V`); nothing where they have the same.
fn part_of_greatest(
    scales: &[BodyScale],
    body_of: &[u32],
    of: impl Fn(&BodyScale) -> f64,
) -> Vec<f64> {
    let greatest = BodyScale::greatest(scales, &of);
    BodyScale::by_vertex(scales, body_of, |s| of(s) / greatest)
}

/// The body of each vertex; that of an angle is the one of its edge's first end.
fn body_of(bodies: &[Body], frames: &MaterialFrames) -> Vec<u32> {
    let mut body_of = Vec::new();
    for (k, body) in (0..).zip(bodies) {
        body_of.resize(body.vertices.end, k);
    }
    let angles: Vec<u32> = frames.edges.iter().map(|e| body_of[e[0] as usize]).collect();
    body_of.extend(angles);
    body_of
}

/// Divides the bodies into subdomains where the solver has some.
fn add_decomposition(model: &mut Model, state: &State) -> Result<(), BuildError> {
    if model.resolved.settings.solver.method != Method::Dot {
        return Ok(());
    }
    let name = |e: MatrixError| BuildError::Body {
        body: model.bodies[0].name.clone(),
        problem: e.to_string(),
    };
    let found = subdomains(model, state).map_err(name)?;
    model.decomposition = Some(Arc::new(found));
    Ok(())
}

/// The subdomains of the elements that do not depend on contacts.
fn subdomains(model: &Model, state: &State) -> Result<Decomposition, MatrixError> {
    let clock = Clock::start();
    let potential = IncrementalPotential::at_start(model, state, &clock);
    let elastic: Vec<_> = potential.part(Part::Elastic).collect();
    let elements = elastic.iter().map(|t| t.term.stencils()).collect();
    let settings = &model.resolved.settings.solver.decomposition;
    Decomposition::new(&belongs(model), elements, settings)
}

/// Which vertices are parts of deformable bodies, the angles of their edges among them.
fn belongs(model: &Model) -> Vec<bool> {
    let mut belongs = model.deformable.clone();
    for (k, [a, b]) in model.frames.edges.iter().enumerate() {
        belongs[model.frames.first_angle + k] =
            model.deformable[*a as usize] && model.deformable[*b as usize];
    }
    belongs
}

/// Finds the characteristic norm where it ends minimisations.
fn add_characteristic_norm(model: &mut Model) -> Result<(), BuildError> {
    let solver = &model.resolved.settings.solver;
    let Some(tolerance) = solver.characteristic_tolerance() else { return Ok(()) };
    let Some(norm) = characteristic::norm(model) else {
        let must = "nothing in the scene is elastic, so that there is no characteristic norm; choose \
                    the solver \"barrier\" without this key";
        let key = "solver.end.characteristic";
        return Err(BuildError::Setting { key, value: tolerance.to_string(), must });
    };
    model.characteristic = Some(Arc::new(norm));
    Ok(())
}

/// The state at the start, without accelerations.
fn first_state(
    frames: &MaterialFrames,
    codim: &CodimElements,
    rest: &[Vec3],
    start: Vec<Vec3>,
    velocity: Vec<Vec3>,
    definition: &Definition,
) -> State {
    let (directors, frame_twists) = frames.start(rest, &start, &codim.rod_joints);
    let mut placed = codim.clone();
    let none = vec![0; 3 * codim.shape_operators.len()];
    frames.place(&mut placed, &directors, &frame_twists, &none, &start);
    State {
        turns: placed.first_turns(&start),
        directors,
        frame_twists,
        half_space_forces: vec![[Vec3::zeros(); 2]; definition.half_spaces.len()],
        held_forces: vec![[Vec3::zeros(); 2]; definition.prescribed.len()],
        load_forces: vec![[Vec3::zeros(); 2]; definition.load_count()],
        controls: Controls::none(definition.forces.len()),
        ..State::start(start, velocity, definition.prescribed.len())
    }
}

/// Duplicates that the convergent potential takes off have to be complete.
fn check_duplicates(definition: &Definition, collision: &CollisionMesh) -> Result<(), BuildError> {
    let convergent = definition.settings.contact.potential == ContactPotential::Convergent;
    if !convergent || collision.neighbours.is_empty() {
        return Ok(());
    }
    let must = "it takes off what neighbouring primitives count twice, but a body whose mesh is finer than its \
                thickness in contact leaves some of them out; choose \"ipc\", a smaller thickness or longer edges";
    Err(BuildError::Setting { key: "contact.potential", value: "\"convergent\"".into(), must })
}

fn weighting(settings: &ContactSettings, collision: &CollisionMesh) -> Weighting {
    match settings.potential {
        ContactPotential::Convergent => Weighting::area_without_duplicates(collision),
        _ if settings.area_weighting => Weighting::area(collision),
        _ if collision.axisymmetric => Weighting::rings(collision),
        _ => Weighting::default(),
    }
}

/// The first state with the accelerations by all forces but those of constraints at the start, without
/// which schemes with a part of the forces at the start are of first order only.
fn with_initial_acceleration(model: &Model, mut state: State) -> State {
    if !model.resolved.settings.time.zero_initial_acceleration {
        state.a = initial_acceleration(model, &state);
    }
    state
}

/// How coordinates of joints with an armature move in a state from which everything goes on uniformly.
pub(crate) fn joint_motion(model: &Model, state: &State) -> Vec<Past<f64>> {
    let of = [&state.x[..], &state.v];
    model.joints.motion(of, &state.joint_coordinates, model.resolved.h)
}

/// The accelerations by all forces but those of constraints in a state, m/s² (`#V`).
pub(crate) fn initial_acceleration(model: &Model, state: &State) -> Vec<Vec3> {
    let clock = Clock::start();
    // loads of now, not of the end of the next step
    let now = state.time;
    let context =
        StepContext { end: now, load_time: now, ..StepContext::new(model, state, &clock) };
    let targets = DirichletTargets::new(model, state);
    let potential = IncrementalPotential::new(context, state, &targets);
    potential.accelerations_without_constraints(&state.x)
}

/// Energies that the definition adds may only name vertices that exist and have to be defined at the start.
fn check_energies(energies: &[Arc<dyn Term>], x: &[Vec3]) -> Result<(), BuildError> {
    for energy in energies {
        let fail =
            |problem: String| Err(BuildError::Energy { name: energy.name().to_owned(), problem });
        let stencils = energy.stencils();
        let count = x.len();
        for (i, stencil) in stencils.iter().enumerate() {
            if let Some(v) = stencil.iter().find(|v| **v as usize >= count) {
                return fail(format!(
                    "summand {i} refers to vertex {v}, but there are only {count}"
                ));
            }
        }
        let value = energy.value(x);
        if !value.is_finite() {
            return fail(format!("its value at the start is {value}"));
        }
    }
    Ok(())
}

/// Friction materials of all vertices and half-spaces, and the coefficients between them.
fn friction_materials(definition: &Definition, bodies: &[Body], n: usize) -> FrictionMaterials {
    let names = friction_names(definition);
    let mut vertex = Vec::new();
    for (body, place) in definition.bodies.iter().zip(bodies) {
        vertex.resize(place.vertices.end, material_index(&names, &body.friction_material));
    }
    vertex.resize(n, 0);
    let half_spaces = definition.half_spaces.iter();
    FrictionMaterials {
        vertex,
        half_space: half_spaces.map(|h| material_index(&names, &h.friction_material)).collect(),
        coefficients: friction_coefficients(&names, &definition.settings.friction),
        count: names.len(),
        stick: Vec::new(),
    }
}

/// No triangle may start at or beyond its limit.
fn check_stretch(bodies: &[Body], codim: &CodimElements, x: &[Vec3]) -> Result<(), BuildError> {
    for body in bodies {
        for t in body.triangles.clone() {
            let corners = codim.membranes.gather(t, x);
            if codim.membranes.elements[t].limit_use(&corners).is_some_and(|u| u >= 1.0) {
                let [s, _] = codim.membranes.elements[t].stretches(&corners);
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
fn friction_coefficients(names: &[String], settings: &FrictionSettings) -> Vec<Coulomb> {
    let n = names.len();
    let coulomb = |at_rest: f64, sliding: Option<f64>| Coulomb {
        at_rest,
        sliding: sliding.unwrap_or(at_rest),
    };
    let mut table = vec![coulomb(settings.coefficient, settings.kinetic_coefficient); n * n];
    for pair in &settings.pairs {
        let find = |name: &str| names.iter().position(|m| m == name);
        if let (Some(a), Some(b)) = (find(&pair.materials.0), find(&pair.materials.1)) {
            let both = coulomb(pair.coefficient, pair.kinetic_coefficient);
            table[a * n + b] = both;
            table[b * n + a] = both;
        }
    }
    table
}

fn material_index(names: &[String], name: &str) -> u16 {
    names.iter().position(|n| n == name).unwrap_or(0) as u16
}

fn half_spaces(definition: &Definition) -> Result<Vec<HalfSpace>, BuildError> {
    let build = |h: &crate::definition::HalfSpaceDef| {
        HalfSpace::through(h.origin, h.normal).ok_or_else(|| BuildError::Body {
            body: h.name.clone(),
            problem: "a half-space needs a finite origin and a normal of positive length".into(),
        })
    };
    definition.half_spaces.iter().map(build).collect()
}

/// The length l: the diagonal of the deformable bodies at rest, or the thickness of what is but a point.
fn characteristic_length(all: &Collected) -> Result<f64, BuildError> {
    let diagonal = bounding_diagonal(&all.rest[..all.visible], &all.deformable);
    if diagonal > 0.0 {
        return Ok(diagonal);
    }
    let thick = all.half_thickness.iter().zip(&all.deformable).filter(|(_, d)| **d);
    let thickness = thick.map(|(half, _)| 2.0 * half).fold(0.0, f64::max);
    if thickness > 0.0 {
        return Ok(thickness);
    }
    let body = all.bodies.iter().find(|b| !b.obstacle).map_or(String::new(), |b| b.name.clone());
    let problem = "it is a single point without thickness, so that there is no length of which \
                   contact distance and tolerances could be multiples; give it a `contact_thickness`";
    Err(BuildError::Body { body, problem: problem.into() })
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

/// Fictitious masses of obstacle vertices, which only scale the penalty that moves them when
/// something is in the way: ρ times a half-ball whose diameter is the mean length of the incident
/// edges, π L³/12 (in the plane a half-disc, π L²/8); bare points take the mean nodal mass
/// [Li 2020, suppl. E].
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
            let length = s / f64::from(n);
            // of a ring with at least this radius
            let ring = match collision.axisymmetric {
                true => std::f64::consts::TAU * collision.rest[v].x.max(0.5 * length),
                false => 1.0,
            };
            ring * match collision.planar {
                true => density * std::f64::consts::PI * length.powi(2) / 8.0,
                false => density * std::f64::consts::PI * length.powi(3) / 12.0,
            }
        } else {
            mean_mass
        };
    }
}

fn resolve(settings: &Settings, scales: &[BodyScale]) -> Result<Resolved, BuildError> {
    let (t, f, s) = (&settings.time, &settings.friction, &settings.solver);
    let d_hat = BodyScale::greatest(scales, |s| s.d_hat);
    check_start_distance(settings, d_hat)?;
    Ok(Resolved {
        h: t.step,
        // a step count that is an integer up to round-off is that integer
        steps: ((t.end / t.step) * (1.0 - 1e-12)).ceil() as usize,
        d_hat,
        stick_speed: BodyScale::greatest(scales, |s| s.stick_speed),
        velocity_tolerance: BodyScale::greatest(scales, |s| s.velocity_tolerance),
        force_tolerance: s.end.forces.unwrap_or(match t.integrator {
            Integrator::QuasiStatic => 1e-7,
            _ => 1e-4,
        }),
        lagging: match f.lagging {
            Lagging::Count(n) => Some(n),
            Lagging::Until(_) => None,
        },
        settings: settings.clone(),
    })
}

/// Refuses a `contact.d_hat_start` with which no step can begin.
fn check_start_distance(settings: &Settings, d_hat: f64) -> Result<(), BuildError> {
    let Some(start) = settings.contact.d_hat_start else { return Ok(()) };
    if start >= d_hat {
        return Ok(());
    }
    let must = "a step begins with a contact distance that is at least the one it ends with";
    Err(BuildError::Setting { key: "contact.d_hat_start", value: format!("{start} m"), must })
}
