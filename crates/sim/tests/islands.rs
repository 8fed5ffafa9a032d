//! Islands: bodies that have reached their minimum rest while others go on, and nothing else changes.

use crate::common::{block, converge, difference, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::{BodyKind, Definition, FibreFamily};
use standoff_sim::material::Law;
use standoff_sim::material::fibres::{FibreDirection, FibreLaw};
use standoff_sim::material::inelastic::{Inelasticity, Plasticity, Relaxation};
use standoff_sim::report::StepReport;
use standoff_sim::{Simulation, energetics};

/// Tolerance of the tests, m/s.
const TOLERANCE: f64 = 1e-6;

/// Steps with and without islands.
fn run(mut definition: Definition, islands: bool, steps: usize) -> (Vec<StepReport>, Simulation) {
    definition.settings.solver.islands = islands;
    converge(definition, TOLERANCE, steps)
}

fn resting(reports: &[StepReport]) -> u64 {
    reports.iter().map(|r| r.resting_iterations).sum()
}

/// Blocks at different heights, of which a few hit the ground or the block below in a step.
fn rain() -> Definition {
    let bodies = (0..32).map(|k| {
        let (column, height) = (k % 4, 0.02 + 0.17 * f64::from(k / 4) + 0.01 * f64::from(k));
        let low = [0.3 * f64::from(column), height, 0.01 * f64::from(k)];
        let mut body = block(&format!("block {k}"), low, [1, 1, 1], 0.1);
        body.velocity = vec![Vec3::new(0.0, -1.0, 0.0); body.rest.len()];
        body
    });
    let mut definition = scene(bodies.collect());
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 0.01;
    definition.settings.friction.coefficient = 0.2;
    definition
}

#[test]
fn the_minimum_is_that_of_all_bodies_together() {
    let (apart, a) = run(rain(), true, 14);
    let (together, b) = run(rain(), false, 14);
    let iterations =
        |reports: &[StepReport]| -> u64 { reports.iter().map(|r| r.newton_iterations).sum() };
    println!(
        "{} of {} iterations with bodies at rest; {} without islands; difference {:.1e} m",
        resting(&apart),
        iterations(&apart),
        iterations(&together),
        difference(&a, &b)
    );
    assert!(apart.iter().any(|r| r.contacts > 20), "hardly anything touched");
    assert!(3 * resting(&apart) > iterations(&apart), "little rested");
    assert_eq!(resting(&together), 0);
    // each step ends within h ε of its minimum; contacts pass differences on
    let error = 14.0 * 0.01 * TOLERANCE;
    assert!(difference(&a, &b) < error, "{:e}", difference(&a, &b));
}

/// The same of blocks that yield and relax, with fibres, which rest with them.
#[test]
fn what_yields_and_relaxes_rests_too() {
    let plasticity = Plasticity {
        yield_stress: 2e3,
        hardening_modulus: 1e4,
        kinematic_modulus: 5e3,
        saturation_stress: None,
        saturation_rate: None,
    };
    let mut definition = rain();
    for body in &mut definition.bodies {
        let BodyKind::Volume { material, .. } = &mut body.kind else { panic!("a volume") };
        material.law = Law::Volumetric;
        let direction = FibreDirection::Along(Vec3::new(1.0, 2.0, 0.0));
        let law = FibreLaw { stiffness: 2e4, exponent: 1.0 };
        body.fibres = vec![FibreFamily { direction, law, tension: None }];
        body.inelastic = vec![
            Inelasticity::Yielding(plasticity),
            Inelasticity::Relaxing(Relaxation { ratio: 0.5, time: 0.02 }),
        ];
    }
    let (apart, a) = run(definition.clone(), true, 8);
    let (_, b) = run(definition, false, 8);
    assert!(resting(&apart) > 20, "{}", resting(&apart));
    assert!(a.plastic_strains().iter().any(|s| *s > 1e-3));
    let error = 8.0 * 0.01 * TOLERANCE;
    assert!(difference(&a, &b) < error, "{:e}", difference(&a, &b));
}

/// A block moves towards one that lies still, far from a third one that falls on the ground.
fn billiards() -> Definition {
    let mut flying = block("flying", [0.0, 1.0, 0.0], [1, 1, 1], 0.1);
    flying.velocity = vec![Vec3::new(8.0, 0.0, 0.0); flying.rest.len()];
    let still = block("still", [0.55, 1.03, 0.02], [1, 1, 1], 0.1);
    let others = (0..8)
        .map(|k| block(&format!("other {k}"), [0.3 * f64::from(k), 3.0, 0.0], [1, 1, 1], 0.1));
    let mut definition = scene([flying, still].into_iter().chain(others).collect());
    definition.settings.time.step = 0.02;
    definition
}

#[test]
fn a_body_that_is_hit_takes_up_the_momentum() {
    let (reports, simulation) = run(billiards(), true, 6);
    assert!(reports.iter().any(|r| r.contacts > 0), "they never met");
    let mass = 1000.0 * 0.1_f64.powi(3);
    let momentum = energetics::linear_momentum(simulation.model(), simulation.state());
    println!("{momentum:?}, resting {}", resting(&reports));
    // the mass of a body times the tolerance and the number of steps
    let error = (momentum - Vec3::new(8.0 * mass, 0.0, 0.0)).norm();
    assert!(error < 10.0 * 6.0 * mass * TOLERANCE, "{error:e}");
    let hit = &simulation.model().bodies[1].vertices;
    assert!(simulation.velocities()[hit.clone()].iter().all(|v| v.x > 1.0));
    assert!(resting(&reports) > 0, "the others never rested");
}

/// Shells with a limit of their stretch decide on its stiffness together, so that none rests; nor does any of a single body.
#[test]
fn where_all_bodies_decide_together_none_rests() {
    let mut definition = rain();
    definition.settings.solver.end.cumulative_toi = Some(1e-3);
    let mut simulation = Simulation::new(&definition).unwrap();
    let reports: Vec<_> = (0..6).map(|_| simulation.step().unwrap()).collect();
    assert!(reports.iter().any(|r| r.contacts > 0) && resting(&reports) == 0);
    let mut definition = rain();
    definition.bodies.truncate(1);
    assert!(matches!(definition.bodies[0].kind, BodyKind::Volume { .. }));
    let (reports, _) = run(definition, true, 6);
    assert!(reports.iter().any(|r| r.contacts > 0) && resting(&reports) == 0);
}
