//! Forces and moments of a step: what supports and loads act with, and sums over bodies.
//!
//! The force of a support on a held vertex is what the vertex's equation of motion lacks. In the discrete equations of
//! the integrators, with the contact forces f_c (friction included) and all others f, both at the end if nothing else is said,
//!
//! implicit Euler, BDF2:     R = m a − f − f_c, with the integrator's acceleration a; quasi-static steps: a = 0
//! other one-step schemes:   R = m (v − v₀)/h − ω f − (1 − ω) f₀ − f_c, with f between start and end, and f₀ at the start of the step
//!
//! so that the rate of change of a body's momentum is the sum of all forces on it, as far as the free vertices are at
//! their minimum. With `trapezoidal_contact` the first equation holds for Newmark, too.

use crate::body::Body;
use crate::contact::Party;
use crate::context::StepContext;
use crate::definition::settings::Scheme;
use crate::loads::resultant;
use crate::model::Model;
use crate::motion::PrescribedMotion;
use crate::potential::IncrementalPotential;
use crate::report::{Forces, Held, JointForces, PairResultant, Resultant};
use crate::state::State;
use standoff_linalg::Vec3;
use std::collections::BTreeMap;

/// The largest group whose members a report lists: a line of statistics stays below 100 kB.
const LISTED: usize = 100;

/// Fills in what supports and loads acted with in the step from one state to the next.
pub fn record(potential: &IncrementalPotential<'_>, before: &State, end: &mut State) {
    let StepContext { model, start, load_time, .. } = potential.context;
    let x = potential.elastic_positions(&end.x);
    let (times, x) = ([start, load_time], [before.x.as_slice(), &x]);
    end.load_forces = model.loads.resultants(&end.controls, &model.mass, times, x);
    end.held_forces = held(potential, before, end);
    drop_moments(model, end.load_forces.iter_mut().chain(&mut end.held_forces));
}

/// Forces all around a ring have no moment.
fn drop_moments<'a>(model: &Model, forces: impl Iterator<Item = &'a mut [Vec3; 2]>) {
    if model.dimension.is_axisymmetric() {
        forces.for_each(|f| f[1] = Vec3::zeros());
    }
}

/// Force and moment of each prescribed motion on its vertices. Vertices that several hold count in each.
fn held(potential: &IncrementalPotential<'_>, before: &State, end: &State) -> Vec<[Vec3; 2]> {
    let model = potential.context.model;
    let acts = |k: usize| !end.ended[k] && model.motions[k].due(before.time);
    let active: Vec<bool> = (0..model.motions.len()).map(acts).collect();
    if !active.contains(&true) {
        return vec![[Vec3::zeros(); 2]; active.len()];
    }
    let gradient = gradient(potential, &active, end);
    let mut contact = end.contact_forces.clone();
    model.map.gather(&mut contact);
    let others = |v: usize| [gradient[v], contact[v]];
    let on = |v: u32| support(potential, before, end, others(v as usize), v as usize);
    let clamped = clamping_moments(model, end, &on);
    let of = |(motion, acts): (&PrescribedMotion, &bool)| {
        if !acts {
            return [Vec3::zeros(); 2];
        }
        let own = |v: &u32| (end.x[*v as usize], motion.own_part(on(*v)));
        let [force, mut torque] = resultant(motion.vertices.iter().map(own));
        if !clamped.is_empty() {
            torque += motion.vertices.iter().map(|&v| clamped[v as usize]).sum::<Vec3>();
        }
        [force, torque]
    };
    model.motions.iter().zip(&active).map(of).collect()
}

/// Minus the forces on held vertices but inertia and contact. Where only obstacles are held to which no spring and no energy
/// is tied, there are none.
fn gradient(potential: &IncrementalPotential<'_>, active: &[bool], end: &State) -> Vec<Vec3> {
    let model = potential.context.model;
    let tied = !model.loads.springs.is_empty() || !model.energies.is_empty();
    let mut motions = model.motions.iter().zip(active).filter(|(_, acts)| **acts);
    if tied || motions.any(|(m, _)| m.vertices.iter().any(|v| model.deformable[*v as usize])) {
        return potential.gradient_on_held(&end.x);
    }
    vec![Vec3::zeros(); end.x.len()]
}

/// The force of the support on a held vertex, N, with minus the forces but inertia and contact there and the contact forces.
fn support(
    potential: &IncrementalPotential<'_>,
    before: &State,
    end: &State,
    [others, contact]: [Vec3; 2],
    v: usize,
) -> Vec3 {
    let StepContext { model, settings, integrator, h, .. } = potential.context;
    if !model.deformable[v] {
        // an obstacle's mass is fictitious
        return others - contact;
    }
    let mass = model.mass[v];
    match integrator {
        Scheme::OneStep { .. }
            if integrator.theta() < 1.0 && !settings.time.trapezoidal_contact =>
        {
            let (new, rate) = (integrator.new_part(), mass * (end.v[v] - before.v[v]) / h);
            rate - (1.0 - new) * mass * before.a[v] + new * others - contact
        }
        _ => mass * end.a[v] + others - contact,
    }
}

/// Moments with which clamped edges of rods and shells are kept from turning about themselves, at their first ends, N m
/// (`#V`); empty without such edges.
fn clamping_moments(model: &Model, end: &State, on: &dyn Fn(u32) -> Vec3) -> Vec<Vec3> {
    let frames = &model.frames;
    if frames.is_empty() {
        return Vec::new();
    }
    let mut moments = vec![Vec3::zeros(); model.vertex_count()];
    for (k, [first, _]) in frames.edges.iter().enumerate() {
        let angle = frames.first_angle + k;
        if end.prescribed[angle] && !frames.is_lone(k) {
            let about = frames.lever[k] * on(angle as u32).x;
            moments[*first as usize] += about * frames.tangent(k as u32, &end.x);
        }
    }
    moments
}

/// The forces of a report on the step that ended in a state.
pub fn report(model: &Model, state: &State) -> Forces {
    let held = |(k, name): (usize, &String)| {
        let Resultant { force, torque } = state.held_forces[k].into();
        let displacement = model.motions[k].displacement(&state.x).into();
        (name.clone(), Held { force, torque, displacement })
    };
    let held_names = listed(&model.held_names);
    Forces {
        bodies: touched(model, state, false),
        obstacles: touched(model, state, true),
        half_spaces: named(&model.half_space_names, &state.half_space_forces),
        pairs: pairs(model, state),
        held: held_names.iter().enumerate().map(held).collect(),
        loads: named(&model.load_names, &state.load_forces),
        joints: joints(model, state),
    }
}

/// What the joints acted with in the step that ended in a state, and their coordinates there.
fn joints(model: &Model, state: &State) -> BTreeMap<String, JointForces> {
    if model.joints.count() > LISTED {
        return BTreeMap::new();
    }
    let named = |(k, name): (usize, &str)| (name.to_owned(), joint_forces(model, state, k));
    model.joints.names().enumerate().map(named).collect()
}

/// What joint number `k` acted with in the step that ended in a state, and its coordinates there; tendons are counted after the joints.
pub fn joint_forces(model: &Model, state: &State, k: usize) -> JointForces {
    let (coordinates, efforts) = (state.joint_coordinates[k], state.joint_efforts[k]);
    let along = JointForces {
        drive: efforts.drive,
        spring: efforts.spring,
        resistance: efforts.resistance,
        limit: efforts.limit,
        coupling: efforts.coupling,
        ..JointForces::default()
    };
    if let Some(tendon) = k.checked_sub(model.joints.all.len()) {
        let rate = model.joints.tendon_rate(&model.joints.tendons[tendon], &state.x, &state.v);
        return JointForces { displacement: Some(coordinates[1]), speed: Some(rate), ..along };
    }
    let joint = &model.joints.all[k];
    let [force, moment] = joint.reaction(&state.joint_multipliers[joint.first_row..], &state.x);
    let rates = joint.rates(&state.x, &state.v);
    let (turns, slides) = (joint.turn.is_some(), joint.slide.is_some());
    JointForces {
        force: force.into(),
        moment: moment.into(),
        point: joint.point(&state.x).into(),
        error: joint.error(&state.x),
        angle: turns.then_some(coordinates[0]),
        angular_speed: turns.then_some(rates[0]),
        displacement: slides.then_some(coordinates[1]),
        speed: slides.then_some(rates[1]),
        broken: joint.broken,
        ..along
    }
}

/// Names of a group that is not too large.
fn listed(names: &[String]) -> &[String] {
    if names.len() > LISTED { &[] } else { names }
}

fn named(names: &[String], forces: &[[Vec3; 2]]) -> BTreeMap<String, Resultant> {
    listed(names).iter().cloned().zip(forces.iter().map(|f| (*f).into())).collect()
}

/// What acts on what.
fn pairs(model: &Model, state: &State) -> BTreeMap<String, BTreeMap<String, PairResultant>> {
    let mut all: BTreeMap<String, BTreeMap<String, PairResultant>> = BTreeMap::new();
    if state.pair_forces.len() > LISTED {
        return all;
    }
    let name = |party: Party| match party {
        Party::Body(b) => model.bodies[b as usize].name.clone(),
        Party::HalfSpace(k) => model.half_space_names[k as usize].clone(),
    };
    for forces in &state.pair_forces {
        all.entry(name(forces.on)).or_default().insert(name(forces.by), forces.into());
    }
    all
}

/// Contact and friction on the bodies, or on the obstacles, that anything touches.
fn touched(model: &Model, state: &State, obstacles: bool) -> BTreeMap<String, Resultant> {
    let of_kind = || model.bodies.iter().filter(|b| b.obstacle == obstacles);
    if of_kind().count() > LISTED {
        return BTreeMap::new();
    }
    let forces = |body: &Body| {
        let part = body.vertices.clone();
        let pairs = state.x[part.clone()].iter().zip(&state.contact_forces[part]);
        let mut sums = resultant(pairs.map(|(x, f)| (*x, *f)));
        drop_moments(model, std::iter::once(&mut sums));
        sums
    };
    let all = of_kind().map(|body| (body, forces(body)));
    let touched = all.filter(|(_, sums)| sums.iter().any(|s| *s != Vec3::zeros()));
    touched.map(|(body, sums)| (body.name.clone(), sums.into())).collect()
}
