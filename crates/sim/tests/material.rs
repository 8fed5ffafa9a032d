//! What every constitutive law must satisfy, one list of tests for all of them.

use crate::elastic_support::{Random, admissible, upright, with_stretches};
use standoff_linalg::{Mat3, MatN, Svd3, Vec3, svd3};
use standoff_sim::material::{Lame, Law, Material, von_mises};
use standoff_testkit::finite_difference::{gradient, jacobian, relative_error};

const MODULI: [Lame; 3] =
    [Lame { lambda: 1.7, mu: 0.9 }, Lame { lambda: 0.0, mu: 2.0 }, Lame { lambda: 40.0, mu: 0.8 }];

fn each(mut test: impl FnMut(Law, &Lame, &mut Random)) {
    for law in Law::ALL {
        for (seed, lame) in MODULI.iter().enumerate() {
            test(law, lame, &mut Random::new(seed as u64));
        }
    }
}

fn as_matrix(f: &[f64]) -> Mat3 {
    Mat3::from_column_slice(f)
}

/// A step of finite differences that resolves the smallest stretch.
fn fd_step(f: &Mat3) -> f64 {
    let smallest = svd3(f).sigma[2].abs();
    if smallest < 1e-3 { 1e-3 } else { 1e-3 * smallest.min(1.0) }
}

#[test]
fn rest_is_free_of_energy_and_stress() {
    each(|law, lame, random| {
        assert_eq!(law.psi(lame, &Mat3::identity()), 0.0, "{law:?}");
        assert_eq!(law.pk1(lame, &Mat3::identity()), Mat3::zeros(), "{law:?}");
        let r = random.rotation();
        assert!(law.psi(lame, &r).abs() < 1e-28, "{law:?}");
        assert!(law.pk1(lame, &r).amax() < 1e-14 * (lame.lambda + lame.mu), "{law:?}");
    });
}

#[test]
fn energy_is_positive_off_rest() {
    each(|law, lame, random| {
        for f in admissible(law.has_barrier(), random) {
            let strain = (svd3(&f).sigma - Vec3::repeat(1.0)).norm();
            let psi = law.psi(lame, &f);
            assert!(psi >= 0.0 || strain < 1e-14, "{law:?} {psi:e}");
        }
    });
}

#[test]
fn rotations_change_nothing() {
    each(|law, lame, random| {
        for f in admissible(law.has_barrier(), random) {
            let (psi, p) = (law.psi(lame, &f), law.pk1(lame, &f));
            let r = random.rotation();
            // objectivity, then isotropy; rounding of R F alone perturbs ψ by ‖P‖ ε
            let size = p.amax() * f.amax() * 1e-14 + psi * 1e-13 + 1e-28;
            assert!((law.psi(lame, &(r * f)) - psi).abs() <= size, "{law:?} {f}");
            assert!((law.psi(lame, &(f * r)) - psi).abs() <= size, "{law:?} {f}");
            let h = law.hessian(lame, &f).amax();
            let close = |a: Mat3, b: Mat3| (a - b).amax() <= 1e-13 * (p.amax() + h * f.amax());
            assert!(close(law.pk1(lame, &(r * f)), r * p), "{law:?} {f}");
            assert!(close(law.pk1(lame, &(f * r)), p * r), "{law:?} {f}");
        }
    });
}

#[test]
fn stress_is_the_derivative_of_energy() {
    each(|law, lame, random| {
        for f in admissible(law.has_barrier(), random) {
            let eps = fd_step(&f);
            let fd = gradient(f.as_slice(), eps, |f| law.psi(lame, &as_matrix(f)));
            let floor = 1e-2 * (lame.lambda + lame.mu);
            let error = relative_error(law.pk1(lame, &f).as_slice(), &fd, floor);
            assert!(error < 1e-8, "{law:?} {error:e} {f}");
        }
    });
}

#[test]
fn hessian_is_the_derivative_of_stress() {
    each(|law, lame, random| {
        for f in admissible(law.has_barrier(), random) {
            let eps = fd_step(&f);
            let fd =
                jacobian(f.as_slice(), eps, |f| law.pk1(lame, &as_matrix(f)).as_slice().to_vec());
            let h = law.hessian(lame, &f);
            assert!((h - h.transpose()).amax() <= 1e-13 * h.amax());
            let error = relative_error(h.transpose().as_slice(), &fd.concat(), 0.0);
            assert!(error < 1e-8, "{law:?} {error:e} {f}");
        }
    });
}

/// ∂²ψ/∂F² at rest is the elasticity tensor λ δᵢⱼδₖₗ + μ (δᵢₖδⱼₗ + δᵢₗδⱼₖ).
#[test]
fn hessian_at_rest_is_linear_elasticity() {
    each(|law, lame, _| {
        let delta = |i: usize, j: usize| f64::from(u8::from(i == j));
        let tensor = MatN::<9>::from_fn(|r, c| {
            let (i, j, k, l) = (r % 3, r / 3, c % 3, c / 3);
            lame.lambda * delta(i, j) * delta(k, l)
                + lame.mu * (delta(i, k) * delta(j, l) + delta(i, l) * delta(j, k))
        });
        let scale = tensor.amax();
        for h in [law.hessian(lame, &Mat3::identity()), law.hessian_psd(lame, &Mat3::identity())] {
            assert!((h - tensor).amax() < 4e-15 * scale, "{law:?} {h}");
        }
    });
}

/// Near rest ψ is Hooke's quadratic form of the strain, with the relative accuracy of the strain:
/// no constant or linear terms cancel.
#[test]
fn small_strains_keep_their_digits() {
    each(|law, lame, random| {
        for exponent in 1..12 {
            let size = 10f64.powi(-exponent);
            let a = random.mat3();
            let strain = (a + a.transpose()) * (0.5 * size);
            let hooke =
                lame.mu * strain.norm_squared() + 0.5 * lame.lambda * strain.trace().powi(2);
            let psi = law.psi(lame, &(random.rotation() * (Mat3::identity() + strain)));
            // the law's own third order, and rounding of F
            let bound = 20.0 * size + 2e-14 / size;
            assert!((psi / hooke - 1.0).abs() < bound, "{law:?} 1e-{exponent} {psi:e} {hooke:e}");
        }
    });
}

/// The slow, obvious twin: eigenvalues of the 9×9 matrix, by nalgebra, clamped at zero.
fn clamp(h: &MatN<9>) -> (MatN<9>, f64) {
    let e = h.symmetric_eigen();
    let positive = e.eigenvalues.map(|w| w.max(0.0));
    let p = e.eigenvectors * MatN::<9>::from_diagonal(&positive) * e.eigenvectors.transpose();
    (p, e.eigenvalues.min())
}

#[test]
fn projected_hessian_is_the_nearest_psd_matrix() {
    each(|law, lame, random| {
        let mut gradients = admissible(law.has_barrier(), random);
        for _ in 0..100 {
            let mut s = [0, 1, 2].map(|_| 2.0 * random.unit().powi(2) + 1e-3);
            if !law.has_barrier() {
                s[2] *= random.signed().signum() * 0.5;
            }
            gradients.push(with_stretches(random, s));
            gradients.push(with_stretches(random, [s[0], s[0], s[2]]));
        }
        let mut indefinite = 0;
        for f in gradients {
            // the unprojected Hessian is infinite at σ₁ + σ₂ = 0
            let sigma = svd3(&f).sigma;
            if sigma[1] + sigma[2] < 1e-5 {
                continue;
            }
            let h = law.hessian(lame, &f);
            let (expected, smallest) = clamp(&h);
            let scale = h.amax();
            indefinite += usize::from(smallest < -1e-6 * scale);
            let found = law.hessian_psd(lame, &f);
            let error = (found - expected).amax() / scale;
            assert!(error < 1e-10, "{law:?} {error:e} {f}");
            assert!(clamp(&found).1 >= -1e-13 * scale, "{law:?} {f}");
        }
        assert!(indefinite > 10, "{law:?}: the test must meet indefinite Hessians");
    });
}

/// Where the nearest rotation is not unique the unprojected Hessian is infinite; the projected
/// one must be finite, or at least no NaN where its twist modes grow without bound.
#[test]
fn projected_hessian_survives_the_worst_inputs() {
    each(|law, lame, random| {
        if law.has_barrier() {
            return;
        }
        for s in
            [[1.0, 0.5, -0.5], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, -1.0], [9.0, 1.0, -1.0]]
        {
            let f = Mat3::from_diagonal(&Vec3::from(s));
            for f in [f, random.rotation() * f * random.rotation()] {
                let h = law.hessian_psd(lame, &f);
                assert!(h.iter().all(|v| v.is_finite()), "{law:?} {h}");
                assert!(law.psi(lame, &f).is_finite() && law.pk1(lame, &f).amax().is_finite());
            }
        }
    });
}

#[test]
fn barriers_are_infinite_where_there_is_no_volume() {
    each(|law, lame, random| {
        for s in [[1.0, 0.5, -0.5], [1.0, 1.0, -1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]] {
            let f = Mat3::from_diagonal(&Vec3::from(s));
            assert_eq!(law.psi(lame, &f).is_infinite(), law.has_barrier(), "{law:?}");
        }
        if law.has_barrier() {
            let mut last = 0.0;
            for exponent in 1..60 {
                let psi = law.psi(
                    lame,
                    &with_stretches(random, [1.0, 1.0, 0.1]).scale(0.5f64.powi(exponent)),
                );
                assert!(psi > last && psi.is_finite());
                last = psi;
            }
        }
    });
}

/// In uniaxial and shear states, against the formulas written out by hand.
#[test]
fn energies_by_hand() {
    let m = Lame { lambda: 2.0, mu: 3.0 };
    let f = Mat3::new(2.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 3.0);
    let by_hand = [
        (Law::NeoHookean, 1.5 * 10.25 - 3.0 * 3f64.ln() + 3f64.ln().powi(2)),
        // μ/2 (I_C − 3) + λ′/2 (J − α)² − μ²/(2λ′), λ′ = 5, α = 1.6
        (Law::StableNeoHookean, 1.5 * 10.25 + 2.5 * 1.4 * 1.4 - 0.9),
        (Law::FixedCorotated, 3.0 * 5.25 + 4.0),
        (Law::CorotatedLinear, 3.0 * 5.25 + 6.25),
        (Law::StVenantKirchhoff, 3.0 * (2.25 + 0.140625 + 16.0) + (1.5 - 0.375 + 4.0f64).powi(2)),
    ];
    for (law, psi) in by_hand {
        assert!((law.psi(&m, &f) / psi - 1.0).abs() < 1e-15, "{law:?}");
    }
    assert_eq!(by_hand.map(|(law, _)| law), Law::ALL);
}

/// The forms for small and for large strain are one function, across the switch between them.
#[test]
fn near_and_far_forms_agree() {
    let random = &mut Random::new(9);
    let m = Lame { lambda: 2.0, mu: 3.0 };
    for i in 1..200 {
        let a = random.mat3();
        let strain = (a + a.transpose()) * (0.001 * f64::from(i) / a.norm());
        let f = random.rotation() * (Mat3::identity() + strain);
        let (j, trace) = (f.determinant(), f.norm_squared() - 3.0);
        let neo = 1.5 * trace - 3.0 * j.ln() + j.ln().powi(2);
        let stable = 1.5 * trace - 3.0 * (j - 1.0) + 2.5 * (j - 1.0).powi(2);
        assert!((Law::NeoHookean.psi(&m, &f) - neo).abs() < 3e-14);
        assert!((Law::StableNeoHookean.psi(&m, &f) - stable).abs() < 3e-14);
    }
}

#[test]
fn cauchy_stress_is_symmetric_and_meets_hooke() {
    each(|law, lame, random| {
        for f in upright(random) {
            let sigma = law.cauchy_stress(lame, &f);
            assert_eq!(sigma, sigma.transpose());
            let p = law.pk1(lame, &f);
            let size = p.amax() * f.amax() / f.determinant() + lame.mu + lame.lambda;
            assert!((sigma * f.determinant() - p * f.transpose()).amax() < 1e-12 * size, "{law:?}");
        }
        let a = random.mat3() * 1e-7;
        let strain = (a + a.transpose()) * 0.5;
        let hooke =
            strain * (2.0 * lame.mu) + Mat3::from_diagonal_element(lame.lambda * strain.trace());
        let sigma = law.cauchy_stress(lame, &(Mat3::identity() + strain));
        assert!((sigma - hooke).amax() < 1e-5 * hooke.amax(), "{law:?}");
    });
}

#[test]
fn keys_are_those_of_scene_files() {
    for law in Law::ALL {
        assert_eq!(serde_json::to_value(law).unwrap(), law.key());
    }
}

#[test]
fn von_mises_of_simple_states() {
    let uniaxial = Mat3::from_diagonal(&Vec3::new(0.0, -7.0, 0.0));
    assert!((von_mises(&uniaxial) - 7.0).abs() < 1e-14);
    assert!(von_mises(&Mat3::from_diagonal_element(5.0)) < 1e-14);
    let shear = Mat3::new(0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    assert!((von_mises(&shear) - 2.0 * 3f64.sqrt()).abs() < 1e-14);
}

#[test]
fn materials_are_checked() {
    let material = |e, nu| Material { law: Law::NeoHookean, young_modulus: e, poisson_ratio: nu };
    assert_eq!(material(1e5, 0.3).validate(), Ok(()));
    let field = |e, nu| material(e, nu).validate().unwrap_err().path.to_string();
    assert_eq!(field(0.0, 0.3), "young_modulus");
    assert_eq!(field(f64::NAN, 0.3), "young_modulus");
    for nu in [0.5, -1.0, 0.7, f64::NAN] {
        assert_eq!(field(1.0, nu), "poisson_ratio");
    }
    let lame = material(1e5, 0.25).lame();
    assert!((lame.lambda / 4e4 - 1.0).abs() < 1e-15 && (lame.mu / 4e4 - 1.0).abs() < 1e-15);
}

/// What is refused has no lower bound, and what is not has one: the least ψ over stretches from 10⁻³ to
/// 10³ is about that over 10⁻¹² to 10¹².
#[test]
fn negative_poisson_ratios_are_refused_where_the_energy_has_no_lower_bound() {
    let power = |k: i32| 10f64.powf(f64::from(k) / 4.0);
    let least = |material: &Material, range: i32| {
        let mut least = f64::INFINITY;
        for (i, j) in (-range..=range).flat_map(|i| (-range..=range).map(move |j| (i, j))) {
            let f = Mat3::from_diagonal(&Vec3::new(power(i), power(j), power(i.max(j))));
            least = least.min(material.law.psi(&material.lame(), &f));
        }
        least
    };
    for law in Law::ALL {
        for nu in [-0.99, -0.5, -0.1, 0.0, 0.3] {
            let material = Material { law, young_modulus: 1.0, poisson_ratio: nu };
            let (near, far) = (least(&material, 12), least(&material, 48));
            let bounded = far > 2.0 * near - 1.0;
            assert_eq!(material.validate().is_ok(), bounded, "{law:?} ν = {nu}: {near} {far}");
        }
    }
}

/// The quadratic form that `PrincipalHessian` documents, evaluated term by term.
#[test]
fn blocks_follow_the_quadratic_form() {
    each(|law, lame, random| {
        for f in upright(random) {
            let svd: Svd3 = svd3(&f);
            let h = law.principal_hessian(lame, &svd.sigma);
            let df = random.mat3();
            let w = svd.u.transpose() * df * svd.v;
            let mut form = 0.0;
            for i in 0..3 {
                for j in 0..3 {
                    form += h.stretch[j][i] * w[(i, i)] * w[(j, j)];
                }
            }
            for (i, j, k) in [(0, 1, 2), (1, 2, 0), (2, 0, 1)] {
                form += 0.5 * h.flip[k] * (w[(i, j)] + w[(j, i)]).powi(2);
                form += 0.5 * h.twist[k] * (w[(i, j)] - w[(j, i)]).powi(2);
            }
            let v = standoff_linalg::VecN::<9>::from_column_slice(df.as_slice());
            let big = law.hessian(lame, &f);
            assert!((v.dot(&(big * v)) - form).abs() < 1e-12 * big.amax(), "{law:?}");
        }
    });
}
