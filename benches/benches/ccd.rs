//! Continuous collision detection: `cargo bench -p standoff-bench --bench ccd`.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use standoff_geometry::broad_phase::swept_candidates;
use standoff_geometry::ccd::{Method, Query, max_step};
use standoff_linalg::Vec3;
use std::hint::black_box;
use support::{Random, sheets};

fn queries(c: &mut Criterion) {
    let r = &mut Random::new(1);
    let mut query = |k: usize| {
        let (x, dx) = ([0; 4].map(|_| r.vec3()), [0; 4].map(|_| r.vec3()));
        if k.is_multiple_of(2) { Query::point_triangle(x, dx) } else { Query::edge_edge(x, dx) }
    };
    let queries: Vec<Query> = (0..1000).map(&mut query).collect();
    let mut group = c.benchmark_group("1000 random queries");
    for method in [Method::Additive, Method::Inclusion] {
        group.bench_function(format!("{method:?}"), |b| {
            let hit = |q: &&Query| method.time_of_impact(q, 0.0, 0.2, 1.0).is_some();
            b.iter(|| black_box(&queries).iter().filter(hit).count())
        });
    }
    group.finish();
}

fn sheets_move(c: &mut Criterion) {
    let (mesh, x) = sheets();
    let r = &mut Random::new(2);
    // all fall together, and each vertex trembles
    let dx: Vec<Vec3> = x.iter().map(|_| Vec3::new(0.0, -0.1, 0.0) + r.vec3() * 0.002).collect();
    let candidates = swept_candidates(&mesh, &x, &dx, 5e-4);
    let mut group = c.benchmark_group(format!("largest step of {} candidates", candidates.len()));
    for method in [Method::Additive, Method::Inclusion] {
        group.bench_function(format!("{method:?}"), |b| {
            b.iter(|| max_step(&mesh, &x, &dx, black_box(&candidates), method, 0.2, 1.0))
        });
    }
    group.finish();
}

criterion_group!(benches, queries, sheets_move);
criterion_main!(benches);
