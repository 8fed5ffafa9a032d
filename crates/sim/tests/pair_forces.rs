//! What bodies act with on each other: against statics, Newton's third law, and the forces on each of them.

use crate::common::rigid::solid_box;
use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::contact::{PairForces, Party};
use standoff_sim::definition::{BodyDef, BodyKind, Definition};
use standoff_sim::settings::{ContactPotential, Method};

const G: f64 = 9.81;
const GROUND: Party = Party::HalfSpace(0);
const LOW: Party = Party::Body(0);
const HIGH: Party = Party::Body(1);
const PIER: Party = Party::Body(2);

/// A box as an obstacle.
fn pier(low: Vec3, size: Vec3) -> BodyDef {
    let corner = |i: usize| Vec3::from([0, 1, 2].map(|k| (i >> k & 1) as f64));
    let rest = (0..8).map(|i| low + corner(i).component_mul(&size)).collect();
    let sides: [[u32; 4]; 6] =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    let triangles = sides.iter().flat_map(|s| [[s[0], s[1], s[2]], [s[0], s[2], s[3]]]).collect();
    let kind = BodyKind::Obstacle { triangles, edges: Vec::new(), points: Vec::new() };
    let friction_material = "default".into();
    BodyDef { name: "pier".into(), rest, kind, friction_material, ..BodyDef::default() }
}

/// A rigid box that bridges a soft block, which lies on the ground, and an obstacle.
fn bridge() -> Definition {
    let low = block("low", [0.0, 0.002, 0.0], [2, 1, 2], 0.1);
    let high = solid_box("high", Vec3::new(0.1, 0.104, 0.01), Vec3::new(0.3, 0.1, 0.17), 1);
    let pier = pier(Vec3::new(0.3, 0.0, -0.1), Vec3::new(0.2, 0.102, 0.4));
    let mut definition = scene(vec![low, high, pier]);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 0.01;
    definition.settings.contact.d_hat = Some(4e-3);
    definition.settings.friction.coefficient = 0.4;
    definition.settings.solver.end.velocity = Some(1e-9);
    // what lies on a slope
    definition.gravity = Vec3::new(1.5, -G, 0.7);
    definition
}

/// The methods and potentials that find contact forces in ways of their own.
fn ways() -> [(Method, ContactPotential); 3] {
    [
        (Method::Barrier, ContactPotential::Ipc),
        (Method::BarrierFree, ContactPotential::Ipc),
        (Method::Barrier, ContactPotential::OrientationAware),
    ]
}

fn between(simulation: &Simulation, on: Party, by: Party) -> Option<PairForces> {
    simulation.state().pair_forces.iter().find(|f| f.on == on && f.by == by).copied()
}

/// Force and moment, friction included.
fn whole(pair: &PairForces) -> [Vec3; 2] {
    [0, 1].map(|k| pair.normal[k] + pair.friction[k])
}

#[test]
fn pairs_add_up_to_the_forces_on_bodies_and_are_opposite() {
    for (method, potential) in ways() {
        let mut definition = bridge();
        definition.settings.solver.method = method;
        definition.settings.contact.potential = potential;
        let mut simulation = Simulation::new(&definition).unwrap();
        for step in 1..=12 {
            let forces = simulation.step().unwrap().forces;
            let pairs = simulation.state().pair_forces.clone();
            let name = |party: Party| match party {
                Party::Body(b) => simulation.model().bodies[b as usize].name.as_str(),
                Party::HalfSpace(_) => "ground",
            };
            let groups = [&forces.bodies, &forces.obstacles, &forces.half_spaces];
            let on_all = groups.iter().flat_map(|g| g.iter());
            for (on, total) in on_all {
                let own = || pairs.iter().filter(|f| name(f.on) == on);
                let [force, torque] = [0, 1].map(|k| own().map(|f| whole(f)[k]).sum::<Vec3>());
                let scale: f64 = own().map(|f| whole(f)[0].norm()).sum();
                let error = (force - Vec3::from(total.force))
                    .norm()
                    .max((torque - Vec3::from(total.torque)).norm());
                assert!(
                    error <= 1e-13 * scale,
                    "{method:?} {potential:?} {step} {on}: {error:e} of {scale:e}"
                );
                let told: Vec3 = forces
                    .pairs
                    .get(on)
                    .iter()
                    .flat_map(|g| g.values())
                    .map(|p| Vec3::from(p.force))
                    .sum();
                assert!((told - force).norm() <= 1e-13 * scale, "{on}: {told}");
            }
            for f in &pairs {
                let back = between(&simulation, f.by, f.on).unwrap();
                let scale = whole(f)[0].norm();
                for (a, b) in [(f.normal[0], back.normal[0]), (f.friction[0], back.friction[0])] {
                    assert!(
                        (a + b).norm() <= 1e-12 * scale,
                        "{method:?} {potential:?} {f:?} {back:?}"
                    );
                }
                // forces along a normal have one line of action
                assert!((f.normal[1] + back.normal[1]).norm() <= 1e-11 * scale, "{f:?} {back:?}");
                // friction acts on both surfaces, which are closer than d̂
                let arm = (f.friction[1] + back.friction[1]).norm();
                assert!(arm <= 4.1e-3 * f.friction[0].norm() + 1e-12 * scale, "{arm:e} {f:?}");
            }
        }
        let touch = |a, b| between(&simulation, a, b).map_or(0.0, |f| f.friction[0].norm());
        for (on, by) in [(LOW, GROUND), (HIGH, LOW), (HIGH, PIER), (GROUND, LOW), (PIER, HIGH)] {
            assert!(
                touch(on, by) > 0.01,
                "{method:?} {potential:?} {on:?} {by:?}: {}",
                touch(on, by)
            );
        }
        assert!(
            between(&simulation, HIGH, GROUND).is_none()
                && between(&simulation, LOW, PIER).is_none()
        );
    }
}

#[test]
fn a_box_at_rest_on_another_weighs_m_g() {
    for (method, potential) in ways() {
        let low = block("low", [0.0, 0.002, 0.0], [2, 1, 2], 0.1);
        let high = solid_box("high", Vec3::new(0.02, 0.1035, 0.01), Vec3::new(0.15, 0.1, 0.17), 1);
        let mut definition = bridge();
        definition.bodies = vec![low, high];
        definition.gravity = -G * Vec3::y();
        definition.settings.solver.method = method;
        definition.settings.contact.potential = potential;
        definition.settings.time.step = 0.02;
        let mut simulation = Simulation::new(&definition).unwrap();
        for _ in 0..60 {
            simulation.step().unwrap();
        }
        let weights = [0, 1].map(|b: usize| {
            let model = simulation.model();
            model.mass[model.bodies[b].vertices.clone()].iter().sum::<f64>() * G
        });
        let on = |on, by| whole(&between(&simulation, on, by).unwrap())[0];
        for (force, weight) in
            [(on(HIGH, LOW), weights[1]), (on(LOW, GROUND), weights[0] + weights[1])]
        {
            let error = (force - weight * Vec3::y()).norm() / weight;
            assert!(error < 1e-5, "{method:?} {potential:?}: {force:?} for {weight} N, {error:e}");
        }
    }
}

/// Two blocks of one body, one on the other.
#[test]
fn what_a_body_does_to_itself_is_no_pair() {
    let mut body = block("twins", [0.0, 0.002, 0.0], [1, 1, 1], 0.1);
    let upper = block("upper", [0.01, 0.104, 0.01], [1, 1, 1], 0.08);
    let shift = body.rest.len() as u32;
    body.rest.extend(upper.rest);
    if let (BodyKind::Volume { tets, .. }, BodyKind::Volume { tets: more, .. }) =
        (&mut body.kind, &upper.kind)
    {
        tets.extend(more.iter().map(|t| t.map(|v| v + shift)));
    }
    let mut definition = bridge();
    definition.bodies = vec![body];
    let mut simulation = Simulation::new(&definition).unwrap();
    for _ in 0..8 {
        simulation.step().unwrap();
    }
    let upper: Vec3 = simulation.contact_forces()[shift as usize..].iter().sum();
    assert!(upper.y > 1.0, "the blocks do not touch: {upper:?}");
    let parties: Vec<_> = simulation.state().pair_forces.iter().map(|f| (f.on, f.by)).collect();
    assert_eq!(parties, [(LOW, GROUND), (GROUND, LOW)]);
    // nor is it possible to continue with forces between bodies that there are not
    let mut state = simulation.state().clone();
    state.pair_forces[0].by = Party::Body(1);
    let error = simulation.set_state(state).unwrap_err().to_string();
    assert!(error.contains("forces between other bodies"), "{error}");
}
