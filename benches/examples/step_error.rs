//! What a tolerance means: errors and CPU seconds of single steps with several tolerances, and what an error costs.
//!
//! cargo run --release -p standoff-bench --example step_error -- SCENE [tolerance=T]... [set=KEY=VALUE]... [steps=N] [every=K] [meshes=FOLDER]
//!
//! Runs N steps of a scene (`.toml`, or `.txt` of the IPC 2020 reference) with a hundredth of the least tolerance. Every K-th step
//! is repeated with each tolerance T, from the same state. T is `solver.end.velocity_relative`, in units of the scene's length l per second.
//! Prints a table (Markdown) with the Newton iterations and CPU seconds per step, and the differences of the velocities at the ends of
//! the steps in the same unit: the largest of all vertices and steps, and the geometric mean over the steps of the root mean square over the
//! vertices. Where shells fold there are several minima, and another one than that of the exact step counts as an error too; that
//! is why the mean is the geometric one.
//!
//! One thread.

use standoff_ipc_import::Import;
use standoff_linalg::Vec3;
use standoff_scene::Scene;
use standoff_sim::Simulation;
use standoff_sim::definition::Definition;
use std::error::Error;
use std::path::Path;

/// The tolerance of the steps that count as exact, in units of the least one that is compared.
const EXACT: f64 = 1e-2;

/// What is measured with one tolerance.
#[derive(Default)]
struct Sums {
    iterations: u64,
    seconds: f64,
    largest: f64,
    /// Sum of the logarithms of the steps' errors.
    logarithms: f64,
}

/// Errors below this count as this.
const NONE: f64 = 1e-12;

impl Sums {
    fn add_errors(&mut self, v: &[Vec3], exact: &[Vec3], unit: f64) {
        let errors: Vec<f64> =
            v.iter().zip(exact).map(|(v, exact)| (v - exact).norm() / unit).collect();
        self.largest = errors.iter().copied().fold(self.largest, f64::max);
        let square = errors.iter().map(|e| e * e).sum::<f64>() / errors.len().max(1) as f64;
        self.logarithms += square.sqrt().max(NONE).ln();
    }
}

/// CPU seconds of this process, where the system tells them; those of the clock elsewhere.
fn cpu_seconds(start: std::time::Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    nanoseconds.map_or(start.elapsed().as_secs_f64(), |n| 1e-9 * n)
}

fn load(
    path: &str,
    overrides: &[String],
    meshes: Option<&String>,
) -> Result<Definition, Box<dyn Error>> {
    if !path.ends_with(".txt") {
        return Ok(Scene::load(Path::new(path), overrides)?.definition);
    }
    let roots: Vec<_> = meshes.iter().map(|m| m.into()).collect();
    Ok(Import::load(Path::new(path), &roots)?.resolve(overrides)?.definition)
}

fn main() -> Result<(), Box<dyn Error>> {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global()?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let scene = arguments.first().ok_or("name a scene file")?;
    let keys = ["tolerance", "set", "steps", "every", "meshes"];
    let known = |a: &&String| a.split_once('=').is_some_and(|(key, _)| keys.contains(&key));
    if let Some(unknown) = arguments[1..].iter().find(|a| !known(a)) {
        return Err(format!("'{unknown}' is none of {keys:?}, each followed by '='").into());
    }
    let values = |key: &str| -> Vec<String> {
        let value = |a: &String| Some(a.strip_prefix(key)?.strip_prefix('=')?.to_owned());
        arguments.iter().filter_map(value).collect()
    };
    let number = |key: &str, default| values(key).last().map_or(Ok(default), |n| n.parse());
    let (steps, every): (usize, usize) = (number("steps", 20)?, number("every", 1)?);
    if every == 0 {
        return Err("every=0: give a number of steps from 1 on".into());
    }
    let mut tolerances: Vec<f64> =
        values("tolerance").iter().map(|t| t.parse()).collect::<Result<_, _>>()?;
    if tolerances.is_empty() {
        tolerances = vec![1e-1, 1e-2, 1e-3, 1e-4];
    }
    let least = tolerances.iter().copied().fold(f64::INFINITY, f64::min);
    let definition = load(scene, &values("set"), values("meshes").last())?;
    let with_tolerance = |tolerance: f64| {
        let mut definition = definition.clone();
        definition.settings.solver.end.velocity = None;
        definition.settings.solver.end.velocity_relative = tolerance;
        definition
    };
    let mut exact = Simulation::new(&with_tolerance(EXACT * least))?;
    let with_tolerance = |&tolerance: &f64| (with_tolerance(tolerance), Sums::default());
    let mut inexact: Vec<_> = tolerances.iter().map(with_tolerance).collect();
    let start = std::time::Instant::now();
    let unit = exact.model().length;
    let (mut compared, mut without_minimum) = (0u32, 0);
    for step in 1..=steps {
        let state = exact.state().clone();
        without_minimum += u32::from(!exact.step()?.outcome.is_minimum());
        if step % every != 0 {
            continue;
        }
        compared += 1;
        for (definition, sums) in &mut inexact {
            let mut simulation = Simulation::restore(definition, state.clone())?;
            let before = cpu_seconds(start);
            sums.iterations += simulation.step()?.newton_iterations;
            sums.seconds += cpu_seconds(start) - before;
            sums.add_errors(simulation.velocities(), exact.velocities(), unit);
        }
    }
    println!("| tolerance | Newton iterations | CPU s | largest error | mean error |");
    println!("|---|---|---|---|---|");
    for (tolerance, (_, sums)) in tolerances.iter().zip(&inexact) {
        let per_step = |sum: f64| sum / f64::from(compared.max(1));
        let mean = per_step(sums.logarithms).exp();
        println!(
            "| {tolerance} | {:.1} | {:.4} | {:.1e} | {mean:.1e} |",
            per_step(sums.iterations as f64),
            per_step(sums.seconds),
            sums.largest
        );
    }
    println!(
        "\n{compared} steps compared; {without_minimum} of {steps} exact steps ended elsewhere than in a minimum."
    );
    Ok(())
}
