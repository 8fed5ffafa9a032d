//! A checkpoint of format 1, as the first version wrote it, is read and continued by every later one. Later formats are
//! refused.
//!
//! `testdata/format-1.ckpt` is the state of the scene below after three steps. A failure here means that users'
//! runs can no longer be continued: then the layout in `checkpoint.rs` gets the next number, format 1 remains
//! readable, and this file remains as it is. Only before the first release may it be written again:
//! `STANDOFF_WRITE_FORMAT_1=1 cargo test -p standoff-run --test format_1`.

use standoff_linalg::Vec3;
use standoff_run::{RunFolder, RunInfo, checkpoint_bytes, fingerprint, read_checkpoint};
use standoff_scene::Scene;
use standoff_sim::Simulation;
use std::path::Path;

/// Something of everything that a state holds. Its shapes have coordinates without roots and sines, so that
/// the scene has the same bits on every machine.
const SCENE: &str = r#"
ground = 0.0
time = { step = 0.01, end = 0.05 }
solver = { method = "barrier-free" }
friction = { coefficient = 0.3 }
[materials.soft]
young_modulus = 1e5
density = 1000
shell = { thickness = 0.01 }
[[objects]]
name = "block"
shape = { kind = "box", size = [0.25, 0.25, 0.25] }
material = "soft"
translate = [0, 0.126, 0]
velocity = [0.5, -1, 0]
[[objects]]
name = "sheet"
shape = { kind = "plane", size = [0.5, 0.5] }
role = "shell"
material = "soft"
translate = [1, 0.5, 0]
[[objects.fixed]]
vertices = { vertices = [0] }
[[objects.forces]]
vertices = { vertices = [3] }
force = [0, -0.5, 0]
[[objects]]
name = "wire"
shape = { kind = "polyline", points = [[2, 0.5, 0], [2.5, 0.5, 0]], segments = 3 }
role = "rod"
radius = 0.01
material = "soft"
"#;

fn scene() -> Scene {
    Scene::parse(SCENE, Path::new("scene.toml"), Path::new(""), &[]).unwrap()
}

/// A simulation of the scene after some steps, with a load that was set before the first one.
fn simulated(steps: u64) -> Simulation {
    let mut simulation = Simulation::new(&scene().definition).unwrap();
    simulation.set_gravity(Some(Vec3::new(0.0, -9.0, 0.0))).unwrap();
    for _ in 0..steps {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
    simulation
}

#[test]
fn a_checkpoint_of_format_1_continues() {
    let path = standoff_testkit::testdata("").join("format-1.ckpt");
    let fingerprint = fingerprint(&scene().definition);
    if std::env::var_os("STANDOFF_WRITE_FORMAT_1").is_some() {
        let bytes = checkpoint_bytes(fingerprint, simulated(3).state(), &[0, 3]);
        std::fs::write(&path, bytes).unwrap();
    }
    let read = read_checkpoint(&path, fingerprint).unwrap();
    assert_eq!((read.program.as_str(), &read.frames), ("0.1.0", &vec![0, 3]));
    let state = &read.state;
    let lists = [
        ("constraints", state.constraints.len()),
        ("turns", state.turns.len()),
        ("directors", state.directors.len()),
        ("held forces", state.held_forces.len()),
        ("load forces", state.load_forces.len()),
        ("half-spaces", state.half_space_forces.len()),
    ];
    for (name, count) in lists {
        assert!(count > 0, "the file has no {name}");
    }
    assert!(state.prescribed.contains(&true));
    assert_eq!(state.controls.gravity, Some(Vec3::new(0.0, -9.0, 0.0)));

    let mut continued = Simulation::restore(&scene().definition, read.state).unwrap();
    for _ in 0..2 {
        assert!(continued.step().unwrap().outcome.is_success());
    }
    // later versions may reach the same motion in other ways: to the tolerance of a step, not to the bit
    let from_start = simulated(5);
    assert_eq!(continued.step_index(), 5);
    for (v, (a, b)) in continued.positions().iter().zip(from_start.positions()).enumerate() {
        assert!((a - b).norm() < 1e-3, "vertex {v} is at {a:?} instead of {b:?}");
    }
}

#[test]
fn folders_of_later_formats_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    RunFolder::create(folder.path(), &scene(), false).unwrap();
    assert_eq!(RunInfo::read(folder.path()).unwrap().format, 1);
    // of what else a later format has, nothing is known
    std::fs::write(folder.path().join("run.json"), r#"{ "format": 2, "new": [] }"#).unwrap();
    let error = RunInfo::read(folder.path()).unwrap_err().to_string();
    assert!(error.contains("a later version") && error.contains("in format 2"), "{error}");
}
