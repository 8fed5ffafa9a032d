//! The masonry arch of [Li 2020, Fig. 7]: 25 stiff stones that friction alone holds up, at d̂ = 1.2 µm.
//! Skipped where the shared data is absent.

use standoff_scene::import::Import;
use standoff_sim::{Simulation, StepOutcome};
use standoff_testkit::shared;

/// The stones fall onto each other, then friction has to settle in every step. It does not without
/// relaxation: steps 38 to 40 reach the limit of updates, and the reference hangs in step 36.
#[test]
fn friction_settles_while_the_arch_comes_to_rest() {
    let Some(scene) = shared("data/ipc/scenes/paperExamples/7_masonryArch.txt") else { return };
    let Some(root) = shared("data/ipc") else { return };
    let definition = Import::load(&scene, &[root]).unwrap().definition();
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut iterations = 0;
    for step in 1..=45 {
        let report = simulation.step().unwrap();
        assert_eq!(report.outcome, StepOutcome::Converged, "step {step}");
        iterations += report.newton_iterations;
    }
    // found 1900; 13,600 without relaxation
    assert!(iterations < 4000, "{iterations}");
}
