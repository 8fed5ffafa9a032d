//! Whole steps.

mod common;

use common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::report::StepOutcome;
use standoff_sim::settings::AuditLevel;

#[test]
fn two_cubes_land_on_the_ground() {
    let mut definition = scene(vec![
        block("low", [0.0, 0.1, 0.0], [2, 2, 2], 0.5),
        block("high", [0.1, 1.3, 0.1], [2, 2, 2], 0.5),
    ]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.settings.time.step = 0.025;
    definition.settings.solver.audit = AuditLevel::EveryIterate;
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
