//! Dirichlet conditions: vertices whose motion is prescribed. [`motion`](crate::motion) says where a scene wants them
//! over time, `targets` where they have to be at the end of a step, `penalty` takes them there where something
//! is in the way.

pub mod penalty;
pub mod targets;

pub use penalty::{DirichletPenalty, Pulled};
pub use targets::DirichletTargets;
