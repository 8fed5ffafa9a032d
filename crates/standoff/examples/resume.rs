//! A run whose program stops half-way, and another that takes it up: the frames are those of a run that was
//! never stopped, byte by byte, although gravity was changed on the way.
//!
//!     cargo run --release -p standoff --example resume

use standoff::prelude::*;
use std::path::Path;

fn scene() -> Result<Scene, Error> {
    let block = || Shape::Box(BoxShape { size: [0.2; 3], cells: [2, 2, 2], ..Default::default() });
    SceneBuilder::new()
        .time_step(0.01)
        .end_time(0.2)
        .ground(0.0)
        .object(Object::shape("low", block()).at([0.0, 0.102, 0.0]))
        .object(Object::shape("high", block()).at([0.05, 0.305, 0.03]))
        .build()
}

/// Steps up to `end`, the wind turning after the fifth.
fn steps(simulation: &mut Simulation, end: u64) -> Result<(), Error> {
    while simulation.step_index() < end {
        if simulation.step_index() == 5 {
            simulation.set_gravity([3.0, -9.0, 0.0])?;
        }
        simulation.step()?;
    }
    simulation.finish()
}

fn begin(folder: &Path) -> Result<Simulation, Error> {
    let mut simulation = Simulation::new(&scene()?)?;
    simulation.record(folder, Options { force: true })?;
    Ok(simulation)
}

/// Runs the example.
///
/// # Errors
/// See [`Error`].
pub fn main() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("standoff-resume-{}", std::process::id()));
    let (whole, cut) = (folder.join("whole"), folder.join("cut"));
    steps(&mut begin(&whole)?, 20)?;
    steps(&mut begin(&cut)?, 13)?;
    let mut resumed = Simulation::resume(&standoff::load_run(&cut)?, &cut)?;
    println!("goes on after step {}", resumed.step_index());
    steps(&mut resumed, 20)?;
    for step in 0..=20 {
        let frame = |run: &Path| std::fs::read(run.join(format!("frames/{step:06}.vtu"))).ok();
        assert!(frame(&whole).is_some() && frame(&whole) == frame(&cut), "frame {step}");
    }
    println!("all frames are equal");
    Ok(())
}
