//! Orientation-aware contact: the Geometric Contact Potential [Huang 2024].
//!
//! The potential acts between two elements only where the vector between their closest points is
//! nearly a local minimum of the distance, seen from outside, so that a rest shape is free of force
//! at any contact distance. A pair of elements g, h at the distance d = ξ + z adds
//!
//! κ · w_g w_h · p_ε(z) · m · γ_g γ_h,   w = L^(2 − dim) A,   p_ε(z) = h_ε(z)/z^r,
//!
//! with the factors γ of both elements (local minimum over ring tangents, exterior over face
//! normals) and the mollifier m of the closest points. Pairs are face–vertex (closest point inside
//! the face), edge–vertex, edge–edge (inside the edges) and vertex–vertex [Huang 2024, §4.3, §4.4
//! and supplement §1].
//!
//! `kernel` knows scalars, `direction` unit vectors, `surface` elements and their measures, `pairs`
//! which elements act, `planes` half-spaces, `factors` γ, `mollifier` m, `potential` energies and
//! derivatives, `epsilon` ε, `contact` all of it as part of a simulation.

mod contact;
mod direction;
pub mod epsilon;
mod factors;
pub mod kernel;
mod mollifier;
pub mod pairs;
mod planes;
pub mod potential;
mod psd;
pub mod surface;

pub use contact::{Loaded, OrientationContact, OrientationSet, OrientationTerm};
pub use kernel::Step;
pub use pairs::{Core, Pair, PairSet};
pub use planes::PlanePair;
pub use potential::{Derivatives, OrientationPotential};
pub use surface::{ActivationDistance, Measure, Parameters, PerElement, Surface};
