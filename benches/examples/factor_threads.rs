//! Prints the wall time of a factorisation and of a solution with conjugate gradients preconditioned by it, on one thread and on two
//! by turns, for square sheets with bending and for cubes.
//!
//! cargo run --release -p standoff-bench --example factor_threads

use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{BlockMatrix, BlockPattern, LinearSolver, MixedCholesky, Ordering};
use std::sync::Arc;

/// Diagonally dominant on a grid whose vertices couple where they are within `reach` of each other.
fn grid([nx, ny, nz]: [i32; 3], reach: i32) -> BlockMatrix {
    let at = |x: i32, y: i32, z: i32| (x + nx * (y + ny * z)) as u32;
    let mut pairs = Vec::new();
    for (z, y, x) in
        (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| (z, y, x))))
    {
        for (c, b, a) in (-reach..=reach).flat_map(|c| {
            (-reach..=reach).flat_map(move |b| (-reach..=reach).map(move |a| (c, b, a)))
        }) {
            let inside = (0..nx).contains(&(x + a))
                && (0..ny).contains(&(y + b))
                && (0..nz).contains(&(z + c));
            if inside
                && a * a + b * b + c * c <= reach * reach + 1
                && at(x + a, y + b, z + c) < at(x, y, z)
            {
                pairs.push((at(x, y, z), at(x + a, y + b, z + c)));
            }
        }
    }
    let n = (nx * ny * nz) as usize;
    let pattern = Arc::new(BlockPattern::from_pairs(n, &pairs).expect("few blocks"));
    let mut a = BlockMatrix::zeros(pattern);
    for (i, j) in pairs {
        let c = Mat3::identity();
        a.add_stencil(&[i, j], &[[c, -c], [-c, c]]).expect("in the pattern");
    }
    for i in 0..n {
        *a.diagonal_block_mut(i) += Mat3::identity() * 0.01;
    }
    a
}

fn main() {
    let pools =
        [1, 2].map(|n| rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads"));
    for (name, size, reach) in [
        ("sheet 50", [50, 50, 1], 2),
        ("sheet 80", [80, 80, 1], 2),
        ("sheet 160", [160, 160, 1], 2),
        ("cube 14", [14, 14, 14], 1),
        ("cube 20", [20, 20, 20], 1),
        ("cube 30", [30, 30, 30], 1),
    ] {
        let a = grid(size, reach);
        let b: Vec<Vec3> =
            (0..a.n()).map(|i| Vec3::new((i % 7) as f64, 1.0, (i % 3) as f64)).collect();
        let mut solvers = [0, 1].map(|_| MixedCholesky::new(Ordering::Automatic));
        let mut best = [[f64::INFINITY; 2]; 2];
        let mut iterations = 0;
        for _ in 0..if a.n() < 10_000 { 30 } else { 8 } {
            for t in 0..2 {
                let mut x = vec![Vec3::zeros(); a.n()];
                let report =
                    pools[t].install(|| solvers[t].solve(&a, &b, &mut x)).expect("definite");
                iterations = report.iterations;
                let seconds =
                    [report.seconds.numeric, report.seconds.back_solve / iterations as f64];
                for k in 0..2 {
                    best[t][k] = best[t][k].min(seconds[k]);
                }
            }
        }
        let ms = best.map(|b| b.map(|s| 1e3 * s));
        println!(
            "{name:10} {:6} factor {:7.2} {:7.2} = {:.2}   solve {:6.3} {:6.3} = {:.2} ({iterations})",
            3 * a.n(),
            ms[0][0],
            ms[1][0],
            ms[0][0] / ms[1][0],
            ms[0][1],
            ms[1][1],
            ms[0][1] / ms[1][1]
        );
    }
}
