//! What a converged step means: forces that a user reads are those of a far tighter solution, at the default settings.

use crate::common::rigid::solid_box;
use crate::common::{assert_bounded, block, difference, ground, scene};
use crate::rods;
use standoff_linalg::Vec3;
use standoff_sim::definition::PrescribedDef;
use standoff_sim::definition::{BodyDef, BodyKind, Definition, ForceDef, Load, Motion, Pivot};
use standoff_sim::expression::{Expression, VectorExpression};
use standoff_sim::report::StepOutcome;
use standoff_sim::settings::{Integrator, Lagging, LaggingUntil, Method, RelativeTo};
use standoff_sim::{Simulation, energetics};

fn with_stiffness(mut body: BodyDef, young_modulus: f64) -> BodyDef {
    if let BodyKind::Volume { material, .. } = &mut body.kind {
        material.young_modulus = young_modulus;
    }
    body
}

/// The vertices of a body above a height.
fn above(body: &BodyDef, height: f64) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|&v| body.rest[v as usize].y > height).collect()
}

/// A block of 2 cm above the ground whose upper face is moved down with a velocity.
fn pressed(young_modulus: f64, speed: f64, integrator: Integrator) -> Definition {
    let cube =
        with_stiffness(block("cube", [0.0, 3e-5, 0.0], [3, 3, 3], 0.02 / 3.0), young_modulus);
    let top = PrescribedDef::new(
        "top",
        0,
        above(&cube, 0.02),
        Motion::Rigid {
            linear: Vec3::new(0.0, -speed, 0.0),
            angular: Vec3::zeros(),
            pivot: Pivot::StartCentre,
        },
    );
    let mut definition = scene(vec![cube]);
    definition.half_spaces.push(ground(0.0));
    definition.prescribed.push(top);
    definition.settings.time.step = 1e-4 / speed;
    definition.settings.time.integrator = integrator;
    definition.settings.contact.d_hat = Some(1e-5);
    definition
}

/// The force on the ground at the end of each step, N.
fn ground_forces(definition: &Definition, steps: usize) -> Vec<f64> {
    let mut simulation = Simulation::new(definition).unwrap();
    let force = |_| {
        let report = simulation.step().unwrap();
        assert_eq!(report.outcome, StepOutcome::Converged);
        -simulation.state().half_space_forces[0][0].y
    };
    (0..steps).map(force).collect()
}

fn tight(definition: &Definition) -> Definition {
    let mut definition = definition.clone();
    definition.settings.solver.end.forces = Some(1e-9);
    definition.settings.solver.end.velocity_relative = 1e-5;
    definition
}

/// Largest difference of two lists of forces, over the largest force.
fn error(found: &[f64], exact: &[f64]) -> f64 {
    let largest = exact.iter().map(|f| f.abs()).fold(0.0, f64::max);
    assert!(largest > 0.0, "nothing touches");
    found.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
}

#[test]
fn a_plate_presses_a_block_with_the_force_of_its_stiffness() {
    for (young_modulus, speed) in [(1e4, 1e-3), (1e7, 1e-3), (1e7, 0.1), (2e9, 0.1), (2e11, 0.1)] {
        for integrator in [Integrator::ImplicitEuler, Integrator::Bdf2, Integrator::QuasiStatic] {
            let definition = pressed(young_modulus, speed, integrator);
            let (found, exact) =
                (ground_forces(&definition, 5), ground_forces(&tight(&definition), 5));
            let error = error(&found, &exact);
            assert!(error < 0.01, "{young_modulus:e} {integrator:?} {speed}: {error:e}");
        }
    }
}

/// Without the balance of forces, the same step ends at a force that is not that of the block: what the test above would not
/// see, it would not be worth.
#[test]
fn a_short_newton_direction_alone_says_nothing_of_forces() {
    let mut definition = pressed(2e9, 0.01, Integrator::ImplicitEuler);
    let exact = ground_forces(&tight(&definition), 5);
    definition.settings.solver.end.forces = Some(1.0);
    let found = ground_forces(&definition, 5);
    assert!(error(&found, &exact) > 1.0, "{found:?} {exact:?}");
}

#[test]
fn a_body_is_the_same_beside_another_one_a_kilometre_away() {
    let cube = |name: &str, x: f64| block(name, [x, 0.001, 0.0], [2, 2, 2], 0.01);
    let run = |bodies: Vec<BodyDef>, relative_to: RelativeTo| {
        let mut definition = scene(bodies);
        definition.gravity = Vec3::new(0.0, -9.81, 0.0);
        definition.half_spaces.push(ground(0.0));
        definition.settings.solver.relative_to = relative_to;
        let mut simulation = Simulation::new(&definition).unwrap();
        (0..20).for_each(|_| assert!(simulation.step().unwrap().outcome.is_success()));
        simulation
    };
    let alone = run(vec![cube("one", 0.0)], RelativeTo::Body);
    let beside = run(vec![cube("one", 0.0), cube("twin", 1000.0)], RelativeTo::Body);
    assert!(difference(&alone, &beside) < 1e-7, "{:e}", difference(&alone, &beside));
    // the scale of the scene blows it up
    let of_scene = run(vec![cube("one", 0.0), cube("twin", 1000.0)], RelativeTo::Scene);
    assert!(difference(&alone, &of_scene) > 1e-3);
}

/// Soft and rigid blocks and a rod fall on the ground. A twin a kilometre away changes their motion by less than a hundredth of what the
/// tolerance permits: directions and sums that all bodies share are rounded otherwise, and the minimisation ends for both together.
#[test]
fn bodies_of_every_kind_are_the_same_beside_a_twin_a_kilometre_away() {
    let soft = |name: &str, x: f64| block(name, [x, 0.001, 0.0], [2, 2, 2], 0.01);
    let rigid =
        |name: &str, x: f64| solid_box(name, Vec3::new(x, 0.001, 0.0), Vec3::repeat(0.02), 1);
    let wire = |name: &str, x: f64| {
        let points = (0..9).map(|k| Vec3::new(x + 0.0025 * f64::from(k), 0.002, 0.0)).collect();
        BodyDef { name: name.into(), ..rods::rod(points, false, rods::material(5e-4)) }
    };
    let kinds: [(&str, &dyn Fn(&str, f64) -> BodyDef); 3] =
        [("soft", &soft), ("rigid", &rigid), ("rod", &wire)];
    for method in [Method::Barrier, Method::BarrierFree] {
        for (kind, body) in kinds {
            let run = |bodies: Vec<BodyDef>| {
                let mut definition = scene(bodies);
                definition.gravity = Vec3::new(0.5, -9.81, 0.0);
                definition.half_spaces.push(ground(0.0));
                definition.settings.friction.coefficient = 0.3;
                definition.settings.solver.method = method;
                definition.settings.time.step = 0.005;
                let mut simulation = Simulation::new(&definition).unwrap();
                for _ in 0..15 {
                    let report = simulation.step().unwrap();
                    assert!(report.outcome.is_success());
                    assert_bounded(&simulation, &report);
                }
                simulation
            };
            let alone = run(vec![body("one", 0.0)]);
            let beside = run(vec![body("one", 0.0), body("twin", 1000.0)]);
            let resolved = &alone.model().resolved;
            let far = difference(&alone, &beside) / (resolved.h * resolved.velocity_tolerance);
            println!("{kind} {method:?}: {far:e} of the tolerance");
            assert!(far < 1e-2, "{kind} by {method:?}: {far:e} of the tolerance");
            // d̂ and tolerances follow from bodies; those of the twin are rounded
            for (a, b) in [
                (resolved.d_hat, beside.model().resolved.d_hat),
                (resolved.velocity_tolerance, beside.model().resolved.velocity_tolerance),
                (resolved.stick_speed, beside.model().resolved.stick_speed),
            ] {
                assert!((a - b).abs() < 1e-9 * a, "{kind}: {a}, {b}");
            }
        }
    }
}

/// A block on the ground that a force presses, in quasi-static steps.
fn loaded(step: f64) -> Definition {
    let cube = with_stiffness(block("cube", [0.0, 1e-4, 0.0], [3, 3, 3], 0.1), 1e6);
    let force = ForceDef {
        name: "load".into(),
        body: 0,
        vertices: above(&cube, 0.29),
        load: Load::Force(VectorExpression(
            ["0".to_owned(), format!("-1000*t/{}", 5.0 * step), "0".to_owned()]
                .map(|text| Expression::parse(&text).unwrap()),
        )),
        t0: 0.0,
        t1: f64::INFINITY,
    };
    let mut definition = scene(vec![cube]);
    definition.half_spaces.push(ground(0.0));
    definition.forces.push(force);
    definition.settings.time.step = step;
    definition.settings.time.integrator = Integrator::QuasiStatic;
    definition.settings.friction.coefficient = 0.5;
    definition.settings.contact.d_hat = Some(1e-3);
    definition
}

#[test]
fn static_contact_bears_the_load_whatever_the_pseudo_time() {
    let expected: Vec<f64> = (1..=5).map(|k| 200.0 * f64::from(k)).collect();
    for step in [0.2, 20.0] {
        let found = ground_forces(&loaded(step), 5);
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found / expected - 1.0).abs() < 1e-6, "{step}: {found} N, load {expected} N");
        }
    }
}

#[test]
fn contact_that_is_lost_leaves_no_friction() {
    let mut cube = block("cube", [0.0, 0.002, 0.0], [2, 1, 2], 0.05);
    cube.velocity = vec![Vec3::new(2.0, -1.0, 0.0); cube.rest.len()];
    let mut definition = scene(vec![cube]);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 5e-3;
    definition.settings.friction.coefficient = 0.5;
    definition.settings.friction.lagging = Lagging::Until(LaggingUntil::Converged);
    let mut simulation = Simulation::new(&definition).unwrap();
    let (mut touched, mut lost) = (false, 0);
    for _ in 0..40 {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success());
        if report.contacts == 0 {
            lost += usize::from(touched);
            assert!(simulation.contact_forces().iter().all(|f| *f == Vec3::zeros()));
        }
        touched = report.contacts > 0;
    }
    assert!(lost > 0, "contact was never lost");
}

/// A block that hits the ground askew.
fn falling(method: Method) -> Definition {
    let mut cube = block("cube", [0.0, 0.01, 0.0], [2, 2, 2], 0.05);
    let turn = standoff_linalg::nalgebra::Rotation3::from_euler_angles(0.3, 0.5, 0.2);
    cube.rest.iter_mut().for_each(|p| *p = turn * *p + Vec3::new(0.0, 0.06, 0.0));
    cube.velocity = vec![Vec3::new(0.5, -2.0, 0.0); cube.rest.len()];
    let mut definition = scene(vec![cube]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.friction.coefficient = 0.3;
    definition.settings.solver.method = method;
    definition
}

#[test]
fn contact_forces_change_the_momentum_by_what_they_say() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let definition = falling(method);
        let mut simulation = Simulation::new(&definition).unwrap();
        let h = definition.settings.time.step;
        let mass: f64 = simulation.model().mass.iter().sum();
        let momentum = |s: &Simulation| energetics::linear_momentum(s.model(), s.state());
        let mut touched = 0;
        for step in 1..=25 {
            let before = momentum(&simulation);
            let report = simulation.step().unwrap();
            assert_eq!(report.outcome, StepOutcome::Converged, "{method:?}, step {step}");
            let expected = (momentum(&simulation) - before) / h - mass * definition.gravity;
            let found: Vec3 = simulation.contact_forces().iter().sum();
            let acting = expected.norm() + mass * 9.81;
            assert!((found - expected).norm() < 2e-3 * acting, "{method:?} {found} {expected}");
            assert!(report.imbalance < 1e-3, "{method:?}, step {step}: {}", report.imbalance);
            touched += usize::from(report.contacts > 0);
        }
        assert!(touched > 3);
    }
}

/// κ follows the load up to what makes a contact a million times stiffer than the stiffest vertex.
#[test]
fn kappa_is_bounded() {
    let definition = pressed(1e6, 10.0, Integrator::ImplicitEuler);
    let mut simulation = Simulation::new(&definition).unwrap();
    let greatest = (0..5).map(|_| simulation.step().unwrap().kappa).fold(0.0, f64::max);
    let model = simulation.model();
    assert!(model.stiffest > 1e3 && model.stiffest < 1e6, "{}", model.stiffest);
    let h = definition.settings.time.step;
    let stiffness = 1e6 * (model.stiffest + model.mean_mass / (h * h));
    // λ(d) = −2 κ d b′(d²) with d̂ = 1e-5 m; its slope at d̂/2 is about 3.5 λ/d̂
    let (d, d_hat) = (5e-6_f64, 1e-5_f64);
    let (s, hat) = (d * d, d_hat * d_hat);
    let unit = 2.0 * d * (hat - s) * (2.0 * (hat / s).ln() + (hat - s) / s);
    assert!(greatest < 1.2 * stiffness / (3.5 * unit / d_hat), "{greatest:e}");
}
