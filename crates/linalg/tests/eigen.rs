//! Symmetric eigenvalues and the projection onto the positive semidefinite cone, against
//! nalgebra's tridiagonal QR.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use standoff_linalg::{
    MatN, VecN, is_positive_definite, project_psd, project_psd_array, project_psd2,
    symmetric_eigen, symmetric_eigen2,
};

fn symmetric<const N: usize>(values: &[f64]) -> MatN<N> {
    let a = MatN::<N>::from_fn(|i, j| values[(i * N + j) % values.len()]);
    a + a.transpose()
}

fn check_eigen<const N: usize>(a: &MatN<N>, w: &VecN<N>, q: &MatN<N>) {
    let scale = a.amax();
    let tol = 4e-15 * N as f64;
    assert!((q.transpose() * q - MatN::<N>::identity()).amax() < tol);
    let back = MatN::<N>::from_fn(|i, j| (0..N).map(|k| q[(i, k)] * w[k] * q[(j, k)]).sum());
    assert!((back - a).amax() <= tol * scale, "{:e}", (back - a).amax());
    assert!((1..N).all(|i| w[i - 1] <= w[i]));
}

/// The slow, obvious twin: clamps the eigenvalues that nalgebra finds.
fn clamp_by_nalgebra<const N: usize>(a: &MatN<N>) -> MatN<N> {
    let dynamic = standoff_linalg::nalgebra::DMatrix::from_fn(N, N, |i, j| a[(i, j)]);
    let e = dynamic.symmetric_eigen();
    MatN::from_fn(|i, j| {
        (0..N)
            .map(|k| e.eigenvectors[(i, k)] * e.eigenvalues[k].max(0.0) * e.eigenvectors[(j, k)])
            .sum()
    })
}

fn check_psd<const N: usize>(a: &MatN<N>) {
    let p = project_psd(a);
    let scale = a.amax();
    let mut array: [[f64; N]; N] = (*a).into();
    project_psd_array(&mut array);
    assert_eq!(MatN::<N>::from(array), p);
    assert_eq!(p, p.transpose());
    assert!((p - clamp_by_nalgebra(a)).amax() <= 4e-14 * scale);
    assert!(symmetric_eigen(&p).0[0] >= -1e-14 * scale);
    assert!((project_psd(&p) - p).amax() <= 1e-14 * scale, "a projection is idempotent");
}

fn all_sizes(v: &[f64]) {
    fn one<const N: usize>(v: &[f64]) {
        let a = symmetric::<N>(v);
        let (w, q) = symmetric_eigen(&a);
        check_eigen(&a, &w, &q);
        check_psd(&a);
        // low rank, definite and nearly definite ones
        check_psd(&(a * a));
        let x = VecN::<N>::from_fn(|i, _| v[i]);
        check_psd(&(x * x.transpose()));
        check_psd(&(x * x.transpose() * -1.0));
        check_psd(&(a * a - MatN::<N>::identity() * symmetric_eigen(&(a * a)).0[0]));
    }
    one::<1>(v);
    one::<2>(v);
    one::<3>(v);
    one::<5>(v);
    one::<6>(v);
    one::<9>(v);
    one::<12>(v);
}

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(500)
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random(v in prop::collection::vec(-1.0..1.0f64, 144)) {
        all_sizes(&v);
    }

    #[test]
    fn graded(v in prop::collection::vec((-1.0..1.0f64, -12.0..3.0f64), 144)) {
        all_sizes(&v.iter().map(|(m, e)| m * 10f64.powf(*e)).collect::<Vec<_>>());
    }

    #[test]
    fn two_by_two(v in prop::array::uniform3(prop_oneof![-1.0..1.0f64, Just(0.0), Just(1e-200)])) {
        let a = MatN::<2>::new(v[0], v[1], v[1], v[2]);
        let (w, q) = symmetric_eigen2(&a);
        check_eigen(&a, &w, &q);
        prop_assert!((project_psd2(&a) - clamp_by_nalgebra(&a)).amax() <= 1e-14 * a.amax());
    }
}

#[test]
fn definite_matrices_pass_unchanged() {
    let a = symmetric::<9>(&[0.1, -0.2, 0.3, 0.05, 0.7]) + MatN::<9>::identity() * 10.0;
    assert!(is_positive_definite(&a));
    assert_eq!(project_psd(&a), a);
    assert!(!is_positive_definite(&-a));
    assert_eq!(project_psd(&-a), MatN::<9>::zeros());
    assert!(!is_positive_definite(&(a * f64::NAN)));
}

#[test]
fn repeated_eigenvalues() {
    for n in [0.0, 1.0, -3.0] {
        let a = MatN::<6>::identity() * n;
        let (w, q) = symmetric_eigen(&a);
        check_eigen(&a, &w, &q);
        assert_eq!(w, VecN::<6>::repeat(n));
    }
    let ones = MatN::<9>::repeat(1.0);
    let (w, q) = symmetric_eigen(&ones);
    check_eigen(&ones, &w, &q);
    assert!((w[8] - 9.0).abs() < 1e-14);
}
