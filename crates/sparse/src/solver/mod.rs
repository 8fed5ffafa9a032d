//! Linear solvers on block matrices, one file each.

mod aggregates;
mod cholesky;
mod coarse;
mod faer_cholesky;
mod hybrid;
mod incomplete_cholesky;
mod mixed;
mod multifrontal;
mod pcg;
mod refinement;
mod rows;
mod schwarz;
mod stiff_blocks;
mod subdomains;
mod two_level;

use std::sync::Arc;

use rayon::prelude::*;
use standoff_linalg::{Mat3, Vec3};

pub use cholesky::Cholesky;
pub use faer_cholesky::FaerCholesky;
pub use hybrid::Hybrid;
pub use mixed::MixedCholesky;
pub use pcg::{ConjugateGradient, Preconditioner};
pub use refinement::Refinement;
pub use subdomains::{Blend, Subdomains};

use crate::{BlockMatrix, BlockPattern, SolveError, vector};

/// How a system was solved.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SolveReport {
    /// Iterations of an iterative solver, refinement steps of a direct one.
    pub iterations: usize,
    /// ‖b − A x‖₂ / ‖b‖₂, computed from x; 0 where b = 0.
    pub relative_residual: f64,
    /// Whether ordering and symbolic factorisation had to be done for this matrix.
    pub analyzed: bool,
    /// Entries of the (possibly incomplete) factor; 0 without one.
    pub factor_nonzeros: usize,
    /// Where the wall time went; reported, never acted upon.
    pub seconds: SolveSeconds,
}

/// Wall time of a solve by phase, s.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SolveSeconds {
    /// Ordering and symbolic factorisation.
    pub symbolic: f64,
    /// Numeric factorisation, or the iterations of an iterative solver.
    pub numeric: f64,
    /// Triangular solves and refinement.
    pub back_solve: f64,
}

/// The relative residuals ‖b − A x‖₂ / ‖b‖₂ at which an iterative solver stops. Smaller ones than a solver can reach count as the smallest
/// that it can.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residuals {
    /// Of conjugate gradients without a factor of the matrix.
    pub iterative: f64,
    /// Of those that a factor in single precision preconditions: an iteration takes a tenth of the time of the factorisation or less, and
    /// divides the residual by some thousand.
    pub factorised: f64,
}

/// Solves A x = b with a symmetric positive definite A.
///
/// An implementation may keep memory and symbolic work between calls, but the bits of x must be a
/// function of `a`, `b` and, if there was a [`restart`](Self::restart), its argument and the patterns
/// since then, so that a resumed run repeats them. What x holds before the call is not read; after
/// an error it holds no solution.
pub trait LinearSolver: Send {
    /// Solves A x = b.
    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError>;

    /// As [`solve`](Self::solve) for a matrix that may well be indefinite: what would only help where round-off makes it look so is left
    /// out, and the system counts as [`SolveError::NotPositiveDefinite`].
    fn solve_if_definite(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        self.solve(a, b, x)
    }

    /// Solves with the matrix `a` of the last call of [`solve`](Self::solve) or [`solve_if_definite`](Self::solve_if_definite) again, as accurately
    /// as [`set_tolerance`](Self::set_tolerance) says by now, from `x` on: the last solution with the same `b`, or zeros with another one.
    fn improve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        self.solve(a, b, x)
    }

    /// Whether solutions are as accurate as [`set_tolerance`](Self::set_tolerance) says, and cheaper
    /// the less accurate they are.
    fn is_iterative(&self) -> bool {
        false
    }

    /// Says at which residuals to stop from now on.
    fn set_tolerance(&mut self, residuals: Residuals) {
        let _ = residuals;
    }

    /// Says where the vertices of the rows of the systems to come are (m); rows that are no displacements
    /// have no finite position. A hint for how fast they are solved, which may change the bits of
    /// solutions.
    fn place(&mut self, position: &[Vec3]) {
        let _ = position;
    }

    /// Does what the pattern of the next system allows to be done before its blocks are known; that changes no result.
    fn prepare(&mut self, pattern: &Arc<BlockPattern>) {
        let _ = pattern;
    }

    /// Begins a sequence of systems whose patterns hold `base` and some more: a solver may base what
    /// it does for them on `base` and on each other (an order, say), but on nothing before.
    fn restart(&mut self, base: &Arc<BlockPattern>) {
        let _ = base;
    }
}

fn check_sizes(n: usize, b: &[Vec3], x: &[Vec3]) -> Result<(), SolveError> {
    for (what, found) in [("right-hand side", b.len()), ("solution", x.len())] {
        if found != n {
            return Err(SolveError::SizeMismatch { n, what, found });
        }
    }
    Ok(())
}

/// Whether all blocks are finite.
///
/// # Errors
/// Where one is not.
pub fn check_matrix(a: &BlockMatrix) -> Result<(), SolveError> {
    if a.is_finite() { Ok(()) } else { Err(SolveError::NotFinite { what: "matrix" }) }
}

/// Whether the vectors of a system with `n` block rows fit, and the right-hand side is finite.
///
/// # Errors
/// What does not fit, or is not finite.
pub fn check_vectors(n: usize, b: &[Vec3], x: &[Vec3]) -> Result<(), SolveError> {
    check_sizes(n, b, x)?;
    check_rhs(b)
}

fn check_rhs(b: &[Vec3]) -> Result<(), SolveError> {
    if vector::is_finite(b) {
        Ok(())
    } else {
        Err(SolveError::NotFinite { what: "right-hand side" })
    }
}

/// Inverses of the diagonal blocks; an error names the first one that is not positive definite.
fn diagonal_inverses(a: &BlockMatrix) -> Result<Vec<Mat3>, SolveError> {
    let inverse = |i: usize| Some(a.diagonal_block(i).cholesky()?.inverse());
    let all: Vec<Option<Mat3>> =
        (0..a.n()).into_par_iter().with_min_len(vector::CHUNK).map(inverse).collect();
    let checked = all.into_iter().enumerate();
    checked.map(|(block, m)| m.ok_or(SolveError::NotPositiveDefinite { block })).collect()
}

/// r ← b − A x; returns ‖r‖₂. Lengths are the caller's duty.
fn residual(a: &BlockMatrix, b: &[Vec3], x: &[Vec3], r: &mut [Vec3]) -> f64 {
    let product = a.mul_vec_into(x, r);
    debug_assert!(product.is_ok(), "lengths were checked on entry");
    vector::map2(r, b, |r, b| *r = b - *r);
    vector::norm(r)
}
