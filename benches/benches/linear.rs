//! Ordering, symbolic and numeric factorisation, solution and assembly of the Newton matrix of a
//! solid cube, on one thread and on two; faer's factorisation of the same matrix for comparison; and
//! of small cubes and sheets.
//!
//! cargo bench -p standoff-bench --bench linear [-- FILTER]

#[path = "../../crates/sparse/tests/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use common::faer_twin::FaerTwin;
use common::{Cube, Hessian, Random, Stack, assembly_of, packed, random_psd};
use criterion::{
    BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime,
};
use standoff_linalg::Vec3;
use standoff_sparse::{
    BlockMatrix, BlockPattern, Cholesky, ConjugateGradient, FaerCholesky, LinearSolver,
    MixedCholesky, Ordering, Preconditioner, VertexOrder,
};

/// Vertices along an edge: 10,125 and 52,728 degrees of freedom.
const SIDES: [u32; 2] = [15, 26];

fn group<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.sample_size(10).warm_up_time(Duration::from_millis(300));
    group.measurement_time(Duration::from_secs(3));
    group
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn analysis(c: &mut Criterion) {
    let mut group = group(c, "analysis");
    for side in SIDES {
        let pattern = Cube::new(side).pattern();
        for ordering in [Ordering::MinimumDegree, Ordering::NestedDissection] {
            group.bench_function(format!("order {ordering:?} {side}"), |b| {
                b.iter(|| VertexOrder::new(black_box(&pattern), ordering));
            });
        }
        let other = Arc::new(BlockPattern::diagonal(pattern.n()).expect("small"));
        let mut solver = Cholesky::new(Ordering::NestedDissection);
        group.bench_function(format!("order and symbolic {side}"), |b| {
            b.iter(|| {
                solver.analyze(&other).expect("memory");
                solver.analyze(&pattern).expect("memory")
            });
        });
    }
}

fn factorisation(c: &mut Criterion) {
    let mut group = group(c, "factorisation");
    for side in SIDES {
        let a = Cube::new(side).matrix(0.1);
        let ordering = Ordering::NestedDissection;
        let mut solver = FaerCholesky::new(ordering);
        group.bench_function(format!("faer f64 {side}"), |b| {
            b.iter(|| solver.factorize(&a).expect("positive definite"));
        });
        let mut twin = FaerTwin::new(&a, ordering, |v| v as f32);
        group.bench_function(format!("faer f32 {side}"), |b| b.iter(|| twin.factorize()));
        drop(twin);
        for threads in [1, 2] {
            let pool = pool(threads);
            let mut solver = Cholesky::new(ordering);
            group.bench_function(format!("f64 {side} threads {threads}"), |b| {
                b.iter(|| pool.install(|| solver.factorize(&a).expect("positive definite")));
            });
        }
    }
}

fn solution(c: &mut Criterion) {
    let mut group = group(c, "solution");
    for side in SIDES {
        let a = Cube::new(side).matrix(0.1);
        let b = Random::new(7).vectors(a.n());
        let mut x = vec![Vec3::zeros(); a.n()];
        for threads in [1, 2] {
            let pool = pool(threads);
            let mut solver = Cholesky::new(Ordering::NestedDissection);
            solver.factorize(&a).expect("positive definite");
            group.bench_function(format!("triangular f64 {side} threads {threads}"), |bench| {
                bench.iter(|| pool.install(|| solver.back_solve(&b, &mut x).expect("factorised")));
            });
            let mut solver = MixedCholesky::new(Ordering::NestedDissection);
            group.bench_function(format!("mixed, whole {side} threads {threads}"), |bench| {
                bench.iter(|| pool.install(|| solver.solve(&a, &b, &mut x).expect("solved")));
            });
        }
    }
}

/// A sheet of `length` × `width` vertices with a stencil for each hinge: what shells look like.
fn sheet(length: u32, width: u32) -> BlockMatrix {
    let mut hinges = Vec::new();
    let mut random = Random::new(7);
    let mut hinge = |corners: [[u32; 2]; 4]| {
        if corners.iter().all(|c| c[0] < length && c[1] < width) {
            hinges.push(corners.map(|[x, y]| width * x + y));
        }
    };
    for x in 0..length {
        for y in 0..width {
            hinge([[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]]);
            hinge([[x, y + 1], [x + 1, y], [x, y], [x + 1, y + 1]]);
            hinge([[x + 1, y], [x + 1, y + 1], [x, y + 1], [x + 2, y]]);
            hinge([[x, y + 1], [x + 1, y + 1], [x + 1, y], [x, y + 2]]);
        }
    }
    let n = (length * width) as usize;
    let stencils = hinges.iter().map(|h| &h[..]);
    let pattern = Arc::new(BlockPattern::from_stencils(n, stencils).expect("valid"));
    let mut a = BlockMatrix::zeros(pattern.clone());
    let hessians: Vec<Hessian<4>> = hinges.iter().map(|_| random_psd(&mut random)).collect();
    let mut assembly = assembly_of(&pattern, &hinges);
    assembly.assemble(&mut a, 1.0, &packed(&hessians), &vec![0.1; n]).expect("fits");
    a
}

/// Factorisation in single precision and a whole solution, as steps of the simulator take them, of solids and sheets that
/// are small.
fn small(c: &mut Criterion) {
    let mut group = group(c, "small");
    let systems = [
        ("cube 6", Cube::new(6).matrix(0.1)),
        ("cube 10", Cube::new(10).matrix(0.1)),
        ("strip 200 × 8", sheet(200, 8)),
        ("sheet 30 × 30", sheet(30, 30)),
        ("sheet 60 × 60", sheet(60, 60)),
    ];
    let pool = pool(1);
    for (name, a) in &systems {
        let b = Random::new(7).vectors(a.n());
        let mut x = vec![Vec3::zeros(); a.n()];
        let mut solver = MixedCholesky::new(Ordering::NestedDissection);
        group.bench_function(*name, |bench| {
            bench.iter(|| pool.install(|| solver.solve(a, &b, &mut x).expect("solved")));
        });
    }
}

/// Two cubes in contact 10⁴ times stiffer than they are.
fn conjugate_gradients(c: &mut Criterion) {
    let mut group = group(c, "conjugate gradients");
    let mut random = Random::new(7);
    let stack = Stack::new(12, &mut random);
    let a = stack.with_contacts(&stack.free_matrix(0.1), [1e4, 1e4], &mut random);
    let b = random.vectors(a.n());
    let mut x = vec![Vec3::zeros(); a.n()];
    for preconditioner in [
        Preconditioner::BlockJacobi,
        Preconditioner::IncompleteCholesky,
        Preconditioner::StiffBlocks,
    ] {
        let mut solver = ConjugateGradient::new(1e-8, 20_000).with_preconditioner(preconditioner);
        group.bench_function(format!("{preconditioner:?}"), |bench| {
            bench.iter(|| solver.solve(&a, &b, &mut x).expect("solved"));
        });
    }
}

fn assembly(c: &mut Criterion) {
    let mut group = group(c, "assembly");
    for side in SIDES {
        let cube = Cube::new(side);
        let pattern = cube.pattern();
        group.bench_function(format!("pattern {side}"), |b| b.iter(|| cube.pattern()));
        let mut assembly = assembly_of(&pattern, &cube.tets);
        let hessians = packed(&cube.stiffness(1.0, 1.0));
        let zeros = vec![0.0; pattern.n()];
        let mut a = BlockMatrix::zeros(pattern);
        for threads in [1, 2] {
            let pool = pool(threads);
            group.bench_function(format!("elements {side} threads {threads}"), |b| {
                b.iter(|| {
                    pool.install(|| {
                        assembly.assemble(&mut a, 1.0, &hessians, &zeros).expect("fits");
                    });
                });
            });
        }
    }
}

criterion_group!(benches, analysis, factorisation, solution, small, conjugate_gradients, assembly);
criterion_main!(benches);
