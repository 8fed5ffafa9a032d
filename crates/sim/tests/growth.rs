//! Solids that grow, as by heat, against closed forms.

use crate::common::{block, difference, grid, scene};
use standoff_geometry::quadratic::add_middles;
use standoff_linalg::Vec3;
use standoff_sim::definition::expression::Expression;
use standoff_sim::definition::{
    BodyDef, BodyKind, Definition, Dimension, FibreFamily, Motion, Pivot, PrescribedDef, SolidPart,
};
use standoff_sim::material::fibres::{FibreDirection, FibreLaw};
use standoff_sim::material::inelastic::{Inelasticity, Plasticity, Relaxation};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::{Integrator, Method};
use standoff_sim::{Simulation, StepError};

const MATERIAL: Material =
    Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.3 };

fn strain(text: &str) -> Option<Expression> {
    Some(Expression::parse(text).unwrap())
}

fn select(body: &BodyDef, wanted: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|v| wanted(&body.rest[*v as usize])).collect()
}

fn held(name: &str, vertices: Vec<u32>, k: usize) -> PrescribedDef {
    let along = vec![Vec3::ith(k, 1.0)];
    PrescribedDef { along, ..PrescribedDef::new(name, 0, vertices, Motion::Fixed) }
}

/// A kind of element.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Linear,
    Quadratic,
    Revolved,
}

/// A body of 2 × 1 (× 1) m that keeps to its planes of symmetry, or one of revolution on its lower end; in quasi-static steps of 1 s.
fn bar(kind: Kind, growth: &str) -> Definition {
    let mut body = match kind {
        Kind::Revolved => grid("bar", [3, 3], |i, j| [2.0 / 3.0 * i as f64, j as f64 / 3.0]),
        _ => block("bar", [0.0; 3], [2, 1, 1], 1.0),
    };
    match &mut body.kind {
        BodyKind::Volume { material, tets, middles, .. } => {
            *material = MATERIAL;
            if kind == Kind::Quadratic {
                add_middles(tets, middles, &mut body.rest);
            }
        }
        BodyKind::PlaneStrain { material, .. } => *material = MATERIAL,
        _ => unreachable!(),
    }
    body.growth = strain(growth);
    let sets = [0, 1, 2].map(|k| select(&body, |p| p[k] < 1e-9));
    let mut d = scene(vec![body]);
    if kind == Kind::Revolved {
        d.dimension = Dimension::Axisymmetric;
    }
    statics(&mut d);
    for (k, set) in sets.into_iter().enumerate() {
        if kind != Kind::Revolved || k == 1 {
            d.prescribed.push(held(["x", "y", "z"][k], set, k));
        }
    }
    d
}

fn statics(d: &mut Definition) {
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = 1.0;
    d.settings.contact.enabled = false;
    d.settings.solver.end.velocity = Some(1e-11);
    d.settings.solver.end.forces = Some(1e-10);
}

/// The greatest distance of vertices from `g` times their place at rest.
fn off(simulation: &Simulation, g: f64) -> f64 {
    let rest = &simulation.model().rest;
    let pairs = simulation.positions().iter().zip(rest);
    pairs.map(|(x, p)| (x - p * g).norm()).fold(0.0, f64::max)
}

/// What is free grows without stress, whatever relaxes in it or reinforces it, and its strain is that of its growth.
#[test]
fn what_is_free_grows_without_stress() {
    for kind in [Kind::Linear, Kind::Quadratic, Kind::Revolved] {
        for more in 0..3 {
            let mut d = bar(kind, "0.2*t - 0.5*max(t - 2, 0)");
            let relaxation = Relaxation { ratio: 0.4, time: 2.0 };
            match more {
                1 => d.bodies[0].inelastic = vec![Inelasticity::Relaxing(relaxation)],
                2 => {
                    let direction = FibreDirection::Along(Vec3::new(1.0, 0.5, 0.0));
                    let law = FibreLaw { stiffness: 3e4, exponent: 2.0 };
                    d.bodies[0].fibres = vec![FibreFamily { direction, law, tension: None }];
                }
                _ => {}
            }
            let mut simulation = Simulation::new(&d).unwrap();
            for g in [1.2_f64, 1.4, 1.1, 0.8] {
                let report = simulation.step().unwrap();
                assert!(report.outcome.is_success(), "{kind:?} {more} {report:?}");
                let error = off(&simulation, g);
                assert!(error < 1e-8, "{kind:?} {more} {g}: {error:e}");
                for stress in simulation.stresses() {
                    assert!(stress.norm() < 1e-6 * 1e5, "{kind:?} {more} {g}: {stress}");
                }
                for strain in simulation.strains() {
                    let error = strain - standoff_linalg::Mat3::identity() * g.ln();
                    assert!(error.norm() < 1e-7, "{kind:?} {g}: {strain}");
                }
                assert!(report.elastic_energy.abs() < 1e-6, "{}", report.elastic_energy);
                // against inversion, too, elements are at rest
                let (solids, x) = (&simulation.model().solids, simulation.positions());
                for ratio in (0..solids.len()).map(|e| solids.volume_ratio(e, x)) {
                    assert!((ratio - 1.0).abs() < 1e-7, "{kind:?} {more} {g}: {ratio}");
                }
            }
        }
    }
}

/// First Piola–Kirchhoff stress of the law at principal stretches, along the first.
fn along(s: [f64; 3]) -> f64 {
    let ln_j = (s[0] * s[1] * s[2]).ln();
    MATERIAL.mu() * (s[0] - 1.0 / s[0]) + MATERIAL.lambda() * ln_j / s[0]
}

/// The root of a function that rises from `low` to `high`.
fn root(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if f(middle) > 0.0 { high = middle } else { low = middle }
    }
    low
}

/// A bar between walls that grows by a fifth of its length: its elastic stretch along is 1/g, and it presses with g² times the stress of
/// the law.
#[test]
fn a_bar_between_walls_presses_on_them() {
    let g = 1.2;
    // elastic stretch across
    let a = root(0.5, 2.0, |a| along([a, 1.0 / g, a]));
    let force = g * g * along([1.0 / g, a, a]);
    for kind in [Kind::Linear, Kind::Quadratic] {
        let mut d = bar(kind, "0.2*t");
        let end = select(&d.bodies[0], |p| p.x > 2.0 - 1e-9);
        d.prescribed.push(held("end", end, 0));
        let mut simulation = Simulation::new(&d).unwrap();
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
        let found = report.forces.held["end"].force[0];
        assert!((found - force).abs() < 1e-7 * 1e5, "{kind:?}: {found} {force}");
        let wide = simulation.positions().iter().map(|x| x.y).fold(0.0, f64::max);
        assert!((wide - g * a).abs() < 1e-8, "{kind:?}: {wide} {}", g * a);
        let cauchy = force / (g * a).powi(2);
        for stress in simulation.stresses() {
            assert!((stress[(0, 0)] - cauchy).abs() < 1e-6 * 1e5, "{kind:?} {stress} {cauchy}");
            assert!(stress[(1, 1)].abs() < 1e-6 * 1e5, "{kind:?} {stress}");
        }
    }
}

/// Under plane strain the depth is held: what grows is pressed along it, and wider for that.
#[test]
fn under_plane_strain_the_depth_is_held() {
    let g = 1.1;
    let a = root(0.5, 2.0, |a| along([a, a, 1.0 / g]));
    let mut body = grid("plate", [3, 2], |i, j| [0.5 * i as f64, 0.5 * j as f64]);
    if let BodyKind::PlaneStrain { material, .. } = &mut body.kind {
        *material = MATERIAL;
    }
    body.growth = strain("0.1*t");
    let sets = [0, 1].map(|k| select(&body, |p| p[k] < 1e-9));
    let mut d = Definition { dimension: Dimension::Two, ..scene(vec![body]) };
    statics(&mut d);
    for (k, set) in sets.into_iter().enumerate() {
        d.prescribed.push(held(["x", "y"][k], set, k));
    }
    let mut simulation = Simulation::new(&d).unwrap();
    let report = simulation.step().unwrap();
    assert!(report.outcome.is_success(), "{report:?}");
    let error = off(&simulation, g * a);
    assert!(error < 1e-8, "{error:e}");
    // over the area g² a² of the deformed plate
    let depth = along([1.0 / g, a, a]) / (a * a);
    for stress in simulation.stresses() {
        assert!((stress[(2, 2)] - depth).abs() < 1e-6 * 1e5, "{stress} {depth}");
        assert!(stress[(0, 0)].abs() < 1e-6 * 1e5, "{stress}");
    }
}

/// A shaft that is δ too thick for its hub: it grows within it, between ends that do not move. The greatest error of the displacements by the greatest
/// one, and of the pressure between the two.
fn shrink_fit(n: usize) -> (f64, f64) {
    let (a, b, eps) = (1.0, 2.0, 1e-6);
    let mut body = grid("fit", [2 * n, 1], |i, j| [b * i as f64 / (2 * n) as f64, 0.05 * j as f64]);
    let BodyKind::PlaneStrain { material, triangles, density, .. } = &mut body.kind else {
        unreachable!()
    };
    *material = MATERIAL;
    let inner = |t: &[u32; 3]| t.iter().all(|v| body.rest[*v as usize].x < a + 1e-9);
    let elements: Vec<u32> =
        (0..triangles.len() as u32).filter(|t| inner(&triangles[*t as usize])).collect();
    body.parts = vec![SolidPart {
        name: "shaft".into(),
        elements: elements.clone(),
        density: *density,
        material: MATERIAL,
        inelastic: Vec::new(),
        fibres: Vec::new(),
        growth: strain(&format!("{eps}*t")),
    }];
    let (all, rest) = (select(&body, |_| true), body.rest.clone());
    let mut d = Definition { dimension: Dimension::Axisymmetric, ..scene(vec![body]) };
    statics(&mut d);
    d.settings.solver.end.velocity = Some(1e-13);
    d.settings.solver.end.forces = Some(1e-7);
    d.prescribed.push(held("ends", all, 1));
    let mut simulation = Simulation::new(&d).unwrap();
    let report = simulation.step().unwrap();
    assert!(report.outcome.is_success(), "{report:?}");
    let (e, nu) = (MATERIAL.young_modulus, MATERIAL.poisson_ratio);
    // [Timoshenko and Goodier 1970, §28 and §135] under plane strain: the free shaft would widen by (1 + ν) ε a
    let ring = (b * b - a * a).recip();
    let give = (1.0 + nu) / e * (1.0 - 2.0 * nu + ((1.0 - 2.0 * nu) * a * a + b * b) * ring);
    let p = (1.0 + nu) * eps / give;
    let outside = |r: f64| (1.0 + nu) / e * p * a * a * ring * ((1.0 - 2.0 * nu) * r + b * b / r);
    let u = |r: f64| if r < a { outside(a) * r / a } else { outside(r) };
    let pairs = simulation.positions().iter().zip(&rest);
    let error = pairs.map(|(x, q)| (x.x - q.x - u(q.x)).abs()).fold(0.0, f64::max) / u(a);
    let stresses = simulation.stresses();
    let worst = elements.iter().map(|e| (stresses[*e as usize][(0, 0)] / -p - 1.0).abs());
    (error, worst.fold(0.0, f64::max))
}

#[test]
fn a_shaft_presses_on_its_hub_as_lame_says() {
    let errors = [8, 16, 32].map(shrink_fit);
    println!("{errors:?}");
    let [_, (middle, _), (fine, pressure)] = errors;
    assert!(fine < 1e-3 && fine < 0.5 * middle, "{errors:?}");
    assert!(pressure < 1e-2, "{errors:?}");
}

/// Whatever draws in what grows: without loads the shape is g times that without growth, since nothing else has a length.
#[test]
fn muscles_in_what_grows_draw_as_in_what_does_not() {
    let drawn = |growth: &str| {
        let mut d = bar(Kind::Linear, growth);
        let direction = FibreDirection::Along(Vec3::new(1.0, 0.2, 0.0));
        let law = FibreLaw { stiffness: 2e4, exponent: 1.0 };
        let tension = strain("3e4*t");
        d.bodies[0].fibres = vec![FibreFamily { direction, law, tension }];
        let mut simulation = Simulation::new(&d).unwrap();
        assert!(simulation.step().unwrap().outcome.is_success());
        simulation
    };
    let (plain, grown) = (drawn("0"), drawn("0.3*t"));
    let pairs = plain.positions().iter().zip(grown.positions());
    let error = pairs.map(|(x, y)| (x * 1.3 - y).norm()).fold(0.0, f64::max);
    assert!(error < 1e-7 && off(&plain, 1.0) > 0.05, "{error:e}");
    for (a, b) in plain.stresses().iter().zip(grown.stresses()) {
        assert!((a - b).norm() < 1e-6 * 1e5, "{a} {b}");
    }
}

/// What has grown is what is larger at rest, whatever it is made of: with the same start and the same motion of an end, over steps in which it relaxes or yields.
#[test]
fn what_has_grown_is_what_is_larger_at_rest() {
    let plasticity = Plasticity {
        yield_stress: 2e3,
        hardening_modulus: 1e4,
        kinematic_modulus: 0.0,
        saturation_stress: None,
        saturation_rate: None,
    };
    let direction = FibreDirection::Along(Vec3::new(1.0, 0.5, 0.0));
    let law = FibreLaw { stiffness: 3e4, exponent: 2.0 };
    let drawing = FibreFamily { direction, law, tension: strain("1e3*t") };
    let made = |kind: Kind, what: &str, is_larger: bool| {
        let mut d = bar(kind, if is_larger { "0" } else { "0.25" });
        let body = &mut d.bodies[0];
        match what {
            "relaxing" => {
                let relaxation = Relaxation { ratio: 0.4, time: 2.0 };
                body.inelastic = vec![Inelasticity::Relaxing(relaxation)];
            }
            "yielding" => body.inelastic = vec![Inelasticity::Yielding(plasticity)],
            "fibres" => body.fibres = vec![drawing.clone()],
            _ => {}
        }
        if let BodyKind::Volume { material, .. } | BodyKind::PlaneStrain { material, .. } =
            &mut body.kind
        {
            material.law = match what {
                // needs a barrier against inversion
                "crushed" => Law::FixedCorotated,
                "yielding" => Law::Volumetric,
                _ => Law::NeoHookean,
            };
        }
        let k = if kind == Kind::Revolved { 1 } else { 0 };
        let length = body.rest.iter().map(|p| p[k]).fold(0.0, f64::max);
        let end = select(body, |p| p[k] > length - 1e-9);
        body.start = body.rest.iter().map(|p| 1.25 * p).collect();
        if is_larger {
            body.rest = std::mem::take(&mut body.start);
        }
        let velocity = if what == "crushed" { -0.25 } else { 0.15 } * length;
        let linear = velocity * Vec3::ith(k, 1.0);
        let (angular, pivot) = (Vec3::zeros(), Pivot::StartCentre);
        let motion = Motion::Rigid { linear, angular, pivot };
        let along = vec![Vec3::ith(k, 1.0)];
        d.prescribed.push(PrescribedDef { along, ..PrescribedDef::new("end", 0, end, motion) });
        let mut simulation = Simulation::new(&d).unwrap();
        let reports = [(); 2].map(|()| simulation.step().unwrap());
        assert!(reports.iter().all(|r| r.outcome.is_success()), "{kind:?} {what} {reports:?}");
        (simulation, reports)
    };
    for kind in [Kind::Linear, Kind::Quadratic, Kind::Revolved] {
        for what in ["plain", "relaxing", "yielding", "fibres", "crushed"] {
            let [(grown, a), (larger, b)] = [false, true].map(|larger| made(kind, what, larger));
            let error = difference(&grown, &larger);
            assert!(error < 1e-7, "{kind:?} {what}: {error:e}");
            for (a, b) in grown.stresses().iter().zip(larger.stresses()) {
                assert!((a - b).norm() < 1e-6 * 1e5, "{kind:?} {what}: {a} {b}");
            }
            for (a, b) in a.iter().zip(&b) {
                let [a, b] = [a, b].map(|r| r.elastic_energy);
                assert!((a - b).abs() < 1e-6 * b.abs(), "{kind:?} {what}: {a} {b}");
            }
        }
    }
}

/// A free cube grows in motion: it ends at rest at its new size with damping, without momentum, with every integrator that has growth.
#[test]
fn integrators_have_growth() {
    for integrator in [Integrator::ImplicitEuler, Integrator::Bdf2, Integrator::Newmark] {
        let mut d = bar(Kind::Linear, "0.1*min(t/0.05, 1)");
        d.prescribed.clear();
        let mut settings = Definition::default().settings;
        settings.time.integrator = integrator;
        settings.time.step = 0.01;
        settings.time.stiffness_damping = 0.1;
        settings.contact.enabled = false;
        settings.solver.end.velocity = Some(1e-9);
        d.settings = settings;
        let mut simulation = Simulation::new(&d).unwrap();
        for _ in 0..300 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{integrator:?} {report:?}");
            let momentum = Vec3::from(report.linear_momentum).norm();
            assert!(momentum < 1e-7, "{integrator:?}: {momentum:e}");
        }
        let rest = &simulation.model().rest;
        let mid = |x: &[Vec3]| x.iter().sum::<Vec3>() / x.len() as f64;
        let (centre, middle) = (mid(simulation.positions()), mid(rest));
        let pairs = simulation.positions().iter().zip(rest);
        let error = pairs.map(|(x, p)| (x - centre - (p - middle) * 1.1).norm());
        let error = error.fold(0.0, f64::max);
        assert!(error < 1e-4, "{integrator:?}: {error:e}");
    }
}

/// What continues from a state has the bits of what was never interrupted, also where a step failed.
#[test]
fn a_run_goes_on_with_the_same_bits() {
    let d = bar(Kind::Linear, "0.1*t + 0.2*sqrt(3.5 - t)");
    let mut whole = Simulation::new(&d).unwrap();
    whole.step().unwrap();
    let state = whole.state().clone();
    whole.step().unwrap();
    let mut again = Simulation::restore(&d, state.clone()).unwrap();
    again.step().unwrap();
    assert_eq!(again.positions(), whole.positions());
    assert_eq!(again.stresses(), whole.stresses());
    // by the fourth step the root has no value
    whole.step().unwrap();
    let (x, stresses) = (whole.positions().to_vec(), whole.stresses());
    let error = whole.step().unwrap_err();
    assert!(matches!(error, StepError::NotFinite { .. }), "{error}");
    assert!(error.to_string().contains("growth"), "{error}");
    assert_eq!((whole.positions(), whole.stresses()), (&x[..], stresses));
    whole.set_state(state).unwrap();
    whole.step().unwrap();
    assert_eq!(whole.positions(), again.positions());
    whole.reset();
    assert_eq!(whole.stresses(), Simulation::new(&d).unwrap().stresses());
}

/// Where a step fails, elements have again the size of the state from which it began.
#[test]
fn a_failed_step_grows_nothing() {
    let mut d = bar(Kind::Linear, "0.1*t + 0.1");
    d.settings.solver.end.max_step_time = Some(1e-9);
    let mut simulation = Simulation::new(&d).unwrap();
    let before = simulation.stresses();
    assert!(before.iter().all(|s| s.norm() > 1e3));
    let error = simulation.step().unwrap_err();
    assert!(matches!(error, StepError::TimeLimit { .. }), "{error}");
    assert_eq!(simulation.stresses(), before);
}

/// All contact solvers do the same as Newton's method.
#[test]
fn all_contact_solvers_have_growth() {
    let after = |method: Method| {
        let mut d = bar(Kind::Linear, "0.2*t");
        d.settings.solver.method = method;
        if method == Method::Dot {
            d.settings.solver.end = Default::default();
            d.settings.solver.end.characteristic = Some(1e-9);
        }
        // "dot" holds vertices in all directions
        let ends = select(&d.bodies[0], |p| p.x < 1e-9 || p.x > 2.0 - 1e-9);
        d.prescribed = vec![PrescribedDef::new("ends", 0, ends, Motion::Fixed)];
        let mut simulation = Simulation::new(&d).unwrap();
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{method:?} {report:?}");
        simulation
    };
    let newton = after(Method::Barrier);
    for method in [Method::Dot, Method::BarrierFree] {
        let error = difference(&after(method), &newton);
        assert!(error < 1e-6, "{method:?} {error:e}");
    }
}

#[test]
fn growth_is_refused_where_nothing_has_it() {
    let fault = |change: &dyn Fn(&mut Definition)| {
        let mut d = bar(Kind::Linear, "0.1*t");
        d.settings = Definition::default().settings;
        d.settings.contact.enabled = false;
        change(&mut d);
        Simulation::new(&d).map(|_| ()).unwrap_err().to_string()
    };
    let text = fault(&|d| d.settings.time.integrator = Integrator::ImplicitMidpoint);
    assert!(text.contains("grows") && text.contains("time.integrator"), "{text}");
    for method in [Method::LbfgsPd, Method::AdmmPd] {
        let text = fault(&|d| d.settings.solver.method = method);
        assert!(text.contains("grows") && text.contains("solver.method"), "{text}");
    }
    let text = fault(&|d| {
        d.bodies[0].kind = BodyKind::Particles { points: vec![0], radius: 0.1, density: 1.0 };
        d.prescribed.clear();
    });
    assert!(text.contains("only solids grow"), "{text}");
}
