//! Tractions: forces per area at rest.

use crate::common::{block, grid, scene};
use standoff_geometry::quadratic;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, Dimension, ForceDef, Load, Motion, PrescribedDef,
};
use standoff_sim::energy::pressure::Patch;
use standoff_sim::expression::{Expression, VectorExpression};
use standoff_sim::settings::Integrator;
use standoff_sim::{BuildError, Simulation};
use standoff_testkit::Random;

fn select(body: &BodyDef, holds: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|&v| holds(&body.rest[v as usize])).collect()
}

fn traction(name: &str, vertices: Vec<u32>, t: Vec3) -> ForceDef {
    let load = Load::Traction(VectorExpression([0, 1, 2].map(|k| Expression::constant(t[k]))));
    ForceDef { name: name.into(), body: 0, vertices, load, t0: 0.0, t1: f64::INFINITY }
}

fn curved(mut body: BodyDef) -> BodyDef {
    match &mut body.kind {
        BodyKind::Volume { tets, middles, .. } => {
            quadratic::add_middles(tets, middles, &mut body.rest);
        }
        BodyKind::PlaneStrain { triangles, middles, .. } => {
            quadratic::add_middles(triangles, middles, &mut body.rest);
        }
        _ => unreachable!("a solid"),
    }
    body
}

/// Holds the sides at the lowest coordinates `along`, and pulls at those at the greatest with the nominal stresses `pulled`; the deformation gradient, and the
/// greatest difference of J σ F⁻ᵀ from them in any element.
fn pulled(
    mut definition: Definition,
    low: Vec3,
    high: Vec3,
    along: &[usize],
    pulled: Vec3,
) -> (Mat3, f64) {
    let body = definition.bodies[0].clone();
    for &k in along {
        let held = select(&body, |p| (p[k] - low[k]).abs() < 1e-9);
        let axis = Vec3::from_fn(|i, _| f64::from(i == k));
        let symmetry = PrescribedDef::new("symmetry", 0, held, Motion::Fixed);
        definition.prescribed.push(PrescribedDef { along: vec![axis], ..symmetry });
        let on = select(&body, |p| (p[k] - high[k]).abs() < 1e-9);
        definition.forces.push(traction(&format!("side {k}"), on, pulled[k] * axis));
    }
    definition.settings.contact.enabled = false;
    definition.settings.time.integrator = Integrator::QuasiStatic;
    definition.settings.solver.end.velocity = Some(1e-11);
    definition.settings.solver.end.forces = Some(1e-10);
    let mut simulation = Simulation::new(&definition).unwrap();
    let report = simulation.step().unwrap();
    assert!(report.outcome.is_success(), "{report:?}");
    let gradients = simulation.model().solids.gradients_at_points(simulation.positions());
    let mut worst = 0.0_f64;
    for (f, s) in
        gradients.iter().zip(simulation.model().solids.stress_at_points(simulation.positions()))
    {
        let nominal = f.determinant() * s * f.try_inverse().unwrap().transpose();
        for &k in along {
            worst = worst.max((nominal[(k, k)] - pulled[k]).abs());
        }
    }
    (gradients[0], worst)
}

/// On an irregular mesh, whose faces give their vertices areas that are not in the ratio of masses, tractions on three sides of a block are the nominal
/// stresses of every element: linear and quadratic, in three and two dimensions, and of rings.
#[test]
fn tractions_are_the_nominal_stress_of_all_elements() {
    let r = &mut Random::new(5);
    let mut block = block("block", [0.0; 3], [3, 2, 2], 0.1);
    let size = Vec3::new(0.3, 0.2, 0.2);
    for p in &mut block.rest {
        // each vertex within the planes in which it is
        for k in 0..3 {
            if p[k] > 1e-9 && p[k] < size[k] - 1e-9 {
                p[k] += 0.03 * (r.unit() - 0.5);
            }
        }
    }
    let stress = Vec3::new(2e4, -1e4, 5e3);
    for body in [block.clone(), curved(block)] {
        let all = [0, 1, 2];
        let (f, worst) = pulled(scene(vec![body]), Vec3::zeros(), size, &all, stress);
        assert!(worst < 1e-6 * stress[0] && f[(0, 0)] > 1.1, "{worst:e} {f}");
    }
    let at = |i: usize, j: usize| {
        // cells of different heights and widths
        [0.5 + [0.0, 0.07, 0.1, 0.2][i], [0.0, 0.1, 0.13][j]]
    };
    let plane = grid("plane", [3, 2], at);
    let (low, high) = (Vec3::new(0.5, 0.0, 0.0), Vec3::new(0.7, 0.13, 0.0));
    for body in [plane.clone(), curved(plane)] {
        let flat = Definition { dimension: Dimension::Two, ..scene(vec![body.clone()]) };
        let (f, worst) = pulled(flat, low, high, &[0, 1], stress);
        assert!(worst < 1e-6 * stress[0] && f[(0, 0)] > 1.1, "{worst:e} {f}");
        let ring = Definition { dimension: Dimension::Axisymmetric, ..scene(vec![body]) };
        let (f, worst) = pulled(ring, low, high, &[1], stress);
        assert!(worst < 1e-6 * stress[0] && f[(1, 1)] < 0.95, "{worst:e} {f}");
    }
}

/// The areas of the vertices sum up to that of the surface, of curved sides and of rings, too, and the force that is reported is the traction times that.
#[test]
fn the_force_is_the_traction_times_the_area_at_rest() {
    let pi = std::f64::consts::PI;
    // a quarter of a circle of radius 2 from (2, 0) to (0, 2), in quadratic edges
    let n = 8;
    let at = |k: usize| {
        let angle = 0.5 * pi * k as f64 / (2 * n) as f64;
        Vec3::new(2.0 * angle.cos(), 2.0 * angle.sin(), 0.0)
    };
    let x: Vec<Vec3> = (0..=2 * n).map(at).collect();
    let edges: Vec<[u32; 2]> = (0..2 * n as u32).map(|k| [k, k + 1]).collect();
    let sum = |patch: &Patch| patch.areas(|v| x[v as usize]).values().sum::<f64>();
    for (patch, area) in
        [(Patch::of_edges(edges.clone()), pi), (Patch::of_rings(edges, &x), 8.0 * pi)]
    {
        let curved = patch.clone().with_curved_edges(|v| v % 2 == 1);
        assert!((sum(&curved) / area - 1.0).abs() < 1e-5, "{}", sum(&curved));
        assert!((sum(&patch) / area - 1.0).abs() < 3e-3, "{}", sum(&patch));
    }
    let body = curved(block("block", [0.0; 3], [2, 2, 1], 0.1));
    let top = select(&body, |p| p.z > 0.1 - 1e-9);
    let mut definition = scene(vec![body]);
    let t = Vec3::new(3.0, -1.0, 2.0);
    definition.forces.push(traction("push", top, t));
    definition.settings.contact.enabled = false;
    let mut simulation = Simulation::new(&definition).unwrap();
    let h = definition.settings.time.step;
    for _ in 0..3 {
        let report = simulation.step().unwrap();
        let told = Vec3::from(report.forces.loads["push"].force);
        assert!((told - 0.04 * t).norm() < 1e-14, "{told}");
    }
    let momentum: Vec3 =
        simulation.velocities().iter().zip(&simulation.model().mass).map(|(v, m)| *m * v).sum();
    assert!((momentum - 3.0 * h * 0.04 * t).norm() < 1e-12, "{momentum}");
}

#[test]
fn a_traction_wants_surface_triangles() {
    let body = block("block", [0.0; 3], [2, 2, 2], 0.1);
    let mut definition = scene(vec![body]);
    definition.forces.push(traction("push", vec![0, 1], Vec3::x()));
    let Err(error) = Simulation::new(&definition) else { panic!("nothing to act on") };
    assert!(matches!(error, BuildError::Load { .. }), "{error}");
    assert!(error.to_string().contains("selects no surface triangle"), "{error}");
}
