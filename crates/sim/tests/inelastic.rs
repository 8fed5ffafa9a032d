//! Solids that relax or yield, against closed forms.

use crate::common::{block, ground, scene};
use standoff_geometry::quadratic::add_middles;
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::{BodyDef, BodyKind, Definition, Dimension, Motion, PrescribedDef};
use standoff_sim::material::inelastic::{Inelasticity, Plasticity, Relaxation};
use standoff_sim::material::rubber::{Rubber, bulk_modulus};
use standoff_sim::material::{Law, Material, von_mises};
use standoff_sim::report::StepOutcome;
use standoff_sim::settings::{Integrator, Method};
use standoff_sim::{BuildError, Simulation};

/// Aluminium.
const METAL: Material = Material { law: Law::Volumetric, young_modulus: 70e9, poisson_ratio: 0.33 };

const HARDENING: Plasticity = Plasticity {
    yield_stress: 150e6,
    hardening_modulus: 1e9,
    kinematic_modulus: 0.0,
    saturation_stress: Some(220e6),
    saturation_rate: Some(80.0),
};

fn made_of(mut body: BodyDef, of: &Material, inelastic: Vec<Inelasticity>) -> BodyDef {
    match &mut body.kind {
        BodyKind::Volume { material, .. } | BodyKind::PlaneStrain { material, .. } => {
            *material = of.clone();
        }
        _ => unreachable!("a solid"),
    }
    body.inelastic = inelastic;
    body
}

fn quadratic(mut body: BodyDef) -> BodyDef {
    if let BodyKind::Volume { tets, middles, .. } = &mut body.kind {
        add_middles(tets, middles, &mut body.rest);
    }
    body
}

fn select(body: &BodyDef, wanted: impl Fn(&Vec3) -> bool) -> Vec<u32> {
    (0..body.rest.len() as u32).filter(|v| wanted(&body.rest[*v as usize])).collect()
}

/// Positions step by step, for vertices that move as `at` says.
fn sequence(
    body: &BodyDef,
    vertices: &[u32],
    steps: usize,
    at: impl Fn(usize, &Vec3) -> Vec3,
) -> Motion {
    let frame = |k| vertices.iter().map(|v| at(k, &body.rest[*v as usize])).collect();
    Motion::Sequence { frames: (1..=steps).map(frame).collect() }
}

/// A bar of 2 × 1 × 1 m on three symmetry planes, whose end is moved step by step to these logarithmic strains.
fn pulled(body: BodyDef, strains: &[f64], h: f64) -> Definition {
    let sets = [0, 1, 2].map(|k| select(&body, |p| p[k] < 1e-9));
    let end = select(&body, |p| p.x > 2.0 - 1e-9);
    let motion = sequence(&body, &end, strains.len(), |k, p| {
        let strain = if k == 0 { 0.0 } else { strains[k - 1] };
        Vec3::new(2.0 * strain.exp(), p.y, p.z)
    });
    let mut d = scene(vec![body]);
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = h;
    d.settings.time.end = h * strains.len() as f64;
    d.settings.contact.enabled = false;
    for (k, set) in sets.into_iter().enumerate() {
        let along = vec![Vec3::ith(k, 1.0)];
        let name = ["x", "y", "z"][k];
        d.prescribed
            .push(PrescribedDef { along, ..PrescribedDef::new(name, 0, set, Motion::Fixed) });
    }
    let along = vec![Vec3::x()];
    d.prescribed.push(PrescribedDef { along, ..PrescribedDef::new("end", 0, end, motion) });
    d
}

/// Kirchhoff stress along x of all elements, which is the same to `tolerance`, Pa.
fn axial(simulation: &Simulation, tolerance: f64) -> f64 {
    let (stresses, strains) = (simulation.stresses(), simulation.strains());
    let all: Vec<f64> =
        stresses.iter().zip(&strains).map(|(s, e)| s[(0, 0)] * e.trace().exp()).collect();
    let (low, high) =
        all.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &s| (l.min(s), h.max(s)));
    assert!(high - low <= tolerance, "{low} to {high}");
    all[0]
}

/// Stress and plastic strain of a bar in tension and compression, one dimension alone.
#[derive(Default)]
struct Bar {
    plastic: f64,
    alpha: f64,
    /// The stress about which it yields.
    back: f64,
}

impl Bar {
    fn stress(&mut self, e: f64, plasticity: &Plasticity, strain: f64) -> f64 {
        let h = plasticity.kinematic_modulus;
        let trial = e * (strain - self.plastic) - self.back;
        let (mut low, mut high) = (0.0, strain.abs() + 1.0);
        let over =
            |more: f64| trial.abs() - (e + h) * more - plasticity.strength(self.alpha + more);
        if over(0.0) <= 0.0 {
            return trial + self.back;
        }
        for _ in 0..200 {
            let mid = 0.5 * (low + high);
            if over(mid) > 0.0 { low = mid } else { high = mid }
        }
        self.alpha += low;
        self.plastic += low * trial.signum();
        self.back += h * low * trial.signum();
        e * (strain - self.plastic)
    }
}

/// Tension, unloading, compression and tension again: stress, plastic strain, reaction and heat.
#[test]
fn a_metal_bar_yields_hardens_and_unloads_as_in_one_dimension() {
    let up = (1..=10).map(|k| 0.003 * k as f64);
    let down = (1..=15).map(|k| 0.03 - 0.003 * k as f64);
    let strains: Vec<f64> =
        up.chain(down).chain((1..=5).map(|k| -0.015 + 0.004 * k as f64)).collect();
    let kinematic = Plasticity { kinematic_modulus: 4e9, ..HARDENING };
    for (second_order, method, plasticity) in [
        (false, Method::Barrier, HARDENING),
        (true, Method::Barrier, HARDENING),
        (false, Method::BarrierFree, HARDENING),
        (true, Method::Barrier, kinematic),
    ] {
        let body = block("bar", [0.0; 3], [2, 1, 1], 1.0);
        let body = made_of(body, &METAL, vec![Inelasticity::Yielding(plasticity)]);
        let body = if second_order { quadratic(body) } else { body };
        let mut d = pulled(body, &strains, 1.0);
        d.settings.solver.method = method;
        // the barrier-free method takes the end along by 99.9 % of its displacement or more
        let tolerance = if method == Method::Barrier { 1e-6 } else { 4e-3 };
        let mut simulation = Simulation::new(&d).unwrap();
        let (mut bar, mut heat, mut expected_heat) = (Bar::default(), 0.0, 0.0);
        for &strain in &strains {
            let report = simulation.step().unwrap();
            assert_eq!(report.outcome, StepOutcome::Converged);
            let before = bar.alpha;
            let expected = bar.stress(METAL.young_modulus, &plasticity, strain);
            let found = axial(&simulation, tolerance * 150e6);
            assert!(
                (found - expected).abs() < 2.0 * tolerance * 150e6,
                "{strain}: {found} {expected}"
            );
            let alpha = simulation.plastic_strains();
            assert!(alpha.iter().all(|a| (a - bar.alpha).abs() < 0.01 * tolerance), "{alpha:?}");
            // the area grows with the stress across, which is none: J = exp(τ (1 − 2ν)/E)
            let j = (found * (1.0 - 2.0 * METAL.poisson_ratio) / METAL.young_modulus).exp();
            let area = 2.0 * j / (2.0 * strain.exp());
            let force = report.forces.held["end"].force[0];
            assert!((force - expected / j * area).abs() < 3.0 * tolerance * 150e6, "{force}");
            heat += report.inelastic_heat.unwrap();
            expected_heat += 2.0 * plasticity.work(before, bar.alpha - before);
        }
        assert!(bar.alpha > 0.07 && bar.alpha < 0.1, "{}", bar.alpha);
        assert!((heat / expected_heat - 1.0).abs() < tolerance, "{heat} {expected_heat}");
    }
}

/// A block whose vertices all move: an isochoric stretch, turned by a growing angle.
fn stretched(
    material: &Material,
    terms: &[Relaxation],
    strain: impl Fn(usize) -> f64,
    steps: usize,
    h: f64,
) -> Definition {
    let body = block("block", [0.0; 3], [1, 1, 1], 1.0);
    let inelastic = terms.iter().map(|t| Inelasticity::Relaxing(*t)).collect();
    let body = made_of(body, material, inelastic);
    let all = select(&body, |_| true);
    let motion = sequence(&body, &all, steps, |k, p| {
        let e = strain(k);
        let stretch = Vec3::new(e.exp(), (-0.5 * e).exp(), (-0.5 * e).exp());
        let (sin, cos) = (0.3 * k as f64).sin_cos();
        let turn = Mat3::new(cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0);
        turn * p.component_mul(&stretch)
    });
    let mut d = scene(vec![body]);
    d.settings.time.integrator = Integrator::QuasiStatic;
    d.settings.time.step = h;
    d.settings.time.end = h * steps as f64;
    d.settings.contact.enabled = false;
    d.prescribed.push(PrescribedDef::new("all", 0, all, motion));
    d
}

/// √(3/2) ‖dev σ‖ of what relaxes: that of all less that of the law, which have the same axes.
fn overstress(simulation: &Simulation, plain: &Simulation) -> f64 {
    let difference = |k: usize| simulation.stresses()[k] - plain.stresses()[k];
    von_mises(&difference(0))
}

/// After a sudden stretch each term decays with its time; at a constant rate it tends to τ times the rate.
#[test]
fn stress_relaxes_and_creeps_as_the_prony_series_says() {
    let terms = [Relaxation { ratio: 0.5, time: 0.2 }, Relaxation { ratio: 0.2, time: 3.0 }];
    let mooney = Rubber::MooneyRivlin { c10: 4e4, c01: 1e4, c20: 0.0, c11: 0.0, c02: 0.0 };
    let rubber = Material::rubber(mooney, bulk_modulus(1e5, 0.49));
    let plain = Material { law: Law::NeoHookean, young_modulus: 2.6e5, poisson_ratio: 0.3 };
    for material in [&plain, &rubber] {
        let mu = material.mu();
        for h in [0.01, 0.1, 2.0] {
            let sudden = |k: usize| if k == 0 { 0.0 } else { 0.4 };
            let steady = |k: usize| 0.1 * h * k as f64;
            let both: [(&dyn Fn(usize) -> f64, bool); 2] = [(&sudden, false), (&steady, true)];
            for (strain, is_steady) in both {
                let mut flowing =
                    Simulation::new(&stretched(material, &terms, strain, 8, h)).unwrap();
                let mut elastic = Simulation::new(&stretched(material, &[], strain, 8, h)).unwrap();
                for k in 1..=8 {
                    flowing.step().unwrap();
                    elastic.step().unwrap();
                    let t = h * k as f64;
                    // uniaxial: von Mises stress 3 G e
                    let expected: f64 = terms
                        .iter()
                        .map(|term| {
                            let gone = 1.0 - (-t / term.time).exp();
                            let ramp = 0.4 / h * term.time * (1.0 - (-h / term.time).exp());
                            3.0 * term.ratio
                                * mu
                                * match is_steady {
                                    true => 0.1 * term.time * gone,
                                    // the stretch takes the first step
                                    false => ramp * (-(t - h) / term.time).exp(),
                                }
                        })
                        .sum();
                    let found = overstress(&flowing, &elastic);
                    assert!((found / expected - 1.0).abs() < 1e-8, "{h} {k}: {found} {expected}");
                }
            }
        }
    }
}

/// A bar that is pulled and pushed, free across: work = stored energy + heat, with an error that falls with the square of the step.
#[test]
fn the_work_is_stored_or_becomes_heat() {
    let terms = vec![
        Inelasticity::Relaxing(Relaxation { ratio: 1.0, time: 0.3 }),
        Inelasticity::Relaxing(Relaxation { ratio: 0.4, time: 0.02 }),
    ];
    let material = Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.35 };
    let error = |n: usize| {
        let h = 1.0 / n as f64;
        let strain = |k: usize| 0.2 * (6.0 * h * k as f64).sin();
        let strains: Vec<f64> = (1..=n).map(strain).collect();
        let body = made_of(block("bar", [0.0; 3], [2, 1, 1], 1.0), &material, terms.clone());
        let mut simulation = Simulation::new(&pulled(body, &strains, h)).unwrap();
        let (mut work, mut heat, mut force, mut length) = (0.0, 0.0, 0.0, 2.0);
        let mut report = None;
        for &strain in &strains {
            let step = simulation.step().unwrap();
            heat += step.inelastic_heat.unwrap();
            let (f, l) = (step.forces.held["end"].force[0], 2.0 * strain.exp());
            work += 0.5 * (f + force) * (l - length);
            (force, length) = (f, l);
            report = Some(step);
        }
        let stored = report.unwrap().elastic_energy;
        assert!(heat > 0.3 * work, "{heat} of {work}");
        ((work - stored - heat) / work).abs()
    };
    let (coarse, fine) = (error(40), error(80));
    assert!(fine < 2e-3, "{fine}");
    assert!(coarse / fine > 3.3 && coarse / fine < 4.7, "{coarse} {fine}");
}

/// A block that swings by itself: BDF2 stays of second order.
#[test]
fn relaxation_keeps_the_order_of_bdf2() {
    let end = |n: usize| {
        let body = block("bar", [0.0; 3], [3, 1, 1], 0.5);
        let material = Material { law: Law::NeoHookean, young_modulus: 1e5, poisson_ratio: 0.3 };
        let relaxing = Inelasticity::Relaxing(Relaxation { ratio: 1.0, time: 0.05 });
        let mut body = made_of(body, &material, vec![relaxing]);
        body.velocity = body.rest.iter().map(|p| Vec3::new(0.0, 0.8 * p.x * p.x, 0.0)).collect();
        let held = select(&body, |p| p.x < 1e-9);
        let mut d = scene(vec![body]);
        d.settings.time.integrator = Integrator::Bdf2;
        d.settings.time.step = 0.1 / n as f64;
        d.settings.time.end = 0.1;
        d.settings.solver.end.velocity = Some(1e-9);
        d.settings.contact.enabled = false;
        d.prescribed.push(PrescribedDef::new("held", 0, held, Motion::Fixed));
        let mut simulation = Simulation::new(&d).unwrap();
        for _ in 0..n {
            simulation.step().unwrap();
        }
        simulation.state().x.clone()
    };
    let all: Vec<_> = [40, 80, 160].map(end).into();
    let apart =
        |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(p, q)| (p - q).norm()).fold(0.0, f64::max);
    let (coarse, fine) = (apart(&all[0], &all[1]), apart(&all[1], &all[2]));
    let order = (coarse / fine).log2();
    assert!((order - 2.0).abs() < 0.3, "{order}");
}

/// A block between plates that hold its ends, pressed by 5 %: linear elements bear 1.9 times what quadratic ones do.
#[test]
fn linear_elements_that_yield_lock() {
    let perfect = Plasticity {
        yield_stress: 140e6,
        hardening_modulus: 0.0,
        kinematic_modulus: 0.0,
        saturation_stress: None,
        saturation_rate: None,
    };
    let force = |second_order: bool| {
        let body = block("block", [0.0; 3], [4, 4, 4], 0.025);
        let body = made_of(body, &METAL, vec![Inelasticity::Yielding(perfect)]);
        let body = if second_order { quadratic(body) } else { body };
        let low = select(&body, |p| p.y < 1e-9);
        let high = select(&body, |p| p.y > 0.1 - 1e-9);
        let motion = sequence(&body, &high, 10, |k, p| p - Vec3::y() * 0.0005 * k as f64);
        let mut d = scene(vec![body]);
        d.settings.time.integrator = Integrator::QuasiStatic;
        d.settings.time.step = 0.1;
        d.settings.contact.enabled = false;
        d.prescribed.push(PrescribedDef::new("low", 0, low, Motion::Fixed));
        d.prescribed.push(PrescribedDef::new("high", 0, high, motion));
        let mut simulation = Simulation::new(&d).unwrap();
        let all = (0..10).map(|_| simulation.step().unwrap().forces.held["low"].force[1]);
        all.last().unwrap()
    };
    let (linear, quadratic) = (force(false), force(true));
    let ratio = linear / quadratic;
    assert!(ratio > 1.85 && ratio < 1.95, "{linear} {quadratic}");
}

/// A beam that never yields swings as one of another law does, and is damped as that: what yields has its part of the damping.
#[test]
fn what_does_not_yield_is_elastic_and_damped() {
    let end = |law: Law, damping: f64| {
        let material = Material { law: law.clone(), young_modulus: 1e6, poisson_ratio: 0.3 };
        let strong = Plasticity { yield_stress: 1e20, ..HARDENING };
        let strong = Plasticity { saturation_stress: None, saturation_rate: None, ..strong };
        let yields = law == Law::Volumetric;
        let inelastic = yields.then_some(Inelasticity::Yielding(strong)).into_iter().collect();
        let mut body = made_of(block("beam", [0.0; 3], [4, 1, 1], 0.1), &material, inelastic);
        body.velocity = body.rest.iter().map(|p| Vec3::new(0.0, 0.05 * p.x * p.x, 0.0)).collect();
        let held = select(&body, |p| p.x < 1e-9);
        let mut d = scene(vec![body]);
        d.settings.time.step = 0.002;
        d.settings.time.integrator = Integrator::Bdf2;
        d.settings.time.stiffness_damping = damping;
        d.settings.solver.end.velocity = Some(1e-9);
        d.settings.contact.enabled = false;
        d.prescribed.push(PrescribedDef::new("held", 0, held, Motion::Fixed));
        let mut simulation = Simulation::new(&d).unwrap();
        let mut most = 0.0_f64;
        for _ in 0..40 {
            simulation.step().unwrap();
            let tip = simulation.positions().last().unwrap().y - 0.1;
            most = most.max(tip.abs());
        }
        (simulation.positions().last().unwrap().y - 0.1, most)
    };
    for damping in [0.0, 0.02] {
        let (expected, most) = end(Law::NeoHookean, damping);
        let (found, _) = end(Law::Volumetric, damping);
        assert!((found - expected).abs() < 1e-3 * most, "{damping}: {found} {expected} {most}");
    }
    // so much that it shows
    assert!(end(Law::NeoHookean, 0.02).1 < 0.9 * end(Law::NeoHookean, 0.0).1);
}

/// Plane strain is a slab that is held across: stresses and plastic strains of both.
#[test]
fn plane_strain_yields_as_a_slab_that_is_held() {
    let strains: Vec<f64> = (1..=6).map(|k| 0.004 * k as f64).collect();
    let slab = made_of(
        block("bar", [0.0; 3], [2, 1, 1], 1.0),
        &METAL,
        vec![Inelasticity::Yielding(HARDENING)],
    );
    let mut d = pulled(slab.clone(), &strains, 1.0);
    let along = vec![Vec3::z()];
    let back = select(&slab, |p| p.z > 1.0 - 1e-9);
    d.prescribed
        .push(PrescribedDef { along, ..PrescribedDef::new("back", 0, back, Motion::Fixed) });
    let rest: Vec<Vec3> =
        [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]].map(|[x, y]| Vec3::new(x, y, 0.0)).into();
    let kind = BodyKind::PlaneStrain {
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        middles: vec![],
        density: 1000.0,
        material: METAL,
    };
    let plane = BodyDef {
        name: "bar".into(),
        rest,
        kind,
        friction_material: "default".into(),
        ..BodyDef::default()
    };
    let plane = made_of(plane, &METAL, vec![Inelasticity::Yielding(HARDENING)]);
    let mut flat = pulled(plane, &strains, 1.0);
    flat.dimension = Dimension::Two;
    flat.prescribed.retain(|p| p.name != "z");
    for definition in [&mut d, &mut flat] {
        definition.settings.solver.end.velocity = Some(1e-9);
    }
    let (mut solid, mut flat) = (Simulation::new(&d).unwrap(), Simulation::new(&flat).unwrap());
    for _ in &strains {
        solid.step().unwrap();
        flat.step().unwrap();
        let (a, b) = (solid.stresses()[0], flat.stresses()[0]);
        assert!((a - b).norm() < 1e-6 * 150e6, "{a} {b}");
        assert!((solid.plastic_strains()[0] - flat.plastic_strains()[0]).abs() < 1e-8);
    }
    assert!(flat.plastic_strains()[0] > 0.01);
}

/// A ball of lead is dropped and stays flat, a block of putty creeps; with every method that takes contact.
#[test]
fn what_yields_or_relaxes_falls_on_the_ground_and_stays_as_it_is() {
    let lead = Material { law: Law::Volumetric, young_modulus: 1e6, poisson_ratio: 0.4 };
    let soft = Plasticity {
        yield_stress: 4e3,
        hardening_modulus: 1e4,
        kinematic_modulus: 0.0,
        saturation_stress: None,
        saturation_rate: None,
    };
    for method in [Method::Barrier, Method::BarrierFree, Method::Dot] {
        for integrator in [Integrator::ImplicitEuler, Integrator::Newmark] {
            let body = block("lead", [0.0, 0.001, 0.0], [3, 3, 3], 0.1);
            let mut body = made_of(body, &lead, vec![Inelasticity::Yielding(soft)]);
            body.velocity = vec![Vec3::new(0.0, -4.0, 0.0); body.rest.len()];
            let mut d = scene(vec![body]);
            d.half_spaces.push(ground(0.0));
            d.gravity = Vec3::new(0.0, -9.81, 0.0);
            d.settings.time.step = 0.005;
            d.settings.time.integrator = integrator;
            d.settings.solver.method = method;
            let mut simulation = Simulation::new(&d).unwrap();
            for _ in 0..30 {
                let report = simulation.step().unwrap();
                assert!(report.outcome.is_success(), "{method:?} {:?}", report.outcome);
            }
            let most = simulation.plastic_strains().iter().fold(0.0_f64, |a, &b| a.max(b));
            assert!(most > 0.05, "{method:?} {integrator:?} {most}");
            assert!(simulation.audit().is_empty());
        }
    }
}

/// A simulation continued from its state has the bits of one that never stopped.
#[test]
fn internal_variables_are_part_of_the_state() {
    let strains: Vec<f64> = (1..=8).map(|k| 0.003 * k as f64).collect();
    let body = made_of(
        block("bar", [0.0; 3], [2, 1, 1], 1.0),
        &METAL,
        vec![
            Inelasticity::Yielding(HARDENING),
            Inelasticity::Relaxing(Relaxation { ratio: 0.3, time: 2.0 }),
        ],
    );
    let d = pulled(body, &strains, 1.0);
    let mut whole = Simulation::new(&d).unwrap();
    let mut state = None;
    for k in 0..8 {
        if k == 4 {
            state = Some(whole.state().clone());
        }
        whole.step().unwrap();
    }
    let state = state.unwrap();
    let mut resumed = Simulation::restore(&d, state.clone()).unwrap();
    for _ in 4..8 {
        resumed.step().unwrap();
    }
    assert_eq!(resumed.state(), whole.state());
    let mut wrong = state.clone();
    wrong.internal.pop();
    let Err(BuildError::State { .. }) = Simulation::restore(&d, wrong) else { panic!("refused") };
    let mut wrong = state;
    wrong.internal[0].inverse = Mat3::from_element(f64::NAN);
    let Err(BuildError::State { .. }) = Simulation::restore(&d, wrong) else { panic!("refused") };
}
