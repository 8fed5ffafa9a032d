//! Broad phase and audit of four sheets: `cargo bench -p standoff-bench --bench broad_phase`.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use standoff_geometry::audit::audit_intersections;
use standoff_geometry::broad_phase::{BroadPhase, Candidates};
use standoff_linalg::Vec3;
use std::hint::black_box;
use support::{Random, sheets};

fn broad_phase(c: &mut Criterion) {
    let (mesh, x) = sheets();
    let r = &mut Random::new(1);
    let dx: Vec<Vec3> = x.iter().map(|_| r.vec3() * 0.002).collect();
    let mut out = Candidates::default();
    let mut group = c.benchmark_group("12,800 triangles");
    group.bench_function("build and query", |b| {
        b.iter(|| {
            BroadPhase::default().candidates(black_box(&mesh), &x, 5e-4, &mut out);
            out.len()
        })
    });
    let mut kept = BroadPhase::default();
    group.bench_function("refit and query", |b| {
        b.iter(|| {
            kept.candidates(black_box(&mesh), &x, 5e-4, &mut out);
            out.len()
        })
    });
    group.bench_function("refit and query, swept", |b| {
        b.iter(|| {
            kept.swept_candidates(black_box(&mesh), &x, &dx, 5e-4, &mut out);
            out.len()
        })
    });
    group.bench_function("audit", |b| b.iter(|| audit_intersections(black_box(&mesh), &x).len()));
    group.finish();
}

criterion_group!(benches, broad_phase);
criterion_main!(benches);
