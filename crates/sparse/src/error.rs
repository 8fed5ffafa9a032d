//! What can go wrong, as types: the caller decides what a failure means.

/// A pattern or a matrix that cannot be built or combined as requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MatrixError {
    /// A vertex index is neither below the number of block rows nor
    /// [`BlockPattern::ELIMINATED`](crate::BlockPattern::ELIMINATED).
    #[error("vertex {vertex} does not exist in a matrix of {n} block rows")]
    VertexOutOfRange {
        /// The index.
        vertex: u32,
        /// Number of block rows.
        n: usize,
    },
    /// A block was written that the pattern does not hold.
    #[error("block ({row}, {col}) is not in the pattern")]
    MissingBlock {
        /// Block row.
        row: u32,
        /// Block column.
        col: u32,
    },
    /// Two things that belong together have different sizes.
    #[error("{what}: {found} instead of {expected}")]
    SizeMismatch {
        /// What was counted.
        what: &'static str,
        /// The number that fits.
        expected: usize,
        /// The number given.
        found: usize,
    },
    /// The matrix does not have the pattern for which an assembly was prepared.
    #[error("the matrix has another pattern than the assembly was prepared for")]
    PatternMismatch,
    /// More rows, blocks or stencils than 32-bit indices can name.
    #[error("{what} exceed the range of 32-bit indices")]
    TooLarge {
        /// What was counted.
        what: &'static str,
    },
}

/// A linear system that was not solved.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SolveError {
    /// Right-hand side or solution do not fit the matrix.
    #[error("a matrix of {n} block rows with a {what} of {found}")]
    SizeMismatch {
        /// Number of block rows of the matrix.
        n: usize,
        /// The vector that does not fit.
        what: &'static str,
        /// Its length.
        found: usize,
    },
    /// NaN or infinity where a finite number is needed.
    #[error("the {what} holds a number that is not finite")]
    NotFinite {
        /// Where: the matrix, the right-hand side or the solution.
        what: &'static str,
    },
    /// The factorisation met a pivot that is not positive: the matrix is indefinite, or singular
    /// to working precision. Adding to the diagonal cures it.
    #[error("the matrix is not positive definite (at block row {block})")]
    NotPositiveDefinite {
        /// Block row of the pivot.
        block: usize,
    },
    /// Conjugate gradients met a direction p with pᵀAp ≤ 0, or a preconditioned residual with
    /// rᵀM⁻¹r ≤ 0: the matrix is not positive definite.
    #[error(
        "the matrix is not positive definite (curvature {curvature:e} in iteration {iteration})"
    )]
    NegativeCurvature {
        /// The iteration, from 0.
        iteration: usize,
        /// The product that should have been positive.
        curvature: f64,
    },
    /// The residual stayed above the tolerance. The solution vector holds the last iterate.
    #[error(
        "residual {relative_residual:e} after {iterations} iterations is above the tolerance {tolerance:e}"
    )]
    NotConverged {
        /// Iterations done (refinement steps, for a direct solver).
        iterations: usize,
        /// ‖b − A x‖₂ / ‖b‖₂ reached.
        relative_residual: f64,
        /// ‖b − A x‖₂ / ‖b‖₂ demanded.
        tolerance: f64,
    },
    /// Back-substitution was requested without a valid factorisation.
    #[error("no factorisation to solve with")]
    NotFactorized,
    /// A row that belongs to no subdomain.
    #[error("block row {block} belongs to no subdomain")]
    NotCovered {
        /// The row.
        block: usize,
    },
    /// Not enough memory for the factor.
    #[error("out of memory for a factor of {nonzeros} entries")]
    OutOfMemory {
        /// Entries of the factor; 0 where they could not be counted.
        nonzeros: usize,
    },
    /// The device that was to solve the system failed, or has too little memory.
    #[error("{problem}")]
    Device {
        /// What is wrong, as a sentence.
        problem: String,
    },
}
