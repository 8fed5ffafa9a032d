//! What takes minutes: the figures of README and validation.md that the test suite cannot afford.
//!
//!     cargo test --release -p standoff-cli --test long -- --ignored --nocapture --test-threads 1

mod scenes_support;

use scenes_support::{Run, all_scenes, run_with};
use standoff_linalg::Vec3;
use standoff_testkit::testdata;
use std::path::{Path, PathBuf};

/// Audits of every step are enough here.
const AUDIT: &str = "every-step";

fn scene(name: &str) -> PathBuf {
    all_scenes().into_iter().find(|(n, _)| n == name).expect("a scene that ships").1
}

/// The masonry arch of [Li 2020, Fig. 7] as the reference code has it, run into a folder.
fn arch(folder: &Path, options: &[&str]) -> Run {
    let meshes = testdata("data/ipc");
    let scene = meshes.join("scenes/paperExamples/7_masonryArch.txt");
    let meshes = meshes.to_string_lossy();
    let options = [&["--mesh-root", &*meshes], options].concat();
    run_with(&scene, folder, AUDIT, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// How far the top third of all vertices has come down in a frame, at most, m.
fn sagged(run: &Run, frame: usize) -> f64 {
    let (start, now) = (run.frame(0).positions, run.frame(frame).positions);
    let stones = run.info.bodies.iter().filter(|b| !b.obstacle);
    let vertices = stones.flat_map(|b| b.first_vertex..b.first_vertex + b.vertices);
    let pairs: Vec<(Vec3, Vec3)> = vertices.map(|v| (start[v as usize], now[v as usize])).collect();
    let top = pairs.iter().map(|(a, _)| a.y).fold(f64::NEG_INFINITY, f64::max);
    let high = pairs.iter().filter(|(a, _)| a.y > 0.67 * top);
    high.map(|(a, b)| a.y - b.y).fold(0.0, f64::max)
}

/// It stands for its 20 s, with as many contacts as in the paper (101 on average, 118 at most there).
#[test]
#[ignore = "takes a minute"]
fn the_arch_stands_for_twenty_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let run = arch(&folder.path().join("run"), &[]);
    let n = run.reports.len();
    let contacts = run.reports.iter().map(|r| r.contacts).sum::<u64>() as f64 / n as f64;
    let iterations = run.reports.iter().map(|r| r.newton_iterations).sum::<u64>() as f64 / n as f64;
    let (half, end) = (sagged(&run, n / 2), sagged(&run, n));
    println!(
        "arch: {contacts:.1} contacts, {iterations:.2} iterations; down by {half:.4} and {end:.4} m"
    );
    assert_eq!(n, 2000);
    // a joint creeps at the speed at which friction is smoothed, 0.6 mm/s
    assert!(end < 0.45 && (end - half).abs() < 0.01, "{half} {end}");
    assert!((contacts - 102.0).abs() < 1.0, "{contacts}");
}

/// With μ = 0.2, and one update of friction per step, it is down after 10 s.
#[test]
#[ignore = "takes minutes"]
fn the_arch_falls_where_friction_is_too_small() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        ["--steps", "1000", "--set", "friction.coefficient=0.2", "--set", "friction.lagging=1"];
    let run = arch(&folder.path().join("run"), &options);
    let end = sagged(&run, run.frames() - 1);
    println!("arch at μ = 0.2: down by {end:.2} m");
    assert!(end > 3.0, "{end}");
}

/// 105,456 tetrahedra in 200 MiB.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "takes half a minute"]
fn a_hundred_thousand_tetrahedra_take_115_mebibytes() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run".into(), scene("bench/drop-100k").into_os_string(), "-o".into()];
    let mut arguments = arguments.to_vec();
    arguments.push(folder.path().join("run").into_os_string());
    arguments.extend(["-q", "--threads", "1", "--steps", "6"].map(Into::into));
    let (success, peak) = scenes_support::peak_memory(&arguments);
    println!("105,456 tetrahedra, 6 steps: {peak:.0} MiB");
    assert!(success);
    assert!(peak < 115.0, "{peak} MiB");
}

/// A fifth of the toys, until they lie still.
#[test]
#[ignore = "takes minutes"]
fn the_toys_come_to_rest_in_the_well() {
    let folder = tempfile::tempdir().unwrap();
    let fifth = [
        "ball.array.counts=[4, 1, 3]",
        "cube.array.counts=[3, 1, 4]",
        "ring.array.counts=[4, 1, 3]",
        "tet.array.counts=[3, 1, 4]",
    ];
    let fifth = fifth.map(|set| format!("objects.{set}"));
    // its tables look at balls that come later
    let sets = fifth.iter().map(String::as_str).chain(["expect=unset"]);
    let options: Vec<&str> = sets.flat_map(|set| ["--set", set]).collect();
    let run = run_with(&scene("stress/animal-well"), &folder.path().join("run"), AUDIT, &options);
    let run = run.unwrap_or_else(|e| panic!("{e}"));
    let last = run.frame(run.frames() - 1);
    let mean = last.velocity.iter().map(|v| v.norm()).sum::<f64>() / last.velocity.len() as f64;
    let top = last.positions.iter().map(|x| x.y).fold(0.0, f64::max);
    println!("well: {mean:.3} m/s on average, heap of {top:.2} m");
    // they came at 10 m/s from up to 1 m
    assert!(mean < 0.1 && top < 0.45, "{mean} m/s, {top} m");
}

/// The rods twisted all the way: four full turns of the one end against the other.
#[test]
#[ignore = "takes minutes"]
fn the_rods_are_twisted_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let run = run_with(&scene("stress/twisted-rods"), &folder.path().join("run"), AUDIT, &[]);
    let run = run.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run.reports.len(), 200);
    let (name, folder) = ("stress/twisted-rods", folder.path().join("run"));
    let found = scenes_support::shows((name, &scene(name)), &folder, &[], Some(&run));
    found.unwrap_or_else(|e| panic!("{e}"));
}
