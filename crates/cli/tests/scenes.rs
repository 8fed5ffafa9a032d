//! Every scene that ships, run by the command: every path between Newton iterates audited, every step converged,
//! every frame audited again, and what each scene is said to show is seen.
//!
//! All files in `scenes/` are run, so that a new scene is covered by itself. What takes long is
//! shortened in `SHORTENED`; what a scene shows stands in its `[[expect]]` tables, and what those cannot say in
//! `scenes_support/expect.rs`.

mod scenes_support;

use rayon::prelude::*;
use scenes_support::expect::{CONDITIONS, require, stays_rigid};
use scenes_support::{all_scenes, jittered, run, shows, standoff};
use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::Simulation;
use standoff_sim::definition::BodyKind;
use standoff_sim::report::PairResultant;
use standoff_sim::settings::AuditLevel;
use standoff_testkit::thorough;
use std::collections::BTreeMap;
use std::path::Path;

/// Scenes that are shortened or coarsened here, with the options that do so.
const SHORTENED: [(&str, &[&str]); 17] = [
    ("codim/cloth-stack", &["--steps", "25", "--set", "objects.cloth.shape.cells=[6, 6]"]),
    (
        "orientation/compactor",
        &[
            "--set",
            "objects.ring.shape.rings=1",
            "--set",
            "objects.ball.shape.layers=2",
            "--set",
            "time.step=0.02",
        ],
    ),
    ("orientation/fine-ball", &["--set", "objects.ball.shape.layers=6"]),
    ("orientation/funnel", &["--set", "objects.body.shape.layers=3"]),
    (
        "orientation/two-rings",
        &["--set", "objects.left.shape.rings=1", "--set", "objects.right.shape.rings=1"],
    ),
    ("robots/panda-lifts", &["--set", "time.end=3"]),
    ("robots/panda-lifts-cloth", &["--set", "time.end=3"]),
    ("rollers", &["--steps", "60"]),
    ("stress/animal-well", &["--steps", "8"]),
    ("stress/funnel", &["--set", "time.step=0.04"]),
    ("stress/twisted-rods", &["--steps", "40"]),
    ("twisted-mat", &["--steps", "20"]),
    ("bench/drop-100k", &["--steps", "8", "--set", "objects.block.shape.cells=[12, 12, 12]"]),
    (
        "bench/plane-20k",
        &[
            "--set",
            "objects.block.shape.cells=[24, 24]",
            "--set",
            "objects.small.shape.cells=[8, 16]",
        ],
    ),
    ("bench/solid-20k", &["--set", "objects.block.shape.cells=[6, 6, 6]"]),
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

/// Scenes that take longest: a quick check makes an eighth of their steps, and looks for what they show until then.
const LONG: [&str; 37] = [
    "codim/all-in",
    "codim/braid",
    "codim/card-shuffle",
    "codim/cloth-on-rotating-sphere",
    "codim/cloth-stack",
    "codim/cloths-through-funnel",
    "codim/deck",
    "codim/granules-on-cloth",
    "codim/hair-clusters",
    "codim/noodles",
    "codim/reef-knot",
    "codim/sprinkles",
    "codim/twisted-ring",
    "impact-ball",
    "orientation/compactor",
    "orientation/fine-ball",
    "orientation/funnel",
    "orientation/two-rings",
    "papers/card-house-hit",
    "papers/ramen",
    "papers/six-rollers",
    "papers/squeeze-out",
    "papers/squishy-ball",
    "papers/squishy-balls-pressed",
    "papers/through-hole",
    "papers/trash-compactor",
    "planar/bowl",
    "planar/chi",
    "rollers",
    "stress/animal-well",
    "stress/ball-on-plate",
    "stress/chain-rings",
    "stress/fine-ball",
    "stress/funnel",
    "stress/stiff-stack",
    "stress/twisted-rods",
    "twisted-mat",
];

/// Scenes that a quick check runs with fewer bodies besides.
const QUICK: [(&str, &[&str]); 1] = [(
    "stress/animal-well",
    &[
        "--set",
        "objects.cube.array.counts=[3, 2, 4]",
        "--set",
        "objects.ring.array.counts=[4, 2, 3]",
        "--set",
        "objects.tet.array.counts=[3, 2, 4]",
    ],
)];

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

/// The gripper of a robot after 2.6 s, when the arm is up, with half of the friction: by how much the lowest point of an object of a scene has risen from
/// the table, and what acts on what.
fn lifted_with_half_of_the_friction(scene: &str, object: &str) -> (f64, Pairs) {
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/robots").join(scene);
    let options = ["--steps", "260", "--set", "friction.coefficient=0.25"];
    let run = run(&path, &folder.path().join("run"), &options).unwrap();
    stays_rigid(&run).unwrap();
    let last = run.frame(run.frames() - 1);
    let forces = run.reports.last().unwrap().forces.pairs.clone();
    (run.extent(&last, object).0.z - 0.2, forces)
}

/// What acts on what, by name.
type Pairs = BTreeMap<String, BTreeMap<String, PairResultant>>;

/// With half of the friction the fingers, which have the same force, slip off the cube that they lift in the scene as it ships.
#[test]
fn with_half_of_the_friction_the_cube_slips_out_of_the_gripper() {
    let (slipped, _) = lifted_with_half_of_the_friction("panda-lifts.toml", "cube");
    assert!(slipped.abs() < 1e-3, "{slipped}");
}

/// A folded cloth is held by a ridge, whose two sides are one cloth. Fingers that press with N each carry at most 2 μ N: 1.55 times its weight in the scene as
/// it ships, or with half of the friction 0.77 times, which is not enough.
#[test]
fn with_half_of_the_friction_the_cloth_slips_out_of_the_gripper() {
    let weight = 230.0 * 2e-3 * 0.304 * 0.12 * 9.81;
    let most = 0.5 * 0.51;
    assert!(most > 1.5 * weight && 0.5 * most < 0.8 * weight, "{most} N, {weight} N");
    let (slipped, forces) = lifted_with_half_of_the_friction("panda-lifts-cloth.toml", "cloth");
    assert!((slipped - 1.2e-3).abs() < 1e-4, "{slipped}");
    let table = forces["cloth"]["table"].force[2];
    assert!((table / weight - 1.0).abs() < 0.01, "{table} N for {weight} N");
}

/// Scenes of thin bodies that the barrier-free solver runs here too.
const THIN_BARRIER_FREE: [&str; 4] =
    ["codim/braid", "codim/cloth-on-needles", "codim/granules-on-cloth", "codim/sewn-pillow"];

/// The options of a scene in this test.
fn options(name: &str) -> Vec<&'static str> {
    let quick = if thorough() { [].iter() } else { QUICK.iter() };
    let of = SHORTENED.iter().chain(quick).filter(|(n, _)| *n == name);
    of.flat_map(|(_, options)| options.iter().copied()).collect()
}

/// Runs a scene and looks for what it shows; a long one in a quick check only for an eighth of its steps.
fn run_as_long_as_wanted(
    name: &str,
    path: &Path,
    folder: &Path,
    more: &[&str],
) -> Result<(), String> {
    let mut options = options(name);
    options.extend(more);
    if thorough() || !LONG.contains(&name) {
        let run = run(path, folder, &options)?;
        return shows((name, path), folder, &options, Some(&run));
    }
    let steps = match options.iter().position(|o| *o == "--steps") {
        Some(k) => options.drain(k..k + 2).nth(1).and_then(|n| n.parse().ok()).unwrap_or(1),
        None => Scene::load(path, &[]).map_err(|e| e.to_string())?.steps(),
    };
    let steps = steps.div_ceil(8).to_string();
    options.extend(["--steps", &steps]);
    run(path, folder, &options)?;
    shows((name, path), folder, &options, None)
}

#[test]
fn every_scene_runs_to_its_end_without_a_violation() {
    let scenes = all_scenes();
    assert!(scenes.len() >= 20, "{} scenes", scenes.len());
    for name in SHORTENED.iter().chain(&QUICK).map(|(name, _)| name).chain(&LONG) {
        assert!(scenes.iter().any(|(n, _)| n == name), "there is no scene {name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let failures: Vec<String> = scenes
        .par_iter()
        .filter_map(|(name, path)| {
            let end = run_as_long_as_wanted(name, path, &folder.path().join(name), &[]);
            end.err().map(|e| format!("{name}: {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The hard scenes, and those of thin bodies, by the barrier-free solver alone: every path audited,
/// every step converged, the same things to be seen.
#[test]
fn stress_and_thin_scenes_run_with_the_barrier_free_solver() {
    let folder = tempfile::tempdir().unwrap();
    let scenes: Vec<_> = all_scenes()
        .into_iter()
        .filter(|(n, _)| n.starts_with("stress/") || THIN_BARRIER_FREE.contains(&n.as_str()))
        .collect();
    assert!(scenes.len() == 7 + THIN_BARRIER_FREE.len(), "{} scenes", scenes.len());
    let long = ["stress/animal-well", "stress/chain-rings", "stress/twisted-rods", "codim/braid"];
    let scenes: Vec<_> =
        scenes.into_iter().filter(|(n, _)| thorough() || !long.contains(&n.as_str())).collect();
    let failures: Vec<String> = scenes
        .par_iter()
        .filter_map(|(name, path)| {
            let mut more = vec!["--solver", "barrier-free", "--set"];
            more.push("solver.barrier_free.fallback=\"none\"");
            // alone, the method does not balance the forces of tight contact in reasonable time
            more.extend(["--set", "solver.end.forces=1"]);
            let end = run_as_long_as_wanted(name, path, &folder.path().join(name), &more);
            end.err().map(|e| format!("{name}: {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What `jumps_off_at_a_distance` counts as constraints, fewer than a hundred, are thousands of contacts of the
/// barrier: with a contact distance larger than the triangles [Zheng 2025, Fig. 11].
#[test]
fn a_contact_distance_larger_than_the_triangles_fills_the_barrier_with_contacts() {
    let (_, path) = all_scenes().into_iter().find(|(n, _)| n == "stress/fine-ball").unwrap();
    let set = ["solver.method=barrier", "solver.end.max_iterations=1"].map(str::to_owned);
    let scene = Scene::load(&path, &set).unwrap();
    let ball = &scene.definition.bodies[0];
    let BodyKind::Volume { tets, .. } = &ball.kind else { panic!("a volume") };
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let edges = tets.iter().flat_map(|t| pairs.map(|(i, j)| [t[i], t[j]]));
    let lengths = edges.map(|e| e.map(|v| ball.rest[v as usize])).map(|[a, b]| (a - b).norm());
    let longest = lengths.fold(0.0, f64::max);
    assert!(scene.definition.settings.contact.d_hat.unwrap() > longest, "{longest}");
    let contacts = Simulation::new(&scene.definition).unwrap().step().unwrap().max_contacts;
    assert!(contacts > 3500, "{contacts}");
}

/// Every scene opens with what one learns from it and what to see, and is in the index.
#[test]
fn every_scene_begins_with_what_it_shows() {
    let index = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/README.md");
    let index = std::fs::read_to_string(index).unwrap();
    for (name, path) in all_scenes() {
        let text = std::fs::read_to_string(path).unwrap();
        let comment: Vec<&str> = text.lines().take_while(|l| l.starts_with('#')).collect();
        for part in ["# What you learn: ", "# What to see: "] {
            assert!(comment.iter().any(|l| l.starts_with(part)), "{name}: no line `{part}`");
        }
        assert!(index.contains(&format!("({name}.toml)")), "scenes/README.md lacks {name}");
        let coded = CONDITIONS.iter().any(|(n, _)| *n == name);
        assert!(
            coded || text.contains("\n[[expect]]\n"),
            "{name}: nobody says what a run must show"
        );
    }
    for (name, _) in CONDITIONS {
        assert!(all_scenes().iter().any(|(n, _)| n == name), "there is no scene {name}");
    }
}

/// Under refinement of the square and the bar that it hits, the smallest gap of the corner stays where it is with the
/// orientation-aware potential, and shrinks with the convergent one [Huang 2024, Fig. 16].
#[test]
fn the_gap_of_a_corner_does_not_depend_on_the_mesh() {
    let (_, path) = all_scenes().into_iter().find(|(n, _)| n == "planar/corner").unwrap();
    let meshes = if thorough() { vec![8, 16, 32] } else { vec![8, 16] };
    let study = |potential: &str, stiffness: &str, length: Option<f64>| {
        let gap = |&n: &u32| {
            let set = [
                format!("contact.potential={potential}"),
                // of this scene only a length, which is another one here
                "contact.orientation=unset".to_owned(),
                format!("contact.stiffness={stiffness}"),
                format!("objects.square.shape.cells=[{n}, {n}]"),
                format!("objects.bar.shape.cells=[{}, 4]", 3 * n / 2),
            ];
            let scene = Scene::load(&path, &set).unwrap();
            let mut definition = scene.definition.clone();
            definition.settings.contact.orientation.length = length;
            let mut simulation = Simulation::new(&definition).unwrap();
            let steps = (0..scene.steps()).filter_map(|_| simulation.step().unwrap().min_gap);
            steps.fold(f64::INFINITY, f64::min)
        };
        let gaps: Vec<f64> = meshes.iter().map(gap).collect();
        println!("{potential}, L {length:?}: smallest gaps {gaps:?} m");
        gaps
    };
    let oriented = study("orientation-aware", "1e7", Some(0.02));
    let finest = oriented[meshes.len() - 1];
    let spread = oriented.iter().fold(0.0, |m: f64, g| m.max((g / finest - 1.0).abs()));
    assert!(spread < 0.1, "{oriented:?}");
    for gaps in [study("convergent", "1e9", None), study("orientation-aware", "1e7", None)] {
        assert!(gaps.windows(2).all(|w| w[1] < 0.85 * w[0]), "{gaps:?}");
    }
}

/// Pairs that the convergent potential subtracts, of which there are many where d̂ is larger than the edges, keep the Hessian of
/// friction positive semidefinite.
#[test]
fn the_convergent_potential_has_friction_at_a_large_contact_distance() {
    let (_, path) = all_scenes().into_iter().find(|(n, _)| n == "orientation/fine-ball").unwrap();
    let set = ["contact.potential=convergent", "objects.ball.shape.layers=6"].map(str::to_owned);
    let scene = Scene::load(&path, &set).unwrap();
    let mut simulation = Simulation::new(&scene.definition).unwrap();
    for _ in 0..2 {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
}

/// Without the orientation-aware potential a slit that is narrower than the contact distance opens [Huang 2024, Fig. 11].
#[test]
fn the_ipc_potential_opens_a_slit() {
    let (_, path) = all_scenes().into_iter().find(|(n, _)| n == "planar/slit").unwrap();
    let width = |potential: &str| {
        let mut set = vec![format!("contact.potential={potential}")];
        if potential != "orientation-aware" {
            set.push("contact.orientation=unset".to_owned());
        }
        let scene = Scene::load(&path, &set).unwrap();
        let rest = &scene.definition.bodies[0].rest;
        let at = |x: f64| rest.iter().position(|p| (p - Vec3::new(x, 1.0, 0.0)).norm() < 1e-9);
        let (left, right) = (at(-0.03).unwrap(), at(0.03).unwrap());
        let mut simulation = Simulation::new(&scene.definition).unwrap();
        (0..scene.steps()).for_each(|_| assert!(simulation.step().unwrap().outcome.is_success()));
        let x = simulation.positions();
        println!("{potential}: the slit is {:.3} m wide", (x[right] - x[left]).norm());
        (x[right] - x[left]).norm()
    };
    assert!((width("orientation-aware") - 0.06).abs() < 1e-12);
    assert!(width("ipc") > 0.15 && width("convergent") > 0.15);
}

/// In the cusps of a χ that is compressed the orientation-aware potential with a small α has no forces, the IPC potential has
/// some and the convergent one more [Huang 2024, Fig. 14]. A larger α needs fewer iterations once the arms touch, and a large one
/// has forces in the cusps, too [Huang 2024, Fig. 17].
#[test]
fn potentials_differ_in_the_cusps_of_a_chi() {
    let (_, path) = all_scenes().into_iter().find(|(n, _)| n == "planar/chi").unwrap();
    // the corners between arms, and between the arms and the plates
    let corners = [(0.12, 0.0), (0.0, 0.12), (0.88, 1.0)];
    let study = |set: &str, adaptive: bool| {
        let mut sets = vec![set.to_owned()];
        if set.starts_with("contact.potential") {
            sets.push("contact.orientation=unset".to_owned());
        }
        let scene = Scene::load(&path, &sets).unwrap();
        let mut definition = scene.definition.clone();
        // at the tolerance of the scene the arms may buckle one way or the other
        definition.settings.solver.end.velocity = Some(1e-3);
        if adaptive {
            definition.settings.contact.stiffness = None;
        }
        let rest = &scene.definition.bodies[0].rest;
        let near =
            |p: &Vec3| corners.iter().any(|&(x, y)| (p.x.abs() - x).hypot(p.y.abs() - y) < 0.1);
        let mut simulation = Simulation::new(&definition).unwrap();
        let (mut before, mut after, mut forces) = (0, 0, 0.0);
        for step in 1..=scene.steps() {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{set} {report:?}");
            // the arms touch after 0.8 s
            *(if step <= 80 { &mut before } else { &mut after }) += report.newton_iterations;
            let of = simulation.contact_forces();
            forces +=
                of.iter().zip(rest).filter(|(_, p)| near(p)).map(|(f, _)| f.norm()).sum::<f64>();
        }
        let mean = forces / scene.steps() as f64;
        println!("{set}: {before} + {after} iterations, {mean:.1} N/m in the cusps on average");
        (after, mean)
    };
    let cases = [
        ("contact.orientation.alpha=0.05", false),
        ("contact.orientation.alpha=0.1", false),
        ("contact.orientation.alpha=0.2", false),
        ("contact.orientation.alpha=1.0", false),
        ("contact.potential=ipc", true),
        ("contact.potential=convergent", false),
        ("contact.orientation.alpha=0.5", false),
    ];
    // in a quick check the two that differ least
    let chosen = |k: usize| thorough() || matches!(k, 0 | 4);
    let of: Vec<Option<(u64, f64)>> = cases
        .par_iter()
        .enumerate()
        .map(|(k, (set, free))| chosen(k).then(|| study(set, *free)))
        .collect();
    if let [Some(low), Some(middle), Some(high), ..] = of[..] {
        assert!(middle.0 * 5 < low.0 * 4 && high.0 < middle.0, "{of:?}");
        assert!(middle.1 < 1.0 && high.1 < 50.0, "{of:?}");
    }
    let forces = |k: usize| of[k].map(|(_, mean)| mean);
    // the default has about as large ones as the IPC potential
    let ipc = forces(4).unwrap();
    assert!(forces(0).unwrap() < 1.0 && ipc > 20.0, "{of:?}");
    assert!(forces(6).is_none_or(|default| default < 1.5 * ipc), "{of:?}");
    assert!(forces(3).is_none_or(|large| large > 500.0), "{of:?}");
    assert!(forces(5).is_none_or(|convergent| convergent > 3.0 * ipc), "{of:?}");
}

#[test]
fn the_board_stops_the_ball_at_every_speed() {
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = all_scenes().into_iter().find(|(n, _)| n == "tunnelling-ball").unwrap();
    for speed in [10, 100, 1000] {
        let set = format!("objects.ball.velocity=[{speed}, 0, 0]");
        let (options, folder) = (["--set", &set], folder.path().join(speed.to_string()));
        let run = run(&path, &folder, &options).unwrap_or_else(|e| panic!("{speed}: {e}"));
        let found = shows(("tunnelling-ball", &path), &folder, &options, Some(&run));
        found.unwrap_or_else(|e| panic!("{speed}: {e}"));
    }
}

/// The scenes again, from starts where every vertex of a deformable body is displaced at random:
/// no coincidence of vertices, edges or faces is left that a method might owe its success to.
#[test]
fn every_scene_runs_from_a_jittered_start() {
    let scenes = all_scenes();
    let failures: Vec<String> = scenes
        .par_iter()
        .enumerate()
        .filter_map(|(seed, (name, path))| {
            jittered_run(name, path, seed as u64).err().map(|e| format!("{name}: {e}"))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// At most 10 steps, or as many as take 40,000 iterations times vertices; a half of them in a quick check.
fn jittered_run(name: &str, path: &Path, seed: u64) -> Result<(), String> {
    let (max_steps, max_work) = if thorough() { (10, 40_000) } else { (5, 20_000) };
    let options = options(name);
    let set: Vec<String> =
        options.chunks(2).filter(|p| p[0] == "--set").map(|p| p[1].to_owned()).collect();
    let steps = options
        .chunks(2)
        .find_map(|pair| (pair[0] == "--steps").then(|| pair[1].parse().unwrap()))
        .map_or(max_steps, |n: u64| n.min(max_steps));
    let scene = Scene::load(path, &set).map_err(|e| e.to_string())?;
    let mut definition = scene.definition.clone();
    definition.settings.solver.audit = AuditLevel::EveryPath;
    let (mut simulation, amplitude): (Simulation, f64) = jittered(&definition, seed)?;
    require(amplitude >= 1e-7, || format!("the amplitude is {amplitude:e} l only"))?;
    let mut work = 0;
    for step in 1..=steps.min(scene.steps()) {
        if work > max_work {
            break;
        }
        let report = simulation.step().map_err(|e| e.to_string())?;
        work += report.newton_iterations * simulation.positions().len() as u64;
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
    for (name, steps) in
        [("rollers", "25"), ("twisted-mat", "4"), ("unit/cube-stack", "60"), ("planar/bowl", "110")]
    {
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
    let mut args = vec!["run".into(), path.into_os_string(), "-o".into()];
    args.push(folder.path().join("run").into_os_string());
    args.extend(["-q", "--threads", "2"].map(Into::into));
    args.extend(options("bench/drop-100k").iter().map(Into::into));
    let (success, peak) = scenes_support::peak_memory(&args);
    println!("peak {peak:.0} MiB");
    assert!(success);
    assert!(peak > 10.0 && peak < 409.6, "{peak} MiB");
}
