//! Contact and friction forces that a direction forecasts stiffen the Newton matrix, and change nothing else.

use crate::common::{block, converge, difference, ground, scene};
use standoff_linalg::{Mat3, Vec3};
use standoff_sim::contact::forecast::ForecastForces;
use standoff_sim::contact::{
    Barrier, BarrierPotential, ContactSet, FrictionContact, FrictionKey, FrictionSet, HalfSpace,
    HalfSpaceContact, Slip, Smoothing,
};
use standoff_sim::definition::{BodyKind, Definition};
use standoff_sim::report::StepReport;
use standoff_testkit::Random;

/// A vertex at a height above the ground.
fn resting(forecast: f64) -> ContactSet {
    let plane = HalfSpace { origin: Vec3::zeros(), normal: Vec3::y() };
    let (weight, thickness, reach) = (1.0, 0.0, 1.0);
    let contact =
        HalfSpaceContact { vertex: 0, half_space: 0, plane, weight, thickness, reach, forecast };
    ContactSet { half_space: vec![contact], ..ContactSet::default() }
}

const POTENTIAL: BarrierPotential = BarrierPotential {
    barrier: Barrier::ClampedLog,
    d_hat: 1e-3,
    kappa: 1e9,
    physical: false,
    even: true,
};

#[test]
fn the_stiffness_is_the_barriers_plus_the_missing_force_over_the_gap() {
    for gap in [0.9e-3, 0.3e-3, 1e-6] {
        let p = Vec3::new(0.0, gap, 0.0);
        let stiffness = |forecast: f64| {
            let set = resting(forecast);
            POTENTIAL.half_space_hessian_psd(&set.half_space[0], &p)[(1, 1)]
        };
        let force = POTENTIAL.half_space_force_magnitude(&resting(0.0).half_space[0], &p);
        // a smaller forecast leaves the barrier's own stiffness
        assert_eq!(stiffness(0.0), stiffness(0.5 * force));
        let want = stiffness(0.0) + 2.0 * force / gap;
        assert!((stiffness(3.0 * force) - want).abs() < 1e-12 * want, "gap {gap}");
    }
}

/// A weight w on the ground with the barrier far too soft where it stands: the direction of the first iteration forecasts w, and from
/// a fifth of the gap the next one leads close to the minimum, which Newton's method approaches more slowly.
#[test]
fn a_forecast_force_leads_to_its_gap() {
    let height = |y: f64| vec![Vec3::new(0.0, y, 0.0)];
    let solve = |forecast_forces: bool| {
        let (mut set, mut y, weight) = (resting(0.0), 0.5e-3, 1e3);
        let mut iterations = 0;
        loop {
            let (x, contact) = (height(y), set.half_space[0]);
            let residual = POTENTIAL.half_space_force_magnitude(&contact, &x[0]) - weight;
            let step = residual / POTENTIAL.half_space_hessian_psd(&contact, &x[0])[(1, 1)];
            if step.abs() < 1e-9 * y {
                return (y, iterations);
            }
            iterations += 1;
            if forecast_forces {
                ForecastForces::new(&POTENTIAL, &set, &x, &height(step)).assign(&mut set);
            }
            y += step.max(-0.8 * y);
        }
    };
    let ((primal, most), (dual, least)) = (solve(false), solve(true));
    println!("gap {primal:.3e} m, {most} and {least} iterations");
    assert!((primal - dual).abs() < 1e-8 * primal && primal < 1e-2 * POTENTIAL.d_hat);
    assert!(10 * least <= 7 * most, "{least} of {most}");
}

/// A contact of one vertex with a unit force.
fn slider(forecast: Option<[f64; 2]>) -> FrictionContact {
    FrictionContact {
        key: FrictionKey::HalfSpace(0),
        vertices: [0, u32::MAX, u32::MAX, u32::MAX],
        n: 1,
        gamma: [1.0, 0.0, 0.0, 0.0],
        basis: [Vec3::x(), Vec3::y()],
        force: 1.0,
        fall: 0.0,
        stick: 1.0,
        forecast,
        tangent: None,
    }
}

#[test]
fn friction_is_stiff_where_the_forecast_differs_and_never_indefinite() {
    let mut r = Random::new(8);
    let smoothings = [Smoothing::C0, Smoothing::C1, Smoothing::C2];
    for (smoothing, fall) in smoothings.into_iter().flat_map(|s| [(s, 0.0), (s, 0.4), (s, 0.9)]) {
        // beyond ε, and with two coefficients up to where the kinetic one acts
        let eps = if fall == 0.0 { 0.5 } else { 0.08 };
        let set = FrictionSet {
            smoothing,
            half_space_smoothing: smoothing,
            eps,
            ..FrictionSet::default()
        };
        let slip = Slip { smoothing, eps, fall };
        let stiffness = |u: &Vec3, forecast: Option<[f64; 2]>| {
            let mut out = [Mat3::zeros(); 10];
            let slider = FrictionContact { fall, ..slider(forecast) };
            set.contact_hessian(&slider, &[*u], &[Vec3::zeros()], true, &mut out);
            out[0]
        };
        for _ in 0..200 {
            let u = Vec3::new(r.signed(), r.signed(), 0.0);
            let y = u.norm();
            let force = u * slip.f1_over_y(y);
            // the present force: the second derivative
            let newton = stiffness(&u, None);
            let same = stiffness(&u, Some([force.x, force.y]));
            assert!((newton - same).norm() < 1e-12 * newton.norm());
            // a force that vanishes: the secant
            let secant = slip.f1_over_y(y);
            let stopped = stiffness(&u, Some([0.0, 0.0]));
            let want = Mat3::new(secant, 0.0, 0.0, 0.0, secant, 0.0, 0.0, 0.0, 0.0);
            assert!((stopped - want).norm() < 1e-12 * secant);
            // forecasts of any direction: neither indefinite nor softer along the displacement
            let angle = 3.2 * r.signed();
            let any = stiffness(&u, Some([angle.cos(), angle.sin()]));
            let least = any.symmetric_eigenvalues().min();
            assert!(least > -1e-12 * secant, "{smoothing:?} {u:?} {least:e}");
            let along = |k: &Mat3| u.dot(&(k * u));
            assert!(along(&any) >= along(&newton) - 1e-12 * secant * y * y);
        }
    }
}

#[test]
fn the_forecast_is_the_force_of_the_linear_model_within_coulombs_law() {
    let mut set = FrictionSet { eps: 0.1, contacts: vec![slider(None)], ..FrictionSet::default() };
    let at = |u: f64| [Vec3::new(u, 0.0, 0.0)];
    // while sticking: f₁ at u = ε/2, and its slope times the direction
    set.forecast(&at(0.05), &at(0.0), &at(0.01));
    let [w, across] = set.contacts[0].forecast.unwrap();
    assert!((w - (0.75 + 0.01 * 10.0)).abs() < 1e-14 && across == 0.0, "{w}");
    // while sliding with that forecast: stiff by what the forecast lacks, and no more than μλ
    set.forecast(&at(0.2), &at(0.0), &at(-0.1));
    let [w, _] = set.contacts[0].forecast.unwrap();
    assert!((w - (1.0 - 0.5 * (1.0 - 0.85))).abs() < 1e-14, "{w}");
    set.forecast(&at(0.2), &at(0.0), &at(-100.0));
    assert_eq!(set.contacts[0].forecast, Some([-1.0, 0.0]));
}

/// Tolerance of the scenes, m/s.
const TOLERANCE: f64 = 1e-7;

/// The results with and without forecasts have to be equal; gives the iterations and halvings of both.
fn compare(name: &str, definition: &Definition, steps: usize) -> [[u64; 2]; 2] {
    let [(dual, a), (primal, b)] = [true, false].map(|forecast_forces| {
        let mut definition = definition.clone();
        definition.settings.solver.forecast_forces = forecast_forces;
        converge(definition, TOLERANCE, steps)
    });
    let counts = [dual, primal].map(|reports| {
        let halvings = |r: &StepReport| r.step_cuts.line_search;
        [
            reports.iter().map(|r| r.newton_iterations).sum(),
            reports.iter().map(halvings).sum::<u64>(),
        ]
    });
    let difference = difference(&a, &b);
    println!("{name}: iterations and halvings {counts:?}, difference {difference:.1e} m");
    assert!(difference < steps as f64 * 0.01 * TOLERANCE, "{name}: {difference:e}");
    counts
}

/// A block falls on the ground, with a κ that lets it come within a thousandth of d̂.
#[test]
fn a_soft_barrier_takes_fewer_iterations_to_the_same_minimum() {
    let mut body = block("block", [0.0, 2e-3, 0.0], [2, 2, 2], 0.05);
    body.velocity = vec![Vec3::new(0.1, -2.0, 0.0); body.rest.len()];
    let mut definition = scene(vec![body]);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 0.01;
    definition.settings.contact.d_hat = Some(1e-3);
    definition.settings.contact.stiffness = Some(1e3);
    let [[dual, _], [primal, _]] = compare("soft barrier", &definition, 8);
    assert!(10 * dual <= 9 * primal, "{dual} {primal}");
}

/// Blocks slide over each other and turn back.
#[test]
fn friction_that_turns_back_is_not_overshot() {
    let bodies = [0.0, 0.0512, 0.1024].map(|y| {
        let mut body = block("block", [0.1 * y, y + 5e-4, 0.0], [4, 1, 2], 0.05);
        let sideways = if y == 0.0512 { -1.0 } else { 1.0 };
        body.velocity = vec![Vec3::new(sideways, -0.2, 0.3 * sideways); body.rest.len()];
        if let BodyKind::Volume { material, .. } = &mut body.kind {
            material.young_modulus = 2e4;
        }
        body
    });
    let mut definition = scene(bodies.into());
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 0.02;
    definition.settings.contact.d_hat = Some(1e-3);
    definition.settings.friction.coefficient = 0.5;
    let [[dual, few], [primal, many]] = compare("friction", &definition, 8);
    assert!(dual <= primal && few <= many, "{dual} {few} {primal} {many}");
    assert!(many > 5, "the scene does not backtrack");
}
