//! Simulation of deformable bodies in contact. Solids, shells, rods and obstacles never pass through each
//! other, and no element inverts, in any step.
//!
//! Programs depend on this crate. It combines scenes, simulations, runs in folders and user-defined energies
//! from the crates beneath, and its public items are kept stable.
//!
//! # A tour
//!
//! A scene is built in code, or read from a scene file ([`load`]); both are the same model. Units are SI,
//! y is up.
//!
//! ```
//! # fn main() -> Result<(), standoff::Error> {
//! use standoff::prelude::*;
//!
//! let rubber = MaterialSection { young_modulus: 2e5, density: 1000.0, ..Default::default() };
//! let scene = SceneBuilder::new()
//!     .time_step(0.01)
//!     .end_time(0.1)
//!     .ground(0.0)
//!     .friction(0.4)
//!     .material("rubber", rubber)
//!     .object(
//!         Object::shape("ball", Shape::Sphere(Sphere { radius: 0.1, layers: 2, ..Default::default() }))
//!             .material("rubber")
//!             .at([0.0, 0.105, 0.0])
//!             .velocity([0.0, -1.0, 0.0]),
//!     )
//!     .build()?;
//!
//! // Advance it, and look at bodies by name.
//! let mut simulation = Simulation::new(&scene)?;
//! while !simulation.is_finished() {
//!     simulation.step()?;
//! }
//! let ball = simulation.body("ball")?;
//! assert!(ball.positions().iter().all(|x| x.y > 0.0));
//!
//! // What the ground exerts on the ball, the ball exerts on the ground.
//! let ground = simulation.half_space("ground")?.force();
//! assert!((ball.force() + ground).norm() <= 1e-9 * (1.0 + ground.norm()));
//! # Ok(())
//! # }
//! ```
//!
//! ## Handles
//!
//! [`SceneBuilder::add`] returns a handle, which stands for the body wherever its name does and is found without comparing
//! names. What holds a body and the loads on it have handles of their own. [`Body::handle`] gives that of a body of a scene
//! file.
//!
//! ```
//! # fn main() -> Result<(), standoff::Error> {
//! use standoff::prelude::*;
//!
//! let block = Object::shape("block", Shape::Box(BoxShape::default()));
//! let push = ForceSection { force: Some([0.0; 3].map(Formula::Number)), ..Default::default() };
//! let mut builder = SceneBuilder::new();
//! let block = builder.add(block.region("corner", vec![0]).fixed("corner").force(push));
//! let (corner, push) = (block.fixed(0), block.force(0));
//! let mut simulation = Simulation::new(&builder.build()?)?;
//!
//! simulation.set_load(push, LoadValue::Force(Vec3::new(10.0, 0.0, 0.0)))?;
//! simulation.step()?;
//! assert_eq!(simulation.body(block)?.name(), "block");
//! assert!(simulation.held(corner)?.force().norm() > 0.0);
//!
//! // A handle is of use in its own scene alone.
//! let mut other = SceneBuilder::new();
//! let foreign = other.add(Object::shape("block", Shape::Box(BoxShape::default())));
//! assert!(simulation.body(foreign).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! ## Changing things between steps
//!
//! Obstacles and held vertices can be given targets, bodies positions and velocities, and loads and gravity new values.
//! All of that is part of the state. A simulation that is saved and restored, in memory or in the folder of a
//! run, continues with the same bits.
//!
//! ```
//! # fn main() -> Result<(), standoff::Error> {
//! use standoff::prelude::*;
//!
//! let plate = Shape::Plane(Plane { size: [1.0, 1.0], cells: [1, 1] });
//! let scene = SceneBuilder::new()
//!     .time_step(0.01)
//!     .end_time(1.0)
//!     .object(Object::shape("plate", plate))
//!     .object(Object::shape("block", Shape::Box(BoxShape::default())).at([0.0, 0.502, 0.0]))
//!     .build()?;
//! let mut simulation = Simulation::new(&scene)?;
//! for _ in 0..3 {
//!     simulation.body_mut("plate")?.move_by([0.0, 0.002, 0.0])?;
//!     simulation.step()?;
//! }
//! assert!((simulation.body("plate")?.centre().y - 0.006).abs() < 1e-5);
//!
//! let saved = simulation.save();
//! simulation.set_gravity([0.0, 0.0, 0.0])?;
//! simulation.step()?;
//! simulation.load(&saved)?;
//! assert_eq!(simulation.step_index(), 3);
//! # Ok(())
//! # }
//! ```
//!
//! ## Many at once
//!
//! A [`Batch`] has many simulations in one process and advances them in parallel, each on one thread.
//!
//! ## Runs in folders
//!
//! [`run`] does what the command `standoff run` does, and [`resume`] continues a run that was stopped.
//! [`Simulation::record`] writes the same folder while a program takes the steps, and
//! [`Simulation::resume`] continues it.
//!
//! ## Energies of one's own
//!
//! An energy is a type that implements [`energy::Element`] (value, gradient and projected Hessian over N
//! vertices) or, more generally, [`energy::Term`]. It becomes part of the incremental potential beside those
//! of bodies, contact and friction.
//!
//! ```
//! # fn main() -> Result<(), standoff::Error> {
//! use standoff::energy::{Element, Elements, Hessian};
//! use standoff::prelude::*;
//!
//! /// A spring of rest length zero to a fixed point, Ψ = k/2 ‖x − a‖².
//! #[derive(Debug, Clone)]
//! struct Tether {
//!     anchor: Vec3,
//!     stiffness: f64,
//! }
//!
//! impl Element<1> for Tether {
//!     const NAME: &'static str = "tethers";
//!     const TRANSLATION_INVARIANT: bool = false;
//!     fn value(&self, [x]: &[Vec3; 1]) -> f64 {
//!         0.5 * self.stiffness * (x - self.anchor).norm_squared()
//!     }
//!     fn gradient(&self, [x]: &[Vec3; 1]) -> [Vec3; 1] {
//!         [self.stiffness * (x - self.anchor)]
//!     }
//!     fn hessian_psd(&self, _: &[Vec3; 1]) -> Hessian<1> {
//!         [[Mat3::from_diagonal_element(self.stiffness)]]
//!     }
//! }
//!
//! let mut scene = SceneBuilder::new()
//!     .time_step(0.01)
//!     .end_time(0.1)
//!     .object(Object::shape("block", Shape::Box(BoxShape::default())))
//!     .build()?;
//! let vertices = scene.vertices("block").unwrap();
//! let tether = Tether { anchor: scene.definition.bodies[0].rest[0], stiffness: 1e4 };
//! let count = vertices.end;
//! scene.add_energy(Elements::from_parts(vec![[vertices.start as u32]], vec![tether], count));
//!
//! let mut simulation = Simulation::new(&scene)?;
//! let report = simulation.step()?;
//! assert!(report.energies["tethers"] > 0.0);
//! # Ok(())
//! # }
//! ```
//!
//! A checkpoint cannot hold such an energy: `standoff resume` refuses the folder and names the energy, and
//! [`Simulation::resume`] continues with a scene to which it was added again.
//!
//! ## Inside a step
//!
//! [`Simulation::watch`] looks on at the iterations of a step and can end it, and
//! [`Simulation::set_linear_solver`] takes a linear solver of one's own. With the feature `gpu` of this crate,
//! `settings.solver.device` may be [`Device::Gpu`](settings::Device::Gpu): a graphics processor then solves the linear systems.
//!
//! ## Errors
//!
//! Everything returns [`Error`], whose variants are the typed errors of the crates beneath. Messages name file,
//! line, object and primitive, and say what to do.
//!
//! ```
//! use standoff::prelude::*;
//!
//! let error = SceneBuilder::new()
//!     .time_step(0.01)
//!     .end_time(1.0)
//!     .object(Object::shape("ball", Shape::Sphere(Sphere::default())).material("ruber"))
//!     .build()
//!     .unwrap_err();
//! assert!(error.to_string().contains("unknown material 'ruber'"), "{error}");
//! ```
//!
//! # Threads
//!
//! Steps run in the current thread pool of `rayon`; those of a [`Batch`] each on one of its threads. Results do not depend on the number of threads.

mod batch;
mod build;
mod device;
mod error;
mod files;
mod handle;
pub mod prelude;
mod simulation;

pub use batch::Batch;
pub use build::{Object, SceneBuilder};
pub use error::{BatchError, Error};
pub use files::{
    LoadOptions, fingerprint, load, load_run, load_with, resume, resume_with, run, run_with,
};
pub use handle::{
    BodyHandle, HalfSpaceHandle, Handle, LoadHandle, OfBody, OfHalfSpace, OfLoad, OfPrescription,
    PrescriptionHandle, Which,
};
pub use simulation::{
    Applied, Body, BodyMut, Contact, HalfSpace, Held, LoadValue, Pose, Simulation,
};
pub use standoff_linalg::{Mat3, Vec3};
pub use standoff_mesh::{self as mesh, Mesh, shape};
pub use standoff_run::{Event, Options, Summary};
pub use standoff_scene::{Scene, file as scene_file};
pub use standoff_sim::joints::JointTarget;
pub use standoff_sim::report::JointForces;
pub use standoff_sim::{ContactRecord, Definition, Iteration, StepReport, definition, settings};

/// Energies of one's own: [`Element`](energy::Element) for summands over N vertices each,
/// [`Term`](energy::Term) for anything.
pub mod energy {
    pub use standoff_sim::energy::{Element, Elements, Hessian, Projection, Role, Term};
    pub use standoff_sparse::{Layout, Stencils};
}

/// Laws of solids, and constants of rubber from measured stresses.
pub mod material {
    pub use standoff_scene::measured;
    pub use standoff_sim::definition::FibreFamily;
    pub use standoff_sim::material::fibres::{FibreDirection, FibreLaw};
    pub use standoff_sim::material::inelastic::{Inelasticity, Plasticity, Relaxation};
    pub use standoff_sim::material::rubber::{self, OgdenTerm, Rubber, fit};
    pub use standoff_sim::material::{Law, Material};
}

/// Linear solvers of one's own, for [`Simulation::set_linear_solver`], and those of Standoff to build on.
pub mod linear {
    pub use standoff_sparse::{
        BlockMatrix, BlockPattern, Cholesky, ConjugateGradient, Hybrid, LinearSolver,
        MixedCholesky, Ordering, Preconditioner, Residuals, SolveError, SolveReport, SolveSeconds,
    };
}

/// The errors that [`Error`] is made of.
pub mod errors {
    pub use crate::error::DeviceError;
    pub use standoff_ipc_import::ImportError;
    pub use standoff_mesh::MeshError;
    pub use standoff_run::{OutputError, RunError, Stop, Stopped};
    pub use standoff_scene::SceneError;
    pub use standoff_sim::{BuildError, ControlError, StepError};
}
