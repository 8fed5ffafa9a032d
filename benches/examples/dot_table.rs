//! Prints what the decomposed optimisation time integrator takes: iterations against the number of
//! subdomains, and time against projected Newton on growing bodies, without and with contact.
//!
//! cargo run --release -p standoff-bench --example dot_table [-- [CELLS...] [threads=N] [h=SECONDS] [steps=N]]
//!
//! CELLS is the number of cells across a bar that is four times as long, is stretched and twisted by
//! its first velocities, and is let go: 8, 12, 20 give 2,673, 8,281 and 35,721 vertices.

#[path = "../../crates/sim/tests/common/mod.rs"]
mod common;

use common::{block, ground, material, scene};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::definition::{BodyKind, Definition};
use standoff_sim::material::Law;
use standoff_sim::settings::Method;
use std::time::Instant;

/// CPU seconds of all threads of this process, where the system tells them.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // the name, in parentheses, may hold spaces; user and system time are the 14th and 15th field
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some(0.01 * (ticks()? + ticks()?))
}

/// A bar of 4 × 1 × 1 m, 4 `cells` × `cells` × `cells`, of fixed corotated material, E = 10⁵ Pa, ν = 0.4.
fn bar(cells: usize, h: f64) -> Definition {
    let edge = 1.0 / cells as f64;
    let mut definition = scene(vec![block("bar", [0.0; 3], [4 * cells, cells, cells], edge)]);
    let body = &mut definition.bodies[0];
    let BodyKind::Volume { material: m, .. } = &mut body.kind else { return definition };
    *m = material(Law::FixedCorotated);
    let middle = Vec3::new(2.0, 0.5, 0.5);
    let velocity = |x: &Vec3| {
        let t = (x.x - middle.x) / 2.0;
        Vec3::new(6.0 * t, 0.0, 0.0) + 6.0 * t * Vec3::x().cross(&(x - middle))
    };
    body.velocity = body.rest.iter().map(velocity).collect();
    definition.settings.time.step = h;
    definition
}

/// Two blocks, one falling on the other and on the ground.
fn pile(cells: usize, h: f64) -> Definition {
    let edge = 1.0 / cells as f64;
    let mut definition = scene(vec![
        block("lower", [0.0, 0.005, 0.0], [cells; 3], edge),
        block("upper", [0.1, 1.015, 0.05], [cells; 3], edge),
    ]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = h;
    definition
}

/// Prints a row of a table: what `steps` steps take.
fn row(name: &str, definition: &Definition, steps: usize) {
    let mut simulation = Simulation::new(definition).unwrap_or_else(|e| panic!("{e}"));
    let (mut iterations, mut factors, mut linear) = (0, 0, 0.0);
    let (mut elastic, mut unconverged, mut rest) = (0.0, 0, 0.0);
    let (clock, cpu) = (Instant::now(), cpu_seconds());
    for _ in 0..steps {
        let report = simulation.step().unwrap_or_else(|e| panic!("{e}"));
        iterations += report.newton_iterations;
        factors += report.subdomain_factorisations;
        let s = &report.seconds;
        linear += s.symbolic + s.factorisation + s.solve + s.assembly;
        elastic += s.elasticity;
        rest += s.total - s.symbolic - s.factorisation - s.solve - s.assembly - s.elasticity;
        unconverged += u32::from(!report.outcome.is_success());
    }
    let wall = clock.elapsed().as_secs_f64();
    let seconds = cpu_seconds().zip(cpu).map_or(wall, |(after, before)| after - before);
    println!(
        "| {name} | {:.1} | {factors} | {seconds:.2} | {linear:.2} | {elastic:.2} | {rest:.2} | {unconverged} |",
        iterations as f64 / steps as f64
    );
}

fn head() {
    println!();
    println!(
        "| | iterations per step | factorisations | CPU s | wall s: linear systems | elasticity | rest | unconverged |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |key: &str| {
        let found = arguments.iter().find_map(|a| a.strip_prefix(key)?.parse::<f64>().ok());
        found.filter(|n| *n > 0.0)
    };
    let threads = number("threads=").unwrap_or(1.0) as usize;
    let h = number("h=").unwrap_or(0.025);
    let steps = number("steps=").unwrap_or(4.0) as usize;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    pool.expect("no pool before");
    let cells: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    for cells in if cells.is_empty() { vec![8, 12] } else { cells } {
        let vertices = (4 * cells + 1) * (cells + 1) * (cells + 1);
        println!(
            "\nBar of {vertices} vertices, {steps} steps of {h} s, {threads} threads, CN 1e-5:"
        );
        head();
        let by_norm = |mut definition: Definition, method: Method| {
            definition.settings.solver.method = method;
            definition.settings.solver.characteristic_tolerance = Some(1e-5);
            definition
        };
        row("Newton, `auto`", &by_norm(bar(cells, h), Method::Barrier), steps);
        let mut subdomains = 1;
        while subdomains <= (vertices / 50).min(512) as u32 {
            let mut definition = by_norm(bar(cells, h), Method::Dot);
            definition.settings.solver.decomposition.subdomains = Some(subdomains);
            row(&format!("DOT, {subdomains} subdomains"), &definition, steps);
            subdomains *= 2;
        }
        let side = cells;
        println!("\nTwo blocks of {} vertices in contact, 8 steps of 0.02 s:", (side + 1).pow(3));
        head();
        row("Newton, `auto`", &by_norm(pile(side, 0.02), Method::Barrier), 8);
        for subdomains in [1, 2, 8] {
            let mut definition = by_norm(pile(side, 0.02), Method::Dot);
            definition.settings.solver.decomposition.subdomains = Some(subdomains);
            row(&format!("DOT, {subdomains} subdomains"), &definition, 8);
        }
    }
}
