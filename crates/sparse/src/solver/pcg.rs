//! Iterative solution by preconditioned conjugate gradients [Saad 2003, Alg. 9.1].

use standoff_linalg::{Mat3, Vec3};
use std::time::Instant;

use super::incomplete_cholesky::IncompleteCholesky;
use super::stiff_blocks::StiffBlocks;
use super::{
    LinearSolver, SolveReport, SolveSeconds, check_matrix, check_rhs, check_sizes, residual,
};
use crate::{BlockMatrix, SolveError, vector};

/// What approximates A⁻¹ in conjugate gradients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preconditioner {
    /// The inverses of the diagonal blocks: cheap, parallel, good without stiff couplings.
    #[default]
    BlockJacobi,
    /// A block Cholesky factor without fill: fewer iterations, each about twice as long and on
    /// one thread.
    IncompleteCholesky,
    /// Block Jacobi, but with a factor of the rows of the few vertices whose couplings are much
    /// stiffer than the matrix' diagonal is in the median: those in contact.
    StiffBlocks,
}

/// Preconditioned conjugate gradients, from x = 0 until ‖b − A x‖₂ ≤ tolerance ‖b‖₂.
///
/// The bits do not depend on the number of threads.
#[derive(Debug)]
pub struct ConjugateGradient {
    /// ‖b − A x‖₂ / ‖b‖₂ at which the iteration ends.
    pub tolerance: f64,
    /// Iterations at most.
    pub max_iterations: usize,
    /// Approximation of A⁻¹.
    pub preconditioner: Preconditioner,
    /// Residual, search direction, preconditioned residual, A p.
    work: [Vec<Vec3>; 4],
}

impl ConjugateGradient {
    /// With the block-Jacobi preconditioner.
    pub fn new(tolerance: f64, max_iterations: usize) -> Self {
        Self {
            tolerance,
            max_iterations,
            preconditioner: Preconditioner::BlockJacobi,
            work: Default::default(),
        }
    }

    /// With another preconditioner.
    pub fn with_preconditioner(mut self, preconditioner: Preconditioner) -> Self {
        self.preconditioner = preconditioner;
        self
    }
}

impl LinearSolver for ConjugateGradient {
    fn is_iterative(&self) -> bool {
        true
    }

    fn set_tolerance(&mut self, relative_residual: f64) {
        self.tolerance = relative_residual;
    }

    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        check_sizes(a.n(), b, x)?;
        check_rhs(b)?;
        check_matrix(a)?;
        let clock = Instant::now();
        let inverse = Inverse::new(a, self.preconditioner)?;
        let limits = Limits { tolerance: self.tolerance, max_iterations: self.max_iterations };
        let apply = &mut |r: &[Vec3], z: &mut [Vec3]| inverse.apply(r, z);
        let (iterations, relative_residual) = iterate(limits, a, apply, b, x, &mut self.work)?;
        let factor_nonzeros = inverse.nonzeros();
        let numeric = clock.elapsed().as_secs_f64();
        let seconds = SolveSeconds { numeric, ..SolveSeconds::default() };
        Ok(SolveReport { iterations, relative_residual, analyzed: false, factor_nonzeros, seconds })
    }
}

/// When conjugate gradients stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// ‖b − A x‖₂ / ‖b‖₂.
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
}

/// Conjugate gradients from x = 0 with the preconditioner `apply`: z ← M⁻¹ r. Returns the number of
/// iterations and ‖b − A x‖₂ / ‖b‖₂.
///
/// Goes in rounds: the recurrence for r drifts away from b − A x, so once it has converged the
/// iteration starts anew from the true residual, if that has not.
pub(super) fn iterate(
    limits: Limits,
    a: &BlockMatrix,
    apply: &mut impl FnMut(&[Vec3], &mut [Vec3]),
    b: &[Vec3],
    x: &mut [Vec3],
    work: &mut [Vec<Vec3>; 4],
) -> Result<(usize, f64), SolveError> {
    for w in work.iter_mut() {
        w.clear();
        w.resize(a.n(), Vec3::zeros());
    }
    x.fill(Vec3::zeros());
    let b_norm = vector::norm(b);
    if b_norm == 0.0 {
        return Ok((0, 0.0));
    }
    let target = limits.tolerance * b_norm;
    let mut iterations = 0;
    work[0].copy_from_slice(b);
    let mut r_norm = b_norm;
    loop {
        if !r_norm.is_finite() {
            return Err(SolveError::NotFinite { what: "solution" });
        }
        if r_norm <= target {
            return Ok((iterations, r_norm / b_norm));
        }
        let before = (iterations, r_norm);
        iterations = round(limits.max_iterations, a, apply, target, x, work, iterations)?;
        r_norm = residual(a, b, x, &mut work[0]);
        // out of iterations, or at the limit of working precision
        let stalled = iterations == before.0 || r_norm > 0.5 * before.1;
        if r_norm > target && (iterations >= limits.max_iterations || stalled) {
            return Err(SolveError::NotConverged {
                iterations,
                relative_residual: r_norm / b_norm,
                tolerance: limits.tolerance,
            });
        }
    }
}

/// One round, from r = b − A x until the recurrence for ‖r‖ reaches `target`; returns the count of
/// iterations.
fn round(
    max_iterations: usize,
    a: &BlockMatrix,
    apply: &mut impl FnMut(&[Vec3], &mut [Vec3]),
    target: f64,
    x: &mut [Vec3],
    [r, p, z, q]: &mut [Vec<Vec3>; 4],
    first: usize,
) -> Result<usize, SolveError> {
    apply(r, z);
    p.copy_from_slice(z);
    let mut rz = vector::dot(r, z);
    for iteration in first..max_iterations {
        check_positive(rz, iteration)?;
        let product = a.mul_vec_into(p, q);
        debug_assert!(product.is_ok(), "lengths were checked on entry");
        let pq = vector::dot(p, q);
        check_positive(pq, iteration)?;
        let alpha = rz / pq;
        vector::axpy(x, alpha, p);
        vector::axpy(r, -alpha, q);
        if vector::norm(r) <= target {
            return Ok(iteration + 1);
        }
        apply(r, z);
        let rz_next = vector::dot(r, z);
        vector::xpby(p, z, rz_next / rz);
        rz = rz_next;
    }
    Ok(max_iterations)
}

/// Products that are positive for a positive definite matrix.
fn check_positive(curvature: f64, iteration: usize) -> Result<(), SolveError> {
    if curvature > 0.0 {
        Ok(())
    } else if curvature.is_nan() {
        Err(SolveError::NotFinite { what: "solution" })
    } else {
        Err(SolveError::NegativeCurvature { iteration, curvature })
    }
}

/// A preconditioner made for one matrix.
enum Inverse {
    BlockJacobi(Vec<Mat3>),
    IncompleteCholesky(Box<IncompleteCholesky>),
    StiffBlocks(Box<StiffBlocks>),
}

impl Inverse {
    fn new(a: &BlockMatrix, kind: Preconditioner) -> Result<Self, SolveError> {
        match kind {
            Preconditioner::BlockJacobi => {
                let inverse = |i: usize| match a.diagonal_block(i).cholesky() {
                    Some(factor) => Ok(factor.inverse()),
                    None => Err(SolveError::NotPositiveDefinite { block: i }),
                };
                Ok(Self::BlockJacobi((0..a.n()).map(inverse).collect::<Result<_, _>>()?))
            }
            Preconditioner::IncompleteCholesky => {
                Ok(Self::IncompleteCholesky(Box::new(IncompleteCholesky::new(a)?)))
            }
            Preconditioner::StiffBlocks => Ok(Self::StiffBlocks(Box::new(StiffBlocks::new(a)?))),
        }
    }

    /// z ← M⁻¹ r.
    fn apply(&self, r: &[Vec3], z: &mut [Vec3]) {
        match self {
            Self::BlockJacobi(inverses) => {
                z.copy_from_slice(r);
                vector::map2(z, inverses, |z, inverse| *z = inverse * *z);
            }
            Self::IncompleteCholesky(factor) => {
                z.copy_from_slice(r);
                factor.solve_in_place(z);
            }
            Self::StiffBlocks(blocks) => blocks.apply(r, z),
        }
    }

    fn nonzeros(&self) -> usize {
        match self {
            Self::BlockJacobi(_) => 0,
            Self::IncompleteCholesky(factor) => factor.nonzeros(),
            Self::StiffBlocks(blocks) => blocks.nonzeros(),
        }
    }
}
