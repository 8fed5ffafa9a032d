//! The simulator of Standoff. Reads and writes no file and prints nothing.
//!
//! The physics is in the folders `material` (constitutive laws), `energy` (terms of the potential) and
//! `contact` (barrier, pairs, friction), the procedure in `step` (the time step) and `solver` (minimisers).
//! [`definition`] is what a simulation is built from, [`build`] builds it.

pub mod audit;
pub mod body;
pub mod build;
pub mod characteristic;
pub mod contact;
pub mod contacts;
pub mod controls;
pub mod decomposition;
pub mod definition;
pub mod diagnosis;
pub mod dirichlet;
pub mod energy;
pub mod error;
pub mod frames;
pub mod iterate;
pub mod loads;
pub mod material;
pub mod model;
pub mod names;
pub mod potential;
pub mod report;
pub mod simulation;
pub mod solver;
pub mod state;
pub mod step;

pub use contacts::ContactRecord;
pub use controls::Controls;
pub use definition::{Definition, expression, settings};
pub use diagnosis::{Culprit, Diagnosis};
pub use error::{BuildError, ControlError, StepError};
pub use model::Model;
pub use report::{StepOutcome, StepReport};
pub use simulation::Simulation;
pub use state::State;
pub use step::energetics;
