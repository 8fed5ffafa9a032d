//! Grips: regions of soft bodies that joints hold.
//!
//! A grip makes its vertices rigid: they are carried by four control points, as the surface of a rigid body is, which have their masses, their
//! centre and their second moment. A joint holds these control points as it holds those of a rigid body.

use super::bodies::{Collected, tet_volume};
use super::rigid::orthogonality;
use crate::body::Body;
use crate::definition::{
    BodyKind, CONTROL_POINTS, Definition, JointDef, JointKind, MassProperties, coordinates,
};
use crate::energy::Element;
use crate::energy::grip_turn::GripTurn;
use crate::energy::quadratic_tet::QuadraticTet;
use crate::energy::rod_joint::Frame;
use crate::error::BuildError;
use crate::grip::{Grip, rigid_velocity};
use crate::model::Model;
use crate::state::State;
use standoff_linalg::{Mat3, Vec3, svd3};
use std::collections::BTreeMap;

/// Least radius of gyration of a grip in any direction, in terms of its greatest one: flat and straight regions get an inertia about their own
/// axes that they do not have, a hundredth of that about the others.
const LEAST_RADIUS: f64 = 0.1;

/// The radius of gyration of a grip of one vertex, in terms of the size of the body. Nothing turns such a grip, about which the body turns freely.
const POINT_RADIUS: f64 = 0.01;

/// How much stiffer an edge turns with its grip than against its neighbours.
const TURN: f64 = 1e6;

/// Distance of the point of a joint from the one vertex that it holds, in terms of the size of the body, up to which it is there.
const AT_VERTEX: f64 = 1e-9;

/// Adds the grips of the joints of a definition behind all bodies, when these are complete.
///
/// # Errors
/// A region that no joint can hold.
// long: what a joint may hold, in the order in which that is found
pub(super) fn add(all: &mut Collected, definition: &Definition) -> Result<(), BuildError> {
    if !definition.joints.iter().any(JointDef::has_region) {
        return Ok(());
    }
    let mass = lumped(all);
    let mut rows = BTreeMap::new();
    for joint in &definition.joints {
        let wrong = |problem: String| BuildError::Joint { joint: joint.name.clone(), problem };
        let fail = |problem: String| Err(wrong(problem));
        let mut held = [None; 2];
        let sides = [(joint.parent, &joint.regions[0]), (Some(joint.child), &joint.regions[1])];
        if sides.iter().all(|(_, region)| !region.is_empty()) {
            return fail(
                "both of its bodies are soft: a joint is between a soft body and a rigid one or the world; put a small rigid body between \
                 the two, or sew them together (`stitches`)"
                    .into(),
            );
        }
        for (side, (body, region)) in sides.into_iter().enumerate() {
            let Some(owner) = body.filter(|_| !region.is_empty()) else { continue };
            refuse(joint, definition, owner).map_err(wrong)?;
            let mut vertices = all.bodies[owner].scene_wide(&joint.name, region)?;
            vertices.sort_unstable();
            vertices.dedup();
            let same = |g: &&Grip| g.vertices == vertices;
            if let Some(grip) = all.grips.all.iter().find(same) {
                held[side] = Some(grip.body);
                continue;
            }
            let first = all.bodies[owner].vertices.start as u32;
            if let Some(v) = vertices.iter().find(|v| rows.contains_key(*v)) {
                return fail(format!(
                    "vertex {} of '{}' is held by another joint: joints hold the same vertices or different ones",
                    v - first,
                    all.bodies[owner].name
                ));
            }
            let control = control_points(all, joint, owner, &vertices, &mass).map_err(wrong)?;
            let grip = append(all, joint, owner, vertices, &control, &mass);
            let on: Vec<u32> = grip.control(&all.bodies).collect();
            for &v in &grip.vertices {
                let weights = coordinates(&all.start[v as usize], &control).to_vec();
                rows.insert(v, (on.clone(), weights));
            }
            held[side] = Some(grip.body);
            all.grips.all.push(grip);
        }
        all.grips.of_joints.push(held);
    }
    all.map = all.map.with(&rows);
    all.map.spread(&mut all.velocity);
    Ok(())
}

/// Refuses what a joint cannot hold at a region.
fn refuse(joint: &JointDef, definition: &Definition, owner: usize) -> Result<(), String> {
    let body = &definition.bodies[owner];
    let name = &body.name;
    match body.kind {
        BodyKind::Volume { .. } | BodyKind::Shell { .. } | BodyKind::Rod { .. } => Ok(()),
        BodyKind::Rigid { .. } => {
            Err(format!("'{name}' is rigid: a joint holds it as a whole; leave out its vertices"))
        }
        BodyKind::Obstacle { .. } => Err(format!(
            "'{name}' is an obstacle, whose motion is prescribed; a joint holds a rigid body or vertices of a solid, a shell or a rod"
        )),
        BodyKind::Particles { .. } => Err(format!(
            "'{name}' consists of particles; a {} joint holds a rigid body or vertices of a solid, a shell or a rod",
            joint.kind.key()
        )),
        BodyKind::PlaneStrain { .. } => {
            Err(format!("'{name}' is in two dimensions; joints are for three"))
        }
    }
}

/// The masses of all vertices, those of solids among them, which get them later, kg.
fn lumped(all: &Collected) -> Vec<f64> {
    let mut mass = all.mass.clone();
    for (tet, density) in all.tets.iter().zip(&all.densities) {
        let volume = tet_volume(&tet.map(|v| all.rest[v as usize]));
        tet.iter().for_each(|&v| mass[v as usize] += 0.25 * density * volume);
    }
    for (nodes, density, material) in &all.quadratic {
        // what is no element is refused when the elements are built
        let rest = nodes.map(|v| all.rest[v as usize]);
        let volume = QuadraticTet::new(&rest, material).map_or(0.0, |e| e.volume());
        for (n, &v) in nodes.iter().enumerate() {
            mass[v as usize] += density * volume * QuadraticTet::mass_part(n);
        }
    }
    mass
}

/// Where the control points of a region are at the start, m.
fn control_points(
    all: &Collected,
    joint: &JointDef,
    owner: usize,
    vertices: &[u32],
    mass: &[f64],
) -> Result<[Vec3; CONTROL_POINTS], String> {
    let body = &all.bodies[owner];
    let points = &all.start[body.unknowns.clone()];
    let first = points.first().copied().unwrap_or_default();
    let (low, high) = points.iter().fold((first, first), |(l, h), p| (l.inf(p), h.sup(p)));
    let size = (high - low).norm();
    let parts = || vertices.iter().map(|&v| (mass[v as usize], all.start[v as usize]));
    let whole: f64 = parts().map(|(m, _)| m).sum();
    let centre = parts().map(|(m, x)| m * x).sum::<Vec3>() / whole;
    let second: Mat3 = parts().map(|(m, x)| m * (x - centre) * (x - centre).transpose()).sum();
    if vertices.len() == 1 {
        let point = all.start[vertices[0] as usize];
        let own = if joint.kind == JointKind::Distance && joint.child == owner {
            joint.second_point
        } else {
            joint.point
        };
        let turns = matches!(joint.kind, JointKind::Spherical | JointKind::Distance);
        if !turns || (own - point).norm() > AT_VERTEX * size {
            return Err(format!(
                "it holds '{}' at one vertex, which has no directions: a spherical joint or a distance does, with its point at that vertex; \
                 select more vertices for others",
                body.name
            ));
        }
    }
    let axes = svd3(&second);
    let greatest = (axes.sigma.max() / whole).sqrt();
    let least = if greatest > 0.0 { LEAST_RADIUS * greatest } else { POINT_RADIUS * size };
    let radii = (axes.sigma / whole).map(|s| s.max(0.0).sqrt().max(least));
    let second_moment =
        whole * axes.u * Mat3::from_diagonal(&radii.map(|r| r * r)) * axes.u.transpose();
    MassProperties { mass: whole, centre, second_moment }.control_points()
}

/// Appends the body of a grip with its control points.
fn append(
    all: &mut Collected,
    joint: &JointDef,
    owner: usize,
    vertices: Vec<u32>,
    control: &[Vec3; CONTROL_POINTS],
    mass: &[f64],
) -> Grip {
    let first = all.rest.len();
    let range = first..first + CONTROL_POINTS;
    let [velocity, spin] = rigid_velocity(&vertices, &all.start, &all.velocity, mass);
    let centre = control.iter().sum::<Vec3>() / CONTROL_POINTS as f64;
    all.rest.extend(control);
    all.start.extend(control);
    all.velocity.extend(control.iter().map(|p| velocity + spin.cross(&(p - centre))));
    all.mass.resize(range.end, 0.0);
    all.half_thickness.resize(range.end, 0.0);
    all.deformable.resize(range.end, true);
    let solid = all.solid_count();
    all.tets.push(std::array::from_fn(|k| (first + k) as u32));
    let whole: f64 = vertices.iter().map(|&v| mass[v as usize]).sum();
    all.densities.push(whole / tet_volume(control));
    // see `stiffen_rigid_bodies`
    all.materials.push(orthogonality(1.0));
    let own = &all.bodies[owner];
    let owner_mass = mass[own.unknowns.clone()].iter().sum();
    all.bodies.push(Body {
        name: format!("{} at joint '{}'", own.name, joint.name),
        vertices: range.clone(),
        carried: range.end..range.end,
        unknowns: range,
        rigid: true,
        solids: solid..solid + 1,
        quadratic: false,
        triangles: 0..0,
        segments: 0..0,
        obstacle: false,
        owner: Some(owner),
    });
    Grip { owner, body: all.bodies.len() - 1, vertices, owner_mass, mass: whole }
}

/// What turns the edges with directors of which both ends belong to a grip with that, with frames as at the start.
pub(super) fn turns(model: &Model, state: &State) -> Vec<([u32; 5], GripTurn)> {
    let (frames, mut turns) = (&model.frames, Vec::new());
    if model.grips.is_empty() || frames.is_empty() {
        return turns;
    }
    let stiffness = turning_stiffness(model, state);
    for (k, ends) in frames.edges.iter().enumerate() {
        let holds = |g: &&Grip| ends.iter().all(|v| g.vertices.binary_search(v).is_ok());
        let Some(grip) = model.grips.iter().find(holds).filter(|_| stiffness[k] > 0.0) else {
            continue;
        };
        let on: Vec<u32> = grip.control(&model.bodies).collect();
        let control: [Vec3; CONTROL_POINTS] = std::array::from_fn(|i| state.x[on[i] as usize]);
        let difference = |to: &Vec3, from: &Vec3| -> [f64; CONTROL_POINTS] {
            let [a, b] = [to, from].map(|p| coordinates(p, &control));
            std::array::from_fn(|i| a[i] - b[i])
        };
        let [a, b] = ends.map(|v| state.x[v as usize]);
        let (tangent, director) = (frames.tangent(k as u32, &state.x), state.directors[k]);
        let length = (b - a).norm();
        let along_director = difference(&(a + length * director), &a);
        let weights = [difference(&b, &a), along_director.map(|w| w / length)];
        let frame = Frame { tangent, director };
        let (stiffness, lever) = (TURN * stiffness[k], frames.lever[k]);
        let turn = GripTurn { stiffness, lever, weights, frame };
        turns.push(([on[0], on[1], on[2], on[3], (frames.first_angle + k) as u32], turn));
    }
    turns
}

/// The second derivative of the energies of rods and shells by the angle of each edge at the start, J.
fn turning_stiffness(model: &Model, state: &State) -> Vec<f64> {
    let (frames, codim) = (&model.frames, model.codim_at(state));
    let mut sum = vec![0.0; frames.len()];
    let mut add = |vertex: u32, entry: f64| {
        if let Some(k) = (vertex as usize).checked_sub(frames.first_angle) {
            sum[k] += entry * frames.lever[k] * frames.lever[k];
        }
    };
    for (e, vertices) in codim.rod_joints.vertices().iter().enumerate() {
        let h = codim.rod_joints.elements[e].hessian_psd(&codim.rod_joints.gather(e, &state.x));
        vertices.iter().enumerate().for_each(|(a, &v)| add(v, h[a][a][(0, 0)]));
    }
    for (e, vertices) in codim.shape_operators.vertices().iter().enumerate() {
        let operators = &codim.shape_operators;
        let h = operators.elements[e].hessian_psd(&operators.gather(e, &state.x));
        vertices.iter().enumerate().for_each(|(a, &v)| add(v, h[a][a][(0, 0)]));
    }
    sum
}

/// Hands the masses and the weights of the vertices of grips over to their control points, which have got the masses already.
pub(super) fn hand_over(all: &mut Collected) {
    for grip in &all.grips.all {
        if !all.weight_excess.is_empty() {
            all.weight_excess.resize(all.rest.len(), 0.0);
            for &v in &grip.vertices {
                let weight =
                    all.mass[v as usize] * std::mem::take(&mut all.weight_excess[v as usize]);
                for (&u, w) in all.map.row(v).into_iter().flat_map(|(on, w)| on.iter().zip(w)) {
                    all.weight_excess[u as usize] += w * weight / all.mass[u as usize];
                }
            }
        }
        grip.vertices.iter().for_each(|&v| all.mass[v as usize] = 0.0);
    }
}
