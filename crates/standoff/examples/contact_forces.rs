//! A block on a slope: what the contacts say, and what the slope feels, against statics.
//!
//!     cargo run --release -p standoff --example contact_forces

use standoff::prelude::*;

/// Runs the example.
///
/// # Errors
/// See [`Error`].
pub fn main() -> Result<(), Error> {
    // instead of tilting the ground, tilt gravity: by less than the angle of friction
    let slope = 0.3f64;
    let gravity = 9.81 * Vec3::new(slope.sin(), -slope.cos(), 0.0);
    let block =
        Shape::Box(BoxShape { size: [0.2, 0.1, 0.2], cells: [4, 2, 4], ..Default::default() });
    let stiff = MaterialSection { young_modulus: 1e6, density: 500.0, ..Default::default() };
    let scene = SceneBuilder::new()
        .time_step(0.01)
        .end_time(1.0)
        .gravity(gravity)
        .ground(0.0)
        .friction(0.5)
        .material("wood", stiff)
        // forces at rest are as exact as the minimisation: far more than motion needs
        .edit(|file| file.solver.end.velocity_relative = 1e-6)
        .object(Object::shape("block", block).material("wood").at([0.0, 0.0502, 0.0]))
        .build()?;
    let mut simulation = Simulation::new(&scene)?;
    simulation.run(&mut |_, _| ControlFlow::Continue(()))?;

    let block = simulation.body("block")?;
    let weight = block.masses().iter().sum::<f64>() * gravity;
    let ground = simulation.half_space("ground")?;
    println!("weight {:.3?} N, force on the ground {:.3?} N", weight, ground.force());
    println!("torque on the ground about the block {:.3?} N m", ground.torque(block.centre()));
    for contact in simulation.contacts().iter().take(5) {
        println!(
            "vertex {:?}: gap {:.2e} m, normal force {:.3} N at {:.3?}",
            contact.vertices, contact.gap, contact.force, contact.points[0]
        );
    }
    let error = (ground.force() - weight).norm() / weight.norm();
    println!("relative difference {error:.1e}");
    assert!(error < 1e-3, "{error}");
    Ok(())
}
