//! Elasticity of 10,368 tetrahedra: `cargo bench -p standoff-bench --bench elasticity`.

use criterion::{Criterion, criterion_group, criterion_main};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::energy::tet::ElasticTets;
use standoff_sim::energy::{Projection, Term};
use standoff_sim::material::{Law, Material};
use std::hint::black_box;

/// A block of 12³ cubes, six tetrahedra each, sheared, squeezed and with a wave in it.
fn block(law: Law) -> (ElasticTets, Vec<Vec3>) {
    const N: usize = 12;
    let at = |p: [usize; 3]| ((p[0] * (N + 1) + p[1]) * (N + 1) + p[2]) as u32;
    let (mut rest, mut tets) = (Vec::new(), Vec::new());
    for i in 0..=N {
        for j in 0..=N {
            for k in 0..=N {
                rest.push(Vec3::new(i as f64, j as f64, k as f64) / N as f64);
                if i == N || j == N || k == N {
                    continue;
                }
                for (path, odd) in [
                    ([0, 1, 2], false),
                    ([1, 2, 0], false),
                    ([2, 0, 1], false),
                    ([0, 2, 1], true),
                    ([2, 1, 0], true),
                    ([1, 0, 2], true),
                ] {
                    let mut p = [i, j, k];
                    let mut tet = [at(p); 4];
                    for (corner, axis) in path.into_iter().enumerate() {
                        p[axis] += 1;
                        tet[corner + 1] = at(p);
                    }
                    if odd {
                        tet.swap(2, 3);
                    }
                    tets.push(tet);
                }
            }
        }
    }
    let material = Material { law, young_modulus: 1e5, poisson_ratio: 0.4 };
    let x = rest
        .iter()
        .map(|p| {
            let wave = 0.05 * (7.0 * p.y).sin();
            Vec3::new(p.x + 0.3 * p.y + wave, 0.85 * p.y - wave * p.z, 1.05 * p.z + 0.1 * p.x)
        })
        .collect();
    let materials = vec![material; tets.len()];
    (ElasticTets::new(&rest, tets, &materials).expect("a valid mesh"), x)
}

fn elasticity(c: &mut Criterion) {
    for law in Law::ALL {
        let (tets, x) = block(law.clone());
        let dx: Vec<Vec3> = x.iter().map(|p| Vec3::new(p.z, p.x, -p.y) * 0.1).collect();
        let mut group = c.benchmark_group(format!("{law:?}"));
        group.bench_function("value", |b| b.iter(|| tets.value(black_box(&x))));
        group.bench_function("gradient", |b| {
            let mut g = vec![Vec3::zeros(); x.len()];
            b.iter(|| tets.add_gradient(black_box(&x), &mut g))
        });
        group.bench_function("hessians", |b| {
            let mut out = vec![Mat3::zeros(); 6 * tets.len()];
            b.iter(|| tets.hessians(0..tets.len(), black_box(&x), Projection::All, &mut out))
        });
        group.bench_function("max_step", |b| b.iter(|| tets.max_step(black_box(&x), &dx)));
        group.finish();
    }
}

criterion_group!(benches, elasticity);
criterion_main!(benches);
