//! Two fingers grip a soft block and lift it. Their targets are set in every step, as a robot's controller
//! would, by the force that they feel.
//!
//!     cargo run --release -p standoff --example gripper

use standoff::prelude::*;

/// Force of a finger on the block that the controller aims at, N.
const GRIP: f64 = 20.0;
/// Speed of closing and lifting, m/s.
const SPEED: f64 = 0.1;
const STEP: f64 = 0.01;

/// Runs the example.
///
/// # Errors
/// See [`Error`].
pub fn main() -> Result<(), Error> {
    let finger =
        || Shape::Box(BoxShape { size: [0.02, 0.1, 0.1], cells: [1, 1, 1], surface: true });
    let block = Shape::Box(BoxShape { size: [0.1; 3], cells: [3, 3, 3], ..Default::default() });
    let foam = MaterialSection { young_modulus: 5e4, density: 300.0, ..Default::default() };
    let mut builder = SceneBuilder::new()
        .time_step(STEP)
        .end_time(0.6)
        .ground(0.0)
        .friction(0.6)
        .material("foam", foam);
    let block = Object::shape("block", block).material("foam").at([0.0, 0.0505, 0.0]);
    let block = builder.add(block);
    let left = builder.add(Object::shape("left", finger()).at([-0.0615, 0.06, 0.0]));
    let right = builder.add(Object::shape("right", finger()).at([0.0615, 0.06, 0.0]));

    let mut simulation = Simulation::new(&builder.build()?)?;
    let start = simulation.body(block)?.centre().y;
    while !simulation.is_finished() {
        for (finger, inwards) in [(left, 1.0), (right, -1.0)] {
            // the block pushes the fingers outwards
            let force = -inwards * simulation.body(finger)?.force().x;
            let (close, lift) = if force < GRIP { (SPEED, 0.0) } else { (0.0, SPEED) };
            simulation.body_mut(finger)?.move_by([inwards * close * STEP, lift * STEP, 0.0])?;
        }
        simulation.step()?;
        if simulation.step_index().is_multiple_of(10) {
            let height = simulation.body(block)?.centre().y;
            let force = simulation.body(left)?.force();
            println!(
                "{:.2} s: block at {height:.4} m, left finger feels {force:.2?} N",
                simulation.time()
            );
        }
    }
    let lifted = simulation.body(block)?.centre().y - start;
    println!("lifted by {lifted:.4} m");
    assert!(lifted > 0.01, "{lifted}");
    Ok(())
}
