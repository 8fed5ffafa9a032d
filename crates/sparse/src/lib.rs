//! Symmetric sparse matrices of 3×3 blocks and the linear solvers on them.
//!
//! faer is used here and nowhere else.
