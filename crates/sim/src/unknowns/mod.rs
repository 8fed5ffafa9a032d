//! Which vertices are unknowns, and how the others follow from them.
//!
//! The positions of all vertices are x = W q, with a constant W and the unknowns q. Most vertices are unknowns themselves: their rows
//! of W are those of the identity, and nothing is stored for them. The others are *carried*: their rows have a few weights of
//! sum 1 on vertices that are not carried, as those of a fine surface inside a coarse solid.
//!
//! Energies, contact, friction, collision detection and the audit are evaluated at x. Along a direction of q every vertex moves on a
//! straight line, so that they need not know of W. Where unknowns matter, gradients become Wᵀ ∇E, Hessians
//! Wᵀ ∇²E W ([`Expanded`]), and directions W p.

mod expanded;
mod map;

pub use expanded::Expanded;
pub use map::VertexMap;
