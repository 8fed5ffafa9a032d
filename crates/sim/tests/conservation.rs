//! Momentum without external forces, and order of accuracy.

use crate::common::{block, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::Definition;
use standoff_sim::settings::{ContactPotential, Integrator, Method};
use standoff_sim::{Simulation, energetics};

const INTEGRATORS: [Integrator; 4] = [
    Integrator::ImplicitEuler,
    Integrator::Bdf2,
    Integrator::Newmark,
    Integrator::ImplicitMidpoint,
];

/// A stretched, sheared, translating and spinning bar.
fn flying_bar(h: f64, integrator: Integrator, spin: Vec3) -> Definition {
    let mut bar = block("bar", [-0.5, -0.1, -0.1], [5, 1, 1], 0.2);
    bar.start =
        bar.rest.iter().map(|p| Vec3::new(1.2 * p.x, p.y + 0.1 * p.x, 0.95 * p.z)).collect();
    bar.velocity = bar.start.iter().map(|p| Vec3::new(1.0, -0.5, 0.25) + spin.cross(p)).collect();
    let mut definition = scene(vec![bar]);
    definition.settings.time.step = h;
    definition.settings.time.integrator = integrator;
    definition.settings.solver.end.velocity = Some(1e-10);
    definition
}

fn run(definition: &Definition, steps: usize) -> Simulation {
    let mut simulation = Simulation::new(definition).unwrap();
    for _ in 0..steps {
        assert!(simulation.step().unwrap().outcome.is_success());
    }
    simulation
}

#[test]
fn linear_momentum_is_conserved() {
    let spin = Vec3::new(0.3, 2.0, -1.0);
    let integrators = INTEGRATORS;
    // directions that are not the last ones may be inexact
    for (integrator, tolerance) in integrators.into_iter().flat_map(|i| [(i, 1e-10), (i, 1e-2)]) {
        let mut definition = flying_bar(0.01, integrator, spin);
        definition.settings.solver.end.velocity = Some(tolerance);
        let mut simulation = Simulation::new(&definition).unwrap();
        let start = energetics::linear_momentum(simulation.model(), simulation.state());
        for _ in 0..50 {
            simulation.step().unwrap();
        }
        let end = energetics::linear_momentum(simulation.model(), simulation.state());
        let drift = (end - start).norm() / start.norm();
        println!("{integrator:?}, {tolerance}: linear momentum drifts by {drift:.1e} in 50 steps");
        assert!(drift < 5e-14, "{integrator:?} {drift:e}");
    }
}

/// Two blocks that collide with friction and leave each other.
fn collision(integrator: Integrator, potential: ContactPotential, method: Method) -> Definition {
    let mut left = block("left", [0.0; 3], [2, 2, 2], 0.1);
    left.velocity = vec![Vec3::new(2.0, 0.3, 0.0); left.rest.len()];
    let right = block("right", [0.21, 0.05, 0.03], [2, 2, 2], 0.1);
    let mut definition = scene(vec![left, right]);
    definition.settings.time.step = 0.01;
    definition.settings.time.integrator = integrator;
    definition.settings.contact.potential = potential;
    definition.settings.solver.method = method;
    definition.settings.friction.coefficient = 0.3;
    definition
}

/// Forces of contact and friction come in pairs, with every integrator, potential and minimiser.
#[test]
fn collisions_conserve_linear_momentum() {
    use ContactPotential::{Convergent, Ipc, OrientationAware};
    let cases = INTEGRATORS.into_iter().flat_map(|i| {
        [(Ipc, Method::Barrier), (Convergent, Method::Barrier)]
            .into_iter()
            .chain([(OrientationAware, Method::Barrier), (Ipc, Method::BarrierFree)])
            .map(move |(potential, method)| (i, potential, method))
    });
    for (integrator, potential, method) in cases {
        let definition = collision(integrator, potential, method);
        let mut simulation = Simulation::new(&definition).unwrap();
        let momentum = |s: &Simulation| energetics::linear_momentum(s.model(), s.state());
        let (start, mut contacts, mut worst) = (momentum(&simulation), 0, 0.0_f64);
        for _ in 0..50 {
            contacts += simulation.step().unwrap().contacts;
            worst = worst.max((momentum(&simulation) - start).norm() / start.norm());
        }
        println!(
            "{integrator:?}, {potential:?}, {method:?}: momentum off by at most {worst:.1e}, {contacts} contacts"
        );
        assert!(contacts > 0 && worst < 1e-13, "{integrator:?} {potential:?} {method:?} {worst:e}");
        // the other block has got some of it
        let right = simulation.velocities()[27..].iter().map(|v| v.x).sum::<f64>() / 27.0;
        assert!(right > 0.4, "{integrator:?} {potential:?} {method:?} {right}");
    }
}

/// Internal forces have no moment at the end of the step, so implicit Euler turns the angular
/// momentum into L + h Σ m v⁺ × v exactly: it slows down spin by a term of order h², and no force
/// of the discretisation adds to that.
#[test]
fn implicit_euler_changes_angular_momentum_by_its_own_term_only() {
    let h = 0.01;
    let definition = flying_bar(h, Integrator::ImplicitEuler, Vec3::new(0.3, 2.0, -1.0));
    let mut simulation = Simulation::new(&definition).unwrap();
    for _ in 0..50 {
        let before = simulation.state().clone();
        simulation.step().unwrap();
        let (model, after) = (simulation.model(), simulation.state());
        let own: Vec3 =
            (0..after.v.len()).map(|i| h * model.mass[i] * after.v[i].cross(&before.v[i])).sum();
        let l0 = energetics::angular_momentum(model, &before);
        let l1 = energetics::angular_momentum(model, after);
        assert!((l1 - l0 - own).norm() < 1e-9 * l0.norm(), "{l0} {l1} {own}");
    }
}

/// Second-order integrators lose angular momentum with the square of the step.
#[test]
fn angular_momentum_converges() {
    let drift = |integrator, n: usize| {
        let spin = Vec3::new(0.3, 2.0, -1.0);
        let definition = flying_bar(0.08 / n as f64, integrator, spin);
        let simulation = Simulation::new(&definition).unwrap();
        let start = energetics::angular_momentum(simulation.model(), simulation.state());
        let simulation = run(&definition, n);
        let end = energetics::angular_momentum(simulation.model(), simulation.state());
        (end - start).norm() / start.norm()
    };
    for (integrator, least) in
        [(Integrator::ImplicitEuler, 0.8), (Integrator::Bdf2, 1.8), (Integrator::Newmark, 1.8)]
    {
        let (coarse, fine) = (drift(integrator, 64), drift(integrator, 128));
        println!("{integrator:?}: drift {coarse:.1e}, at half the step {fine:.1e}");
        assert!((coarse / fine).log2() > least, "{integrator:?} {coarse:e} {fine:e}");
    }
}

/// The midpoint rule keeps every quadratic invariant: inner forces have no moment between the start and the end, so that the
/// angular momentum changes by what the tolerance leaves.
#[test]
fn the_midpoint_rule_keeps_angular_momentum() {
    let mut definition = flying_bar(0.01, Integrator::ImplicitMidpoint, Vec3::new(0.3, 2.0, -1.0));
    definition.settings.solver.end.velocity = Some(1e-12);
    let mut simulation = Simulation::new(&definition).unwrap();
    let momentum = |s: &Simulation| energetics::angular_momentum(s.model(), s.state());
    let (start, mut worst) = (momentum(&simulation), 0.0_f64);
    for _ in 0..50 {
        assert!(simulation.step().unwrap().outcome.is_success());
        worst = worst.max((momentum(&simulation) - start).norm() / start.norm());
    }
    println!("midpoint rule: angular momentum off by at most {worst:.1e} in 50 steps");
    assert!(worst < 1e-12, "{worst:e}");
}

/// log₂ of the ratio of successive differences under halving of the step.
fn order(integrator: Integrator) -> f64 {
    let end = |n: usize| {
        // one element layer without shear: waves that 64 steps resolve
        let mut definition = flying_bar(0.1 / n as f64, integrator, Vec3::new(0.0, 3.0, 0.0));
        definition.bodies[0].start.clear();
        // a direction over the shortest step has rounding errors of up to 2e-9 m/s
        definition.settings.solver.end.velocity = Some(1e-8);
        run(&definition, n).positions().to_vec()
    };
    let [a, b, c] = [128, 256, 512].map(end);
    let distance = |p: &[Vec3], q: &[Vec3]| -> f64 {
        p.iter().zip(q).map(|(p, q)| (p - q).norm_squared()).sum::<f64>().sqrt()
    };
    (distance(&a, &b) / distance(&b, &c)).log2()
}

#[test]
fn integrators_have_their_order() {
    for (integrator, least) in INTEGRATORS.into_iter().zip([0.9, 1.85, 1.9, 1.9]) {
        let order = order(integrator);
        println!("{integrator:?}: observed order {order:.2}");
        assert!(order > least && order < least + 0.4, "{integrator:?} {order}");
    }
}
