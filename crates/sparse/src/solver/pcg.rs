//! Iterative solution by preconditioned conjugate gradients [Saad 2003, Alg. 9.1].

use standoff_linalg::{Mat3, Vec3};
use std::time::Instant;

use super::incomplete_cholesky::IncompleteCholesky;
use super::rows::Rows;
use super::schwarz::Schwarz;
use super::stiff_blocks::StiffBlocks;
use super::two_level::TwoLevel;
use super::{
    LinearSolver, Residuals, SolveReport, SolveSeconds, check_matrix, check_vectors,
    diagonal_inverses, residual,
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
    /// Overlapping subdomains, each with a factor of its own, and a coarse level of their translations and
    /// rotations: the number of iterations hardly grows with the matrix.
    Schwarz,
    /// Block Jacobi, but with a factor of the rows of the few vertices whose couplings are much
    /// stiffer than the matrix' diagonal is in the median: those in contact.
    StiffBlocks,
    /// Stiff blocks and a coarse level of the translations and rotations of groups of rows: few iterations also for
    /// large bodies whose elasticity outweighs their inertia.
    TwoLevel,
}

/// Iterations that are always made, unless the tightest residual is reached: a better direction may save an iteration of
/// Newton's method, which takes longer. Our choice, by the time of eight scenes of 5,000 to 60,000 unknowns.
const LEAST: usize = 30;

/// Preconditioned conjugate gradients, from x = 0 until ‖b − A x‖₂ ≤ tolerance ‖b‖₂.
///
/// Iterates with a copy of the matrix in single precision, restarting from the true residual until
/// that is as small as required; with the matrix itself where the copy does not suffice.
///
/// The bits do not depend on the number of threads.
#[derive(Debug)]
pub struct ConjugateGradient {
    /// ‖b − A x‖₂ / ‖b‖₂ at which the iteration ends.
    pub tolerance: f64,
    /// The same within the first [`LEAST`] iterations: what the solver was made with.
    tightest: f64,
    /// Iterations at most.
    pub max_iterations: usize,
    /// After every so many iterations the solution is given up unless `max_iterations` can be expected to suffice, in
    /// proportion to the logarithm of the residual. Without it all iterations are made.
    pub trial: Option<usize>,
    /// Approximation of A⁻¹.
    pub preconditioner: Preconditioner,
    /// Number of subdomains of [`Preconditioner::Schwarz`]; by default as many as have about 200 rows each.
    pub subdomains: Option<usize>,
    /// Positions of the rows' vertices, where they are known.
    position: Option<Vec<Vec3>>,
    rows: Rows,
    schwarz: Schwarz,
    two_level: TwoLevel,
    /// Residual, search direction, preconditioned residual, A p.
    work: [Vec<Vec3>; 4],
}

impl ConjugateGradient {
    /// With the block-Jacobi preconditioner.
    pub fn new(tolerance: f64, max_iterations: usize) -> Self {
        Self {
            tolerance,
            tightest: tolerance,
            max_iterations,
            trial: None,
            preconditioner: Preconditioner::BlockJacobi,
            subdomains: None,
            position: None,
            rows: Rows::default(),
            schwarz: Schwarz::default(),
            two_level: TwoLevel::default(),
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

    fn set_tolerance(&mut self, residuals: Residuals) {
        self.tolerance = residuals.iterative;
    }

    fn place(&mut self, position: &[Vec3]) {
        self.position = Some(position.to_vec());
    }

    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        check_vectors(a.n(), b, x)?;
        check_matrix(a)?;
        let clock = Instant::now();
        let position = self.position.as_deref();
        let mut inverse = match self.preconditioner {
            Preconditioner::BlockJacobi => Inverse::BlockJacobi(diagonal_inverses(a)?),
            Preconditioner::IncompleteCholesky => {
                Inverse::IncompleteCholesky(Box::new(IncompleteCholesky::new(a)?))
            }
            Preconditioner::StiffBlocks => Inverse::StiffBlocks(Box::new(StiffBlocks::new(a)?)),
            Preconditioner::Schwarz => {
                self.schwarz.factorize(a, position, self.subdomains)?;
                Inverse::Schwarz(&mut self.schwarz)
            }
            Preconditioner::TwoLevel => {
                self.two_level.factorize(a, position)?;
                Inverse::TwoLevel(&mut self.two_level)
            }
        };
        let limits = Limits {
            tolerance: self.tolerance,
            tightest: self.tightest.min(self.tolerance),
            max_iterations: self.max_iterations,
            trial: self.trial,
        };
        self.rows.assign(a);
        x.fill(Vec3::zeros());
        let mut system =
            Preconditioned { a, rows: &self.rows, exact: false, inverse: &mut inverse };
        let (iterations, relative_residual) =
            iterate(limits, a, &mut system, b, x, &mut self.work)?;
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
    /// The same within the first [`LEAST`] iterations.
    pub(super) tightest: f64,
    pub(super) max_iterations: usize,
    /// See [`ConjugateGradient::trial`].
    pub(super) trial: Option<usize>,
}

impl Limits {
    /// Whether ‖r‖₂ / ‖b‖₂ suffices after some iterations.
    fn suffices(&self, iterations: usize, relative_residual: f64) -> bool {
        let required = if iterations < LEAST { self.tightest } else { self.tolerance };
        relative_residual <= required
    }

    /// Whether to end after some iterations, with ‖r‖₂ / ‖b‖₂ reached.
    fn ends(&self, iterations: usize, relative_residual: f64) -> bool {
        // the expected number of iterations is n ln(tolerance)/ln(residual)
        let hopeless = || {
            let share = relative_residual.ln() / self.tolerance.ln();
            share.is_nan() || share * (self.max_iterations as f64) < iterations as f64
        };
        let judged = self.trial.is_some_and(|every| iterations.is_multiple_of(every.max(1)));
        iterations >= self.max_iterations || judged && hopeless()
    }
}

/// What conjugate gradients need of a matrix.
pub(super) trait System {
    /// q ← A p, or close to it; returns pᵀq.
    fn multiply(&mut self, p: &[Vec3], q: &mut [Vec3]) -> f64;

    /// z ← M⁻¹ r; returns rᵀz.
    fn precondition(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64;

    /// Makes products exact from now on; false where they were.
    fn refine(&mut self) -> bool {
        false
    }
}

/// Conjugate gradients from `x`, which may be zero. Returns the number of iterations and ‖b − A x‖₂ / ‖b‖₂.
///
/// Goes in rounds: the recurrence for r drifts away from b − A x, so once it has converged the
/// iteration restarts from the true residual, if that has not.
// long: one loop, with each of its ends
pub(super) fn iterate(
    limits: Limits,
    a: &BlockMatrix,
    system: &mut impl System,
    b: &[Vec3],
    x: &mut [Vec3],
    work: &mut [Vec<Vec3>; 4],
) -> Result<(usize, f64), SolveError> {
    for w in work.iter_mut() {
        w.clear();
        w.resize(a.n(), Vec3::zeros());
    }
    let b_norm = vector::norm(b);
    if b_norm == 0.0 {
        x.fill(Vec3::zeros());
        return Ok((0, 0.0));
    }
    let mut iterations = 0;
    // without a product where x is zero
    let mut r_norm = if x.iter().all(|x| *x == Vec3::zeros()) {
        work[0].copy_from_slice(b);
        b_norm
    } else {
        residual(a, b, x, &mut work[0])
    };
    loop {
        if !r_norm.is_finite() {
            return Err(SolveError::NotFinite { what: "solution" });
        }
        if limits.suffices(iterations, r_norm / b_norm) {
            return Ok((iterations, r_norm / b_norm));
        }
        let before = (iterations, r_norm);
        if let Err(error) = round(limits, system, b_norm, x, work, &mut iterations) {
            if !system.refine() {
                return Err(error);
            }
            x.fill(Vec3::zeros());
            work[0].copy_from_slice(b);
            r_norm = b_norm;
            continue;
        }
        r_norm = residual(a, b, x, &mut work[0]);
        // out of iterations, or at the limit of working precision
        let stalled = iterations == before.0 || r_norm.is_nan() || r_norm > 0.5 * before.1;
        let ended = limits.ends(iterations, r_norm / b_norm);
        if !limits.suffices(iterations, r_norm / b_norm) && (ended || stalled && !system.refine()) {
            return Err(SolveError::NotConverged {
                iterations,
                relative_residual: r_norm / b_norm,
                tolerance: limits.tolerance,
            });
        }
    }
}

/// One round, from r = b − A x until the recurrence for ‖r‖ reaches the tolerance; counts iterations.
fn round(
    limits: Limits,
    system: &mut impl System,
    b_norm: f64,
    x: &mut [Vec3],
    [r, p, z, q]: &mut [Vec<Vec3>; 4],
    iteration: &mut usize,
) -> Result<(), SolveError> {
    let mut rz = system.precondition(r, z);
    p.copy_from_slice(z);
    while *iteration < limits.max_iterations {
        check_positive(rz, *iteration)?;
        let pq = system.multiply(p, q);
        check_positive(pq, *iteration)?;
        let r_norm = vector::step(rz / pq, (&mut *x, p), (&mut *r, q)).sqrt();
        *iteration += 1;
        if limits.suffices(*iteration, r_norm / b_norm) || limits.ends(*iteration, r_norm / b_norm)
        {
            break;
        }
        let rz_next = system.precondition(r, z);
        vector::xpby(p, z, rz_next / rz);
        rz = rz_next;
    }
    Ok(())
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

/// A matrix, its fast copy and its preconditioner.
struct Preconditioned<'a, 'b> {
    a: &'a BlockMatrix,
    rows: &'a Rows,
    /// Whether to multiply by the matrix itself.
    exact: bool,
    inverse: &'a mut Inverse<'b>,
}

impl System for Preconditioned<'_, '_> {
    fn multiply(&mut self, p: &[Vec3], q: &mut [Vec3]) -> f64 {
        if self.exact { multiply(self.a, p, q) } else { self.rows.multiply(p, q) }
    }

    fn precondition(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        self.inverse.apply(r, z)
    }

    fn refine(&mut self) -> bool {
        !std::mem::replace(&mut self.exact, true)
    }
}

/// q ← A p; returns pᵀq. Lengths are the caller's duty.
pub(super) fn multiply(a: &BlockMatrix, p: &[Vec3], q: &mut [Vec3]) -> f64 {
    let product = a.mul_vec_into(p, q);
    debug_assert!(product.is_ok(), "lengths were checked on entry");
    vector::dot(p, q)
}

/// A preconditioner made for one matrix.
enum Inverse<'a> {
    BlockJacobi(Vec<Mat3>),
    IncompleteCholesky(Box<IncompleteCholesky>),
    StiffBlocks(Box<StiffBlocks>),
    Schwarz(&'a mut Schwarz),
    TwoLevel(&'a mut TwoLevel),
}

impl Inverse<'_> {
    /// z ← M⁻¹ r; returns rᵀz.
    fn apply(&mut self, r: &[Vec3], z: &mut [Vec3]) -> f64 {
        match self {
            Self::Schwarz(schwarz) => schwarz.apply(r, z),
            Self::TwoLevel(levels) => levels.apply(r, z),
            Self::BlockJacobi(inverses) => vector::apply_blocks(inverses, r, z),
            Self::IncompleteCholesky(factor) => {
                z.copy_from_slice(r);
                factor.solve_in_place(z);
                vector::dot(r, z)
            }
            Self::StiffBlocks(blocks) => blocks.apply(r, z),
        }
    }

    fn nonzeros(&self) -> usize {
        match self {
            Self::BlockJacobi(_) => 0,
            Self::Schwarz(schwarz) => schwarz.nonzeros(),
            Self::TwoLevel(levels) => levels.nonzeros(),
            Self::IncompleteCholesky(factor) => factor.nonzeros(),
            Self::StiffBlocks(blocks) => blocks.nonzeros(),
        }
    }
}
