//! Prints times of ordering, symbolic and numeric factorisation and solution for growing cubes, and
//! of conjugate gradients with and without stiff contacts.
//!
//! cargo run --release -p standoff-sparse --example solver_table [-- SIDE...]
//!
//! SIDE is the number of vertices along an edge; 15, 26, 37 give 10,125, 52,728, 151,959 dofs.

#[path = "../tests/common/mod.rs"]
mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{Cube, Random, Stack, relative_residual};
use standoff_linalg::Vec3;
use standoff_sparse::{
    BlockMatrix, BlockPattern, Cholesky, ConjugateGradient, LinearSolver, Ordering, Preconditioner,
    VertexOrder,
};

/// Seconds and result of the fastest of `runs` calls.
fn time<T>(runs: usize, mut f: impl FnMut() -> T) -> (f64, T) {
    let mut best: Option<(f64, T)> = None;
    for _ in 0..runs {
        let start = Instant::now();
        let result = f();
        let seconds = start.elapsed().as_secs_f64();
        if best.as_ref().is_none_or(|b| seconds < b.0) {
            best = Some((seconds, result));
        }
    }
    best.expect("at least one run")
}

fn direct(label: &str, a: &BlockMatrix, b: &[Vec3]) {
    let runs = if a.n() < 5000 { 5 } else { 1 };
    for ordering in [Ordering::MinimumDegree, Ordering::NestedDissection, Ordering::Automatic] {
        let (order, vertex_order) = time(runs, || VertexOrder::new(a.pattern(), ordering));
        let mut x = vec![Vec3::zeros(); a.n()];
        // memory is kept between patterns, as in a simulation
        let mut solver = Cholesky::new(ordering);
        solver.analyze(a.pattern()).expect("memory");
        let other = Arc::new(BlockPattern::diagonal(a.n()).expect("small"));
        let mut analyze = f64::INFINITY;
        for _ in 0..runs {
            solver.analyze(&other).expect("memory");
            analyze = analyze.min(time(1, || solver.analyze(a.pattern()).expect("memory")).0);
        }
        solver.factorize(a).expect("positive definite");
        let (numeric, _) = time(runs, || solver.factorize(a).expect("positive definite"));
        let (solve, _) = time(3, || solver.back_solve(b, &mut x).expect("factorised"));
        println!(
            "{label} {:>7} {:<17} order {order:7.4}  order+symbolic {analyze:7.4}  numeric {numeric:8.4}  \
             solve {solve:7.4}  nnz(L) {:6.2}M  block ops {:9.3e} ({:.0} per block)  residual {:.1e}",
            3 * a.n(),
            format!("{ordering:?}"),
            solver.factor_nonzeros() as f64 * 1e-6,
            vertex_order.tree.operations(),
            vertex_order.tree.operations() / a.pattern().block_count() as f64,
            relative_residual(a, b, &x),
        );
    }
}

fn iterative(label: &str, a: &BlockMatrix, b: &[Vec3]) {
    for preconditioner in [Preconditioner::BlockJacobi, Preconditioner::IncompleteCholesky] {
        let mut solver = ConjugateGradient::new(1e-8, 20_000).with_preconditioner(preconditioner);
        let mut x = vec![Vec3::zeros(); a.n()];
        let (seconds, result) = time(1, || solver.solve(a, b, &mut x));
        let name = format!("{preconditioner:?}");
        let outcome = match result {
            Ok(r) => format!("{} iterations, residual {:.1e}", r.iterations, r.relative_residual),
            Err(e) => e.to_string(),
        };
        println!("{label} {:>7} CG {name:<18} {seconds:8.4} s  {outcome}", 3 * a.n());
    }
}

fn main() {
    let sides: Vec<u32> = std::env::args().skip(1).filter_map(|s| s.parse().ok()).collect();
    for side in if sides.is_empty() { vec![15, 26] } else { sides } {
        let cube = Cube::new(side);
        let (pattern_time, pattern) = time(3, || cube.pattern());
        let a = cube.matrix(0.1);
        let mut random = Random(7);
        let b = random.vectors(a.n());
        let mut y = b.clone();
        let (product, _) = time(10, || a.mul_vec_into(&b, &mut y).expect("fits"));
        let blocks = pattern.block_count();
        println!("{blocks} blocks: pattern {pattern_time:.4} s, product {product:.6} s");
        direct("cube ", &a, &b);
        for mass in [0.1, 1e-3] {
            println!("mass {mass}");
            iterative("cube ", &cube.matrix(mass), &b);
        }
        // two cubes of half the size, on each other
        let stack = Stack::new((f64::from(side) * 0.5f64.cbrt()).round() as u32, &mut random);
        for mass in [0.1, 1e-3] {
            let free = stack.free_matrix(mass);
            let b = random.vectors(free.n());
            println!("mass {mass}, no contact");
            iterative("stack", &free, &b);
            for k in [[1e2, 1e2], [1e4, 1e4], [1e-1, 1e6], [1e6, 1e6], [1e0, 1e9]] {
                let a = stack.with_contacts(&free, k, &mut random);
                println!("mass {mass}, contact stiffness {:.0e} to {:.0e}", k[0], k[1]);
                if mass == 0.1 && k == [1e6, 1e6] {
                    direct("stack", &a, &b);
                }
                iterative("stack", &a, &b);
            }
        }
    }
}
