//! Thermal expansion.

mod common;

use common::{ELASTIC, bricks, import, scene};
use standoff_inp_import::Import;
use standoff_linalg::Vec3;
use standoff_sim::Simulation;

/// A box of bricks between symmetry planes that expands, with more before its step and in it.
fn heated(before: &str, within: &str) -> Import {
    let model = bricks([2, 1, 2], [1.0, 0.5, 2.0]);
    let all = "*NSET, NSET=NALL, ELSET=EALL\n";
    let text = format!(
        "{model}{all}{ELASTIC}*EXPANSION, ZERO=20\n1e-4\n{before}*BOUNDARY\nX0, 1\nY0, 2\nZ0, 3\n*STEP\n*STATIC\n0.25, 1\n{within}*END STEP\n"
    );
    import(&text).unwrap_or_else(|fault| panic!("{fault}"))
}

/// Where the nodes are at rest and at the end.
fn ends(import: &Import) -> Vec<(Vec3, Vec3)> {
    let scene = scene(import);
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    for _ in 0..scene.steps() {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
    let rest = &scene.definition.bodies[0].rest;
    rest.iter().copied().zip(simulation.positions().iter().copied()).collect()
}

/// What is free to expand has α times the change of temperature as its strain, from the temperature at its start on.
#[test]
fn what_is_free_expands() {
    let import =
        heated("*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20\n", "*TEMPERATURE\nNALL, 120\n");
    assert!(import.toml.contains("growth = \""), "{}", import.toml);
    for (rest, x) in ends(&import) {
        assert!((x - 1.01 * rest).norm() < 1e-8, "{rest} {x}");
    }
    // without a temperature at the start that is 0, and a table says what is when
    let table = "*AMPLITUDE, NAME=A\n0, 0, 0.5, 1, 1, 0.4\n";
    let import = heated(table, "*TEMPERATURE, AMPLITUDE=A\nNALL, -50\n");
    for (rest, x) in ends(&import) {
        assert!((x - 0.998 * rest).norm() < 1e-8, "{rest} {x}");
    }
}

/// A bar that cannot become longer is pressed by E α ΔT, to first order.
#[test]
fn what_is_held_is_pressed() {
    let import = heated("", "*BOUNDARY\nZTOP, 3\n*TEMPERATURE\nNALL, 10\n");
    let scene = scene(&import);
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    for _ in 0..scene.steps() {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
    for stress in simulation.stresses() {
        assert!((stress[(2, 2)] / -1e3 - 1.0).abs() < 5e-3, "{stress}");
    }
}

/// A material without a change of its temperature does not grow; one whose temperature is not uniform is named.
#[test]
fn temperatures_that_differ_are_said() {
    let still = heated("*INITIAL CONDITIONS, TYPE=TEMPERATURE\nNALL, 20\n", "");
    assert!(!still.toml.contains("\ngrowth"), "{}", still.toml);
    let differing = heated("", "*TEMPERATURE\nZTOP, 100\n");
    assert!(!differing.toml.contains("\ngrowth"), "{}", differing.toml);
    let note = "the temperature of M is not the same everywhere";
    assert!(differing.notes.iter().any(|n| n.contains(note)), "{:?}", differing.notes);
    let import = heated("*INITIAL CONDITIONS, TYPE=STRESS\nEALL, 1, 1, 1, 0, 0, 0\n", "");
    let note = "*INITIAL CONDITIONS of the type STRESS are not converted";
    assert!(import.notes.iter().any(|n| n.contains(note)), "{:?}", import.notes);
}
