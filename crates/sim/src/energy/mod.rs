//! Energies: the summands of the incremental potential, one file each. What an energy is to the rest of
//! the simulator says [`Term`]; one whose stencils all have N vertices is an [`Element`].

pub mod axisymmetric;
pub mod codim;
pub mod damping;
mod element;
pub mod fibres;
pub(crate) mod formula;
pub mod grip_turn;
pub mod guard;
pub mod hinge;
pub mod inelastic;
pub mod intermediate;
pub mod loads;
pub mod membrane;
pub mod plane_strain;
mod point;
pub mod pressure;
mod projection;
pub mod quadratic_tet;
pub mod quadratic_triangle;
pub mod rod_joint;
pub mod segment;
pub mod shape_operator;
mod solids;
pub mod spring;
mod term;
pub mod tet;
pub mod turning;

pub use codim::CodimElements;
pub use element::{Element, ElementList, Elements, Hessian};
pub use projection::Projection;
pub use solids::{Guards, Solids};
pub(crate) use term::next_blocks;
pub use term::{Origin, Owner, Role, Term};
