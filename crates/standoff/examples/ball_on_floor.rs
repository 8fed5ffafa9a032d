//! A soft ball falls on the floor: the smallest whole program.
//!
//!     cargo run --release -p standoff --example ball_on_floor

use standoff::prelude::*;

/// Runs the example.
///
/// # Errors
/// See [`Error`].
pub fn main() -> Result<(), Error> {
    let ball = Shape::Sphere(Sphere { radius: 0.1, layers: 3, ..Default::default() });
    let rubber = MaterialSection { young_modulus: 2e5, ..Default::default() };
    let scene = SceneBuilder::new()
        .time_step(0.01)
        .end_time(0.4)
        .ground(0.0)
        .material("rubber", rubber)
        .object(Object::shape("ball", ball).material("rubber").at([0.0, 0.3, 0.0]))
        .build()?;

    let mut simulation = Simulation::new(&scene)?;
    let mut lowest = f64::INFINITY;
    simulation.run(&mut |simulation, report| {
        let gap = simulation.positions().iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
        lowest = lowest.min(gap);
        if report.step.is_multiple_of(10) {
            println!(
                "{:.2} s: lowest vertex at {gap:.5} m, {} contacts",
                report.time, report.contacts
            );
        }
        ControlFlow::Continue(())
    })?;
    println!("the ball came as close as {lowest:.2e} m and never touched");
    assert!(lowest > 0.0 && lowest < 1e-2);
    Ok(())
}
