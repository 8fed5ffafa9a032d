//! Distances against the oracle: IPC Toolkit's values where well conditioned, exact ones everywhere.

use serde_json::Value;
use standoff_geometry::distance::*;
use standoff_linalg::{Mat3, Vec3};
use standoff_testkit::{finite_difference::relative_error, number, numbers, testdata_json};

fn vecs<const N: usize>(v: &Value) -> [Vec3; N] {
    let x = numbers(v);
    std::array::from_fn(|i| Vec3::new(x[3 * i], x[3 * i + 1], x[3 * i + 2]))
}

fn flat(v: &[Vec3]) -> Vec<f64> {
    v.iter().flat_map(|a| [a.x, a.y, a.z]).collect()
}

fn flat_hessian<const N: usize>(h: &[[Mat3; N]; N]) -> Vec<f64> {
    (0..9 * N * N)
        .map(|k| (k / (3 * N), k % (3 * N)))
        .map(|(i, j)| h[i / 3][j / 3][(i % 3, j % 3)])
        .collect()
}

fn size2(x: &[Vec3]) -> f64 {
    x.iter().map(|v| (v - x[0]).norm_squared()).fold(0.0, f64::max)
}

/// T Tᵀ, which does not depend on the choice of the basis within its plane.
fn projector(b: &[Vec3; 2]) -> Vec<f64> {
    (b[0] * b[0].transpose() + b[1] * b[1].transpose()).iter().copied().collect()
}

fn oracle_projector(v: &Value) -> Option<Vec<f64>> {
    let t = numbers(v);
    if t.len() != 6 || t.iter().any(|x| !x.is_finite()) {
        return None;
    }
    let column = |c: usize| Vec3::new(t[c], t[2 + c], t[4 + c]);
    Some(projector(&[column(0), column(1)]))
}

/// Compares what a case lists with what we have.
fn compare<const N: usize>(case: &Value, tol: f64, gradient: [Vec3; N], hessian: [[Mat3; N]; N]) {
    let scale = size2(&vecs::<N>(&case["p"])).sqrt();
    if case["grad"].is_array() {
        let e = relative_error(&flat(&gradient), &numbers(&case["grad"]), 1e-3 * scale + 1e-300);
        assert!(e < tol, "gradient off by {e:e}: {}", case["p"]);
    }
    if case["hess"].is_array() {
        let e = relative_error(&flat_hessian(&hessian), &numbers(&case["hess"]), 1e-3);
        assert!(e < tol, "Hessian off by {e:e}: {}", case["p"]);
    }
}

fn cases(kind: &str) -> (Vec<Value>, Vec<f64>) {
    let values = testdata_json(&format!("oracle/distance_{kind}.json"));
    let exact = testdata_json("oracle/distance_exact.json");
    (values["cases"].as_array().unwrap().clone(), numbers(&exact[kind]["d2_exact"]))
}

/// Distance error relative to its own size, or (for small gaps) to what the coordinates' rounding
/// allows: |δd| ≤ 1e-15 size, hence |δd²| ≤ 2 d δd + δd².
fn assert_exact(d2: f64, exact: f64, size2: f64, what: impl std::fmt::Debug) {
    let delta = 4e-15 * size2.sqrt();
    let bound = 1e-13 * exact + 2.0 * exact.sqrt() * delta + delta * delta;
    assert!((d2 - exact).abs() <= bound, "{d2:e} is not {exact:e}: {what:?}");
}

#[test]
fn point_point_matches() {
    let (cases, exact) = cases("point_point");
    for (case, exact) in cases.iter().zip(exact) {
        let [a, b] = vecs(&case["p"]);
        assert_exact(point_point_d2(&a, &b), exact, 0.0, case);
        compare(case, 1e-12, point_point::gradient(&a, &b), point_point::hessian());
        if let Some(theirs) = oracle_projector(&case["tangent_basis"]) {
            let ours = projector(&point_point::tangent_basis(&a, &b));
            assert!(relative_error(&ours, &theirs, 1.0) < 1e-12);
        }
    }
}

#[test]
fn point_edge_matches() {
    let (cases, exact) = cases("point_edge");
    let mut compared = 0;
    for (case, exact) in cases.iter().zip(exact) {
        let x @ [p, a, b] = vecs(&case["p"]);
        assert_exact(point_edge_d2(&p, &a, &b), exact, size2(&x), case);
        let f = point_edge::feature(&p, &a, &b);
        assert_exact(point_edge::closest_on(f, &p, &a, &b).d2(), exact, size2(&x), case);
        let tag = case["tag"].as_str().unwrap();
        if tag == "zero_length_edge" {
            continue;
        }
        let name = match f {
            PointEdgeFeature::E0 => "P_E0",
            PointEdgeFeature::E1 => "P_E1",
            PointEdgeFeature::Edge => "P_E",
        };
        assert_eq!(name, case["type"], "{case}");
        if tag != "tiny_edge" {
            compare(case, 1e-12, point_edge::gradient(&p, &a, &b), point_edge::hessian(&p, &a, &b));
            if case["closest_point"].is_number() {
                let alpha = number(&case["closest_point"]);
                let error = (point_edge::parameter(&p, &a, &b) - alpha).abs();
                assert!(error < 1e-12 * alpha.abs().max(1.0), "{error:e} {case}");
            }
            compared += 1;
        }
        if exact > 1e-20 * size2(&x)
            && let Some(theirs) = oracle_projector(&case["tangent_basis"])
            && point_edge::line_d2(&p, &a, &b) > 1e-6 * size2(&x)
        {
            let ours = projector(&point_edge::tangent_basis(&p, &a, &b));
            let e = relative_error(&ours, &theirs, 1.0);
            assert!(e < 1e-10, "{e:e} {case}");
        }
    }
    assert!(compared > 400);
}

#[test]
fn point_triangle_matches() {
    let (cases, exact) = cases("point_triangle");
    let (mut compared, mut ties) = (0, 0);
    for (case, exact) in cases.iter().zip(exact) {
        let x @ [p, a, b, c] = vecs(&case["p"]);
        assert_exact(point_triangle_d2(&p, &a, &b, &c), exact, size2(&x), case);
        let f = point_triangle::feature(&p, &a, &b, &c);
        let d2 = point_triangle::closest_on(f, &p, &a, &b, &c).d2();
        assert_exact(d2, exact, size2(&x), case);
        let tag = case["tag"].as_str().unwrap();
        if ["collinear_triangle", "duplicate_vertex"].contains(&tag) {
            continue;
        }
        let name = match f {
            PointTriangleFeature::Face => "P_T".to_string(),
            f => format!("P_{f:?}"),
        };
        if name != case["type"].as_str().unwrap() {
            // features may tie up to rounding: the distance above is what counts
            ties += 1;
            assert_eq!(tag, "region_boundary", "{name} {case}");
            continue;
        }
        let sliver = tag == "sliver";
        if !sliver {
            compare(
                case,
                1e-11,
                point_triangle::gradient(&p, &a, &b, &c),
                point_triangle::hessian(&p, &a, &b, &c),
            );
            compared += 1;
            if !case["closest_point"].is_array() {
                continue;
            }
            let beta = numbers(&case["closest_point"]);
            let ours = point_triangle::parameters(&p, &a, &b, &c);
            assert!(relative_error(&ours, &beta, 1.0) < 1e-10, "{ours:?} {case}");
            // the toolkit's basis is that of the plane
            let theirs = oracle_projector(&case["tangent_basis"]).unwrap();
            let ours = projector(&point_triangle::tangent_basis(&a, &b, &c));
            assert!(relative_error(&ours, &theirs, 1.0) < 1e-11, "{case}");
            let plane = number(&case["plane_d2"]);
            let error = (point_triangle::plane_d2(&p, &a, &b, &c) - plane).abs();
            assert!(error < 1e-12 * plane + 1e-14 * (plane * size2(&x)).sqrt() + 1e-28);
        }
    }
    println!("{compared} compared, {ties} ties");
    assert!(compared > 450 && ties < 40);
}

fn ee_name(f: EdgeEdgeFeature) -> &'static str {
    use EdgeEdgeFeature::*;
    match f {
        A0B0 => "EA0_EB0",
        A0B1 => "EA0_EB1",
        A1B0 => "EA1_EB0",
        A1B1 => "EA1_EB1",
        AB0 => "EA_EB0",
        AB1 => "EA_EB1",
        A0B => "EA0_EB",
        A1B => "EA1_EB",
        AB => "EA_EB",
    }
}

#[test]
fn edge_edge_matches() {
    let (cases, exact) = cases("edge_edge");
    let (mut compared, mut ties) = (0, 0);
    for (case, exact) in cases.iter().zip(exact) {
        let x @ [a, b, c, d] = vecs(&case["p"]);
        let tag = case["tag"].as_str().unwrap();
        let f = edge_edge::feature(&a, &b, &c, &d);
        for d2 in [edge_edge_d2(&a, &b, &c, &d), edge_edge::closest_on(f, &a, &b, &c, &d).d2()] {
            assert_exact(d2, exact, size2(&x), case);
        }
        // the mollifier does not depend on the feature
        let rest: [Vec3; 4] = vecs(&case["rest"]);
        let eps = mollifier::threshold(&rest[0], &rest[1], &rest[2], &rest[3]);
        assert!(relative_error(&[eps], &[number(&case["eps_x"])], 1e-300) < 1e-12);
        let cross2 = mollifier::cross_squared(&a, &b, &c, &d);
        let scale2 = (b - a).norm_squared() * (d - c).norm_squared();
        let error = (cross2 - number(&case["cross2"])).abs();
        assert!(error <= 1e-14 * (cross2 * scale2).sqrt() + 1e-30 * scale2, "{error:e} {case}");
        if tag != "near_parallel" && eps > 0.0 {
            let m = mollifier::value(&x, eps);
            assert!(relative_error(&[m], &[number(&case["mollifier"])], 1.0) < 1e-12, "{case}");
            let g = flat(&mollifier::gradient(&x, eps));
            assert!(relative_error(&g, &numbers(&case["mollifier_grad"]), 1e-3) < 1e-11, "{case}");
            if case["mollifier_hess"].is_array() {
                let h = flat_hessian(&mollifier::hessian(&x, eps));
                let e = relative_error(&h, &numbers(&case["mollifier_hess"]), 1e-3);
                assert!(e < 1e-11, "{e:e} {case}");
            }
        }
        if ["near_parallel", "exact_parallel", "zero_length_edge", "collinear"].contains(&tag) {
            continue;
        }
        if ee_name(f) != case["type"].as_str().unwrap() {
            ties += 1;
            assert!(["lattice", "touching"].contains(&tag), "{f:?} {case}");
            continue;
        }
        if cross2 > 1e-4 * scale2 {
            compare(
                case,
                1e-10,
                edge_edge::gradient(&a, &b, &c, &d),
                edge_edge::hessian(&a, &b, &c, &d),
            );
            compared += 1;
            let Some(theirs) = oracle_projector(&case["tangent_basis"]) else { continue };
            let ours = projector(&edge_edge::tangent_basis(&a, &b, &c, &d));
            assert!(relative_error(&ours, &theirs, 1.0) < 1e-10, "{case}");
            let ours = edge_edge::parameters(&a, &b, &c, &d);
            let e = relative_error(&ours, &numbers(&case["closest_point"]), 1.0);
            assert!(e < 1e-10, "{e:e} {case}");
        }
    }
    println!("{compared} compared, {ties} ties");
    assert!(compared > 330 && ties < 10);
}

#[test]
fn lines_and_planes_match() {
    let values = testdata_json("oracle/distance_line.json");
    for case in values["cases"].as_array().unwrap() {
        let x @ [a, b, c, d] = vecs(&case["p"]);
        let sin2 =
            |u: Vec3, v: Vec3| u.cross(&v).norm_squared() / (u.norm_squared() * v.norm_squared());
        let check = |v: &Value, condition: f64, d2: f64, g: Vec<f64>, h: Vec<f64>| {
            let tol = 1e-13 / condition;
            let (want, size) = (number(&v["d2"]), size2(&x));
            assert!((d2 - want).abs() < tol * (want + (want * size).sqrt() * 1e-1), "{case}");
            assert!(relative_error(&g, &numbers(&v["grad"]), 1e-2) < tol, "{case}");
            if v["hess"].is_array() {
                let e = relative_error(&h, &numbers(&v["hess"]), 1e-2);
                assert!(e < tol, "{e:e} {tol:e} {case}");
            }
        };
        check(
            &case["line_line"],
            sin2(b - a, d - c).powf(1.5),
            edge_edge::line_line_d2(&a, &b, &c, &d),
            flat(&edge_edge::line_line_gradient(&a, &b, &c, &d)),
            flat_hessian(&edge_edge::line_line_hessian(&a, &b, &c, &d)),
        );
        check(
            &case["point_plane"],
            sin2(c - b, d - b).powf(1.5),
            point_triangle::plane_d2(&a, &b, &c, &d),
            flat(&point_triangle::plane_gradient(&a, &b, &c, &d)),
            flat_hessian(&point_triangle::plane_hessian(&a, &b, &c, &d)),
        );
        check(
            &case["point_line"],
            0.1,
            point_edge::line_d2(&a, &b, &c),
            flat(&point_edge::line_gradient(&a, &b, &c)),
            flat_hessian(&point_edge::line_hessian(&a, &b, &c)),
        );
    }
}
