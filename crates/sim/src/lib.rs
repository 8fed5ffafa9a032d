//! The simulator of Standoff. Reads and writes no file and prints nothing.
//!
//! The physics is in the folders: `material` (constitutive laws), `energy` (summands of the
//! potential), `contact` (barrier, pairs, friction), `solver` (minimisers). `step.rs` holds the
//! time step.

pub mod audit;
mod bodies;
pub mod boundary;
pub mod collisions;
pub mod contact;
pub mod definition;
pub mod diagnosis;
pub mod energetics;
pub mod energy;
pub mod error;
pub mod expression;
pub mod integrator;
pub mod line_search;
pub mod load;
pub mod material;
pub mod model;
pub mod potential;
pub mod report;
pub mod rods;
pub mod settings;
pub mod simulation;
pub mod solver;
pub mod state;
pub mod step;
pub mod system;
mod timing;

pub use definition::Definition;
pub use diagnosis::{Culprit, Diagnosis};
pub use error::{BuildError, StepError};
pub use model::Model;
pub use report::{StepOutcome, StepReport};
pub use simulation::Simulation;
pub use state::State;
