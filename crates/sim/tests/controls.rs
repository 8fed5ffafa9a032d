//! What may be set between steps: each control against the same thing said by the definition, and the forces
//! on bodies and half-spaces against balance and against the contacts.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::expression::{Expression, VectorExpression};
use standoff_sim::definition::settings::{Integrator, Method};
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, ForceDef, Load, Motion, PrescribedDef,
};
use standoff_sim::{ControlError, Simulation, State};

const H: f64 = 0.01;

fn plate() -> BodyDef {
    let rest = [[-1.0, 0.0, -1.0], [2.0, 0.0, -1.0], [2.0, 0.0, 2.0], [-1.0, 0.0, 2.0]];
    BodyDef {
        name: "plate".into(),
        rest: rest.map(Vec3::from).to_vec(),
        kind: BodyKind::Obstacle {
            triangles: vec![[0, 2, 1], [0, 3, 2]],
            edges: Vec::new(),
            points: Vec::new(),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}

/// A block, held at two vertices where asked, on a plate that can be moved, with friction.
fn on_plate() -> Definition {
    let mut definition = scene(vec![block("low", [0.0, 0.004, 0.0], [2, 2, 2], 0.2), plate()]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.settings.time.step = H;
    definition.settings.friction.coefficient = 0.3;
    definition.settings.contact.d_hat = Some(0.01);
    definition
}

fn prescribe(body: usize, vertices: Vec<u32>, motion: Motion) -> PrescribedDef {
    PrescribedDef::new("motion", body, vertices, motion)
}

/// Where the plate's corners are after a step.
fn path(step: usize) -> Vec<Vec3> {
    let t = H * step as f64;
    let shift = Vec3::new(0.3 * t * t, 0.1 * t, -0.2 * t);
    plate().rest.iter().map(|p| p + shift).collect()
}

fn bits(state: &State) -> Vec<u64> {
    let vectors = state.vectors();
    let of_vertices = vectors.iter().flat_map(|(_, l)| l.iter()).flatten();
    let reactions = state.half_space_forces.iter().flatten().flatten();
    of_vertices.chain(reactions).map(|c| c.to_bits()).collect()
}

#[test]
fn targets_set_step_by_step_are_a_sequence() {
    let mut told = on_plate();
    let frames = (1..=8).map(path).collect();
    told.prescribed.push(prescribe(1, vec![0, 1, 2, 3], Motion::Sequence { frames }));
    let mut told = Simulation::new(&told).unwrap();
    let mut set = Simulation::new(&on_plate()).unwrap();
    let plate: Vec<u32> = set.model().bodies[1].vertices.clone().map(|v| v as u32).collect();
    for step in 1..=8 {
        set.set_targets(&plate, &path(step)).unwrap();
        set.step().unwrap();
        told.step().unwrap();
        assert_eq!(bits(set.state()), bits(told.state()), "step {step}");
    }
    assert!(set.contact_forces()[0].norm() > 0.0);
    assert_eq!(&set.positions()[plate[0] as usize..][..4], &path(8)[..]);
    // they stay where they were told to go
    set.step().unwrap();
    assert_eq!(&set.positions()[plate[0] as usize..][..4], &path(8)[..]);
}

/// A plate that is told to go through a ceiling with a block in between: the message names its body, as no motion of
/// the definition has a name for it.
#[test]
fn a_blocked_target_names_the_body() {
    let mut definition = on_plate();
    let mut ceiling = plate();
    ceiling.name = "ceiling".into();
    ceiling.rest.iter_mut().for_each(|p| p.y += 0.41);
    definition.bodies.push(ceiling);
    let mut simulation = Simulation::new(&definition).unwrap();
    let vertices: Vec<u32> =
        simulation.model().bodies[1].vertices.clone().map(|v| v as u32).collect();
    let target: Vec<Vec3> = plate().rest.iter().map(|p| p + Vec3::new(0.0, 1.0, 0.0)).collect();
    simulation.set_targets(&vertices, &target).unwrap();
    let error = simulation.step().unwrap_err().to_string();
    assert!(error.contains("prescribed motion 'plate' is blocked at"), "{error}");
}

#[test]
fn held_vertices_of_a_solid_follow_targets_and_can_be_let_go() {
    let mut definition = on_plate();
    definition.prescribed.push(prescribe(0, vec![0, 1], Motion::Fixed));
    let mut simulation = Simulation::new(&definition).unwrap();
    let target: Vec<Vec3> =
        simulation.positions()[..2].iter().map(|p| p + Vec3::new(0.0, 1e-3, 0.0)).collect();
    simulation.set_targets(&[0, 1], &target).unwrap();
    simulation.step().unwrap();
    assert_eq!(&simulation.positions()[..2], &target[..]);
    let free = simulation.set_targets(&[2], &target[..1]);
    assert!(matches!(free, Err(ControlError::Free { place }) if place == "vertex 2 of 'low'"));
    simulation.set_prescription(0, false).unwrap();
    assert!(matches!(simulation.set_targets(&[0], &target[..1]), Err(ControlError::Free { .. })));
    simulation.step().unwrap();
    assert_ne!(&simulation.positions()[..2], &target[..]);
    let there = simulation.positions()[..2].to_vec();
    simulation.set_prescription(0, true).unwrap();
    simulation.step().unwrap();
    assert_eq!(&simulation.positions()[..2], &there[..]);
    assert!(simulation.set_prescription(1, true).is_err());
}

#[test]
fn loads_and_gravity_that_are_set_are_those_of_a_definition() {
    let load = |value: Load| ForceDef {
        name: "low.push".into(),
        body: 0,
        vertices: (0..27).collect(),
        load: value,
        t0: 0.0,
        t1: f64::INFINITY,
    };
    let fixed = |v: Vec3| VectorExpression([v.x, v.y, v.z].map(Expression::constant));
    let push = Vec3::new(20.0, 0.0, 5.0);
    let cases = [
        (Load::Force(fixed(push)), Load::Force(fixed(Vec3::zeros())), push),
        (Load::Acceleration(fixed(push)), Load::Acceleration(fixed(Vec3::zeros())), push),
        (
            Load::Pressure(Expression::constant(300.0)),
            Load::Pressure(Expression::constant(0.0)),
            Vec3::new(300.0, 0.0, 0.0),
        ),
    ];
    for (wanted, none, value) in cases {
        let with = |l: Load, gravity: f64| {
            let mut definition = on_plate();
            definition.settings.time.integrator = Integrator::ImplicitEuler;
            definition.gravity.y = gravity;
            definition.forces.push(load(l));
            Simulation::new(&definition).unwrap()
        };
        let (mut told, mut set) = (with(wanted, -3.0), with(none.clone(), 0.0));
        set.set_load(0, Some(value)).unwrap();
        set.set_gravity(Some(Vec3::new(0.0, -3.0, 0.0))).unwrap();
        for _ in 0..4 {
            let (a, b) = (told.step().unwrap(), set.step().unwrap());
            assert_eq!(a.gravity_energy.to_bits(), b.gravity_energy.to_bits());
            assert_eq!(bits(told.state()).len(), bits(set.state()).len());
            assert_eq!(told.positions(), set.positions(), "{value}");
        }
        // and both can be taken back
        set.set_load(0, None).unwrap();
        set.set_gravity(None).unwrap();
        let mut free = Simulation::restore(&definition_of(none), set.state().clone()).unwrap();
        free.step().unwrap();
        set.step().unwrap();
        assert_eq!(free.positions(), set.positions());
    }

    fn definition_of(l: Load) -> Definition {
        let mut definition = on_plate();
        definition.settings.time.integrator = Integrator::ImplicitEuler;
        definition.gravity.y = 0.0;
        let vertices = (0..27).collect();
        let (name, t0, t1) = ("low.push".into(), 0.0, f64::INFINITY);
        definition.forces.push(ForceDef { name, body: 0, vertices, load: l, t0, t1 });
        definition
    }
}

#[test]
fn bodies_fly_on_with_the_velocity_that_was_set() {
    let newmark = [Integrator::Newmark, Integrator::ImplicitMidpoint];
    for integrator in [Integrator::ImplicitEuler, Integrator::Bdf2].into_iter().chain(newmark) {
        let mut definition = scene(vec![block("low", [0.0, 0.0, 0.0], [1, 1, 1], 0.2)]);
        definition.gravity = Vec3::zeros();
        definition.settings.time.step = H;
        definition.settings.time.integrator = integrator;
        let mut simulation = Simulation::new(&definition).unwrap();
        simulation.step().unwrap();
        let before = simulation.positions().to_vec();
        let v = Vec3::new(1.0, -2.0, 0.5);
        simulation.set_velocities(0, &vec![v; before.len()]).unwrap();
        for step in 1..=3 {
            simulation.step().unwrap();
            for (p, q) in before.iter().zip(simulation.positions()) {
                let error = (q - p - v * (H * f64::from(step))).norm();
                assert!(error < 1e-12, "{integrator:?}, step {step}: {error:e}");
            }
        }
    }
}

#[test]
fn a_state_with_controls_goes_on_with_the_same_bits() {
    let mut simulation = Simulation::new(&on_plate()).unwrap();
    let plate: Vec<u32> = simulation.model().bodies[1].vertices.clone().map(|v| v as u32).collect();
    simulation.set_gravity(Some(Vec3::new(0.5, -5.0, 0.0))).unwrap();
    simulation.step().unwrap();
    simulation.set_targets(&plate, &path(2)).unwrap();
    let saved = simulation.state().clone();
    let mut other = Simulation::restore(&on_plate(), saved.clone()).unwrap();
    for _ in 0..3 {
        simulation.step().unwrap();
        other.step().unwrap();
    }
    assert_eq!(bits(simulation.state()), bits(other.state()));
    simulation.set_state(saved.clone()).unwrap();
    for _ in 0..3 {
        simulation.step().unwrap();
    }
    assert_eq!(bits(simulation.state()), bits(other.state()));
    let mut bad = saved;
    bad.x.pop();
    assert!(simulation.set_state(bad).is_err());
}

#[test]
fn what_cannot_be_set_is_refused_and_changes_nothing() {
    let mut simulation = Simulation::new(&on_plate()).unwrap();
    let before = simulation.state().clone();
    let nan = Vec3::new(0.0, f64::NAN, 0.0);
    let n = simulation.positions().len();
    assert!(simulation.set_gravity(Some(nan)).is_err());
    assert!(simulation.set_load(0, Some(Vec3::zeros())).is_err());
    assert!(simulation.set_velocities(n, &[Vec3::zeros()]).is_err());
    assert!(simulation.set_velocities(0, &[nan]).is_err());
    let of_obstacle = simulation.set_velocities(n - 1, &[Vec3::zeros()]);
    assert!(matches!(of_obstacle, Err(ControlError::Prescribed { .. })));
    assert!(simulation.set_targets(&[n as u32 - 1], &[nan]).is_err());
    assert!(simulation.set_targets(&[n as u32], &[Vec3::zeros()]).is_err());
    assert!(simulation.set_targets(&[n as u32 - 1], &[]).is_err());
    assert_eq!(*simulation.state(), before);
}

/// Blocks that lie on two half-spaces and on each other.
fn heap(method: Method) -> Definition {
    let mut definition = scene(vec![
        block("low", [0.0, 0.004, 0.0], [2, 2, 2], 0.2),
        block("high", [0.07, 0.409, 0.11], [2, 1, 2], 0.2),
    ]);
    definition.gravity = Vec3::new(-1.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    let mut wall = ground(0.0);
    (wall.name, wall.origin, wall.normal) = ("wall".into(), Vec3::new(-0.004, 0.0, 0.0), Vec3::x());
    definition.half_spaces.push(wall);
    definition.settings.time.step = H;
    definition.settings.time.integrator = Integrator::ImplicitEuler;
    definition.settings.contact.d_hat = Some(0.01);
    definition.settings.friction.coefficient = 0.2;
    definition.settings.solver.method = method;
    definition
}

#[test]
fn half_spaces_bear_what_the_bodies_do_not() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let mut simulation = Simulation::new(&heap(method)).unwrap();
        for _ in 0..10 {
            simulation.step().unwrap();
        }
        let state = simulation.state();
        let [ground, wall] = state.half_space_forces[..] else { panic!() };
        assert!(ground[0].y < -1.0 && wall[0].x < 0.0, "{ground:?} {wall:?}");
        let scale: f64 = simulation.contact_forces().iter().map(|f| f.norm()).sum();
        let force: Vec3 = simulation.contact_forces().iter().sum();
        let balance = (force + ground[0] + wall[0]).norm();
        assert!(balance < 1e-12 * scale, "{method:?}: {balance:e}");
        // pairs exert no torque in sum but for friction, which acts at both closest points
        let moment = |(x, f): (&Vec3, &Vec3)| x.cross(f);
        let torque: Vec3 =
            simulation.positions().iter().zip(simulation.contact_forces()).map(moment).sum();
        let balance = (torque + ground[1] + wall[1]).norm();
        assert!(balance < 1e-3 * scale, "{method:?}: {balance:e}");
    }
}

#[test]
fn contacts_bear_the_contact_forces() {
    for (method, friction) in [(Method::Barrier, 0.0), (Method::BarrierFree, 0.0)] {
        let mut definition = heap(method);
        definition.settings.friction.coefficient = friction;
        let mut simulation = Simulation::new(&definition).unwrap();
        for _ in 0..10 {
            simulation.step().unwrap();
        }
        let contacts = simulation.contacts();
        assert!(contacts.iter().any(|c| c.half_space.is_none() && c.force > 0.0));
        assert!(contacts.iter().all(|c| c.gap > 0.0 && (c.normal.norm() - 1.0).abs() < 1e-12));
        // forces on the upper block: those of pairs whose first or second primitive it has
        let upper = simulation.model().bodies[1].vertices.clone();
        let has = |v: u32| upper.contains(&(v as usize));
        let mut sum = Vec3::zeros();
        for c in &contacts {
            if has(c.vertices[0]) {
                sum += c.normal * c.force;
            } else if c.half_space.is_none() && has(c.vertices[c.first]) {
                sum -= c.normal * c.force;
            }
        }
        let force: Vec3 = simulation.contact_forces()[upper.clone()].iter().sum();
        let scale: f64 = simulation.contact_forces()[upper].iter().map(|f| f.norm()).sum();
        assert!(scale > 1.0 && (sum - force).norm() < 0.02 * scale, "{method:?} {sum} {force}");
    }
}
