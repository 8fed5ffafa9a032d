//! Random scenes of all kinds of bodies, materials, speeds and steps, run by the `standoff` command, and
//! every frame that comes out checked by an independent program.
//!
//! Nothing here uses a crate of the simulator: scenes are text, the command is a process, frames are read as
//! bytes, and [`check`] has its own topology, search and exact arithmetic. A mistake would have to be made
//! twice, in different ways, to pass.

pub mod balance;
pub mod check;
pub mod exact;
pub mod frame;
pub mod generate;
pub mod numbers;
pub mod outcome;
pub mod run;
