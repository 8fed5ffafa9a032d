//! Two dimensions: triangles under plane strain, edge–vertex contact, and what they have in common with
//! three.

use crate::common;

use crate::common::{grid, ground, material, scene};
use crate::contact_support::{flat, times_hessian};
use serde_json::Value;
use standoff_geometry::CollisionMesh;
use standoff_geometry::audit::{Pair, audit_intersections};
use standoff_geometry::broad_phase::{brute_force, candidates};
use standoff_linalg::nalgebra::DMatrix;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::audit::Violation;
use standoff_sim::contact::orientation::{
    ActivationDistance, Derivatives, Measure, OrientationPotential, PairSet, Parameters, Step,
    Surface,
};
use standoff_sim::contact::{Barrier, BarrierPotential, ContactSet, Weighting};
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, Dimension, ForceDef, HalfSpaceDef, Load, Motion, Pivot,
    PrescribedDef, ShellMaterial,
};
use standoff_sim::energy::plane_strain::PlaneStrain;
use standoff_sim::energy::tet::ElasticTets;
use standoff_sim::energy::{Element, Projection, Term};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::{
    ContactPotential, Integrator, Lagging, LaggingUntil, LinearSolver, Method,
};
use standoff_sim::{BuildError, ControlError, Simulation, energetics};
use standoff_sparse::Stencils;
use standoff_testkit::finite_difference::{gradient, jacobian, relative_error};
use standoff_testkit::{Random, number, numbers, testdata_json};
use std::ops::Range;
use std::sync::Arc;

fn rectangle(name: &str, low: [f64; 2], n: [usize; 2], cell: f64) -> BodyDef {
    grid(name, n, |i, j| [low[0] + cell * i as f64, low[1] + cell * j as f64])
}

fn with_material(mut body: BodyDef, law: Material) -> BodyDef {
    if let BodyKind::PlaneStrain { material, .. } = &mut body.kind {
        *material = law;
    }
    body
}

fn planar(bodies: Vec<BodyDef>) -> Definition {
    Definition { dimension: Dimension::Two, ..scene(bodies) }
}

fn held(body: usize, vertices: Vec<u32>, motion: Motion) -> PrescribedDef {
    PrescribedDef::new("held", body, vertices, motion)
}

fn where_(body: &BodyDef, holds: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|&v| holds(&body.rest[v as usize])).collect()
}

fn run(definition: &Definition, steps: usize) -> Simulation {
    let mut simulation = Simulation::new(definition).unwrap();
    for _ in 0..steps {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
    }
    simulation
}

/// Random triangles and deformations of them.
fn shapes(random: &mut Random, amount: f64) -> ([Vec3; 3], [Vec3; 3]) {
    let corners = [Vec3::zeros(), Vec3::new(1.0, 0.1, 0.0), Vec3::new(0.3, 0.8, 0.0)];
    let mut moved = |p: &Vec3, by: f64| {
        let d = random.vec3();
        p + by * Vec3::new(d.x, d.y, 0.0)
    };
    let rest = corners.map(|p| moved(&p, 0.1));
    let x = rest.map(|p| moved(&p, amount));
    (rest, x)
}

fn in_plane(x: &[f64]) -> [Vec3; 3] {
    [0, 1, 2].map(|k| Vec3::new(x[2 * k], x[2 * k + 1], 0.0))
}

/// A triangle is the tetrahedron over it with a top that stands still: three times its energy and forces.
#[test]
fn a_triangle_is_a_prism_of_its_law() {
    let random = &mut Random::new(1);
    for law in Law::ALL {
        for amount in [0.05, 0.3] {
            let (rest, x) = shapes(random, amount);
            let element = PlaneStrain::new(&rest, &material(law.clone()), true).unwrap();
            let over = |x: &[Vec3; 3]| [x[0], x[1], x[2], x[0] + Vec3::z()];
            let tet = ElasticTets::new(&over(&rest), vec![[0, 1, 2, 3]], &[material(law.clone())])
                .unwrap();
            let tet = &tet.elements[0];
            let (value, want) = (element.value(&x), 3.0 * tet.value(&over(&x)));
            assert!((value - want).abs() <= 1e-12 * want.abs(), "{law:?} {value} {want}");
            let (g, want) = (element.gradient(&x), tet.gradient(&over(&x)));
            for k in 1..3 {
                let w = 3.0 * Vec3::new(want[k].x, want[k].y, 0.0);
                assert!((g[k] - w).norm() < 1e-12 * (1.0 + w.norm()), "{law:?}");
            }
            assert!(g.iter().sum::<Vec3>().norm() < 1e-10 * g[1].norm());
        }
    }
}

/// Gradient and projected Hessian against finite differences: with unit shape gradients the blocks of
/// corners 1 and 2 are ∂²ψ/∂F², whose projection is that of a dense solver.
#[test]
fn derivatives_of_a_triangle_match_differences() {
    let random = &mut Random::new(2);
    let mut projected = 0;
    for law in Law::ALL {
        for amount in [0.05, 0.1, 0.25, 0.4, 0.4, 0.4] {
            let rest = [Vec3::zeros(), Vec3::x(), Vec3::y()];
            let element = PlaneStrain::new(&rest, &material(law.clone()), true).unwrap();
            let x = rest.map(|p| {
                let d = random.vec3();
                p + amount * Vec3::new(d.x, d.y, 0.0)
            });
            if element.deformation_gradient(&x).determinant() < 0.15 {
                continue;
            }
            let flat: Vec<f64> = x.iter().flat_map(|p| [p.x, p.y]).collect();
            let slope = gradient(&flat, 1e-4, |x| element.value(&in_plane(x)));
            let forces = |x: &[f64]| -> Vec<f64> {
                element.gradient(&in_plane(x)).iter().flat_map(|g| [g.x, g.y]).collect()
            };
            assert!(relative_error(&forces(&flat), &slope, 1e-3) < 1e-8, "{law:?} {amount}");
            let fd = jacobian(&flat, 1e-4, forces);
            let mut h = DMatrix::from_fn(4, 4, |r, c| fd[r + 2][c + 2]);
            h = 0.5 * (&h + h.transpose());
            let got = element.hessian(&x);
            let got4 = DMatrix::from_fn(4, 4, |r, c| got[1 + r / 2][1 + c / 2][(r % 2, c % 2)]);
            assert!((&got4 - &h).norm() < 1e-6 * h.norm(), "{law:?} {amount}\n{got4}{h}");
            let eigen = h.symmetric_eigen();
            projected += usize::from(eigen.eigenvalues.min() < -1.0);
            let clamped = eigen.eigenvalues.map(|l| l.max(0.0));
            let want = &eigen.eigenvectors
                * DMatrix::from_diagonal(&clamped)
                * eigen.eigenvectors.transpose();
            let got = element.hessian_psd(&x);
            let entry = |r: usize, c: usize| got[1 + r / 2][1 + c / 2][(r % 2, c % 2)];
            let got4 = DMatrix::from_fn(4, 4, entry);
            assert!((&got4 - &want).norm() < 1e-6 * want.norm(), "{law:?} {amount}\n{got4}{want}");
            for row in &got {
                assert!(row.iter().sum::<Mat3>().norm() < 1e-9 * want.norm());
                for b in row {
                    let across = [b[(0, 2)], b[(1, 2)], b[(2, 0)], b[(2, 1)]];
                    assert!(across == [0.0; 4], "nothing couples to motions along z");
                }
            }
        }
    }
    assert!(projected > 3, "{projected}: some states have to be indefinite");
}

/// A triangle whose law has no barrier keeps a fifth of its area along every admissible step.
#[test]
fn no_step_turns_a_triangle_over() {
    let random = &mut Random::new(3);
    let mut cut = 0;
    for _ in 0..2000 {
        let (rest, x) = shapes(random, 0.2);
        let element = PlaneStrain::new(&rest, &material(Law::FixedCorotated), true).unwrap();
        let dx = [0; 3].map(|_| {
            let d = random.vec3();
            3.0 * Vec3::new(d.x, d.y, 0.0)
        });
        let area = |t: f64| {
            let [a, b, c] = [0, 1, 2].map(|k| x[k] + t * dx[k]);
            (b - a).cross(&(c - a)).z
        };
        if area(0.0) <= 0.0 {
            continue;
        }
        let alpha = element.max_step(&x, &dx);
        cut += usize::from(alpha < 1.0);
        for k in 0..=20 {
            let t = alpha * f64::from(k) / 20.0;
            assert!(area(t) >= (0.2 - 1e-9) * area(0.0), "{alpha} {t}");
        }
        if alpha < 1.0 {
            assert!(area(alpha * (1.0 + 1e-6)) < 0.2001 * area(0.0));
        }
    }
    assert!(cut > 500, "{cut}");
}

fn points(v: &Value) -> Vec<Vec3> {
    v.as_array().unwrap().iter().map(numbers).map(|p| Vec3::new(p[0], p[1], 0.0)).collect()
}

fn planar_mesh(scene: &Value) -> (CollisionMesh, Vec<Vec3>) {
    let x = points(&scene["x"]);
    let edges: Vec<[u32; 2]> = scene["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(numbers)
        .map(|e| [e[0] as u32, e[1] as u32])
        .collect();
    let mut used = vec![false; x.len()];
    edges.iter().flatten().for_each(|v| used[*v as usize] = true);
    let bare: Vec<u32> = (0..x.len() as u32).filter(|v| !used[*v as usize]).collect();
    (CollisionMesh::planar(x.clone(), &edges, &bare), x)
}

fn flat2(v: &[Vec3]) -> Vec<f64> {
    assert!(v.iter().all(|p| p.z == 0.0), "a component along z");
    v.iter().flat_map(|p| [p.x, p.y]).collect()
}

/// p_i = sin(1.3 i + 7) over the components in the plane.
fn probe(vertices: usize) -> Vec<Vec3> {
    let component = |i: usize| (1.3 * i as f64 + 7.0).sin();
    (0..vertices).map(|v| Vec3::new(component(2 * v), component(2 * v + 1), 0.0)).collect()
}

/// The IPC and the convergent potential in the plane: value, gradient and Hessian of IPC Toolkit, within the
/// tolerances of three dimensions; and the broad phase finds what brute force finds.
#[test]
fn potentials_in_the_plane_match_the_toolkit() {
    let json = testdata_json("oracle/planar.json");
    let mut compared = 0;
    for scene in json["scenes"].as_array().unwrap() {
        let (mesh, x) = planar_mesh(scene);
        for case in scene["barrier"].as_array().unwrap() {
            let (d_hat, name) =
                (number(&case["d_hat"]), format!("{} {}", scene["name"], case["setting"]));
            let found = candidates(&mesh, &x, 0.5 * d_hat);
            assert_eq!(found, brute_force::candidates(&mesh, &x, 0.5 * d_hat));
            assert!(found.edge_edge.is_empty() && found.face_vertex.is_empty());
            let weighting = match case["setting"].as_str().unwrap() {
                "count" => Weighting::Count,
                "area" => Weighting::area(&mesh),
                _ => Weighting::area_without_duplicates(&mesh),
            };
            let set = ContactSet::build(&found, &mesh, &[], &x, d_hat, &weighting);
            let potential = BarrierPotential {
                barrier: Barrier::ClampedLog,
                d_hat,
                kappa: 1.0,
                physical: case["physical"] == true,
                even: false,
            };
            let (value, want) = (potential.set_value(&set, &x), number(&case["value"]));
            assert!((value - want).abs() <= 1e-10 * want.abs(), "{name} {value} {want}");
            let mut g = vec![Vec3::zeros(); x.len()];
            potential.add_gradient(&set, &x, &mut g);
            let want = numbers(&case["gradient"]);
            assert!(relative_error(&flat2(&g), &want, 1e-300) < 1e-9, "{name}");
            for (key, psd) in [("hp", false), ("hp_clamp", true)] {
                let hp = times_hessian(&potential, &set, &x, psd, &probe(x.len()));
                let (hp, want) = (flat2(&hp), numbers(&case[key]));
                assert!(relative_error(&hp, &want, 1e-300) < 1e-8, "{name} {key}");
            }
            compared += usize::from(!set.is_empty());
        }
    }
    assert!(compared > 40, "{compared}");
}

/// The orientation-aware potential in the plane: value, gradient and Hessian of IPC Toolkit, within the
/// tolerances of three dimensions.
#[test]
fn the_orientation_aware_potential_in_the_plane_matches_the_toolkit() {
    let json = testdata_json("oracle/planar.json");
    let mut compared = 0;
    for scene in json["scenes"].as_array().unwrap() {
        let (mesh, x) = planar_mesh(scene);
        for case in scene["smooth"].as_array().unwrap() {
            let of = |key: &str| number(&case[key]);
            let (d_hat, r) = (of("d_hat"), of("r") as i32);
            let name = format!("{} {d_hat} {} {r}", scene["name"], of("alpha_t"));
            let mut surface = Surface::new(&mesh, &vec![true; x.len()], None, d_hat);
            assert!(surface.covered.iter().all(|c| *c), "{name}");
            surface.epsilon = ActivationDistance::Uniform(d_hat);
            let step = |a: &str, b: &str| Step { alpha: of(a), beta: of(b) };
            let parameters = Parameters {
                exponent: r,
                tangential: step("alpha_t", "beta_t"),
                normal: step("alpha_n", "beta_n"),
                measure: Measure::Current,
            };
            // the toolkit's kernel is B³(2z/ε)/(z/ε)^r
            let kappa = 2.0 / 3.0 * d_hat.powi(r);
            let potential = OrientationPotential { parameters, kappa };
            let found = candidates(&mesh, &x, 0.5 * d_hat);
            let set = PairSet::build(&found, &mesh, &surface, &parameters, &x);
            let (value, want) = (potential.set_value(&mesh, &surface, &set, &x), of("value"));
            assert!((value - want).abs() <= 1e-9 * want.abs(), "{name} {value:e} {want:e}");
            let mut g = vec![Vec3::zeros(); x.len()];
            potential.add_gradient(&mesh, &surface, &set, &x, &mut g);
            let error = relative_error(&flat2(&g), &numbers(&case["gradient"]), 1e-300);
            assert!(error < 1e-7, "{name} gradient {error:e}");
            let probe = probe(x.len());
            let (mut hp, mut work) = (vec![Vec3::zeros(); x.len()], Derivatives::default());
            for pair in &set.pairs {
                potential.hessian(&mesh, &surface, pair, &x, &mut work);
                for (i, &v) in work.vertices.iter().enumerate() {
                    for (j, &w) in work.vertices.iter().enumerate() {
                        hp[v as usize] += work.block(i, j) * probe[w as usize];
                    }
                }
            }
            let error = relative_error(&flat2(&hp), &numbers(&case["hp"]), 1e-300);
            assert!(error < 1e-8, "{name} H p {error:e}");
            compared += usize::from(want != 0.0);
        }
    }
    assert!(compared > 30, "{compared}");
}

/// With α = 1 a straight outline is at the very end of the smooth step: rounding decides whether neighbours act,
/// by 1e-50 of what contact does, and no derivative becomes infinite of it.
#[test]
fn the_widest_step_has_finite_derivatives() {
    let turned = |p: &Vec3, angle: f64| {
        let (s, c) = angle.sin_cos();
        Vec3::new(c * p.x - s * p.y, s * p.x + c * p.y, 0.0)
    };
    for k in 0..40 {
        let mut body = rectangle("a", [0.0, 0.0], [9, 3], 0.1);
        body.rest.iter_mut().for_each(|p| *p = turned(p, 0.1 + 0.05 * f64::from(k)));
        let mut definition = planar(vec![body]);
        definition.settings.contact.potential = ContactPotential::OrientationAware;
        definition.settings.contact.d_hat = Some(0.3);
        definition.settings.contact.orientation.alpha = 1.0;
        let simulation = run(&definition, 1);
        let moved = simulation.positions().iter().zip(&definition.bodies[0].rest);
        let moved = moved.map(|(x, rest)| (x - rest).norm()).fold(0.0, f64::max);
        assert!(moved < 1e-9, "turn {k}: moved by {moved:e} m");
    }
}

/// Outlines that cross are found exactly, and so are triangles that are turned over and vertices that have
/// left the plane.
#[test]
fn the_audit_sees_crossing_outlines_and_turned_triangles() {
    let definition = planar(vec![
        rectangle("a", [0.0, 0.0], [2, 2], 0.5),
        rectangle("b", [0.2, 1.01], [2, 2], 0.3),
    ]);
    let simulation = Simulation::new(&definition).unwrap();
    assert!(simulation.audit().is_empty());
    let model = simulation.model();
    let with = |change: &dyn Fn(&mut Vec<Vec3>)| {
        let mut x = simulation.positions().to_vec();
        change(&mut x);
        standoff_sim::audit::violations(model, &x)
    };
    // the corner of b that is lowest dips into the top of a by the smallest amount there is
    let corner = 9;
    let dips = with(&|x| x[corner].y = 1.0_f64.next_down());
    assert!(dips.iter().any(|v| matches!(v, Violation::Intersection { .. })), "{dips:?}");
    assert!(with(&|x| x[corner].y = 1.0_f64.next_up()).is_empty());
    let turned = with(&|x| x[4] = Vec3::new(1.2, 0.5, 0.0));
    assert!(turned.iter().any(|v| matches!(v, Violation::Turned { .. })), "{turned:?}");
    assert_eq!(with(&|x| x[4].z = 1e-300), [Violation::OutOfPlane { vertex: 4 }]);
    // outlines that cross in one point of no vertex
    let rest = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]].map(|[x, y]| Vec3::new(x, y, 0.0));
    let mesh = CollisionMesh::planar(rest.to_vec(), &[[0, 1], [2, 3]], &[]);
    assert_eq!(audit_intersections(&mesh, &rest), [Pair::EdgeEdge { edges: [0, 1] }]);
}

/// What has no form in the plane is refused with the field that says it.
#[test]
fn what_has_no_planar_form_is_refused() {
    let good = || planar(vec![rectangle("a", [0.0, 0.0], [1, 1], 0.5)]);
    assert!(Simulation::new(&good()).is_ok());
    let refused = |change: &dyn Fn(&mut Definition), path: &str| {
        let mut definition = good();
        change(&mut definition);
        match Simulation::new(&definition) {
            Err(BuildError::Field(fault)) => assert_eq!(fault.path.to_string(), path),
            Err(other) => panic!("{path}: {other}"),
            Ok(_) => panic!("{path}: accepted"),
        }
    };
    let kind = |kind: BodyKind| move |d: &mut Definition| d.bodies[0].kind = kind.clone();
    refused(&|d| d.dimension = Dimension::Three, "bodies[0].role");
    refused(&|d| d.gravity.z = 1.0, "gravity");
    refused(&|d| d.settings.solver.method = Method::BarrierFree, "solver.method");
    refused(&|d| d.bodies[0].rest[3].z = 1e-9, "bodies[0].rest[3]");
    let edges: [Vec<[u32; 2]>; 2] = Default::default();
    refused(
        &kind(BodyKind::Obstacle {
            triangles: vec![[0, 1, 2]],
            edges: edges[0].clone(),
            points: Vec::new(),
        }),
        "bodies[0].role",
    );
    refused(
        &kind(BodyKind::Particles { points: vec![0], radius: 0.1, density: 1.0 }),
        "bodies[0].role",
    );
    let shell = ShellMaterial {
        thickness: 0.01,
        density: 1.0,
        sheet: standoff_sim::energy::membrane::Sheet::Isotropic(
            standoff_sim::material::membrane::MembraneLaw::NeoHookean,
            standoff_sim::material::membrane::SheetLame { mu: 1.0, lambda: 1.0 },
        ),
        fibre: None,
        bending_modulus: 0.0,
        bending_model: Default::default(),
        poisson_ratio: 0.3,
        flat: false,
        stretch_limit: None,
    };
    refused(
        &kind(BodyKind::Shell { triangles: vec![[0, 1, 3]], material: Box::new(shell) }),
        "bodies[0].role",
    );
    let tilted = HalfSpaceDef { normal: Vec3::new(0.0, 1.0, 0.1), ..ground(-1.0) };
    refused(&|d| d.half_spaces.push(tilted.clone()), "half_spaces[0].normal");
    let turn =
        |angular: Vec3| Motion::Rigid { linear: Vec3::zeros(), angular, pivot: Pivot::StartCentre };
    refused(
        &|d| d.prescribed.push(held(0, vec![0], turn(Vec3::x()))),
        "prescribed[0].angular_velocity",
    );
    let force = |load: Load| ForceDef {
        name: "f".into(),
        body: 0,
        vertices: vec![0],
        load,
        t0: 0.0,
        t1: 1.0,
    };
    refused(&|d| d.forces.push(force(Load::Force(Vec3::z().into()))), "forces[0].force");
    let mut simulation = Simulation::new(&good()).unwrap();
    let error = simulation.set_gravity(Some(Vec3::z())).unwrap_err();
    assert!(matches!(error, ControlError::OutOfPlane { .. }), "{error}");
}

/// Springs of stiffness k that hold every vertex at its height z.
#[derive(Debug)]
struct Depth {
    vertices: Vec<[u32; 1]>,
    z: Vec<f64>,
    k: f64,
}

impl Term for Depth {
    fn name(&self) -> &str {
        "depth"
    }
    fn stencils(&self) -> Stencils<'_> {
        Stencils::from(&self.vertices[..])
    }
    fn value(&self, x: &[Vec3]) -> f64 {
        (0..self.z.len()).map(|v| 0.5 * self.k * (x[v].z - self.z[v]).powi(2)).sum()
    }
    fn add_gradient(&self, x: &[Vec3], gradient: &mut [Vec3]) {
        (0..self.z.len()).for_each(|v| gradient[v].z += self.k * (x[v].z - self.z[v]));
    }
    fn hessians(&self, range: Range<usize>, _: &[Vec3], _: Projection<'_>, out: &mut [Mat3]) {
        range.zip(out).for_each(|(_, out)| {
            *out = Mat3::from_diagonal(&Vec3::new(0.0, 0.0, self.k));
        });
    }
}

/// A beam of plane strain sinks under its weight like one of space that is held between two walls; the two
/// meshes differ, and so do their results, by less and less.
#[test]
fn a_planar_body_is_an_extruded_one_held_in_the_plane() {
    let sag = |definition: &mut Definition| {
        definition.gravity = Vec3::new(0.0, -9.81, 0.0);
        definition.settings.time.integrator = Integrator::QuasiStatic;
        definition.settings.time.step = 1.0;
        definition.settings.solver.end.velocity = Some(1e-6);
        let clamped = where_(&definition.bodies[0], |p| p.x == 0.0);
        definition.prescribed.push(held(0, clamped, Motion::Fixed));
        let simulation = run(definition, 1);
        let sinks = simulation.positions().iter().zip(&definition.bodies[0].rest);
        sinks.map(|(x, rest)| rest.y - x.y).fold(0.0, f64::max)
    };
    let difference = |n: usize| {
        let cell = 0.25 / n as f64;
        let flat = sag(&mut planar(vec![rectangle("beam", [0.0; 2], [4 * n, n], cell)]));
        let mut deep = scene(vec![common::block("beam", [0.0; 3], [4 * n, n, 1], cell)]);
        let z: Vec<f64> = deep.bodies[0].rest.iter().map(|p| p.z).collect();
        let vertices = (0..z.len() as u32).map(|v| [v]).collect();
        deep.energies.push(Arc::new(Depth { vertices, z, k: 1e9 }));
        let deep = sag(&mut deep);
        println!("{n}: plane strain {flat:.5} m, extruded {deep:.5} m");
        (flat / deep - 1.0).abs()
    };
    let d = [2, 4, 8].map(difference);
    println!("{d:?}");
    assert!(d[1] < 0.6 * d[0] && d[2] < 0.6 * d[1] && d[2] < 0.05, "{d:?}");
}

fn two_flying(integrator: Integrator) -> Definition {
    let mut a = rectangle("a", [-0.5, -0.1], [5, 2], 0.2);
    a.velocity = a.rest.iter().map(|p| Vec3::new(1.0, 0.0, 0.0) + Vec3::z().cross(p)).collect();
    let b = rectangle("b", [0.7, 0.05], [4, 4], 0.1);
    let mut definition = planar(vec![a, b]);
    definition.settings.time.step = 0.01;
    definition.settings.time.integrator = integrator;
    definition.settings.friction.coefficient = 0.3;
    definition.settings.solver.end.velocity = Some(1e-10);
    definition
}

/// Two solids that collide in free flight keep their linear momentum, with friction.
#[test]
fn a_collision_in_the_plane_conserves_momentum() {
    let newmark = [Integrator::Newmark, Integrator::ImplicitMidpoint];
    for integrator in [Integrator::ImplicitEuler, Integrator::Bdf2].into_iter().chain(newmark) {
        let mut simulation = Simulation::new(&two_flying(integrator)).unwrap();
        let before = energetics::linear_momentum(simulation.model(), simulation.state());
        let mut contacts = 0;
        for _ in 0..40 {
            contacts += simulation.step().unwrap().contacts;
        }
        let after = energetics::linear_momentum(simulation.model(), simulation.state());
        let drift = (after - before).norm() / before.norm();
        println!("{integrator:?}: {contacts} contacts, linear momentum drifts by {drift:.1e}");
        assert!(contacts > 0 && drift < 1e-9, "{integrator:?} {drift:e}");
        assert!(simulation.positions().iter().all(|p| p.z == 0.0));
        assert!(simulation.audit().is_empty());
    }
}

/// The order of the integrators on a beam that swings, against a run with 64 times smaller steps.
#[test]
fn integrators_have_their_order_in_the_plane() {
    let end = 0.08;
    let positions = |integrator: Integrator, steps: usize| {
        let mut beam = rectangle("beam", [0.0; 2], [6, 2], 0.1);
        beam.velocity = beam.rest.iter().map(|p| Vec3::new(0.0, p.x * p.x, 0.0)).collect();
        let clamped = where_(&beam, |p| p.x == 0.0);
        let mut definition = planar(vec![beam]);
        definition.prescribed.push(held(0, clamped, Motion::Fixed));
        definition.settings.time.integrator = integrator;
        definition.settings.time.step = end / steps as f64;
        definition.settings.solver.end.velocity = Some(1e-8);
        flat(run(&definition, steps).positions())
    };
    let reference = positions(Integrator::Newmark, 40 * 64);
    for (integrator, order) in [
        (Integrator::ImplicitEuler, 1.0),
        (Integrator::Bdf2, 2.0),
        (Integrator::Newmark, 2.0),
        (Integrator::ImplicitMidpoint, 2.0),
    ] {
        let error = |steps: usize| relative_error(&positions(integrator, steps), &reference, 1e-30);
        let (coarse, fine) = (error(160), error(320));
        let found = (coarse / fine).log2();
        println!("{integrator:?}: errors {coarse:.2e}, {fine:.2e}, order {found:.3}");
        assert!((found - order).abs() < 0.15, "{integrator:?} {found}");
    }
}

/// A slope of 0.5: friction of 0.5 holds a block, one of 0.49 lets it slide with the analytic acceleration.
#[test]
fn the_threshold_of_friction_on_a_slope() {
    let (angle, d_hat, kappa) = (0.5_f64.atan(), 1e-3, 1e11);
    let normal = Vec3::new(angle.sin(), angle.cos(), 0.0);
    let down = Vec3::new(angle.cos(), -angle.sin(), 0.0);
    // gaps at which the barrier bears what is on the two lower corners in equilibrium
    let gap = |weight: f64| {
        let force = |d: f64| {
            let (s, s_hat) = (d * d, d_hat * d_hat);
            kappa * 2.0 * d * (s - s_hat) * (2.0 * (s / s_hat).ln() + (s - s_hat) / s)
        };
        let (mut low, mut high) = (1e-9, d_hat);
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if force(middle) > weight { low = middle } else { high = middle }
        }
        low
    };
    let half = 0.5 * 1000.0 * 9.81;
    let (back, front) =
        (gap(half * (angle.cos() - angle.sin())), gap(half * (angle.cos() + angle.sin())));
    let turn = -angle - (back - front).asin();
    let stiff = Material { law: Law::FixedCorotated, young_modulus: 1e12, poisson_ratio: 0.4 };
    let speed = |coefficient: f64, steps: usize, h: f64| -> Vec<f64> {
        let mut body = with_material(rectangle("block", [0.0; 2], [1, 1], 1.0), stiff.clone());
        let (s, c) = turn.sin_cos();
        body.rest.iter_mut().for_each(|p| {
            *p = Vec3::new(c * p.x - s * p.y, s * p.x + c * p.y, 0.0) + normal * back;
        });
        let mut definition = planar(vec![body]);
        definition.gravity = Vec3::new(0.0, -9.81, 0.0);
        definition.half_spaces.push(HalfSpaceDef { normal, ..ground(0.0) });
        let settings = &mut definition.settings;
        settings.time.step = h;
        settings.contact.d_hat = Some(d_hat);
        settings.contact.stiffness = Some(kappa);
        settings.friction.coefficient = coefficient;
        settings.friction.stick_speed = Some(1e-5);
        settings.friction.lagging = Lagging::Until(LaggingUntil::Converged);
        settings.solver.end.velocity = Some(1e-7);
        let mut simulation = Simulation::new(&definition).unwrap();
        (0..steps)
            .map(|_| {
                assert!(simulation.step().unwrap().outcome.is_success());
                simulation.velocities()[0].dot(&down)
            })
            .collect()
    };
    let h = 0.025;
    let sticks = speed(0.5, 200, h);
    let fastest = sticks.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    println!("μ = 0.5: at most {fastest:.2e} m/s");
    assert!(sticks[199].abs() < 1.5e-5, "{}", sticks[199]);
    let slides = speed(0.49, 120, h);
    let acceleration = (slides[119] - slides[39]) / (80.0 * h);
    let want = 9.81 * (angle.sin() - 0.49 * angle.cos());
    println!("μ = 0.49: {acceleration:.5} m/s², analytic {want:.5} m/s²");
    assert!((acceleration / want - 1.0).abs() < 0.01, "{acceleration} {want}");
}

/// A parabolic bottom, the cylinder of Hertz, pressed onto a rigid plane: for the force found, half-width
/// and pressure are those of line contact, a = √(4FR/(πE*)), p(x) = √(FE*/(πR)) √(1 − (x/a)²), up to the
/// strains, which are p0/E* = 1.5 %.
#[test]
fn line_contact_has_the_pressure_of_hertz() {
    let (radius, fine) = (1.0, 0.002);
    let graded = |until: f64, growth: f64, uniform: usize| {
        let mut x = vec![0.0];
        let mut h = fine;
        while x[x.len() - 1] < until {
            if x.len() > uniform {
                h *= growth;
            }
            x.push(x[x.len() - 1] + h);
        }
        x
    };
    let (right, up) = (graded(1.0, 1.25, 40), graded(1.0, 1.2, 4));
    let (m, height) = (right.len() - 1, up[up.len() - 1]);
    let place = |i: usize, j: usize| {
        let x = if i < m { -right[m - i] } else { right[i - m] };
        let bottom = x * x / (2.0 * radius);
        let top = height + 0.5 * x * x / (2.0 * radius);
        [x, bottom + (top - bottom) * up[j] / height]
    };
    let (e, nu) = (1e6, 0.3);
    let law = Material { law: Law::StVenantKirchhoff, young_modulus: e, poisson_ratio: nu };
    let n = [2 * m, up.len() - 1];
    let mut body = with_material(grid("cylinder", n, place), law);
    let d_hat = 4e-6;
    body.rest.iter_mut().for_each(|p| p.y += d_hat);
    let top: Vec<u32> = (0..=n[0]).map(|i| (i * (n[1] + 1) + n[1]) as u32).collect();
    let linear = Vec3::new(0.0, -2e-3, 0.0);
    let press = Motion::Rigid { linear, angular: Vec3::zeros(), pivot: Pivot::StartCentre };
    let rest = body.rest.clone();
    let mut definition = planar(vec![body]);
    definition.half_spaces.push(ground(0.0));
    definition.prescribed.push(held(0, top, press));
    definition.settings.time.integrator = Integrator::QuasiStatic;
    definition.settings.time.step = 0.2;
    definition.settings.contact.d_hat = Some(d_hat);
    definition.settings.solver.end.velocity = Some(1e-7);
    let simulation = run(&definition, 5);
    let bottom: Vec<usize> = (0..=n[0]).map(|i| i * (n[1] + 1)).collect();
    let force = |k: usize| simulation.contact_forces()[bottom[k]].y;
    let total: f64 = (0..bottom.len()).map(force).sum();
    let stiffness = e / (1.0 - nu * nu);
    let pi = std::f64::consts::PI;
    let a = (4.0 * total * radius / (pi * stiffness)).sqrt();
    let p0 = (total * stiffness / (pi * radius)).sqrt();
    let x = |k: usize| rest[bottom[k]].x;
    // neighbours have different numbers of triangles, and share their forces accordingly
    let pressure = |k: usize| {
        let weights = [0.5, 1.0, 0.5];
        let sum = |of: &dyn Fn(usize) -> f64| -> f64 {
            weights.iter().enumerate().map(|(i, w)| w * of(k + i - 1)).sum()
        };
        sum(&force) / sum(&|k| 0.5 * (x(k + 1) - x(k - 1)))
    };
    let mut worst: f64 = 0.0;
    for k in 2..bottom.len() - 2 {
        let want = p0 * (1.0 - (x(k) / a).powi(2)).max(0.0).sqrt();
        // the edge of the contact is as sharp as the mesh
        if (x(k).abs() - a).abs() > 2.0 * fine {
            worst = worst.max((pressure(k) - want).abs() / p0);
        }
    }
    let centre = pressure(m) / p0;
    let touching = (0..bottom.len()).filter(|&k| force(k) > 1e-3 * p0 * fine).map(|k| x(k).abs());
    let half_width = touching.fold(0.0, f64::max) + 0.5 * fine;
    println!(
        "F {total:.1} N/m, a {a:.4} m, p0 {p0:.0} Pa; found: half-width {half_width:.4} m, \
         pressure in the middle {centre:.4} p0, elsewhere off by {worst:.4} p0 at most"
    );
    assert!(a > 8.0 * fine && a < 0.1, "{a}");
    assert!((half_width - a).abs() < 1.5 * fine, "{half_width} {a}");
    assert!((centre - 1.0).abs() < 0.02 && worst < 0.02, "{centre} {worst}");
}

/// A pile with friction, an obstacle of edges and one of points, one of which moves.
fn busy() -> Definition {
    let mut obstacle = BodyDef { name: "floor".into(), ..BodyDef::default() };
    obstacle.rest = [[-1.0, 0.3], [-0.6, 0.0], [0.9, 0.0], [1.2, 0.4]]
        .map(|[x, y]| Vec3::new(x, y, 0.0))
        .to_vec();
    obstacle.friction_material = "default".into();
    obstacle.kind = BodyKind::Obstacle {
        triangles: Vec::new(),
        edges: vec![[0, 1], [1, 2], [2, 3]],
        points: Vec::new(),
    };
    let mut pin = BodyDef { name: "pin".into(), ..BodyDef::default() };
    pin.rest = vec![Vec3::new(-0.45, 0.42, 0.0)];
    pin.friction_material = "default".into();
    pin.kind = BodyKind::Obstacle { triangles: Vec::new(), edges: Vec::new(), points: vec![0] };
    let mut definition = planar(vec![
        rectangle("a", [-0.5, 0.01], [8, 4], 0.1),
        rectangle("b", [-0.2, 0.43], [5, 5], 0.1),
        obstacle,
        pin,
    ]);
    let linear = Vec3::new(0.05, -0.2, 0.0);
    let push = Motion::Rigid { linear, angular: Vec3::z(), pivot: Pivot::StartCentre };
    definition.prescribed.push(held(3, vec![0], push));
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.settings.time.step = 0.01;
    definition.settings.friction.coefficient = 0.4;
    definition
}

fn bits(x: &[Vec3]) -> Vec<u64> {
    x.iter().flat_map(|p| p.iter().map(|c| c.to_bits())).collect()
}

/// Every linear solver gives the same bits on any number of threads, and all of them the same motion within the tolerance.
#[test]
fn threads_do_not_change_bits_in_the_plane() {
    let mut first: Option<Vec<Vec3>> = None;
    for linear in [
        LinearSolver::Auto,
        LinearSolver::Cholesky,
        LinearSolver::FaerCholesky,
        LinearSolver::MixedCholesky,
        LinearSolver::ConjugateGradient,
        LinearSolver::TwoLevel,
        LinearSolver::Schwarz,
    ] {
        let mut definition = busy();
        definition.settings.solver.linear = linear;
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let simulation = run(&definition, 20);
                assert!(!simulation.contacts().is_empty());
                bits(simulation.positions())
            })
        };
        let one = with(1);
        assert!([1, 2, 4].iter().all(|&n| with(n) == one), "{linear:?}");
        let x = run(&definition, 20).positions().to_vec();
        let first = first.get_or_insert_with(|| x.clone());
        let difference = x.iter().zip(first).map(|(a, b)| (a - *b).norm()).fold(0.0, f64::max);
        println!("{linear:?}: positions within {difference:.1e} m of those of auto");
        // steps end within a tolerance, in which inexact directions differ
        let exact =
            [LinearSolver::Cholesky, LinearSolver::FaerCholesky, LinearSolver::MixedCholesky];
        let inexact = linear != LinearSolver::Auto && !exact.contains(&linear);
        assert!(difference < if inexact { 2e-3 } else { 1e-7 }, "{linear:?} {difference}");
    }
}

/// Every integrator, both ends of a minimisation, the convergent potential and L-BFGS: steps converge, the
/// audit finds nothing, and a run continues from a saved state with the same bits.
#[test]
fn all_ways_to_step_work_in_the_plane() {
    type Change = fn(&mut Definition);
    let ways: [(&str, Change); 9] = [
        ("implicit Euler", |_| {}),
        ("BDF2", |d| d.settings.time.integrator = Integrator::Bdf2),
        ("Newmark", |d| d.settings.time.integrator = Integrator::Newmark),
        ("quasi-static", |d| {
            d.settings.time.integrator = Integrator::QuasiStatic;
            for (body, side) in [(0, -0.5), (1, -0.2)] {
                let vertices = where_(&d.bodies[body], |p| p.x == side);
                d.prescribed.push(held(body, vertices, Motion::Fixed));
            }
        }),
        ("characteristic norm", |d| d.settings.solver.end.characteristic = Some(1e-5)),
        ("L-BFGS", |d| d.settings.solver.method = Method::Dot),
        ("convergent", |d| d.settings.contact.potential = ContactPotential::Convergent),
        ("orientation-aware", |d| {
            d.settings.contact.potential = ContactPotential::OrientationAware;
            d.settings.contact.d_hat = Some(0.02);
        }),
        ("damped, with thickness", |d| {
            d.settings.time.stiffness_damping = 1e-3;
            d.bodies.iter_mut().for_each(|b| b.contact_thickness = 2e-3);
        }),
    ];
    for (name, change) in ways {
        let mut definition = busy();
        change(&mut definition);
        let mut simulation = Simulation::new(&definition).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (mut states, mut contacts) = (vec![simulation.state().clone()], 0);
        for _ in 0..12 {
            let report = simulation.step().unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(report.outcome.is_success(), "{name}: {:?}", report.outcome);
            contacts += report.contacts;
            states.push(simulation.state().clone());
        }
        assert!(contacts > 0, "{name}");
        assert!(simulation.audit().is_empty(), "{name}");
        for from in [0, 5, 11] {
            let mut restored = Simulation::restore(&definition, states[from].clone()).unwrap();
            restored.step().unwrap();
            assert!(bits(restored.positions()) == bits(&states[from + 1].x), "{name} {from}");
        }
    }
}

/// Pressure inside of a closed ring, and on a straight side: the forces are p times the length, and a ring
/// under pressure on its hole and nothing else does not move.
#[test]
fn pressure_acts_along_the_outline() {
    let n = 24;
    let ring = |i: usize, j: usize| {
        let angle = std::f64::consts::TAU * i as f64 / n as f64;
        let r = 0.5 + 0.25 * j as f64;
        // counter-clockwise cells need the radius to run first
        [r * angle.cos(), -r * angle.sin()]
    };
    let mut body = grid("ring", [n, 2], ring);
    // the last column of points is the first one
    let columns = n as u32 * 3;
    if let BodyKind::PlaneStrain { triangles, .. } = &mut body.kind {
        triangles.iter_mut().flatten().for_each(|v| *v %= columns);
    }
    body.rest.truncate(columns as usize);
    let hole: Vec<u32> = (0..columns).filter(|v| v % 3 == 0).collect();
    let mut definition = planar(vec![body]);
    definition.forces.push(ForceDef {
        name: "pump".into(),
        body: 0,
        vertices: hole,
        load: Load::Pressure(2000.0.into()),
        t0: 0.0,
        t1: f64::INFINITY,
    });
    definition.settings.time.stiffness_damping = 0.05;
    definition.settings.time.step = 0.05;
    let simulation = run(&definition, 60);
    let x = simulation.positions();
    let centre = x.iter().sum::<Vec3>() / x.len() as f64;
    let inner = |x: &[Vec3]| x.iter().step_by(3).map(|p| p.norm()).sum::<f64>() / n as f64;
    let grown = inner(x) / inner(&definition.bodies[0].rest) - 1.0;
    // Lamé's solution for a thick ring under plane strain
    let (e, nu) = (1e5, 0.4);
    let (a2, b2) = (0.25, 1.0);
    let lame = 2000.0 * (1.0 + nu) / e * (a2 * (1.0 - 2.0 * nu) + b2) / (b2 - a2);
    println!(
        "the hole grows by {grown:.5}, Lamé {lame:.5}; its centre moves by {:.1e}",
        centre.norm()
    );
    assert!(centre.norm() < 1e-9 && (grown / lame - 1.0).abs() < 0.08, "{grown} {lame}");
}
