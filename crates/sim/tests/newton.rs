//! Newton's method converges quadratically near the solution.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::settings::AuditLevel;

/// ‖p‖∞/h of each iteration of the first step of a stretched block that lies on the ground.
#[test]
fn the_last_iterations_converge_quadratically() {
    let residual = |iterations: u32| {
        let mut body = block("block", [0.0, 1e-3, 0.0], [2, 2, 2], 0.5);
        body.start = body.rest.iter().map(|p| Vec3::new(1.1 * p.x, p.y, p.z)).collect();
        let mut definition = scene(vec![body]);
        definition.gravity = Vec3::new(0.0, -9.81, 0.0);
        definition.half_spaces.push(ground(0.0));
        let settings = &mut definition.settings;
        settings.time.step = 0.02;
        settings.contact.stiffness = Some(1e9);
        settings.solver.end.velocity = Some(1e-30);
        settings.solver.end.max_iterations = iterations;
        settings.solver.audit = AuditLevel::EveryIterate;
        Simulation::new(&definition).unwrap().step().unwrap().residual_speed
    };
    let residuals: Vec<f64> = (1..=12).map(residual).collect();
    println!("{}", residuals.iter().map(|r| format!("{r:.2e} ")).collect::<String>());
    // from 0.1 m/s on, each residual is below a tenth of the square of the one before, until round-off
    let tail: Vec<f64> = residuals.iter().copied().skip_while(|r| *r > 0.2).collect();
    assert!(residuals.len() - tail.len() <= 1, "{residuals:?}");
    for pair in tail.windows(2) {
        assert!(pair[1] < 0.1 * pair[0] * pair[0] + 2e-14, "{residuals:?}");
    }
    assert!(residuals[4..].iter().all(|r| *r < 2e-14), "{residuals:?}");
}
