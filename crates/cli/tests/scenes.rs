//! Every scene that ships, run by the command: every Newton iterate audited, every step converged,
//! every frame audited again, and what each scene is said to show is seen.
//!
//! The folder `scenes/` is walked, so that a new scene is covered by itself. What takes long is
//! shortened in `SHORTENED`; what a scene shows is asserted in `expectation`.

mod scenes_support;

use rayon::prelude::*;
use scenes_support::{Run, all_scenes, jittered, run, standoff};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::{Rotation3, Vector3};
use standoff_scene::Scene;
use standoff_sim::Simulation;
use standoff_sim::settings::AuditLevel;
use std::ffi::OsStr;
use std::path::Path;

/// Scenes that are shortened or coarsened here, with the options that do so.
const SHORTENED: [(&str, &[&str]); 12] = [
    ("codim/cloth-on-rotating-sphere", &["--steps", "32"]),
    ("codim/cloth-stack", &["--steps", "25", "--set", "objects.cloth.shape.cells=[6, 6]"]),
    ("codim/twisted-tube", &["--steps", "15"]),
    ("rollers", &["--steps", "60"]),
    ("stress/animal-well", &["--steps", "8"]),
    ("stress/fine-ball", &["--set", "contact.d_hat=1e-3"]),
    ("stress/funnel", &["--set", "time.step=0.04"]),
    ("stress/twisted-rods", &["--steps", "40"]),
    ("twisted-mat", &["--steps", "20"]),
    ("bench/drop-100k", &["--steps", "8", "--set", "objects.block.shape.cells=[12, 12, 12]"]),
    ("bench/hang", &["--steps", "10", "--set", "objects.block.shape.cells=[8, 8, 8]"]),
    (
        "bench/drop-1m",
        &[
            "--steps",
            "8",
            "--set",
            "objects.block.shape.cells=[8, 8, 8]",
            "--set",
            "solver.linear=conjugate-gradient",
        ],
    ),
];

/// Pulled at 1 m/s, cube and plate leave the table with the cloth [Li 2021, Fig. 1].
#[test]
fn a_slowly_pulled_tablecloth_takes_along_what_is_on_it() {
    let folder = tempfile::tempdir().unwrap();
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/codim/tablecloth-pull.toml");
    let slow = "objects.cloth.motion=[{ vertices = \"left\", velocity = [-1, 0, 0], start = 0.2 }]";
    let options = ["--steps", "100", "--set", slow];
    let run = run(&path, &folder.path().join("run"), &options).unwrap();
    let last = run.frame(run.frames() - 1);
    for name in ["cube", "plate"] {
        let centre = run.mean(&last.positions, name);
        assert!(centre.x < -0.25 && centre.y < -0.1, "{name} {centre}");
    }
}

/// Scenes of thin bodies that the barrier-free solver runs here too, for ten steps.
const THIN_BARRIER_FREE: [&str; 4] =
    ["codim/braid", "codim/cloth-on-needles", "codim/granules-on-cloth", "codim/sewn-pillow"];

/// The options of a scene in this test.
fn options(name: &str) -> &'static [&'static str] {
    SHORTENED.iter().find(|(n, _)| *n == name).map_or(&[], |(_, options)| options)
}

#[test]
fn every_scene_runs_to_its_end_without_a_violation() {
    let scenes = all_scenes();
    assert!(scenes.len() >= 20, "{} scenes", scenes.len());
    for (name, _) in SHORTENED {
        assert!(scenes.iter().any(|(n, _)| n == name), "there is no scene {name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let failures: Vec<String> = scenes
        .par_iter()
        .filter_map(|(name, path)| {
            let attempt = || {
                let run = run(path, &folder.path().join(name), options(name))?;
                expectation(name, &run)
            };
            attempt().err().map(|e| format!("{name}: {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The hard scenes, and those of thin bodies, by the barrier-free solver: every iterate audited, every
/// step converged, the same things to be seen.
#[test]
fn stress_and_thin_scenes_run_with_the_barrier_free_solver() {
    let folder = tempfile::tempdir().unwrap();
    let scenes: Vec<_> = all_scenes()
        .into_iter()
        .filter(|(n, _)| n.starts_with("stress/") || THIN_BARRIER_FREE.contains(&n.as_str()))
        .collect();
    assert!(scenes.len() == 7 + THIN_BARRIER_FREE.len(), "{} scenes", scenes.len());
    let failures: Vec<String> = scenes
        .par_iter()
        .filter_map(|(name, path)| {
            let attempt = || {
                let mut options = options(name).to_vec();
                options.extend(["--solver", "barrier-free"]);
                let thin = name.starts_with("codim/");
                if thin {
                    options.extend(["--steps", "10"]);
                }
                let run = run(path, &folder.path().join(name), &options)?;
                if thin { Ok(()) } else { expectation(name, &run) }
            };
            attempt().err().map(|e| format!("{name}: {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_scene_begins_with_what_it_shows() {
    for (name, path) in all_scenes() {
        let text = std::fs::read_to_string(path).unwrap();
        let comment: Vec<&str> = text.lines().take_while(|l| l.starts_with('#')).collect();
        assert!(comment.len() >= 3, "{name}");
        assert!(comment.iter().any(|l| l.starts_with("# What to see: ")), "{name}");
    }
}

/// `Err` with the reason if a condition does not hold.
fn require(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// What the scene's own comment says is to be seen.
fn expectation(name: &str, run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let lowest = |body: &str| run.extent(&last, body).0.y;
    let centre = |body: &str| run.mean(&last.positions, body);
    match name {
        "tunnelling-ball" => stopped_by_the_board(run),
        "friction-slope-stick" => {
            let moved = along_slope(run, 400) - along_slope(run, 40);
            require(moved.abs() < 1e-3, || format!("moved by {moved} m in 9 s"))
        }
        "friction-slope-slide" => {
            let speed = |k| run.mean(&run.frame(k).velocity, "block").dot(&down_slope());
            let found = (speed(400) - speed(40)) / 9.0;
            let angle = 0.5f64.atan();
            let expected = 9.81 * (angle.sin() - 0.49 * angle.cos());
            println!("slope: {found:.5} m/s², analytic {expected:.5} m/s²");
            require((found / expected - 1.0).abs() < 0.01, || format!("{found} and {expected}"))
        }
        "two-cubes-fall" | "unit/tet-tet" => {
            let least = lowest("upper").min(lowest("lower"));
            require(least > 0.0 && lowest("lower") < 0.1, || format!("lowest at {least}"))
        }
        "unit/cube-stack" => (0..5).try_for_each(|k| {
            let y = lowest(&format!("cube[0,{k},0]"));
            require(y > 0.5 && y < 0.6, || format!("cube {k} is at {y}"))
        }),
        "unit/tet-slots" => {
            let (low, high) = run.extent(&last, "tet");
            let between = low.x > -5.0005e-7 && high.x < 1.000_000_500_5;
            let down = low.y > -0.5 && low.y < -0.4999;
            require(between && down, || format!("{low} {high}"))
        }
        // eight cards of 0.3 mm: the lowest half of that above the ground
        "codim/cards" => {
            let (low, high) = (lowest("card[0,0,0]"), lowest("card[0,7,0]"));
            let heights = low > 0.15e-3 && high > 2.25e-3 && high < 4e-3;
            require(heights, || format!("cards from {low} to {high}"))
        }
        // as high as a deck of 54 cards is
        "codim/deck" => {
            let (low, high) = run.extent(&last, "card[0,53,0]");
            println!("deck: {} to {} m and half of 0.1 mm", low.y, high.y);
            let deck = |y: f64| (y + 0.05e-3 - 15.4e-3).abs() < 0.03 * 15.4e-3;
            require(deck(low.y) && deck(high.y), || format!("from {low} to {high}"))
        }
        // in the order in which they were let go of, an elastic layer apart, and squared
        "codim/card-shuffle" => (1..10).try_for_each(|k| {
            let (below, card) = (centre(&format!("card {}", k - 1)), centre(&format!("card {k}")));
            let gap = card.y - below.y;
            let squared = card.x.abs() < 3e-3 && gap > 0.25e-3 && gap < 0.3e-3;
            require(squared, || format!("card {k} at {card}, {gap} m above the last"))
        }),
        "codim/cloth-stack" => {
            let (top, ball) = (run.extent(&last, "cloth[0,9,0]"), lowest("ball"));
            let stacked = top.1.y > 0.045 && top.1.y < 0.055 && ball > 0.035 && ball < 0.05;
            require(stacked, || format!("uppermost cloth up to {}, ball at {ball}", top.1.y))
        }
        "codim/reef-knot" => {
            let (low, high) = run.extent(&last, "left");
            println!("reef knot: {low:?} to {high:?}");
            // the arc of the ribbon was at 0.085, and stays in the other's
            require(high.x < 0.02 && low.x < -0.2, || format!("{low} {high}"))
        }
        "codim/granules-on-cloth" => {
            let least = lowest("granules");
            require(least > -0.1, || format!("a granule fell to {least}"))
        }
        "codim/noodles" => (0..4).try_for_each(|k| {
            let y = lowest(&format!("noodle[0,0,{k}]"));
            require(y > -0.03 && y < -0.02, || format!("noodle {k} is at {y}"))
        }),
        "codim/tablecloth-pull" => {
            let (cube, plate, cloth) = (centre("cube"), centre("plate"), centre("cloth"));
            let stays = cube.x > -0.14 && cube.y > 0.0 && plate.x > -0.12 && plate.y > 0.0;
            require(stays && cloth.x < -0.6, || {
                format!("cube {cube}, plate {plate}, cloth {cloth}")
            })
        }
        "codim/twisted-ring" => {
            let (low, high) = run.extent(&last, "ring");
            require(high.z - low.z > 0.015, || format!("still flat: {low} {high}"))
        }
        "codim/sewn-pillow" => {
            let (front, back) = (run.extent(&last, "front"), run.extent(&last, "back"));
            let gap = (front.0.y - back.0.y).abs();
            require(gap < 5e-3, || format!("borders {gap} m apart"))
        }
        "ball-on-needles" => {
            let y = centre("ball").y;
            require(y > 0.1 && lowest("ball") > -0.1, || format!("the ball is at {y}"))
        }
        "rollers" => {
            // drawn down from 0.28 m, and narrower than the 0.24 m of its diameter
            let (low, high) = run.extent(&last, "ball");
            let drawn = centre("ball").y < 0.1 && high.x - low.x < 0.2;
            require(drawn, || format!("{low} {high}"))
        }
        "twisted-mat" => keeps_its_handles(run),
        "stress/ball-on-plate" => flattened_by_the_plate(run),
        "stress/chain-rings" => crumpled_and_released(run),
        "stress/fine-ball" => require(lowest("ball") > 0.0 && centre("ball").y < 0.122, || {
            format!("the ball is at {}", lowest("ball"))
        }),
        "stress/funnel" => {
            let (low, high) = run.extent(&last, "body");
            require(high.y < -0.3 && low.y < -0.9, || format!("the body is at {low} {high}"))
        }
        "stress/stiff-stack" => {
            // none below the ground, and pushed on together; the topmost stay behind and fall
            let cubes = (0..4).flat_map(|y| (0..3).map(move |z| format!("cube[0,{y},{z}]")));
            let low = cubes.clone().map(|c| lowest(&c)).fold(f64::INFINITY, f64::min);
            let way = cubes.map(|c| centre(&c).x).sum::<f64>() / 12.0;
            require(low > 0.0 && way > 2.5 && way < 4.0, || format!("{low} {way}"))
        }
        "impact-ball" => loses_energy_at_the_wall(run),
        "bench/drop-100k" | "bench/drop-1m" => {
            require(lowest("block") > 0.0 && lowest("block") < 0.01, || {
                format!("the block is at {}", lowest("block"))
            })
        }
        "bench/hang" => {
            // an edge of 1 m; after 0.1 s it has fallen further than it sags at rest
            let sag = -0.5 - lowest("block");
            require(sag > 0.01 && sag < 0.05, || format!("the block sags by {sag}"))
        }
        _ => match name.strip_prefix("erleben/") {
            Some(name) => erleben(name, run),
            None => Ok(()),
        },
    }
}

/// The ball is pressed to less than two thirds of its diameter, never passes the plate and leaves it
/// with its shape restored.
fn flattened_by_the_plate(run: &Run) -> Result<(), String> {
    let mut flattest = f64::INFINITY;
    for k in 0..run.frames() {
        let (low, high) = run.extent(&run.frame(k), "ball");
        require(low.y > 0.0, || format!("the ball is at {} in frame {k}", low.y))?;
        flattest = flattest.min((high.y - low.y) / 0.5);
    }
    let (low, high) = run.extent(&run.frame(run.frames() - 1), "ball");
    println!("ball: {flattest:.2} of its diameter, ends at {:.2} m", low.y);
    let restored = (high.y - low.y) / 0.5;
    require(flattest < 0.4 && low.y > 0.5 && (restored - 1.0).abs() < 0.05, || {
        format!("{flattest} and {restored} of its diameter, at {}", low.y)
    })
}

/// The box shrinks to a hundredth of its volume at least, and the rings open again, each in the other.
fn crumpled_and_released(run: &Run) -> Result<(), String> {
    let volume = |k: usize| {
        let (low, high) = run.extent(&run.frame(k), "box");
        (high - low).product()
    };
    let least = (0..run.frames()).map(volume).fold(f64::INFINITY, f64::min);
    require(least * 100.0 < volume(0), || format!("the box shrinks to {least} m³"))?;
    let last = run.frame(run.frames() - 1);
    let width = |name: &str| {
        let (low, high) = run.extent(&last, name);
        (high - low).norm()
    };
    let widths = ["left ring", "middle ring", "right ring"].map(width);
    println!("rings: {widths:.3?} m wide again");
    // 0.34 m at rest, 0.15 m in the small box
    require(widths.iter().all(|w| *w > 0.25), || format!("rings of {widths:?} m"))?;
    // still linked: neighbours overlap
    let middle = run.extent(&last, "middle ring");
    let overlap = run.extent(&last, "left ring").1.x > middle.0.x
        && run.extent(&last, "right ring").0.x < middle.1.x;
    require(overlap, || "the chain came apart".into())
}

/// The bodies of Erleben's tests end where their comments say.
fn erleben(name: &str, run: &Run) -> Result<(), String> {
    let last = run.frame(run.frames() - 1);
    let moving = run.info.bodies.iter().find(|b| !b.obstacle).ok_or("nothing moves")?;
    let fixed = run.info.bodies.iter().find(|b| b.obstacle).ok_or("nothing is fixed")?;
    let (low, high) = run.extent(&last, &moving.name);
    let top = run.extent(&last, &fixed.name).1.y;
    let holds = match name {
        // on the face that it fell on
        "cube-cliff" | "cube-internal-edges" => low.y > top && low.y < top + 0.05,
        // never below the plane that it is dragged over
        "spike-plane" | "wedge-plane" => low.y > top && high.x > 1.4,
        // up to the edge of the groove, or against the wall of the pit
        "spike-crack" | "wedge-crack" | "spike-hole" => low.y > top - 0.2 && high.x > 0.8,
        // off to one side, and down
        "spike-spike" | "spike-wedge" | "wedge-wedge" => low.y < top,
        _ => true,
    };
    require(holds, || format!("{} is at {low} to {high}, the top at {top}", moving.name))
}

fn down_slope() -> Vec3 {
    Vec3::new(2.0, -1.0, 0.0).normalize()
}

fn along_slope(run: &Run, frame: usize) -> f64 {
    run.mean(&run.frame(frame).positions, "block").dot(&down_slope())
}

/// The ball is in front of the board in every frame, touches it, and moves away from it at the end.
fn stopped_by_the_board(run: &Run) -> Result<(), String> {
    let mut closest = f64::INFINITY;
    for k in 0..run.frames() {
        let front = run.extent(&run.frame(k), "ball").1.x;
        require(front < -0.01, || format!("the ball is at {front} in frame {k}"))?;
        closest = closest.min(-0.01 - front);
    }
    let speed = run.mean(&run.frame(run.frames() - 1).velocity, "ball").x;
    println!("ball: comes as close as {closest:.1e} m, leaves at {speed:.2e} m/s");
    require(closest < 1e-3 && speed < 0.0, || format!("{closest} m, {speed} m/s"))
}

/// The energy stays until contact, falls in it and does not rise above it again; the ball is flattened
/// and leaves with most of its momentum turned round.
fn loses_energy_at_the_wall(run: &Run) -> Result<(), String> {
    let energy = |k: usize| {
        run.reports[k].kinetic_energy
            + run.reports[k].elastic_energy
            + run.reports[k].contact_energy
    };
    let momentum = |k: usize| run.reports[k].linear_momentum[0];
    let (n, start) = (run.reports.len(), momentum(0) * 67.0 / 2.0);
    let contact = |k: &usize| run.reports[*k].contacts > 0;
    let first = (0..n).find(contact).ok_or("no contact")?;
    let last = (0..n).rfind(contact).ok_or("no contact")?;
    for k in 0..n {
        let part = energy(k) / start;
        let holds = if k < first { (part - 1.0).abs() < 1e-6 } else { part < 1.0 && part > 0.85 };
        require(holds, || format!("step {}: {part} of the energy", k + 1))?;
    }
    let flattest = (first..last).map(|k| {
        let (low, high) = run.extent(&run.frame(k + 1), "ball");
        (high.x - low.x) / 0.04
    });
    let flattest = flattest.fold(f64::INFINITY, f64::min);
    let back = -momentum(n - 1) / momentum(0);
    println!(
        "ball: contact from step {} to {}, {flattest:.2} of its diameter, energy {:.3}, momentum {back:.3}",
        first + 1,
        last + 1,
        energy(n - 1) / start
    );
    require(last + 1 < n && back > 0.6 && back < 1.0, || format!("momentum {back}"))?;
    require(flattest < 0.8 && flattest > 0.3, || format!("{flattest} of its diameter"))
}

/// The held ends are where their rotation puts them, 0.1 % of a step's way aside at most.
fn keeps_its_handles(run: &Run) -> Result<(), String> {
    let (start, k) = (run.frame(0), run.frames() - 1);
    let last = run.frame(k);
    let angle = 72f64.to_radians() * last.time;
    for (end, sign) in [(-0.5, -1.0), (0.5, 1.0)] {
        let turn = Rotation3::from_axis_angle(&Vector3::x_axis(), sign * angle);
        let mut held = 0;
        for (x0, x) in start.positions.iter().zip(&last.positions) {
            if (x0.x - end).abs() < 1e-9 {
                held += 1;
                let off = (turn * x0 - x).norm();
                require(off < 1e-4, || format!("a held vertex is {off} m from its place"))?;
            }
        }
        require(held == 42, || format!("{held} vertices at x = {end}"))?;
    }
    Ok(())
}

#[test]
fn the_board_stops_the_ball_at_every_speed() {
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = all_scenes().into_iter().find(|(n, _)| n == "tunnelling-ball").unwrap();
    for speed in [10, 100, 1000] {
        let set = format!("objects.ball.velocity=[{speed}, 0, 0]");
        let result = run(&path, &folder.path().join(speed.to_string()), &["--set", &set]);
        result.and_then(|r| stopped_by_the_board(&r)).unwrap_or_else(|e| panic!("{speed}: {e}"));
    }
}

/// The scenes once more, from starts where every vertex of a deformable body is displaced at random:
/// no coincidence of vertices, edges or faces is left that a method might owe its success to.
#[test]
fn every_scene_runs_from_a_jittered_start() {
    const STEPS: u64 = 100;
    let scenes = all_scenes();
    let failures: Vec<String> = scenes
        .par_iter()
        .enumerate()
        .filter_map(|(seed, (name, path))| {
            jittered_run(name, path, seed as u64, STEPS).err().map(|e| format!("{name}: {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn jittered_run(name: &str, path: &Path, seed: u64, steps: u64) -> Result<(), String> {
    let options = options(name);
    let set: Vec<String> =
        options.chunks(2).filter(|p| p[0] == "--set").map(|p| p[1].to_owned()).collect();
    let steps = options
        .chunks(2)
        .find_map(|pair| (pair[0] == "--steps").then(|| pair[1].parse().unwrap()))
        .map_or(steps, |n: u64| n.min(steps));
    let scene = Scene::load(path, &set).map_err(|e| e.to_string())?;
    let mut definition = scene.definition.clone();
    definition.settings.solver.audit = AuditLevel::EveryIterate;
    let (mut simulation, amplitude): (Simulation, f64) = jittered(&definition, seed)?;
    require(amplitude >= 1e-7, || format!("the amplitude is {amplitude:e} l only"))?;
    for step in 1..=steps.min(scene.steps()) {
        let report = simulation.step().map_err(|e| e.to_string())?;
        require(report.outcome.is_success(), || format!("step {step}: {:?}", report.outcome))?;
        require(report.step_cuts.audit == 0, || format!("step {step}: the audit had to cut"))?;
    }
    let found = simulation.audit();
    require(found.is_empty(), || format!("{found:?}"))
}

/// The bits of every frame are those of one thread, whatever the number of threads, and in every run.
#[test]
fn frames_are_equal_on_one_two_and_four_threads() {
    let folder = tempfile::tempdir().unwrap();
    let scenes = all_scenes();
    for (name, steps) in [("rollers", "25"), ("twisted-mat", "4"), ("unit/cube-stack", "60")] {
        let path = &scenes.iter().find(|(n, _)| n == name).unwrap().1;
        let results: Vec<_> = [("1", "a"), ("1", "b"), ("2", "c"), ("4", "d")]
            .iter()
            .map(|(threads, tag)| {
                let target = folder.path().join(name).join(tag);
                let (scene, out) = (path.to_string_lossy(), target.to_string_lossy());
                let args =
                    ["run", &scene, "-o", &out, "-q", "--steps", steps, "--threads", threads];
                let output = standoff(&args);
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                scenes_support::results(&target)
            })
            .collect();
        assert!(results[0].len() as u64 > steps.parse::<u64>().unwrap() + 3);
        for other in &results[1..] {
            for (a, b) in results[0].iter().zip(other) {
                assert_eq!(a.0, b.0, "{name}");
                assert!(a.1 == b.1, "{name}: {} differs", a.0);
            }
            assert_eq!(results[0].len(), other.len(), "{name}");
        }
    }
}

/// A tenth of the tetrahedra of the 100,000 has to live in a tenth of 4 GiB.
#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_tetrahedra_take_less_than_a_tenth_of_four_gibibytes() {
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = all_scenes().into_iter().find(|(n, _)| n == "bench/drop-100k").unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_standoff"))
        .args([OsStr::new("run"), path.as_os_str(), OsStr::new("-o")])
        .arg(folder.path().join("run"))
        .args(["-q", "--threads", "2"])
        .args(options("bench/drop-100k"))
        .spawn()
        .unwrap();
    // the high-water mark of resident memory, until the process is gone
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0u64;
    let end = loop {
        if let Some(end) = child.try_wait().unwrap() {
            break end;
        }
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
        if let Some(kib) = line.and_then(|l| l.trim().strip_suffix(" kB")?.parse().ok()) {
            peak = peak.max(kib);
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    println!("peak {} MiB", peak / 1024);
    assert!(end.success());
    assert!(peak > 10 * 1024 && peak < 4 * 1024 * 1024 / 10, "{peak} KiB");
}
