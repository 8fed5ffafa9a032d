//! Symmetric sparse matrices of 3×3 blocks and the linear solvers on them.
//!
//! A part of Standoff: programs depend on the crate [`standoff`](https://docs.rs/standoff), whose interface is kept
//! stable. What that crate does not show may change in any version.
//!
//! * [`BlockPattern`]: which blocks of the lower triangle are stored, and whether rows have three unknowns or the
//!   two of the plane; immutable, shared by `Arc`.
//! * [`BlockMatrix`]: a pattern and its blocks; assembled from stencils (an element, a contact
//!   pair) one by one or, for element lists that stay, by a [`FixedAssembly`];
//!   changing lists by a [`VariableAssembly`].
//! * [`Ordering`]: fill-reducing orders of the vertices; [`partition`]: parts of them.
//! * [`Subdomains`]: overlapping sets of rows, each with a factor of its part of a matrix.
//! * [`LinearSolver`]: the open border; [`Cholesky`], [`MixedCholesky`], [`FaerCholesky`],
//!   [`ConjugateGradient`] and [`Hybrid`], which chooses, are behind it.
//!
//! Every result is a pure function of its arguments: it depends neither on the number of threads
//! nor on what was solved before. This crate knows nothing of meshes or physics. faer
//! is used here and nowhere else.
//!
//! ```
//! use std::sync::Arc;
//! use standoff_linalg::{Mat3, Vec3};
//! use standoff_sparse::{BlockMatrix, BlockPattern, Cholesky, LinearSolver, Ordering};
//!
//! // a chain of three vertices, the last one of which is fixed (eliminated)
//! let springs = [[0, 1], [1, BlockPattern::ELIMINATED]];
//! let pattern = BlockPattern::from_stencils(2, springs.iter().map(|s| &s[..]))?;
//! let mut a = BlockMatrix::zeros(Arc::new(pattern));
//! let k = Mat3::identity();
//! for spring in &springs {
//!     a.add_stencil(spring, &[[k, -k], [-k, k]])?;
//! }
//!
//! let b = [Vec3::x(), Vec3::zeros()];
//! let mut x = [Vec3::zeros(); 2];
//! let report = Cholesky::new(Ordering::Automatic).solve(&a, &b, &mut x)?;
//! assert!(report.relative_residual < 1e-14);
//! assert!((x[0].x - 2.0).abs() < 1e-14 && (x[1].x - 1.0).abs() < 1e-14);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assembly;
mod error;
mod graph;
mod matrix;
mod minimum_degree;
mod ordering;
mod partition;
mod pattern;
mod permutation;
mod solver;
mod vector;

pub use assembly::{
    Batch, FixedAssembly, Layout, Stencils, VariableAssembly, block_count, block_pairs, pack,
};
pub use error::{MatrixError, SolveError};
pub use matrix::BlockMatrix;
pub use ordering::{EliminationTree, Ordering, VertexOrder};
pub use partition::partition;
pub use pattern::BlockPattern;
pub use permutation::Permutation;
pub use solver::{
    Blend, Cholesky, ConjugateGradient, FaerCholesky, Hybrid, LinearSolver, MixedCholesky,
    Preconditioner, Refinement, Residuals, SolveReport, SolveSeconds, Subdomains, check_matrix,
    check_vectors,
};
