//! Small dense kernels: `cargo bench -p standoff-bench --bench kernels`.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use standoff_linalg::{Mat3, MatN, is_positive_definite, project_psd, svd3, symmetric_eigen};
use standoff_testkit::Random;
use std::hint::black_box;

/// Matrices like the deformation gradients of a rubber: 20 % off the identity.
fn gradients(n: usize) -> Vec<Mat3> {
    let mut r = Random::new(1);
    (0..n).map(|_| Mat3::identity() + Mat3::from_fn(|_, _| 0.2 * r.signed())).collect()
}

fn symmetric<const N: usize>(n: usize, shift: f64) -> Vec<MatN<N>> {
    let mut r = Random::new(2);
    let mut one = || {
        let a = MatN::<N>::from_fn(|_, _| 0.5 * r.signed());
        (a + a.transpose()) * 0.5 + MatN::identity() * shift
    };
    (0..n).map(|_| one()).collect()
}

fn of_size<const N: usize>(c: &mut Criterion) {
    let mut group = c.benchmark_group(format!("{N}x{N}, 1000"));
    let (indefinite, definite) = (symmetric::<N>(1000, 0.0), symmetric::<N>(1000, N as f64));
    group.bench_function("project_psd, indefinite", |b| {
        b.iter(|| indefinite.iter().map(|a| project_psd(black_box(a))[0]).sum::<f64>())
    });
    group.bench_function("project_psd, definite", |b| {
        b.iter(|| definite.iter().map(|a| project_psd(black_box(a))[0]).sum::<f64>())
    });
    group.bench_function("is_positive_definite", |b| {
        b.iter(|| definite.iter().filter(|a| is_positive_definite(black_box(*a))).count())
    });
    group.bench_function("symmetric_eigen", |b| {
        b.iter(|| indefinite.iter().map(|a| symmetric_eigen(black_box(a)).0[0]).sum::<f64>())
    });
    group.finish();
}

fn svd(c: &mut Criterion) {
    let f = gradients(1000);
    c.bench_function("svd3, 1000", |b| {
        b.iter_batched(
            || (),
            |()| f.iter().map(|f| svd3(black_box(f)).sigma[0]).sum::<f64>(),
            BatchSize::SmallInput,
        )
    });
}

criterion_group!(benches, svd, of_size::<3>, of_size::<6>, of_size::<9>, of_size::<12>);
criterion_main!(benches);
