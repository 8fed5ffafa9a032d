//! A cloth falls on a fixed sphere; the run is written to a folder for ParaView.
//!
//!     cargo run --release -p standoff --example cloth_on_sphere

use standoff::prelude::*;

/// Runs the example.
///
/// # Errors
/// See [`Error`].
pub fn main() -> Result<(), Error> {
    let cotton = MaterialSection {
        young_modulus: 8e5,
        poisson_ratio: 0.24,
        density: 480.0,
        shell: Some(ShellSection { thickness: Some(3e-4), ..Default::default() }),
        ..Default::default()
    };
    let sheet = Shape::Plane(Plane { size: [0.6, 0.6], cells: [12, 12] });
    let sphere = Shape::Sphere(Sphere { radius: 0.15, layers: 4, surface: true });
    let scene = SceneBuilder::new()
        .time_step(0.02)
        .end_time(0.4)
        .friction(0.3)
        .material("cotton", cotton)
        .object(
            Object::shape("cloth", sheet)
                .role(Role::Shell)
                .material("cotton")
                .at([0.013, 0.16, 0.007]),
        )
        .object(Object::shape("sphere", sphere))
        .edit(|file| file.output.every = 5)
        .build()?;

    let folder = std::env::temp_dir().join(format!("standoff-cloth-{}", std::process::id()));
    let summary = standoff::run_with(&scene, &folder, Options { force: true }, &mut |event| {
        if let standoff::Event::Step(report) = event {
            println!("step {}: {} Newton iterations", report.step, report.newton_iterations);
        }
        ControlFlow::Continue(())
    })?;
    print!("{summary}");
    println!("open {} in ParaView", folder.join("run.pvd").display());
    assert!(summary.is_success() && summary.max_contacts > 0);
    Ok(())
}
