//! The minimum that belongs to the end of a step, for measurements.

use crate::common::{assert_bounded, block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::Definition;
use standoff_sim::settings::{Lagging, Method};
use standoff_sim::{Accuracy, Simulation, StepOutcome};

/// Blocks that slide and are thrown on each other, with several updates of friction in a step of the barrier.
fn pile(method: Method) -> Definition {
    let mut definition = scene(vec![
        block("a", [0.0, 0.001, 0.0], [3, 3, 3], 0.1),
        block("b", [0.15, 0.302, 0.08], [2, 2, 2], 0.1),
    ]);
    definition.gravity = Vec3::new(4.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 0.01;
    definition.settings.friction.coefficient = 0.4;
    definition.settings.solver.method = method;
    if method == Method::Barrier {
        definition.settings.friction.lagging = Lagging::Count(3);
    }
    definition
}

const ACCURACY: Accuracy = Accuracy { velocity: 1e-6, forces: 1e-9 };

/// The run has the same bits with and without the look at its minima, which are what they are said to be.
#[test]
fn the_minimum_of_a_step_is_near_its_end_and_changes_nothing() {
    for method in [Method::Barrier, Method::BarrierFree] {
        let definition = pile(method);
        let (mut plain, mut watched) =
            (Simulation::new(&definition).unwrap(), Simulation::new(&definition).unwrap());
        let mut contacts = 0;
        for step in 0..8 {
            let report = plain.step().unwrap();
            let (same, minimum) = watched.step_with_minimum(ACCURACY).unwrap();
            assert_eq!(plain.state(), watched.state(), "{method:?}, step {step}");
            assert_eq!(report.newton_iterations, same.newton_iterations);
            contacts += report.contacts;
            assert_bounded(&plain, &report);
            let minimum = minimum.unwrap();
            println!(
                "{method:?} {step}: {} {}",
                report.newton_iterations, minimum.report.newton_iterations
            );
            assert!(minimum.outcome.is_minimum(), "{method:?}: {:?}", minimum.outcome);
            let tolerance = ACCURACY.velocity * plain.model().resolved.velocity_tolerance;
            if minimum.outcome == StepOutcome::Converged {
                assert!(minimum.report.residual_speed < tolerance);
                assert!(minimum.report.imbalance < 1e-6);
            }
            let far = plain.state().x.iter().zip(&minimum.state.x);
            let far =
                far.map(|(a, b)| (a - b).norm()).fold(0.0, f64::max) / plain.model().resolved.h;
            assert!(
                far <= (2.0 * report.residual_speed)
                    .max(1e-4 * plain.model().resolved.velocity_tolerance),
                "{method:?}, step {step}: the minimum is {far} m/s away, {} were reported",
                report.residual_speed
            );
        }
        assert!(contacts > 0);
    }
}
