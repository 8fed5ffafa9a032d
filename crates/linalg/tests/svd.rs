//! Accuracy of the 3×3 singular value decomposition on random, repeated, vanishing, graded, tiny
//! and huge singular values.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use standoff_linalg::nalgebra::Rotation3;
use standoff_linalg::{Mat3, Vec3, polar, svd3};

const TOL: f64 = 4e-15;

/// Checks every promise of `svd3` and returns the singular values.
fn check(f: &Mat3) -> Vec3 {
    let svd = svd3(f);
    let scale = f.amax();
    let s = svd.sigma;
    assert!(s[0] >= s[1] && s[1] >= s[2].abs(), "order {s:?} of {f}");
    for r in [svd.u, svd.v] {
        assert!((r.transpose() * r - Mat3::identity()).amax() < TOL, "orthogonality of {r}");
        assert!((r.determinant() - 1.0).abs() < TOL, "det {}", r.determinant());
    }
    let error = (svd.reconstruct() - f).amax();
    // the last term: the spacing of subnormal numbers
    assert!(error <= TOL * scale + 1e-322, "residual {error:e} of {f}");
    s
}

fn rotation() -> impl Strategy<Value = Mat3> {
    prop::array::uniform3(-4.0..4.0f64).prop_map(|a| Rotation3::new(Vec3::from(a)).into_inner())
}

/// A singular value with a good chance to be special.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => 0.0..3.0f64,
        1 => Just(0.0),
        2 => Just(1.0),
        1 => (-1e-7..1e-7f64).prop_map(|e| 1.0 + e),
        1 => (-16.0..0.0f64).prop_map(|e| 10f64.powf(e)),
        1 => (-300.0..-16.0f64).prop_map(|e| 10f64.powf(e)),
    ]
}

/// The same cases in every run.
fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::with_cases(20_000)
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_matrices(f in prop::array::uniform9(-1.0..1.0f64)) {
        let f = Mat3::from_column_slice(&f);
        let s = check(&f);
        let expected = f.singular_values();
        for i in 0..3 {
            prop_assert!((s[i].abs() - expected[i]).abs() < TOL);
        }
        prop_assert_eq!(s[2] < 0.0, f.determinant() < 0.0);
    }

    #[test]
    fn prescribed_values(u in rotation(), v in rotation(), s in prop::array::uniform3(value()), flip: bool) {
        let mut s = s;
        s.sort_by(|a, b| b.total_cmp(a));
        if flip {
            s[2] = -s[2];
        }
        let f = u * Mat3::from_diagonal(&Vec3::from(s)) * v.transpose();
        let found = check(&f);
        // u, v and the product are rounded, so that errors scale with the largest value
        for i in 0..3 {
            prop_assert!((found[i] - s[i]).abs() <= 8e-15 * s[0], "{found:?} {s:?}");
        }
    }

    #[test]
    fn any_magnitude(f in prop::array::uniform9(-1.0..1.0f64), e in -320.0..300.0f64) {
        check(&(Mat3::from_column_slice(&f) * 10f64.powf(e)));
    }

    /// Columns of widely different length: each value to relative accuracy (one-sided Jacobi's gift).
    #[test]
    fn graded_columns(q in rotation(), e in prop::array::uniform2(-60.0..0.0f64)) {
        let s = [1.0, 10f64.powf(e[0].max(e[1])), 10f64.powf(e[0].min(e[1]))];
        let found = check(&(q * Mat3::from_diagonal(&Vec3::from(s))));
        for i in 0..3 {
            prop_assert!((found[i] / s[i] - 1.0).abs() < 1e-13, "{found:?} {s:?}");
        }
    }

    #[test]
    fn near_identity(a in prop::array::uniform9(-1.0..1.0f64), e in -16.0..-1.0f64) {
        let h = Mat3::from_column_slice(&a) * 10f64.powf(e);
        let (r, s) = polar(&(Mat3::identity() + h));
        prop_assert!((r * s - Mat3::identity() - h).amax() < TOL);
        // to first order R = I + skew(H)
        let skew = (h - h.transpose()) * 0.5;
        prop_assert!((r - Mat3::identity() - skew).amax() < TOL + 20.0 * h.amax().powi(2));
    }

    #[test]
    fn polar_is_a_rotation_times_a_symmetric_matrix(f in prop::array::uniform9(-2.0..2.0f64)) {
        let f = Mat3::from_column_slice(&f);
        let (r, s) = polar(&f);
        prop_assert!((r * s - f).amax() < 3.0 * TOL);
        prop_assert!((s - s.transpose()).amax() < TOL);
        prop_assert!((r.determinant() - 1.0).abs() < TOL);
    }
}

#[test]
fn special_matrices() {
    assert_eq!(check(&Mat3::identity()), Vec3::new(1.0, 1.0, 1.0));
    assert_eq!(check(&Mat3::zeros()), Vec3::zeros());
    assert_eq!(check(&-Mat3::identity()), Vec3::new(1.0, 1.0, -1.0));
    assert_eq!(check(&Mat3::from_diagonal(&Vec3::new(0.0, 0.0, -2.0))), Vec3::new(2.0, 0.0, 0.0));
    let graded = check(&Mat3::from_diagonal(&Vec3::new(1e-60, 1.0, -1e60)));
    assert!((graded.component_div(&Vec3::new(1e60, 1.0, -1e-60)) - Vec3::repeat(1.0)).amax() < TOL);
    let rank_one = Vec3::new(1.0, 2.0, -3.0) * Vec3::new(0.5, 0.1, 4.0).transpose();
    assert!(check(&rank_one)[1] < TOL * 20.0);
    check(&Mat3::repeat(1.0));
    check(&Mat3::repeat(f64::MIN_POSITIVE / 1024.0));
    check(&(Mat3::repeat(1.0) + Mat3::identity() * 1e-15));
    // a sheared, nearly flat element
    check(&Mat3::new(1.0, 1e8, 0.0, 0.0, 1.0, 1e8, 0.0, 0.0, 1.0));
}

#[test]
fn not_a_number_in_not_a_number_out() {
    let mut f = Mat3::identity();
    f[(1, 2)] = f64::NAN;
    assert!(svd3(&f).sigma.iter().any(|s| s.is_nan()));
}
