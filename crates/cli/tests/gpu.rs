//! A run whose linear systems are solved on a graphics processor, beside the same run on the processor.

mod runs_support;

use runs_support::{good, path, results, standoff, text};
use standoff_run::{frame_files, read_frame};
use std::path::{Path, PathBuf};

/// Steps of the runs.
const STEPS: usize = 12;

/// Largest speed at which a step ends, m/s, and the time step, s.
const TOLERANCE: f64 = 1e-5;
const STEP: f64 = 0.01;

/// Whether there is a device; that there is none is noted.
fn device() -> bool {
    let found = standoff_gpu::devices().iter().any(|d| d.lacks.is_none());
    if !found {
        standoff_testkit::not_run("no graphics processor can be used");
    }
    found
}

/// Runs a soft ball, which begins just above the rollers that grip it.
fn run(folder: &Path, name: &str, options: &[&str]) -> PathBuf {
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/rollers.toml");
    let out = folder.join(name);
    let tolerance = format!("solver.end.velocity={TOLERANCE}");
    let shared = ["run", path(&scene), "-o", path(&out), "-q", "--threads", "1"];
    let sets = ["--set", "objects.ball.translate=[0, 0.194, 0]", "--set", &tolerance];
    good(&[&shared[..], &sets, options].concat());
    out
}

/// The statistics of the steps.
fn reports(run: &Path) -> Vec<serde_json::Value> {
    let lines = std::fs::read_to_string(run.join("stats.jsonl")).unwrap();
    lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

/// The largest distance between the vertices of two runs in any frame, m.
fn difference(a: &Path, b: &Path) -> f64 {
    let (a, b) = (frame_files(a).unwrap(), frame_files(b).unwrap());
    assert_eq!(a.len(), STEPS + 1);
    assert_eq!(b.len(), STEPS + 1);
    let mut largest = 0.0f64;
    for (a, b) in a.iter().zip(&b) {
        let (a, b) = (read_frame(&a.1).unwrap(), read_frame(&b.1).unwrap());
        let pairs = a.positions.iter().zip(&b.positions);
        largest = pairs.map(|(a, b)| (a - b).norm()).fold(largest, f64::max);
    }
    largest
}

/// A soft body in contact moves as on the processor, to the tolerance of the solver, passes the audit, and continues there and back.
#[test]
fn a_run_on_a_device_agrees_with_one_on_the_processor() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let all = STEPS.to_string();
    let cpu = run(folder.path(), "cpu", &["--steps", &all]);
    let gpu = run(folder.path(), "gpu", &["--steps", &all, "--device", "gpu"]);
    let on_gpu = reports(&gpu);
    let sum = |reports: &[serde_json::Value], key: &str| {
        reports.iter().map(|r| r[key].as_u64().unwrap()).sum::<u64>()
    };
    assert!(sum(&on_gpu, "contacts") > 0, "the ball touches the rollers");
    assert!(sum(&on_gpu, "linear_iterations") > sum(&on_gpu, "newton_iterations"));
    // both ends of every step are that far from its minimum at most
    let apart = difference(&cpu, &gpu);
    let allowed = 2.0 * STEPS as f64 * STEP * TOLERANCE;
    assert!(apart > 0.0 && apart < allowed, "{apart} m apart, {allowed} m allowed");
    good(&["audit", path(&gpu)]);
    // checkpoints go from one to the other
    for (first, second) in [("cpu", "gpu"), ("gpu", "cpu")] {
        let name = format!("{first}-{second}");
        let mixed = run(folder.path(), &name, &["--steps", "6", "--device", first]);
        good(&["resume", path(&mixed), "-q", "--steps", &all, "--device", second]);
        let apart = difference(&cpu, &mixed);
        assert!(apart < allowed, "{apart} m apart, {allowed} m allowed");
        good(&["audit", path(&mixed)]);
    }
}

/// The bits of a run on a device are the same in every run, and after an interruption.
#[test]
fn a_run_on_a_device_has_the_same_bits_again() {
    if !device() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let first = run(folder.path(), "first", &["--steps", "8", "--device", "gpu"]);
    let second = run(folder.path(), "second", &["--steps", "5", "--device", "gpu"]);
    good(&["resume", path(&second), "-q", "--steps", "8"]);
    let frames = |run: &Path| {
        let mut all = results(run);
        all.retain(|name, _| name.starts_with("frames"));
        all
    };
    assert_eq!(frames(&first).len(), 9);
    assert!(frames(&first) == frames(&second));
}

/// The device is listed, with what it is.
#[test]
fn info_lists_devices() {
    let said = text(&standoff(&["info"]).stdout);
    let listed = said.split("graphics processors").nth(1).unwrap_or_default();
    for device in standoff_gpu::devices() {
        assert!(listed.contains(&device.name) && listed.contains(device.kind.name()), "{said}");
    }
    assert_eq!(
        listed.contains(": suitable"),
        standoff_gpu::devices().iter().any(|d| d.lacks.is_none())
    );
}
