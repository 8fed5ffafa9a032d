//! Rigid bodies: mechanics against closed forms and an integration of Euler's equations, forces and reactions, contact with
//! everything, and how little they deform.

use crate::common::rigid::{centre, moving, rotation, solid_box, whole_surface};
use crate::common::{block, converge, difference, ground, scene};
use standoff_linalg::nalgebra::{Quaternion, UnitQuaternion};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::Simulation;
use standoff_sim::definition::{
    Anchor, AttachmentDef, BodyDef, Definition, ForceDef, Load, MassProperties, Motion, Pivot,
    PrescribedDef, SpringStiffness,
};
use standoff_sim::expression::{Expression, VectorExpression};
use standoff_sim::settings::{Integrator, Method};

const G: f64 = 9.81;

fn prescribed(body: usize, vertices: Vec<u32>, motion: Motion) -> PrescribedDef {
    PrescribedDef::new("held", body, vertices, motion)
}

fn force(vertices: Vec<u32>, load: Load) -> ForceDef {
    ForceDef { name: "push".into(), body: 0, vertices, load, t0: 0.0, t1: f64::INFINITY }
}

fn constant(f: [f64; 3]) -> VectorExpression {
    VectorExpression(f.map(Expression::constant))
}

/// Rotation of a free body after a time by Euler's equations I ω' = (I ω) × ω in its own axes, with steps of fourth order.
fn top(inertia: Vec3, mut spin: Vec3, time: f64) -> Mat3 {
    let slope = |(w, q): (Vec3, Quaternion<f64>)| {
        let momentum = inertia.component_mul(&w);
        let of_q = q * Quaternion::from_imag(w) * 0.5;
        (momentum.cross(&w).component_div(&inertia), of_q)
    };
    let (steps, mut q) = (20_000, Quaternion::identity());
    let h = time / f64::from(steps);
    for _ in 0..steps {
        let add = |(w, r): (Vec3, Quaternion<f64>), t: f64| (spin + t * w, q + r * t);
        let a = slope((spin, q));
        let b = slope(add(a, h / 2.0));
        let c = slope(add(b, h / 2.0));
        let d = slope(add(c, h));
        spin += h / 6.0 * (a.0 + 2.0 * b.0 + 2.0 * c.0 + d.0);
        q += (a.1 + b.1 * 2.0 + c.1 * 2.0 + d.1) * (h / 6.0);
    }
    UnitQuaternion::from_quaternion(q).to_rotation_matrix().into_inner()
}

/// The middle axis of a free box is unstable: it tumbles. The order is that of the integrator.
#[test]
fn a_free_top_tumbles_as_eulers_equations_say() {
    let size = Vec3::new(0.3, 0.1, 0.2);
    let spin = Vec3::new(0.4, 0.3, 6.0);
    let squares = size.component_mul(&size);
    let inertia = Vec3::repeat(squares.sum()) - squares;
    let time = 0.8;
    let expected = top(inertia, spin, time);
    for (integrator, order) in
        [(Integrator::ImplicitEuler, 1.0), (Integrator::Bdf2, 2.0), (Integrator::Newmark, 2.0)]
    {
        let error = |steps: u32| {
            let mut definition =
                scene(vec![moving(solid_box("top", -0.5 * size, size, 1), Vec3::zeros(), spin)]);
            definition.settings.time.step = time / f64::from(steps);
            definition.settings.time.integrator = integrator;
            let (reports, simulation) = converge(definition.clone(), 1e-9, steps as usize);
            let worst = reports.iter().filter_map(|r| r.rigid_deformation).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{integrator:?}: deformed by {worst:e}");
            (rotation(&definition.bodies[0], simulation.positions()) - expected).norm()
        };
        let [coarse, fine] = [error(160), error(320)];
        let found = (coarse / fine).log2();
        println!("{integrator:?}: {coarse:.2e}, {fine:.2e}, order {found:.2}");
        assert!((found - order).abs() < 0.25, "{integrator:?}: order {found}");
    }
}

/// A finer surface changes nothing of a free body, and no step of either moves its momentum.
#[test]
fn unknowns_and_momentum_do_not_depend_on_the_surface() {
    let size = Vec3::new(0.3, 0.1, 0.2);
    let run = |fine: usize| {
        let body = moving(
            solid_box("a", Vec3::zeros(), size, fine),
            Vec3::new(1.0, -2.0, 0.5),
            Vec3::new(2.0, 9.0, 1.0),
        );
        let (reports, simulation) = converge(scene(vec![body.clone()]), 1e-10, 20);
        let momentum = |k: usize| Vec3::from(reports[k].linear_momentum);
        let mass = 1000.0 * size.x * size.y * size.z;
        let start = mass * Vec3::new(1.0, -2.0, 0.5);
        for k in 0..20 {
            assert!((momentum(k) - start).norm() < 1e-12 * start.norm());
        }
        (rotation(&body, simulation.positions()), centre(&body, simulation.positions()))
    };
    let [(r1, c1), (r6, c6)] = [run(1), run(6)];
    assert!((r1 - r6).norm() < 1e-9 && (c1 - c6).norm() < 1e-9);
}

/// Damping of elastic bodies leaves the turning of a rigid one alone.
#[test]
fn stiffness_damping_does_not_brake_a_turn() {
    let run = |damping: f64| {
        let size = Vec3::new(0.3, 0.1, 0.2);
        let body =
            moving(solid_box("a", -0.5 * size, size, 1), Vec3::x(), Vec3::new(2.0, 9.0, 1.0));
        let mut definition = scene(vec![body]);
        definition.settings.time.stiffness_damping = damping;
        converge(definition, 1e-8, 20).1
    };
    assert!(difference(&run(0.0), &run(0.02)) < 1e-12);
}

/// A force at a corner accelerates the centre by F/m and turns the body by I⁻¹ (r × F).
#[test]
fn a_force_at_a_corner_turns() {
    let size = Vec3::new(0.3, 0.1, 0.2);
    let body = solid_box("a", -0.5 * size, size, 1);
    let (h, f) = (1e-4, Vec3::new(3.0, 5.0, -2.0));
    let corner = (0..8).find(|&v| (body.rest[v] - 0.5 * size).norm() < 1e-12).unwrap();
    let mut definition = scene(vec![body.clone()]);
    definition.settings.time.step = h;
    definition.forces.push(force(vec![corner as u32], Load::Force(constant(f.into()))));
    let mass = 1000.0 * size.x * size.y * size.z;
    let squares = size.component_mul(&size);
    let inertia = mass / 12.0 * (Vec3::repeat(squares.sum()) - squares);
    let (reports, simulation) = converge(definition, 1e-12, 1);
    let moved = centre(&body, simulation.positions()) - centre(&body, &body.rest);
    assert!((moved / (h * h) - f / mass).norm() < 1e-6 * f.norm() / mass);
    let turn = rotation(&body, simulation.positions());
    let axis = 0.5
        * Vec3::new(
            turn[(2, 1)] - turn[(1, 2)],
            turn[(0, 2)] - turn[(2, 0)],
            turn[(1, 0)] - turn[(0, 1)],
        );
    let expected = (0.5 * size).cross(&f).component_div(&inertia);
    assert!((axis / (h * h) - expected).norm() < 1e-5 * expected.norm(), "{axis} {expected}");
    let pushed = reports[0].forces.loads["push"];
    assert!((Vec3::from(pushed.force) - f).norm() < 1e-12);
}

/// A pressure p on a side of the area A pushes with p A at the middle of the side; on all sides it does nothing.
#[test]
fn a_pressure_acts_on_the_surface() {
    let size = Vec3::new(0.3, 0.1, 0.2);
    let body = solid_box("a", -0.5 * size, size, 1);
    let side: Vec<u32> = (0..8).filter(|&v| body.rest[v as usize].y < 0.0).collect();
    let (h, p) = (1e-4, 50.0);
    let push = |vertices: Vec<u32>| {
        let mut definition = scene(vec![body.clone()]);
        definition.settings.time.step = h;
        definition.forces.push(force(vertices, Load::Pressure(Expression::constant(p))));
        let (reports, simulation) = converge(definition, 1e-12, 1);
        let moved = centre(&body, simulation.positions()) - centre(&body, &body.rest);
        let by = reports[0].forces.loads["push"];
        (moved / (h * h), Vec3::from(by.force), Vec3::from(by.torque))
    };
    let (mass, whole) = (1000.0 * size.x * size.y * size.z, p * size.x * size.z);
    let (acceleration, found, torque) = push(side);
    assert!((found - Vec3::new(0.0, whole, 0.0)).norm() < 1e-6 * whole, "{found}");
    assert!((acceleration - found / mass).norm() < 1e-6 * whole / mass, "{acceleration}");
    assert!(torque.norm() < 1e-6 * whole, "{torque}");
    let (acceleration, found, _) = push(whole_surface(&body));
    assert!(found.norm() < 1e-6 * whole && acceleration.norm() < 1e-6 * whole / mass);
}

/// A body that is held has the weight as its reaction, and one that is turned is where its motion says.
#[test]
fn what_is_held_or_turned_is_where_it_belongs() {
    let size = Vec3::new(0.3, 0.1, 0.2);
    let held = solid_box("held", Vec3::zeros(), size, 1);
    let turned = solid_box("turned", Vec3::new(1.0, 0.0, 0.0), size, 1);
    let mut definition = scene(vec![held.clone(), turned.clone()]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    definition.prescribed.push(prescribed(0, whole_surface(&held), Motion::Fixed));
    let motion = Motion::Rigid {
        linear: Vec3::new(0.0, 0.1, 0.0),
        angular: Vec3::new(0.0, 0.0, 2.0),
        pivot: Pivot::StartCentre,
    };
    definition.prescribed.push(prescribed(1, whole_surface(&turned), motion));
    let (reports, simulation) = converge(definition, 1e-9, 30);
    let weight = 1000.0 * size.x * size.y * size.z * G;
    let on_held = Vec3::from(reports[29].forces.held["held"].force);
    assert!((on_held - Vec3::new(0.0, weight, 0.0)).norm() < 1e-9 * weight, "{on_held}");
    let moment = Vec3::from(reports[29].forces.held["held"].torque);
    let expected = centre(&held, &held.rest).cross(&Vec3::new(0.0, weight, 0.0));
    assert!((moment - expected).norm() < 1e-9 * weight, "{moment}");
    let x = &simulation.positions()[held.rest.len()..];
    let angle: f64 = 30.0 * 0.01 * 2.0;
    let expected =
        *standoff_linalg::nalgebra::Rotation3::from_scaled_axis(angle * Vec3::z()).matrix();
    assert!((rotation(&turned, x) - expected).norm() < 1e-12);
    let expected = centre(&turned, &turned.rest) + Vec3::new(0.0, 0.03, 0.0);
    assert!((centre(&turned, x) - expected).norm() < 1e-12);
}

/// A box on a slope tan α = 0.5 with the coefficient of friction `mu`, and the direction down the slope. Its sides are along and across.
fn on_slope(size: Vec3, mu: f64) -> (Definition, Vec3) {
    let slope = Vec3::new(-0.5, 1.0, 0.0).normalize();
    let down = Vec3::new(-1.0, -0.5, 0.0).normalize();
    let turn = Mat3::from_columns(&[-down, slope, Vec3::z()]);
    let mut body = solid_box("a", Vec3::new(0.0, 2e-4, 0.0), size, 1);
    body.start = body.rest.iter().map(|p| turn * p).collect();
    let mut definition = scene(vec![body]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    let mut plane = ground(0.0);
    plane.normal = slope;
    definition.half_spaces.push(plane);
    definition.settings.friction.coefficient = mu;
    definition.settings.contact.d_hat = Some(5e-4);
    (definition, down)
}

/// A box with μ = 0.49 slides with g (sin α − μ cos α), and with 0.51 it creeps below the stick speed.
#[test]
fn a_box_slides_where_friction_is_too_small() {
    let speed = |mu: f64| {
        let (mut definition, down) = on_slope(Vec3::new(0.3, 0.05, 0.2), mu);
        definition.settings.friction.stick_speed = Some(1e-5);
        // the speed that it gains from half a second on, when it has settled
        let after = |steps: usize| {
            let (reports, simulation) = converge(definition.clone(), 1e-7, steps);
            let worst = reports.iter().filter_map(|r| r.rigid_deformation).fold(0.0, f64::max);
            assert!(worst < 1e-6, "deformed by {worst:e}");
            centre(&definition.bodies[0], simulation.velocities()).dot(&down)
        };
        after(100) - after(50)
    };
    let (sin, cos) = (0.5 / 1.25_f64.sqrt(), 1.0 / 1.25_f64.sqrt());
    let expected = 0.5 * G * (sin - 0.49 * cos);
    let found = speed(0.49);
    assert!((found - expected).abs() < 1e-4 * expected, "{found} instead of {expected} m/s");
    assert!(speed(0.51).abs() < 1e-5);
}

/// A slender box tips over where the line of gravity leaves its foot: tan α > b/h.
#[test]
fn a_box_tips_where_its_foot_is_too_small() {
    let tilt = |foot: f64| {
        let (definition, _) = on_slope(Vec3::new(foot, 0.4, 0.2), 1.0);
        let body = definition.bodies[0].clone();
        let (_, simulation) = converge(definition, 1e-6, 60);
        (rotation(&body, simulation.positions()) - rotation(&body, &body.start)).norm()
    };
    let [stands, falls] = [tilt(0.21), tilt(0.19)];
    assert!(stands < 2e-2 && falls > 0.2, "turned by {stands} and {falls}");
}

/// A box that falls on the ground with a spin and a speed, with the default settings: from its first contact until it lies.
#[test]
fn a_tumbling_box_takes_few_iterations() {
    let body = solid_box("a", Vec3::new(0.0, 0.2, 0.0), Vec3::new(0.3, 0.1, 0.2), 1);
    let mut definition = scene(vec![moving(body, Vec3::x(), Vec3::new(3.0, 5.0, 8.0))]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.friction.coefficient = 0.4;
    let mut simulation = Simulation::new(&definition).unwrap();
    let reports: Vec<_> = (0..34).map(|_| simulation.step().unwrap()).collect();
    let tumbling: Vec<_> = reports.iter().filter(|r| r.contacts > 0).collect();
    let iterations: u64 = tumbling.iter().map(|r| r.newton_iterations).sum();
    let mean = iterations as f64 / tumbling.len() as f64;
    println!("{mean:.1} iterations a step in {} steps", tumbling.len());
    assert!(tumbling.len() > 20 && mean < 10.0, "{mean} iterations a step");
}

/// Boxes that tumble onto each other, a soft block and the ground: every iterate is audited, and a step takes few iterations.
fn heap(method: Method) -> Definition {
    let bodies = vec![
        block("soft", [-0.1, 0.002, -0.1], [2, 1, 2], 0.1),
        moving(
            solid_box("a", Vec3::new(-0.1, 0.15, -0.05), Vec3::new(0.3, 0.05, 0.2), 1),
            Vec3::new(0.5, -1.0, 0.0),
            Vec3::new(1.0, 2.0, 5.0),
        ),
        moving(
            solid_box("b", Vec3::new(0.0, 0.32, 0.0), Vec3::new(0.1, 0.1, 0.1), 2),
            Vec3::new(-0.5, -2.0, 0.0),
            Vec3::new(8.0, -2.0, 5.0),
        ),
    ];
    let mut definition = scene(bodies);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.friction.coefficient = 0.4;
    definition.settings.solver.method = method;
    definition
}

#[test]
fn rigid_and_soft_bodies_touch() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let (reports, _) = converge(heap(method), 1e-3, 60);
        let iterations: u64 = reports.iter().map(|r| r.newton_iterations).sum();
        let worst = reports.iter().filter_map(|r| r.rigid_deformation).fold(0.0, f64::max);
        let touching = reports.iter().filter(|r| r.contacts > 0).count();
        println!(
            "{method:?}: {iterations} iterations, deformed by {worst:.1e}, {touching} steps in contact"
        );
        assert!(touching > 30);
        assert!(worst < 1e-5, "{method:?}: deformed by {worst:e}");
        assert!(method != Method::Barrier || iterations < 60 * 15, "{iterations} iterations");
    }
}

/// A rigid bob on a spring to a corner: statics of the force and the moment that the attachment has.
#[test]
fn springs_hold_a_rigid_body_by_its_surface() {
    let size = Vec3::new(0.1, 0.1, 0.1);
    let body = solid_box("bob", -0.5 * size, size, 1);
    let corner = (0..8).find(|&v| (body.rest[v] - 0.5 * size).norm() < 1e-12).unwrap();
    let mut definition = scene(vec![body.clone()]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    definition.settings.time.step = 0.05;
    definition.attachments.push(AttachmentDef {
        name: "string".into(),
        body: 0,
        vertices: vec![corner as u32],
        anchor: Anchor::Point(Vec3::new(0.05, 0.3, 0.05)),
        distance: 1.0,
        stiffness: SpringStiffness::PerSpring(500.0),
        rest_length: Some(0.2),
        t0: 0.0,
        t1: f64::INFINITY,
    });
    let (reports, simulation) = converge(definition, 1e-9, 400);
    let weight = 1000.0 * 1e-3 * G;
    let string = Vec3::from(reports[399].forces.loads["string"].force);
    assert!((string - Vec3::new(0.0, weight, 0.0)).norm() < 1e-3 * weight, "{string}");
    // the centre of mass hangs below the corner
    let x = simulation.positions();
    let below = centre(&body, x) - x[corner];
    assert!(below.x.hypot(below.z) < 1e-3 * below.norm(), "{below}");
}

#[test]
fn what_a_rigid_body_cannot_do_is_refused() {
    let body = || solid_box("a", Vec3::zeros(), Vec3::repeat(0.1), 1);
    let error = |change: &dyn Fn(&mut Definition)| {
        let mut definition = scene(vec![body()]);
        change(&mut definition);
        Simulation::new(&definition).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let part = error(&|d| d.prescribed.push(prescribed(0, vec![0, 1, 2], Motion::Fixed)));
    assert!(part.contains("'held' selects 3 of 8 vertices, but this body is rigid"), "{part}");
    let frames = vec![body().rest];
    let steps = error(&|d| {
        let motion = Motion::Sequence { frames: frames.clone() };
        d.prescribed.push(prescribed(0, whole_surface(&body()), motion));
    });
    assert!(steps.contains("which a rigid body cannot follow"), "{steps}");
    let share = error(&|d| {
        d.forces.push(force(vec![0], Load::Acceleration(constant([0.0, 1.0, 0.0]))));
    });
    assert!(share.contains("moves as a whole"), "{share}");
    for method in [Method::Dot, Method::LbfgsPd] {
        let refused = error(&|d| d.settings.solver.method = method);
        assert!(refused.contains("rigid") && refused.contains("choose \"barrier\""), "{refused}");
    }
    let beyond = error(&|d| d.prescribed.push(prescribed(0, vec![9], Motion::Fixed)));
    assert!(beyond.contains("refers to vertex 9, but there are only 8"), "{beyond}");
}

/// A cube of 8 kg that rests on one of 12.5 g, with the default settings: neither is strained by 1e-6, and the ground bears both.
#[test]
fn a_light_body_bears_a_heavy_one() {
    let with_density = |name: &str, low: Vec3, size: f64, density: f64| {
        let body = solid_box(name, low, Vec3::repeat(size), 1);
        let points = body.rest[body.carried()].to_vec();
        let triangles = body.surface.as_ref().unwrap().triangles.clone();
        let masses = MassProperties::of_surface(&points, &triangles, density).unwrap();
        let body = BodyDef::rigid(name, points, triangles, &masses).unwrap();
        BodyDef { friction_material: "default".into(), ..body }
    };
    let mut definition = scene(vec![
        with_density("light", Vec3::new(-0.025, 1e-4, -0.025), 0.05, 100.0),
        with_density("heavy", Vec3::new(-0.1, 0.0502, -0.1), 0.2, 1000.0),
    ]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.friction.coefficient = 0.5;
    let mut simulation = Simulation::new(&definition).unwrap();
    let reports: Vec<_> = (0..50).map(|_| simulation.step().unwrap()).collect();
    let deformed = reports[49].rigid_deformation.unwrap();
    assert!(deformed < 2e-6, "deformed by {deformed:e}");
    let weight = (0.0125 + 8.0) * G;
    let borne = -Vec3::from(reports[49].forces.half_spaces["ground"].force).y;
    assert!((borne - weight).abs() < 1e-3 * weight, "{borne} of {weight} N");
}
