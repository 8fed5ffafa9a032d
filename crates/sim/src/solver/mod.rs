//! Minimisers of the incremental potential, one file each, and what they are made of.

pub mod assembly;
pub mod barrier_free;
mod contact_subproblem;
pub mod direction;
pub mod forcing;
pub mod initial_guess;
pub mod line_search;
pub mod linear;
pub mod newton;
mod prescribed;
pub mod termination;
