//! What every constitutive law must satisfy, one list of tests for all of them.

use crate::elastic_support::{Random, admissible, upright, with_stretches};
use standoff_linalg::{Mat3, MatN, Svd3, Vec3, svd3};
use standoff_sim::material::rubber::{Experiment, OgdenTerm, Rubber};
use standoff_sim::material::{Lame, Law, Material, von_mises};
use standoff_testkit::finite_difference::{gradient, jacobian, relative_error};

const MODULI: [Lame; 3] =
    [Lame { lambda: 1.7, mu: 0.9 }, Lame { lambda: 0.0, mu: 2.0 }, Lame { lambda: 40.0, mu: 0.8 }];

fn each(mut test: impl FnMut(&Law, &Lame, &mut Random)) {
    for law in Law::ALL {
        for (seed, lame) in MODULI.iter().enumerate() {
            test(&law, lame, &mut Random::new(seed as u64));
        }
    }
    for (seed, rubber) in rubbers().into_iter().enumerate() {
        for bulk_modulus in [1.5, 40.0] {
            let material = Material::rubber(rubber.clone(), bulk_modulus);
            test(&material.law, &material.lame(), &mut Random::new(seed as u64));
        }
    }
}

/// Laws of rubber, each with a shear modulus near 1 Pa.
fn rubbers() -> Vec<Rubber> {
    let term = |mu: f64, alpha: f64| OgdenTerm { mu, alpha };
    vec![
        Rubber::MooneyRivlin { c10: 0.5, c01: 0.0, c20: 0.0, c11: 0.0, c02: 0.0 },
        Rubber::MooneyRivlin { c10: 0.3, c01: 0.2, c20: 0.04, c11: 0.01, c02: 0.02 },
        Rubber::Yeoh { c10: 0.5, c20: -0.04, c30: 0.02 },
        Rubber::ArrudaBoyce { mu: 0.9, locking_stretch: 2.0 },
        Rubber::Gent { mu: 1.0, limit: 2000.0 },
        Rubber::Ogden { terms: vec![term(1.0, 2.0)] },
        Rubber::Ogden { terms: vec![term(0.8, 1.3), term(0.1, 5.0), term(0.1, -2.0)] },
    ]
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
    for (law, psi) in &by_hand {
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
        assert_eq!(serde_json::to_value(&law).unwrap(), law.key());
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
            let material = Material { law: law.clone(), young_modulus: 1.0, poisson_ratio: nu };
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

/// The nominal stresses of the laws of rubber in the literature, for an incompressible solid [Ogden 1997, §7.2].
// long: formulas by hand, one law after the other
#[test]
fn rubber_is_stressed_as_its_closed_forms_say() {
    let (uniaxial, biaxial, planar, shear) =
        (Experiment::Uniaxial, Experiment::Biaxial, Experiment::Planar, Experiment::Shear);
    // from ∂w/∂I₁ and ∂w/∂I₂: P = 2 (λ − λ⁻²)(w₁ + w₂/λ), 2 (λ − λ⁻⁵)(w₁ + w₂ λ²), 2 (λ − λ⁻³)(w₁ + w₂), 2 γ (w₁ + w₂)
    let by_invariants = |e: Experiment, l: f64, w: &dyn Fn(f64, f64) -> [f64; 2]| {
        let f = e.deformation(l);
        let c = f.transpose() * f;
        let (a, b) = (c.trace() - 3.0, 0.5 * (c.trace().powi(2) - (c * c).trace()) - 3.0);
        let [w1, w2] = w(a, b);
        match e {
            Experiment::Uniaxial => 2.0 * (l - l.powi(-2)) * (w1 + w2 / l),
            Experiment::Biaxial => 2.0 * (l - l.powi(-5)) * (w1 + w2 * l * l),
            Experiment::Planar => 2.0 * (l - l.powi(-3)) * (w1 + w2),
            Experiment::Shear => 2.0 * l * (w1 + w2),
        }
    };
    let chains = |i1: f64| {
        let (mu, l) = (0.9, 2.0_f64);
        let c = [0.5, 0.05, 11.0 / 1050.0, 19.0 / 7000.0, 519.0 / 673_750.0];
        let term = |i: usize| (i + 1) as f64 * c[i] / l.powi(2 * i as i32) * i1.powi(i as i32);
        mu * (0..5).map(term).sum::<f64>()
    };
    let ogden = |e: Experiment, l: f64| {
        let term = |(mu, alpha): (f64, f64)| {
            let first = 2.0 * mu / alpha;
            match e {
                Experiment::Uniaxial => first * (l.powf(alpha - 1.0) - l.powf(-0.5 * alpha - 1.0)),
                Experiment::Biaxial => first * (l.powf(alpha - 1.0) - l.powf(-2.0 * alpha - 1.0)),
                Experiment::Planar => first * (l.powf(alpha - 1.0) - l.powf(-alpha - 1.0)),
                Experiment::Shear => {
                    // of the principal stretch s with s − 1/s = γ
                    let s = 0.5 * (l + (l * l + 4.0).sqrt());
                    first * (s.powf(alpha) - s.powf(-alpha)) / (s + s.recip())
                }
            }
        };
        [(0.8, 1.3), (0.1, 5.0), (0.1, -2.0)].into_iter().map(term).sum::<f64>()
    };
    for e in [uniaxial, biaxial, planar, shear] {
        for l in [0.3, 0.9, 1.0 + 1e-5, 1.3, 2.0, 3.5] {
            let with = |w: &dyn Fn(f64, f64) -> [f64; 2]| by_invariants(e, l, w);
            let exact = [
                with(&|_, _| [0.5, 0.0]),
                with(&|a, b| [0.3 + 0.08 * a + 0.01 * b, 0.2 + 0.01 * a + 0.04 * b]),
                with(&|a, _| [0.5 - 0.08 * a + 0.06 * a * a, 0.0]),
                with(&|a, _| [chains(a + 3.0), 0.0]),
                with(&|a, _| [0.5 / (1.0 - a / 2000.0), 0.0]),
                with(&|_, _| [0.5, 0.0]),
                ogden(e, l),
            ];
            for (rubber, exact) in rubbers().iter().zip(exact) {
                let found = rubber.nominal_stress(e, l);
                assert!(
                    (found - exact).abs() < 1e-12 * exact.abs() + 1e-15,
                    "{rubber:?} {e:?} {l}: {found} {exact}"
                );
            }
        }
    }
}

/// Constants out of their ranges, and those with which rest is not the state of least energy, are refused.
#[test]
fn rubber_without_a_minimum_at_rest_is_refused() {
    for rubber in rubbers() {
        rubber.validate().unwrap();
        let material = Material::rubber(rubber, 50.0);
        material.validate().unwrap();
        let other = Material { young_modulus: 1.1 * material.young_modulus, ..material };
        assert!(other.validate().unwrap_err().to_string().contains("at rest"));
    }
    let term = |mu: f64, alpha: f64| OgdenTerm { mu, alpha };
    let refused = |rubber: Rubber, says: &str| {
        let error = rubber.validate().unwrap_err().to_string();
        assert!(error.contains(says), "{rubber:?}: {error}");
    };
    let mooney = |c10, c01, c20| Rubber::MooneyRivlin { c10, c01, c20, c11: 0.0, c02: 0.0 };
    refused(mooney(f64::NAN, 0.0, 0.0), "c10");
    refused(mooney(-0.5, 0.1, 0.0), "shear modulus");
    // softens without end under pressure along one axis, or when it is pulled far
    refused(mooney(0.5, -0.1, 0.0), "negative at these stretches");
    refused(mooney(0.5, 0.1, -1e-4), "negative at these stretches");
    refused(Rubber::Gent { mu: 1.0, limit: 0.0 }, "limit");
    refused(Rubber::ArrudaBoyce { mu: 1.0, locking_stretch: 1.0 }, "locking_stretch");
    refused(Rubber::Ogden { terms: vec![] }, "terms");
    refused(Rubber::Ogden { terms: vec![term(1.0, 2.0); 7] }, "terms");
    refused(Rubber::Ogden { terms: vec![term(1.0, 2.0), term(1.0, 0.0)] }, "terms[1].alpha");
    refused(Rubber::Ogden { terms: vec![term(1.0, 2.0), term(-0.2, 6.0)] }, "negative at these");
}
