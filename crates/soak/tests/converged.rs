//! What a step that is called converged is worth: random steps and a press against the same steps solved far more accurately.
//! `benches/examples/true_error.rs` measures the same on more of them.

#[path = "support/accurate.rs"]
mod accurate;
#[path = "support/press.rs"]
mod press;

use accurate::{Accurate, errors};
use standoff_scene::Scene;
use standoff_sim::definition::Definition;
use standoff_sim::settings::{Integrator, Method};
use standoff_sim::{Simulation, StepOutcome};
use std::path::Path;

/// The default velocity tolerance, m/s per metre of a body.
const TOLERANCE: f64 = 1e-2;

/// Errors below this, 1/s, are not compared with what is reported.
const FLOOR: f64 = 1e-6;

/// A step that is called converged.
#[derive(Debug)]
struct Step {
    place: String,
    /// Error of the positions, and what the step reports of it, 1/s.
    speed: f64,
    reported: f64,
    /// Error of the contact forces.
    force: f64,
}

/// The errors of the steps of a scene with default tolerances that are called converged.
fn steps(name: &str, mut definition: Definition, method: Method, count: usize) -> Vec<Step> {
    definition.settings.solver.method = method;
    definition.settings.solver.end.velocity_relative = TOLERANCE;
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut accurate = Accurate::new(&definition).unwrap();
    let mut found = Vec::new();
    for step in 1..=count.min(simulation.model().resolved.steps) {
        let start = simulation.state().clone();
        let Ok((report, mut reference)) = accurate.step(&mut simulation) else { break };
        let (model, end) = (simulation.model(), simulation.state());
        if !reference.is_accurate {
            reference = accurate.again(&start, &report);
        }
        if !reference.is_accurate {
            continue;
        }
        let (Some(exact), StepOutcome::Converged) = (reference.state, report.outcome) else {
            continue;
        };
        let errors = errors(model, &start, end, &exact);
        let unit = model.resolved.velocity_tolerance / TOLERANCE;
        found.push(Step {
            place: format!("{name}, step {step} by {method:?}"),
            speed: errors.speed,
            reported: report.residual_speed / unit,
            force: errors.force,
        });
    }
    found
}

/// The errors of the first steps of a random scene.
fn of_seed(seed: u64, method: Method, count: usize) -> Vec<Step> {
    let text = standoff_soak::generate::scene(seed);
    let scene = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    steps(&format!("seed {seed}"), scene.definition, method, count)
}

/// Random scenes, three steps each, against the minima that belong to their ends. Seeds before these take long.
#[test]
fn steps_of_random_scenes_are_as_accurate_as_they_report() {
    let all: Vec<Step> = (14..=45).flat_map(|seed| of_seed(seed, Method::Barrier, 3)).collect();
    assert!(all.len() >= 80, "only {} steps were judged", all.len());
    assert_accurate(&all);
}

/// Random scenes in which the barrier-free method once reported too little: where its multipliers, the curvature of contacts or projection made it slow.
#[test]
fn steps_of_the_barrier_free_method_are_as_accurate_as_they_report() {
    let seeds = [52, 83, 94, 155, 164, 165, 196, 226, 278, 284];
    let all: Vec<Step> =
        seeds.into_iter().flat_map(|seed| of_seed(seed, Method::BarrierFree, 5)).collect();
    assert!(all.len() >= 40, "only {} steps were judged", all.len());
    assert_accurate(&all);
}

/// Where digits of the positions hide what is left, a minimisation far below the default tolerance ends as soon as more updates of multipliers do not
/// help: every step of these scenes finds the minimum that belongs to it.
#[test]
fn minima_of_the_barrier_free_method_are_found_to_the_end_of_digits() {
    for (seed, count) in [(34, 2), (39, 5), (135, 3)] {
        let all = of_seed(seed, Method::BarrierFree, count);
        assert_eq!(all.len(), count, "seed {seed}: {all:?}");
    }
}

/// Errors are at most twice what is reported, and contact forces within 1 %.
fn assert_accurate(all: &[Step]) {
    for Step { place, speed, reported, force } in all {
        let bound = (2.0 * reported).max(FLOOR);
        assert!(*speed <= bound, "{place}: error {speed}, reported {reported}");
        assert!(*speed <= TOLERANCE, "{place}: error {speed}");
        assert!(*force <= 0.01, "{place}: contact forces are wrong by {force} of themselves");
    }
}

/// A press of rubber and of steel with every integrator.
#[test]
fn the_contact_force_of_a_press_is_the_exact_one() {
    let mut count = 0;
    for case in press::series(false) {
        for step in steps(&case.name(), case.definition(), Method::Barrier, 3) {
            count += 1;
            let Step { place, force, .. } = step;
            let integrator = case.integrator;
            assert!(force <= 0.01, "{place} with {integrator:?}: wrong by {force} of itself");
        }
    }
    assert!(count >= 20, "only {count} steps were judged");
}

/// Steel that a plate presses so slowly that inertia is nothing beside its stiffness: the motion is not blocked, and the force is that of the
/// quasi-static press. The constraints that pull the plate and κ were weak beside steel, as both followed from masses alone.
#[test]
fn a_slow_press_of_steel_goes_on_with_the_force_of_a_quasi_static_one() {
    // the force on the plate after three steps, and κ
    let pressed = |name: &str, definition: &Definition| {
        let mut simulation = Simulation::new(definition).unwrap();
        for _ in 0..3 {
            assert_eq!(simulation.step().unwrap().outcome, StepOutcome::Converged, "{name}");
        }
        (press::force(simulation.model(), simulation.state()).unwrap(), simulation.state().kappa)
    };
    let slow = |case: &press::Case| case.young >= 1e10 && case.speed == 1e-3;
    for case in press::series(true).into_iter().filter(slow) {
        let name = format!("{} {:?}", case.name(), case.integrator);
        let (found, kappa) = pressed(&name, &case.definition());
        // the same gap needs the same stiffness
        let mut statics = press::Case { integrator: Integrator::QuasiStatic, ..case }.definition();
        statics.settings.contact.stiffness = Some(kappa);
        let (exact, _) = pressed(&name, &statics);
        // the trapezoidal rule balances contact with the mean of the elastic forces at both ends of a step
        if case.integrator != Integrator::Newmark {
            assert!((found / exact - 1.0).abs() < 0.01, "{name}: {found} N, {exact} N");
        }
    }
}

/// The barrier-free method alone: with multipliers that had not settled, the forces of steps 3 and 5 were those of another motion.
#[test]
fn multipliers_settle_to_the_tolerances_of_a_step() {
    let text = standoff_soak::generate::scene(9);
    let scene = Scene::parse(&text, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
    let found = steps("seed 9", scene.definition, Method::BarrierFree, 5);
    assert!(found.len() >= 4, "only {} steps were judged", found.len());
    for Step { place, speed, force, .. } in &found {
        assert!(*speed <= TOLERANCE && *force <= 0.01, "{place}: error {speed}, force {force}");
    }
}
