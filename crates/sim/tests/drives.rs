//! What acts along the coordinates of joints: limits, drives, damping, friction and couplings; and joints with two turns.

use crate::common::rigid::{moving, solid_box};
use crate::common::scene;
use crate::joints::{BOX, G, ORDERS, closed, hanging, inertia, integrate, joint, of, turned};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::SVector;
use standoff_sim::definition::expression::Expression;
use standoff_sim::definition::{Definition, DriveDef, JointDef, JointKind, JointSpring, MimicDef};
use standoff_sim::joints::{JointTarget, Law};
use standoff_sim::report::StepReport;
use standoff_sim::settings::Integrator;
use standoff_sim::{ControlError, Simulation};
use std::f64::consts::TAU;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

const INTEGRATORS: [Integrator; 3] =
    [Integrator::ImplicitEuler, Integrator::Bdf2, Integrator::Newmark];

/// A drive without gains.
fn drive() -> DriveDef {
    DriveDef {
        position: None,
        velocity: None,
        effort: None,
        stiffness: 0.0,
        damping: 0.0,
        max_effort: f64::INFINITY,
    }
}

fn constant(value: f64) -> Option<Expression> {
    Some(Expression::constant(value))
}

/// A hinge about z through the origin, and the moment of inertia of the box on it.
fn hinge(change: impl FnOnce(&mut JointDef)) -> (Definition, f64) {
    let mut definition = scene(vec![hanging("a", Vec3::zeros())]);
    let mut pin = joint("pin", JointKind::Revolute, None, 0, Vec3::zeros(), Vec3::z());
    change(&mut pin);
    definition.joints.push(pin);
    let (mass, about_centre) = inertia(BOX);
    (definition, about_centre + mass * (BOX.y / 2.0 - 0.05).powi(2))
}

fn angles(reports: &[StepReport], name: &str) -> Vec<f64> {
    reports.iter().map(|r| of(r, name).angle.unwrap()).collect()
}

/// A pendulum that falls on a stop never passes it, not in an iterate either, and then rests on it.
#[test]
fn a_limit_stops_a_pendulum_and_bears_its_weight() {
    for integrator in INTEGRATORS {
        for limits in [[-0.4, f64::INFINITY], [-0.4, 1.0]] {
            let (mut definition, _) = hinge(|pin| pin.limits = Some(limits));
            let start = 1.2;
            let body = hanging("a", Vec3::zeros());
            definition.bodies[0] = turned(body, Vec3::zeros(), start * Vec3::z());
            definition.gravity = Vec3::new(0.0, -G, 0.0);
            definition.settings.time.step = 0.02;
            definition.settings.time.integrator = integrator;
            definition.settings.solver.end.velocity = Some(1e-7);
            // the rates of Newmark's method swing for long after an impact
            let steps = if integrator == Integrator::Newmark { 400 } else { 60 };
            let mut simulation = Simulation::new(&definition).unwrap();
            let least = Arc::new(Mutex::new(f64::INFINITY));
            let seen = Arc::clone(&least);
            let first = simulation.positions().to_vec();
            simulation.set_watcher(Some(Box::new(move |iteration| {
                // the angle by one edge of the box
                let edge = |x: &[Vec3]| x[1] - x[0];
                let (before, now) = (edge(&first), edge(iteration.positions));
                let angle = before.cross(&now).z.atan2(before.dot(&now));
                let mut least = seen.lock().unwrap();
                *least = least.min(angle);
                ControlFlow::Continue(())
            })));
            let mut last = None;
            for _ in 0..steps {
                let report = simulation.step().unwrap();
                assert!(report.outcome.is_minimum());
                let angle = of(&report, "pin").angle.unwrap();
                assert!(angle > -0.4 && angle < 1.0, "{angle}");
                last = Some(of(&report, "pin"));
            }
            let least = *least.lock().unwrap();
            assert!(least > -0.4 && least < -0.39, "{integrator:?}: {least}");
            let last = last.unwrap();
            let (mass, _) = inertia(BOX);
            let angle = last.angle.unwrap();
            let weight = mass * G * (BOX.y / 2.0 - 0.05) * (start + angle).sin();
            assert!((angle + 0.4).abs() < 1e-3, "{integrator:?}: {angle}");
            let tolerance = if integrator == Integrator::Newmark { 0.02 } else { 1e-4 };
            let error = (last.limit - weight).abs() / weight;
            assert!(error < tolerance, "{integrator:?}: {} instead of {weight}", last.limit);
        }
    }
}

/// θ'' = (k (s − θ) − d θ')/(I + J) of a drive to a position, with the order of each integrator, without an armature J and with one that is heavier than the body.
#[test]
fn a_drive_pulls_to_its_position_as_its_equation_says() {
    let (stiffness, damping, to, time) = (30.0, 1.5, 0.8, 0.5);
    let cases = ORDERS.iter().flat_map(|order| [0.0, 0.4].map(|armature| (*order, armature)));
    // a trapezoidal rule would have to know what the rotor bears at the start
    let cases = cases.filter(|((i, _), armature)| *i != Integrator::Newmark || *armature == 0.0);
    for ((integrator, expected), armature) in cases {
        let error = |steps: usize| {
            let (mut definition, inertia) = hinge(|pin| {
                let gains = DriveDef { stiffness, damping, ..drive() };
                pin.drive = Some(DriveDef { position: constant(to), ..gains });
                pin.armature = armature;
            });
            let inertia = inertia + armature;
            definition.settings.time.step = time / steps as f64;
            definition.settings.time.integrator = integrator;
            let y = integrate(SVector::from([0.0, 0.0]), time, |y: &SVector<f64, 2>| {
                SVector::from([y[1], (stiffness * (to - y[0]) - damping * y[1]) / inertia])
            });
            let (reports, _) = closed(definition, 1e-8, steps);
            // what turns has the energy of both
            let kinetic = reports[steps - 1].kinetic_energy;
            let rate = of(&reports[steps - 1], "pin").angular_speed.unwrap();
            assert!((kinetic / (0.5 * inertia * rate * rate) - 1.0).abs() < 1e-4, "{kinetic}");
            (of(&reports[steps - 1], "pin").angle.unwrap() - y[0]).abs()
        };
        let [coarse, fine] = [error(100), error(200)];
        let order = (coarse / fine).log2();
        println!("{integrator:?}, {armature}: {coarse:.2e}, {fine:.2e}, order {order:.2}");
        assert!((order - expected).abs() < 0.3, "{integrator:?}: {order}");
    }
}

/// A servo, or a spring, that is stronger than its body is heavy by many powers of ten presses it against a limit: the joint stays closed, the limit bears what the servo does, and
/// what is left of the gap is a moderate part of where the limit begins.
#[test]
fn a_limit_bears_a_motor_far_stronger_than_its_body() {
    let (stiffness, limit) = (1e14, 0.06);
    // a spring, which nothing damps
    let (sprung, _) = hinge(|pin| {
        pin.spring = Some(JointSpring { stiffness: 1e10, rest: 1.3 });
        pin.limits = Some([-0.02, limit]);
    });
    let (reports, _) = closed(sprung, 1e-4, 5);
    let pin = of(&reports[4], "pin");
    let gap = limit - pin.angle.unwrap();
    assert!(gap > 1e-6 && gap < 8e-5, "{gap}");
    assert!((pin.limit / pin.spring + 1.0).abs() < 1e-6, "{pin:?}");
    let (definition, _) = hinge(|pin| {
        let gains = DriveDef { stiffness, damping: 1e12, ..drive() };
        pin.drive = Some(DriveDef { position: constant(1.3), ..gains });
        pin.limits = Some([-0.02, limit]);
    });
    let (reports, _) = closed(definition, 1e-4, 5);
    let pin = of(&reports[4], "pin");
    let gap = limit - pin.angle.unwrap();
    assert!(gap > 1e-6 && gap < 8e-5, "{gap}");
    let drive = stiffness * (1.3 - pin.angle.unwrap());
    assert!((pin.drive / drive - 1.0).abs() < 1e-9, "{pin:?}");
    assert!((pin.limit / pin.drive + 1.0).abs() < 1e-6, "{pin:?}");
    let taken: Vec<u64> = reports.iter().map(|r| r.newton_iterations).collect();
    assert!(taken[1..].iter().all(|n| *n < 30), "{taken:?}");
}

/// Between two free bodies a motor with a rotor turns both, by τ/(J + (I₁⁻¹ + I₂⁻¹)⁻¹) of each other, and neither their momentum.
#[test]
fn a_rotor_between_free_bodies_is_an_inertia_of_their_angle() {
    let (torque, armature, time) = (0.3, 0.5, 0.2);
    let [small, large] = [Vec3::new(0.1, 0.2, 0.3), Vec3::new(0.4, 0.3, 0.2)];
    let body = |name: &str, size: Vec3, above: f64| {
        solid_box(name, above * Vec3::z() - size / 2.0, size, 1)
    };
    let bodies = vec![body("a", small, 0.0), body("b", large, 0.5)];
    let mut definition = scene(bodies);
    let mut motor = joint("motor", JointKind::Revolute, Some(0), 1, 0.25 * Vec3::z(), Vec3::z());
    motor.drive = Some(DriveDef { effort: constant(torque), ..drive() });
    motor.armature = armature;
    definition.joints.push(motor);
    definition.settings.time.integrator = Integrator::Bdf2;
    let steps = 100;
    definition.settings.time.step = time / steps as f64;
    let about_z =
        |size: Vec3| 1000.0 * size.x * size.y * size.z * (size.x.powi(2) + size.y.powi(2)) / 12.0;
    let both = 1.0 / (1.0 / about_z(small) + 1.0 / about_z(large));
    let (reports, _) = closed(definition, 1e-9, steps);
    let last = &reports[steps - 1];
    let rate = of(last, "motor").angular_speed.unwrap();
    let expected = torque * time / (both + armature);
    assert!((rate / expected - 1.0).abs() < 1e-6, "{rate} {expected}");
    assert!(last.angular_momentum.iter().all(|l| l.abs() < 1e-9), "{:?}", last.angular_momentum);
    // what the motor does less the inertia of its rotor is what turns the bodies
    let motor = of(last, "motor");
    assert!(
        (motor.drive + motor.resistance - torque * both / (both + armature)).abs() < 1e-6 * torque,
        "{motor:?}"
    );
}

/// A motor that cannot do more than its cap speeds up evenly until it is as fast as it is told to be, with its cap to the last digits.
#[test]
fn a_cap_of_a_motor_is_exact() {
    let (cap, speed, h) = (0.2, 0.5, 0.01);
    let (mut definition, inertia) = hinge(|pin| {
        let gains = DriveDef { damping: 1e4, max_effort: cap, ..drive() };
        pin.drive = Some(DriveDef { velocity: constant(speed), ..gains });
    });
    definition.settings.time.step = h;
    let (reports, _) = closed(definition, 1e-9, 60);
    let mut rate = 0.0;
    for (k, report) in reports.iter().enumerate() {
        let pin = of(report, "pin");
        rate += h * cap / inertia;
        if rate < speed {
            assert!((pin.drive - cap).abs() < 1e-12, "step {k}: {}", pin.drive);
            let turned = pin.angle.unwrap();
            let sum = cap / inertia * h * h * ((k + 1) * (k + 2)) as f64 / 2.0;
            assert!((turned - sum).abs() < 1e-4 * sum, "step {k}: {turned} instead of {sum}");
        }
    }
    assert!(rate > speed, "the motor has to reach its speed within the test");
    let last = angles(&reports, "pin");
    let found = (last[59] - last[58]) / h;
    assert!((found - speed).abs() < 1e-6 * speed, "{found}");
    assert!(of(&reports[59], "pin").drive.abs() < 1e-3);
}

/// θ'' = −k (θ − θ₀)/I: a spring swings with the period 2π √(I/k), by the trapezoidal rule of Newmark's method without loss.
#[test]
fn a_spring_swings_as_its_equation_says() {
    let (stiffness, rest, n) = (40.0, 0.2, 400);
    let spring = Some(JointSpring { stiffness, rest });
    let (mut definition, inertia) = hinge(|pin| pin.spring = spring);
    let period = TAU * (inertia / stiffness).sqrt();
    definition.settings.time.step = period / n as f64;
    definition.settings.time.integrator = Integrator::Newmark;
    let (reports, _) = closed(definition, 1e-9, n);
    for (part, expected) in [(1, rest * (1.0 - (TAU / 4.0).cos())), (2, 2.0 * rest), (4, 0.0)] {
        let report = &reports[part * n / 4 - 1];
        let pin = of(report, "pin");
        let angle = pin.angle.unwrap();
        assert!((angle - expected).abs() < 2e-4, "{part}: {angle} instead of {expected}");
        assert!((pin.spring - stiffness * (rest - angle)).abs() < 1e-12, "{pin:?}");
        let energy = 0.5 * stiffness * (rest - angle).powi(2);
        assert!((report.energies["springs of joints"] - energy).abs() < 1e-12);
    }
}

/// A report has the energy of a limit as it is, also where the integrator weighs limits as it weighs contact.
#[test]
fn a_limit_has_the_energy_of_its_law() {
    for integrator in INTEGRATORS {
        let (mut definition, _) = hinge(|pin| pin.limits = Some([-1.0, 1e-4]));
        definition.gravity = Vec3::new(G, 0.0, 0.0);
        definition.settings.time.integrator = integrator;
        let (reports, simulation) = closed(definition, 1e-8, 5);
        let angle = of(&reports[4], "pin").angle.unwrap();
        let limits = simulation.model().joints.all[0].limits.unwrap();
        let [energy, slope, _] = Law::Limits(limits).at(angle);
        let found = reports[4].energies["limits of joints"];
        assert!(energy > 0.0 && (found - energy).abs() < 1e-9 * energy, "{found} {energy}");
        let effort = of(&reports[4], "pin").limit;
        assert!((effort + slope).abs() < 1e-9 * slope, "{effort} {slope}");
    }
}

#[test]
fn a_formula_without_a_value_names_the_joint() {
    let (definition, _) = hinge(|pin| {
        let effort = Some(Expression::parse("sqrt(0.015 - t)").unwrap());
        pin.drive = Some(DriveDef { effort, ..drive() });
    });
    let mut simulation = Simulation::new(&definition).unwrap();
    simulation.step().unwrap();
    let error = simulation.step().unwrap_err().to_string();
    assert!(error.contains("an expression of t") && error.contains("'pin'"), "{error}");
}

/// Damping brakes by θ' = ω exp(−d t/I); dry friction holds up to its moment, and above leaves the rest.
#[test]
fn damping_and_friction_resist() {
    let (damping, time, steps) = (0.4, 0.5, 400);
    let (mut definition, inertia) = hinge(|pin| pin.damping = damping);
    let spin = 2.0;
    let arm = hanging("a", Vec3::zeros());
    definition.bodies[0] = moving(
        arm,
        spin * Vec3::z().cross(&Vec3::new(0.0, 0.05 - BOX.y / 2.0, 0.0)),
        spin * Vec3::z(),
    );
    definition.settings.time.step = time / steps as f64;
    let (reports, _) = closed(definition, 1e-8, steps);
    let expected = spin * inertia / damping * (1.0 - f64::exp(-damping * time / inertia));
    let found = of(&reports[steps - 1], "pin").angle.unwrap();
    assert!((found - expected).abs() < 3e-3 * expected, "{found} instead of {expected}");
    for (moment, moves) in [(0.99, false), (1.01, true), (1.5, true)] {
        let (mut definition, inertia) = hinge(|pin| {
            pin.friction = 1.0;
            pin.drive = Some(DriveDef { effort: constant(moment), ..drive() });
        });
        let (h, n) = (0.01, 30);
        definition.settings.time.step = h;
        let (reports, _) = closed(definition, 1e-10, n);
        let pin = of(&reports[n - 1], "pin");
        let free = (moment - 1.0) / inertia * h * h * (n * (n + 1)) as f64 / 2.0;
        let angle = pin.angle.unwrap();
        match moves {
            // what sticks creeps by the stick speed at most
            false => assert!(angle < 2e-3 && (pin.resistance + moment).abs() < 1e-6, "{pin:?}"),
            true => {
                let tolerance = 2e-3 + 5e-3 * free;
                assert!((angle - free).abs() < tolerance, "{angle} instead of {free}");
                assert_eq!(pin.resistance, -1.0);
            }
        }
    }
}

/// Shafts along x and along (cos β, sin β, 0) that a universal joint connects: its axis (0, −sin φ₁, cos φ₁) on the first one and
/// cos φ₂ (−sin β, cos β, 0) + sin φ₂ z on the second stay at right angles, so that tan φ₂ = cos β tan φ₁.
#[test]
fn a_universal_joint_transmits_turns_as_its_geometry_says() {
    let tilt = 0.5_f64;
    let along = Vec3::new(tilt.cos(), tilt.sin(), 0.0);
    let size = Vec3::new(0.2, 0.04, 0.04);
    let driving = solid_box("a", Vec3::new(-0.25, -0.02, -0.02), size, 1);
    let driven = solid_box("b", Vec3::new(0.05, -0.02, -0.02), size, 1);
    let driven = turned(driven, Vec3::zeros(), tilt * Vec3::z());
    let mut definition = scene(vec![driving, driven]);
    let mut cross = joint("cross", JointKind::Universal, Some(0), 1, Vec3::zeros(), Vec3::z());
    // on the driven shaft, across both z and its own axis
    cross.second_axis = Vec3::new(-along.y, along.x, 0.0);
    let mut first = joint("in", JointKind::Revolute, None, 0, Vec3::new(-0.2, 0.0, 0.0), Vec3::x());
    first.drive = Some(DriveDef { velocity: constant(3.0), damping: 10.0, ..drive() });
    let second = joint("out", JointKind::Revolute, None, 1, 0.2 * along, along);
    definition.joints = vec![first, cross, second];
    definition.settings.time.step = 0.01;
    let (reports, _) = closed(definition, 1e-7, 120);
    for (k, report) in reports.iter().enumerate() {
        let [turn, found] = ["in", "out"].map(|n| of(report, n).angle.unwrap());
        let expected = (tilt.cos() * turn.sin()).atan2(turn.cos());
        let expected = expected + TAU * ((found - expected) / TAU).round();
        assert!((found - expected).abs() < 1e-6, "step {k}: {found} instead of {expected}");
    }
    let turned = of(&reports[119], "in").angle.unwrap();
    assert!(turned > 3.0, "the shafts have to turn by half a turn: {turned}");
    let taken = crate::joints::iterations(&reports);
    println!("{taken} iterations in 120 steps");
    assert!(taken < 120 * 12, "{taken}");
}

/// A mass on a rod of a given length swings as a mathematical pendulum, and one on a rope falls freely until the rope is taut.
#[test]
fn rods_and_ropes_keep_distances() {
    let size = Vec3::repeat(0.1);
    let (length, start, time) = (0.5, 1.0, 0.6);
    let weight = size.x * size.y * size.z * 1000.0 * G;
    let place = |angle: f64| length * Vec3::new(f64::sin(angle), -f64::cos(angle), 0.0);
    let run = |integrator, steps: usize, limits: Option<[f64; 2]>, centre: Vec3| {
        let body = solid_box("a", centre - 0.5 * size, size, 1);
        let mut definition = scene(vec![body]);
        definition.gravity = Vec3::new(0.0, -G, 0.0);
        definition.settings.time.step = time / steps as f64;
        definition.settings.time.integrator = integrator;
        let mut rod = joint("rod", JointKind::Distance, None, 0, Vec3::zeros(), Vec3::zeros());
        rod.second_point = centre;
        rod.limits = limits;
        definition.joints.push(rod);
        closed(definition, 1e-7, steps)
    };
    let y = integrate(SVector::from([start, 0.0]), time, |y: &SVector<f64, 2>| {
        SVector::from([y[1], -G / length * y[0].sin()])
    });
    let errors = [100, 200].map(|steps| {
        let (reports, _) = run(Integrator::Bdf2, steps, None, place(start));
        let point = Vec3::from(of(&reports[steps - 1], "rod").point);
        (point - place(y[0])).norm()
    });
    let order = (errors[0] / errors[1]).log2();
    println!("{errors:?}, order {order:.2}");
    assert!(order > 1.6, "{errors:?}");
    // the rope is 0.5 m long, and 0.2 m are between the points at first: taut after a fall of 0.3 m; implicit Euler's method lets
    // nothing bounce
    let steps = 60;
    let (reports, _) =
        run(Integrator::ImplicitEuler, steps, Some([0.0, length]), Vec3::new(0.0, -0.2, 0.0));
    for (k, report) in reports.iter().enumerate() {
        let rope = of(report, "rod");
        let apart = rope.displacement.unwrap();
        assert!(apart < length, "step {k}: {apart}");
        let t = time * (k + 1) as f64 / steps as f64;
        let free = 0.2 + 0.5 * G * t * t;
        if free < 0.49 {
            assert!((apart - free).abs() < 2e-2, "step {k}: {apart} instead of {free}");
            assert_eq!(rope.limit, 0.0);
        }
    }
    let last = of(&reports[steps - 1], "rod");
    assert!((last.limit + weight).abs() < 1e-3 * weight, "{last:?}");
}

/// Two gears with a ratio: α = τ/(I₁ + r² I₂), and a rack: the slider goes r θ. The force between them is what accelerates the second one.
#[test]
fn gears_and_racks_couple_coordinates() {
    let (moment, ratio, h, n) = (0.05, -2.0, 0.01, 50);
    let sum = h * h * (n * (n + 1)) as f64 / 2.0;
    let size = Vec3::new(0.2, 0.2, 0.05);
    let (mass, own) = inertia(size);
    let place = |x: f64| Vec3::new(x, 0.0, 0.0);
    let gears = |kind: JointKind, ratio: f64| {
        let bodies =
            [0.0, 0.5].map(|x| solid_box(&format!("at {x}"), place(x) - 0.5 * size, size, 1));
        let mut definition = scene(bodies.to_vec());
        let mut first = joint("first", JointKind::Revolute, None, 0, place(0.0), Vec3::z());
        first.drive = Some(DriveDef { effort: constant(moment), ..drive() });
        let axis = if kind == JointKind::Revolute { Vec3::z() } else { Vec3::y() };
        let mut second = joint("second", kind, None, 1, place(0.5), axis);
        second.mimic = Some(MimicDef { joint: 0, ratio, offset: 0.0 });
        definition.joints = vec![first, second];
        definition.settings.time.step = h;
        let (reports, _) = closed(definition, 1e-9, n);
        let taken = crate::joints::iterations(&reports);
        println!("{kind:?}: {taken} iterations in {n} steps");
        assert!(taken < 6 * n as u64, "{kind:?}: {taken}");
        [of(&reports[n - 1], "first"), of(&reports[n - 1], "second")]
    };
    let [first, second] = gears(JointKind::Revolute, ratio);
    let expected = moment / (own + ratio * ratio * own) * sum;
    let (found, other) = (first.angle.unwrap(), second.angle.unwrap());
    assert!((found - expected).abs() < 3e-3 * expected, "{found} instead of {expected}");
    assert!((other - ratio * found).abs() < 1e-8, "{other}");
    // the gear that follows takes r² of r² + 1 parts
    let share = -moment * ratio * ratio / (1.0 + ratio * ratio);
    assert!((first.coupling - share).abs() < 3e-3 * moment, "{} {share}", first.coupling);
    assert!((second.coupling - share / -ratio).abs() < 3e-3 * moment, "{}", second.coupling);
    let radius = 0.07;
    let [first, second] = gears(JointKind::Prismatic, radius);
    let expected = moment / (own + radius * radius * mass) * sum;
    let (found, other) = (first.angle.unwrap(), second.displacement.unwrap());
    assert!((found - expected).abs() < 3e-3 * expected, "{found} instead of {expected}");
    assert!((other - radius * found).abs() < 1e-8, "{other}");
}

/// Targets that are set between steps replace those of the definition, also in a simulation that is restored.
#[test]
fn targets_are_set_between_steps() {
    // the angle counts from 7 rad on, which a drive and limits count in, too
    let (mut definition, _) = hinge(|pin| {
        let gains = DriveDef { stiffness: 300.0, damping: 20.0, ..drive() };
        pin.drive = Some(DriveDef { position: constant(7.0), ..gains });
        pin.start = 7.0;
        pin.limits = Some([6.0, 7.6]);
    });
    definition.settings.time.step = 0.02;
    let mut simulation = Simulation::new(&definition).unwrap();
    let run = |simulation: &mut Simulation, steps: usize| {
        let mut last = None;
        (0..steps).for_each(|_| last = Some(simulation.step().unwrap()));
        of(&last.unwrap(), "pin").angle.unwrap()
    };
    assert!((run(&mut simulation, 5) - 7.0).abs() < 1e-9);
    let to = |position| JointTarget { position, ..JointTarget::default() };
    simulation.set_joint_target(0, to(Some(7.5))).unwrap();
    assert!((run(&mut simulation, 200) - 7.5).abs() < 1e-4);
    let mut restored = Simulation::restore(&definition, simulation.state().clone()).unwrap();
    assert_eq!(run(&mut restored, 3), run(&mut simulation, 3));
    simulation.set_joint_target(0, to(None)).unwrap();
    assert!((run(&mut simulation, 200) - 7.0).abs() < 1e-4);
    let error = simulation.set_joint_target(0, to(Some(f64::NAN))).unwrap_err();
    assert!(error.to_string().contains("pin"), "{error}");
    let unknown = simulation.set_joint_target(3, to(None));
    assert!(matches!(unknown, Err(ControlError::Unknown { .. })));
    let (plain, _) = hinge(|_| {});
    let mut plain = Simulation::new(&plain).unwrap();
    let error = plain.set_joint_target(0, to(Some(0.1))).unwrap_err().to_string();
    assert!(error.contains("needs a drive with a stiffness"), "{error}");
    plain.set_joint_target(0, JointTarget { effort: Some(1.0), ..to(None) }).unwrap();
    assert!(run(&mut plain, 3) > 0.0);
}

#[test]
fn what_cannot_act_along_a_coordinate_is_refused() {
    let error = |change: &dyn Fn(&mut JointDef)| {
        let (definition, _) = hinge(|pin| change(pin));
        Simulation::new(&definition).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let cases: [(&dyn Fn(&mut JointDef), &str); 10] = [
        (&|pin| pin.limits = Some([0.1, 0.3]), "within the limits"),
        (&|pin| pin.limits = Some([0.3, -0.3]), "ascending"),
        (&|pin| pin.damping = -1.0, "0 or more"),
        (&|pin| pin.friction = f64::NAN, "0 or more"),
        (&|pin| pin.armature = -0.1, "0 or more"),
        (
            &|pin| {
                pin.kind = JointKind::Spherical;
                pin.damping = 1.0;
            },
            "only revolute and prismatic joints",
        ),
        (
            &|pin| pin.drive = Some(DriveDef { position: constant(0.0), ..drive() }),
            "needs a stiffness",
        ),
        (&|pin| pin.drive = Some(DriveDef { max_effort: 0.0, ..drive() }), "must be positive"),
        (&|pin| pin.mimic = Some(MimicDef { joint: 0, ratio: 1.0, offset: 0.0 }), "another joint"),
        (
            &|pin| {
                pin.kind = JointKind::Universal;
                pin.second_axis = Vec3::new(0.0, 1.0, 1.0);
            },
            "right angles",
        ),
    ];
    for (change, part) in cases {
        let found = error(change);
        assert!(found.contains("pin") && found.contains(part), "{found}");
    }
    let (mut definition, _) = hinge(|pin| pin.armature = 0.1);
    definition.settings.time.integrator = Integrator::Newmark;
    let found = Simulation::new(&definition).err().unwrap().to_string();
    assert!(
        found.contains("joint 'pin'") && found.contains("armature") && found.contains("bdf2"),
        "{found}"
    );
}
