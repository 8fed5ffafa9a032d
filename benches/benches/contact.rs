//! Barrier and friction of two sheets that nearly touch: `cargo bench -p standoff-bench --bench contact`.

mod support;

use criterion::{Criterion, criterion_group, criterion_main};
use standoff_geometry::CollisionMesh;
use standoff_geometry::broad_phase::candidates;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::contact::{
    Barrier, BarrierPotential, Contact, ContactSet, FrictionMaterials, FrictionSet, Smoothing,
    Weighting,
};
use std::hint::black_box;

const D_HAT: f64 = 1e-3;

/// Two sheets of 40 × 40 cells, half of d̂ apart and turned against each other.
fn sheets() -> (CollisionMesh, Vec<Vec3>) {
    support::layers(2, |layer, u, v| {
        let (sin, cos) = (0.3 * layer).sin_cos();
        let (u, v) = (u - 0.5, v - 0.5);
        Vec3::new(cos * u - sin * v, 0.5 * D_HAT * layer, sin * u + cos * v)
    })
}

fn contact(c: &mut Criterion) {
    let (mesh, x) = sheets();
    let pairs = candidates(&mesh, &x, 0.5 * D_HAT);
    let build = || ContactSet::build(&pairs, &mesh, &[], black_box(&x), D_HAT, &Weighting::Count);
    let set = build();
    let barrier = BarrierPotential {
        barrier: Barrier::default(),
        d_hat: D_HAT,
        kappa: 1e6,
        physical: false,
        even: false,
    };
    let materials = FrictionMaterials::uniform(x.len(), 0, 0.3);
    let lag = || FrictionSet::build(&set, &barrier, &x, &materials, Smoothing::C1, 1e-5);
    let friction = lag();
    let moved: Vec<Vec3> = x.iter().map(|p| p + Vec3::new(p.z, 0.0, -p.x) * 1e-4).collect();

    let mut group = c.benchmark_group(format!("{} contacts", set.len()));
    group
        .bench_function(format!("set of {} candidates", pairs.len()), |b| b.iter(|| build().len()));
    group.bench_function("value", |b| b.iter(|| barrier.set_value(&set, black_box(&x))));
    group.bench_function("gradient", |b| {
        let mut g = vec![Vec3::zeros(); x.len()];
        b.iter(|| barrier.add_gradient(&set, black_box(&x), &mut g))
    });
    group.bench_function("projected Hessian", |b| {
        let one = |c| barrier.hessian_psd(c, &Contact::gather(c, &x))[0][0][0];
        b.iter(|| black_box(&set).contacts.iter().map(one).sum::<f64>())
    });
    group.bench_function("friction: forces and frames", |b| b.iter(|| lag().contacts.len()));
    group.bench_function("friction: Hessian", |b| {
        let mut out = [Mat3::zeros(); 10];
        let mut one = |c| {
            friction.contact_hessian(c, &moved, &x, true, &mut out);
            out[0][0]
        };
        b.iter(|| black_box(&friction).contacts.iter().map(&mut one).sum::<f64>())
    });
    group.finish();
}

criterion_group!(benches, contact);
criterion_main!(benches);
