//! The decomposed optimisation time integrator and its family reach Newton's minimisers: from states of shipped
//! scenes, with solids, shells, rods, obstacles, prescribed motion, contact and friction, both solvers do one
//! step to a tight tolerance.

use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::Simulation;
use standoff_sim::definition::Definition;
use standoff_sim::settings::Method;
use std::path::Path;

/// Distance between the ends of a step over the length of the scene below which they are the same: 1/100
/// of what the default tolerance allows in a step of 10 ms.
const SAME: f64 = 1e-6;

fn furthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// The ends of one step by both solvers from where the scene is after `steps` steps, and the number of
/// contacts.
fn compare(file: &str, set: &[&str], steps: usize, subdomains: u32) -> (f64, f64, u64) {
    compare_with(file, set, steps, &|d| {
        d.settings.solver.method = Method::Dot;
        d.settings.solver.end.characteristic = Some(1e-13);
        d.settings.solver.decomposition.subdomains = Some(subdomains);
    })
}

/// The same for Newton and another solver.
fn compare_with(
    file: &str,
    set: &[&str],
    steps: usize,
    other: &dyn Fn(&mut Definition),
) -> (f64, f64, u64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").join(file);
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let scene = Scene::load(&path, &set).unwrap_or_else(|e| panic!("{e}"));
    let mut simulation = Simulation::new(&scene.definition).unwrap_or_else(|e| panic!("{e}"));
    for _ in 0..steps {
        simulation.step().unwrap_or_else(|e| panic!("{file}: {e}"));
    }
    let state = simulation.state().clone();
    let end = |change: &dyn Fn(&mut Definition)| {
        let mut definition = scene.definition.clone();
        // solvers that end by the characteristic norm have no velocity tolerance
        definition.settings.solver.end.velocity = None;
        change(&mut definition);
        let mut simulation =
            Simulation::restore(&definition, state.clone()).unwrap_or_else(|e| panic!("{e}"));
        let report = simulation.step().unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(report.outcome.is_minimum(), "{file}: {:?}", report.outcome);
        (simulation.positions().to_vec(), report)
    };
    let (newton, report) = end(&|d| {
        d.settings.solver.end.velocity = None;
        d.settings.solver.end.velocity_relative = 1e-8;
    });
    let (dot, dot_report) = end(other);
    let length = simulation.model().length;
    let moved = furthest(&newton, simulation.positions()) / length;
    println!(
        "{file}: {} contacts, {} Newton iterations, {} of the other, moved {moved:.1e}, apart {:.1e}, {:?}",
        report.contacts,
        report.newton_iterations,
        dot_report.newton_iterations,
        furthest(&newton, &dot) / length,
        dot_report.outcome,
    );
    (moved, furthest(&newton, &dot) / length, report.contacts)
}

macro_rules! same_minimiser {
    ($name:ident, $file:literal, $set:expr, $steps:literal, $subdomains:literal, $contacts:literal) => {
        #[test]
        fn $name() {
            let (moved, apart, contacts) = compare($file, &$set, $steps, $subdomains);
            assert!(moved > 1e-4 && apart < SAME, "moved {moved:e}, apart {apart:e}");
            assert_eq!(contacts > 0, $contacts);
        }
    };
}

same_minimiser!(solid_in_contact_with_an_obstacle, "ball-on-needles.toml", [], 20, 3, true);
same_minimiser!(stack_on_the_ground, "unit/cube-stack.toml", [], 20, 3, true);
same_minimiser!(mat_with_prescribed_ends, "twisted-mat.toml", [], 5, 4, false);
same_minimiser!(cloth_with_prescribed_ends, "codim/twisted-tube.toml", [], 4, 3, false);
same_minimiser!(ring_of_a_rod, "codim/twisted-ring.toml", [], 5, 2, false);
same_minimiser!(rods_in_contact, "codim/braid.toml", [], 40, 2, true);

/// The methods of projective dynamics on a scene whose contact is switched off.
#[test]
fn mat_with_prescribed_ends_by_projective_dynamics() {
    for (method, tolerance) in [(Method::LbfgsPd, 1e-11), (Method::AdmmPd, 1e-9)] {
        let off = ["contact.enabled=false"];
        let (moved, apart, contacts) = compare_with("twisted-mat.toml", &off, 5, &|d| {
            d.settings.solver.method = method;
            d.settings.solver.end.characteristic = Some(tolerance);
        });
        assert!(moved > 1e-4 && apart < SAME, "{method:?}: moved {moved:e}, apart {apart:e}");
        assert_eq!(contacts, 0);
    }
}
