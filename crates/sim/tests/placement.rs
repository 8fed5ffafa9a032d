//! Positions that are set between steps: against simulations that start there, what is refused, and that what follows depends on
//! the state alone.

use crate::common::rigid::solid_box;
use crate::common::{block, grid, ground, scene};
use crate::{rods, shells};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::Rotation3;
use standoff_sim::definition::{
    BendingModel, BodyDef, BodyKind, Definition, Dimension, ShellMaterial,
};
use standoff_sim::material::membrane::StretchLimit;
use standoff_sim::settings::{Integrator, Method};
use standoff_sim::{ControlError, Simulation, State};

fn plate(height: f64) -> BodyDef {
    let rest = [[-1.0, 0.0, -1.0], [2.0, 0.0, -1.0], [2.0, 0.0, 2.0], [-1.0, 0.0, 2.0]];
    BodyDef {
        name: "plate".into(),
        rest: rest.map(|p| Vec3::from(p) + Vec3::y() * height).to_vec(),
        kind: BodyKind::Obstacle {
            triangles: vec![[0, 2, 1], [0, 3, 2]],
            edges: Vec::new(),
            points: Vec::new(),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}

/// A body of every kind in turn, above a plate, with friction.
fn over_plate(mut body: BodyDef, clearance: f64) -> Definition {
    let lowest = body.rest.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    body.rest.iter_mut().for_each(|p| p.y += clearance - lowest);
    body.name = "body".into();
    body.friction_material = "default".into();
    body.velocity = vec![Vec3::new(0.2, -0.5, 0.1); body.rest.len()];
    let mut definition = scene(vec![body, plate(0.0)]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.settings.time.step = 0.01;
    definition.settings.friction.coefficient = 0.3;
    definition.settings.contact.d_hat = Some(5e-3);
    definition
}

/// A quarter of a turn about z and x, and a shift, about the first point.
fn moved(x: &[Vec3]) -> Vec<Vec3> {
    let turn = Rotation3::new(Vec3::new(0.1, 0.4, 0.2));
    let lowest = |x: &[Vec3]| x.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let out: Vec<Vec3> = x.iter().map(|p| x[0] + turn * (p - x[0])).collect();
    let rise = lowest(x) - lowest(&out);
    out.iter().map(|p| p + Vec3::new(0.05, rise, -0.02)).collect()
}

fn bits(state: &State) -> Vec<u64> {
    let vectors = state.vectors();
    let of_vertices = vectors.iter().flat_map(|(_, list)| list.iter()).flatten();
    let others = state.directors.iter().flatten().chain(&state.frame_twists);
    of_vertices.chain(others).chain([&state.kappa]).map(|c| c.to_bits()).collect()
}

fn set(simulation: &mut Simulation, body: usize, x: &[Vec3]) -> Result<(), ControlError> {
    let first = simulation.model().bodies[body].vertices.start;
    simulation.set_positions(first, x)
}

fn body(simulation: &Simulation, body: usize) -> Vec<Vec3> {
    simulation.positions()[simulation.model().bodies[body].vertices.clone()].to_vec()
}

/// A body that is put somewhere before the first step moves as one that starts there.
fn is_a_start(name: &str, definition: &Definition) {
    let mut there = definition.clone();
    there.bodies[0].start = moved(&definition.bodies[0].rest);
    let mut told = Simulation::new(&there).unwrap();
    let mut put = Simulation::new(definition).unwrap();
    set(&mut put, 0, &there.bodies[0].start).unwrap();
    // carried vertices are where they are carried, from the first step on in both
    for step in 0..6 {
        let [a, b] = [&mut told, &mut put].map(|s| s.step().unwrap());
        assert_eq!(a.newton_iterations, b.newton_iterations, "{name}, step {step}");
        let difference = crate::common::difference(&told, &put);
        let exact = told.model().map.is_identity();
        assert!(difference <= if exact { 0.0 } else { 1e-12 }, "{name}: {difference:e}");
        if exact {
            assert_eq!(bits(told.state()), bits(put.state()), "{name}, step {step}");
        }
    }
    assert!(put.contact_forces().iter().any(|f| f.norm() > 0.0), "{name}: no contact");
    assert!(put.audit().is_empty());
}

fn shell(model: BendingModel) -> BodyDef {
    let material = ShellMaterial { bending_model: model, ..shells::material(1e6, 0.3, 1e-3) };
    let mut sheet = shells::sheet([0.3, 0.3], [4, 4], material);
    // not flat: hinges and normals of edges have angles
    sheet.rest.iter_mut().for_each(|p| p.y += 0.5 * p.x * p.x);
    sheet
}

fn ring() -> BodyDef {
    let point = |k: u32| {
        let t = f64::from(k) / 12.0 * std::f64::consts::TAU;
        Vec3::new(0.1 * t.cos(), 0.05 * (2.0 * t).sin(), 0.1 * t.sin())
    };
    let material = standoff_sim::energy::rod_joint::RodMaterial {
        radius: 2e-3,
        young_modulus: 1e7,
        poisson_ratio: 0.3,
    };
    rods::rod((0..12).map(point).collect(), true, material)
}

#[test]
fn a_body_that_is_put_somewhere_moves_as_one_that_starts_there() {
    let cube = || over_plate(block("cube", [0.0; 3], [2, 2, 2], 0.1), 4e-3);
    let newmark = [Integrator::Newmark, Integrator::ImplicitMidpoint];
    for integrator in [Integrator::ImplicitEuler, Integrator::Bdf2].into_iter().chain(newmark) {
        let mut definition = cube();
        definition.settings.time.integrator = integrator;
        is_a_start(&format!("{integrator:?}"), &definition);
    }
    let mut definition = cube();
    definition.settings.solver.method = Method::BarrierFree;
    is_a_start("barrier-free", &definition);
    is_a_start("hinges", &over_plate(shell(BendingModel::Hinge), 4e-3));
    is_a_start("shape operators", &over_plate(shell(BendingModel::ShapeOperator), 4e-3));
    is_a_start("rod", &over_plate(ring(), 4e-3));
    let size = Vec3::new(0.2, 0.1, 0.15);
    is_a_start("rigid", &over_plate(solid_box("box", Vec3::zeros(), size, 1), 4e-3));
}

/// In the middle of a run: velocities stay, other bodies do not notice, and the state alone decides what follows.
#[test]
fn what_follows_depends_on_the_state_alone() {
    let integrators = [Integrator::ImplicitEuler, Integrator::Bdf2, Integrator::Newmark];
    let methods = [Method::Barrier, Method::BarrierFree];
    for (integrator, method) in
        integrators.map(|i| (i, methods[0])).into_iter().chain([(integrators[0], methods[1])])
    {
        let mut definition = over_plate(ring(), 4e-3);
        definition.bodies.push(block("cube", [0.3, 4e-3, 0.3], [2, 2, 2], 0.1));
        definition.settings.time.integrator = integrator;
        definition.settings.solver.method = method;
        let mut simulation = Simulation::new(&definition).unwrap();
        let mut alone = Simulation::new(&definition).unwrap();
        for _ in 0..8 {
            simulation.step().unwrap();
            alone.step().unwrap();
        }
        let cube = simulation.model().bodies[2].vertices.clone();
        let mut x = body(&simulation, 0);
        x.iter_mut().for_each(|p| *p += Vec3::new(-0.3, 0.2, 0.1));
        let v = simulation.velocities().to_vec();
        set(&mut simulation, 0, &x).unwrap();
        assert_eq!(simulation.velocities(), v);
        assert_eq!(body(&simulation, 0), x);
        let state = simulation.state().clone();
        assert!(state.x_previous[0] == state.x[0] - 0.01 * state.v[0]);
        let mut restored = Simulation::restore(&definition, state.clone()).unwrap();
        for _ in 0..6 {
            simulation.step().unwrap();
            restored.step().unwrap();
            alone.step().unwrap();
            assert_eq!(bits(simulation.state()), bits(restored.state()), "{integrator:?}");
        }
        // bodies that do not touch share κ and the number of iterations, but no force
        let others = cube.map(|v| (simulation.positions()[v] - alone.positions()[v]).norm());
        let worst = others.fold(0.0, f64::max);
        assert!(worst < 2e-4, "{integrator:?}: {worst:e} m");
        simulation.set_state(state).unwrap();
        simulation.step().unwrap();
        simulation.reset();
        let fresh = Simulation::new(&definition).unwrap();
        assert_eq!(simulation.state(), fresh.state());
    }
}

#[test]
fn the_same_positions_change_nothing() {
    let mut simulation = Simulation::new(&over_plate(ring(), 4e-3)).unwrap();
    (0..5).for_each(|_| drop(simulation.step().unwrap()));
    let before = simulation.state().clone();
    let x = body(&simulation, 0);
    set(&mut simulation, 0, &x).unwrap();
    assert_eq!(*simulation.state(), before);
}

/// An obstacle stays where it is put, and so do held vertices.
#[test]
fn what_is_prescribed_stays_where_it_is_put() {
    let mut definition = over_plate(block("cube", [0.0; 3], [2, 2, 2], 0.1), 4e-3);
    definition.prescribed.push(shells::held(vec![0, 1]));
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut x = body(&simulation, 1);
    x.iter_mut().for_each(|p| p.y -= 0.1);
    set(&mut simulation, 1, &x).unwrap();
    let mut cube = body(&simulation, 0);
    cube.iter_mut().for_each(|p| p.x += 0.01);
    set(&mut simulation, 0, &cube).unwrap();
    for _ in 0..2 {
        simulation.step().unwrap();
        assert_eq!(body(&simulation, 1), x);
        assert_eq!(body(&simulation, 0)[..2], cube[..2]);
    }
}

#[test]
fn positions_that_no_state_may_have_are_refused() {
    let mut definition = over_plate(block("cube", [0.0; 3], [2, 2, 2], 0.1), 4e-3);
    definition.half_spaces.push(ground(-1.0));
    let mut limited = shells::material(1e6, 0.3, 1e-3);
    limited.stretch_limit = Some(StretchLimit { limit: 1.1, threshold: 1.0, stiffness: 1e3 });
    let mut sheet = shells::sheet([0.3, 0.3], [4, 4], limited);
    sheet.rest.iter_mut().for_each(|p| p.y += 0.8);
    definition.bodies.push(sheet);
    let mut wire = rods::straight(4, 2e-3);
    wire.rest.iter_mut().for_each(|p| *p = 0.3 * *p + Vec3::new(0.0, 1.2, 0.0));
    definition.bodies.push(wire);
    let mut simulation = Simulation::new(&definition).unwrap();
    simulation.step().unwrap();
    let before = simulation.state().clone();
    let at = |k: usize, change: &dyn Fn(&mut [Vec3])| {
        let mut x = body(&simulation, k);
        change(&mut x);
        x
    };
    let cases: [(usize, Vec<Vec3>, &str); 8] = [
        (0, at(0, &|x| x.iter_mut().for_each(|p| p.y -= 0.05)), "'plate'"),
        (1, at(1, &|x| x.iter_mut().for_each(|p| p.y += 0.05)), "'body'"),
        (0, at(0, &|x| x[13].x += 0.3), "is inverted or flat"),
        (0, at(0, &|x| x.iter_mut().for_each(|p| p.y -= 3.0)), "'ground'"),
        (2, at(2, &|x| x.iter_mut().for_each(|p| p.x *= 1.2)), "strain limit"),
        (2, at(2, &|x| x.iter_mut().for_each(|p| p.y = f64::NAN)), "is not finite"),
        (3, at(3, &|x| x[1] = x[0]), "touch"),
        (2, at(2, &|x| x.iter_mut().for_each(|p| p.y -= 0.75)), "'body'"),
    ];
    for (k, x, expected) in cases {
        let first = simulation.model().bodies[k].vertices.start;
        let error = simulation.set_positions(first, &x).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected), "{k}: {text}");
        let name = ["body", "plate", "sheet", "rod"][k];
        assert!(text.contains(&format!("'{name}'")), "{k}: {text}");
        assert_eq!(*simulation.state(), before, "{text}");
    }
    let all = vec![Vec3::zeros(); 1000];
    assert!(matches!(simulation.set_positions(0, &all), Err(ControlError::Length { .. })));
}

/// In the plane, and a rigid body of which control points and surface do not fit together.
#[test]
fn positions_outside_of_what_a_body_can_be_are_refused() {
    let mut planar = grid("cut", [2, 2], |i, j| [0.1 * i as f64, 0.1 * j as f64]);
    planar.friction_material = "default".into();
    let mut definition = scene(vec![planar]);
    definition.dimension = Dimension::Two;
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut x = body(&simulation, 0);
    x[0].z = 0.1;
    let error = set(&mut simulation, 0, &x).unwrap_err();
    assert!(matches!(error, ControlError::OutOfPlane { .. }), "{error}");

    // where nothing may touch, a segment of a rod without length meets nothing, but its energy is not defined
    let mut definition = scene(vec![rods::straight(4, 2e-3)]);
    definition.settings.contact.enabled = false;
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut x = body(&simulation, 0);
    x[1] = x[0];
    let error = set(&mut simulation, 0, &x).unwrap_err().to_string();
    assert!(error.contains("'rod' cannot be set: the energy '"), "{error}");

    let size = Vec3::new(0.2, 0.1, 0.15);
    let definition = over_plate(solid_box("box", Vec3::zeros(), size, 1), 4e-3);
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut x = body(&simulation, 0);
    x[0].x += 1e-3;
    let error = set(&mut simulation, 0, &x).unwrap_err();
    assert!(matches!(error, ControlError::Carried { .. }), "{error}");
    assert!(error.to_string().contains("vertex 0 of 'body' is 1.0e-3 m from"), "{error}");
}
