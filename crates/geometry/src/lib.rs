//! Geometry of Standoff: surfaces of meshes, distances, collision detection, exact audit.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.
//!
//! This crate knows nothing of physics. Positions are `&[Vec3]` in m (`#V`), topology is indices
//! (`#E×2`, `#F×3`, `#T×4`) of type `u32`.

#![forbid(unsafe_code)]

pub mod audit;
pub mod broad_phase;
pub mod ccd;
pub mod collision_mesh;
pub mod distance;
pub mod division;
pub mod neighbourhood;
mod pair;
mod pair_kind;
pub mod quadratic;
pub mod rest_neighbours;
mod surface_adjacency;
pub mod topology;

pub use collision_mesh::{CollisionMesh, Grip, RestNeighbours};
pub use neighbourhood::Neighbourhood;
pub use pair::{Pair, Stencil, UNUSED};
pub use pair_kind::PairKind;
pub use surface_adjacency::SurfaceAdjacency;
