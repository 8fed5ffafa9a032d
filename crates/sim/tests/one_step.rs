//! The one-step integrators (α, β, γ) of [Li 2021, Eq. 1], the implicit midpoint rule among them.

use crate::common::rigid::solid_box;
use crate::common::{block, difference, grid, ground, material, scene};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::definition::expression::{Expression, VectorExpression};
use standoff_sim::definition::{BodyDef, BodyKind, Definition, Dimension, ForceDef, Load};
use standoff_sim::energy::{Element, Elements, Hessian};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::{AuditLevel, Integrator, Method};
use standoff_sim::{Simulation, StepOutcome, energetics};
use standoff_testkit::Random;
use std::sync::Arc;

/// k/2 |x|² + q/4 |x|⁴.
#[derive(Debug, Clone)]
struct Well {
    k: f64,
    q: f64,
}

impl Element<1> for Well {
    const NAME: &'static str = "well";
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, [x]: &[Vec3; 1]) -> f64 {
        let square = x.norm_squared();
        0.5 * self.k * square + 0.25 * self.q * square * square
    }

    fn gradient(&self, [x]: &[Vec3; 1]) -> [Vec3; 1] {
        [x * (self.k + self.q * x.norm_squared())]
    }

    fn hessian_psd(&self, [x]: &[Vec3; 1]) -> Hessian<1> {
        let along = 2.0 * self.q * x * x.transpose();
        [[Mat3::from_diagonal_element(self.k + self.q * x.norm_squared()) + along]]
    }
}

/// Of a particle of the scene.
const MASS: f64 = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-6;
const START: [f64; 2] = [1.0, 0.3];
/// Amplitude of the force on both particles together, N.
const PUSH: f64 = 0.02;

/// Two particles in the same well, pushed by a force that varies.
fn particles(well: Well, step: f64) -> Definition {
    let rest = START.map(|x| Vec3::new(x, 0.0, 0.0)).to_vec();
    let body = BodyDef {
        name: "particles".into(),
        velocity: vec![Vec3::x() * 0.5; 2],
        rest,
        kind: BodyKind::Particles { points: vec![0, 1], radius: 0.01, density: 1000.0 },
        ..BodyDef::default()
    };
    let mut definition = scene(vec![body]);
    definition.settings.time.step = step;
    definition.settings.contact.enabled = false;
    definition.settings.solver.end.velocity = Some(1e-11);
    let wells = vec![well.clone(), well];
    definition.energies.push(Arc::new(Elements::from_parts(vec![[0], [1]], wells, 2)));
    definition
}

fn pushed(mut definition: Definition) -> Definition {
    let push = ["0.02*cos(3*t)", "0", "0"].map(|e| Expression::parse(e).expect("an expression"));
    definition.forces.push(ForceDef {
        name: "push".into(),
        body: 0,
        vertices: vec![0, 1],
        load: Load::Force(VectorExpression(push)),
        t0: 0.0,
        t1: f64::INFINITY,
    });
    definition
}

fn by(mut definition: Definition, integrator: Integrator) -> Definition {
    definition.settings.time.integrator = integrator;
    definition
}

fn member(definition: Definition, [alpha, beta]: [f64; 2]) -> Definition {
    let mut definition = by(definition, Integrator::AlphaBetaGamma);
    (definition.settings.time.alpha, definition.settings.time.beta) = (alpha, beta);
    definition
}

fn run(definition: &Definition, steps: usize) -> Simulation {
    let mut simulation = Simulation::new(definition).unwrap();
    for _ in 0..steps {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
    simulation
}

/// The particle that starts at x by the equations of motion of a member, solved by Newton's method for its acceleration between
/// start and end: x and v after some steps.
fn by_hand(well: &Well, x: f64, [alpha, beta]: [f64; 2], h: f64, steps: usize) -> [f64; 2] {
    let omega = alpha.sqrt();
    let theta = beta * omega;
    let force = |x: f64, t: f64| 0.5 * PUSH * (3.0 * t).cos() - x * (well.k + well.q * x * x);
    let slope = |x: f64| -(well.k + 3.0 * well.q * x * x);
    let (mut x, mut v, mut t) = (x, 0.5, 0.0);
    for _ in 0..steps {
        let start = force(x, t) / MASS;
        let v_at = |a: f64| v + h * (omega * a + (1.0 - omega) * start);
        let x_at = |a: f64| x + h * ((1.0 - theta) * v + theta * v_at(a));
        let y_at = |a: f64| beta * x_at(a) + (1.0 - beta) * x;
        let mut a = start;
        for _ in 0..50 {
            let residual = MASS * a - force(y_at(a), t + beta * h);
            a -= residual / (MASS - slope(y_at(a)) * beta * theta * omega * h * h);
        }
        (x, v) = (x_at(a), v_at(a));
        t += h;
    }
    [x, v]
}

/// Integrators with their α and β.
const MEMBERS: [(Integrator, [f64; 2]); 6] = [
    (Integrator::ImplicitEuler, [1.0, 1.0]),
    (Integrator::Newmark, [0.25, 1.0]),
    (Integrator::ImplicitMidpoint, [1.0, 0.5]),
    (Integrator::AlphaBetaGamma, [1.0, 0.7]),
    (Integrator::AlphaBetaGamma, [0.6, 1.0]),
    (Integrator::AlphaBetaGamma, [1.0, 0.9]),
];

/// Every member moves particles in an anharmonic well, under a force that varies, as its equations of motion say.
#[test]
fn members_solve_their_equations_of_motion() {
    let (well, h) = (Well { k: 0.5, q: 1.5 }, 0.03);
    for (integrator, weights) in MEMBERS {
        let mut definition = pushed(particles(well.clone(), h));
        definition.settings.time.integrator = integrator;
        if integrator == Integrator::AlphaBetaGamma {
            definition = member(definition, weights);
        }
        let simulation = run(&definition, 60);
        for (k, x) in START.into_iter().enumerate() {
            let [x, v] = by_hand(&well, x, weights, h, 60);
            let found = [simulation.positions()[k].x, simulation.velocities()[k].x];
            let error = (found[0] - x).abs() + h * (found[1] - v).abs();
            assert!(error < 1e-10, "{integrator:?} {weights:?} {found:?} instead of {x} {v}");
        }
    }
}

/// A block that falls on the ground and slides, with damping.
fn landing() -> Definition {
    let mut body = block("block", [0.0, 0.01, 0.0], [2, 2, 1], 0.1);
    body.velocity = vec![Vec3::new(1.0, -1.0, 0.2); body.rest.len()];
    let mut definition = scene(vec![body]);
    definition.gravity = Vec3::y() * -9.81;
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.stiffness_damping = 1e-3;
    definition.settings.friction.coefficient = 0.3;
    definition
}

#[test]
fn integrators_with_a_name_are_members_to_the_bit() {
    let mut ends: Vec<Vec<Vec3>> = Vec::new();
    for (name, weights) in &MEMBERS[..3] {
        let mut named = Simulation::new(&by(landing(), *name)).unwrap();
        let mut member = Simulation::new(&member(landing(), *weights)).unwrap();
        let mut contacts = 0;
        for _ in 0..30 {
            contacts += named.step().unwrap().contacts;
            member.step().unwrap();
            assert_eq!(named.state(), member.state(), "{name:?}");
        }
        assert!(contacts > 20, "{name:?} {contacts}");
        assert!(!ends.contains(&named.state().x), "{name:?}");
        ends.push(named.state().x.clone());
    }
}

/// The order is 2 where β√α is ½, else 1.
#[test]
fn members_have_their_order() {
    let (well, end) = (Well { k: 0.05, q: 0.15 }, 1.2);
    let at_end = |weights: [f64; 2], steps: usize| {
        let definition = pushed(particles(well.clone(), end / steps as f64));
        run(&member(definition, weights), steps).positions()[0].x
    };
    let exact = by_hand(&well, START[0], [1.0, 0.5], end / 1e5, 100_000)[0];
    for (weights, order) in [
        ([1.0, 0.5], 2.0),
        ([0.25, 1.0], 2.0),
        ([1.0, 0.75], 1.0),
        ([0.6, 1.0], 1.0),
        ([1.0, 1.0], 1.0),
    ] {
        let n = if order > 1.5 { 400 } else { 3200 };
        let [coarse, fine] = [n, 2 * n].map(|n| (at_end(weights, n) - exact).abs());
        let found = (coarse / fine).log2();
        println!("α, β = {weights:?}: errors {coarse:.2e}, {fine:.2e} m, order {found:.3}");
        assert!((found - order).abs() < 0.1, "{weights:?} {found}");
    }
}

/// In a harmonic well members of second order keep the energy, however long the step, and others lose it.
#[test]
fn linear_vibrations_keep_their_energy() {
    let well = Well { k: 5.0, q: 0.0 };
    let omega = (well.k / MASS).sqrt();
    let growth = |h: f64, weights: [f64; 2]| {
        let definition = member(particles(well.clone(), h), weights);
        let mut simulation = Simulation::new(&definition).unwrap();
        let energy = |s: &Simulation| {
            let of = |x: &Vec3| well.value(&[*x]);
            energetics::kinetic_energy(s.model(), s.state())
                + s.positions().iter().map(of).sum::<f64>()
        };
        let (first, mut worst, mut last) = (energy(&simulation), 0.0_f64, 0.0);
        for _ in 0..5000 {
            simulation.step().unwrap();
            last = energy(&simulation) / first - 1.0;
            worst = worst.max(last.abs());
        }
        [worst, last]
    };
    for (steps, weights) in
        [(0.2, [1.0, 0.5]), (20.0, [1.0, 0.5]), (0.2, [0.25, 1.0]), (20.0, [0.25, 1.0])]
    {
        let [worst, _] = growth(steps / omega, weights);
        println!("h ω = {steps}, α, β = {weights:?}: energy off by {worst:.1e} in 5000 steps");
        assert!(worst < 1e-11, "{steps} {weights:?} {worst:e}");
    }
    for weights in [[1.0, 0.6], [0.36, 1.0]] {
        let [_, last] = growth(0.2 / omega, weights);
        assert!(last < -0.9, "{weights:?} {last}");
    }
}

/// A bar that spins and so vibrates at finite strain, for 8 s: the greatest error of its energy in each quarter, as a part of it.
fn energy_errors(h: f64) -> [f64; 4] {
    let mut bar = block("bar", [-0.5, -0.1, -0.1], [5, 1, 1], 0.2);
    let spin = Vec3::new(0.6, 4.0, -2.0);
    bar.velocity = bar.rest.iter().map(|p| spin.cross(p)).collect();
    let mut definition = by(scene(vec![bar]), Integrator::ImplicitMidpoint);
    definition.settings.time.step = h;
    definition.settings.solver.end.velocity = Some(1e-9);
    let mut simulation = Simulation::new(&definition).unwrap();
    let first = energetics::kinetic_energy(simulation.model(), simulation.state());
    let mut worst = [0.0_f64; 4];
    for worst in &mut worst {
        for _ in 0..(2.0 / h).round() as usize {
            let report = simulation.step().unwrap();
            // the energy of the frame, not the one between two frames
            let (solids, x) = (&simulation.model().solids, &simulation.state().x);
            let elastic: f64 = solids.terms().map(|t| t.value(x)).sum();
            assert!((report.elastic_energy - elastic).abs() <= 1e-12 * elastic);
            *worst = worst.max(((report.kinetic_energy + elastic) / first - 1.0).abs());
        }
    }
    worst
}

/// Steps that resolve the vibrations leave an error of the energy that falls with the square of the step and does not grow with time.
#[test]
fn the_midpoint_rule_has_no_drift_at_finite_strain() {
    let [coarse, fine] = [4e-3, 2e-3].map(energy_errors);
    let [most, less] = [coarse, fine].map(|e| e.into_iter().fold(0.0, f64::max));
    println!("midpoint rule, 8 s: energy off by {most:.2e} with h = 4 ms, {less:.2e} with 2 ms");
    for (a, b) in coarse.iter().zip(&fine) {
        assert!((a / b - 4.0).abs() < 0.5, "{coarse:?} {fine:?}");
    }
    for worst in [coarse, fine] {
        assert!(worst.iter().all(|w| *w < 1.1 * worst[0] && *w < 1e-3), "{worst:?}");
    }
}

/// Blocks that are thrown together and onto the ground in steps that move them by several cells.
#[test]
fn long_steps_with_contact_pass_the_audit() {
    for weights in [[1.0, 0.5], [1.0, 0.7], [0.5, 1.0]] {
        let mut definition = scene(vec![
            block("low", [0.0, 0.1, 0.0], [2, 2, 2], 0.25),
            block("high", [0.1, 0.9, 0.1], [2, 2, 2], 0.25),
        ]);
        definition.bodies[1].velocity = vec![Vec3::new(0.5, -8.0, 0.0); 27];
        definition.gravity = Vec3::y() * -9.81;
        definition.settings.time.step = 0.05;
        definition.settings.solver.audit = AuditLevel::EveryPath;
        definition.half_spaces.push(ground(0.0));
        definition.settings.friction.coefficient = 0.3;
        let mut simulation = Simulation::new(&member(definition, weights)).unwrap();
        let mut most = 0;
        for _ in 0..30 {
            let report = simulation.step().unwrap();
            assert_eq!(report.outcome, StepOutcome::Converged, "{weights:?} {report:?}");
            assert!(simulation.audit().is_empty());
            most = most.max(report.contacts);
        }
        assert!(most > 30, "the blocks never met ({most} contacts)");
    }
}

/// J of the elements at the end of a step, the least.
fn least_volume(simulation: &Simulation) -> f64 {
    let (solids, x) = (&simulation.model().solids, &simulation.state().x);
    (0..solids.len()).map(|e| solids.volume_ratio(e, x)).fold(f64::INFINITY, f64::min)
}

/// Blocks, one of them in the plane, that are thrown so fast that the rule would turn their elements inside out between the positions at
/// which it evaluates them.
#[test]
fn no_element_is_inverted_at_the_end_of_a_step() {
    let solid = |law| {
        let mut body = block("block", [0.0, 0.005, 0.0], [3, 3, 3], 0.1);
        if let BodyKind::Volume { material, .. } = &mut body.kind {
            *material = Material { law, young_modulus: 2e4, poisson_ratio: 0.3 };
        }
        scene(vec![body])
    };
    let corner = |i: usize, j: usize| [0.1 * i as f64, 0.005 + 0.1 * j as f64];
    let planar =
        Definition { dimension: Dimension::Two, ..scene(vec![grid("plate", [3, 3], corner)]) };
    for (name, definition) in [
        ("neo-Hookean", solid(Law::NeoHookean)),
        ("fixed corotated", solid(Law::FixedCorotated)),
        ("plane strain", planar),
    ] {
        let mut definition = by(definition, Integrator::ImplicitMidpoint);
        let body = &mut definition.bodies[0];
        body.velocity = vec![Vec3::new(0.0, -30.0, 0.0); body.rest.len()];
        definition.half_spaces.push(ground(0.0));
        definition.settings.time.step = 0.01;
        let mut simulation = Simulation::new(&definition).unwrap();
        let mut least = f64::INFINITY;
        for _ in 0..30 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{name} {report:?}");
            assert!(simulation.audit().is_empty());
            least = least.min(least_volume(&simulation));
        }
        println!("{name} at 30 m/s: least J = {least:.2e}");
        assert!(least > 0.0 && least < 0.1, "{name} {least}");
    }
}

/// Where elements may be inverted, nothing holds them back at the end of a step either.
#[test]
fn inverted_elements_are_allowed_where_others_have_them() {
    let mut body = block("block", [0.0; 3], [2, 2, 2], 0.1);
    let random = &mut Random::new(3);
    body.start = body.rest.iter().map(|p| p + 0.1 * random.vec3()).collect();
    if let BodyKind::Volume { material, .. } = &mut body.kind {
        material.law = Law::FixedCorotated;
    }
    let mut definition = by(scene(vec![body]), Integrator::ImplicitMidpoint);
    definition.settings.contact.enabled = false;
    definition.settings.solver.allow_inversion = true;
    let mut simulation = Simulation::new(&definition).unwrap();
    assert!(least_volume(&simulation) < 0.0);
    let mut inverted = 0;
    for _ in 0..20 {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success(), "{report:?}");
        inverted += report.inverted;
    }
    assert!(inverted > 0);
}

#[test]
fn decomposed_optimisation_has_the_same_motion() {
    let [newton, dot] = [Method::Barrier, Method::Dot].map(|method| {
        let mut definition = by(landing(), Integrator::ImplicitMidpoint);
        definition.settings.solver.method = method;
        definition.settings.solver.end.characteristic = Some(1e-9);
        definition.settings.contact.stiffness = Some(1e9);
        run(&definition, 12)
    });
    let apart = difference(&newton, &dot);
    assert!(apart < 1e-7, "{apart:e}");
}

#[test]
fn what_has_no_place_between_start_and_end_is_refused() {
    let refused = |definition: &Definition| match Simulation::new(definition) {
        Ok(_) => panic!("not refused"),
        Err(e) => e.to_string(),
    };
    let cube = || block("cube", [0.0; 3], [1, 1, 1], 0.1);
    let rigid = scene(vec![solid_box("box", Vec3::zeros(), Vec3::new(0.2, 0.1, 0.15), 1)]);
    let midpoint = by(rigid.clone(), Integrator::ImplicitMidpoint);
    let text = refused(&midpoint);
    for part in ["time.integrator", "implicit-midpoint", "'box'", "rigid", "\"newmark\""] {
        assert!(text.contains(part), "{text}");
    }
    let text = refused(&member(rigid.clone(), [1.0, 0.9]));
    assert!(text.contains("alpha-beta-gamma"), "{text}");
    // with β = 1 nothing is evaluated before the end
    run(&member(rigid, [0.5, 1.0]), 2);

    let mut projective = by(scene(vec![cube()]), Integrator::ImplicitMidpoint);
    projective.settings.contact.enabled = false;
    projective.settings.solver.method = Method::LbfgsPd;
    let text = refused(&projective);
    assert!(text.contains("time.integrator") && text.contains("lbfgs-pd"), "{text}");
    let BodyKind::Volume { material: m, .. } = &mut projective.bodies[0].kind else { panic!() };
    *m = material(Law::FixedCorotated);
    assert!(refused(&projective).contains("lbfgs-pd"));
}

/// What is out of range is refused with its key and the range.
#[test]
fn parameters_have_a_range() {
    let refused = |weights| {
        let cube = block("cube", [0.0; 3], [1, 1, 1], 0.1);
        let definition = member(scene(vec![cube]), weights);
        Simulation::new(&definition).map(|_| ()).map_err(|e| e.to_string())
    };
    for beta in [0.49, 1.01, 0.0, -1.0, f64::NAN] {
        let text = refused([1.0, beta]).unwrap_err();
        assert!(text.contains("time.beta"), "{text}");
    }
    for (alpha, beta) in [(0.99, 0.5), (0.24, 1.0), (1.01, 0.7), (0.0, 1.0), (f64::NAN, 0.8)] {
        let text = refused([alpha, beta]).unwrap_err();
        assert!(text.contains("time.alpha"), "{text}");
    }
    let text = refused([0.2, 1.0]).unwrap_err();
    assert!(text.contains("from 0.25 to 1"), "{text}");
    let text = refused([0.9, 0.6]).unwrap_err();
    assert!(text.contains("must be 1 where β is below 1"), "{text}");
    for weights in [[1.0, 0.5], [0.25, 1.0], [1.0, 1.0], [1.0, 0.8]] {
        assert_eq!(refused(weights), Ok(()));
    }
}
