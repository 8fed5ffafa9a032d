//! The simulator of Standoff. Reads and writes no file and prints nothing.
//!
//! The physics is in the folders: `material` (constitutive laws), `energy` (summands of the
//! potential), `contact` (barrier, pairs, friction), `solver` (minimisers). `step.rs` holds the
//! time step.

pub mod contact;
pub mod definition;
pub mod energy;
pub mod material;
pub mod report;
pub mod settings;
pub mod solver;
