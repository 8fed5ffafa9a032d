//! Quadratic triangles: solids under plane strain and bodies of revolution, against closed forms and against linear ones.

use crate::common::{difference, grid, ground, scene};
use standoff_geometry::audit::audit_curved_triangles;
use standoff_geometry::quadratic::{TRIANGLE_EDGES, add_middles};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::audit::Violation;
use standoff_sim::definition::expression::Expression;
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, Dimension, FibreFamily, ForceDef, Load, Motion, Pivot,
    PrescribedDef,
};
use standoff_sim::energy::Element;
use standoff_sim::energy::quadratic_triangle::QuadraticTriangle;
use standoff_sim::material::fibres::{FibreDirection, FibreLaw};
use standoff_sim::material::inelastic::{Inelasticity, Plasticity, Relaxation};
use standoff_sim::material::{Law, Material};
use standoff_sim::report::StepReport;
use standoff_sim::settings::{Integrator, Method};
use standoff_sim::{BuildError, Simulation, energetics};
use standoff_testkit::{Random, thorough};
use std::f64::consts::{FRAC_PI_2, PI};

/// The same body of quadratic triangles with straight edges.
fn curved(mut body: BodyDef) -> BodyDef {
    if let BodyKind::PlaneStrain { triangles, middles, .. } = &mut body.kind {
        add_middles(triangles, middles, &mut body.rest);
    }
    body
}

/// A solid over a grid whose corners and middles are all at `at`, in units of half cells.
fn bent(name: &str, n: [usize; 2], at: impl Fn(f64, f64) -> [f64; 2]) -> BodyDef {
    let mut body = curved(grid(name, n, |i, j| [2.0 * i as f64, 2.0 * j as f64]));
    for p in &mut body.rest {
        let [x, y] = at(p.x, p.y);
        *p = Vec3::new(x, y, 0.0);
    }
    body
}

fn of_order(quadratic: bool, body: BodyDef) -> BodyDef {
    if quadratic { curved(body) } else { body }
}

fn made_of(mut body: BodyDef, law: Law, young_modulus: f64, poisson_ratio: f64) -> BodyDef {
    if let BodyKind::PlaneStrain { material, .. } = &mut body.kind {
        *material = Material { law, young_modulus, poisson_ratio };
    }
    body
}

fn select(body: &BodyDef, holds: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|&v| holds(&body.rest[v as usize])).collect()
}

fn held(name: &str, vertices: Vec<u32>, along: Vec3) -> PrescribedDef {
    PrescribedDef { along: vec![along], ..PrescribedDef::new(name, 0, vertices, Motion::Fixed) }
}

fn slide(name: &str, vertices: Vec<u32>, velocity: Vec3) -> PrescribedDef {
    let (angular, pivot) = (Vec3::zeros(), Pivot::StartCentre);
    PrescribedDef::new(name, 0, vertices, Motion::Rigid { linear: velocity, angular, pivot })
}

fn pressed(vertices: Vec<u32>, pressure: f64) -> ForceDef {
    let load = Load::Pressure(pressure.into());
    ForceDef { name: "pressure".into(), body: 0, vertices, load, t0: 0.0, t1: f64::INFINITY }
}

fn in_dimension(dimension: Dimension, body: BodyDef) -> Definition {
    Definition { dimension, ..scene(vec![body]) }
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

/// The deflection of the end of a beam of 20 × `across` cells under its weight, in terms of that of beam theory with shear [Timoshenko 1921].
fn deflection(quadratic: bool, across: usize, nu: f64) -> f64 {
    let (height, length, e, gravity, density) = (0.1, 1.0, 1e9, 1.0, 1000.0);
    let cell = height / across as f64;
    let body = grid("beam", [10 * across, across], |i, j| {
        [cell * i as f64, cell * j as f64 - 0.5 * height]
    });
    let body = made_of(of_order(quadratic, body), Law::NeoHookean, e, nu);
    let clamped = select(&body, |p| p.x < 1e-9);
    let end = select(&body, |p| p.x > length - 1e-9 && p.y.abs() < 1e-9);
    let mut definition = in_dimension(Dimension::Two, body);
    definition.gravity = -gravity * Vec3::y();
    definition.prescribed.push(PrescribedDef::new("clamp", 0, clamped, Motion::Fixed));
    let (simulation, _) = at_rest(definition);
    let load = density * height * gravity;
    let plane = e / (1.0 - nu * nu);
    let stiffness = plane * height.powi(3) / 12.0;
    // the coefficient of shear of a rectangle in plane strain is near that of a narrow one, 5/6
    let shear = 5.0 / 6.0 * height * e / (2.0 * (1.0 + nu));
    let theory = load * length.powi(4) / (8.0 * stiffness) + load * length * length / (2.0 * shear);
    let v = end[0] as usize;
    -simulation.positions()[v].y / theory
}

#[test]
fn a_beam_bends_as_in_beam_theory_where_linear_elements_lock() {
    for (nu, least) in [(0.3, 0.98), (0.45, 0.96), (0.499, 0.94)] {
        let [linear, quadratic] = [false, true].map(|q| deflection(q, 2, nu));
        println!("ν = {nu}: linear {linear:.3}, quadratic {quadratic:.3}");
        assert!((least..1.0).contains(&quadratic) && linear < 0.7, "{nu} {linear} {quadratic}");
    }
}

/// A bar hangs exactly: u = ρ g (L y − y²/2) (1 − ν²)/E is of degree two.
#[test]
fn a_bar_hangs_exactly() {
    let (length, e, density, g) = (1.0, 1e6, 1000.0, 1e-3);
    let body = grid("bar", [2, 3], |i, j| [0.1 * i as f64, length * j as f64 / 3.0 - length]);
    let body = made_of(curved(body), Law::StVenantKirchhoff, e, 0.0);
    let top = select(&body, |p| p.y > -1e-9);
    let rest = body.rest.clone();
    let mut definition = in_dimension(Dimension::Two, body);
    definition.gravity = -g * Vec3::y();
    definition.prescribed.push(PrescribedDef::new("top", 0, top, Motion::Fixed));
    let (simulation, report) = at_rest(definition);
    for (x, p) in simulation.positions().iter().zip(&rest) {
        let y = -p.y;
        let u = -density * g / e * (length * y - 0.5 * y * y);
        assert!((x.y - p.y - u).abs() < 2e-12, "{p} {} {u}", x.y - p.y);
    }
    let weight = density * 0.2 * length * g;
    assert!((report.forces.held["top"].force[1] / weight - 1.0).abs() < 1e-9);
}

/// Lamé's thick tube under inner pressure: errors of the displacement (by that of the inside) and of the stress recovered at the inside (by the
/// pressure), as a quarter of a ring with curved edges in the plane, or in the half-plane of a body of revolution.
fn tube(dimension: Dimension, n: usize, quadratic: bool, nu: f64) -> [f64; 2] {
    let (a, b, e, p) = (1.0, 2.0, 1e9, 1e3);
    let round = dimension.is_axisymmetric();
    let (cells, half) = (if round { [n, 2] } else { [n, 2 * n] }, 0.5 / n as f64);
    let at = |i: f64, j: f64| match round {
        true => [a + half * (b - a) * i, half * j],
        false => {
            let (r, angle) = (a + half * (b - a) * i, FRAC_PI_2 * 0.5 * half * j);
            [r * angle.cos(), r * angle.sin()]
        }
    };
    let body = match quadratic {
        true => bent("tube", cells, at),
        false => grid("tube", cells, |i, j| at(2.0 * i as f64, 2.0 * j as f64)),
    };
    let body = made_of(body, Law::NeoHookean, e, nu);
    let radius = move |q: &Vec3| if round { q.x } else { q.norm() };
    let inside = select(&body, |q| radius(q) < a + 1e-9);
    let (all, planes) = (select(&body, |_| true), [0, 1].map(|k| select(&body, |q| q[k] < 1e-9)));
    let rest = body.rest.clone();
    let mut definition = in_dimension(dimension, body);
    match round {
        true => definition.prescribed.push(held("ends", all, Vec3::y())),
        false => {
            for (k, plane) in planes.into_iter().enumerate() {
                definition.prescribed.push(held(["x", "y"][k], plane, Vec3::ith(k, 1.0)));
            }
        }
    }
    definition.forces.push(pressed(inside.clone(), p));
    let (simulation, _) = at_rest(definition);
    let k = p * a * a / (b * b - a * a);
    let u = |r: f64| k * (1.0 + nu) / e * ((1.0 - 2.0 * nu) * r + b * b / r);
    let error = simulation.positions().iter().zip(&rest).map(|(x, q)| {
        let out = if round { Vec3::x() } else { q.normalize() };
        ((x - q) - u(radius(q)) * out).norm()
    });
    let displacement = error.fold(0.0, f64::max) / u(a);
    let stress = simulation.recovered_stresses().stress;
    let error = inside.iter().map(|&v| {
        let q = &rest[v as usize];
        let out = if round { Vec3::x() } else { q.normalize() };
        (out.dot(&(stress[v as usize] * out)) + p).abs() / p
    });
    [displacement, error.fold(0.0, f64::max)]
}

/// Errors fall with the third power of the size of elements and more, also where edges are curved and the solid is nearly incompressible.
#[test]
fn a_thick_tube_has_the_displacements_of_lame() {
    for dimension in [Dimension::Two, Dimension::Axisymmetric] {
        for nu in [0.3, 0.49, 0.4999] {
            let errors = [4, 8, 16].map(|n| tube(dimension, n, true, nu));
            let linear = tube(dimension, 16, false, nu);
            let order = (errors[1][0] / errors[2][0]).log2();
            println!("{dimension:?} ν = {nu}: {errors:?}, order {order:.2}; linear {linear:?}");
            // three conditions of volume of each ring are many
            let least = if dimension == Dimension::Two || nu < 0.495 { 2.7 } else { 2.0 };
            assert!(order > least && errors[2][0] < 1e-4, "{errors:?}");
            assert!(errors[2][0] < 0.15 * linear[0] && errors[2][1] < 4e-3, "{errors:?}");
        }
    }
}

/// A round pad between plates to which it sticks, as `axisymmetric::a_pad_has_the_force_of_calculix` has it: the force of a compression by a hundredth.
fn pad(n: usize, nu: f64, quadratic: bool) -> (f64, f64) {
    let (radius, height) = (1.0, 0.25);
    let cells = [n, n / 2];
    let body = grid("pad", cells, |i, j| {
        [radius * i as f64 / n as f64, height * j as f64 / cells[1] as f64]
    });
    let body = made_of(of_order(quadratic, body), Law::NeoHookean, 1e6, nu);
    let (bottom, top) = (select(&body, |p| p.y < 1e-9), select(&body, |p| p.y > height - 1e-9));
    let mut definition = in_dimension(Dimension::Axisymmetric, body);
    definition.prescribed.push(PrescribedDef::new("bottom", 0, bottom, Motion::Fixed));
    definition.prescribed.push(slide("top", top, -0.01 * height * Vec3::y()));
    let (simulation, report) = at_rest(definition);
    (-report.forces.held["top"].force[1], simulation.recovered_stresses().of_bodies[0])
}

/// Where linear triangles are too stiff and their pressures alternate, quadratic ones have the force with a coarse mesh, and their stresses are known to be
/// better.
#[test]
fn a_nearly_incompressible_pad_has_its_force_with_few_elements() {
    for nu in [0.4, 0.49, 0.499] {
        let (exact, _) = pad(if thorough() { 64 } else { 32 }, nu, true);
        let [linear, quadratic] = [false, true].map(|q| pad(8, nu, q));
        let off = [linear, quadratic].map(|(force, _)| force / exact - 1.0);
        println!(
            "ν = {nu}: {exact:.5e} N; linear, quadratic off by {off:.4?}, stress by {:.3} and {:.3}",
            linear.1, quadratic.1
        );
        assert!(off[1].abs() < 0.3 * off[0].abs(), "{nu} {off:?}");
        // at the rims stress is singular
        let part = if nu > 0.45 { 0.5 } else { 0.7 };
        assert!(quadratic.1 < part * linear.1, "{linear:?} {quadratic:?}");
    }
}

/// What the solid is made of does not change what a uniform strain is: the stress is that of linear triangles, at all points, also after steps in which it
/// relaxes, yields, grows, and has fibres that draw.
#[test]
fn a_uniform_strain_is_that_of_linear_triangles() {
    let plasticity = Plasticity {
        yield_stress: 1e3,
        hardening_modulus: 1e5,
        kinematic_modulus: 0.0,
        saturation_stress: None,
        saturation_rate: None,
    };
    let relaxation = Relaxation { ratio: 0.5, time: 1.0 };
    // as much along the radius as around the axis, and no shear, so that the uniform strain is in balance
    let directions = [0.3, -0.3].map(|x| FibreDirection::Along(Vec3::new(x, 1.0, 0.3)));
    let law = FibreLaw { stiffness: 1e5, exponent: 1.0 };
    let tension = Some(Expression::parse("2e3*t").unwrap());
    for dimension in [Dimension::Two, Dimension::Axisymmetric] {
        for growth in [None, Some(Expression::parse("0.02*t").unwrap())] {
            let run = |quadratic: bool| {
                let body = grid("solid", [4, 3], |i, j| [0.25 * i as f64, 0.3 * j as f64]);
                let mut body = made_of(of_order(quadratic, body), Law::Volumetric, 1e5, 0.3);
                body.inelastic =
                    vec![Inelasticity::Relaxing(relaxation), Inelasticity::Yielding(plasticity)];
                body.fibres = directions
                    .map(|direction| FibreFamily { direction, law, tension: tension.clone() })
                    .into();
                body.growth.clone_from(&growth);
                let outside = select(&body, |p| {
                    p.x > 1.0 - 1e-9 || p.y < 1e-9 || p.y > 0.9 - 1e-9 || p.x < 1e-9
                });
                let frame = |amount: f64| {
                    let at = |v: &u32| {
                        let p = body.rest[*v as usize];
                        Vec3::new((1.0 + amount) * p.x, (1.0 - 0.5 * amount) * p.y, 0.0)
                    };
                    outside.iter().map(at).collect()
                };
                let frames = vec![frame(0.03), frame(0.06), frame(0.02)];
                let mut d = in_dimension(dimension, body);
                let motion = Motion::Sequence { frames };
                d.prescribed.push(PrescribedDef::new("outside", 0, outside, motion));
                d.settings.contact.enabled = false;
                d.settings.time.integrator = Integrator::QuasiStatic;
                d.settings.time.step = 0.5;
                d.settings.solver.end.velocity = Some(1e-11);
                d.settings.solver.end.forces = Some(1e-10);
                let mut simulation = Simulation::new(&d).unwrap();
                let mut energies = Vec::new();
                for _ in 0..3 {
                    let report = simulation.step().unwrap();
                    assert!(report.outcome.is_success(), "{report:?}");
                    energies.push(report.energies.values().sum::<f64>());
                }
                (simulation, energies)
            };
            let [(linear, a), (quadratic, b)] = [false, true].map(run);
            let want = linear.stresses()[0];
            for s in [linear.stresses(), quadratic.stresses()].concat() {
                assert!((s - want).norm() < 1e-7 * want.norm(), "{dimension:?} {s} {want}");
            }
            for (a, b) in a.iter().zip(&b) {
                assert!((a / b - 1.0).abs() < 1e-9, "{dimension:?} {a} {b}");
            }
            let strains = [&linear, &quadratic].map(|s| s.plastic_strains()[0]);
            assert!(strains[0] > 1e-3 && (strains[0] - strains[1]).abs() < 1e-9, "{strains:?}");
            let found = quadratic.recovered_stresses();
            assert!(found.stress.iter().all(|s| (s - want).norm() < 1e-7 * want.norm()));
        }
    }
}

/// A pressure all around shortens a disc uniformly; the outline of its curved edges is closed. On a part of it, the force is the pressure times the area.
#[test]
fn pressure_acts_on_curved_edges() {
    let (e, nu, p) = (1e6, 0.3, 1e2);
    let at = |i: f64, j: f64| {
        // a rounded square, so that every edge of the outline is curved
        let (x, y) = (0.25 * i - 1.0, 0.25 * j - 1.0);
        [x * (1.0 - 0.2 * y * y), y * (1.0 - 0.2 * x * x)]
    };
    let body = made_of(bent("disc", [4, 4], at), Law::StVenantKirchhoff, e, nu);
    let (all, rest) = (select(&body, |_| true), body.rest.clone());
    let centre = select(&body, |q| q.norm() < 1e-9);
    let axis = select(&body, |q| q.y.abs() < 1e-9);
    let mut definition = in_dimension(Dimension::Two, body);
    definition.forces.push(pressed(all, p));
    definition.prescribed.push(PrescribedDef::new("centre", 0, centre, Motion::Fixed));
    definition.prescribed.push(held("axis", axis, Vec3::y()));
    let (simulation, _) = at_rest(definition);
    // plane strain: both strains are −p (1 + ν)(1 − 2ν)/E
    let strain = -p * (1.0 + nu) * (1.0 - 2.0 * nu) / e;
    for (x, q) in simulation.positions().iter().zip(&rest) {
        assert!((x - q - strain * q).norm() < 1e-3 * strain.abs(), "{q} {}", x - q);
    }
    let model = simulation.model();
    let mut half =
        in_dimension(Dimension::Two, made_of(bent("disc", [4, 4], at), Law::NeoHookean, e, nu));
    half.forces.push(pressed(select(&half.bodies[0], |q| q.y > 0.5), p));
    half.prescribed.push(PrescribedDef::new(
        "low",
        0,
        select(&half.bodies[0], |q| q.y < -0.5),
        Motion::Fixed,
    ));
    let (_, report) = at_rest(half);
    // over the top, whatever its shape, from the node in the middle of the uppermost edge of one side to that of the other; of these edges a half is loaded
    let [x, y, _] = report.forces.held["low"].force;
    let wide = 2.0 * (1.0 - 0.2 * 0.75 * 0.75);
    assert!((y / (wide * p) - 1.0).abs() < 1e-9 && x.abs() < 1e-9 * p, "{x} {y}");
    assert!(model.solids.len() == 32);
}

/// Blocks that meet keep their momentum, do not pass through each other, and have the same bits on any number of threads and after resuming.
#[test]
fn blocks_collide_without_a_penetration() {
    for dimension in [Dimension::Two, Dimension::Axisymmetric] {
        for integrator in [
            Integrator::ImplicitEuler,
            Integrator::Bdf2,
            Integrator::Newmark,
            Integrator::ImplicitMidpoint,
        ] {
            let block = |name: &str, low: f64, speed: f64, inner: f64| {
                let body =
                    grid(name, [3, 3], |i, j| [inner + 0.1 * i as f64, low + 0.1 * j as f64]);
                let mut body = curved(body);
                body.velocity = vec![speed * Vec3::y(); body.rest.len()];
                body
            };
            let bodies = vec![block("low", 0.0, 1.0, 0.0), block("high", 0.32, -0.3, 0.15)];
            let mut d = Definition { dimension, ..scene(bodies) };
            d.settings.time.integrator = integrator;
            d.settings.time.step = 0.005;
            d.settings.solver.end.velocity = Some(1e-7);
            let run = |threads: usize, interrupted: bool| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let mut simulation = Simulation::new(&d).unwrap();
                    let before =
                        energetics::linear_momentum(simulation.model(), simulation.state());
                    let mut contacts = 0;
                    for k in 0..14 {
                        if interrupted && k == 6 {
                            let state = simulation.state().clone();
                            simulation = Simulation::restore(&d, state).unwrap();
                        }
                        let report = simulation.step().unwrap();
                        assert!(report.outcome.is_success(), "{report:?}");
                        contacts += report.contacts;
                        let drift = (report.linear_momentum[1] - before.y).abs();
                        assert!(drift < 1e-5 * before.y.abs(), "{integrator:?} {drift}");
                        assert!(simulation.audit().is_empty());
                    }
                    assert!(contacts > 0);
                    let bits = simulation.positions().iter();
                    bits.flat_map(|p| [p.x, p.y].map(f64::to_bits)).collect()
                })
            };
            let one: Vec<u64> = run(1, false);
            assert!(run(2, false) == one, "threads change bits, {integrator:?}");
            assert!(run(1, true) == one, "resuming changes bits, {integrator:?}");
        }
    }
}

/// Solids that are crushed to a few hundredths of their height by plates do not invert, whatever their law; decomposed optimisation agrees.
#[test]
fn crushed_elements_do_not_invert() {
    for dimension in [Dimension::Two, Dimension::Axisymmetric] {
        for law in [Law::FixedCorotated, Law::NeoHookean] {
            let body = grid("solid", [4, 4], |i, j| [0.25 * i as f64, 0.25 * j as f64]);
            let body = made_of(curved(body), law.clone(), 1e5, 0.4);
            let (bottom, top) =
                (select(&body, |p| p.y < 1e-9), select(&body, |p| p.y > 1.0 - 1e-9));
            let mut d = in_dimension(dimension, body);
            d.prescribed.push(PrescribedDef::new("bottom", 0, bottom, Motion::Fixed));
            d.prescribed.push(slide("top", top, -0.96 * Vec3::y()));
            d.settings.time.step = 0.25;
            let mut simulation = Simulation::new(&d).unwrap();
            for _ in 0..4 {
                let report = simulation.step().unwrap();
                assert!(report.outcome.is_success(), "{dimension:?} {law:?} {report:?}");
                assert!(simulation.audit().is_empty());
            }
            let high = simulation.positions().iter().map(|x| x.y).fold(0.0, f64::max);
            assert!(high < 0.5, "{high}");
        }
    }
}

/// A linear and a quadratic body share a scene, rest on the ground with their weights, and decomposed optimisation finds the same.
#[test]
fn a_linear_and_a_quadratic_body_share_a_scene() {
    let made = |method: Method| {
        let block = |name: &str, left: f64| {
            grid(name, [3, 2], |i, j| [left + 0.1 * i as f64, 2e-3 + 0.1 * j as f64])
        };
        let bodies =
            vec![curved(block("curved", 0.0)), block("straight", 0.5), curved(block("other", 1.0))];
        let mut d = Definition { dimension: Dimension::Two, ..scene(bodies) };
        d.gravity = -9.81 * Vec3::y();
        d.half_spaces.push(ground(0.0));
        d.settings.solver.method = method;
        d.settings.solver.end.characteristic = Some(1e-9);
        d.settings.time.step = 0.02;
        let mut simulation = Simulation::new(&d).unwrap();
        for _ in 0..5 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{report:?}");
        }
        simulation
    };
    let [a, b] = [Method::Barrier, Method::Dot].map(made);
    assert!(difference(&a, &b) < 1e-5, "{}", difference(&a, &b));
    let masses: f64 = a.model().mass.iter().sum();
    assert!((masses - 3.0 * 0.06 * 1000.0).abs() < 1e-9, "{masses}");
    let volumes = a.model().solids.rest_volumes();
    assert_eq!(volumes.len(), 36);
    let bodies = &a.model().bodies;
    for body in bodies {
        let own: f64 = volumes[body.solids.clone()].iter().sum();
        assert!((own - 0.06).abs() < 1e-12, "{} {own}", body.name);
    }
}

/// The audit sees an element that is turned over within, whose nodes are in order, and one that reaches behind the axis between its nodes.
#[test]
fn the_audit_finds_what_is_turned_within() {
    let faults = |dimension: Dimension, change: &dyn Fn(&mut [Vec3], &[u32])| {
        let body = curved(grid("solid", [1, 1], |i, j| [0.5 + i as f64, j as f64]));
        let s = Simulation::new(&in_dimension(dimension, body)).unwrap();
        let mut x = s.positions().to_vec();
        change(&mut x, s.model().solids.vertices(0));
        let turned = |v: &Violation| matches!(v, Violation::TurnedWithin { .. });
        standoff_sim::audit::violations(s.model(), &x).iter().filter(|v| turned(v)).count()
    };
    for dimension in [Dimension::Two, Dimension::Axisymmetric] {
        assert_eq!(faults(dimension, &|_, _| {}), 0);
        // the middle of an edge nearer to an end than a quarter of it, and farther
        for (part, is_good) in [(0.2, false), (0.3, true)] {
            let found = faults(dimension, &|x, nodes| {
                let [a, b] = TRIANGLE_EDGES[0].map(|c| nodes[c] as usize);
                x[nodes[3] as usize] = x[a] + part * (x[b] - x[a]);
            });
            assert_eq!(found == 0, is_good, "{dimension:?} {part}");
        }
    }
    // an edge with its ends and its middle at 0.3, 0.001 and 0.001 m: behind the axis between these
    let behind = |x: &mut [Vec3], _: &[u32]| {
        for p in x.iter_mut().filter(|p| p.x < 0.6) {
            p.x = if p.y > 0.9 { 0.3 } else { 0.001 };
        }
    };
    assert_eq!(faults(Dimension::Two, &behind), 0);
    assert!(faults(Dimension::Axisymmetric, &behind) > 0);
}

/// Whatever crushes an element, along the axes or across them, in steps that are as long as they may be: what is left of it after each is proved to be
/// positive by the audit, down to a rest too small to matter.
#[test]
fn what_a_step_leaves_is_provable() {
    let random = &mut Random::new(71);
    let material = Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.4 };
    for k in 0..60 {
        let is_ring = k % 2 == 1;
        let corners =
            [Vec3::new(1.0, 0.0, 0.0), Vec3::new(1.02, 0.001, 0.0), Vec3::new(1.0, 0.01, 0.0)];
        let mut x: [Vec3; 6] = std::array::from_fn(|n| match n {
            0..3 => corners[n],
            _ => {
                let [a, b] = TRIANGLE_EDGES[n - 3].map(|c| corners[c]);
                let d = 3e-4 * random.vec3();
                0.5 * (a + b) + Vec3::new(d.x, d.y, 0.0)
            }
        });
        let element = QuadraticTriangle::new(&x, &material, is_ring, true).unwrap();
        let (sin, cos) = (0.4 * f64::from(k)).sin_cos();
        let across = Vec3::new(cos, sin, 0.0);
        let width = |x: &[Vec3]| {
            let all = x.iter().map(|p| across.dot(p));
            all.clone().fold(f64::MIN, f64::max) - all.fold(f64::MAX, f64::min)
        };
        let before = width(&x);
        for steps in 0..60 {
            // flat and beyond
            let centre = x.iter().sum::<Vec3>() / 6.0;
            let dx = x.map(|p| -1.5 * across * across.dot(&(p - centre)));
            let step = element.max_step(&x, &dx);
            x = std::array::from_fn(|n| x[n] + step * dx[n]);
            let bad = audit_curved_triangles(&[[0, 1, 2, 3, 4, 5]], &x, is_ring);
            assert!(bad.is_empty(), "{k}, step {steps}: {x:?}");
        }
        assert!(width(&x) < 1e-7 * before, "{k}: {} of {before}", width(&x));
    }
}

/// Rings that are thrown onto their axis close, and no part of them gets behind it.
#[test]
fn rings_thrown_onto_the_axis_stay_in_front_of_it() {
    let mut nearest = f64::INFINITY;
    for (k, speed) in [30.0, 100.0, 300.0].into_iter().enumerate() {
        let body = bent("ring", [2, 2], |i, j| {
            let (x, y) = (0.5 * i - 1.0, 0.5 * j - 1.0);
            [0.3 + 0.02 * x * (1.0 - 0.3 * y * y), 0.02 * y * (1.0 - 0.3 * x * x)]
        });
        let mut body =
            made_of(body, [Law::NeoHookean, Law::FixedCorotated][k % 2].clone(), 1e5, 0.4);
        body.velocity = vec![Vec3::new(-speed, 0.1 * speed, 0.0); body.rest.len()];
        let mut d = in_dimension(Dimension::Axisymmetric, body);
        d.settings.time.step = 0.01;
        d.settings.solver.end.max_iterations = 400;
        let mut s = Simulation::new(&d).unwrap();
        for step in 0..8 {
            let end = s.step();
            assert!(s.audit().is_empty(), "{speed} m/s, step {step}: {:?}", s.audit());
            nearest = s.positions().iter().map(|p| p.x).fold(nearest, f64::min);
            // what is too hard may end with a name, but not as a fault
            if let Err(error) = end {
                assert!(!error.to_string().contains("audit"), "{speed} m/s: {error}");
                break;
            }
        }
    }
    assert!(nearest < 0.05, "{nearest}");
}

/// Rings of all laws that are thrown at the axis close until their barrier holds them, and come out again: no step is left to the bound of the line search.
#[test]
fn rings_that_close_come_to_an_end() {
    let mut least = f64::INFINITY;
    for quadratic in [false, true] {
        for law in Law::ALL {
            let body = grid("ring", [3, 3], |i, j| [0.2 + 0.05 * i as f64, 0.05 * j as f64]);
            let mut body = made_of(of_order(quadratic, body), law.clone(), 2e5, 0.3);
            body.velocity = vec![Vec3::new(-40.0, 3.0, 0.0); body.rest.len()];
            let mut definition = in_dimension(Dimension::Axisymmetric, body);
            definition.settings.time.step = 0.01;
            let mut simulation = Simulation::new(&definition).unwrap();
            for step in 0..6 {
                let report = simulation.step();
                let report = report.unwrap_or_else(|e| panic!("{law:?} {quadratic} {step}: {e}"));
                assert!(report.outcome.is_success(), "{law:?} {step}: {:?}", report.outcome);
                assert!(simulation.audit().is_empty());
                least = simulation.positions().iter().map(|p| p.x).fold(least, f64::min);
            }
        }
    }
    assert!(least < 0.02, "{least}");
}

/// Random solids of any stiffness that hit each other and the ground at up to 200 m/s: however their steps end, nothing is turned over, and nothing meets.
#[test]
fn random_impacts_keep_the_guarantee() {
    let (seeds, mut converged, mut steps) = (if thorough() { 40 } else { 12 }, 0, 0);
    for seed in 0..seeds {
        let r = &mut Random::new(seed);
        let mut from = |low: f64, high: f64| low + (high - low) * r.unit();
        let dimension = if seed % 2 == 0 { Dimension::Two } else { Dimension::Axisymmetric };
        let left = if seed % 2 == 0 { 0.0 } else { 1.2 };
        let (mut bodies, mut low) = (Vec::new(), 0.02);
        for k in 0..3 {
            let size = 10.0_f64.powf(from(-1.5, 0.0));
            let (cells, shift) =
                ([1 + (from(0.0, 3.0) as usize), 1 + (from(0.0, 2.0) as usize)], from(-0.1, 0.1));
            let centre = [left + shift * size, low + 0.5 * size];
            let body = bent(&format!("b{k}"), cells, |i, j| {
                let x = i / cells[0] as f64 - 1.0;
                let y = j / cells[1] as f64 - 1.0;
                // a disc that is made of a square
                let [u, v] = [x * (1.0 - 0.5 * y * y).sqrt(), y * (1.0 - 0.5 * x * x).sqrt()];
                [centre[0] + 0.5 * size * u, centre[1] + 0.5 * size * v]
            });
            let law = [Law::NeoHookean, Law::FixedCorotated, Law::StableNeoHookean][k].clone();
            let mut body = made_of(body, law, 10.0_f64.powf(from(3.0, 9.0)), from(0.0, 0.499));
            let speed = 10.0_f64.powf(from(-1.0, 2.3));
            body.velocity = vec![Vec3::new(0.0, -speed, 0.0); body.rest.len()];
            bodies.push(body);
            low += 1.2 * size;
        }
        let mut d = Definition { dimension, ..scene(bodies) };
        d.half_spaces.push(ground(0.0));
        d.settings.time.step = 0.02;
        d.settings.time.integrator =
            [Integrator::Bdf2, Integrator::Newmark][(seed / 2 % 2) as usize];
        d.settings.solver.end.max_iterations = 150;
        let mut s = Simulation::new(&d).unwrap();
        for step in 0..4 {
            let end = s.step();
            assert!(s.audit().is_empty(), "{seed}, step {step}: {:?}", s.audit());
            steps += 1;
            match end {
                Ok(report) => converged += usize::from(report.outcome.is_success()),
                Err(error) => {
                    assert!(!error.to_string().contains("audit"), "{seed}: {error}");
                    break;
                }
            }
        }
    }
    println!("{converged} of {steps} steps converged");
    assert!(2 * converged > steps, "{converged} of {steps}");
}

#[test]
fn bad_elements_and_nodes_are_named() {
    let problem = |change: &dyn Fn(&mut BodyDef)| {
        let mut body = curved(grid("solid", [1, 1], |i, j| [i as f64, j as f64]));
        change(&mut body);
        match Simulation::new(&in_dimension(Dimension::Two, body)) {
            Err(BuildError::Body { body, problem }) => {
                assert_eq!(body, "solid");
                problem
            }
            other => panic!("{:?}", other.err()),
        }
    };
    let of = |body: &mut BodyDef, change: &dyn Fn(&mut Vec<[u32; 3]>)| {
        if let BodyKind::PlaneStrain { middles, .. } = &mut body.kind {
            change(middles);
        }
    };
    let missing = problem(&|b| of(b, &|m| m.truncate(1)));
    assert!(missing.contains("middles of edges for 1 of 2 triangles"), "{missing}");
    let twice = problem(&|b| of(b, &|m| m[0][1] = m[0][0]));
    assert!(twice.contains("vertex 4 is the middle of two edges"), "{twice}");
    let far = problem(&|b| of(b, &|m| m[0][0] = 99));
    assert!(far.contains("99"), "{far}");
    let bent = problem(&|b| b.rest[4].x += 0.3);
    assert!(
        bent.contains("quadratic triangle 0 (corners [0, 2, 3])") && bent.contains("at rest"),
        "{bent}"
    );
    let start = problem(&|b| {
        b.start = b.rest.clone();
        b.start[4].x += 0.3;
    });
    assert!(start.contains("at the start"), "{start}");
}

/// A disc pressed on a plane has the pressure of Hertz's line contact in the middle and the force on the plane of the push.
#[test]
fn line_contact_has_the_pressure_of_hertz() {
    let (radius, e, nu) = (1.0, 1e6, 0.3);
    let n = if thorough() { 48 } else { 32 };
    // the lower half of a disc, finer towards the contact
    let at = |i: f64, j: f64| {
        let (s, up) = (i / (2 * n) as f64, j / (2 * n) as f64);
        let angle = -FRAC_PI_2 + 0.5 * PI * (s - 0.5) * (0.25 + 3.0 * (s - 0.5) * (s - 0.5));
        let r = radius * (1.0 - up * (0.08 + 0.72 * up));
        [r * angle.cos(), r * angle.sin()]
    };
    let body = made_of(bent("disc", [n, n / 2], |i, j| at(i, 2.0 * j)), Law::NeoHookean, e, nu);
    let inner = select(&body, |p| p.norm() < 0.2 * radius + 1e-9);
    let mut d = in_dimension(Dimension::Two, body);
    d.half_spaces.push(ground(-radius - 1e-4));
    d.prescribed.push(slide("core", inner, -6e-3 * Vec3::y()));
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = 1.0;
    d.settings.contact.d_hat = Some(2e-4);
    let mut s = Simulation::new(&d).unwrap();
    let report = s.step().unwrap();
    assert!(report.outcome.is_success(), "{report:?}");
    let force = -report.forces.half_spaces["ground"].force[1];
    let plane = e / (1.0 - nu * nu);
    let (width, peak) =
        ((4.0 * force * radius / (PI * plane)).sqrt(), (force * plane / (PI * radius)).sqrt());
    // the pressure by the stress at vertices of the outline
    let found = s.recovered_stresses().stress;
    let rest = &s.model().rest;
    let near: Vec<usize> = (0..rest.len())
        .filter(|&v| {
            (rest[v].norm() - radius).abs() < 1e-9 && s.positions()[v].x.abs() < 0.7 * width
        })
        .collect();
    let errors = near.iter().map(|&v| {
        let hertz = peak * (1.0 - (s.positions()[v].x / width).powi(2)).sqrt();
        (-found[v][(1, 1)] - hertz) / peak
    });
    let worst = errors.map(f64::abs).fold(0.0, f64::max);
    println!(
        "force {force:.4e}, half-width {width:.4}, {} nodes within it, worst {worst:.4}",
        near.len()
    );
    assert!(near.len() > 9 && worst < 0.035, "{} {worst}", near.len());
}

/// Mean of F of an element, and what the model says of it.
#[test]
fn means_are_over_the_element() {
    let body = curved(grid("solid", [2, 2], |i, j| [0.5 + 0.5 * i as f64, 0.5 * j as f64]));
    let s = Simulation::new(&in_dimension(Dimension::Axisymmetric, body)).unwrap();
    let solids = &s.model().solids;
    let x: Vec<Vec3> =
        s.positions().iter().map(|p| Vec3::new(p.x * (1.0 + 0.1 * p.x), p.y, 0.0)).collect();
    let points = solids.gradients_at_points(&x);
    assert_eq!(points.len(), 3 * solids.len());
    for e in 0..solids.len() {
        assert_eq!(solids.points_of(e), 3 * e..3 * e + 3);
        let mean: Mat3 = solids.deformation_gradient(e, &x);
        let own = &points[solids.points_of(e)];
        let [low, high] =
            [f64::min, f64::max].map(|f| own.iter().map(|f| f[(2, 2)]).fold(own[0][(2, 2)], f));
        assert!(low < mean[(2, 2)] && mean[(2, 2)] < high);
        assert!(solids.volume_ratio(e, &x) > 1.0);
    }
}
