//! Whole steps.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::{BodyDef, BodyKind};
use standoff_sim::report::StepOutcome;
use standoff_sim::settings::AuditLevel;
use standoff_sim::{Simulation, energetics};

#[test]
fn two_cubes_land_on_the_ground() {
    let mut definition = scene(vec![
        block("low", [0.0, 0.1, 0.0], [2, 2, 2], 0.5),
        block("high", [0.1, 1.3, 0.1], [2, 2, 2], 0.5),
    ]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.settings.time.step = 0.025;
    definition.settings.solver.audit = AuditLevel::EveryPath;
    definition.half_spaces.push(ground(0.0));
    definition.settings.friction.coefficient = 0.3;
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut most = 0;
    for _ in 0..60 {
        let report = simulation.step().unwrap();
        assert_eq!(report.outcome, StepOutcome::Converged);
        assert!(simulation.audit().is_empty());
        most = most.max(report.contacts);
    }
    assert!(most > 30, "the cubes never met ({most} contacts)");
}

/// A stiff block that turns by one radian per step, without contact: its steps start from where a rigid body
/// would go, so that none has to follow the turn by straight lines.
#[test]
fn a_body_in_flight_starts_from_its_rigid_motion() {
    let (spin, h) = (Vec3::new(20.0, -30.0, 35.0), 0.02);
    let mut body = block("block", [-0.2, -0.3, -0.1], [4, 6, 2], 0.1);
    if let BodyKind::Volume { material, .. } = &mut body.kind {
        material.young_modulus = 1e9;
    }
    body.velocity = body.rest.iter().map(|p| spin.cross(p)).collect();
    let mut definition = scene(vec![body]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(-3.0));
    definition.settings.time.step = h;
    definition.settings.solver.end.velocity = Some(1e-6);
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut iterations = Vec::new();
    for step in 1..=8 {
        let report = simulation.step().unwrap();
        assert_eq!(report.outcome, StepOutcome::Converged);
        iterations.push(report.newton_iterations);
        // the centre falls as it does without a turn: −g h² n(n+1)/2
        let momentum = energetics::linear_momentum(simulation.model(), simulation.state());
        let mass: f64 = simulation.model().mass.iter().sum();
        let fall = momentum.y / mass + 9.81 * h * f64::from(step);
        assert!(fall.abs() < 1e-5, "step {step}: {fall}");
    }
    println!("iterations {iterations:?}");
    assert!(iterations.iter().all(|n| *n <= 8), "{iterations:?}");
}

/// Particles without contact are where the step starts: one iteration finds nothing left to do.
#[test]
fn particles_in_flight_take_one_iteration() {
    let rest = (0..5).map(|k| Vec3::new(0.1 * f64::from(k), 1.0, 0.0)).collect();
    let kind = BodyKind::Particles { points: (0..5).collect(), radius: 0.01, density: 1000.0 };
    let cloud = BodyDef { name: "cloud".into(), rest, kind, ..BodyDef::default() };
    let mut definition = scene(vec![cloud]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    let mut simulation = Simulation::new(&definition).unwrap();
    for _ in 0..4 {
        let report = simulation.step().unwrap();
        assert_eq!((report.newton_iterations, report.outcome), (1, StepOutcome::Converged));
    }
}
