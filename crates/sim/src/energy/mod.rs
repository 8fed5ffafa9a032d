//! Summands of the potential, one file each.

pub mod damping;
pub mod element;
pub mod hinge;
pub mod jet;
pub mod membrane;
pub mod pressure;
pub mod rod_joint;
pub mod segment;
pub mod shape_operator;
pub mod spring;
pub mod tet;
pub mod thin;
