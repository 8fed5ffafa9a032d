//! Systems that have no solution, no rows, or no room.

use super::systems::{chain, lattice, right_hand_side};
use super::{device, device_within};
use standoff_gpu::DeviceConjugateGradient;
use standoff_linalg::{Mat3, Vec3};
use standoff_sparse::{BlockMatrix, BlockPattern, LinearSolver, SolveError};
use std::sync::Arc;

/// Without rows there is nothing to do, and a right-hand side of zeros has the solution zero.
#[test]
fn no_rows_and_a_zero_right_hand_side() {
    let Some(device) = device() else { return };
    let mut solver = DeviceConjugateGradient::new(device, 1e-9, 100);
    let empty = BlockMatrix::zeros(Arc::new(BlockPattern::diagonal(0).unwrap()));
    assert_eq!(solver.solve(&empty, &[], &mut []).unwrap().iterations, 0);
    let a = chain(300);
    let mut x = vec![Vec3::x(); 300];
    let report = solver.solve(&a, &vec![Vec3::zeros(); 300], &mut x).unwrap();
    assert_eq!((report.iterations, report.relative_residual), (0, 0.0));
    assert!(x.iter().all(|x| *x == Vec3::zeros()));
}

/// One block is solved by its own factor.
#[test]
fn one_block() {
    let Some(device) = device() else { return };
    let mut a = BlockMatrix::zeros(Arc::new(BlockPattern::diagonal(1).unwrap()));
    *a.diagonal_block_mut(0) = Mat3::new(4.0, 1.0, 0.5, 1.0, 3.0, -1.0, 0.5, -1.0, 5.0);
    let b = [Vec3::new(1.0, -2.0, 3.0)];
    let mut x = [Vec3::zeros()];
    let report = DeviceConjugateGradient::new(device, 1e-14, 100).solve(&a, &b, &mut x).unwrap();
    assert!(report.iterations <= 2);
    assert!((a.diagonal_block(0) * x[0] - b[0]).norm() < 1e-14);
}

/// A diagonal block that is not positive definite is named, the first of several.
#[test]
fn an_indefinite_diagonal_block_is_named() {
    let Some(device) = device() else { return };
    let mut solver = DeviceConjugateGradient::new(device, 1e-9, 10_000);
    for block in [
        Mat3::from_diagonal(&Vec3::new(-1.0, 1.0, 1.0)),
        Mat3::from_diagonal(&Vec3::new(1.0, 0.0, 1.0)),
        Mat3::new(1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        Mat3::new(1.0, 0.0, 2.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0),
    ] {
        let mut a = chain(700);
        (*a.diagonal_block_mut(301), *a.diagonal_block_mut(600)) = (block, block);
        let mut x = vec![Vec3::zeros(); 700];
        let b = right_hand_side(700);
        let error = solver.solve_if_definite(&a, &b, &mut x).unwrap_err();
        assert_eq!(error, SolveError::NotPositiveDefinite { block: 301 });
        // nothing of it is left
        solver.solve(&chain(700), &b, &mut x).unwrap();
    }
}

/// A direction of negative curvature is noticed, though all diagonal blocks are positive definite.
#[test]
fn negative_curvature_is_noticed() {
    let Some(device) = device() else { return };
    let mut a = lattice([8, 8, 8], 3);
    let strong = *a.diagonal_block(100) + *a.diagonal_block(101);
    let mut pairs = vec![(100, 101)];
    for j in 0..a.n() {
        pairs.extend(a.pattern().column(j).iter().map(|&i| (i, j as u32)));
    }
    let mut indefinite =
        BlockMatrix::zeros(Arc::new(BlockPattern::from_pairs(a.n(), &pairs).unwrap()));
    let embedding = a.pattern().embedding(indefinite.pattern()).unwrap();
    indefinite.add_embedded(&a, &embedding).unwrap();
    let none = Mat3::zeros();
    indefinite.add_stencil(&[101, 100], &[[none, strong * 4.0], [none, none]]).unwrap();
    let b = right_hand_side(a.n());
    let mut x = vec![Vec3::zeros(); a.n()];
    let mut solver = DeviceConjugateGradient::new(device, 1e-9, 10_000);
    match solver.solve_if_definite(&indefinite, &b, &mut x).unwrap_err() {
        SolveError::NegativeCurvature { curvature, .. } => assert!(curvature < 0.0),
        other => panic!("{other}"),
    }
    a.blocks_mut().iter_mut().for_each(|b| *b *= 2.0);
    solver.solve(&a, &b, &mut x).unwrap();
}

/// What is not finite is refused, where it comes from outside and where it comes about.
#[test]
fn what_is_not_finite_is_refused() {
    let Some(device) = device() else { return };
    let mut solver = DeviceConjugateGradient::new(device, 1e-9, 100);
    let mut x = vec![Vec3::zeros(); 300];
    for bad in [f64::NAN, f64::INFINITY] {
        let mut a = chain(300);
        a.diagonal_block_mut(299)[(1, 1)] = bad;
        let error = solver.solve(&a, &right_hand_side(300), &mut x).unwrap_err();
        assert_eq!(error, SolveError::NotFinite { what: "matrix" });
        let mut b = right_hand_side(300);
        b[7].y = bad;
        let error = solver.solve(&chain(300), &b, &mut x).unwrap_err();
        assert_eq!(error, SolveError::NotFinite { what: "right-hand side" });
    }
    let large = vec![Vec3::repeat(1e200); 300];
    let error = solver.solve(&chain(300), &large, &mut x).unwrap_err();
    assert_eq!(error, SolveError::NotFinite { what: "solution" });
}

/// Vectors of another length are refused.
#[test]
fn vectors_of_another_length_are_refused() {
    let Some(device) = device() else { return };
    let mut solver = DeviceConjugateGradient::new(device, 1e-9, 100);
    let (b, mut x) = (right_hand_side(3), vec![Vec3::zeros(); 4]);
    for (a, what) in [(chain(3), "solution"), (chain(4), "right-hand side")] {
        match solver.solve(&a, &b, &mut x).unwrap_err() {
            SolveError::SizeMismatch { what: found, .. } => assert_eq!(found, what),
            other => panic!("{other}"),
        }
    }
}

/// A matrix that is too large for the device says how much memory it asks and how much there is, and one that just fits is solved.
#[test]
fn a_matrix_that_is_too_large_says_so() {
    // the vectors of 4000 rows; the blocks of a chain of them take less, those of a longer one more
    let largest = 4000 * 6 * 24;
    let Some(device) = device_within(largest) else { return };
    let mut solver = DeviceConjugateGradient::new(device, 1e-3, 10_000);
    let mut x = vec![Vec3::zeros(); 4001];
    let error = solver.solve(&chain(4001), &right_hand_side(4001), &mut x).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, SolveError::Device { .. }), "{text}");
    assert!(text.contains("576072 bytes are needed, 576000 available"), "{text}");
    solver.solve(&chain(4000), &right_hand_side(4000), &mut x[..4000]).unwrap();
}
