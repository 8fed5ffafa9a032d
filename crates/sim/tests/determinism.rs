//! The same bits with any number of threads and in every run.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::definition::Definition;
use standoff_sim::settings::LinearSolver;
use standoff_testkit::thorough;

fn pile(linear: LinearSolver) -> Definition {
    let mut definition = scene(vec![
        block("a", [0.0, 0.02, 0.0], [6, 6, 6], 0.1),
        block("b", [0.05, 0.65, 0.08], [5, 5, 5], 0.1),
        block("c", [0.2, 1.18, 0.02], [4, 4, 4], 0.1),
    ]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 0.02;
    definition.settings.friction.coefficient = 0.4;
    definition.settings.solver.linear = linear;
    definition
}

fn bits(definition: &Definition, threads: usize) -> Vec<u64> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let mut simulation = Simulation::new(definition).unwrap();
        let mut contacts = 0;
        for _ in 0..8 {
            contacts += simulation.step().unwrap().contacts;
        }
        assert!(contacts > 0, "the scene has to have contacts to be worth anything");
        simulation.positions().iter().flat_map(|p| p.iter().map(|c| c.to_bits())).collect()
    })
}

#[test]
fn threads_do_not_change_bits() {
    for linear in [
        LinearSolver::Auto,
        LinearSolver::Cholesky,
        LinearSolver::FaerCholesky,
        LinearSolver::ConjugateGradient,
        LinearSolver::TwoLevel,
        LinearSolver::Schwarz,
    ] {
        let definition = pile(linear);
        let one = bits(&definition, 1);
        let others: &[usize] = if thorough() { &[1, 2, 4] } else { &[4] };
        for &threads in others {
            assert!(bits(&definition, threads) == one, "{threads} threads differ ({linear:?})");
        }
    }
}
