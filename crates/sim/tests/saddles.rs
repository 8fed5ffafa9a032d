//! Saddles of the potential, where symmetry would keep a body, are left for a minimum.

use crate::common::{converge, scene};
use crate::rods::straight;
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::definition::{Definition, Motion, Pivot, PrescribedDef};
use standoff_sim::settings::{HessianProjection, Integrator, LinearSolver, Method};
use std::f64::consts::PI;

/// A straight rod of length 1 on pins, the ends of which come closer by `shortening` in a static step.
fn pressed_rod(shortening: f64) -> Definition {
    let n = 40;
    let mut d = scene(vec![straight(n, 2e-3)]);
    d.settings.time.integrator = Integrator::QuasiStatic;
    (d.settings.time.step, d.settings.time.end) = (1.0, 1.0);
    d.settings.contact.d_hat = Some(1e-6);
    let pin = |v: usize, velocity: f64| {
        PrescribedDef::new(
            format!("pin {v}"),
            0,
            vec![v as u32],
            match velocity == 0.0 {
                true => Motion::Fixed,
                false => Motion::Rigid {
                    linear: Vec3::x() * velocity,
                    angular: Vec3::zeros(),
                    pivot: Pivot::StartCentre,
                },
            },
        )
    };
    d.prescribed = vec![pin(0, 0.0), pin(n, -shortening)];
    d
}

fn aside(simulation: &Simulation) -> f64 {
    simulation.positions().iter().map(|p| p.y.hypot(p.z)).fold(0.0, f64::max)
}

/// How high an elastica of length 1 on pins stands when its ends are closer by `shortening`: k/K(k) where 2 E(k)/K(k) = 2 − `shortening`, with the
/// complete elliptic integrals K and E [Timoshenko & Gere 1961, §2.7].
fn elastica(shortening: f64) -> f64 {
    let integrals = |k: f64| {
        let n = 2000;
        let root = |i: usize| {
            let angle = (i as f64 + 0.5) * 0.5 * PI / n as f64;
            (1.0 - (k * angle.sin()).powi(2)).sqrt()
        };
        let mean = |of: &dyn Fn(f64) -> f64| {
            (0..n).map(|i| of(root(i))).sum::<f64>() * 0.5 * PI / n as f64
        };
        (mean(&|r| 1.0 / r), mean(&|r| r))
    };
    let (mut low, mut high) = (0.0, 0.9);
    for _ in 0..60 {
        let k = 0.5 * (low + high);
        let (first, second) = integrals(k);
        if 2.0 * second / first > 2.0 - shortening { low = k } else { high = k }
    }
    low / integrals(low).0
}

/// A rod that starts exactly straight has no reason to bend but that it is no minimum.
#[test]
fn a_straight_rod_on_pins_buckles_to_the_elastica() {
    let auto = LinearSolver::Auto;
    for (method, linear) in [
        (Method::Barrier, auto),
        (Method::Barrier, LinearSolver::ConjugateGradient),
        (Method::BarrierFree, auto),
    ] {
        for shortening in [0.002, 0.01, 0.04] {
            let mut d = pressed_rod(shortening);
            d.settings.solver.method = method;
            d.settings.solver.linear = linear;
            let (reports, simulation) = converge(d, 1e-5, 1);
            let (found, expected) = (aside(&simulation), elastica(shortening));
            let iterations = reports[0].newton_iterations;
            println!(
                "{method:?} {linear:?} {shortening}: {found} of {expected}, {iterations} iterations"
            );
            assert!((found / expected - 1.0).abs() < 5e-3, "{shortening}: {found} {expected}");
        }
    }
}

/// Whether a step ends in a saddle by its report, and whether the rod has bent.
fn told(
    integrator: Integrator,
    method: Method,
    linear: LinearSolver,
    shortening: f64,
) -> (bool, bool) {
    let mut d = pressed_rod(shortening);
    d.settings.time.integrator = integrator;
    (d.settings.solver.method, d.settings.solver.linear) = (method, linear);
    let mut simulation = Simulation::new(&d).unwrap();
    let report = simulation.step().unwrap();
    (report.saddle, aside(&simulation) > 1e-3)
}

/// A step with inertia stays in the saddle, and says so, also where symmetry hides it from conjugate gradients; a quasi-static one has left it.
#[test]
fn a_step_that_ends_in_a_saddle_says_so() {
    let (dynamic, auto) = (Integrator::ImplicitEuler, LinearSolver::Auto);
    for (method, linear) in [
        (Method::Barrier, auto),
        (Method::Barrier, LinearSolver::ConjugateGradient),
        (Method::BarrierFree, auto),
    ] {
        // the barrier-free method happens to leave it
        let stays = method == Method::Barrier;
        assert_eq!(told(dynamic, method, linear, 0.04), (stays, !stays), "{method:?} {linear:?}");
        let left = told(Integrator::QuasiStatic, method, linear, 0.04);
        assert_eq!(left, (false, true), "{method:?} {linear:?}");
        // shorter than where it buckles
        assert_eq!(told(dynamic, method, linear, 1e-6), (false, false), "{method:?} {linear:?}");
    }
}

/// With all summands projected, as in the presets of papers, the step ends in the saddle.
#[test]
fn as_published_a_straight_rod_stays_straight() {
    let mut d = pressed_rod(0.01);
    d.settings.solver.projection = HessianProjection::Always;
    let (_, simulation) = converge(d, 1e-8, 1);
    assert!(aside(&simulation) < 1e-9, "{}", aside(&simulation));
}
