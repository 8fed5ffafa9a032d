//! Assembly of matrices from the Hessians of summands over a few vertices each.
//!
//! [`Stencils`] name the vertices of every summand. A Hessian over n vertices is stored as the blocks
//! of its upper triangle in one order, see [`block_count`]. [`FixedAssembly`] serves stencils that stay
//! the same over many matrices, [`VariableAssembly`] those that change from matrix to matrix.

mod batch;
mod fixed;
mod stencils;
mod variable;

pub use batch::Batch;
pub use fixed::FixedAssembly;
pub use stencils::{Layout, Stencils, block_count, block_pairs, pack};
pub use variable::VariableAssembly;

/// Blocks that a thread sums at once.
const PIECE: usize = 512;
