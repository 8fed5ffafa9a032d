//! Prints times of ordering, symbolic and numeric factorisation and solution for growing cubes, and
//! of conjugate gradients with and without stiff contacts.
//!
//! cargo run --release -p standoff-sparse --example solver_table [-- SIDE...]
//!
//! SIDE is the number of vertices along an edge; 15, 26, 37 give 10,125, 52,728, 151,959 dofs.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::{Cube, Random, contact_hessian, contacts, relative_residual};
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
        let (analyze, mut solver) = time(runs, || {
            let mut solver = Cholesky::new(ordering);
            solver.analyze(a.pattern()).expect("memory");
            solver
        });
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
        println!("{label} {:>7} CG {name:<18} {seconds:8.4} s  {result:?}", 3 * a.n());
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
        println!("pattern {pattern_time:.4} s, product {product:.6} s, {} blocks", pattern.block_count());
        direct("free   ", &a, &b);
        iterative("free   ", &a, &b);
        let pairs = contacts(a.n() as u32, a.n() / 20, &mut random);
        // local ones: a far pair would couple the whole cube and is no contact of a solid
        let pairs: Vec<_> = pairs
            .into_iter()
            .map(|(v, g)| {
                let base = v[0].min(a.n() as u32 - 5);
                ([base, base + 1, base + 2, base + 4], g)
            })
            .collect();
        let extra = BlockPattern::stencil_pairs(pairs.iter().map(|(v, _)| &v[..]));
        let union = pattern.union(&extra).expect("valid");
        for stiffness in [1e2, 1e4, 1e6] {
            let mut c = BlockMatrix::zeros(union.clone());
            let embedding = pattern.embedding(&union).expect("superset");
            c.add_embedded(&a, &embedding).expect("fits");
            for (v, g) in &pairs {
                c.add_stencil(v, &contact_hessian(stiffness, g)).expect("in the pattern");
            }
            if stiffness == 1e4 {
                direct("contact", &c, &b);
            }
            println!("contact stiffness {stiffness:.0e}");
            iterative("contact", &c, &b);
        }
    }
}
