//! Prints iterations and times of conjugate gradients by preconditioner on growing blocks: of one material, with
//! layers and with random inclusions that are a million times as stiff.
//!
//! cargo run --release -p standoff-bench --example schwarz_table [-- SIDE... [threads=N] [only=PRECONDITIONER]]
//!
//! `only=auto` prints what the scene key `linear = "auto"` chooses.
//!
//! SIDE is the number of vertices along an edge: 16, 24, 36 give 12,288, 41,472, 139,968 unknowns. The lowest
//! layer of vertices is held, and the mass is next to nothing: the systems are those of statics.

#[path = "../../crates/sparse/tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{Random, held_cube};
use standoff_linalg::Vec3;
use standoff_sparse::{
    ConjugateGradient, Hybrid, LinearSolver, MixedCholesky, Ordering, Preconditioner,
};

/// CPU seconds of all threads of this process, where the system tells them.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // the name, in parentheses, may hold spaces; user and system time are the 14th and 15th field
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some(0.01 * (ticks()? + ticks()?))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads = arguments.iter().find_map(|a| a.strip_prefix("threads=")?.parse().ok());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(1)).build_global();
    pool.expect("no pool before");
    let sides: Vec<u32> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    let only =
        arguments.iter().find_map(|a| a.strip_prefix("only=")).unwrap_or_default().to_owned();
    println!("| | unknowns | preconditioner | iterations | CPU s | entries of factors |");
    println!("|---|---|---|---|---|---|");
    for side in if sides.is_empty() { vec![12, 16, 24] } else { sides } {
        let thickness = (side / 8).max(1);
        let mut random = Random::new(3);
        let inclusions: Vec<f64> =
            (0..8 * 8 * 8).map(|_| if random.unit() < 0.3 { 1e6 } else { 1.0 }).collect();
        let inclusion = |x: u32, y: u32, z: u32| {
            let cell = [x, y, z].map(|c| (c * 8 / side) as usize);
            inclusions[(cell[2] * 8 + cell[1]) * 8 + cell[0]]
        };
        let layers = |_: u32, _: u32, z: u32| if z / thickness % 2 == 1 { 1e6 } else { 1.0 };
        let cases: [(&str, &dyn Fn(u32, u32, u32) -> f64); 3] =
            [("one material", &|_, _, _| 1.0), ("layers", &layers), ("inclusions", &inclusion)];
        for (name, material) in cases {
            let (a, position) = held_cube(side, material);
            let b = Random::new(7).vectors(a.n());
            let mut x = vec![Vec3::zeros(); a.n()];
            let mut report = |solver: &mut dyn LinearSolver, label: &str| {
                let start = (Instant::now(), cpu_seconds());
                let result = solver.solve(&a, &b, &mut x);
                let seconds = match (start.1, cpu_seconds()) {
                    (Some(before), Some(after)) => after - before,
                    _ => start.0.elapsed().as_secs_f64(),
                };
                let n = 3 * a.n();
                match result {
                    Ok(r) => println!(
                        "| {name} | {n} | {label} | {} | {seconds:.2} | {:.1} M |",
                        r.iterations,
                        r.factor_nonzeros as f64 * 1e-6
                    ),
                    Err(e) => println!("| {name} | {n} | {label} | {e} | {seconds:.2} | |"),
                }
            };
            let all = [
                Preconditioner::StiffBlocks,
                Preconditioner::IncompleteCholesky,
                Preconditioner::Schwarz,
                Preconditioner::TwoLevel,
            ];
            for preconditioner in all.into_iter().filter(|p| format!("{p:?}").contains(&only)) {
                let mut solver =
                    ConjugateGradient::new(1e-8, 10_000).with_preconditioner(preconditioner);
                solver.place(&position);
                report(&mut solver, &format!("{preconditioner:?}"));
            }
            if "auto".contains(&only) {
                let mut solver = Hybrid::new(Ordering::Automatic, 1e-8, 10_000);
                solver.place(&position);
                report(&mut solver, "auto");
            }
            if side <= 30 && only.is_empty() {
                let mut direct = MixedCholesky::new(Ordering::Automatic);
                report(&mut direct, "MixedCholesky");
            }
        }
    }
}
