//! Bodies of revolution: triangles in the half-plane r ≥ 0, against closed forms and against what is computed in three dimensions.

// long: closed forms with the meshes for them

use crate::common::{block, grid, ground, material, scene};
use standoff_geometry::quadratic::add_middles;
use standoff_linalg::nalgebra::{DMatrix, SMatrix};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::audit::Violation;
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, Dimension, ForceDef, Load, Motion, Pivot, PrescribedDef,
};
use standoff_sim::energy::Element;
use standoff_sim::energy::axisymmetric::Axisymmetric;
use standoff_sim::energy::pressure::Patch;
use standoff_sim::material::inelastic::{Inelasticity, Plasticity, Relaxation};
use standoff_sim::material::{Law, Material};
use standoff_sim::report::StepReport;
use standoff_sim::settings::{ContactPotential, Integrator, Method};
use standoff_sim::{BuildError, Simulation, energetics};
use standoff_testkit::Random;
use standoff_testkit::finite_difference::{gradient, jacobian, relative_error};
use std::f64::consts::{PI, TAU};

fn revolved(bodies: Vec<BodyDef>) -> Definition {
    Definition { dimension: Dimension::Axisymmetric, ..scene(bodies) }
}

fn with_material(mut body: BodyDef, law: Law, young_modulus: f64, poisson_ratio: f64) -> BodyDef {
    if let BodyKind::PlaneStrain { material, .. } = &mut body.kind {
        *material = Material { law, young_modulus, poisson_ratio };
    }
    body
}

fn select(body: &BodyDef, holds: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|&v| holds(&body.rest[v as usize])).collect()
}

/// Moves vertices along `along` only, with a velocity (m/s).
fn slide(vertices: Vec<u32>, along: Vec3, velocity: Vec3) -> PrescribedDef {
    let motion =
        Motion::Rigid { linear: velocity, angular: Vec3::zeros(), pivot: Pivot::StartCentre };
    PrescribedDef { along: vec![along], ..PrescribedDef::new("slide", 0, vertices, motion) }
}

fn fixed_along(vertices: Vec<u32>, along: Vec3) -> PrescribedDef {
    PrescribedDef {
        along: vec![along],
        ..PrescribedDef::new("symmetry", 0, vertices, Motion::Fixed)
    }
}

fn pressed(vertices: Vec<u32>, pressure: f64) -> ForceDef {
    let load = Load::Pressure(pressure.into());
    ForceDef { name: "pressure".into(), body: 0, vertices, load, t0: 0.0, t1: f64::INFINITY }
}

/// In one quasi-static step without contact.
fn at_rest(mut definition: Definition) -> (Simulation, StepReport) {
    definition.settings.contact.enabled = false;
    definition.settings.time.integrator = Integrator::QuasiStatic;
    definition.settings.time.step = 1.0;
    definition.settings.solver.end.velocity = Some(1e-12);
    definition.settings.solver.end.forces = Some(1e-11);
    let mut simulation = Simulation::new(&definition).unwrap();
    let report = simulation.step().unwrap();
    assert!(report.outcome.is_success(), "{report:?}");
    (simulation, report)
}

fn flat(x: &[f64]) -> [Vec3; 3] {
    [0, 1, 2].map(|k| Vec3::new(x[2 * k], x[2 * k + 1], 0.0))
}

/// The gradient and the Hessian against finite differences, and both Hessians against V Bᵀ C B with the whole ∂²ψ/∂F² of nine by nine,
/// with corners on the axis and without.
#[test]
fn derivatives_match_differences_and_the_whole_tensor() {
    let random = &mut Random::new(3);
    let mut projected = 0;
    for law in Law::ALL {
        for (near, amount) in [(0.0, 0.02), (0.0, 0.25), (0.3, 0.1), (2.0, 0.3), (2.0, 0.45)] {
            let rest = [
                Vec3::new(near, 0.0, 0.0),
                Vec3::new(near + 1.0, 0.1, 0.0),
                Vec3::new(near, 0.9, 0.0),
            ];
            let m = material(law.clone());
            let element = Axisymmetric::new(&rest, &m, true).unwrap();
            let x = rest.map(|p| {
                let d = random.vec3();
                p + amount * Vec3::new(d.x, d.y, 0.0)
            });
            let f = element.deformation_gradient(&x);
            if f.determinant() < 0.15 || f[(2, 2)] < 0.2 {
                continue;
            }
            let points: Vec<f64> = x.iter().flat_map(|p| [p.x, p.y]).collect();
            let slope = gradient(&points, 1e-4, |x| element.value(&flat(x)));
            let forces = |x: &[f64]| -> Vec<f64> {
                element.gradient(&flat(x)).iter().flat_map(|g| [g.x, g.y]).collect()
            };
            assert!(relative_error(&forces(&points), &slope, 1e-3) < 1e-8, "{law:?} {near}");
            let differences = jacobian(&points, 1e-4, forces);
            let differences = DMatrix::from_fn(6, 6, |r, c| differences[r][c]);
            let dense =
                |h: [[Mat3; 3]; 3]| DMatrix::from_fn(6, 6, |r, c| h[r / 2][c / 2][(r % 2, c % 2)]);
            let (whole, psd) = (dense(element.hessian(&x)), dense(element.hessian_psd(&x)));
            let error = (&whole - &differences).norm() / differences.norm();
            assert!(error < 1e-6, "{law:?} {near} {amount}: {error}");
            // B is what differences of F are
            let columns = |x: &[f64]| element.deformation_gradient(&flat(x)).as_slice().to_vec();
            let b = jacobian(&points, 0.1, columns);
            let b = SMatrix::<f64, 9, 6>::from_fn(|r, c| b[r][c]);
            for (got, c) in
                [(&whole, m.law.hessian(&m.lame(), &f)), (&psd, m.law.hessian_psd(&m.lame(), &f))]
            {
                let want = b.transpose() * c * b * element.volume();
                let want = DMatrix::from_fn(6, 6, |r, c| want[(r, c)]);
                let error = (got - &want).norm() / want.norm();
                assert!(error < 1e-9, "{law:?} {near} {amount}: {error}");
            }
            projected += usize::from((&whole - &psd).norm() > 1e-6 * whole.norm());
            assert!(psd.symmetric_eigen().eigenvalues.min() > -1e-9 * whole.norm());
        }
    }
    assert!(projected > 3, "{projected} were projected");
}

/// A distorted mesh with corners and edges on the axis under r = 1.2 R, y = 0.8 Y: the interior follows that exactly.
#[test]
fn uniform_stretch_is_exact() {
    let random = &mut Random::new(5);
    for law in [Law::NeoHookean, Law::StableNeoHookean] {
        let n = [4, 5];
        let inside = |i: usize, j: usize| i > 0 && i < n[0] && j > 0 && j < n[1];
        let mut body = grid("solid", n, |i, j| [0.25 * i as f64, 0.2 * j as f64]);
        for (k, p) in body.rest.iter_mut().enumerate() {
            if inside(k / (n[1] + 1), k % (n[1] + 1)) {
                let d = 0.1 * random.vec3();
                *p += Vec3::new(d.x, d.y, 0.0);
            }
        }
        let mut body = with_material(body, law.clone(), 1e5, 0.3);
        let stretch = |p: &Vec3| Vec3::new(1.2 * p.x, 0.8 * p.y, 0.0);
        let boundary = select(&body, |p| p.x > 1.0 - 1e-9 || p.y < 1e-9 || p.y > 1.0 - 1e-9);
        let rest = body.rest.clone();
        // the interior starts elsewhere, but on the axis
        body.start = rest.iter().map(stretch).collect();
        for v in (0..rest.len()).filter(|v| !boundary.contains(&(*v as u32))) {
            let d = 0.04 * random.vec3();
            body.start[v] += Vec3::new(if rest[v].x > 0.0 { d.x } else { 0.0 }, d.y, 0.0);
        }
        let mut definition = revolved(vec![body]);
        definition.prescribed.push(PrescribedDef::new("around", 0, boundary, Motion::Fixed));
        let (simulation, _) = at_rest(definition);
        let error = simulation.positions().iter().zip(&rest).map(|(x, p)| (x - stretch(p)).norm());
        let error = error.fold(0.0, f64::max);
        assert!(error < 1e-12, "{law:?} {error:e}");
        assert!(simulation.positions().iter().zip(&rest).all(|(x, p)| p.x > 0.0 || x.x == 0.0));
        let want = Mat3::from_diagonal(&Vec3::new(1.2, 0.8, 1.2));
        let solids = &simulation.model().solids;
        for e in 0..solids.len() {
            let f = solids.deformation_gradient(e, simulation.positions());
            assert!((f - want).norm() < 1e-12, "{f}");
        }
    }
}

/// Lamé's thick cylinder between ends that do not move along the axis: greatest errors of the displacement (by that of the inside) and of radial and
/// circumferential stress at the middles of elements (by the pressure), with n cells through the wall.
fn lame_cylinder(n: usize, nu: f64) -> [f64; 2] {
    let (a, b, e, p) = (1.0, 2.0, 1e9, 1e3);
    let cell = (b - a) / n as f64;
    let body = grid("pipe", [n, 2], |i, j| [a + cell * i as f64, cell * j as f64]);
    let body = with_material(body, Law::NeoHookean, e, nu);
    let inside = select(&body, |q| q.x < a + 1e-9);
    let all = select(&body, |_| true);
    let rest = body.rest.clone();
    let mut definition = revolved(vec![body]);
    definition.prescribed.push(fixed_along(all, Vec3::y()));
    definition.forces.push(pressed(inside, p));
    let (simulation, _) = at_rest(definition);
    let k = p * a * a / (b * b - a * a);
    let u = |r: f64| k * (1.0 + nu) / e * ((1.0 - 2.0 * nu) * r + b * b / r);
    let error = simulation.positions().iter().zip(&rest).map(|(x, q)| (x.x - q.x - u(q.x)).abs());
    let displacement = error.fold(0.0, f64::max) / u(a);
    let solids = &simulation.model().solids;
    let stress = solids.cauchy_stress(simulation.positions()).into_iter().enumerate();
    let error = stress.map(|(t, s)| {
        let r = solids.vertices(t).iter().map(|&v| rest[v as usize].x).sum::<f64>() / 3.0;
        let [radial, hoop] = [-1.0, 1.0].map(|sign| k * (1.0 + sign * b * b / (r * r)));
        (s[(0, 0)] - radial).abs().max((s[(2, 2)] - hoop).abs())
    });
    [displacement, error.fold(0.0, f64::max) / p]
}

#[test]
fn a_thick_cylinder_has_the_displacements_of_lame() {
    for nu in [0.3, 0.45, 0.49, 0.499, 0.4999] {
        let errors = [8, 16, 32].map(|n| lame_cylinder(n, nu));
        let order = (errors[1][0] / errors[2][0]).log2();
        // a mesh of 16 cells has the displacement within 0.1 %, one of 32 the stress within 1 %, without locking at any ν
        assert!(
            errors[1][0] < 1e-3 && errors[2][1] < 1e-2 && (order - 2.0).abs() < 0.1,
            "{errors:?}"
        );
        println!(
            "ν = {nu}: displacement {:.2e} {:.2e} {:.2e}, order {order:.2}; stress {:.2e} {:.2e} {:.2e}",
            errors[0][0], errors[1][0], errors[2][0], errors[0][1], errors[1][1], errors[2][1]
        );
    }
}

/// A thick sphere whose wall is meshed from pole to pole, the poles on the axis, under inner pressure: greatest errors of the displacement along the
/// radius (by that of the inside) and of the radial and circumferential stress (by the pressure).
fn thick_sphere(n: usize) -> [f64; 2] {
    let (a, b, e, nu, p) = (1.0, 2.0, 1e9, 0.3, 1e3);
    let turns = 4 * n;
    let body = grid("sphere", [n, turns], |i, j| {
        let r = a + (b - a) * i as f64 / n as f64;
        let angle = PI * (j as f64 / turns as f64 - 0.5);
        // exactly on the axis
        let c = if j == 0 || j == turns { 0.0 } else { angle.cos() };
        [r * c, r * angle.sin()]
    });
    let body = with_material(body, Law::NeoHookean, e, nu);
    let inside = select(&body, |q| q.norm() < a + 1e-9);
    let equator = select(&body, |q| q.y.abs() < 1e-9);
    let rest = body.rest.clone();
    let mut definition = revolved(vec![body]);
    definition.prescribed.push(fixed_along(equator, Vec3::y()));
    definition.forces.push(pressed(inside, p));
    let (simulation, _) = at_rest(definition);
    let k = p * a.powi(3) / (b.powi(3) - a.powi(3));
    let u = |r: f64| k / e * ((1.0 - 2.0 * nu) * r + 0.5 * (1.0 + nu) * b.powi(3) / (r * r));
    let error = simulation.positions().iter().zip(&rest).map(|(x, q)| {
        let along = (x - q).dot(&q.normalize());
        (along - u(q.norm())).abs().max((x - q - along * q.normalize()).norm())
    });
    let displacement = error.fold(0.0, f64::max) / u(a);
    let solids = &simulation.model().solids;
    let stress = solids.cauchy_stress(simulation.positions()).into_iter().enumerate();
    let error = stress.map(|(t, s)| {
        let q = solids.vertices(t).iter().map(|&v| rest[v as usize]).sum::<Vec3>() / 3.0;
        let (r, n) = (q.norm(), q.normalize());
        let radial = k * (1.0 - b.powi(3) / r.powi(3));
        let hoop = k * (1.0 + 0.5 * b.powi(3) / r.powi(3));
        let error = (n.dot(&(s * n)) - radial).abs().max((s[(2, 2)] - hoop).abs());
        // near the axis the stress along the circumference is that of few elements
        if q.x > 0.2 { error } else { 0.0 }
    });
    [displacement, error.fold(0.0, f64::max) / p]
}

#[test]
fn a_thick_sphere_has_the_displacements_of_lame() {
    let errors = [6, 12, 24].map(thick_sphere);
    let order = (errors[1][0] / errors[2][0]).log2();
    println!("sphere: {errors:?}, order {order:.2}");
    assert!(errors[2][0] < 5e-3 && errors[2][1] < 3e-2 && order > 1.8, "{errors:?}");
}

/// A solid cylinder pulled by a force on its end: E and ν of small strains.
#[test]
fn a_pulled_cylinder_has_its_moduli() {
    let (radius, length, e, nu) = (0.5, 2.0, 2e6, 0.37);
    let body = grid("bar", [4, 8], |i, j| [radius * i as f64 / 4.0, length * j as f64 / 8.0]);
    let body = with_material(body, Law::StVenantKirchhoff, e, nu);
    let (bottom, top) = (select(&body, |p| p.y < 1e-9), select(&body, |p| p.y > length - 1e-9));
    let rest = body.rest.clone();
    let mut definition = revolved(vec![body]);
    definition.prescribed.push(fixed_along(bottom, Vec3::y()));
    let strain = 1e-7;
    definition.prescribed.push(slide(top.clone(), Vec3::y(), Vec3::y() * strain * length));
    let (simulation, report) = at_rest(definition);
    let x = simulation.positions();
    let force = report.forces.held["slide"].force[1];
    let stress = force / (PI * radius * radius);
    let across = -(x.iter().map(|p| p.x).fold(0.0, f64::max) / radius - 1.0) / strain;
    assert!((stress / strain / e - 1.0).abs() < 1e-6);
    assert!((across / nu - 1.0).abs() < 1e-6, "{across}");
    for (x, rest) in x.iter().zip(&rest) {
        assert!((x.x - rest.x * (1.0 - nu * strain)).abs() < 1e-12);
    }
}

/// A corner close to the axis beside where it is at rest has a barrier, which the law at the centroid does not have; its derivatives are those of differences.
#[test]
fn corners_are_kept_from_the_axis() {
    let rest = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(2.0, 0.1, 0.0), Vec3::new(0.0, 0.9, 0.0)];
    let x = |r: f64| [Vec3::new(r, 0.0, 0.0), Vec3::new(1.8, 0.2, 0.0), Vec3::new(0.0, 0.8, 0.0)];
    for law in Law::ALL {
        let [free, guarded] = [false, true]
            .map(|guarded| Axisymmetric::new(&rest, &material(law.clone()), guarded).unwrap());
        let of_barrier = |x: &[Vec3; 3]| guarded.value(x) - free.value(x);
        assert_eq!(of_barrier(&x(0.1)), 0.0);
        let falling = [0.09, 0.05, 1e-2, 1e-4].map(|r| of_barrier(&x(r)));
        assert!(falling[0] > 0.0 && falling.is_sorted(), "{law:?} {falling:?}");
        assert_eq!(guarded.value(&x(0.0)), f64::INFINITY);
        for r in [0.09, 0.05, 0.01] {
            let points: Vec<f64> = x(r).iter().flat_map(|p| [p.x, p.y]).collect();
            let step = 1e-3 * r;
            let forces = |x: &[f64]| -> Vec<f64> {
                guarded.gradient(&flat(x)).iter().flat_map(|g| [g.x, g.y]).collect()
            };
            let slope = gradient(&points, step, |x| guarded.value(&flat(x)));
            let error = relative_error(&forces(&points), &slope, 1e-3);
            assert!(error < 1e-6, "{law:?} {r}: {error:e}");
            let differences = jacobian(&points, step, forces);
            let differences = DMatrix::from_fn(6, 6, |r, c| differences[r][c]);
            let h = guarded.hessian(&x(r));
            let h = DMatrix::from_fn(6, 6, |r, c| h[r / 2][c / 2][(r % 2, c % 2)]);
            let error = (&h - &differences).norm() / differences.norm();
            assert!(error < 1e-5, "{law:?} {r}: {error:e}");
        }
    }
}

/// A plate that begins on the axis and is stopped on its way by what it presses stays there, at x = 0 to the last bit.
#[test]
fn a_plate_on_the_axis_stays_there() {
    let mut stopped = 0;
    for speed in [0.3, 1.0, 3.0, 10.0] {
        let pad = grid("pad", [4, 3], |i, j| [0.05 * i as f64, 0.01 + 0.05 * j as f64]);
        let pad = with_material(pad, Law::NeoHookean, 1e6, 0.4);
        let plate = BodyDef {
            name: "plate".into(),
            rest: vec![Vec3::new(0.0, 0.17, 0.0), Vec3::new(0.73, 0.17, 0.0)],
            kind: BodyKind::Obstacle { triangles: vec![], edges: vec![[0, 1]], points: vec![] },
            friction_material: "default".into(),
            ..BodyDef::default()
        };
        let mut definition = revolved(vec![pad, plate]);
        definition.half_spaces.push(ground(0.0));
        definition.settings.time.step = 0.03 / speed;
        let linear = Vec3::new(0.0, -speed, 0.0);
        let motion = Motion::Rigid { linear, angular: Vec3::zeros(), pivot: Pivot::StartCentre };
        definition.prescribed.push(PrescribedDef::new("down", 1, vec![0, 1], motion));
        let mut simulation = Simulation::new(&definition).unwrap();
        for _ in 0..4 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success() && simulation.audit().is_empty());
            let at = simulation.positions()[simulation.positions().len() - 2..].to_vec();
            assert_eq!([at[0].x, at[1].x], [0.0, 0.73], "{speed} m/s");
            stopped += usize::from(report.newton_iterations > 1);
        }
    }
    assert!(stopped > 8, "{stopped}");
}

/// Along no direction a corner comes to the axis, or a triangle turns, within the step that is admitted.
#[test]
fn steps_end_before_the_axis() {
    let random = &mut Random::new(7);
    let (mut bounded, mut whole) = (0, 0);
    for _ in 0..2000 {
        let rest = [Vec3::new(0.1, 0.0, 0.0), Vec3::new(1.0, 0.1, 0.0), Vec3::new(0.2, 0.9, 0.0)];
        let element = Axisymmetric::new(&rest, &material(Law::NeoHookean), true).unwrap();
        let dx = rest.map(|_| {
            let d = random.vec3();
            Vec3::new(d.x, d.y, 0.0)
        });
        let step = element.max_step(&rest, &dx);
        for part in [0.5, 1.0] {
            let x: Vec<Vec3> = (0..3).map(|k| rest[k] + part * step * dx[k]).collect();
            let area = (x[1] - x[0]).cross(&(x[2] - x[0])).z;
            assert!(area > 0.0 && (0..3).all(|k| x[k].x >= 0.19 * rest[k].x), "{step} {x:?}");
        }
        bounded += usize::from(step < 1.0);
        whole += usize::from(step == 1.0);
    }
    assert!(bounded > 100 && whole > 100, "{bounded} {whole}");
}

/// The volume that a patch encloses, and its derivative, which are those of a body of revolution; a patch that ends on the axis is closed.
#[test]
fn pressure_is_that_on_the_surface_of_revolution() {
    let random = &mut Random::new(9);
    let n = 200;
    let angle = |k: usize| PI * (k as f64 / n as f64 - 0.5);
    let mut x: Vec<Vec3> =
        (0..=n).map(|k| Vec3::new(angle(k).cos(), angle(k).sin(), 0.0)).collect();
    (x[0].x, x[n].x) = (0.0, 0.0);
    let edges: Vec<[u32; 2]> = (0..n as u32).map(|k| [k, k + 1]).collect();
    let sphere = Patch::of_rings(edges.clone(), &x);
    assert!(sphere.closed && !Patch::of_rings(edges[..n / 2].to_vec(), &x).closed);
    let volume = sphere.volume(&x, &Vec3::zeros());
    assert!((volume / (4.0 / 3.0 * PI) - 1.0).abs() < 2e-4, "{volume}");
    // of a half the resultant is the pressure on the circle
    let half = Patch::of_rings(edges[..n / 2].to_vec(), &x);
    let [force, _] = half.resultant(10.0, &x, &x);
    assert!((force.y / (10.0 * PI) - 1.0).abs() < 1e-12, "{force}");
    for p in &mut x[1..n] {
        *p += 0.003 * Vec3::new(random.unit(), random.unit(), 0.0);
    }
    let mut normals = vec![Vec3::zeros(); n + 1];
    sphere.add_area_normals(1.0, &x, &mut normals);
    for v in [0, 1, 57, n - 1, n] {
        for c in 0..2 {
            // what is on the axis goes along it only
            if x[v].x == 0.0 && c == 0 {
                continue;
            }
            let at = |d: f64| {
                let mut x = x.clone();
                x[v][c] += d;
                sphere.volume(&x, &Vec3::zeros())
            };
            let slope = (at(1e-4) - at(-1e-4)) / 2e-4;
            assert!((normals[v][c] - slope).abs() < 1e-8, "{v} {c}: {} {slope}", normals[v][c]);
        }
    }
}

/// The weight of a ring, and of a disc with a corner on the axis, is what the ground bears, whatever the weights of contacts.
#[test]
fn the_ground_bears_the_weight_of_the_whole_ring() {
    for inner in [0.0, 0.3] {
        for potential in [ContactPotential::Ipc, ContactPotential::Convergent] {
            let body = grid("ring", [4, 3], |i, j| [inner + 0.1 * i as f64, 1e-3 + 0.1 * j as f64]);
            let outer: f64 = inner + 0.4;
            let weight = 1000.0 * 9.81 * PI * (outer * outer - inner * inner) * 0.3;
            let mut definition = revolved(vec![body]);
            definition.gravity = Vec3::new(0.0, -9.81, 0.0);
            definition.half_spaces.push(ground(0.0));
            definition.settings.time.integrator = Integrator::QuasiStatic;
            definition.settings.contact.d_hat = Some(2e-3);
            definition.settings.contact.potential = potential;
            let mut simulation = Simulation::new(&definition).unwrap();
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{report:?}");
            let force = report.forces.half_spaces["ground"];
            assert!((-force.force[1] / weight - 1.0).abs() < 1e-6, "{force:?} {weight}");
            assert_eq!(force.torque, [0.0; 3]);
        }
    }
}

/// A ring that inner pressure presses against a rigid pipe, and that a motion pushes along it: friction is μ times the force on the wall, which is the
/// pressure on the inside less what the ring itself bears.
#[test]
fn a_pressed_ring_slides_with_coulomb_friction() {
    let (inner, outer, height, mu, p) = (1.0, 1.2, 0.4, 0.25, 2e4);
    let body = grid("ring", [4, 8], |i, j| [inner + 0.05 * i as f64, 0.05 * j as f64]);
    let body = with_material(body, Law::NeoHookean, 1e5, 0.3);
    let inside = select(&body, |q| q.x < inner + 1e-9);
    let all = select(&body, |_| true);
    let wall = BodyDef {
        name: "pipe".into(),
        rest: vec![Vec3::new(outer + 1e-3, -3.0, 0.0), Vec3::new(outer + 1e-3, 3.0, 0.0)],
        kind: BodyKind::Obstacle { triangles: vec![], edges: vec![[0, 1]], points: vec![] },
        friction_material: "default".into(),
        ..BodyDef::default()
    };
    let mut definition = revolved(vec![body, wall]);
    definition.prescribed.push(slide(all, Vec3::y(), 0.02 * Vec3::y()));
    definition.forces.push(pressed(inside, p));
    definition.settings.time.integrator = Integrator::QuasiStatic;
    definition.settings.time.step = 0.1;
    definition.settings.contact.d_hat = Some(5e-4);
    definition.settings.friction.coefficient = mu;
    definition.settings.friction.stick_speed = Some(1e-4);
    let mut simulation = Simulation::new(&definition).unwrap();
    let mut last = None;
    for _ in 0..6 {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
        last = Some(report);
    }
    let report = last.unwrap();
    let pair = &report.forces.pairs["ring"]["pipe"];
    let (normal, friction) = (-pair.force[0], -pair.friction[1]);
    let pushed = report.forces.held["slide"].force[1];
    println!("wall {normal:.4e}, friction {friction:.4e}, pushed by {pushed:.4e} N");
    assert!((friction / (mu * normal) - 1.0).abs() < 1e-3, "{friction} {normal}");
    assert!((pushed / friction - 1.0).abs() < 1e-4, "{pushed} {friction}");
    // of the pressure on the inside, by its area, about nine tenths arrive
    let whole = p * TAU * inner * height;
    assert!(normal > 0.8 * whole && normal < whole * outer / inner, "{normal} {whole}");
}

/// Two discs that meet along the axis: only the momentum along it is reported, and it stays; the same bits on any number of threads; a state goes
/// on with the same bits.
#[test]
fn momentum_along_the_axis_is_kept() {
    let disc = |name: &str, low: f64, speed: f64, inner: f64| {
        let mut body = grid(name, [5, 4], |i, j| [inner + 0.1 * i as f64, low + 0.1 * j as f64]);
        body.velocity = vec![speed * Vec3::y(); body.rest.len()];
        body
    };
    for integrator in [
        Integrator::ImplicitEuler,
        Integrator::Bdf2,
        Integrator::Newmark,
        Integrator::ImplicitMidpoint,
    ] {
        let mut definition =
            revolved(vec![disc("low", 0.0, 1.0, 0.0), disc("high", 0.42, -0.3, 0.25)]);
        definition.settings.time.integrator = integrator;
        definition.settings.time.step = 0.005;
        definition.settings.friction.coefficient = 0.3;
        definition.settings.solver.end.velocity = Some(1e-7);
        let run = |threads: usize, interrupted: bool| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut simulation = Simulation::new(&definition).unwrap();
                let before = energetics::linear_momentum(simulation.model(), simulation.state());
                let mut contacts = 0;
                for k in 0..16 {
                    if interrupted && k == 7 {
                        let state = simulation.state().clone();
                        simulation = Simulation::restore(&definition, state).unwrap();
                    }
                    let report = simulation.step().unwrap();
                    assert!(report.outcome.is_success(), "{report:?}");
                    contacts += report.contacts;
                    let drift = (report.linear_momentum[1] - before.y).abs();
                    assert!(drift < 1e-5 * before.y.abs(), "{integrator:?} {drift}");
                    let [x, _, z] = report.linear_momentum;
                    assert_eq!((x, z, report.angular_momentum), (0.0, 0.0, [0.0; 3]));
                }
                assert!(contacts > 0);
                simulation.positions().iter().flat_map(|p| [p.x, p.y].map(f64::to_bits)).collect()
            })
        };
        let one: Vec<u64> = run(1, false);
        assert!(run(2, false) == one, "threads change bits, {integrator:?}");
        assert!(run(1, true) == one, "resuming changes bits, {integrator:?}");
    }
}

/// A cylinder between plates that hold its ends, and that come closer by a tenth: the force is that of quadratic tetrahedra.
#[test]
fn a_squeezed_cylinder_is_the_one_of_three_dimensions() {
    let (radius, height, squeeze) = (0.5, 0.6, 0.06);
    let press = |body: BodyDef, dimension: Dimension| {
        let bottom = select(&body, |p| p.y < 1e-9);
        let top = select(&body, |p| p.y > height - 1e-9);
        let mut definition = Definition { dimension, ..scene(vec![body]) };
        definition.prescribed.push(PrescribedDef::new("bottom", 0, bottom, Motion::Fixed));
        let linear = -squeeze * Vec3::y();
        let motion = Motion::Rigid { linear, angular: Vec3::zeros(), pivot: Pivot::StartCentre };
        definition.prescribed.push(PrescribedDef::new("top", 0, top, motion));
        definition.settings.contact.enabled = false;
        definition.settings.time.integrator = Integrator::QuasiStatic;
        definition.settings.time.step = 1.0;
        let mut simulation = Simulation::new(&definition).unwrap();
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
        -report.forces.held["top"].force[1]
    };
    let ring = |n: usize| {
        let cell = |count: usize, whole: f64, k: usize| whole * k as f64 / count as f64;
        let body = grid("cylinder", [n, n], |i, j| [cell(n, radius, i), cell(n, height, j)]);
        press(with_material(body, Law::NeoHookean, 1e5, 0.4), Dimension::Axisymmetric)
    };
    let solid = |n: usize| {
        let mut body = block("cylinder", [-1.0, 0.0, -1.0], [n; 3], 2.0 / n as f64);
        for p in &mut body.rest {
            // a square becomes a disc of nearly the same volume
            let (x, z) = (p.x, p.z);
            p.x = radius * x * (1.0 - 0.5 * z * z).sqrt();
            p.z = radius * z * (1.0 - 0.5 * x * x).sqrt();
            p.y *= 0.5 * height;
        }
        if let BodyKind::Volume { tets, middles, material, .. } = &mut body.kind {
            *material = Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.4 };
            add_middles(tets, middles, &mut body.rest);
        }
        press(body, Dimension::Three)
    };
    let (coarse, fine, three) = (ring(8), ring(16), solid(6));
    println!("axisymmetric {coarse:.1} {fine:.1}, quadratic tetrahedra {three:.1} N");
    assert!((fine / three - 1.0).abs() < 0.05, "{fine} {three}");
}

/// A pad between plates that hold its ends, at small strains: the force beside that of CalculiX 2.20 on the same meshes of CAX3 and of CAX6 elements,
/// N for a strain of one in a thousand (180 times what it prints for 2° of the ring). Coarse meshes are too stiff where ν is near ½.
#[test]
fn a_pad_has_the_force_of_calculix() {
    // ν, and by 8, 16 and 32 cells CAX3 and CAX6
    let references = [
        (0.4, [96.508, 95.265, 94.754], [94.778, 94.559, 94.467]),
        (0.49, [114.421, 110.539, 109.125], [109.060, 108.536, 108.289]),
        (0.499, [118.779, 113.090, 111.271], [111.138, 110.553, 110.273]),
    ];
    let (radius, height, strain) = (0.5, 0.6, 1e-6);
    for (nu, linear, quadratic) in references {
        for (k, n) in [8, 16, 32].into_iter().enumerate() {
            let cell = |whole: f64, k: usize| whole * k as f64 / n as f64;
            let force = |is_quadratic: bool| {
                let mut body = grid("pad", [n, n], |i, j| [cell(radius, i), cell(height, j)]);
                if let (true, BodyKind::PlaneStrain { triangles, middles, .. }) =
                    (is_quadratic, &mut body.kind)
                {
                    add_middles(triangles, middles, &mut body.rest);
                }
                let body = with_material(body, Law::NeoHookean, 1e5, nu);
                let bottom = select(&body, |p| p.y < 1e-9);
                let top = select(&body, |p| p.y > height - 1e-9);
                let mut definition = revolved(vec![body]);
                definition.prescribed.push(PrescribedDef::new("bottom", 0, bottom, Motion::Fixed));
                let linear_motion = -strain * height * Vec3::y();
                let pivot = Pivot::StartCentre;
                let motion = Motion::Rigid { linear: linear_motion, angular: Vec3::zeros(), pivot };
                definition.prescribed.push(PrescribedDef::new("top", 0, top, motion));
                let (_, report) = at_rest(definition);
                -report.forces.held["top"].force[1] * 1e-3 / strain
            };
            // CalculiX has 2° of the ring, of linear elements with plane faces: sin 2°/2° of its volume
            let part = 2.0_f64.to_radians().sin() / 2.0_f64.to_radians();
            let [force, curved] = [false, true].map(force);
            for (force, same) in [(force * part, linear[k]), (curved, quadratic[k])] {
                assert!((force / same - 1.0).abs() < 1e-4, "{nu} {n}: {force} {same}");
            }
            let excess = force / quadratic[2] - 1.0;
            let bound = [0.08, 0.026, 0.01][k];
            assert!(excess > 0.0 && excess < bound, "{nu} {n}: {excess}");
            println!(
                "ν = {nu}, {n} cells: {force:.3} N, quadratic {curved:.3}; CAX3 {:.3}, CAX6 {:.3}; {:+.2} % of the finest CAX6",
                linear[k],
                quadratic[k],
                100.0 * excess
            );
        }
    }
}

/// What relaxes or yields in a cylinder is what does in a block of the same height that is stretched in the same way.
#[test]
fn inelastic_stress_is_that_of_three_dimensions() {
    let relaxing = vec![Inelasticity::Relaxing(Relaxation { ratio: 2.0, time: 0.3 })];
    let yielding = vec![Inelasticity::Yielding(Plasticity {
        yield_stress: 2e3,
        hardening_modulus: 1e4,
        kinematic_modulus: 0.0,
        saturation_stress: None,
        saturation_rate: None,
    })];
    for (law, inelastic) in [(Law::NeoHookean, relaxing), (Law::Volumetric, yielding)] {
        let stress = |mut body: BodyDef, dimension: Dimension, area: f64| {
            let m = Material { law: law.clone(), young_modulus: 1e5, poisson_ratio: 0.3 };
            match &mut body.kind {
                BodyKind::Volume { material, .. } | BodyKind::PlaneStrain { material, .. } => {
                    *material = m;
                }
                _ => unreachable!("a solid"),
            }
            body.inelastic.clone_from(&inelastic);
            let low = |k: usize| select(&body, |p| p[k] < 1e-9);
            let sets = [low(0), low(1), low(2)];
            let top = select(&body, |p| p.y > 1.0 - 1e-9);
            let mut definition = Definition { dimension, ..scene(vec![body]) };
            definition.prescribed.push(fixed_along(sets[1].clone(), Vec3::y()));
            if dimension == Dimension::Three {
                definition.prescribed.push(fixed_along(sets[0].clone(), Vec3::x()));
                definition.prescribed.push(fixed_along(sets[2].clone(), Vec3::z()));
            }
            definition.prescribed.push(slide(top, Vec3::y(), 0.2 * Vec3::y()));
            definition.settings.contact.enabled = false;
            definition.settings.time.integrator = Integrator::QuasiStatic;
            definition.settings.time.step = 0.1;
            definition.settings.solver.end.forces = Some(1e-10);
            let mut simulation = Simulation::new(&definition).unwrap();
            let mut all = Vec::new();
            for _ in 0..5 {
                let report = simulation.step().unwrap();
                assert!(report.outcome.is_success(), "{report:?}");
                all.push(report.forces.held["slide"].force[1] / area);
            }
            all
        };
        let cylinder = grid("cylinder", [3, 4], |i, j| [0.1 * i as f64, 0.25 * j as f64]);
        let ring = stress(cylinder, Dimension::Axisymmetric, PI * 0.09);
        let three = stress(block("block", [0.0; 3], [2; 3], 0.5), Dimension::Three, 1.0);
        for (a, b) in ring.iter().zip(&three) {
            assert!((a / b - 1.0).abs() < 1e-7, "{law:?} {ring:?} {three:?}");
        }
        // more than elastic
        assert!(ring[4] < 4.9 * ring[0] * 0.9, "{law:?} {ring:?}");
    }
}

/// A sphere pressed onto a rigid plane [Timoshenko & Goodier 1970, §140]: force against approach, radius of the contact and pressure.
#[test]
fn a_sphere_has_the_contact_of_hertz() {
    let (radius, fine, approach) = (1.0, 5e-4, 1.5625e-4);
    let graded = |until: f64, growth: f64, uniform: usize| {
        let (mut x, mut h) = (vec![0.0], fine);
        while x[x.len() - 1] < until {
            if x.len() > uniform {
                h *= growth;
            }
            x.push(x[x.len() - 1] + h);
        }
        let scale = until / x[x.len() - 1];
        x.into_iter().map(|x| x * scale).collect::<Vec<f64>>()
    };
    let (right, up) = (graded(0.8, 1.2, 40), graded(1.0, 1.2, 6));
    let place = |i: usize, j: usize| {
        let r = right[i];
        let bottom = radius - (radius * radius - r * r).sqrt();
        [r, bottom + (radius - bottom) * up[j]]
    };
    let n = [right.len() - 1, up.len() - 1];
    let (e, nu) = (1e6, 0.3);
    let mut body = with_material(grid("sphere", n, place), Law::StVenantKirchhoff, e, nu);
    let d_hat = 5e-7;
    body.rest.iter_mut().for_each(|p| p.y += d_hat);
    let top = select(&body, |p| p.y > radius * (1.0 - 1e-9));
    let rest = body.rest.clone();
    let mut definition = revolved(vec![body]);
    definition.half_spaces.push(ground(0.0));
    let motion = Motion::Rigid {
        linear: -(approach + 0.5 * d_hat) * Vec3::y(),
        angular: Vec3::zeros(),
        pivot: Pivot::StartCentre,
    };
    definition.prescribed.push(PrescribedDef::new("held", 0, top, motion));
    definition.settings.time.integrator = Integrator::QuasiStatic;
    definition.settings.time.step = 0.25;
    definition.settings.contact.d_hat = Some(d_hat);
    definition.settings.solver.end.velocity = Some(1e-9);
    let mut simulation = Simulation::new(&definition).unwrap();
    for _ in 0..4 {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
    }
    let bottom: Vec<usize> = (0..=n[0]).map(|i| i * (n[1] + 1)).collect();
    let force = |k: usize| simulation.contact_forces()[bottom[k]].y;
    let total: f64 = (0..bottom.len()).map(force).sum();
    let stiffness = e / (1.0 - nu * nu);
    let of_approach = 4.0 / 3.0 * stiffness * radius.sqrt() * approach.powf(1.5);
    // radius and greatest pressure of the force that was found
    let a = (0.75 * total * radius / stiffness).cbrt();
    let p0 = 1.5 * total / (PI * a * a);
    let r = |k: usize| rest[bottom[k]].x;
    // the part of the surface that a vertex stands for
    let ring = |k: usize| {
        let part = |l: f64, own: f64, other: f64| TAU * l * (own / 3.0 + other / 6.0);
        let outer = part(r(k + 1) - r(k), r(k), r(k + 1));
        if k == 0 { outer } else { outer + part(r(k) - r(k - 1), r(k), r(k - 1)) }
    };
    // neighbours have different numbers of triangles, and share their forces accordingly
    let pressure = |k: usize| {
        let sum = |of: &dyn Fn(usize) -> f64| {
            let inner = if k == 0 { 0.0 } else { 0.5 * of(k - 1) };
            inner + of(k) + 0.5 * of(k + 1)
        };
        sum(&force) / sum(&ring)
    };
    let hertz = |k: usize| p0 * (1.0 - (r(k) / a).powi(2)).max(0.0).sqrt();
    let inside = (0..bottom.len()).take_while(|&k| r(k) < 0.9 * a);
    let worst = inside.map(|k| (pressure(k) - hertz(k)).abs() / p0).fold(0.0, f64::max);
    let touching = (0..bottom.len() - 1).filter(|&k| force(k) > 1e-3 * total / 25.0).map(r);
    let edge = touching.fold(0.0, f64::max);
    println!(
        "Hertz: force {:.4} of that of the approach, a = {a:.5} m (last vertex in contact {edge:.5} m), a/R {:.3}, pressure within {:.2} % of p0",
        total / of_approach,
        a / radius,
        100.0 * worst
    );
    assert!((total / of_approach - 1.0).abs() < 0.05);
    assert!((edge / a - 1.0).abs() < 0.08);
    assert!(worst < 0.02, "{worst}");
}

/// What has no form of revolution is refused with what it is about.
#[test]
fn what_has_no_form_is_refused() {
    let ring = || grid("ring", [2, 2], |i, j| [0.1 * i as f64, 0.1 * j as f64]);
    let refused = |change: &dyn Fn(&mut Definition)| {
        let mut definition = revolved(vec![ring()]);
        change(&mut definition);
        Simulation::new(&definition).err().expect("it is refused")
    };
    let text = |change: &dyn Fn(&mut Definition)| refused(change).to_string();
    assert!(text(&|d| d.gravity = Vec3::x()).contains("gravity"));
    assert!(text(&|d| d.settings.solver.method = Method::Dot).contains("solver.method"));
    assert!(text(&|d| d.settings.solver.method = Method::BarrierFree).contains("method"));
    let oriented = ContactPotential::OrientationAware;
    assert!(text(&|d| d.settings.contact.potential = oriented).contains("contact.potential"));
    let behind = refused(&|d| d.bodies[0].rest[0].x = -1e-3);
    assert!(matches!(&behind, BuildError::Body { body, .. } if body == "ring"), "{behind}");
    let velocity = text(&|d| d.bodies[0].velocity = vec![Vec3::x(); 9]);
    assert!(velocity.contains("velocity"), "{velocity}");
    let volume = text(&|d| d.bodies.push(block("block", [2.0; 3], [1; 3], 0.1)));
    assert!(volume.contains("'block'") || volume.contains("block"), "{volume}");
    // nor does a motion lead there
    let pull = slide(vec![4], Vec3::x(), -100.0 * Vec3::x());
    let mut definition = revolved(vec![ring()]);
    definition.prescribed.push(pull);
    let error = Simulation::new(&definition).unwrap().step().expect_err("it leads too far");
    let error = error.to_string();
    assert!(error.contains("'slide'") && error.contains("behind the axis"), "{error}");
    // an audit finds what is behind the axis
    let simulation = Simulation::new(&revolved(vec![ring()])).unwrap();
    let mut x = simulation.positions().to_vec();
    x[4].x = -1.0;
    let found = standoff_sim::audit::violations(simulation.model(), &x);
    assert!(found.contains(&Violation::BehindAxis { vertex: 4 }), "{found:?}");
}
