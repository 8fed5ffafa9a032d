//! Energy and momentum in impacts with Newmark.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::{BodyDef, BodyKind, Definition, Motion, Pivot, PrescribedDef};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::Integrator;
use standoff_sim::{Simulation, energetics};

const SPEED: f64 = 0.5;

/// A bar of linear elasticity (wave speed 10 m/s), along y from `low`, with a velocity along y.
fn bar(name: &str, low: [f64; 3], velocity: f64) -> BodyDef {
    let mut bar = block(name, low, [1, 8, 1], 0.125);
    bar.velocity = vec![Vec3::new(0.0, velocity, 0.0); bar.rest.len()];
    if let BodyKind::Volume { material, .. } = &mut bar.kind {
        let law = Law::CorotatedLinear;
        *material = Material { law, young_modulus: 1e5, poisson_ratio: 0.0 };
    }
    bar
}

/// A bar against a half-space, or two bars against each other, aside by a part of a cell.
fn collision(two: bool) -> Definition {
    let mut definition = match two {
        false => scene(vec![bar("bar", [0.0, 0.02, 0.0], -SPEED)]),
        true => scene(vec![
            bar("upper", [0.03, 0.02, 0.02], -SPEED),
            bar("lower", [0.0, -1.0, 0.0], SPEED),
        ]),
    };
    if !two {
        definition.half_spaces.push(ground(0.0));
    }
    definition.settings.time.step = 2e-3;
    definition.settings.time.integrator = Integrator::Newmark;
    definition.settings.contact.d_hat = Some(2.5e-3);
    definition.settings.contact.stiffness = Some(1e10);
    definition.settings.solver.velocity_tolerance = Some(1e-7);
    definition
}

/// Runs beyond the rebound: the largest growth of the total energy in a step and over the run, over the
/// energy at the start, and the momentum along y at start and end, kg m/s.
fn run(definition: &Definition) -> (f64, f64, [f64; 2]) {
    let mut simulation = Simulation::new(definition).unwrap();
    let momentum = |s: &Simulation| energetics::linear_momentum(s.model(), s.state()).y;
    let start = momentum(&simulation);
    let (mut touched, mut step_growth) = (false, f64::NEG_INFINITY);
    let first = energetics::kinetic_energy(simulation.model(), simulation.state());
    let mut before = first;
    for _ in 0..160 {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success());
        touched |= report.contacts > 0;
        let energy = report.kinetic_energy + report.elastic_energy + report.contact_energy;
        step_growth = step_growth.max((energy - before) / first);
        before = energy;
        if energy > 10.0 * first {
            break;
        }
    }
    assert!(touched);
    (step_growth, before / first - 1.0, [start, momentum(&simulation)])
}

/// The work of contact forces that are taken at the end of the step is at most what the barrier loses,
/// and elasticity by the trapezoidal rule keeps its energy. Contact by the trapezoidal rule gains.
#[test]
fn an_impact_takes_energy() {
    let (step, all, momentum) = run(&collision(false));
    println!("wall: largest growth {step:.1e} in a step, {all:.4} in all, momentum {momentum:?}");
    assert!(step < 1e-6 && all < 0.0 && all > -0.3, "{step:e} {all}");
    assert!(momentum[1] > -0.8 * momentum[0], "{momentum:?}");
    let mut trapezoidal = collision(false);
    trapezoidal.settings.time.trapezoidal_contact = true;
    let (step, all, _) = run(&trapezoidal);
    println!("by the trapezoidal rule: {step:.1e} in a step, {all:.4} in all");
    assert!(step > 1e-3, "{step:e}");
}

#[test]
fn a_collision_takes_energy_and_no_momentum() {
    let definition = collision(true);
    let (step, all, momentum) = run(&definition);
    let each = 1000.0 * 0.125 * 0.125 * SPEED;
    println!(
        "two bars: largest growth {step:.1e} in a step, {all:.4} in all, momentum {momentum:?}"
    );
    assert!(step < 1e-4 && all < 0.0 && all > -0.3, "{step:e} {all}");
    assert!((momentum[1] - momentum[0]).abs() < 1e-9 * each, "{momentum:?}");
}

/// Newmark's own velocity 2Δx/h − v would swing between 0 and twice that of a motion that sets in at
/// once; friction on such vertices and their release see that of the motion.
#[test]
fn prescribed_vertices_have_the_velocity_of_their_motion() {
    let mut definition = scene(vec![block("block", [0.0; 3], [2, 1, 1], 0.1)]);
    definition.settings.time.integrator = Integrator::Newmark;
    let linear = Vec3::new(0.3, 0.0, 0.0);
    definition.prescribed.push(PrescribedDef {
        name: "pull".into(),
        body: 0,
        vertices: vec![0, 1, 2, 3],
        motion: Motion::Rigid { linear, angular: Vec3::zeros(), pivot: Pivot::StartCentre },
        t0: 0.0,
        t1: f64::INFINITY,
        until: None,
    });
    let mut simulation = Simulation::new(&definition).unwrap();
    for _ in 0..4 {
        simulation.step().unwrap();
        assert!(simulation.velocities()[..4].iter().all(|v| (v - linear).norm() < 1e-12));
    }
}
