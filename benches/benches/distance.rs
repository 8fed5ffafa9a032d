//! Distances of 1000 random pairs: `cargo bench -p standoff-bench --bench distance`.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use standoff_geometry::distance::{edge_edge, point_triangle};
use standoff_linalg::Vec3;
use std::hint::black_box;
use support::Random;

fn distance(c: &mut Criterion) {
    let r = &mut Random::new(1);
    let pairs: Vec<[Vec3; 4]> = (0..1000).map(|_| [0; 4].map(|_| r.vec3())).collect();
    let mut group = c.benchmark_group("1000 pairs");
    group.bench_function("point-triangle squared distance", |b| {
        b.iter(|| {
            let d2 = |x: &[Vec3; 4]| point_triangle::point_triangle_d2(&x[0], &x[1], &x[2], &x[3]);
            black_box(&pairs).iter().map(d2).sum::<f64>()
        })
    });
    group.bench_function("edge-edge squared distance", |b| {
        b.iter(|| {
            let d2 = |x: &[Vec3; 4]| edge_edge::edge_edge_d2(&x[0], &x[1], &x[2], &x[3]);
            black_box(&pairs).iter().map(d2).sum::<f64>()
        })
    });
    group.bench_function("point-triangle Hessian", |b| {
        b.iter(|| {
            let h = |x: &[Vec3; 4]| point_triangle::hessian(&x[0], &x[1], &x[2], &x[3])[0][0][0];
            black_box(&pairs).iter().map(h).sum::<f64>()
        })
    });
    group.bench_function("edge-edge Hessian", |b| {
        b.iter(|| {
            let h = |x: &[Vec3; 4]| edge_edge::hessian(&x[0], &x[1], &x[2], &x[3])[0][0][0];
            black_box(&pairs).iter().map(h).sum::<f64>()
        })
    });
    group.finish();
}

criterion_group!(benches, distance);
criterion_main!(benches);
