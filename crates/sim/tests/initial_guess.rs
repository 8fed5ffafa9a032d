//! Where the minimisation of a step begins changes how many iterations it takes, and not where it ends.

use crate::common::{block, difference, ground, scene};
use standoff_linalg::Vec3;
use standoff_sim::Simulation;
use standoff_sim::definition::Definition;
use standoff_sim::settings::InitialGuess;

const ALL: [InitialGuess; 3] =
    [InitialGuess::Positions, InitialGuess::RigidMotion, InitialGuess::Extrapolation];

/// A block that slides and turns on the ground, with another on top.
fn sliding(guess: InitialGuess) -> Definition {
    let mut bodies = vec![
        block("lower", [0.0, 1.5e-3, 0.0], [4, 2, 4], 0.1),
        block("upper", [0.1, 0.203, 0.1], [2, 2, 2], 0.1),
    ];
    for body in &mut bodies {
        let turn = |p: &Vec3| Vec3::new(2.0, 0.0, 0.0) + Vec3::y().cross(p);
        body.velocity = body.rest.iter().map(turn).collect();
    }
    let mut definition = scene(bodies);
    definition.gravity = Vec3::new(0.0, -9.81, 0.0);
    definition.half_spaces.push(ground(0.0));
    let settings = &mut definition.settings;
    settings.time.step = 5e-3;
    settings.contact.d_hat = Some(2e-3);
    settings.contact.stiffness = Some(1e9);
    settings.friction.coefficient = 0.2;
    settings.friction.stick_speed = Some(1e-4);
    settings.solver.end.velocity = Some(1e-8);
    settings.solver.initial_guess = guess;
    definition
}

/// Iterations of some steps.
fn iterations(simulation: &mut Simulation, steps: usize) -> u64 {
    let step = |_| {
        let report = simulation.step().expect("a step");
        assert!(report.outcome.is_success() && simulation.audit().is_empty(), "{report:?}");
        report.newton_iterations
    };
    (0..steps).map(step).sum()
}

#[test]
fn sliding_blocks_take_fewer_iterations_to_the_same_positions() {
    let runs = ALL.map(|guess| {
        let mut simulation = Simulation::new(&sliding(guess)).expect("a valid scene");
        (iterations(&mut simulation, 30), simulation)
    });
    let [(none, published), (rigid, _), (extrapolated, last)] = &runs;
    let apart = difference(published, last);
    println!("iterations {none}, {rigid}, {extrapolated}; positions within {apart:.1e} m");
    assert!(published.positions().iter().all(|p| p.x > 0.1), "the blocks slide");
    assert!(apart < 1e-7, "{apart:e}");
    assert!(5 * extrapolated < 4 * rigid.min(none), "{extrapolated} of {rigid} and {none}");
}

/// The same step from a state in which the velocities have just changed by `change` of themselves.
fn after_change(guess: InitialGuess, change: f64) -> Simulation {
    let mut start = Simulation::new(&sliding(InitialGuess::Positions)).expect("a valid scene");
    iterations(&mut start, 5);
    let mut state = start.state().clone();
    state.v_previous = state.v.iter().map(|v| (1.0 + change) * v).collect();
    let mut simulation = Simulation::restore(&sliding(guess), state).expect("a state of the scene");
    iterations(&mut simulation, 1);
    simulation
}

#[test]
fn what_has_just_turned_back_is_not_extrapolated() {
    for change in [0.2, -0.2, 0.3, -2.0] {
        let rigid = after_change(InitialGuess::RigidMotion, change);
        let extrapolated = after_change(InitialGuess::Extrapolation, change);
        let same = rigid.positions() == extrapolated.positions();
        assert_eq!(same, f64::abs(change) > 0.25, "velocities changed by {change}");
    }
}

/// A block so fast that h v ends beyond a wall, out of contact.
#[test]
fn a_guess_goes_no_further_than_collisions_admit() {
    let mut bullet = block("bullet", [-0.15, 0.33, 0.33], [1; 3], 0.1);
    bullet.velocity = vec![Vec3::new(100.0, 0.0, 0.0); bullet.rest.len()];
    let mut definition = scene(vec![bullet, block("wall", [0.0; 3], [1, 8, 8], 0.1)]);
    definition.settings.time.step = 5e-3;
    assert_eq!(definition.settings.solver.initial_guess, InitialGuess::Extrapolation);
    let mut simulation = Simulation::new(&definition).expect("a valid scene");
    for _ in 0..3 {
        simulation.step().expect("a step");
        // what it pushes before it bulges
        let [bullet, wall] = [0, 1].map(|b| {
            let vertices = simulation.model().bodies[b].vertices.clone();
            vertices.map(|v| simulation.positions()[v].x).fold(f64::NEG_INFINITY, f64::max)
        });
        assert!(bullet < wall, "{bullet} {wall}");
    }
}

/// Small blocks that hit the ground in the first step, and a large one that turns above them.
fn falling_and_turning(guess: InitialGuess, falling: usize) -> Definition {
    let small = |k: usize| {
        let mut body = block(&format!("small {k}"), [0.3 * k as f64, 0.05, 0.0], [1; 3], 0.1);
        body.velocity = vec![Vec3::new(0.0, -12.0, 0.0); body.rest.len()];
        body
    };
    let mut bodies: Vec<_> = (0..falling).map(small).collect();
    let mut large = block("large", [0.0, 5.0, 0.0], [6; 3], 0.1);
    large.velocity = large.rest.iter().map(|p| Vec3::new(0.0, 400.0, 0.0).cross(p)).collect();
    bodies.push(large);
    let mut definition = scene(bodies);
    definition.half_spaces.push(ground(0.0));
    definition.settings.time.step = 5e-3;
    definition.settings.solver.initial_guess = guess;
    // with balance of forces the blocks on the ground take as many iterations as the one that turns
    definition.settings.solver.end.forces = Some(1.0);
    definition
}

/// From where the step begins, the turning block needs more iterations than the others.
#[test]
fn however_many_bodies_are_stopped_the_others_start_from_their_rigid_motion() {
    let of = |guess, falling| {
        let definition = falling_and_turning(guess, falling);
        iterations(&mut Simulation::new(&definition).expect("a valid scene"), 1)
    };
    for falling in [1, 10] {
        let [none, rigid, _] = ALL.map(|guess| of(guess, falling));
        println!("{falling} blocks fall: {none} iterations, {rigid} from the rigid motion");
        assert!(rigid < none, "{falling} blocks fall: {rigid} of {none}");
    }
}
