//! An energy of one's own: a potential that pulls every vertex of a ball into a well, and its use in a run
//! that is stopped and resumed.
//!
//!     cargo run --release -p standoff --example own_energy

use standoff::energy::{Element, Elements, Hessian};
use standoff::errors::{OutputError, RunError};
use standoff::prelude::*;

/// Ψ = w r √(1 + |x − c|²/r²): a bowl with a slope of w far away.
#[derive(Debug, Clone)]
struct Well {
    centre: Vec3,
    /// Force far away, N.
    force: f64,
    /// Distance from which on the force is about constant, m.
    radius: f64,
}

impl Well {
    fn root(&self, x: &Vec3) -> f64 {
        (1.0 + (x - self.centre).norm_squared() / (self.radius * self.radius)).sqrt()
    }
}

impl Element<1> for Well {
    const NAME: &'static str = "well";
    const TRANSLATION_INVARIANT: bool = false;

    fn value(&self, [x]: &[Vec3; 1]) -> f64 {
        self.force * self.radius * self.root(x)
    }

    fn gradient(&self, [x]: &[Vec3; 1]) -> [Vec3; 1] {
        [(x - self.centre) * (self.force / (self.radius * self.root(x)))]
    }

    fn hessian_psd(&self, [x]: &[Vec3; 1]) -> Hessian<1> {
        // convex: nothing has to be projected
        let (root, d) = (self.root(x), (x - self.centre) / self.radius);
        let scale = self.force / (self.radius * root);
        [[(Mat3::identity() - d * d.transpose() / (root * root)) * scale]]
    }
}

fn scene() -> Result<Scene, Error> {
    let ball = Shape::Sphere(Sphere { radius: 0.1, layers: 2, ..Default::default() });
    let mut scene = SceneBuilder::new()
        .time_step(0.01)
        .end_time(0.3)
        .gravity([0.0; 3])
        .object(Object::shape("ball", ball).at([0.5, 0.0, 0.0]))
        .edit(|file| file.output.every = 10)
        .build()?;
    let vertices = scene.vertices("ball").unwrap_or_default();
    let stencils: Vec<[u32; 1]> = vertices.map(|v| [v as u32]).collect();
    let (count, well) = (stencils.len(), Well { centre: Vec3::zeros(), force: 1.0, radius: 0.05 });
    scene.add_energy(Elements::from_parts(stencils, vec![well; count], count));
    Ok(scene)
}

/// Runs the example.
///
/// # Errors
/// See [`Error`].
pub fn main() -> Result<(), Error> {
    let folder = std::env::temp_dir().join(format!("standoff-well-{}", std::process::id()));
    let mut simulation = Simulation::new(&scene()?)?;
    simulation.record(&folder, Options { force: true })?;
    for _ in 0..15 {
        let report = simulation.step()?;
        println!("{:.2} s: energy of the well {:.4} J", report.time, report.energies["well"]);
    }
    simulation.finish()?;

    // no file holds the energy: the scene of the folder alone is refused, by its name
    match Simulation::resume(&standoff::load_run(&folder)?, &folder) {
        Err(Error::Run(RunError::Output(error @ OutputError::Energy { .. }))) => {
            println!("{error}")
        }
        other => panic!("{other:?}"),
    }
    let mut resumed = Simulation::resume(&scene()?, &folder)?;
    while !resumed.is_finished() {
        resumed.step()?;
    }
    let x = resumed.body("ball")?.centre().x;
    println!("the ball is at {x:.3} m");
    assert!(x < 0.5);
    Ok(())
}
