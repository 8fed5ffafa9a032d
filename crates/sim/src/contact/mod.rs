//! Contact: barrier, pairs, potential, friction, stiffness.
//!
//! `barrier` knows scalars only, `standoff_geometry::distance` geometry only; `potential` chains
//! them over the pairs that `pairs` selects, and `set` holds all contacts at given positions. `friction` lags the pairs' forces and frames,
//! `friction_term` owns them, `friction_relaxation` makes that settle; `batch` is the fast twin of `potential`'s Hessian; `forecast` forecasts
//! the forces that stiffen it; `stiffness` knows how κ follows from loads and masses; `constraints` are those of the barrier-free method,
//! `curvature` is that of their distances; `pair_forces` sums what bodies act with on each other.

pub mod barrier;
mod batch;
mod constraints;
mod curvature;
pub mod forecast;
pub mod friction;
pub mod friction_relaxation;
mod friction_term;
pub mod half_space;
mod hessian;
pub mod max_approximation;
pub mod orientation;
pub mod pair_forces;
pub mod pairs;
pub mod potential;
mod set;
mod slip;
pub mod stiffness;
pub mod weighting;

pub use barrier::Barrier;
pub use constraints::{Constraint, ConstraintKey, ContactConstraints};
pub use curvature::Curvature;
pub use friction::{FrictionContact, FrictionKey, FrictionMaterials, FrictionSet};
pub use friction_term::Friction;
pub use half_space::{HalfSpace, HalfSpaceContact};
pub use pair_forces::{PairForces, Party};
pub use pairs::Contact;
pub use potential::BarrierPotential;
pub use set::ContactSet;
pub use slip::{Coulomb, KINETIC_FROM, Slip, Smoothing};
pub use standoff_geometry::PairKind;
pub use weighting::{RestAreas, Weighting};
