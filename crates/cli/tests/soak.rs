//! Random scenes by both solvers, every frame checked by the audit and by a program that shares nothing with
//! it: the short form of `soak`, whose long form developing.md documents.

use rayon::prelude::*;
use standoff_soak::generate::{self, Parts};
use standoff_soak::outcome::Outcome;
use standoff_soak::run::{Record, Runner};
use standoff_testkit::thorough;

/// As many joints as may be.
fn joined() -> Parts {
    Parts { rigid: 1.0, joints: 1.0, ..Parts::default() }
}

/// Seeds and solvers of scenes with quadratic elements in contact. In the last one a heavy body is pulled off, so that a weaker barrier within the
/// elements beside what is held lets them come too close to inversion.
const QUADRATIC: [(u64, &str); 6] = [
    (12036, "barrier"),
    (12036, "barrier-free"),
    (12016, "barrier"),
    (12016, "barrier-free"),
    (12050, "barrier"),
    (12001, "barrier"),
];

/// Seeds whose scenes take little time; among them all that can happen, and all kinds of bodies.
/// A quick check takes the first half.
const SEEDS: [u64; 12] = [1, 4, 5, 6, 10, 11, 12, 13, 14, 17, 18, 24];

#[test]
fn random_scenes_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 10, set: vec![] };
    let seeds = if thorough() { &SEEDS[..] } else { &SEEDS[..6] };
    let runs = seeds.iter().flat_map(|s| ["barrier", "barrier-free"].map(|solver| (*s, solver)));
    let records: Vec<Record> = runs
        .collect::<Vec<_>>()
        .par_iter()
        .map(|(seed, solver)| {
            let scene = folder.path().join(format!("{seed}-{solver}.toml"));
            std::fs::write(&scene, generate::scene(*seed)).unwrap();
            runner.run(*seed, &scene, &folder.path().join(format!("{seed}-{solver}")), solver)
        })
        .collect();
    for r in &records {
        println!(
            "{} {}: {} {:.1} s {}",
            r.seed,
            r.solver,
            r.outcome.describe(),
            r.seconds,
            r.message
        );
        let accepted =
            [Outcome::Converged, Outcome::Named, Outcome::UnmetNamed, Outcome::TimeLimit];
        assert!(accepted.contains(&r.outcome), "seed {} {}: {}", r.seed, r.solver, r.message);
        assert!(r.frames > 0, "seed {} {}: no frame was checked", r.seed, r.solver);
    }
    let converged = records.iter().filter(|r| r.outcome == Outcome::Converged).count();
    assert!(4 * converged >= 3 * records.len(), "{converged} of {}", records.len());
}

/// Random scenes with joints between rigid bodies, and limits, drives, springs, friction and couplings along them. In the first one a drive presses a
/// slide against its limit while its bodies turn; before limited coordinates went linearly on the path of a step, six of its ten steps ended after 10,000
/// iterations with an open joint.
#[test]
fn random_scenes_with_joints_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 20, set: vec![] };
    for seed in [9010, 9035, 9070, 9080, 9094, 9111, 9113] {
        let scene = folder.path().join(format!("{seed}.toml"));
        std::fs::write(&scene, generate::scene_with(seed, &joined())).unwrap();
        let record = runner.run(seed, &scene, &folder.path().join(seed.to_string()), "barrier");
        println!("{seed}: {} iterations in {} steps", record.iterations, record.steps);
        assert_eq!(record.outcome, Outcome::Converged, "seed {seed}: {}", record.message);
        assert!(record.iterations < 100 * record.steps, "seed {seed}: {}", record.iterations);
    }
}

/// Friction that is updated until it settles, and does not, moves bodies each time: that opens no joint for good, and the outcome says which of
/// both it is.
#[test]
fn joints_stay_closed_however_often_friction_is_updated() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 20, set: vec![] };
    for seed in [9349, 9433] {
        let scene = folder.path().join(format!("{seed}.toml"));
        std::fs::write(&scene, generate::scene_with(seed, &joined())).unwrap();
        let record = runner.run(seed, &scene, &folder.path().join(seed.to_string()), "barrier");
        println!("{seed}: {} iterations in {} steps", record.iterations, record.steps);
        assert_eq!(record.outcome, Outcome::UnmetNamed, "seed {seed}: {}", record.message);
        assert!(record.message.contains("lagging-limit"), "{}", record.message);
    }
}

/// Random scenes whose volumes have quadratic elements, by both solvers.
#[test]
fn random_scenes_of_quadratic_elements_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 20, set: vec![] };
    let parts = Parts { rigid: 0.2, quadratic: 1.0, ..Parts::default() };
    let (mut curved, mut balanced) = (0, 0);
    for (seed, solver) in QUADRATIC {
        let scene = folder.path().join(format!("{seed}.toml"));
        let text = generate::scene_with(seed, &parts);
        curved += text.matches("quadratic").count();
        std::fs::write(&scene, text).unwrap();
        let record =
            runner.run(seed, &scene, &folder.path().join(format!("{seed}-{solver}")), solver);
        println!("{seed} {solver}: {} iterations in {} steps", record.iterations, record.steps);
        assert_eq!(record.outcome, Outcome::Converged, "seed {seed}: {}", record.message);
        balanced += record.balanced;
    }
    assert!(curved >= QUADRATIC.len() && balanced > 0, "{curved} {balanced}");
}

/// Runs the scenes of seeds with these parts by both solvers, every one of which has to converge: their texts, and how often the forces on a body were
/// balanced.
fn converge(seeds: &[u64], parts: &Parts) -> (String, u64) {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 20, set: vec![] };
    let (mut texts, mut balanced) = (String::new(), 0);
    for &seed in seeds {
        let scene = folder.path().join(format!("{seed}.toml"));
        let text = generate::scene_with(seed, parts);
        std::fs::write(&scene, &text).unwrap();
        texts += &text;
        for solver in ["barrier", "barrier-free"] {
            let out = folder.path().join(format!("{seed}-{solver}"));
            let record = runner.run(seed, &scene, &out, solver);
            assert_eq!(record.outcome, Outcome::Converged, "seed {seed}: {}", record.message);
            balanced += record.balanced;
        }
    }
    (texts, balanced)
}

/// Random scenes whose volumes relax or yield.
#[test]
fn random_scenes_of_what_relaxes_and_yields_keep_every_promise() {
    let parts = Parts { quadratic: 0.25, inelastic: 1.0, ..Parts::default() };
    let (texts, balanced) = converge(&[8, 14, 35, 40], &parts);
    let [yielding, relaxing] = ["yield_stress", "ratio = "].map(|key| texts.matches(key).count());
    assert!(yielding > 1 && relaxing > 1 && balanced > 20, "{yielding} {relaxing} {balanced}");
}

/// Random scenes whose volumes have fibres that resist and draw.
#[test]
fn random_scenes_with_fibres_keep_every_promise() {
    let parts = Parts { quadratic: 0.25, fibres: 1.0, ..Parts::default() };
    let (texts, balanced) = converge(&[8, 19, 28, 41], &parts);
    let drawing = texts.matches("tension = ").count();
    assert!(drawing > 1 && balanced > 20, "{drawing} {balanced}");
}

/// Seeds of scenes in two dimensions. In the first four a plate that begins on the axis of revolution is stopped by what it presses, which had left it
/// 1e-16 m behind the axis; in the others rings close, which had no barrier and stalled.
const PLANAR: [u64; 9] = [49, 58, 81, 142, 40, 85, 100, 134, 140];

/// Random scenes in two dimensions and of bodies of revolution.
#[test]
fn random_scenes_in_the_plane_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 20, set: vec![] };
    let some = Parts { inelastic: 0.25, kinetic: 0.25, fibres: 0.25, growth: 0.25, ..joined() };
    let parts = Parts { planar: 1.0, quadratic: 0.5, ..some };
    let (mut checked, mut balanced) = (0, 0);
    // two more, in the plane, whose momentum is balanced
    for seed in PLANAR.into_iter().chain([6, 7]) {
        let scene = folder.path().join(format!("{seed}.toml"));
        std::fs::write(&scene, generate::scene_with(seed, &parts)).unwrap();
        let record = runner.run(seed, &scene, &folder.path().join(seed.to_string()), "barrier");
        println!("{seed}: {} iterations in {} steps", record.iterations, record.steps);
        assert_eq!(record.outcome, Outcome::Converged, "seed {seed}: {}", record.message);
        checked += record.frames;
        balanced += record.balanced;
    }
    assert!(checked > 80 && balanced > 10, "{checked} {balanced}");
}

/// A random scene in which weights close joints slowly beside those of stiff bodies: they become stiffer. Without that its steps took eightfold
/// iterations, 10,528.
#[test]
fn joints_that_stay_open_become_stiffer() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 60, set: vec![] };
    let scene = folder.path().join("9483.toml");
    std::fs::write(&scene, generate::scene_with(9483, &joined())).unwrap();
    let record = runner.run(9483, &scene, &folder.path().join("run"), "barrier");
    println!("{} iterations in {} steps: {}", record.iterations, record.steps, record.message);
    assert!(record.iterations < 3000, "{}", record.iterations);
}

/// A step along a direction too short for the digits of positions is a whole one: the barrier-free method does not continue for hundreds of iterations
/// only since the potential does not show it. Without that the steps of this scene took twofold iterations, 575.
#[test]
fn directions_too_short_to_see_end_a_step_of_the_barrier_free_method() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 60, set: vec![] };
    let scene = folder.path().join("52.toml");
    std::fs::write(&scene, generate::scene(52)).unwrap();
    let record = runner.run(52, &scene, &folder.path().join("run"), "barrier-free");
    println!("{} iterations in {} steps", record.iterations, record.steps);
    assert_eq!(record.outcome, Outcome::Converged, "{}", record.message);
    assert!(record.iterations < 400, "{}", record.iterations);
}

/// A random scene in which friction does not settle in a step: each of its many minimisations may close joints again, so that the step ends for that
/// reason and not because a joint stayed open.
#[test]
fn friction_that_does_not_settle_leaves_joints_closed() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 60, set: vec![] };
    let scene = folder.path().join("9349.toml");
    std::fs::write(&scene, generate::scene_with(9349, &joined())).unwrap();
    let record = runner.run(9349, &scene, &folder.path().join("run"), "barrier");
    println!("{} steps: {}", record.steps, record.message);
    assert!(!record.message.contains("stays open"), "{}", record.message);
    assert_eq!((record.outcome, record.steps), (Outcome::UnmetNamed, 9), "{}", record.message);
}

/// Random scenes in which the barrier-free solver alone takes minutes for a step or stalls: the barrier finishes
/// these steps, in the last scene with the least κ, without which it finds a motion blocked.
#[test]
fn scenes_that_the_barrier_completes_end_with_the_barrier_free_solver_too() {
    let cases = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/cases");
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 60, set: vec![] };
    // a quick check leaves out those that take longest
    let seeds = if thorough() { &[2, 9, 11, 12, 18, 389][..] } else { &[2, 18] };
    let records: Vec<Record> = seeds
        .par_iter()
        .map(|seed| {
            let scene = cases.join(format!("soak-{seed:02}.toml"));
            let run = folder.path().join(seed.to_string());
            let record = runner.run(*seed, &scene, &run, "barrier-free");
            // every run says how many steps the barrier finished
            let stats = std::fs::read_to_string(run.join("stats.jsonl")).unwrap();
            assert_eq!(stats.matches("\"fallback\":\"").count() as u64, record.fallbacks);
            record
        })
        .collect();
    for r in &records {
        println!("{}: {} of {} steps by the barrier", r.seed, r.fallbacks, r.steps);
        assert_eq!(r.outcome, Outcome::Converged, "seed {}: {}", r.seed, r.message);
    }
    // the barrier finishes some of the steps, the method alone the others
    assert!(records.iter().any(|r| r.fallbacks > 0));
    assert!(records.iter().any(|r| r.fallbacks < r.steps), "all steps by the barrier");
}

/// Random scenes in which inner forces, or contacts on both sides, are so large that the residual of a body is small beside them and not
/// beside the resultant of its contact forces: what a program that shares nothing with the solver finds missing is below 1 %.
#[test]
fn resultants_balance_where_inner_forces_are_large() {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner { standoff: env!("CARGO_BIN_EXE_standoff").into(), limit: 60, set: vec![] };
    for (seed, steps) in [(380, 5), (622, 6), (985, 10)] {
        let scene = folder.path().join(format!("{seed}.toml"));
        std::fs::write(&scene, generate::scene(seed)).unwrap();
        let record = runner.run(seed, &scene, &folder.path().join(seed.to_string()), "barrier");
        assert_eq!(record.outcome, Outcome::Converged, "seed {seed}: {}", record.message);
        assert_eq!(record.steps, steps, "seed {seed}");
        assert!(record.balanced > 0, "seed {seed}: no balance was checked");
    }
}

/// A step that friction's updates do not settle ends with a reason that names the objects involved and what to do.
#[test]
fn a_step_above_the_tolerance_names_where_and_says_what_to_do() {
    let case = "../../testdata/cases/soak-20.toml";
    let scene = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(case);
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_standoff"))
        .arg("run")
        .arg(scene)
        .arg("-o")
        .arg(&run)
        // as few updates as make it certain
        .args(["-q", "--threads", "1", "--steps", "17", "--set", "friction.max_lagging=2"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in ["did not converge: friction did not settle", "is largest at vertex", "stick_speed"]
    {
        assert!(said.contains(part), "'{part}' is missing in: {said}");
    }
    let stats = std::fs::read_to_string(run.join("stats.jsonl")).unwrap();
    let mut unmet = 0;
    for line in stats.lines() {
        let step: serde_json::Value = serde_json::from_str(line).unwrap();
        let ended_well = step["outcome"] == "converged";
        let place = step["unmet"].as_str().unwrap_or_default();
        assert_eq!(ended_well, place.is_empty(), "{line}");
        assert!(ended_well || place.contains("of '") && place.contains("closest are"), "{line}");
        unmet += u64::from(!ended_well);
    }
    assert!(unmet > 0);
}
