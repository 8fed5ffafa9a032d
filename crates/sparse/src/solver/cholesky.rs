//! Direct solution by sparse Cholesky factorisation P A Pᵀ = L Lᵀ with faer's supernodal kernels.
//!
//! Sequential on purpose: see [`Cholesky`].

use std::sync::Arc;
use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError as PivotError, LltRegularization};
use faer::mat::MatMut;
use faer::sparse::SparseColMatRef;
use faer::sparse::linalg::cholesky::supernodal::{
    SupernodalLltRef, factorize_supernodal_numeric_llt, factorize_supernodal_numeric_llt_scratch,
};
use faer::{Conj, Par};
use standoff_linalg::Vec3;

use super::symbolic::Symbolic;
use super::{
    LinearSolver, SolveReport, SolveSeconds, check_matrix, check_rhs, check_sizes, residual,
};
use crate::{BlockMatrix, BlockPattern, Ordering, SolveError, pattern, vector};

/// Sparse Cholesky factorisation with iterative refinement.
///
/// The symbolic factorisation is kept as long as matrices have the same pattern (the same object
/// or the same contents). It is a function of the pattern alone, so a caller who wants to keep it
/// while contacts come and go gives all matrices a common superset pattern; blocks of zeros cost
/// operations but do no harm. Memory is kept too: factorising again on a pattern of the same size
/// allocates nothing.
///
/// Uses one thread: the bits of faer's parallel kernels depend on the number of threads (measured
/// with faer 0.24 at 1, 2 and 4), and below some 50,000 degrees of freedom they gain nothing. Bits
/// may still differ between processors with different vector units.
pub struct Cholesky {
    /// Residual ‖b − A x‖₂ / ‖b‖₂ above which a solution is refined.
    pub refinement_threshold: f64,
    /// Refinement steps at most.
    pub max_refinements: usize,
    /// Residual ‖b − A x‖₂ / ‖b‖₂ above which the solution is refused: a matrix that is singular
    /// to working precision can pass the factorisation.
    pub tolerance: f64,
    ordering: Ordering,
    symbolic: Option<Symbolic>,
    /// Whether `factor` is that of the last matrix.
    factorized: bool,
    /// Values of the permuted scalar matrix.
    values: Vec<f64>,
    /// Values of L (the first ones; room only grows).
    factor: Vec<f64>,
    memory: Option<MemBuffer>,
    /// Permuted right-hand side, then solution.
    permuted: Vec<f64>,
    residual: Vec<Vec3>,
    trial: Vec<Vec3>,
}

impl Cholesky {
    /// A solver that orders by the given method; refines residuals above 1e-10 at most 3 times and
    /// refuses those above 1e-3.
    pub fn new(ordering: Ordering) -> Self {
        Self {
            refinement_threshold: 1e-10,
            max_refinements: 3,
            tolerance: 1e-3,
            ordering,
            symbolic: None,
            factorized: false,
            values: Vec::new(),
            factor: Vec::new(),
            memory: None,
            permuted: Vec::new(),
            residual: Vec::new(),
            trial: Vec::new(),
        }
    }

    /// Orders and analyses a pattern, unless the last one was the same; returns whether it did.
    pub fn analyze(&mut self, pattern: &Arc<BlockPattern>) -> Result<bool, SolveError> {
        if self.symbolic.as_ref().is_some_and(|s| pattern::same(&s.pattern, pattern)) {
            return Ok(false);
        }
        // free first: the old structure is of no use any more
        self.symbolic = None;
        self.factorized = false;
        let symbolic = Symbolic::new(pattern.clone(), self.ordering)?;
        let nonzeros = symbolic.factor.len_val();
        let out_of_memory = || SolveError::OutOfMemory { nonzeros };
        grow(&mut self.factor, nonzeros).map_err(|_| out_of_memory())?;
        self.permuted.resize(3 * pattern.n(), 0.0);
        self.values.resize(9 * pattern.block_count(), 0.0);
        let factorize = factorize_supernodal_numeric_llt_scratch::<usize, f64>(
            &symbolic.factor,
            Par::Seq,
            Default::default(),
        );
        let solve = symbolic.factor.solve_in_place_scratch::<f64>(1, Par::Seq);
        let request = factorize.or(solve);
        if self.memory.as_ref().is_none_or(|m| m.len() < request.unaligned_bytes_required()) {
            self.memory = Some(MemBuffer::try_new(request).map_err(|_| out_of_memory())?);
        }
        self.symbolic = Some(symbolic);
        Ok(true)
    }

    /// Factorises a matrix, for any number of [`back_solve`](Self::back_solve)s; returns whether
    /// its pattern had to be analysed.
    pub fn factorize(&mut self, a: &BlockMatrix) -> Result<bool, SolveError> {
        self.factorized = false;
        check_matrix(a)?;
        let analyzed = self.analyze(a.pattern())?;
        let (Some(symbolic), Some(memory)) = (&self.symbolic, &mut self.memory) else {
            return Err(SolveError::NotFactorized);
        };
        if a.n() > 0 {
            symbolic.permute(a, &mut self.values);
            let result = factorize_supernodal_numeric_llt(
                &mut self.factor[..symbolic.factor.len_val()],
                SparseColMatRef::new(symbolic.lower.as_ref(), &self.values),
                LltRegularization::default(),
                &symbolic.factor,
                Par::Seq,
                MemStack::new(memory),
                Default::default(),
            );
            if let Err(PivotError::NonPositivePivot { index }) = result {
                let block = symbolic.order.permutation.new_to_old()[index / 3] as usize;
                return Err(SolveError::NotPositiveDefinite { block });
            }
        }
        self.factorized = true;
        Ok(analyzed)
    }

    /// x ← A⁻¹ b with the last factor, without refinement.
    pub fn back_solve(&mut self, b: &[Vec3], x: &mut [Vec3]) -> Result<(), SolveError> {
        let (Some(symbolic), Some(memory), true) =
            (&self.symbolic, &mut self.memory, self.factorized)
        else {
            return Err(SolveError::NotFactorized);
        };
        let n = symbolic.pattern.n();
        check_sizes(n, b, x)?;
        if n == 0 {
            return Ok(());
        }
        let permuted = &mut self.permuted[..];
        let new_to_old = symbolic.order.permutation.new_to_old();
        for (chunk, &old) in permuted.chunks_exact_mut(3).zip(new_to_old) {
            chunk.copy_from_slice(b[old as usize].as_slice());
        }
        let values = &self.factor[..symbolic.factor.len_val()];
        SupernodalLltRef::new(&symbolic.factor, values).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(permuted, 3 * n, 1),
            Par::Seq,
            MemStack::new(memory),
        );
        for (chunk, &old) in self.permuted.chunks_exact(3).zip(new_to_old) {
            x[old as usize] = Vec3::new(chunk[0], chunk[1], chunk[2]);
        }
        Ok(())
    }

    /// Entries of the factor of the last analysed pattern, the zeros of relaxed supernodes among
    /// them.
    pub fn factor_nonzeros(&self) -> usize {
        self.symbolic.as_ref().map_or(0, |s| s.factor.len_val())
    }

    /// Solves by the factor of `a`, refines while that helps, and judges the outcome.
    fn solve_refined(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<(usize, f64), SolveError> {
        self.back_solve(b, x)?;
        let b_norm = vector::norm(b);
        if b_norm == 0.0 {
            return Ok((0, 0.0));
        }
        let mut r = std::mem::take(&mut self.residual);
        let mut trial = std::mem::take(&mut self.trial);
        r.resize(b.len(), Vec3::zeros());
        trial.resize(b.len(), Vec3::zeros());
        let mut relative = residual(a, b, x, &mut r) / b_norm;
        let mut steps = 0;
        while relative > self.refinement_threshold && steps < self.max_refinements {
            self.back_solve(&r, &mut trial)?;
            vector::axpy(&mut trial, 1.0, x);
            let refined = residual(a, b, &trial, &mut r) / b_norm;
            steps += 1;
            if refined >= relative || refined.is_nan() {
                break;
            }
            x.copy_from_slice(&trial);
            relative = refined;
        }
        (self.residual, self.trial) = (r, trial);
        if !vector::is_finite(x) || !relative.is_finite() {
            return Err(SolveError::NotFinite { what: "solution" });
        }
        if relative > self.tolerance {
            return Err(SolveError::NotConverged {
                iterations: steps,
                relative_residual: relative,
                tolerance: self.tolerance,
            });
        }
        Ok((steps, relative))
    }
}

/// Makes room for `len` numbers, with some slack, as contacts make factors grow. Old contents are
/// freed first: both at once could exceed the memory.
fn grow(buffer: &mut Vec<f64>, len: usize) -> Result<(), std::collections::TryReserveError> {
    if buffer.len() < len {
        *buffer = Vec::new();
        if buffer.try_reserve_exact(len.saturating_add(len / 8)).is_err() {
            buffer.try_reserve_exact(len)?;
        }
        buffer.resize(buffer.capacity(), 0.0);
    }
    Ok(())
}

impl std::fmt::Debug for Cholesky {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cholesky")
            .field("ordering", &self.ordering)
            .field("factor_nonzeros", &self.factor_nonzeros())
            .field("factorized", &self.factorized)
            .finish_non_exhaustive()
    }
}

impl LinearSolver for Cholesky {
    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        check_sizes(a.n(), b, x)?;
        check_rhs(b)?;
        let clock = Instant::now();
        check_matrix(a)?;
        let analyzed = self.analyze(a.pattern())?;
        let symbolic = clock.elapsed().as_secs_f64();
        self.factorize(a)?;
        let numeric = clock.elapsed().as_secs_f64() - symbolic;
        let (iterations, relative_residual) = self.solve_refined(a, b, x)?;
        let back_solve = clock.elapsed().as_secs_f64() - symbolic - numeric;
        Ok(SolveReport {
            iterations,
            relative_residual,
            analyzed,
            factor_nonzeros: self.factor_nonzeros(),
            seconds: SolveSeconds { symbolic, numeric, back_solve },
        })
    }
}
