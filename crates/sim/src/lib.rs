//! The simulator of Standoff. Reads and writes no file and prints nothing.
//!
//! The physics is in the folders: `material` (constitutive laws), `energy` (summands of the
//! potential), `contact` (barrier, pairs, friction), `solver` (minimisers). `step.rs` holds the
//! time step.

pub mod audit;
mod build;
pub mod contact;
pub mod definition;
pub mod diagnosis;
pub mod dirichlet;
pub mod energy;
pub mod error;
pub mod loads;
pub mod material;
pub mod model;
pub mod potential;
pub mod report;
pub mod rods;
pub mod simulation;
pub mod solver;
pub mod state;
pub mod step;
mod timing;

pub use definition::{Definition, expression, settings};
pub use diagnosis::{Culprit, Diagnosis};
pub use error::{BuildError, StepError};
pub use model::Model;
pub use report::{StepOutcome, StepReport};
pub use simulation::Simulation;
pub use state::State;
pub use step::energetics;
