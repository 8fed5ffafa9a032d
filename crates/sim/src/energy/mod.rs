//! Summands of the potential, one file each.

pub mod damping;
pub mod tet;
