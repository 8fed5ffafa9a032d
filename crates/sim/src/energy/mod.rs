//! Summands of the potential, one file each.

pub mod damping;
pub mod pressure;
pub mod spring;
pub mod tet;
