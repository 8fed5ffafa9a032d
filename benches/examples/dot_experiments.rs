//! The experiments of chapter 3 of [Li 2020 thesis] with the whole family of solvers: iterations and seconds on growing bodies
//! (`family`), with time step, stiffness and Poisson's ratio varied (`sweep`), with more subdomains (`subdomains`), and
//! the residual by iteration (`residual`). Every solver stops at the same characteristic norm, 10⁻⁵.
//!
//! cargo run --release -p standoff-bench --example dot_experiments -- MODE [SIZE...] [threads=N] [steps=N] [only=NAME]
//!
//! A SIZE is the number of cells across: the bar has 4 SIZE × SIZE × SIZE, the cube 1.6 times as many along each edge, which
//! makes about as many vertices. 12, 20, 24 and 31 make bars of 8,281, 35,721, 60,625 and 128,000 vertices.

#[path = "../../crates/sim/tests/common/mod.rs"]
mod common;

use common::{block, material, scene};
use standoff_linalg::Vec3;
use standoff_linalg::nalgebra::Rotation3;
use standoff_mesh::format;
use standoff_sim::definition::{BodyKind, Definition, Motion, Pivot, PrescribedDef};
use standoff_sim::material::Law;
use standoff_sim::settings::{LinearSolver, Method};
use standoff_sim::{Simulation, StepReport};
use std::f64::consts::PI;
use std::time::Instant;

/// The tolerance of the characteristic norm [Li 2020 thesis, §3.5.2].
const TOLERANCE: f64 = 1e-5;

/// Time step of most experiments, s [Li 2020 thesis, §3.5.1].
const STEP: f64 = 0.025;

/// A solver of the family: its name, and how it is chosen.
type Solver = (&'static str, fn(&mut Definition));

const FAMILY: [Solver; 8] = [
    ("Newton, factorised", |d| d.settings.solver.linear = LinearSolver::MixedCholesky),
    ("Newton, PCG", |d| d.settings.solver.linear = LinearSolver::ConjugateGradient),
    ("Newton, `auto`", |_| ()),
    ("LBFGS-H", |d| dot(d, 1)),
    ("DOT, 2 subdomains", |d| dot(d, 2)),
    ("DOT, 6 subdomains", |d| dot(d, 6)),
    ("LBFGS-PD", |d| d.settings.solver.method = Method::LbfgsPd),
    ("ADMM-PD", |d| d.settings.solver.method = Method::AdmmPd),
];

fn dot(definition: &mut Definition, subdomains: u32) {
    definition.settings.solver.method = Method::Dot;
    definition.settings.solver.decomposition.subdomains = Some(subdomains);
}

/// CPU seconds of all threads of this process, where the system tells them.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // the name, in parentheses, may hold spaces; user and system time are the 14th and 15th field
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some(0.01 * (ticks()? + ticks()?))
}

/// A body of fixed corotated material, E = 10⁵ Pa, ν = 0.4, ρ = 1000 kg/m³, that is let go from where `start` takes
/// its vertices.
fn released(mut definition: Definition, start: impl Fn(&Vec3) -> Vec3) -> Definition {
    let body = &mut definition.bodies[0];
    if let BodyKind::Volume { material: m, .. } = &mut body.kind {
        *m = material(Law::FixedCorotated);
    }
    body.start = body.rest.iter().map(start).collect();
    definition.settings.time.step = STEP;
    definition.settings.contact.enabled = false;
    definition.settings.solver.end.characteristic = Some(TOLERANCE);
    definition
}

/// A bar of 4 × 1 × 1 m along x, its middle in the origin.
fn bar(size: usize) -> Definition {
    let low = [-2.0, -0.5, -0.5];
    scene(vec![block("bar", low, [4 * size, size, size], 1.0 / size as f64)])
}

/// Stretched to twice its length.
fn stretch(size: usize) -> Definition {
    released(bar(size), |x| Vec3::new(2.0 * x.x, 0.75 * x.y, 0.75 * x.z))
}

/// Twisted by half a turn along its length.
fn twist(size: usize) -> Definition {
    released(bar(size), |x| Rotation3::from_axis_angle(&Vec3::x_axis(), PI * x.x / 4.0) * x)
}

/// A cube of 1 m, squashed to 40 % of its height.
fn squash(size: usize) -> Definition {
    let cells = (1.6 * size as f64).round() as usize;
    let cube = scene(vec![block("cube", [-0.5; 3], [cells; 3], 1.0 / cells as f64)]);
    released(cube, |x| Vec3::new(1.3 * x.x, 0.4 * x.y, 1.3 * x.z))
}

/// The bar's ends are turned against each other by 2 rad/s each and pulled apart by 1 m/s each.
fn ends(size: usize) -> Definition {
    let mut definition = released(bar(size), |x| *x);
    let rest = definition.bodies[0].rest.clone();
    for side in [-1.0, 1.0] {
        let held = |v: &u32| (rest[*v as usize].x - 2.0 * side).abs() < 1e-9;
        definition.prescribed.push(PrescribedDef::new(
            format!("end {side}"),
            0,
            (0..rest.len() as u32).filter(held).collect(),
            Motion::Rigid {
                linear: side * Vec3::x(),
                angular: 2.0 * side * Vec3::x(),
                pivot: Pivot::Point(2.0 * side * Vec3::x()),
            },
        ));
    }
    definition
}

/// The armadillo of 13,230 vertices, 1 m high, stretched to 1.6 times its height, in steps of 40 ms; `None` without its
/// mesh, which is too large for the repository.
fn armadillo() -> Option<Definition> {
    let path = standoff_testkit::shared("data/ipc/tetMeshes/Armadillo13K.msh")?;
    let mesh = format::read(&path).ok()?;
    let mut body = block("armadillo", [0.0; 3], [1; 3], 1.0);
    let [low, high] =
        mesh.points.iter().fold([mesh.points[0]; 2], |[low, high], x| [low.inf(x), high.sup(x)]);
    let height = (high - low).max();
    body.rest = mesh.points.iter().map(|x| (x - 0.5 * (low + high)) / height).collect();
    if let BodyKind::Volume { tets, .. } = &mut body.kind {
        tets.clone_from(&mesh.tets);
    }
    let mut definition =
        released(scene(vec![body]), |x| Vec3::new(0.8 * x.x, 1.6 * x.y, 0.8 * x.z));
    definition.settings.time.step = 0.04;
    Some(definition)
}

/// What some steps of a solver take.
fn measure(definition: &Definition, steps: usize) -> Result<String, String> {
    let (clock, cpu) = (Instant::now(), cpu_seconds());
    let mut simulation = Simulation::new(definition).map_err(|e| e.to_string())?;
    let (mut iterations, mut unconverged, mut norm) = (0, 0, 0.0_f64);
    let (mut linear, mut elastic, mut total) = (0.0, 0.0, 0.0);
    for _ in 0..steps {
        let report = simulation.step().map_err(|e| e.to_string())?;
        iterations += report.newton_iterations;
        let s = &report.seconds;
        linear += s.symbolic + s.factorisation + s.solve + s.assembly;
        elastic += s.elasticity;
        total += s.total;
        unconverged += u32::from(!report.outcome.is_success());
        norm = norm.max(report.characteristic_norm.unwrap_or(f64::NAN));
    }
    let wall = clock.elapsed().as_secs_f64();
    let seconds = cpu_seconds().zip(cpu).map_or(wall, |(after, before)| after - before);
    Ok(format!(
        "{:.1} | {seconds:.2} | {wall:.2} | {:.0} / {:.0} / {:.0} % | {norm:.1e} | {unconverged}",
        iterations as f64 / steps as f64,
        100.0 * linear / total,
        100.0 * elastic / total,
        100.0 * (total - linear - elastic) / total,
    ))
}

fn head(first: &str) {
    println!(
        "\n| {first} | solver | iterations per step | CPU s | wall s | linear systems / elasticity / rest | largest norm | steps above 1e-5 |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

/// One row per solver whose name holds `only`. Those that converge slowly may do 200 iterations in a step.
fn rows(name: &str, definition: &Definition, steps: usize, only: &str) {
    for (solver, choose) in FAMILY.iter().filter(|(solver, _)| solver.contains(only)) {
        let mut definition = definition.clone();
        choose(&mut definition);
        definition.settings.solver.end.max_iterations = 200;
        match measure(&definition, steps) {
            Ok(measured) => println!("| {name} | {solver} | {measured} |"),
            Err(e) => println!("| {name} | {solver} | {e} |"),
        }
    }
}

fn family(sizes: &[usize], steps: usize, only: &str) {
    let experiments: [(&str, fn(usize) -> Definition); 4] =
        [("stretched", stretch), ("twisted", twist), ("squashed", squash), ("ends moved", ends)];
    head("experiment, vertices");
    for &size in sizes {
        for (name, definition) in experiments {
            let definition = definition(size);
            let name = format!("{name}, {}", definition.bodies[0].rest.len());
            rows(&name, &definition, steps, only);
        }
    }
    match armadillo() {
        Some(definition) => rows("armadillo, 13230", &definition, steps, only),
        None => println!("the armadillo was left out: its mesh is absent (STANDOFF_SHARED)"),
    }
}

/// The bar whose ends are moved, with one of the parameters varied [Li 2020 thesis, §3.5.6].
fn sweep(size: usize, steps: usize, only: &str) {
    head("varied");
    for h in [0.01, 0.025, 0.04] {
        let mut definition = ends(size);
        definition.settings.time.step = h;
        rows(&format!("h = {h} s"), &definition, steps, only);
    }
    let with = |change: &dyn Fn(&mut standoff_sim::material::Material)| {
        let mut definition = ends(size);
        if let BodyKind::Volume { material, .. } = &mut definition.bodies[0].kind {
            change(material);
        }
        definition
    };
    for modulus in [1e4, 1e5, 1e6] {
        rows(&format!("E = {modulus:e} Pa"), &with(&|m| m.young_modulus = modulus), steps, only);
    }
    for ratio in [0.3, 0.4, 0.45] {
        rows(&format!("ν = {ratio}"), &with(&|m| m.poisson_ratio = ratio), steps, only);
    }
    rows("stable neo-Hookean", &with(&|m| m.law = Law::StableNeoHookean), steps, only);
}

/// Iterations against the number of subdomains [Li 2020 thesis, Fig. 3.5].
fn subdomains(sizes: &[usize], steps: usize) {
    println!(
        "\n| experiment, vertices | subdomains | iterations per step | CPU s | wall s | linear systems / elasticity / rest | largest norm | steps above 1e-5 |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &size in sizes {
        for (name, experiment) in
            [("twisted", twist as fn(usize) -> Definition), ("ends moved", ends)]
        {
            let definition = experiment(size);
            let vertices = definition.bodies[0].rest.len();
            // from 16,384 vertices each, halved down to 256
            let mut counts: Vec<u32> =
                (8..=14).rev().map(|e| (vertices >> e) as u32).filter(|&n| n >= 2).collect();
            counts.insert(0, 1);
            counts.dedup();
            for count in counts {
                let mut definition = definition.clone();
                dot(&mut definition, count);
                let measured = measure(&definition, steps).unwrap_or_else(|e| e);
                println!("| {name}, {vertices} | {count} | {measured} |");
            }
        }
    }
}

/// The norm after k iterations of the third step of a bar whose ends are moved [Li 2020 thesis, Fig. 3.6], to 10⁻⁹.
fn residual(size: usize) {
    let mut definition = ends(size);
    definition.settings.solver.linear = LinearSolver::MixedCholesky;
    let mut simulation = Simulation::new(&definition).unwrap_or_else(|e| panic!("{e}"));
    for _ in 0..2 {
        simulation.step().unwrap_or_else(|e| panic!("{e}"));
    }
    let state = simulation.state().clone();
    let after = |choose: fn(&mut Definition), iterations: u32| -> Result<StepReport, String> {
        let mut definition = definition.clone();
        choose(&mut definition);
        definition.settings.solver.end.characteristic = Some(1e-9);
        definition.settings.solver.end.max_iterations = iterations;
        let restored = Simulation::restore(&definition, state.clone());
        restored.map_err(|e| e.to_string())?.step().map_err(|e| e.to_string())
    };
    println!("\n| solver | iterations | norm | seconds |");
    println!("|---|---|---|---|");
    let counts = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35, 42, 50, 60, 72, 86, 100];
    for (name, choose) in FAMILY.iter().filter(|(name, _)| !name.contains("auto")) {
        for count in counts {
            match after(*choose, count) {
                Ok(report) => {
                    let norm = report.characteristic_norm.unwrap_or(f64::NAN);
                    let (done, seconds) = (report.newton_iterations, report.seconds.total);
                    println!("| {name} | {done} | {norm:.2e} | {seconds:.3} |");
                    if norm < 1e-9 || done < u64::from(count) {
                        break;
                    }
                }
                Err(e) => {
                    println!("| {name} | {count} | {e} | |");
                    break;
                }
            }
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = |key: &str| arguments.iter().find_map(|a| a.strip_prefix(key));
    let number = |key: &str, default: usize| {
        text(key).and_then(|a| a.parse().ok()).filter(|n| *n > 0).unwrap_or(default)
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number("threads=", 2)).build_global();
    pool.expect("no pool before");
    let sizes: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let steps = number("steps=", 4);
    let only = text("only=").unwrap_or_default();
    let or = |default: &[usize]| if sizes.is_empty() { default.to_vec() } else { sizes.clone() };
    match arguments.first().map(String::as_str) {
        Some("family") => family(&or(&[12, 20]), steps, only),
        Some("sweep") => sweep(or(&[16])[0], steps, only),
        Some("subdomains") => subdomains(&or(&[12, 20]), steps),
        Some("residual") => residual(or(&[20])[0]),
        _ => eprintln!("say what to run: family, sweep, subdomains or residual"),
    }
}
