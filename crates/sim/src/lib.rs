//! The simulator of Standoff. Reads and writes no file and prints nothing.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.
//!
//! The physics is in the folders `material` (constitutive laws), `energy` (terms of the potential) and
//! `contact` (barrier, pairs, friction), the procedure in `step` (the time step) and `solver` (minimisers).
//! [`definition`] is what a simulation is built from, [`Simulation`] steps it. The modules of the procedure
//! are public for the crates beside this one and for tests, and hidden here.

pub mod audit;
#[doc(hidden)]
pub mod body;
#[doc(hidden)]
pub mod build;
pub mod characteristic;
#[doc(hidden)]
pub mod clock;
pub mod contact;
#[doc(hidden)]
pub mod contacts;
#[doc(hidden)]
pub mod context;
pub mod controls;
pub mod decomposition;
pub mod definition;
#[doc(hidden)]
pub mod detector;
pub mod diagnosis;
#[doc(hidden)]
pub mod dirichlet;
pub mod energy;
pub mod error;
#[doc(hidden)]
pub mod frames;
mod grip;
mod growth;
#[doc(hidden)]
pub mod iterate;
#[doc(hidden)]
pub(crate) mod joint_contact;
pub mod joints;
#[doc(hidden)]
pub mod loads;
pub mod material;
#[doc(hidden)]
pub mod model;
#[doc(hidden)]
pub mod motion;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod past;
mod placement;
#[doc(hidden)]
pub mod potential;
mod rails;
pub mod recovery;
pub mod report;
pub mod simulation;
#[doc(hidden)]
pub mod sizes;
#[doc(hidden)]
pub mod solver;
pub mod state;
#[doc(hidden)]
pub mod step;
#[doc(hidden)]
pub mod threads;
mod thresholds;
mod tie;
pub mod unknowns;
pub mod watch;

pub use contacts::ContactRecord;
pub use controls::Controls;
pub use definition::{Definition, expression, settings};
pub use diagnosis::{Culprit, Diagnosis};
pub use error::{BuildError, ControlError, StallCause, StepError};
pub use model::Model;
pub use report::{StepOutcome, StepReport};
pub use simulation::Simulation;
pub use state::State;
pub use step::energetics;
pub use step::minimum::{Accuracy, Minimum};
pub use thresholds::CONJUGATE_GRADIENT_ITERATIONS;
pub use watch::{Iteration, Watcher};
