//! Summands of the potential, one file each.

pub mod tet;
