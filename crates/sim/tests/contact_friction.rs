//! Lagged friction: scalar functions, derivatives, IPC Toolkit's values and the records of the
//! reference IPC code.

use crate::contact_support::*;
use serde_json::Value;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::contact::{
    Barrier, BarrierPotential, ContactSet, FrictionContact, FrictionKey, FrictionMaterials,
    FrictionSet, HalfSpace, HalfSpaceContact, Slip, Smoothing, Weighting,
};
use standoff_sparse::block_pairs;
use standoff_testkit::finite_difference::{gradient, jacobian, relative_error};
use standoff_testkit::{number, numbers, testdata, testdata_json};

#[test]
fn scalar_functions_are_derivatives_of_each_other() {
    for smoothing in [Smoothing::C0, Smoothing::C1, Smoothing::C2] {
        let eps = 0.37;
        assert!((smoothing.f0(eps * (1.0 - 1e-15), eps) - eps).abs() < 1e-14);
        assert!((smoothing.f1(eps * (1.0 - 1e-15), eps) - 1.0).abs() < 1e-14);
        assert_eq!(smoothing.f1(0.0, eps), 0.0);
        for y in [0.01, 0.1, 0.2, 0.3, 0.36, 0.5, 2.0] {
            let f1 = gradient(&[y], 1e-3, |y| smoothing.f0(y[0], eps))[0];
            assert!((f1 - smoothing.f1(y, eps)).abs() < 1e-9, "{smoothing:?} {y}");
            let f2 = gradient(&[y], 1e-3, |y| smoothing.f1(y[0], eps))[0];
            assert!((f2 - smoothing.f2(y, eps)).abs() < 1e-8, "{smoothing:?} {y}");
            let ratio = smoothing.f1(y, eps) / y;
            assert!((smoothing.f1_over_y(y, eps) - ratio).abs() < 1e-13);
        }
    }
}

/// μ_s f₁: up to ε the smoothing, at ε the static coefficient, from 10 ε on the kinetic one, and the energy its integral.
#[test]
fn friction_falls_from_the_static_to_the_kinetic_coefficient() {
    for smoothing in [Smoothing::C0, Smoothing::C1, Smoothing::C2] {
        for fall in [0.0, 0.4, 1.0] {
            let eps = 0.37;
            let slip = Slip { smoothing, eps, fall };
            for y in [0.0, 0.1, 0.3, eps] {
                assert_eq!(slip.f0(y), smoothing.f0(y, eps));
                assert_eq!(slip.f1_over_y(y), smoothing.f1_over_y(y, eps));
                assert_eq!(slip.f2(y), smoothing.f2(y, eps));
                assert!(!slip.is_falling(y));
            }
            assert!((slip.f1(eps) - 1.0).abs() < 1e-14 && (slip.f0(eps) - eps).abs() < 1e-14);
            for y in [10.0, 11.0, 1e6].map(|k| k * eps) {
                assert_eq!(slip.f1(y), 1.0 - fall);
                assert_eq!((slip.f2(y), slip.is_falling(y)), (0.0, false));
            }
            // half of it is lost in the middle, between ε and 10 ε
            assert!((slip.f1(5.5 * eps) - (1.0 - 0.5 * fall)).abs() < 1e-14);
            let steps = [1.05, 1.3, 2.0, 4.0, 5.5, 7.0, 9.9, 10.1, 20.0].map(|k| k * eps);
            for y in [0.05, 0.2, 0.36].into_iter().chain(steps) {
                let f1 = gradient(&[y], 1e-3, |y| slip.f0(y[0]))[0];
                assert!((f1 - slip.f1(y)).abs() < 1e-9, "{smoothing:?} {fall} {y}");
                let f2 = gradient(&[y], 1e-3, |y| slip.f1(y[0]))[0];
                assert!((f2 - slip.f2(y)).abs() < 1e-8, "{smoothing:?} {fall} {y}");
                assert!((slip.f1_over_y(y) - slip.f1(y) / y).abs() < 1e-13);
                assert_eq!(slip.is_falling(y), slip.f2(y) < 0.0);
                // the secant falls, so that the model with it lies above the energy
                assert!(slip.f1_over_y(1.01 * y) <= slip.f1_over_y(y));
            }
            // one derivative of the force is continuous where it begins and ends to fall
            if smoothing != Smoothing::C0 {
                for y in [eps, 10.0 * eps] {
                    let (below, above) = (slip.f2(y * (1.0 - 1e-9)), slip.f2(y * (1.0 + 1e-9)));
                    assert!((below - above).abs() < 1e-7, "{smoothing:?} {fall}: {below} {above}");
                }
            }
        }
    }
}

#[test]
fn scalar_functions_match_the_oracle() {
    let json = testdata_json("oracle/scalar_friction.json");
    for row in json["rows"].as_array().unwrap() {
        let (y, eps) = (number(&row["y"]), number(&row["eps_v"]));
        let s = Smoothing::C1;
        for (key, got) in [
            ("f0", s.f0(y, eps)),
            ("f1", s.f1(y, eps)),
            ("f2", s.f2(y, eps)),
            ("f1_over_x", s.f1_over_y(y, eps)),
        ] {
            let want = number(&row[key]);
            let floor = if key == "f2" { 1e-12 * 2.0 / eps } else { 0.0 };
            assert!((got - want).abs() <= 1e-12 * want.abs() + floor, "{key} {got:e} {row}");
        }
        // where the coefficient falls below ε already, hardly any static friction is left
        let falling = row["mu"].as_array().unwrap().iter();
        for case in falling.filter(|c| number(&c["mu_s"]) == 0.5 && number(&c["mu_k"]) == 0.3) {
            assert!(number(&case["f1"]) < 0.32, "{case}");
        }
    }
    use standoff_geometry::distance::mollifier;
    for row in json["mollifier"].as_array().unwrap() {
        let (x, eps) = (number(&row["x"]), number(&row["eps_x"]));
        let got = mollifier::scalar(x, eps);
        for (k, key) in ["m", "dm", "ddm"].iter().enumerate() {
            let want = number(&row[*key]);
            let floor = 1e-15 * [1.0, 2.0 / eps, 0.0][k];
            assert!((got[k] - want).abs() <= 1e-12 * want.abs() + floor, "{key} {row}");
        }
    }
}

/// A friction contact with random frame over four vertices.
fn random_contact(r: &mut Random) -> FrictionContact {
    let t = r.vec3().normalize();
    let s = t.cross(&r.vec3()).normalize();
    FrictionContact {
        key: FrictionKey::HalfSpace(0), // no matter
        vertices: [0, 1, 2, 3],
        n: 4,
        gamma: [0.3, 0.7, -0.4, -0.6],
        basis: [t, s],
        force: 2.5,
        fall: 0.0,
        stick: 0.8,
        forecast: None,
        tangent: None,
    }
}

#[test]
fn derivatives_match_differences() {
    let mut r = Random::new(5);
    let mut falling = 0;
    for smoothing in [Smoothing::C0, Smoothing::C1, Smoothing::C2] {
        let scales = [0.0, 1e-3, 0.3, 3.0].map(|scale| (scale, 0.0));
        let falls = [(0.3, 0.4), (2.0, 0.4), (4.0, 1.0), (5.0, 0.4), (30.0, 0.4), (30.0, 1.0)];
        for (scale, fall) in scales.into_iter().chain(falls) {
            let c = FrictionContact { fall, ..random_contact(&mut r) };
            let set = FrictionSet {
                contacts: vec![c],
                smoothing,
                half_space_smoothing: smoothing,
                mollified_edges: false,
                eps: 1.0,
                secant: false,
            };
            let reference: Vec<Vec3> = (0..4).map(|_| r.vec3()).collect();
            // keep ‖u‖ well on one side of ε
            let x: Vec<Vec3> = reference.iter().map(|p| p + r.vec3() * scale).collect();
            let u = c.displacement(&x, &reference);
            if (u[0].hypot(u[1]) - 0.8).abs() < 0.05 {
                continue;
            }
            falling += u32::from(set.is_falling(&x, &reference));
            let points = |v: &[f64]| -> Vec<Vec3> {
                v.chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect()
            };
            let grad = |v: &[f64]| {
                let mut g = vec![Vec3::zeros(); 4];
                set.add_gradient(&points(v), &reference, &mut g);
                flat(&g)
            };
            let x0 = flat(&x);
            let numeric = gradient(&x0, 1e-4, |v| set.value(&points(v), &reference));
            assert!(relative_error(&grad(&x0), &numeric, 1e-3) < 1e-7, "{smoothing:?} {scale}");
            let h = dense(&friction_hessian(&set, &c, &x, &reference, false));
            let numeric = jacobian(&x0, 1e-4, grad).concat();
            // the C¹ force has a kink in its slope at rest, which limits the difference there
            let tol = if scale < 1e-2 { 1e-3 } else { 1e-6 };
            assert!(relative_error(&h, &numeric, 1e-3) < tol, "{smoothing:?} {scale}");
            // only friction that falls is indefinite, and what is projected never
            let projected = dense(&friction_hessian(&set, &c, &x, &reference, true));
            assert_eq!(h != projected, set.is_falling(&x, &reference));
            for _ in 0..20 {
                let p: Vec<f64> = (0..12).map(|_| r.vec3().x).collect();
                let bend: f64 = (0..144).map(|k| projected[k] * p[k / 12] * p[k % 12]).sum();
                assert!(bend >= -1e-12, "{smoothing:?} {scale} {fall}: {bend}");
            }
            // the quadratic model with the secant lies above the energy everywhere
            let secant = FrictionSet { secant: true, ..set.clone() };
            let model = dense(&friction_hessian(&secant, &c, &x, &reference, true));
            for _ in 0..20 {
                let step: Vec<f64> = (0..12).map(|_| r.vec3().x * 2.0).collect();
                let to: Vec<f64> = x0.iter().zip(&step).map(|(a, b)| a + b).collect();
                let slope: f64 = grad(&x0).iter().zip(&step).map(|(g, d)| g * d).sum();
                let bend: f64 = (0..144).map(|k| model[k] * step[k / 12] * step[k % 12]).sum();
                let above = set.value(&points(&x0), &reference) + slope + 0.5 * bend;
                assert!(above >= set.value(&points(&to), &reference) - 1e-12, "{smoothing:?}");
            }
        }
    }
    assert!(falling >= 6, "{falling}");
}

/// With the tangent of what sliding loses, the energy is convex, has the same gradient there, and lies above that of friction.
#[test]
fn friction_with_tangents_is_convex_and_lies_above() {
    let mut r = Random::new(9);
    for (smoothing, fall) in [(Smoothing::C1, 0.4), (Smoothing::C2, 1.0), (Smoothing::C0, 0.7)] {
        let c = FrictionContact { fall, ..random_contact(&mut r) };
        let eps = 0.3;
        let set = FrictionSet {
            contacts: vec![c],
            smoothing,
            half_space_smoothing: smoothing,
            eps,
            ..FrictionSet::default()
        };
        let reference: Vec<Vec3> = (0..4).map(|_| r.vec3()).collect();
        let place = |r: &mut Random, scale: f64| -> Vec<Vec3> {
            reference.iter().map(|p| p + r.vec3() * scale).collect()
        };
        for scale in [0.05, 0.5, 1.0, 2.0, 8.0] {
            let x = place(&mut r, scale);
            let mut convex = set.clone();
            convex.take_tangents(Some(&x), &reference);
            let at = |set: &FrictionSet, x: &[Vec3]| {
                let mut g = vec![Vec3::zeros(); 4];
                set.add_gradient(x, &reference, &mut g);
                (set.value(x, &reference), flat(&g))
            };
            let ((value, gradient), (own, same)) = (at(&convex, &x), at(&set, &x));
            assert!(relative_error(&gradient, &same, 1.0) < 1e-13, "{smoothing:?} {scale}");
            assert!(!convex.is_falling(&x, &reference));
            for _ in 0..20 {
                let y = place(&mut r, 4.0 * scale);
                let (there, slope) = at(&convex, &y);
                let above = set.value(&y, &reference) - own;
                assert!(there - value >= above - 1e-12, "{there} {value} {above}");
                let step: Vec<f64> = flat(&y).iter().zip(&flat(&x)).map(|(a, b)| a - b).collect();
                let along = |g: &[f64]| g.iter().zip(&step).map(|(g, s)| g * s).sum::<f64>();
                assert!(along(&slope) >= along(&gradient) - 1e-12, "{smoothing:?} {scale}");
            }
            let numeric = standoff_testkit::finite_difference::gradient(&flat(&x), 1e-4, |v| {
                let x: Vec<Vec3> = v.chunks(3).map(|c| Vec3::new(c[0], c[1], c[2])).collect();
                convex.value(&x, &reference)
            });
            assert!(relative_error(&gradient, &numeric, 1.0) < 1e-7, "{smoothing:?} {scale}");
            // as it is again
            convex.take_tangents(None, &reference);
            assert_eq!(convex, set);
        }
    }
}

/// Pairs that the convergent potential subtracts have a negative force, and their friction no positive curvature.
#[test]
fn subtracted_pairs_have_no_curvature() {
    let mut r = Random::new(5);
    for secant in [false, true] {
        let set = FrictionSet { eps: 0.3, secant, ..FrictionSet::default() };
        let contact = FrictionContact { force: -2.0, ..random_contact(&mut r) };
        let reference: Vec<Vec3> = (0..4).map(|_| r.vec3()).collect();
        let x: Vec<Vec3> = reference.iter().map(|p| p + 0.1 * r.vec3()).collect();
        let mut blocks = [Mat3::identity(); 10];
        set.contact_hessian(&contact, &x, &reference, true, &mut blocks);
        assert!(blocks.iter().all(|b| b.norm() == 0.0), "{blocks:?}");
        assert!(set.contact_gradient(&contact, &x, &reference)[0].norm() > 0.0);
    }
}

#[test]
fn half_space_friction_opposes_sliding() {
    let plane = HalfSpace { origin: Vec3::zeros(), normal: Vec3::new(0.0, 0.6, 0.8) };
    let p = plane.normal * 0.5e-3 + Vec3::x() * 0.2;
    let (weight, thickness, forecast) = (1.0, 0.0, 0.0);
    let contact = HalfSpaceContact {
        vertex: 0,
        half_space: 0,
        plane,
        weight,
        thickness,
        reach: 1.0,
        forecast,
    };
    let set = ContactSet { half_space: vec![contact], ..ContactSet::default() };
    let potential = BarrierPotential {
        barrier: Barrier::ClampedLog,
        d_hat: 1e-3,
        kappa: 1e9,
        physical: false,
        even: false,
    };
    let materials = FrictionMaterials::uniform(1, 1, 0.4);
    let friction = FrictionSet::build(&set, &potential, &[p], &materials, Smoothing::C1, 1e-6);
    let lambda = potential.half_space_force_magnitude(&contact, &p);
    let slide = Vec3::new(0.3, -0.8, 0.6) * 1e-2;
    let mut g = [Vec3::zeros()];
    friction.add_gradient(&[p + slide], &[p], &mut g);
    assert!((g[0] - slide.normalize() * 0.4 * lambda).norm() < 1e-12 * lambda);
    // motion along the normal costs nothing
    let at_rest = friction.value(&[p], &[p]);
    assert!((friction.value(&[p + plane.normal], &[p]) - at_rest).abs() < 1e-12 * at_rest);
    // no coefficient, no friction
    let none = FrictionMaterials::uniform(1, 1, 0.0);
    let none = FrictionSet::build(&set, &potential, &[p], &none, Smoothing::C1, 1e-6);
    assert!(none.contacts.is_empty());
}

/// The Hessian of one contact with all its blocks.
fn friction_hessian(
    set: &FrictionSet,
    c: &FrictionContact,
    x: &[Vec3],
    reference: &[Vec3],
    project: bool,
) -> [[Mat3; 4]; 4] {
    let mut stored = [Mat3::zeros(); 10];
    set.contact_hessian(c, x, reference, project, &mut stored);
    let mut out = [[Mat3::zeros(); 4]; 4];
    for (block, (a, b)) in stored.iter().zip(block_pairs(4)) {
        out[b][a] = block.transpose();
        out[a][b] = *block;
    }
    out
}

/// Figures of a Hessian: Frobenius norm, trace, pᵀHp, |Hp| with p_i = sin(1.3 i + 7).
fn figures(set: &FrictionSet, x: &[Vec3], reference: &[Vec3]) -> [f64; 4] {
    let n = 3 * x.len();
    let mut h = vec![0.0; n * n];
    for c in &set.contacts {
        let blocks = friction_hessian(set, c, x, reference, true);
        for (i, &v) in c.stencil().iter().enumerate() {
            for (j, &w) in c.stencil().iter().enumerate() {
                for r in 0..3 {
                    for s in 0..3 {
                        h[(3 * v as usize + r) * n + 3 * w as usize + s] += blocks[i][j][(r, s)];
                    }
                }
            }
        }
    }
    let p: Vec<f64> = (0..n).map(|i| (1.3 * i as f64 + 7.0).sin()).collect();
    let hp: Vec<f64> =
        h.chunks(n).map(|row| row.iter().zip(&p).map(|(a, b)| a * b).sum()).collect();
    [
        h.iter().map(|v| v * v).sum::<f64>().sqrt(),
        (0..n).map(|i| h[i * n + i]).sum(),
        hp.iter().zip(&p).map(|(a, b)| a * b).sum(),
        hp.iter().map(|v| v * v).sum::<f64>().sqrt(),
    ]
}

#[test]
fn potentials_match_the_oracle() {
    let (scenes, json) = (scenes(), testdata_json("oracle/friction.json"));
    let mut compared = 0;
    for scene in &scenes {
        let cases: Vec<&Value> = json["cases"]
            .as_array()
            .unwrap()
            .iter()
            // one coefficient for stick and slip, as in Standoff
            .filter(|c| c["scene"] == scene.name.as_str() && c["mu_s"] == c["mu_k"])
            .collect();
        let reach = cases.iter().map(|c| number(&c["dhat"]) + number(&c["dmin"]));
        let candidates = near_candidates(&scene.mesh, &scene.x, reach.fold(0.0, f64::max));
        for case in cases {
            let (d_hat, xi) = (number(&case["dhat"]), number(&case["dmin"]));
            let mut mesh = scene.mesh.clone();
            mesh.half_thickness = vec![0.5 * xi; mesh.rest.len()];
            let weighting = if case["area_weighting"] == true {
                Weighting::area(&mesh)
            } else {
                Weighting::Count
            };
            let set = ContactSet::build(&candidates, &mesh, &[], &scene.x, d_hat, &weighting);
            let potential = BarrierPotential {
                barrier: Barrier::ClampedLog,
                d_hat,
                kappa: number(&case["kappa"]),
                physical: case["physical"] == true,
                even: false,
            };
            let materials = FrictionMaterials::uniform(mesh.rest.len(), 0, number(&case["mu_s"]));
            let eps = number(&case["eps_v"]);
            let friction =
                FrictionSet::build(&set, &potential, &scene.x, &materials, Smoothing::C1, eps);
            let n = scene.x.len();
            let velocities = if case["velocities"].is_array() {
                vecs(&case["velocities"])
            } else {
                let speed = number(&case["speed"]);
                (0..n)
                    .map(|i| Vec3::from_fn(|k, _| speed * (0.7 * (3 * i + k) as f64 + 0.3).sin()))
                    .collect()
            };
            let zero = vec![Vec3::zeros(); n];
            let close = |got: f64, want: f64, what: &str| {
                let e = (got - want).abs();
                assert!(e <= 1e-10 * want.abs(), "{} {d_hat} {what}: {got:e} {want:e}", scene.name);
            };
            let count = ["n_vv", "n_ev", "n_ee", "n_fv"].map(|k| case[k].as_u64().unwrap());
            assert_eq!(friction.contacts.len() as u64, count.iter().sum::<u64>());
            close(friction.value(&velocities, &zero), number(&case["value"]), "value");
            let mut g = zero.clone();
            friction.add_gradient(&velocities, &zero, &mut g);
            let g = flat(&g);
            close(
                g.iter().map(|v| v * v).sum::<f64>().sqrt(),
                number(&case["grad_norm"]),
                "gradient",
            );
            if case["grad"].is_array() {
                assert!(relative_error(&g, &numbers(&case["grad"]), 1e-300) < 1e-10);
            }
            let f = figures(&friction, &velocities, &zero);
            for (k, key) in ["frobenius", "trace", "pHp", "Hp_norm"].iter().enumerate() {
                close(f[k], number(&case["hess_clamp"][*key]), key);
            }
            if let Some(lagged) = case["lagged"].as_array() {
                let mut ours: Vec<f64> = friction.contacts.iter().map(|c| c.force).collect();
                let mut theirs: Vec<f64> = lagged
                    .iter()
                    .map(|l| number(&case["mu_s"]) * number(&l[2]) * number(&l[3]))
                    .collect();
                ours.sort_by(f64::total_cmp);
                theirs.sort_by(f64::total_cmp);
                for (a, b) in ours.iter().zip(&theirs) {
                    close(*a, *b, "normal force");
                }
            }
            compared += 1;
        }
    }
    println!("{compared} cases");
    assert!(compared >= 50);
}

/// A friction contact from a record's stencil code.
fn recorded(code: &[f64], closest: &[f64], basis: &[f64], force: f64) -> FrictionContact {
    let m: Vec<i64> = code.iter().map(|v| *v as i64).collect();
    let at = |k: usize| m[k] as u32;
    let point = (-m[0] - 1) as u32;
    let (vertices, n, gamma) = if m[0] >= 0 {
        let (a, b) = (closest[0], closest[1]);
        ([at(0), at(1), at(2), at(3)], 4, [1.0 - a, a, b - 1.0, -b])
    } else if m[2] < 0 {
        ([point, at(1), u32::MAX, u32::MAX], 2, [1.0, -1.0, 0.0, 0.0])
    } else if m[3] < 0 {
        let a = closest[0];
        ([point, at(1), at(2), u32::MAX], 3, [1.0, a - 1.0, -a, 0.0])
    } else {
        let (a, b) = (closest[0], closest[1]);
        ([point, at(1), at(2), at(3)], 4, [1.0, a + b - 1.0, -a, -b])
    };
    let column = |c: usize| Vec3::new(basis[c], basis[2 + c], basis[4 + c]);
    let key = FrictionKey::HalfSpace(0); // no matter
    let basis = [column(0), column(1)];
    let (fall, stick, forecast, tangent) = (0.0, 1.0, None, None);
    FrictionContact { key, vertices, n, gamma, basis, force, fall, stick, forecast, tangent }
}

#[test]
fn records_of_the_reference_code_are_reproduced() {
    let folder = testdata("data/friction/cube_cube");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    let mut compared = 0;
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let json: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let (x, reference) = (vecs(&json["V_end"]), vecs(&json["V_start"]));
        let mu = number(&json["mu"]);
        let bases = json["tangent_bases"].as_array().unwrap();
        let contacts: Vec<FrictionContact> = json["mmcvids"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .map(|(i, code)| {
                let basis: Vec<f64> = bases[3 * i..3 * i + 3].iter().flat_map(numbers).collect();
                recorded(
                    &numbers(code),
                    &numbers(&json["closest_point_coordinates"][i]),
                    &basis,
                    mu * number(&json["normal_force_magnitudes"][i]),
                )
            })
            .collect();
        if contacts.is_empty() {
            continue;
        }
        let eps = number(&json["epsv_times_h_squared"]).sqrt();
        let set = FrictionSet { contacts, smoothing: Smoothing::C1, eps, ..FrictionSet::default() };
        let want = number(&json["energy"]);
        let value = set.value(&x, &reference);
        assert!((value - want).abs() < 1e-12 * want.abs(), "{value:e} {want:e} {path:?}");
        let mut g = vec![Vec3::zeros(); x.len()];
        set.add_gradient(&x, &reference, &mut g);
        let want = numbers(&json["gradient"]);
        let e = relative_error(&flat(&g), &want, 1e-300);
        assert!(e < 1e-12, "gradient {e:e} {path:?}");
        let n = g.len() * 3;
        let mut h = vec![0.0; n * n];
        for c in &set.contacts {
            let blocks: [[Mat3; 4]; 4] = friction_hessian(&set, c, &x, &reference, true);
            for (i, &v) in c.stencil().iter().enumerate() {
                for (j, &w) in c.stencil().iter().enumerate() {
                    for k in 0..9 {
                        let at = (3 * v as usize + k / 3) * n + 3 * w as usize + k % 3;
                        h[at] += blocks[i][j][(k / 3, k % 3)];
                    }
                }
            }
        }
        let mut want = vec![0.0; n * n];
        for t in json["hessian_triplets"].as_array().unwrap() {
            let t = numbers(t);
            want[t[0] as usize * n + t[1] as usize] += t[2];
        }
        let e = relative_error(&h, &want, 1e-300);
        assert!(e < 1e-12, "Hessian {e:e} {path:?}");
        compared += 1;
    }
    println!("{compared} records");
    assert!(compared > 100, "{compared}");
}
