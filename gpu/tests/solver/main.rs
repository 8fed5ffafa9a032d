//! Conjugate gradients on a device against a twin on the processor, on ordinary and degenerate systems.

mod degenerate;
mod systems;
mod twin;

use standoff_gpu::{Device, DeviceConjugateGradient, DeviceError};
use standoff_linalg::Vec3;
use standoff_sparse::{Cholesky, LinearSolver, Ordering, Residuals, SolveError};
use systems::{chain, lattice, right_hand_side};

/// A device, or the reason why the test is not run.
pub fn device() -> Option<Device> {
    device_within(u64::MAX)
}

/// The same, with arrays of so many bytes at most.
pub fn device_within(largest_array: u64) -> Option<Device> {
    match Device::open_within(largest_array) {
        Ok(device) => Some(device),
        Err(DeviceError::NoDevice { found }) => {
            standoff_testkit::not_run(&format!("no graphics processor can be used: {found}"));
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Solves, with the bits of the twin, or on a device that rounds otherwise with its accuracy.
fn agrees(device: &Device, a: &standoff_sparse::BlockMatrix, tolerance: f64) {
    let b = right_hand_side(a.n());
    let mut x = vec![Vec3::repeat(f64::NAN); a.n()];
    let mut solver = DeviceConjugateGradient::new(device.clone(), tolerance, 10_000);
    let report = solver.solve(a, &b, &mut x).unwrap();
    let twin = twin::solve(a, &b, tolerance, 10_000);
    assert!(report.relative_residual <= tolerance && report.iterations > 0, "{report:?}");
    let arithmetic = device.arithmetic();
    if arithmetic.fuses || !arithmetic.keeps_subnormals {
        let far = x.iter().zip(&twin.x).any(|(a, b)| (a - b).norm() > 1e3 * tolerance * b.norm());
        assert!(!far, "{} rows", a.n());
    } else {
        assert_eq!(report.iterations, twin.iterations, "{} rows", a.n());
        assert_eq!(bits(&x), bits(&twin.x), "{} rows", a.n());
        assert_eq!(report.relative_residual.to_bits(), twin.relative_residual.to_bits());
    }
}

/// The bits of vectors.
pub fn bits(v: &[Vec3]) -> Vec<u64> {
    v.iter().flatten().map(|x| x.to_bits()).collect()
}

/// Sizes around those of a workgroup, so that the last one is empty, full or begun, and more workgroups than a workgroup has threads.
#[test]
fn solutions_have_the_bits_of_the_twin() {
    let Some(device) = device() else { return };
    for n in [1, 2, 3, 255, 256, 257, 512, 1000] {
        agrees(&device, &chain(n), 1e-10);
    }
    for (sides, seed) in [([5, 4, 3], 1), ([7, 7, 7], 2), ([13, 9, 8], 3)] {
        agrees(&device, &lattice(sides, seed), 1e-9);
    }
    // more workgroups than one adds in one go
    agrees(&device, &chain(66_000), 3e-2);
}

/// What the device finds solves the system, as a factorisation finds it.
#[test]
fn solutions_are_those_of_a_factorisation() {
    let Some(device) = device() else { return };
    let a = lattice([9, 8, 7], 5);
    let b = right_hand_side(a.n());
    let (mut x, mut y) = (vec![Vec3::zeros(); a.n()], vec![Vec3::zeros(); a.n()]);
    DeviceConjugateGradient::new(device, 1e-13, 10_000).solve(&a, &b, &mut x).unwrap();
    Cholesky::new(Ordering::Automatic).solve(&a, &b, &mut y).unwrap();
    let size = y.iter().map(|y| y.norm()).fold(0.0, f64::max);
    for (x, y) in x.iter().zip(&y) {
        assert!((x - y).norm() < 1e-10 * size, "{x} {y}");
    }
}

/// The bits do not depend on how often the processor looks, on the run, or on what was solved before.
#[test]
fn bits_are_the_same_in_every_run() {
    let Some(device) = device() else { return };
    let (a, other) = (lattice([11, 6, 5], 6), lattice([3, 3, 9], 7));
    let b = right_hand_side(a.n());
    let mut first = None;
    for check_every in [1, 7, 32, 1000] {
        let solver = DeviceConjugateGradient::new(device.clone(), 1e-8, 10_000);
        let mut solver = solver.with_check_every(check_every);
        for _ in 0..3 {
            let mut x = vec![Vec3::zeros(); a.n()];
            let report = solver.solve(&a, &b, &mut x).unwrap();
            let now = (report.iterations, report.relative_residual.to_bits(), bits(&x));
            assert_eq!(first.get_or_insert_with(|| now.clone()), &now);
            let mut x = vec![Vec3::zeros(); other.n()];
            solver.solve(&other, &right_hand_side(other.n()), &mut x).unwrap();
        }
    }
}

/// Launches, round trips and copies are as the documentation says (`docs/src/theory/gpu.md`).
#[test]
fn launches_and_round_trips_are_counted() {
    let Some(device) = device() else { return };
    let a = lattice([10, 10, 10], 8);
    let (n, blocks) = (a.n() as u64, a.blocks().len() as u64);
    let b = right_hand_side(a.n());
    let mut x = vec![Vec3::zeros(); a.n()];
    let mut solver = DeviceConjugateGradient::new(device, 1e-6, 10_000);
    let report = solver.solve(&a, &b, &mut x).unwrap();
    let looks = (report.iterations as u64).div_ceil(32);
    assert!(looks > 1, "{report:?}");
    let first = solver.traffic();
    // a factorisation, two launches at the beginning and two at the end, five in an iteration
    assert_eq!(first.launches, 1 + 2 + 5 * 32 * looks + 2);
    assert_eq!(first.round_trips, looks + 1);
    assert_eq!(first.matrices, 1);
    let index = 4 * (n + 1) + 8 * (2 * blocks - n);
    let vectors = 48 * n + 32;
    assert_eq!(first.uploaded, 72 * blocks + index + vectors);
    assert_eq!(first.downloaded, 88 * (looks + 1) + 24 * n);
    // the index stays on the device
    solver.solve(&a, &b, &mut x).unwrap();
    assert_eq!(solver.traffic().uploaded, 72 * blocks + vectors);
    // and with `improve` the matrix
    solver.set_tolerance(Residuals { iterative: 1e-9, factorised: 1e-9 });
    solver.improve(&a, &b, &mut x).unwrap();
    assert_eq!((solver.traffic().matrices, solver.traffic().uploaded), (0, vectors));
}

/// A solution that is improved is as accurate as demanded, from where it was.
#[test]
fn a_solution_is_improved_from_where_it_is() {
    let Some(device) = device() else { return };
    let a = lattice([10, 10, 10], 8);
    let b = right_hand_side(a.n());
    let mut x = vec![Vec3::zeros(); a.n()];
    let mut solver = DeviceConjugateGradient::new(device, 1e-3, 10_000);
    assert!(solver.is_iterative());
    let rough = solver.solve(&a, &b, &mut x).unwrap();
    solver.set_tolerance(Residuals { iterative: 1e-5, factorised: 1e-5 });
    let fine = solver.improve(&a, &b, &mut x).unwrap();
    assert!(rough.relative_residual > 1e-5 && fine.relative_residual <= 1e-5);
    let product = a.mul_vec(&x).unwrap();
    let norm = |v: &mut dyn Iterator<Item = Vec3>| v.map(|v| v.norm_squared()).sum::<f64>().sqrt();
    let residual = norm(&mut product.iter().zip(&b).map(|(p, b)| p - b));
    assert!(residual <= 1.001e-5 * norm(&mut b.iter().copied()));
    let mut y = vec![Vec3::zeros(); a.n()];
    let whole = solver.solve(&a, &b, &mut y).unwrap();
    assert!(fine.iterations < whole.iterations, "{fine:?} {whole:?}");
}

/// What does not converge says so, and leaves the last iterate, which descends.
#[test]
fn too_few_iterations_leave_the_last_iterate() {
    let Some(device) = device() else { return };
    let a = lattice([10, 10, 10], 8);
    let b = right_hand_side(a.n());
    let mut x = vec![Vec3::zeros(); a.n()];
    let mut solver = DeviceConjugateGradient::new(device, 1e-12, 5);
    match solver.solve(&a, &b, &mut x).unwrap_err() {
        SolveError::NotConverged { iterations: 5, relative_residual, .. } => {
            assert!(relative_residual > 1e-12 && relative_residual < 1.0);
        }
        other => panic!("{other}"),
    }
    assert!(x.iter().zip(&b).map(|(x, b)| x.dot(b)).sum::<f64>() > 0.0);
}
