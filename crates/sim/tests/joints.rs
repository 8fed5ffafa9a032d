//! Joints: mechanisms against closed forms and integrations of their equations of motion, reactions, contact, and how few iterations
//! steps take.

use crate::common::rigid::{centre, moving, rotation, solid_box, whole_surface};
use crate::common::{block, converge, ground, scene};
use standoff_linalg::nalgebra::{Quaternion, Rotation3, SVector, UnitQuaternion};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{
    BodyDef, Definition, JointDef, JointKind, Motion, Pivot, PrescribedDef,
};
use standoff_sim::report::{JointForces, StepReport};
use standoff_sim::settings::{Integrator, Method};
use standoff_sim::{Simulation, StepError};

pub const G: f64 = 9.81;

/// Joints are closed to this part of the radius of the smaller body.
const CLOSED: f64 = 1e-8;

pub fn joint(
    name: &str,
    kind: JointKind,
    parent: Option<usize>,
    child: usize,
    point: Vec3,
    axis: Vec3,
) -> JointDef {
    JointDef::new(name, kind, parent, child, point, axis)
}

/// A body turned about an axis through a point at the start.
pub fn turned(mut body: BodyDef, about: Vec3, turn: Vec3) -> BodyDef {
    let turn = Rotation3::from_scaled_axis(turn).into_inner();
    body.start = body.rest.iter().map(|p| about + turn * (p - about)).collect();
    body
}

pub fn of(report: &StepReport, name: &str) -> JointForces {
    report.forces.joints[name]
}

/// Steps that all converge with closed joints.
pub fn closed(
    definition: Definition,
    tolerance: f64,
    steps: usize,
) -> (Vec<StepReport>, Simulation) {
    let (reports, simulation) = converge(definition, tolerance, steps);
    for report in &reports {
        let error = report.joint_error.unwrap();
        assert!(error < CLOSED, "step {}: a joint is open by {error:e}", report.step);
        let deformed = report.rigid_deformation.unwrap();
        assert!(deformed < 5e-6, "step {}: deformed by {deformed:e}", report.step);
    }
    (reports, simulation)
}

pub fn iterations(reports: &[StepReport]) -> u64 {
    reports.iter().map(|r| r.newton_iterations).sum()
}

/// The solution of y' = slope(y) after a time, with steps of fourth order.
pub fn integrate<const N: usize>(
    mut y: SVector<f64, N>,
    time: f64,
    slope: impl Fn(&SVector<f64, N>) -> SVector<f64, N>,
) -> SVector<f64, N> {
    let steps = 20_000;
    let h = time / f64::from(steps);
    for _ in 0..steps {
        let a = slope(&y);
        let b = slope(&(y + h / 2.0 * a));
        let c = slope(&(y + h / 2.0 * b));
        let d = slope(&(y + h * c));
        y += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
    y
}

/// Mass and moment of inertia about the centre, across the plane z = 0, of a box.
pub fn inertia(size: Vec3) -> (f64, f64) {
    let mass = 1000.0 * size.x * size.y * size.z;
    (mass, mass / 12.0 * (size.x.powi(2) + size.y.powi(2)))
}

pub const BOX: Vec3 = Vec3::new(0.1, 0.4, 0.06);

/// A box that hangs below a point, on which it turns about z: the pivot is 5 cm below its upper end.
pub fn hanging(name: &str, pivot: Vec3) -> BodyDef {
    solid_box(name, pivot - Vec3::new(BOX.x / 2.0, BOX.y - 0.05, BOX.z / 2.0), BOX, 1)
}

pub const ORDERS: [(Integrator, f64); 3] =
    [(Integrator::ImplicitEuler, 1.0), (Integrator::Bdf2, 2.0), (Integrator::Newmark, 2.0)];

/// Orders of the integrators for what happens until a time: `error` gives what they are off with a number of steps.
fn assert_orders(
    orders: &[(Integrator, f64)],
    mut error: impl FnMut(Integrator, usize) -> f64,
    steps: usize,
) {
    for &(integrator, order) in orders {
        let [coarse, fine] = [error(integrator, steps), error(integrator, 2 * steps)];
        let found = (coarse / fine).log2();
        println!("{integrator:?}: {coarse:.2e}, {fine:.2e}, order {found:.2}");
        assert!((found - order).abs() < 0.3, "{integrator:?}: order {found}");
    }
}

/// θ'' = −(m g d/I) sin θ, and the joint bears m (a − g).
#[test]
fn a_physical_pendulum_swings_as_its_equation_says() {
    let (mass, about_centre) = inertia(BOX);
    let arm = BOX.y / 2.0 - 0.05;
    let square = mass * G * arm / (about_centre + mass * arm * arm);
    let (start, time) = (2.0, 0.6);
    let y = integrate(SVector::from([start, 0.0]), time, |y: &SVector<f64, 2>| {
        SVector::from([y[1], -square * y[0].sin()])
    });
    let run = |integrator, steps: usize| {
        let body = turned(hanging("a", Vec3::zeros()), Vec3::zeros(), start * Vec3::z());
        let mut definition = scene(vec![body]);
        definition.gravity = Vec3::new(0.0, -G, 0.0);
        definition.settings.time.step = time / steps as f64;
        definition.settings.time.integrator = integrator;
        let pin = joint("pin", JointKind::Revolute, None, 0, Vec3::zeros(), Vec3::z());
        definition.joints.push(pin);
        closed(definition, 1e-9, steps).0
    };
    assert_orders(
        &ORDERS,
        |integrator, steps| {
            let last = of(&run(integrator, steps)[steps - 1], "pin");
            (start + last.angle.unwrap() - y[0]).abs()
        },
        80,
    );
    let reports = run(Integrator::Bdf2, 320);
    let last = of(&reports[319], "pin");
    let down = Vec3::new(y[0].sin(), -y[0].cos(), 0.0);
    let along = Vec3::new(y[0].cos(), y[0].sin(), 0.0);
    let acceleration = arm * (-square * y[0].sin() * along - y[1] * y[1] * down);
    let expected = mass * (acceleration + Vec3::new(0.0, G, 0.0));
    let found = Vec3::from(last.force);
    assert!((found - expected).norm() < 2e-3 * expected.norm(), "{found} {expected}");
    let speed = last.angular_speed.unwrap();
    assert!((speed - y[1]).abs() < 3e-3 * y[1].abs(), "{speed} instead of {}", y[1]);
    assert!(Vec3::from(last.moment).z.abs() < 1e-9, "a joint that turns bears no moment");
    let taken = iterations(&run(Integrator::ImplicitEuler, 80));
    println!("{taken} iterations in 80 steps");
    assert!(taken < 80 * 5, "{taken} iterations");
}

/// Two boxes on two joints against their equations of motion.
#[test]
fn a_double_pendulum_swings_as_its_equations_say() {
    let (mass, about_centre) = inertia(BOX);
    let (arm, length) = (BOX.y / 2.0 - 0.05, BOX.y - 0.1);
    let [first, second] = [2.0, 1.2];
    let time = 0.5;
    let y = integrate(SVector::from([first, second, 0.0, 0.0]), time, |y: &SVector<f64, 4>| {
        let between = y[0] - y[1];
        let m11 = about_centre + mass * (arm * arm + length * length);
        let m22 = about_centre + mass * arm * arm;
        let m12 = mass * length * arm * between.cos();
        let pull = mass * length * arm * between.sin();
        let f1 = -pull * y[3] * y[3] - mass * (arm + length) * G * y[0].sin();
        let f2 = pull * y[2] * y[2] - mass * arm * G * y[1].sin();
        let det = m11 * m22 - m12 * m12;
        SVector::from([y[2], y[3], (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det])
    });
    let elbow = length * Vec3::new(f64::sin(first), -f64::cos(first), 0.0);
    let error = |integrator, steps: usize| {
        let upper = turned(hanging("a", Vec3::zeros()), Vec3::zeros(), first * Vec3::z());
        let lower = turned(hanging("b", elbow), elbow, second * Vec3::z());
        let mut definition = scene(vec![upper, lower]);
        definition.gravity = Vec3::new(0.0, -G, 0.0);
        definition.settings.time.step = time / steps as f64;
        definition.settings.time.integrator = integrator;
        definition.joints = vec![
            joint("shoulder", JointKind::Revolute, None, 0, Vec3::zeros(), Vec3::z()),
            joint("elbow", JointKind::Revolute, Some(0), 1, elbow, 3.0 * Vec3::z()),
        ];
        let (reports, _) = closed(definition, 1e-9, steps);
        let angle = |name| of(&reports[steps - 1], name).angle.unwrap();
        let [a, b] = [angle("shoulder"), angle("elbow")];
        (first + a - y[0]).hypot(second + a + b - y[1])
    };
    assert_orders(&ORDERS, error, 80);
}

/// A heavy top on a ball joint, against Euler's equations with the moment of its weight.
#[test]
fn a_heavy_top_precesses_as_the_equations_of_euler_say() {
    let size = Vec3::new(0.2, 0.2, 0.1);
    let arm = Vec3::new(0.0, 0.0, 0.15);
    let mass = 1000.0 * size.x * size.y * size.z;
    let squares = size.component_mul(&size);
    let of_arm = Mat3::from_diagonal_element(arm.norm_squared()) - arm * arm.transpose();
    let inertia = mass / 12.0 * (Vec3::repeat(squares.sum()) - squares) + mass * of_arm.diagonal();
    let (spin, lean, time) = (Vec3::new(0.5, 0.0, 25.0), Vec3::new(0.6, 0.0, 0.0), 0.4);
    let begin = UnitQuaternion::from_scaled_axis(lean);
    let q = begin.quaternion().coords;
    let y = SVector::from([spin.x, spin.y, spin.z, q[0], q[1], q[2], q[3]]);
    let y = integrate(y, time, |y: &SVector<f64, 7>| {
        let w = Vec3::new(y[0], y[1], y[2]);
        let q = Quaternion::from(standoff_linalg::nalgebra::Vector4::new(y[3], y[4], y[5], y[6]));
        let turn = UnitQuaternion::from_quaternion(q);
        let weight = turn.inverse() * Vec3::new(0.0, 0.0, -mass * G);
        let moment = inertia.component_mul(&w).cross(&w) + arm.cross(&weight);
        let dw = moment.component_div(&inertia);
        let dq = (q * Quaternion::from_imag(w) * 0.5).coords;
        SVector::from([dw.x, dw.y, dw.z, dq[0], dq[1], dq[2], dq[3]])
    });
    let end = Quaternion::from(standoff_linalg::nalgebra::Vector4::new(y[3], y[4], y[5], y[6]));
    let expected = UnitQuaternion::from_quaternion(end).to_rotation_matrix().into_inner();
    let error = |integrator, steps: usize| {
        let body = solid_box("top", arm - 0.5 * size, size, 1);
        let mut body = turned(body, Vec3::zeros(), lean);
        let fast = begin * spin;
        body.velocity = body.start.iter().map(|p| fast.cross(p)).collect();
        let mut definition = scene(vec![body.clone()]);
        definition.gravity = Vec3::new(0.0, 0.0, -G);
        definition.settings.time.step = time / steps as f64;
        definition.settings.time.integrator = integrator;
        let foot = joint("foot", JointKind::Spherical, None, 0, Vec3::zeros(), Vec3::zeros());
        definition.joints.push(foot);
        let (_, simulation) = closed(definition, 1e-9, steps);
        (rotation(&body, simulation.positions()) - expected).norm()
    };
    // what Newmark's method leaves of the strain of stiff bodies disturbs fast spins in long steps
    assert_orders(&ORDERS[..2], error, 800);
}

/// A chain of links of 2 cm × 10 cm × 2 cm from the origin on, along a direction, with joints at their ends.
fn chain(links: usize, kind: JointKind, along: Vec3) -> Definition {
    let size = Vec3::new(0.02, 0.1, 0.02);
    let turn = Rotation3::rotation_between(&-Vec3::y(), &along).unwrap().scaled_axis();
    let link = |k: usize| {
        let low = Vec3::new(-0.01, -0.1 * (k + 1) as f64, -0.01);
        turned(solid_box(&format!("link {k}"), low, size, 1), Vec3::zeros(), turn)
    };
    let mut definition = scene((0..links).map(link).collect());
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    let across = along.cross(&Vec3::z()).cross(&along);
    definition.joints = (0..links)
        .map(|k| {
            let point = 0.1 * k as f64 * along;
            let axis = if k % 2 == 0 { Vec3::z() } else { across };
            joint(&format!("joint {k}"), kind, k.checked_sub(1), k, point, axis)
        })
        .collect();
    definition
}

/// In a chain at rest, each joint carries the weight of what is below it.
#[test]
fn a_hanging_chain_carries_its_weight() {
    for kind in [JointKind::Spherical, JointKind::Revolute, JointKind::Fixed] {
        // Newmark's method does not damp the strain of the first step
        for (integrator, tolerance) in [
            (Integrator::ImplicitEuler, 1e-6),
            (Integrator::QuasiStatic, 1e-6),
            (Integrator::Newmark, 1e-2),
        ] {
            let mut definition = chain(6, kind, -Vec3::y());
            definition.settings.time.integrator = integrator;
            let (reports, _) = closed(definition, 1e-8, 5);
            let link = 1000.0 * 0.02 * 0.02 * 0.1 * G;
            for k in 0..6 {
                let expected = Vec3::new(0.0, link * (6 - k) as f64, 0.0);
                let joint = of(&reports[4], &format!("joint {k}"));
                let found = Vec3::from(joint.force);
                let error = (found - expected).norm() / expected.norm();
                assert!(error < tolerance, "{kind:?}, {integrator:?}: {error:e} at {k}");
                let moment = Vec3::from(joint.moment).norm();
                assert!(
                    moment < tolerance * link * 0.1,
                    "{kind:?}, {integrator:?}: moment {moment}"
                );
            }
        }
    }
}

/// A beam of boxes with fixed joints bears at the wall its weight and the moment of that.
#[test]
fn fixed_joints_bear_moments() {
    let definition = chain(4, JointKind::Fixed, Vec3::x());
    let (reports, _) = closed(definition, 1e-9, 3);
    let weight = 4.0 * 1000.0 * 0.02 * 0.02 * 0.1 * G;
    let wall = of(&reports[2], "joint 0");
    let (force, moment) = (Vec3::from(wall.force), Vec3::from(wall.moment));
    assert!((force - Vec3::new(0.0, weight, 0.0)).norm() < 1e-4 * weight, "{force}");
    assert!((moment - Vec3::new(0.0, 0.0, 0.2 * weight)).norm() < 1e-4 * weight, "{moment}");
}

/// A slider on a slope of angle α: a = g sin α, and the guide bears m g cos α with its moment and nothing along itself.
#[test]
fn a_slider_slides_down_with_the_part_of_gravity_along_it() {
    let (angle, size) = (0.4_f64, Vec3::new(0.2, 0.1, 0.1));
    let axis = Vec3::new(-angle.cos(), -angle.sin(), 0.0);
    let normal = Vec3::new(-angle.sin(), angle.cos(), 0.0);
    let body = solid_box("a", -0.5 * size, size, 1);
    let mut definition = scene(vec![body.clone()]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    let point = Vec3::new(0.0, -0.05, 0.0);
    definition.joints.push(joint("rail", JointKind::Prismatic, None, 0, point, 2.0 * axis));
    let (n, h) = (50, definition.settings.time.step);
    let (reports, simulation) = closed(definition, 1e-10, n);
    let rail = of(&reports[n - 1], "rail");
    let expected = G * angle.sin() * h * h * (n * (n + 1) / 2) as f64;
    let moved = centre(&body, simulation.positions()) - centre(&body, &body.rest);
    assert!((moved - expected * axis).norm() < 1e-8 * expected, "{moved}");
    assert!((rail.displacement.unwrap() - expected).abs() < 1e-8 * expected);
    assert!((rail.speed.unwrap() - G * angle.sin() * h * n as f64).abs() < 1e-8);
    assert_eq!(rail.angle, None);
    let bears = 2.0 * G * angle.cos();
    let force = Vec3::from(rail.force);
    assert!((force - bears * normal).norm() < 1e-6 * bears, "{force}");
    let expected = Vec3::new(0.0, 0.05, 0.0).cross(&Vec3::new(0.0, -2.0 * G, 0.0));
    let moment = Vec3::from(rail.moment) + Vec3::new(0.0, 0.05, 0.0).cross(&(bears * normal));
    let arm = centre(&body, simulation.positions()) - Vec3::from(rail.point);
    let balance = Vec3::from(rail.moment) - arm.cross(&Vec3::from(rail.force));
    assert!(balance.norm() < 1e-6 * bears, "{balance} {moment} {expected}");
}

/// A collar on a vertical shaft falls and spins, one in a plane is thrown and spins; neither does anything else.
#[test]
fn collars_and_pucks_keep_what_is_free() {
    let size = Vec3::new(0.2, 0.1, 0.2);
    let (spin, time, steps) = (4.0, 1.0, 100);
    let run = |kind, axis: Vec3, velocity: Vec3| {
        let body = moving(solid_box("a", -0.5 * size, size, 1), velocity, spin * axis);
        let mut definition = scene(vec![body.clone()]);
        definition.gravity = Vec3::new(0.0, -G, 0.0);
        definition.settings.time.integrator = Integrator::Newmark;
        definition.joints.push(joint("guide", kind, None, 0, Vec3::zeros(), axis));
        let (reports, simulation) = closed(definition, 1e-10, steps);
        let moved = centre(&body, simulation.positions()) - centre(&body, &body.rest);
        (of(&reports[steps - 1], "guide"), moved, iterations(&reports))
    };
    let (shaft, moved, taken) = run(JointKind::Cylindrical, Vec3::y(), Vec3::y());
    let fall = time - 0.5 * G * time * time;
    assert!((moved - fall * Vec3::y()).norm() < 1e-9, "{moved}");
    assert!((shaft.displacement.unwrap() - fall).abs() < 1e-9);
    // nearly a full turn beyond half of one: the angle counts on
    let angle = shaft.angle.unwrap();
    assert!((angle - spin * time).abs() < 4e-3, "{angle}");
    let speed = shaft.angular_speed.unwrap();
    // the speeds of Newmark's method swing about the true one
    assert!((speed - spin).abs() < 0.1, "{speed}");
    assert!(Vec3::from(shaft.force).norm() < 1e-6 && taken < 6 * steps as u64);
    let (table, moved, taken) = run(JointKind::Planar, Vec3::z(), Vec3::x() + 2.0 * Vec3::y());
    let expected = Vec3::new(1.0, 2.0 - 0.5 * G, 0.0);
    assert!((moved - expected).norm() < 1e-8, "{moved}");
    assert!((table.angle.unwrap() - spin * time).abs() < 4e-3 && table.displacement.is_none());
    assert!(taken < 6 * steps as u64, "{taken} iterations");
}

/// A bar of 2 cm × 2 cm from one point to another in the plane z = `level`.
fn bar(name: &str, from: Vec3, to: Vec3) -> BodyDef {
    let along = to - from;
    let size = Vec3::new(along.norm(), 0.02, 0.02);
    let body = solid_box(name, from - Vec3::new(0.0, 0.01, 0.01), size, 1);
    let turn = Rotation3::rotation_between(&Vec3::x(), &along).unwrap().scaled_axis();
    turned(body, from, turn)
}

/// A crank, a coupler and a rocker on the ground: four parallel axes, of which a loop in space needs three equations less. The rocker's angle
/// follows from the crank's by the law of cosines.
#[test]
fn a_four_bar_linkage_moves_as_its_geometry_says() {
    let [crank, coupler, rocker, base] = [0.1, 0.3, 0.25, 0.3_f64];
    // the angle of the rocker for one of the crank
    let follower = |angle: f64| {
        let pin = crank * Vec3::new(angle.cos(), angle.sin(), 0.0);
        let to = pin - base * Vec3::x();
        let d = to.norm();
        let inner = (rocker * rocker + d * d - coupler * coupler) / (2.0 * rocker * d);
        to.y.atan2(to.x) - inner.acos()
    };
    let begin = 1.0_f64;
    let origin = Vec3::zeros();
    let pin = crank * Vec3::new(begin.cos(), begin.sin(), 0.0);
    let ground = base * Vec3::x();
    let other = follower(begin);
    let knee = ground + rocker * Vec3::new(other.cos(), other.sin(), 0.0);
    assert!(((knee - pin).norm() - coupler).abs() < 1e-12);
    let mut first = bar("crank", origin, pin);
    first.velocity = first.start.iter().map(|p| Vec3::new(0.0, 0.0, 12.0).cross(p)).collect();
    let mut definition = scene(vec![first, bar("coupler", pin, knee), bar("rocker", ground, knee)]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    definition.settings.contact.enabled = false;
    let revolute =
        |name, parent, child, at| joint(name, JointKind::Revolute, parent, child, at, Vec3::z());
    definition.joints = vec![
        revolute("crank", None, 0, origin),
        revolute("pin", Some(0), 1, pin),
        revolute("knee", Some(1), 2, knee),
        revolute("rocker", None, 2, ground),
    ];
    let steps = 100;
    let (reports, _) = closed(definition.clone(), 1e-8, steps);
    let mut range = [f64::INFINITY, f64::NEG_INFINITY];
    for report in &reports {
        let angle = of(report, "crank").angle.unwrap();
        range = [range[0].min(angle), range[1].max(angle)];
        let expected = follower(begin + angle) - other;
        let found = of(report, "rocker").angle.unwrap();
        let apart = std::f64::consts::TAU * ((found - expected) / std::f64::consts::TAU).round();
        assert!((found - expected - apart).abs() < 1e-6, "{found} instead of {expected}");
    }
    assert!(range[1] - range[0] > 3.0, "the crank turns by {range:?}");
    let taken = iterations(&reports);
    println!("{taken} iterations in {steps} steps to 1e-8 m/s");
    assert!(taken < 8 * steps as u64, "{taken} iterations");
    let taken = iterations(&defaults(definition, steps));
    println!("{taken} iterations in {steps} steps with the default settings");
    assert!(taken < 6 * steps as u64, "{taken} iterations");
}

/// Steps with the default settings and closed joints.
fn defaults(definition: Definition, steps: usize) -> Vec<StepReport> {
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut reports = Vec::new();
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success());
        let error = report.joint_error.unwrap();
        assert!(error < CLOSED, "step {}: a joint is open by {error:e}", report.step);
        reports.push(report);
    }
    assert!(simulation.audit().is_empty());
    reports
}

/// Forces of joints cancel: they change neither the momentum of two bodies nor, in the sense of implicit Euler, Σ m x_n+1 × (v_n+1 − v_n) = 0.
#[test]
fn joints_change_no_momentum() {
    for kind in [
        JointKind::Spherical,
        JointKind::Revolute,
        JointKind::Fixed,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Planar,
    ] {
        let size = Vec3::new(0.3, 0.1, 0.2);
        let spin = Vec3::new(1.0, 4.0, -2.0);
        let mut bodies = vec![
            solid_box("a", Vec3::zeros(), size, 1),
            solid_box("b", Vec3::new(0.35, 0.02, 0.03), 0.7 * size, 1),
        ];
        for (k, body) in bodies.iter_mut().enumerate() {
            let own = if k == 0 { Vec3::zeros() } else { Vec3::new(0.3, 0.2, 0.1) };
            body.velocity = body.rest.iter().map(|p| Vec3::x() + own + spin.cross(p)).collect();
        }
        let mut definition = scene(bodies);
        let point = Vec3::new(0.32, 0.05, 0.1);
        let axis = Vec3::new(1.0, 0.5, 0.2);
        definition.joints.push(joint("joint", kind, Some(0), 1, point, axis));
        definition.settings.solver.end.velocity = Some(1e-10);
        let mut simulation = Simulation::new(&definition).unwrap();
        let start =
            standoff_sim::energetics::linear_momentum(simulation.model(), simulation.state());
        for _ in 0..20 {
            let before = simulation.state().clone();
            let report = simulation.step().unwrap();
            assert!(report.joint_error.unwrap() < CLOSED);
            let (model, state) = (simulation.model(), simulation.state());
            let momentum = Vec3::from(report.linear_momentum);
            assert!((momentum - start).norm() < 1e-11 * start.norm(), "{kind:?}: {momentum}");
            let controls = model.bodies.iter().flat_map(|b| b.unknowns.clone());
            let parts =
                controls.map(|v| model.mass[v] * state.x[v].cross(&(state.v[v] - before.v[v])));
            let (sum, size) = parts.fold((Vec3::zeros(), 0.0), |(s, n), p| (s + p, n + p.norm()));
            assert!(sum.norm() < 1e-8 * size, "{kind:?}: {sum} of {size}");
        }
    }
}

/// A chain of 20 links that falls from the horizontal and swings, with the default settings.
#[test]
fn a_chain_takes_few_iterations() {
    for kind in [JointKind::Spherical, JointKind::Revolute] {
        let reports = defaults(chain(20, kind, Vec3::x()), 100);
        let taken = iterations(&reports);
        let most = reports.iter().map(|r| r.newton_iterations).max();
        println!("{kind:?}: {taken} iterations in 100 steps, at most {most:?}");
        assert!(taken < 100 * 6, "{taken} iterations");
    }
}

/// A pendulum that hits a soft cube and stops it from rolling on: joints hold, and nothing passes through anything.
#[test]
fn a_pendulum_hits_a_soft_cube() {
    let body = turned(hanging("a", Vec3::zeros()), Vec3::zeros(), -1.2 * Vec3::z());
    let cube = block("cube", [0.1, -0.36, -0.06], [2, 2, 2], 0.06);
    let mut definition = scene(vec![body, cube]);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    definition.half_spaces.push(ground(-0.361));
    definition.settings.friction.coefficient = 0.3;
    definition.joints.push(joint("pin", JointKind::Revolute, None, 0, Vec3::zeros(), Vec3::z()));
    let (reports, simulation) = closed(definition, 1e-4, 60);
    let touching = reports.iter().filter(|r| r.forces.bodies.contains_key("a")).count();
    println!("{touching} steps in contact, {} iterations", iterations(&reports));
    assert!(touching > 2);
    let moved = simulation.positions().last().unwrap().x - 0.22;
    assert!(moved > 0.01, "the cube moved by {moved}");
}

/// Joined bodies may overlap, unless the joint says that they touch each other; what a body is not joined with touches it.
#[test]
fn joined_bodies_overlap() {
    let size = Vec3::new(0.2, 0.05, 0.05);
    let at = |x: f64| solid_box(&format!("at {x}"), Vec3::new(x, 0.0, 0.0), size, 1);
    let elbow = |parent, child, x: f64| {
        let point = Vec3::new(x, 0.025, 0.025);
        joint(&format!("at {x}"), JointKind::Revolute, Some(parent), child, point, Vec3::z())
    };
    let mut definition = scene(vec![at(0.0), at(0.15), at(0.3)]);
    definition.joints = vec![elbow(0, 1, 0.175), elbow(1, 2, 0.325)];
    definition.settings.contact.d_hat = Some(1e-3);
    assert!(Simulation::new(&definition).is_ok());
    definition.joints[1].collide = true;
    let error = Simulation::new(&definition).err().unwrap().to_string();
    assert!(error.contains("not free of intersections"), "{error}");
    definition.joints.pop();
    let error = Simulation::new(&definition).err().unwrap().to_string();
    assert!(error.contains("not free of intersections"), "{error}");
}

/// Bodies whose motion is prescribed take others with them.
#[test]
fn a_driven_body_takes_others_along() {
    let mut definition = chain(3, JointKind::Spherical, -Vec3::y());
    definition.joints.remove(0);
    definition.prescribed.push(PrescribedDef::new(
        "drive",
        0,
        whole_surface(&definition.bodies[0]),
        Motion::Rigid {
            linear: Vec3::new(0.5, 0.0, 0.0),
            angular: Vec3::new(0.0, 0.0, 3.0),
            pivot: Pivot::StartCentre,
        },
    ));
    let (reports, simulation) = closed(definition.clone(), 1e-6, 50);
    let x = simulation.positions();
    let moved = centre(&definition.bodies[0], x)
        - centre(&definition.bodies[0], &definition.bodies[0].start);
    assert!((moved - Vec3::new(0.25, 0.0, 0.0)).norm() < 1e-12, "{moved}");
    println!("{} iterations", iterations(&reports));
    assert!(iterations(&reports) < 50 * 9);
}

/// Two bodies that are held apart cannot be joined: the step says which joint stays open.
#[test]
fn joints_that_cannot_be_closed_are_an_error() {
    let mut definition = chain(2, JointKind::Spherical, -Vec3::y());
    for (body, speed) in [(0, 0.0), (1, -1.0)] {
        definition.prescribed.push(PrescribedDef::new(
            format!("hold {body}"),
            body,
            whole_surface(&definition.bodies[body]),
            Motion::Rigid {
                linear: Vec3::new(0.0, speed, 0.0),
                angular: Vec3::zeros(),
                pivot: Pivot::StartCentre,
            },
        ));
    }
    let error = Simulation::new(&definition).unwrap().step().unwrap_err();
    assert!(matches!(&error, StepError::OpenJoint { joint, .. } if joint == "joint 1"), "{error}");
}

/// A run that was interrupted, and one with another number of threads, have the same bits.
#[test]
fn joints_are_reproducible() {
    let run = |threads: usize, restart: bool| {
        let mut definition = chain(6, JointKind::Revolute, Vec3::x());
        definition.half_spaces.push(ground(-0.3));
        definition.settings.friction.coefficient = 0.3;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulation = Simulation::new(&definition).unwrap();
            let mut contacts = 0;
            for k in 0..40 {
                contacts += simulation.step().unwrap().contacts;
                if restart && k % 10 == 7 {
                    let state = simulation.state().clone();
                    simulation = Simulation::restore(&definition, state).unwrap();
                }
            }
            assert!(contacts > 0);
            simulation.state().clone()
        })
    };
    let one = run(1, false);
    assert!(one == run(2, false) && one == run(2, true));
}

#[test]
fn what_joints_cannot_be_is_refused() {
    let error = |change: &dyn Fn(&mut Definition)| {
        let mut definition = chain(2, JointKind::Revolute, Vec3::x());
        change(&mut definition);
        Simulation::new(&definition).err().map(|e| e.to_string()).unwrap_or_default()
    };
    let expect = |found: String, parts: &[&str]| {
        assert!(parts.iter().all(|p| found.contains(p)), "{found}");
    };
    expect(
        error(&|d| d.bodies[1] = block("soft", [0.1, 0.0, 0.0], [1, 1, 1], 0.1)),
        &["joint 'joint 1'", "'soft' is not rigid"],
    );
    expect(
        error(&|d| d.joints[1].axis = Vec3::zeros()),
        &["joint 'joint 1'", "axis must not be zero"],
    );
    expect(error(&|d| d.joints[1].parent = Some(1)), &["joint 'joint 1'", "between two bodies"]);
    expect(error(&|d| d.joints[1].child = 2), &["joint 'joint 1'", "the index of a body"]);
    expect(error(&|d| d.joints[1].name = "joint 0".into()), &["another joint has the same name"]);
    let straight = error(&|d| d.settings.solver.method = Method::BarrierFree);
    expect(straight, &["joint 'joint 0'", "choose \"barrier\""]);
}

/// Time per step of long chains: `cargo test --release -p standoff-sim --test sim joints::chains -- --ignored --nocapture`.
#[test]
#[ignore = "prints the time of long chains"]
fn chains_of_many_links() {
    for links in [20, 100, 1000] {
        let start = std::time::Instant::now();
        let reports = defaults(chain(links, JointKind::Spherical, Vec3::x()), 50);
        let taken = iterations(&reports) as f64 / 50.0;
        let seconds = reports.iter().map(|r| r.seconds.total).sum::<f64>() / 50.0;
        let error = reports.iter().filter_map(|r| r.joint_error).fold(0.0, f64::max);
        println!(
            "{links} links: {taken:.1} iterations and {seconds:.4} s a step, joints open by {error:.1e}; {:.1} s in all",
            start.elapsed().as_secs_f64()
        );
    }
}
