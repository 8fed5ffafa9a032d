//! Whole runs against those of the IPC 2020 reference: the same scenes with the same h, tolerance and
//! d̂, compared by Newton iterations and by positions after the steps that the reference recorded.
//!
//! Where bodies are at rest or held, a position may differ by one Newton direction of the tolerance for each step, tol·ℓ·h·n. Some runs
//! add errors up in their velocities or amplify them until that fails; they are in `SENSITIVE`, and from the step named there on are
//! compared by the heights, the sizes and the energies of their bodies. How far these may be off is
//! measured, not chosen: Standoff's own runs with smaller tolerances and with starts displaced by a
//! fraction of the tolerance spread, too, and the reference has to lie within four times their spread. Their Newton iterations are
//! compared on average over the displaced starts.
//!
//! Steps start without extrapolation, which the reference does not have either: errors of the size of the tolerance depend on the initial guess.

use rayon::prelude::*;
use standoff_ipc_import::Import;
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::definition::{BodyKind, Definition};
use standoff_sim::energy::Term;
use standoff_sim::settings::InitialGuess;
use standoff_testkit::{numbers, testdata, testdata_json};

/// Runs that are compared by bulk quantities from a step on, and why.
const SENSITIVE: [(&str, usize, &str); 18] = [
    ("cubeStack", 50, "a column of cubes without friction: which way it falls apart"),
    ("erl_spikeSpike", 50, "tip on tip: which side it slips off"),
    ("erl_spikeWedge", 50, "tip on ridge: which side it slips off"),
    ("erl_wedgeWedge", 50, "ridge on ridge: which side it slips off"),
    ("erl_wedgeWedgo", 50, "ridge on ridge: which side it slips off"),
    ("largeMassRatio", 50, "a soft cube under a heavy one, which rocks"),
    ("slope_0.49", 100, "a block slides, so that its velocity keeps the errors of the steps"),
    ("tetSlots", 60, "half a micrometre of clearance in a slot: when it slides on"),
    ("tetTet", 50, "corner on tip: when it slips"),
    ("tut_2cubesFall_DBC", 100, "cube on a pulled cube, rocking and sliding"),
    ("tut_2cubesFall_NBC_timeRange", 100, "cube on cube, rocking and sliding"),
    ("tut_2cubesFall_attach", 50, "cube on cube, rocking and sliding"),
    ("tut_2cubesFall_heavyTop", 100, "cube on cube, rocking and sliding"),
    ("tut_2cubesFall_initVel", 10, "impact at 20 m/s"),
    ("tut_2cubesFall_rotateCO", 100, "a cube on a turning cube"),
    ("tut_2cubesFall_rotateCO_edges", 100, "a cube on a turning triangle of wires"),
    ("tut_2cubesFall_rotateCO_triangle", 50, "a cube on a turning triangle"),
    ("tut_2cubesFall_translateCO", 50, "a cube on a moving cube"),
];

/// Too long for a test; `tools/compare_reference.py` runs them.
const LONG: [&str; 2] = ["mat40Twist", "matKnives"];

/// What a run left: positions after the listed steps, and the number of Newton iterations.
struct Run {
    positions: Vec<Vec<Vec3>>,
    iterations: u64,
}

fn run(definition: &Definition, steps: usize, listed: &[usize]) -> Run {
    let mut simulation = Simulation::new(definition).expect("a valid start");
    let (mut positions, mut iterations) = (Vec::new(), 0);
    for step in 1..=steps {
        let report = simulation.step().unwrap_or_else(|e| panic!("{e}"));
        assert!(report.outcome.is_success(), "step {step}: {:?}", report.outcome);
        iterations += report.newton_iterations;
        if listed.contains(&step) {
            positions.push(simulation.positions().to_vec());
        }
    }
    Run { positions, iterations }
}

/// Parts of the tolerance of the first variants.
const TOLERANCES: [f64; 3] = [0.5, 0.1, 1e-3];

/// Runs that differ from the given one as little as two implementations may: by the tolerance, or by
/// a start displaced by up to 1e-6 ℓ or a tenth of the error that the tolerance leaves in one step.
fn variants(definition: &Definition, length: f64) -> Vec<Definition> {
    let tolerance = definition.settings.solver.end.velocity.expect("set by the import");
    let displacement = 0.1 * tolerance * definition.settings.time.step;
    let mut all: Vec<Definition> = TOLERANCES
        .map(|factor| {
            let mut variant = definition.clone();
            variant.settings.solver.end.velocity = Some(factor * tolerance);
            variant
        })
        .into();
    for seed in 1..=6u32 {
        let size = if seed <= 3 { 1e-6 * length } else { displacement };
        let mut variant = definition.clone();
        let mut k = 0.0;
        for body in &mut variant.bodies {
            if let BodyKind::Volume { .. } = body.kind {
                if body.start.is_empty() {
                    body.start.clone_from(&body.rest);
                }
                for x in &mut body.start {
                    // numbers without a pattern, the same in every run
                    k += 1.0;
                    let wave = |f: f64| (f * (k + 100.0 * f64::from(seed)) * (k + 3.0)).sin();
                    *x += size * Vec3::new(wave(1.1), wave(1.7), wave(2.3));
                }
            }
        }
        all.push(variant);
    }
    all
}

/// Heights of the centres and diagonals of the boxes of the volumes, m, and gravity's and the elastic
/// energy, as heights m g h of all of them, m.
fn bulk(simulation: &Simulation, x: &[Vec3]) -> Vec<f64> {
    let model = simulation.model();
    let (mut all, mut weight, mut lifted) = (Vec::new(), 0.0, 0.0);
    for body in &model.bodies {
        let range = body.vertices.clone();
        if !range.clone().all(|v| model.deformable[v]) || range.end > x.len() {
            continue;
        }
        let part = &x[range.clone()];
        let (low, high) = part.iter().fold((part[0], part[0]), |(l, h), x| (l.inf(x), h.sup(x)));
        all.push(part.iter().map(|x| x.y).sum::<f64>() / part.len() as f64);
        all.push((high - low).norm());
        weight += range.clone().map(|v| model.mass[v]).sum::<f64>();
        lifted += range.map(|v| model.mass[v] * x[v].y).sum::<f64>();
    }
    let mut full = simulation.positions().to_vec();
    full[..x.len()].copy_from_slice(x);
    all.push(lifted / weight);
    all.push(model.solids.tets.value(&full) / (weight * 9.81));
    all
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Compares one scene; a line for people, or what is wrong.
fn compare(name: &str) -> Result<String, String> {
    let file = |what: &str| testdata_json(&format!("reference/ipc/{name}/{what}.json"));
    let (stats, wanted) = (file("stats"), file("positions"));
    let path = testdata(&format!("reference/ipc/{name}/scene.txt"));
    let root = testdata("data/ipc");
    let import = Import::load(&path, &[root]).map_err(|e| e.to_string())?;
    let mut definition = import.definition();
    definition.settings.solver.initial_guess = InitialGuess::RigidMotion;
    let steps = stats["steps"].as_u64().ok_or("steps")? as usize;
    let mut listed: Vec<usize> =
        wanted.as_object().ok_or("object")?.keys().map(|k| k.parse().unwrap()).collect();
    listed.sort_unstable();

    let result = run(&definition, steps, &listed);
    let from = SENSITIVE.iter().find(|(n, ..)| *n == name).map_or(usize::MAX, |(_, step, _)| *step);
    let mut others: Vec<Run> = Vec::new();
    if from < usize::MAX {
        let all = variants(&definition, import.length);
        others = all.iter().map(|d| run(d, steps, &listed)).collect();
    }
    // of one run that amplifies differences, the number is chance: on average over displaced starts
    let runs = || std::iter::once(&result).chain(others.iter().skip(TOLERANCES.len()));
    let iterations = runs().map(|r| r.iterations as f64).sum::<f64>() / runs().count() as f64;
    let ratio = iterations / stats["iters"].as_f64().ok_or("iters")?;
    let mut line = format!("{name:38} iterations {ratio:.2}");
    let mut faults = Vec::new();
    // as README and docs/src/validation/ipc-2020.md say, to two digits
    if !(0.555..1.255).contains(&ratio) {
        faults.push(format!("{ratio:.2} times the iterations of the reference, not 0.56 to 1.25"));
    }
    let h = definition.settings.time.step;
    let speed = definition.settings.solver.end.velocity.ok_or("tolerance")?;
    let measure = Simulation::new(&definition).map_err(|e| e.to_string())?;
    for (k, step) in listed.iter().enumerate() {
        let theirs: Vec<Vec3> =
            numbers(&wanted[step.to_string()]).chunks(3).map(Vec3::from_column_slice).collect();
        let ours = &result.positions[k][..theirs.len()];
        let (error, tolerance) = (farthest(ours, &theirs), speed * h * *step as f64);
        line += &format!("; {step}: {error:.1e} (tolerance {tolerance:.1e})");
        if *step < from {
            if error > tolerance {
                faults.push(format!("step {step}: {error:.2e} m, tolerance {tolerance:.2e} m"));
            }
            continue;
        }
        let (a, b) = (bulk(&measure, ours), bulk(&measure, &theirs));
        let spread = others
            .iter()
            .map(|o| largest_difference(&a, &bulk(&measure, &o.positions[k][..theirs.len()])))
            .fold(0.0, f64::max);
        let own = others
            .iter()
            .map(|o| farthest(ours, &o.positions[k][..theirs.len()]))
            .fold(0.0, f64::max);
        let off = largest_difference(&a, &b);
        line += &format!(" own {own:.1e} bulk {off:.1e} spread {spread:.1e}");
        if off > tolerance.max(4.0 * spread) {
            faults.push(format!("step {step}: heights, sizes or energies are {off:.2e} m off"));
        }
    }
    println!("{line}");
    if faults.is_empty() { Ok(line) } else { Err(format!("{name}: {}", faults.join("; "))) }
}

#[test]
fn small_scenes_run_as_in_the_reference() {
    let folder = testdata("reference/ipc");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|n| !LONG.contains(&n.as_str()))
        .collect();
    names.sort();
    assert!(names.len() >= 39, "{}", names.len());
    for (name, ..) in SENSITIVE {
        assert!(names.iter().any(|n| n == name), "there is no run {name}");
    }
    let faults: Vec<String> = names.par_iter().filter_map(|n| compare(n).err()).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A step may end with an error of tol·ℓ·h, which changes the velocity by tol·ℓ. A block that slides keeps it, so that the
/// errors of n steps add up to tol·ℓ·h·n(n + 1)/2 at most, and to more than tol·ℓ·h·n.
#[test]
fn a_sliding_block_adds_up_the_errors_of_its_steps() {
    let path = testdata("reference/ipc/slope_0.49/scene.txt");
    let import = Import::load(&path, &[testdata("data/ipc")]).expect("a scene");
    let mut definition = import.definition();
    definition.settings.solver.initial_guess = InitialGuess::RigidMotion;
    let (n, h) = (100_usize, definition.settings.time.step);
    let tolerance = definition.settings.solver.end.velocity.expect("set by the import") * h;
    let start = Simulation::new(&definition).expect("a valid start").positions()[..8].to_vec();
    let down = Vec3::new(2.0, -1.0, 0.0).normalize();
    let way = |x: &[Vec3]| x.iter().zip(&start).map(|(x, s)| (x - s).dot(&down)).sum::<f64>() / 8.0;
    // implicit Euler from rest under a constant acceleration
    let exact = 9.81 / 5_f64.sqrt() * (1.0 - 2.0 * 0.49) * h * h * (n * (n + 1)) as f64 / 2.0;
    let ours = way(&run(&definition, n, &[n]).positions[0]);
    definition.settings.solver.end.velocity = Some(1e-2 * tolerance / h);
    let accurate = way(&run(&definition, n, &[n]).positions[0]);
    let wanted = &testdata_json("reference/ipc/slope_0.49/positions.json")["100"];
    let theirs: Vec<Vec3> = numbers(wanted).chunks(3).map(Vec3::from_column_slice).collect();
    let theirs = way(&theirs);
    let (steps, bound) = (tolerance * n as f64, tolerance * (n * (n + 1)) as f64 / 2.0);
    println!(
        "way in {n} steps: {ours:.4} m, reference {theirs:.4} m, with a hundredth of the tolerance {accurate:.4} m, exact {exact:.4} m; \
         a direction of the tolerance per step {steps:.1e} m, added up in the velocity {bound:.2e} m"
    );
    assert!((accurate - exact).abs() < 1e-3, "{accurate} {exact}");
    for way in [ours, theirs] {
        let error = (way - accurate).abs();
        assert!(error > 10.0 * steps && error < bound, "{error} {steps} {bound}");
    }
}
