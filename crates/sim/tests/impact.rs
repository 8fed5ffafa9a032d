//! Energy and momentum in impacts with integrators that damp nothing.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::{BodyDef, BodyKind, Definition, Motion, Pivot, PrescribedDef};
use standoff_sim::energy::rod_joint::RodMaterial;
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::Integrator;
use standoff_sim::{Simulation, energetics};

const SPEED: f64 = 0.5;

const RULES: [Integrator; 2] = [Integrator::Newmark, Integrator::ImplicitMidpoint];

/// A bar of linear elasticity (wave speed 10 m/s), along y from `low`, with a velocity along y.
fn bar(name: &str, low: [f64; 3], velocity: f64) -> BodyDef {
    let mut bar = block(name, low, [1, 8, 1], 0.125);
    bar.velocity = vec![Vec3::new(0.0, velocity, 0.0); bar.rest.len()];
    if let BodyKind::Volume { material, .. } = &mut bar.kind {
        let law = Law::CorotatedLinear;
        *material = Material { law, young_modulus: 1e5, poisson_ratio: 0.0 };
    }
    bar
}

/// A bar against a half-space, or two bars against each other, aside by a part of a cell.
fn collision(two: bool, integrator: Integrator) -> Definition {
    let mut definition = match two {
        false => scene(vec![bar("bar", [0.0, 0.02, 0.0], -SPEED)]),
        true => scene(vec![
            bar("upper", [0.03, 0.02, 0.02], -SPEED),
            bar("lower", [0.0, -1.0, 0.0], SPEED),
        ]),
    };
    if !two {
        definition.half_spaces.push(ground(0.0));
    }
    definition.settings.time.step = 2e-3;
    definition.settings.time.integrator = integrator;
    definition.settings.contact.d_hat = Some(2.5e-3);
    definition.settings.contact.stiffness = Some(1e10);
    definition.settings.solver.end.velocity = Some(1e-7);
    definition
}

/// Runs beyond the rebound: the largest growth of the total energy in a step and over the run, over the
/// energy at the start, and the momentum along y at start and end, kg m/s.
fn run(definition: &Definition) -> (f64, f64, [f64; 2]) {
    let mut simulation = Simulation::new(definition).unwrap();
    let momentum = |s: &Simulation| energetics::linear_momentum(s.model(), s.state()).y;
    let start = momentum(&simulation);
    let (mut touched, mut step_growth) = (false, f64::NEG_INFINITY);
    let first = energetics::kinetic_energy(simulation.model(), simulation.state());
    let mut before = first;
    for _ in 0..160 {
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success());
        touched |= report.contacts > 0;
        let energy = report.kinetic_energy + report.elastic_energy + report.contact_energy;
        step_growth = step_growth.max((energy - before) / first);
        before = energy;
        if energy > 10.0 * first {
            break;
        }
    }
    assert!(touched);
    (step_growth, before / first - 1.0, [start, momentum(&simulation)])
}

/// The work of contact forces that are taken at the end of the step is at most what the barrier loses,
/// and elasticity by the trapezoidal rule keeps its energy. Contact by the trapezoidal rule gains.
#[test]
fn an_impact_takes_energy() {
    for rule in RULES {
        let (step, all, momentum) = run(&collision(false, rule));
        println!(
            "wall, {rule:?}: largest growth {step:.1e} in a step, {all:.4} in all, momentum {momentum:?}"
        );
        assert!(step < 1e-6 && all < 0.0 && all > -0.3, "{rule:?} {step:e} {all}");
        assert!(momentum[1] > -0.8 * momentum[0], "{rule:?} {momentum:?}");
    }
    let mut trapezoidal = collision(false, Integrator::Newmark);
    trapezoidal.settings.time.trapezoidal_contact = true;
    let (step, all, _) = run(&trapezoidal);
    println!("by the trapezoidal rule: {step:.1e} in a step, {all:.4} in all");
    assert!(step > 1e-3, "{step:e}");
}

#[test]
fn a_collision_takes_energy_and_no_momentum() {
    for rule in RULES {
        let (step, all, momentum) = run(&collision(true, rule));
        let each = 1000.0 * 0.125 * 0.125 * SPEED;
        println!(
            "two bars, {rule:?}: largest growth {step:.1e} in a step, {all:.4} in all, momentum {momentum:?}"
        );
        assert!(step < 1e-4 && all < 0.0 && all > -0.3, "{rule:?} {step:e} {all}");
        assert!((momentum[1] - momentum[0]).abs() < 1e-9 * each, "{rule:?} {momentum:?}");
    }
}

/// A spiral rod of 25 segments without friction. With E = 1.2 MPa segments vibrate along themselves with up to 1300/s.
fn spiral(step: f64, young_modulus: f64, velocity: impl Fn(usize) -> f64) -> Definition {
    let point = |k: usize| {
        let (turn, radius) = (0.5 * k as f64, 0.1 + 0.005 * k as f64);
        Vec3::new(radius * turn.cos(), 0.05 + 0.02 * k as f64, radius * turn.sin())
    };
    let rod = BodyDef {
        name: "rod".into(),
        rest: (0..26).map(point).collect(),
        velocity: (0..26).map(|k| Vec3::y() * velocity(k)).collect(),
        kind: BodyKind::Rod {
            segments: (0..25).map(|k| [k, k + 1]).collect(),
            material: RodMaterial { radius: 0.002, young_modulus, poisson_ratio: 0.4 },
            density: 1000.0,
            straight: false,
            natural_twist: 0.0,
        },
        ..BodyDef::default()
    };
    let mut definition = scene(vec![rod]);
    definition.settings.time.step = step;
    definition.settings.time.integrator = Integrator::Newmark;
    definition.settings.contact.d_hat = Some(1e-3);
    definition.settings.contact.stiffness = Some(1e8);
    definition.settings.solver.end.velocity = Some(1e-7);
    definition
}

/// The same, thrown onto the ground.
fn thrown() -> Definition {
    let mut definition = spiral(0.01, 1e9, |_| -2.0);
    definition.gravity = Vec3::y() * -9.81;
    definition.half_spaces.push(ground(0.0));
    definition
}

/// What the steps up to a time do to the energy, J, from that after the first one on.
#[derive(Debug)]
struct Budget {
    first: f64,
    /// The greatest growth above what it had been at least.
    growth: f64,
    /// The greatest growth in a step by contact, barrier energy included.
    by_contact: f64,
    /// The greatest growth in a step, either way, that is neither by contact nor what the trapezoidal rule makes of the
    /// energy Ψ of the rod, ΔΨ − ½ Δx·(∇Ψ + ∇Ψⁿ).
    unexplained: f64,
}

/// Ends at three times the energy of the start, too.
fn budget(definition: &Definition, end: f64) -> Budget {
    let mut simulation = Simulation::new(definition).unwrap();
    let model = simulation.model().clone();
    let mut all =
        Budget { first: 0.0, growth: 0.0, by_contact: f64::NEG_INFINITY, unexplained: 0.0 };
    let (mut before, mut least): (Option<[f64; 2]>, f64) = (None, f64::INFINITY);
    while simulation.time() < end - 1e-9 {
        let old = simulation.state().clone();
        let report = simulation.step().unwrap();
        assert!(report.outcome.is_success());
        let new = simulation.state();
        let own = report.kinetic_energy + report.elastic_energy + report.contact_energy;
        let total = own + report.gravity_energy;
        if let Some([total_before, contact_before]) = before {
            let elastic = model.codim_at(&old);
            let mut g = vec![Vec3::zeros(); new.x.len()];
            for term in elastic.terms() {
                term.add_gradient(&old.x, &mut g);
                term.add_gradient(&new.x, &mut g);
            }
            let moved = || new.x.iter().zip(&old.x).map(|(a, b)| a - b);
            let work: f64 = moved().zip(&g).map(|(d, g)| 0.5 * d.dot(g)).sum();
            let energy = |x: &[Vec3]| elastic.terms().iter().map(|t| t.value(x)).sum::<f64>();
            let made = energy(&new.x) - energy(&old.x) - work;
            let work: f64 = moved().zip(&new.contact_forces).map(|(d, f)| d.dot(f)).sum();
            let by_contact = work + report.contact_energy - contact_before;
            all.by_contact = all.by_contact.max(by_contact);
            all.unexplained = all.unexplained.max((total - total_before - made - by_contact).abs());
        } else {
            all.first = total;
        }
        before = Some([total, report.contact_energy]);
        least = least.min(total);
        all.growth = all.growth.max(total - least);
        if total > 3.0 * all.first {
            break;
        }
    }
    all
}

/// Contact takes energy from a rod, too, but where segments whose vibrations the step does not resolve turn, the trapezoidal rule
/// makes some: with and without contact, and not with smaller steps, with damping or with BDF2.
#[test]
fn what_makes_a_rod_gain_energy_is_no_contact() {
    let newmark = budget(&thrown(), 0.6);
    println!("thrown: {newmark:?}");
    assert!(newmark.growth > newmark.first, "{newmark:?}");
    assert!(newmark.by_contact < 1e-6 * newmark.first, "{newmark:?}");
    assert!(newmark.unexplained < 1e-3 * newmark.growth, "{newmark:?}");
    let mut damped = thrown();
    damped.settings.time.stiffness_damping = 5e-4;
    let damped = budget(&damped, 0.6);
    println!("thrown, damped: {damped:?}");
    let mut bdf2 = thrown();
    bdf2.settings.time.integrator = Integrator::Bdf2;
    let bdf2 = budget(&bdf2, 0.6);
    println!("thrown, BDF2: {bdf2:?}");
    let kick = |k: usize| if k < 3 { -4.0 } else { 0.0 };
    let kicked = budget(&spiral(0.01, 1.2e6, kick), 0.5);
    println!("kicked without contact, h = 10 ms: {kicked:?}");
    assert!(kicked.growth > kicked.first, "{kicked:?}");
    let fine = budget(&spiral(0.002, 1.2e6, kick), 0.5);
    println!("kicked without contact, h = 2 ms: {fine:?}");
    let by_midpoint = |mut definition: Definition, end: f64| {
        definition.settings.time.integrator = Integrator::ImplicitMidpoint;
        let run = budget(&definition, end);
        println!("midpoint rule: {run:?}");
        run
    };
    let coarse = by_midpoint(thrown(), 0.6);
    assert!(coarse.growth > coarse.first, "{coarse:?}");
    let resolved = by_midpoint(spiral(0.002, 1.2e6, kick), 0.5);
    for run in [damped, bdf2, fine, resolved] {
        assert!(run.growth < 0.05 * run.first, "{run:?}");
    }
}

/// The own velocity 2Δx/h − v of these rules would swing between 0 and twice that of a motion that sets in at
/// once; friction on such vertices and their release see that of the motion.
#[test]
fn prescribed_vertices_have_the_velocity_of_their_motion() {
    let mut definition = scene(vec![block("block", [0.0; 3], [2, 1, 1], 0.1)]);
    let linear = Vec3::new(0.3, 0.0, 0.0);
    definition.prescribed.push(PrescribedDef::new(
        "pull",
        0,
        vec![0, 1, 2, 3],
        Motion::Rigid { linear, angular: Vec3::zeros(), pivot: Pivot::StartCentre },
    ));
    for rule in RULES {
        definition.settings.time.integrator = rule;
        let mut simulation = Simulation::new(&definition).unwrap();
        for _ in 0..4 {
            simulation.step().unwrap();
            assert!(simulation.velocities()[..4].iter().all(|v| (v - linear).norm() < 1e-12));
        }
    }
}
