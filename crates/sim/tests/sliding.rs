//! Friction of what slides, against Coulomb's law.

use crate::common::{block, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::definition::{BodyDef, BodyKind, Definition, Motion, Pivot, PrescribedDef};
use standoff_sim::material::{Law, Material};
use standoff_sim::settings::{Integrator, Lagging, LaggingUntil};
use standoff_sim::{Simulation, StepOutcome, energetics};

const INTEGRATORS: [Integrator; 4] = [
    Integrator::ImplicitEuler,
    Integrator::Bdf2,
    Integrator::Newmark,
    Integrator::ImplicitMidpoint,
];
const D_HAT: f64 = 2e-3;
const MU: f64 = 0.3;
const G: f64 = 9.81;
const MASS: f64 = 250.0;

/// A slab within d̂ above y = 0 that slides along x at 2 m/s.
fn slab() -> BodyDef {
    let law = Material { law: Law::FixedCorotated, young_modulus: 1e6, poisson_ratio: 0.3 };
    let mut slab = block("slab", [0.0, 0.9 * D_HAT, 0.0], [4, 1, 4], 0.25);
    slab.velocity = vec![Vec3::new(2.0, 0.0, 0.0); slab.rest.len()];
    if let BodyKind::Volume { material, .. } = &mut slab.kind {
        *material = law;
    }
    slab
}

fn sliding(bodies: Vec<BodyDef>, integrator: Integrator) -> Definition {
    let mut definition = scene(bodies);
    definition.gravity = Vec3::new(0.0, -G, 0.0);
    let settings = &mut definition.settings;
    settings.time.step = 2e-3;
    settings.time.integrator = integrator;
    settings.contact.d_hat = Some(D_HAT);
    settings.friction.coefficient = MU;
    settings.friction.stick_speed = Some(1e-3);
    settings.solver.end.velocity = Some(1e-6);
    definition
}

/// Largest difference between the friction of a step and μ times the normal force of the step before
/// (in the first step, of that step), over the latter.
fn worst_step(simulation: &mut Simulation, vertices: usize, steps: usize) -> f64 {
    let (mut normal, mut worst) = (f64::NAN, 0.0f64);
    for _ in 0..steps {
        assert!(simulation.step().unwrap().outcome.is_success());
        let force: Vec3 = simulation.contact_forces()[..vertices].iter().sum();
        let before = if normal.is_nan() { force.y } else { normal };
        worst = worst.max((-force.x / (MU * before) - 1.0).abs());
        normal = force.y;
    }
    worst
}

/// A slab that slides slows down by μ g, with a fixed κ and with one that is set again in every step.
#[test]
fn sliding_slows_down_by_mu_g_with_every_integrator() {
    for (integrator, stiffness) in INTEGRATORS.iter().flat_map(|&i| [(i, Some(1e11)), (i, None)]) {
        let mut definition = sliding(vec![slab()], integrator);
        definition.half_spaces.push(ground(0.0));
        definition.settings.contact.stiffness = stiffness;
        let mut simulation = Simulation::new(&definition).unwrap();
        let n = simulation.positions().len();
        let worst = worst_step(&mut simulation, n, 150);
        // the impulse of the ground is that of the weight and of what bounces at the end
        let end = energetics::linear_momentum(simulation.model(), simulation.state()) / MASS;
        let ratio = (2.0 - end.x) / (MU * (G * simulation.time() + end.y));
        println!(
            "{integrator:?}, fixed κ {stiffness:?}: friction is {ratio:.4} of mu times the normal \
             impulse; a step's is off the step before's by at most {worst:.1e}"
        );
        assert!((ratio - 1.0).abs() < 0.02, "{integrator:?} {ratio}");
        assert!(worst < 0.01, "{integrator:?} {worst}");
    }
}

/// The same on a plate that rises: where it has come to at the start of a step is no position at which
/// it carried the slab. The IPC 2020 reference takes normal forces there.
#[test]
fn a_rising_plate_rubs_with_the_force_that_it_had() {
    let plate = BodyDef {
        name: "plate".into(),
        rest: [[-9.0, 0.0, -9.0], [9.0, 0.0, -9.0], [9.0, 0.0, 9.0], [-9.0, 0.0, 9.0]]
            .map(Vec3::from)
            .to_vec(),
        kind: BodyKind::Obstacle {
            triangles: vec![[0, 2, 1], [0, 3, 2]],
            edges: Vec::new(),
            points: Vec::new(),
        },
        friction_material: "default".into(),
        ..BodyDef::default()
    };
    let mut definition = sliding(vec![slab(), plate], Integrator::ImplicitEuler);
    definition.prescribed.push(PrescribedDef::new(
        "rise",
        1,
        vec![0, 1, 2, 3],
        Motion::Rigid {
            linear: Vec3::new(0.0, 0.02, 0.0),
            angular: Vec3::zeros(),
            pivot: Pivot::StartCentre,
        },
    ));
    let n = definition.bodies[0].rest.len();
    let run =
        |definition: &Definition| worst_step(&mut Simulation::new(definition).unwrap(), n, 60);
    let own = run(&definition);
    definition.settings.friction.lag_with_new_stiffness = true;
    let other = run(&definition);
    println!("rising plate: off by at most {own:.1e}; with lag_with_new_stiffness {other:.1e}");
    assert!(own < 0.03 && other > 0.5, "{own} {other}");
}

/// With and without relaxation, lagging converges to the same friction; relaxation changes the way there.
#[test]
fn relaxation_changes_the_updates_of_friction_but_not_where_they_converge() {
    let run = |relaxation: bool| {
        let mut definition = sliding(vec![slab()], Integrator::ImplicitEuler);
        definition.half_spaces.push(ground(0.0));
        definition.settings.contact.stiffness = Some(1e11);
        definition.settings.friction.lagging = Lagging::Until(LaggingUntil::Converged);
        definition.settings.friction.relaxation = relaxation;
        // more updates than are taken as they are
        definition.settings.solver.end.velocity = Some(1e-10);
        let mut simulation = Simulation::new(&definition).unwrap();
        let mut updates = 0;
        for _ in 0..20 {
            let report = simulation.step().unwrap();
            assert!(report.outcome.is_success(), "{report:?}");
            updates += report.lagging_iterations;
        }
        (simulation.state().x.clone(), updates)
    };
    let ((relaxed, with), (plain, without)) = (run(true), run(false));
    let off = relaxed.iter().zip(&plain).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max);
    println!("{with} updates with relaxation, {without} without, {off:.1e} m apart");
    assert_ne!(with, without);
    assert!(off < 1e-6, "{off}");
}

/// The report's residual belongs to the friction by which the step was judged: above the tolerance where the limit of
/// updates ends it, below where it converged.
#[test]
fn the_residual_belongs_to_the_last_update_of_friction() {
    let run = |most: u32| {
        let mut definition = sliding(vec![slab()], Integrator::ImplicitEuler);
        definition.half_spaces.push(ground(0.0));
        definition.settings.friction.lagging = Lagging::Until(LaggingUntil::Converged);
        definition.settings.friction.max_lagging = most;
        let mut simulation = Simulation::new(&definition).unwrap();
        let tolerance = simulation.model().resolved.velocity_tolerance;
        let step = |_| simulation.step().unwrap();
        let reports: Vec<_> = (0..10).map(step).collect();
        (reports, tolerance)
    };
    let (reports, tolerance) = run(1);
    let limited = reports.iter().filter(|r| r.outcome == StepOutcome::LaggingLimit);
    assert!(limited.clone().count() > 0);
    assert!(limited.clone().all(|r| r.residual_speed >= tolerance));
    let (reports, tolerance) = run(100);
    assert!(reports.iter().all(|r| r.outcome == StepOutcome::Converged));
    assert!(reports.iter().all(|r| r.residual_speed < tolerance));
}
