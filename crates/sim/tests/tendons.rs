//! Tendons: what acts along sums of the coordinates of joints.

use crate::common::scene;
use crate::joints::{BOX, G, ORDERS, closed, hanging, inertia, integrate, joint, of};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::SVector;
use standoff_sim::definition::expression::Expression;
use standoff_sim::definition::{
    Definition, DriveDef, JointDef, JointKind, JointSpring, MimicDef, TendonDef,
};
use standoff_sim::joints::JointTarget;
use standoff_sim::settings::Integrator;
use standoff_sim::{ControlError, Simulation};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

const FACTORS: [f64; 2] = [0.6, -1.1];

fn servo(position: f64, stiffness: f64, damping: f64) -> DriveDef {
    DriveDef {
        position: Some(Expression::constant(position)),
        velocity: None,
        effort: None,
        stiffness,
        damping,
        max_effort: f64::INFINITY,
    }
}

/// Two boxes that hang side by side, each on a hinge, with a tendon along both; and the moments of inertia of both.
fn pair(change: impl FnOnce(&mut TendonDef)) -> (Definition, f64) {
    let pivots = [Vec3::zeros(), Vec3::new(0.5, 0.0, 0.0)];
    let mut definition = scene(vec![hanging("a", pivots[0]), hanging("b", pivots[1])]);
    for (k, name) in ["first", "second"].into_iter().enumerate() {
        definition.joints.push(joint(name, JointKind::Revolute, None, k, pivots[k], Vec3::z()));
    }
    let joints = vec![(0, FACTORS[0]), (1, FACTORS[1])];
    let mut tendon = TendonDef { name: "tendon".into(), joints, ..TendonDef::default() };
    change(&mut tendon);
    definition.tendons.push(tendon);
    let (mass, about_centre) = inertia(BOX);
    (definition, about_centre + mass * (BOX.y / 2.0 - 0.05).powi(2))
}

/// I θᵢ'' = cᵢ (k (L* − L) − d L') with L = Σ cᵢ θᵢ, with the order of each integrator; every joint has its part of the effort.
#[test]
fn a_servo_pulls_both_joints_by_their_factors() {
    let (stiffness, damping, to, time) = (40.0, 1.5, 0.5, 0.4);
    let sum = FACTORS.iter().map(|c| c * c).sum::<f64>();
    for (integrator, expected) in ORDERS {
        let error = |steps: usize| {
            let (mut definition, inertia) =
                pair(|tendon| tendon.drive = Some(servo(to, stiffness, damping)));
            definition.settings.time.step = time / steps as f64;
            definition.settings.time.integrator = integrator;
            let y = integrate(SVector::from([0.0, 0.0]), time, |y: &SVector<f64, 2>| {
                let force = stiffness * (to - y[0]) - damping * y[1];
                SVector::from([y[1], sum * force / inertia])
            });
            let (reports, _) = closed(definition, 1e-9, steps);
            let last = &reports[steps - 1];
            let tendon = of(last, "tendon");
            let angles = ["first", "second"].map(|name| of(last, name));
            let of_joints: f64 =
                angles.iter().zip(FACTORS).map(|(joint, c)| c * joint.angle.unwrap()).sum();
            let length = tendon.displacement.unwrap();
            assert!((length - of_joints).abs() < 1e-12, "{length} {of_joints}");
            // equal inertias are turned in proportion to their factors but for the error of a step, by their parts of the effort
            let ratio = angles[0].angle.unwrap() / angles[1].angle.unwrap();
            assert!((ratio - FACTORS[0] / FACTORS[1]).abs() < 0.02, "{ratio}");
            for (joint, c) in angles.iter().zip(FACTORS) {
                assert!((joint.coupling - c * (tendon.drive + tendon.resistance)).abs() < 1e-12);
                assert_eq!(joint.drive, 0.0);
            }
            let rate: f64 =
                angles.iter().zip(FACTORS).map(|(j, c)| c * j.angular_speed.unwrap()).sum();
            assert!((tendon.speed.unwrap() - rate).abs() < 1e-10);
            (length - y[0]).abs()
        };
        let [coarse, fine] = [error(100), error(200)];
        let order = (coarse / fine).log2();
        println!("{integrator:?}: {coarse:.2e}, {fine:.2e}, order {order:.2}");
        assert!((order - expected).abs() < 0.3, "{integrator:?}: {order}");
    }
}

/// A spring, damping and friction along a tendon: it comes to rest where the spring is balanced by at most the friction, and the energy is that of the law.
#[test]
fn springs_and_brakes_act_along_a_tendon() {
    let spring = JointSpring { stiffness: 20.0, rest: 0.4 };
    let (mut definition, _) = pair(|tendon| {
        tendon.spring = Some(spring);
        tendon.damping = 2.0;
        tendon.friction = 0.5;
    });
    definition.settings.time.step = 0.02;
    let (reports, _) = closed(definition, 1e-8, 150);
    let last = &reports[149];
    let tendon = of(last, "tendon");
    let (length, force) = (tendon.displacement.unwrap(), tendon.spring);
    assert!((force - spring.stiffness * (spring.rest - length)).abs() < 1e-12, "{tendon:?}");
    // friction takes its whole force, or what is left of the spring's
    assert!(
        force > 0.1 && force < 0.5 + 1e-3 && (tendon.resistance + force).abs() < 1e-4,
        "{tendon:?}"
    );
    let energy = 0.5 * spring.stiffness * (spring.rest - length).powi(2);
    assert!((last.energies["springs of joints"] - energy).abs() < 1e-12);
}

/// Gravity turns one pendulum, and the tendon the other one against its own weight, once it is at its limit: which no iterate passes. At rest c₂ m g r sin θ₁ = c₁ m g r sin θ₂.
#[test]
fn a_limit_of_a_tendon_holds_a_pendulum_by_another() {
    for integrator in [Integrator::ImplicitEuler, Integrator::Bdf2] {
        let limit = 0.2;
        let (mut definition, _) = pair(|tendon| tendon.limits = Some([-0.4, limit]));
        // turned by 0.9 rad from where it hangs, gravity pulls both to θ = 0.9, where L would be −0.45
        let tilt: f64 = 0.9;
        definition.gravity = G * Vec3::new(tilt.sin(), -tilt.cos(), 0.0);
        // the other way around the sum is positive
        for joint in &mut definition.tendons[0].joints {
            joint.1 = -joint.1;
        }
        definition.joints.iter_mut().for_each(|j| j.damping = 0.8);
        definition.settings.time.step = 0.02;
        definition.settings.time.integrator = integrator;
        definition.settings.solver.end.velocity = Some(1e-8);
        let mut simulation = Simulation::new(&definition).unwrap();
        let greatest = Arc::new(Mutex::new(f64::NEG_INFINITY));
        let (seen, first) = (Arc::clone(&greatest), simulation.positions().to_vec());
        let second = simulation.model().bodies[1].vertices.start;
        simulation.set_watcher(Some(Box::new(move |iteration| {
            let angle = |v: usize| {
                let edge = |x: &[Vec3]| x[v + 1] - x[v];
                let (before, now) = (edge(&first), edge(iteration.positions));
                before.cross(&now).z.atan2(before.dot(&now))
            };
            let length = -FACTORS[0] * angle(0) - FACTORS[1] * angle(second);
            let mut greatest = seen.lock().unwrap();
            *greatest = greatest.max(length);
            ControlFlow::Continue(())
        })));
        let mut last = None;
        for _ in 0..300 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success() && report.joint_error.unwrap() < 1e-8);
            last = Some(report);
        }
        let greatest = *greatest.lock().unwrap();
        assert!(greatest < limit && greatest > limit - 1e-3, "{integrator:?}: {greatest}");
        let last = last.unwrap();
        let [a, b] = ["first", "second"].map(|name| of(&last, name));
        let (mass, _) = inertia(BOX);
        let weigh = |angle: f64| mass * G * (BOX.y / 2.0 - 0.05) * (tilt - angle).sin();
        let tendon = of(&last, "tendon");
        for (joint, c) in [(a, -FACTORS[0]), (b, -FACTORS[1])] {
            let (moment, by_tendon) = (weigh(joint.angle.unwrap()), c * tendon.limit);
            assert!((joint.coupling - by_tendon).abs() < 1e-9, "{joint:?} {tendon:?}");
            let off = (moment + by_tendon).abs();
            assert!(off < 1e-3 * moment.abs(), "{integrator:?}: {moment} and {by_tendon}");
        }
        assert!(tendon.limit < -0.5, "{tendon:?}");
        // nothing is put beyond the limit between steps
        let mut x = simulation.positions().to_vec();
        let part = simulation.model().bodies[1].vertices.clone();
        let pivot = Vec3::new(0.5, 0.0, 0.0);
        let turn = standoff_linalg::nalgebra::Rotation3::from_scaled_axis(0.3 * Vec3::z());
        x[part.clone()].iter_mut().for_each(|p| *p = pivot + turn * (*p - pivot));
        let error = simulation.set_positions(part.start, &x[part.clone()]).unwrap_err();
        assert!(error.to_string().contains("'tendon' would be beyond its limits"), "{error}");
    }
}

#[test]
fn targets_of_tendons_are_set_and_restored() {
    let (mut definition, _) = pair(|tendon| tendon.drive = Some(servo(0.0, 50.0, 8.0)));
    definition.settings.time.step = 0.02;
    let mut simulation = Simulation::new(&definition).unwrap();
    let to = |position| JointTarget { position, ..JointTarget::default() };
    let run = |simulation: &mut Simulation, steps: usize| {
        let mut last = None;
        (0..steps).for_each(|_| last = Some(simulation.step().unwrap()));
        of(&last.unwrap(), "tendon").displacement.unwrap()
    };
    assert!(run(&mut simulation, 3).abs() < 1e-12);
    // number 2, after the joints
    simulation.set_joint_target(2, to(Some(0.3))).unwrap();
    assert!((run(&mut simulation, 200) - 0.3).abs() < 1e-4);
    let told = simulation.joint(2).unwrap();
    assert!((told.displacement.unwrap() - 0.3).abs() < 1e-4 && simulation.joint(3).is_none());
    let mut restored = Simulation::restore(&definition, simulation.state().clone()).unwrap();
    assert_eq!(run(&mut restored, 3), run(&mut simulation, 3));
    let velocity = JointTarget { velocity: Some(f64::NAN), ..to(None) };
    let error = simulation.set_joint_target(2, velocity).unwrap_err().to_string();
    assert!(error.contains("'tendon'"), "{error}");
    let unknown = simulation.set_joint_target(3, to(None));
    assert!(matches!(unknown, Err(ControlError::Unknown { .. })));
}

#[test]
fn tendons_that_cannot_be_are_refused() {
    let error = |change: &dyn Fn(&mut TendonDef), more: &dyn Fn(&mut JointDef)| {
        let (mut definition, _) = pair(|tendon| change(tendon));
        more(&mut definition.joints[1]);
        Simulation::new(&definition).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let keep = |_: &mut JointDef| {};
    let ball = |j: &mut JointDef| j.kind = JointKind::Spherical;
    let cases: [(&dyn Fn(&mut TendonDef), &dyn Fn(&mut JointDef), &str); 8] = [
        (&|t| t.joints.clear(), &keep, "name at least one joint"),
        (&|t| t.joints[0].1 = 0.0, &keep, "{ first = 0, second = "),
        (&|t| t.joints[1].0 = 0, &keep, "each once"),
        (&|t| t.joints[1].0 = 7, &keep, "have one coordinate"),
        (&|_| {}, &ball, "have one coordinate"),
        (&|t| t.limits = Some([0.1, 0.3]), &keep, "within the limits"),
        (&|t| t.damping = -1.0, &keep, "0 or more"),
        (&|t| t.name = "first".into(), &keep, "has the same name"),
    ];
    for (change, more, part) in cases {
        let found = error(change, more);
        assert!(found.contains(part), "{found}");
    }
    // a joint that follows another one may be in a tendon
    let (mut definition, _) = pair(|t| t.drive = Some(servo(0.2, 50.0, 5.0)));
    definition.joints[1].mimic = Some(MimicDef { joint: 0, ratio: -1.0, offset: 0.0 });
    let (reports, _) = closed(definition, 1e-8, 60);
    let [a, b] = ["first", "second"].map(|name| of(&reports[59], name).angle.unwrap());
    assert!((a + b).abs() < 1e-8 && a > 0.05, "{a} {b}");
}
