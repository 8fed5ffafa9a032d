//! Forces and moments on what is held, moved, loaded and touched: against statics, and the balance of momentum.

use crate::common::{block, grid, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::{
    Anchor, AttachmentDef, BodyDef, BodyKind, Definition, Dimension, ForceDef, HalfSpaceDef, Load,
    Motion, Pivot, PrescribedDef, SpringStiffness, StitchDef, StitchPair,
};
use standoff_sim::energy::rod_joint::RodMaterial;
use standoff_sim::expression::{Expression, VectorExpression};
use standoff_sim::material::{Law, Material};
use standoff_sim::report::Forces;
use standoff_sim::settings::{Integrator, Method};
use standoff_sim::{Simulation, State};

const G: f64 = 9.81;
const FOREVER: [f64; 2] = [0.0, f64::INFINITY];

fn chosen(body: &BodyDef, holds: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|&v| holds(&body.rest[v as usize])).collect()
}

fn held(name: &str, body: usize, vertices: Vec<u32>, motion: Motion) -> PrescribedDef {
    PrescribedDef::new(name, body, vertices, motion)
}

fn moved(translation: [&str; 3]) -> Motion {
    Motion::Expression {
        translation: VectorExpression(translation.map(|t| Expression::parse(t).unwrap())),
        axis: Vec3::z(),
        angle: Expression::constant(0.0),
        pivot: Pivot::StartCentre,
    }
}

fn force(name: &str, vertices: Vec<u32>, load: Load) -> ForceDef {
    let [t0, t1] = FOREVER;
    ForceDef { name: name.into(), body: 0, vertices, load, t0, t1 }
}

fn plate(name: &str, low: [f64; 2], high: [f64; 2], y: f64) -> BodyDef {
    let corner = |x: f64, z: f64| Vec3::new(x, y, z);
    BodyDef {
        name: name.into(),
        rest: vec![
            corner(low[0], low[1]),
            corner(high[0], low[1]),
            corner(high[0], high[1]),
            corner(low[0], high[1]),
        ],
        kind: BodyKind::Obstacle {
            triangles: vec![[0, 2, 1], [0, 3, 2]],
            edges: Vec::new(),
            points: Vec::new(),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    }
}

fn with_law(mut body: BodyDef, law: Law, young_modulus: f64, poisson_ratio: f64) -> BodyDef {
    if let BodyKind::Volume { material, .. } = &mut body.kind {
        *material = Material { law, young_modulus, poisson_ratio };
    }
    body
}

fn quasi_static(bodies: Vec<BodyDef>) -> Definition {
    let mut definition = scene(bodies);
    definition.settings.time.integrator = Integrator::QuasiStatic;
    definition.settings.solver.end.velocity = Some(1e-9);
    definition
}

fn mass(simulation: &Simulation) -> f64 {
    let model = simulation.model();
    (0..model.vertex_count()).filter(|v| model.deformable[*v]).map(|v| model.mass[v]).sum()
}

/// The forces of the last of some steps.
fn after(definition: &Definition, steps: usize) -> (Forces, Simulation) {
    let mut simulation = Simulation::new(definition).unwrap();
    let mut last = Forces::default();
    for _ in 0..steps {
        last = simulation.step().unwrap().forces;
    }
    (last, simulation)
}

fn close(found: [f64; 3], expected: Vec3, tolerance: f64) {
    let error = (Vec3::from(found) - expected).norm();
    assert!(error < tolerance, "{found:?} instead of {expected:?}: {error:e}");
}

#[test]
fn a_hanging_block_pulls_with_its_weight() {
    let body = block("block", [1.0, 0.0, 0.5], [2, 2, 2], 0.1);
    let top = chosen(&body, |p| p.y > 0.19);
    let mut definition = quasi_static(vec![body]);
    definition.gravity = -G * Vec3::y();
    definition.prescribed.push(held("block.top", 0, top, Motion::Fixed));
    let (forces, simulation) = after(&definition, 3);
    let weight = mass(&simulation) * G;
    close(forces.held["block.top"].force, weight * Vec3::y(), 1e-7 * weight);
    let model = simulation.model();
    let moment: Vec3 = (0..model.vertex_count())
        .map(|v| simulation.positions()[v].cross(&(model.mass[v] * G * Vec3::y())))
        .sum();
    close(forces.held["block.top"].torque, moment, 1e-7 * weight);
    assert_eq!(forces.held["block.top"].displacement, [0.0; 3]);
    // nothing touches it
    assert!(forces.bodies.is_empty() && forces.half_spaces.is_empty());
}

#[test]
fn a_pressed_block_pushes_alike_on_the_plate_and_on_its_clamp() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let body = block("block", [0.0; 3], [2, 2, 2], 0.1);
        let bottom = chosen(&body, |p| p.y < 0.01);
        let mut definition = quasi_static(vec![body, plate("plate", [-1.0; 2], [1.0; 2], 0.205)]);
        definition.settings.solver.method = method;
        definition.settings.time.step = 0.1;
        definition.settings.contact.d_hat = Some(2e-3);
        definition.settings.friction.coefficient = 0.3;
        definition.prescribed.push(held("block.clamp", 0, bottom, Motion::Fixed));
        let down = moved(["0.01*t", "-0.05*t", "0"]);
        definition.prescribed.push(held("plate.press", 1, vec![0, 1, 2, 3], down));
        let (forces, simulation) = after(&definition, 4);
        let on_plate = Vec3::from(forces.obstacles["plate"].force);
        assert!(on_plate.y > 10.0 && on_plate.x.abs() > 1.0, "{method:?} {on_plate:?}");
        let scale = 1e-6 * on_plate.norm();
        let [clamp, press] = ["block.clamp", "plate.press"].map(|name| forces.held[name]);
        close(clamp.force, on_plate, scale);
        close(press.force, -on_plate, 1e-12 * on_plate.norm());
        close(forces.bodies["block"].force, -on_plate, 1e-12 * on_plate.norm());
        close(press.torque, -Vec3::from(forces.obstacles["plate"].torque), scale);
        // where something is in the way, motions end within 0.1 % of a step's way
        close(press.displacement, Vec3::new(0.004, -0.02, 0.0), 1e-5);
        let sums: Vec3 = simulation.contact_forces()[27..].iter().sum();
        close(forces.obstacles["plate"].force, sums, 1e-12 * scale);
    }
}

#[test]
fn a_bar_in_tension_has_the_stiffness_ea_over_l() {
    let (young, length, area, strain) = (1e6, 1.0, 0.04, 1e-6);
    let bar = block("bar", [0.0; 3], [10, 2, 2], 0.1);
    let bar = with_law(bar, Law::NeoHookean, young, 0.0);
    let [left, right] = [0.0, length].map(|x| chosen(&bar, |p| (p.x - x).abs() < 1e-6));
    let mut definition = quasi_static(vec![bar]);
    definition.settings.solver.end.velocity = Some(1e-13);
    definition.settings.time.step = 1.0;
    definition.prescribed.push(held("bar.left", 0, left, Motion::Fixed));
    definition.prescribed.push(held("bar.right", 0, right, moved(["1e-6*t", "0", "0"])));
    let (forces, _) = after(&definition, 1);
    let pull = young * area * strain * Vec3::x();
    close(forces.held["bar.right"].force, pull, 1e-5 * pull.norm());
    close(forces.held["bar.left"].force, -pull, 1e-5 * pull.norm());
    close(forces.held["bar.right"].displacement, strain * Vec3::x(), 1e-12);
    // about the origin, which is at a corner of the cross-section
    let moment = Vec3::new(0.0, 0.1, 0.1).cross(&pull);
    close(forces.held["bar.right"].torque, moment, 1e-5 * pull.norm());
}

#[test]
fn an_eccentric_load_is_borne_by_the_clamp_with_its_moment() {
    let bar = block("bar", [0.0; 3], [6, 1, 1], 0.1);
    let root = chosen(&bar, |p| p.x < 0.01);
    let corner = chosen(&bar, |p| p.x > 0.59 && p.y > 0.09 && p.z > 0.09);
    let mut definition = quasi_static(vec![bar]);
    definition.prescribed.push(held("bar.root", 0, root, Motion::Fixed));
    let pull = Vec3::new(0.02, -0.05, 0.03);
    let load = Load::Force(pull.into());
    definition.forces.push(force("bar.corner", corner.clone(), load));
    let (forces, simulation) = after(&definition, 6);
    let arm = simulation.positions()[corner[0] as usize];
    close(forces.loads["bar.corner"].force, pull, 1e-15);
    close(forces.loads["bar.corner"].torque, arm.cross(&pull), 1e-15);
    close(forces.held["bar.root"].force, -pull, 1e-8);
    close(forces.held["bar.root"].torque, -arm.cross(&pull), 1e-8);
}

#[test]
fn pressure_acts_on_the_middle_of_what_it_presses() {
    let (p, cell) = (30.0, 0.1);
    let body = block("block", [0.5, 0.0, 0.0], [2, 2, 2], cell);
    let [side, whole] = [0.69, 0.0].map(|x| chosen(&body, |p| p.x > x));
    let mut definition = scene(vec![body]);
    definition.settings.time.step = 1e-6;
    let pressure = || Load::Pressure(Expression::constant(p));
    definition.forces.push(force("block.side", side, pressure()));
    definition.forces.push(force("block.whole", whole, pressure()));
    let (forces, _) = after(&definition, 1);
    let push = -p * (2.0 * cell) * (2.0 * cell) * Vec3::x();
    close(forces.loads["block.side"].force, push, 1e-6);
    let middle = Vec3::new(0.7, cell, cell);
    close(forces.loads["block.side"].torque, middle.cross(&push), 1e-6);
    close(forces.loads["block.whole"].force, Vec3::zeros(), 1e-12);
    close(forces.loads["block.whole"].torque, Vec3::zeros(), 1e-12);
}

/// A jaw that holds one end of a block, swings and lifts, with loads of every kind on the block, damping, and a floor that
/// it drags over.
fn gripped(integrator: Integrator) -> Definition {
    let body = block("block", [0.0, 0.002, 0.0], [3, 2, 2], 0.1);
    let vertices = (0..body.rest.len() as u32).collect::<Vec<_>>();
    let jaw = chosen(&body, |p| p.x < 0.01);
    // without inertia nothing but this holds the other block
    let far = vec![4, 5, 6, 7];
    let side = chosen(&body, |p| p.z > 0.19);
    let edge = chosen(&body, |p| p.x > 0.29 && p.y > 0.19);
    let other = block("other", [0.32, 0.15, 0.0], [1, 1, 1], 0.1);
    let mut d = scene(vec![body, other]);
    d.gravity = -G * Vec3::y();
    d.half_spaces.push(ground(0.0));
    d.settings.time.step = 0.01;
    d.settings.time.integrator = integrator;
    d.settings.time.stiffness_damping = 1e-3;
    d.settings.contact.d_hat = Some(5e-3);
    d.settings.friction.coefficient = 0.4;
    d.settings.solver.end.velocity = Some(1e-10);
    let motion = moved(["0.02*sin(20*t)", "0.01*(1-cos(10*t))", "0"]);
    d.prescribed.push(held("block.jaw", 0, jaw, motion));
    d.prescribed.push(held("other.far", 1, far, Motion::Fixed));
    d.forces.push(force("block.wind", vertices, Load::Force(Vec3::new(1.0, 0.0, 2.0).into())));
    let pressure = Load::Pressure(Expression::constant(50.0));
    d.forces.push(force("block.side", side.clone(), pressure));
    let [t0, t1] = FOREVER;
    d.attachments.push(AttachmentDef {
        name: "band".into(),
        body: 0,
        vertices: side,
        anchor: Anchor::Point(Vec3::new(0.1, 0.4, 0.5)),
        distance: f64::INFINITY,
        stiffness: SpringStiffness::PerSpring(5.0),
        rest_length: Some(0.1),
        t0,
        t1,
    });
    let pair = StitchPair { vertex: edge[0], ends: [0, 1], weight: 0.25 };
    d.stitches.push(StitchDef {
        name: "seam".into(),
        bodies: [0, 1],
        pairs: vec![pair],
        stiffness: 200.0,
        rest_length: 0.0,
        t0,
        t1,
    });
    d
}

fn momentum(simulation: &Simulation, state: &State, body: usize) -> Vec3 {
    let model = simulation.model();
    let vertices = model.bodies[body].vertices.clone();
    vertices.map(|v| model.mass[v] * state.v[v]).sum()
}

/// The rate of change of the momentum of the first body between three states, as an integrator sees it, N.
fn rate(simulation: &Simulation, states: [&State; 3], integrator: Integrator) -> Vec3 {
    let h = simulation.model().resolved.h;
    let [older, old, new] = states.map(|s| momentum(simulation, s, 0));
    match integrator {
        Integrator::Bdf2 if states[2].step > 1 => (3.0 * new - 4.0 * old + older) / (2.0 * h),
        Integrator::QuasiStatic => Vec3::zeros(),
        _ => (new - old) / h,
    }
}

#[test]
fn momentum_changes_by_all_reported_forces() {
    let member = Integrator::AlphaBetaGamma;
    for (integrator, alpha, beta) in [
        (Integrator::ImplicitEuler, 1.0, 0.5),
        (Integrator::Bdf2, 1.0, 0.5),
        (Integrator::Newmark, 1.0, 0.5),
        (Integrator::ImplicitMidpoint, 1.0, 0.5),
        (member, 1.0, 0.8),
        (member, 0.5, 1.0),
        (Integrator::QuasiStatic, 1.0, 0.5),
    ] {
        let mut definition = gripped(integrator);
        (definition.settings.time.alpha, definition.settings.time.beta) = (alpha, beta);
        balances(&definition, integrator);
        definition.settings.friction.coefficient = 0.0;
        definition.settings.time.stiffness_damping = 0.0;
        balances(&definition, integrator);
    }
}

fn balances(definition: &Definition, integrator: Integrator) {
    let mut simulation = Simulation::new(definition).unwrap();
    let (mut older, mut old) = (simulation.state().clone(), simulation.state().clone());
    let model = simulation.model();
    let own: f64 = model.mass[model.bodies[0].vertices.clone()].iter().sum();
    let gravity = definition.gravity * own;
    let mut before: Option<Vec3> = None;
    let mut contact = 0.0_f64;
    for _ in 0..8 {
        let forces = simulation.step().unwrap().forces;
        let state = simulation.state().clone();
        let of = |r: &standoff_sim::report::Resultant| Vec3::from(r.force);
        let loads: Vec3 = forces.loads.values().map(of).sum();
        let touch = forces.bodies.get("block").map(of).unwrap_or_default();
        let held = Vec3::from(forces.held["block.jaw"].force);
        // Newmark takes half of the loads from the start of the step
        let new = definition.settings.time.scheme().new_part();
        let applied = new * loads + (1.0 - new) * before.unwrap_or_default();
        let rate = rate(&simulation, [&older, &old, &state], integrator);
        let sum = held + applied + touch + gravity;
        let scale = held.norm() + applied.norm() + touch.norm() + gravity.norm() + rate.norm();
        let error = (sum - rate).norm() / scale;
        // the loads at the start of the first step are not reported
        if new == 1.0 || before.is_some() {
            assert!(error < 1e-10, "{integrator:?} step {}: {error:e}", state.step);
        }
        assert_eq!(forces.loads.len(), 4, "{:?}", forces.loads.keys());
        assert!(forces.loads.values().all(|l| of(l).norm() > 1e-3), "{:?}", forces.loads);
        contact = contact.max(Vec3::from(forces.half_spaces["ground"].force).norm());
        (older, old, before) = (old, state, Some(loads));
    }
    assert!(contact > 1.0, "it never touched the floor: {contact:e}");
}

#[test]
fn both_clamps_of_a_twisted_shaft_bear_its_torque() {
    let (n, radius, angle) = (10, 0.01, 1.5);
    let material = RodMaterial { radius, young_modulus: 1e9, poisson_ratio: 0.3 };
    let points: Vec<Vec3> = (0..=n).map(|k| Vec3::x() * (k as f64 / n as f64)).collect();
    let shaft = BodyDef {
        name: "shaft".into(),
        rest: points,
        kind: BodyKind::Rod {
            segments: (0..n).map(|k| [k, k + 1]).collect(),
            material,
            density: 1000.0,
            straight: false,
            natural_twist: 0.0,
        },
        ..BodyDef::default()
    };
    let mut d = quasi_static(vec![shaft]);
    (d.settings.time.step, d.settings.contact.d_hat) = (1.0, Some(1e-6));
    let turn = Motion::Rigid {
        linear: Vec3::zeros(),
        angular: angle * Vec3::x(),
        pivot: Pivot::Point(Vec3::zeros()),
    };
    d.prescribed.push(held("shaft.root", 0, vec![0, 1], Motion::Fixed));
    d.prescribed.push(held("shaft.tip", 0, vec![n - 1, n], turn));
    let torque = material.twisting_stiffness() * angle / 0.9 * Vec3::x();
    let (forces, _) = after(&d, 1);
    close(forces.held["shaft.tip"].torque, torque, 1e-6 * torque.norm());
    close(forces.held["shaft.root"].torque, -torque, 1e-6 * torque.norm());
    // bent and twisted: the moments balance, too
    d.forces.push(force("shaft.middle", vec![5], Load::Force(Vec3::new(0.0, 0.3, 0.1).into())));
    let (forces, _) = after(&d, 2);
    let sum: Vec3 = forces.held.values().map(|h| Vec3::from(h.torque)).sum();
    let load = Vec3::from(forces.loads["shaft.middle"].torque);
    close((-sum).into(), load, 1e-6 * torque.norm());
    assert!(load.norm() > 0.05, "{load:?}");
}

#[test]
fn in_two_dimensions_forces_are_per_metre_of_depth() {
    let body = grid("block", [3, 3], |i, j| [0.1 * i as f64, 0.1 * j as f64]);
    let bottom = chosen(&body, |p| p.y < 0.01);
    let mut definition = quasi_static(vec![body]);
    definition.dimension = Dimension::Two;
    definition.gravity = -G * Vec3::y();
    definition.prescribed.push(held("block.bottom", 0, bottom, Motion::Fixed));
    let (forces, _) = after(&definition, 3);
    let weight = 1000.0 * 0.3 * 0.3 * G;
    close(forces.held["block.bottom"].force, weight * Vec3::y(), 1e-7 * weight);
    // symmetric but for its triangles
    let torque = forces.held["block.bottom"].torque;
    close(torque, 0.15 * weight * Vec3::z(), 0.02 * weight);
}

#[test]
fn a_motion_that_rests_and_an_obstacle_with_a_spring() {
    let body = block("block", [0.0; 3], [1, 1, 1], 0.1);
    let far = plate("anchor", [-0.05; 2], [0.15; 2], 0.5);
    let mut definition = scene(vec![body, far]);
    definition.settings.time.step = 0.01;
    let mut early = held("block.early", 0, vec![0, 1], Motion::Fixed);
    early.t1 = 0.015;
    definition.gravity = -G * Vec3::y();
    definition.prescribed.push(early);
    definition.prescribed.push(held("anchor.still", 1, vec![0, 1, 2, 3], Motion::Fixed));
    let [t0, t1] = FOREVER;
    definition.attachments.push(AttachmentDef {
        name: "cord".into(),
        body: 0,
        vertices: vec![2],
        anchor: Anchor::Surface(vec![(1, vec![0, 1, 2, 3])]),
        distance: f64::INFINITY,
        stiffness: SpringStiffness::PerSpring(100.0),
        rest_length: Some(0.2),
        t0,
        t1,
    });
    let mut simulation = Simulation::new(&definition).unwrap();
    for step in 1..=4 {
        let forces = simulation.step().unwrap().forces;
        let early = forces.held["block.early"];
        assert_eq!(early.force != [0.0; 3], step <= 2, "step {step}: {early:?}");
        assert_eq!(early.displacement != [0.0; 3], step > 2, "step {step}: {early:?}");
        let cord = forces.loads["cord"];
        assert!(cord.force[1] > 10.0, "{cord:?}");
        // the cord pulls down what it hangs from
        close(forces.held["anchor.still"].force, cord.force.into(), 1e-12);
        close(forces.held["anchor.still"].torque, cord.torque.into(), 1e-12);
    }
}

#[test]
fn names_are_unique_and_large_groups_are_not_listed() {
    let body = block("block", [0.0; 3], [1, 1, 1], 0.1);
    let mut definition = scene(vec![body]);
    for vertices in [vec![0], vec![1], vec![2]] {
        definition.prescribed.push(held("block.pin", 0, vertices, Motion::Fixed));
    }
    let far = |k: usize| HalfSpaceDef { name: format!("floor {k}"), ..ground(-1.0 - k as f64) };
    definition.half_spaces = (0..100).map(far).collect();
    let (forces, _) = after(&definition, 1);
    let names: Vec<&str> = forces.held.keys().map(String::as_str).collect();
    assert_eq!(names, ["block.pin", "block.pin#2", "block.pin#3"]);
    assert_eq!(forces.half_spaces.len(), 100);
    definition.half_spaces.push(far(100));
    let (forces, simulation) = after(&definition, 1);
    assert!(forces.half_spaces.is_empty());
    assert_eq!(simulation.state().half_space_forces.len(), 101);
}
