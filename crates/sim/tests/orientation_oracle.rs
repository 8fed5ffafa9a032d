//! The orientation-aware potential against IPC Toolkit's values and gradients.

use crate::contact_support::*;
use serde_json::Value;
use standoff_geometry::{CollisionMesh, PairKind};
use standoff_linalg::Vec3;
use standoff_sim::contact::orientation::{
    ActivationDistance, Derivatives, Measure, OrientationPotential, Pair, PairSet, Parameters,
    Step, Surface,
};
use standoff_testkit::finite_difference::relative_error;
use standoff_testkit::{npz, number, testdata, testdata_json};

/// Pair by pair, where the oracle lists them (it lists some whose energy is 0, too).
fn compare_pairs(
    case: &Value,
    mesh: &CollisionMesh,
    surface: &Surface,
    potential: &OrientationPotential,
    set: &PairSet,
    x: &[Vec3],
) {
    let Some(list) = case["collisions"].as_array() else { return };
    if list.len() >= 60 {
        // the list ends there
        return;
    }
    let mut found = 0;
    let largest = list.iter().map(|row| number(&row[4])).fold(0.0, f64::max);
    for row in list {
        let kind = match row[0].as_str().unwrap() {
            "vert-vert" => PairKind::VertexVertex,
            "edge-vert" => PairKind::EdgeVertex,
            "edge-edge" => PairKind::EdgeEdge,
            _ => PairKind::FaceVertex,
        };
        let elements = [number(&row[1]) as u32, number(&row[2]) as u32];
        let want = number(&row[4]);
        let pair = set.pairs.iter().find(|p| p.kind == kind && p.elements == elements);
        let got = pair.map_or(0.0, |p| potential.value(mesh, surface, p, x));
        found += usize::from(pair.is_some());
        assert!((got - want).abs() <= 1e-10 * largest, "{}: {row} {got:e}", case["grad_key"]);
    }
    // at α = 1 rounding leaves adjacent elements 1e-50 of an energy
    let counts = |p: &&Pair| potential.value(mesh, surface, p, x) > 1e-20 * largest;
    let not_listed = set.pairs.iter().filter(counts).count() as i64 - found as i64;
    assert!(not_listed <= 0, "{}: {not_listed}", case["grad_key"]);
}

/// H p with pᵢ = sin(1.3 i + 7).
fn hessian_probe(
    mesh: &CollisionMesh,
    surface: &Surface,
    potential: &OrientationPotential,
    set: &PairSet,
    x: &[Vec3],
) -> Vec<f64> {
    let p: Vec<f64> = (0..3 * x.len()).map(|i| (1.3 * i as f64 + 7.0).sin()).collect();
    let at = |v: u32| Vec3::from_row_slice(&p[3 * v as usize..3 * v as usize + 3]);
    let mut product = vec![Vec3::zeros(); x.len()];
    let mut work = Derivatives::default();
    for pair in &set.pairs {
        potential.hessian(mesh, surface, pair, x, &mut work);
        for (i, &v) in work.vertices.iter().enumerate() {
            for (j, &w) in work.vertices.iter().enumerate() {
                product[v as usize] += work.block(i, j) * at(w);
            }
        }
    }
    flat(&product)
}

#[test]
fn values_and_gradients_match() {
    let (scenes, json) = (scenes(), testdata_json("oracle/gcp.json"));
    let path = testdata("oracle/gcp_gradients.npz");
    let mut arrays = npz::read(&path);
    let (mut compared, mut nonzero, mut probes) = (0, 0, 0);
    for scene in &scenes {
        let mesh = &scene.mesh;
        let n = mesh.rest.len();
        let cases = json["cases"].as_array().unwrap().iter();
        let cases: Vec<_> = cases.filter(|c| c["scene"] == scene.name.as_str()).collect();
        let reach = cases.iter().map(|c| number(&c["dhat"])).fold(0.0, f64::max);
        let candidates = near_candidates(mesh, &scene.x, reach);
        for case in cases {
            let key = case["grad_key"].as_str().unwrap();
            let (d_hat, r) = (number(&case["dhat"]), number(&case["r"]) as i32);
            let mut surface = Surface::new(mesh, &vec![true; n], None, d_hat);
            surface.covered = vec![true; n];
            surface.oriented = vec![case["orientable"].as_bool().unwrap(); n];
            surface.epsilon = ActivationDistance::Uniform(d_hat);
            let step = |a: &str, b: &str| Step { alpha: number(&case[a]), beta: number(&case[b]) };
            let parameters = Parameters {
                exponent: r,
                tangential: step("alpha_t", "beta_t"),
                normal: step("alpha_n", "beta_n"),
                measure: Measure::Current,
            };
            // the toolkit's kernel is B³(2z/ε)/(z/ε)^r
            let kappa = 2.0 / 3.0 * d_hat.powi(r);
            let potential = OrientationPotential { parameters, kappa };
            let set = PairSet::build(&candidates, mesh, &surface, &parameters, &scene.x);
            compare_pairs(case, mesh, &surface, &potential, &set, &scene.x);
            let (got, want) =
                (potential.set_value(mesh, &surface, &set, &scene.x), number(&case["value"]));
            let mut gradient = vec![Vec3::zeros(); n];
            potential.add_gradient(mesh, &surface, &set, &scene.x, &mut gradient);
            let mut vector = |name: &str| arrays.remove(name);
            let zeros = || vec![0.0; 3 * n];
            // what is zero is not listed
            let want_gradient = vector(key).unwrap_or_else(zeros);
            let error = relative_error(&flat(&gradient), &want_gradient, 1e-300);
            if let Some(want) = vector(&format!("{key}/Hp_none")) {
                let got = hessian_probe(mesh, &surface, &potential, &set, &scene.x);
                let error = relative_error(&got, &want, 1e-300);
                assert!(error < 1e-8, "{key}: H p {error:e}");
                probes += 1;
            }
            assert!((got - want).abs() <= 1e-9 * want.abs(), "{key}: {got:e} {want:e}");
            assert!(error < 1e-7, "{key}: gradient {error:e}");
            compared += 1;
            nonzero += usize::from(want != 0.0);
        }
    }
    assert!(compared == 112 && nonzero > 80 && probes > 60, "{compared} {nonzero} {probes}");
}
