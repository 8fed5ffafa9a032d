//! Direct solution by faer's sparse Cholesky factorisation, in double precision.

use std::sync::Arc;
use std::time::Instant;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::solvers::LltError;
use faer::perm::Perm;
use faer::sparse::linalg::cholesky::{
    LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par, Side};
use standoff_linalg::Vec3;

use super::{LinearSolver, Refinement, SolveReport, SolveSeconds, check_matrix, check_vectors};
use crate::{BlockMatrix, BlockPattern, Ordering, Permutation, SolveError, VertexOrder, pattern};

/// faer's supernodal (on very sparse factors simplicial) Cholesky factorisation with iterative
/// refinement, on one thread, for comparison with [`Cholesky`](super::Cholesky).
///
/// Ordering and symbolic factorisation are kept as long as matrices have the same pattern.
pub struct FaerCholesky {
    /// When solutions are refined and refused.
    pub refinement: Refinement,
    ordering: Ordering,
    analysis: Option<Analysis>,
    /// Entries of the matrix by scalar columns.
    entries: Vec<f64>,
    factor: Vec<f64>,
    memory: Option<MemBuffer>,
    scalars: Vec<f64>,
}

/// What depends on the pattern alone.
struct Analysis {
    pattern: Arc<BlockPattern>,
    permutation: Permutation,
    scalar_pattern: SymbolicSparseColMat<usize>,
    symbolic: SymbolicCholesky<usize>,
}

/// Scalars of a block row; blocks with one unknown are factorised as any others here.
fn scalars(pattern: &BlockPattern) -> usize {
    match pattern.unknowns() {
        1 => 3,
        unknowns => unknowns,
    }
}

impl Analysis {
    fn new(pattern: Arc<BlockPattern>, ordering: Ordering) -> Result<Self, SolveError> {
        let unknowns = scalars(&pattern);
        let n = unknowns * pattern.n();
        let (mut col_ptr, mut row_idx) = (Vec::with_capacity(n + 1), Vec::new());
        col_ptr.push(0);
        for j in 0..pattern.n() {
            for c in 0..unknowns {
                let lower = |row: &usize| *row >= unknowns * j + c;
                let of = |&i: &u32| (0..unknowns).map(move |r| unknowns * i as usize + r);
                row_idx.extend(pattern.column(j).iter().flat_map(of).filter(lower));
                col_ptr.push(row_idx.len());
            }
        }
        let scalar_pattern = SymbolicSparseColMat::new_checked(n, n, col_ptr, None, row_idx);
        let permutation = VertexOrder::new(&pattern, ordering).permutation;
        let scalars =
            |v: &u32| (0..unknowns).map(|c| unknowns * *v as usize + c).collect::<Vec<_>>();
        let forward: Vec<usize> = permutation.new_to_old().iter().flat_map(scalars).collect();
        let inverse: Vec<usize> = permutation.old_to_new().iter().flat_map(scalars).collect();
        let order = Perm::new_checked(forward.into(), inverse.into(), n);
        let symbolic = factorize_symbolic_cholesky(
            scalar_pattern.as_ref(),
            Side::Lower,
            SymmetricOrdering::Custom(order.as_ref()),
            Default::default(),
        );
        let symbolic = symbolic.map_err(|_| SolveError::OutOfMemory { nonzeros: 0 })?;
        Ok(Self { pattern, permutation, scalar_pattern, symbolic })
    }
}

impl FaerCholesky {
    /// A solver that orders by the given method.
    pub fn new(ordering: Ordering) -> Self {
        Self {
            refinement: Refinement::default(),
            ordering,
            analysis: None,
            entries: Vec::new(),
            factor: Vec::new(),
            memory: None,
            scalars: Vec::new(),
        }
    }

    /// Orders and analyses a pattern, unless the last one was the same; returns whether it did.
    fn analyze(&mut self, pattern: &Arc<BlockPattern>) -> Result<bool, SolveError> {
        if self.analysis.as_ref().is_some_and(|a| pattern::same(&a.pattern, pattern)) {
            return Ok(false);
        }
        // free first
        (self.analysis, self.memory, self.factor) = (None, None, Vec::new());
        let analysis = Analysis::new(pattern.clone(), self.ordering)?;
        let symbolic = &analysis.symbolic;
        let memory = StackReq::any_of(&[
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        ]);
        let nonzeros = symbolic.len_val();
        let out_of_memory = SolveError::OutOfMemory { nonzeros };
        self.factor.try_reserve_exact(nonzeros).map_err(|_| out_of_memory.clone())?;
        self.factor.resize(nonzeros, 0.0);
        self.memory = Some(MemBuffer::try_new(memory).map_err(|_| out_of_memory)?);
        self.analysis = Some(analysis);
        Ok(true)
    }

    /// Factorises a matrix; returns whether its pattern had to be analysed.
    ///
    /// # Errors
    /// The matrix is not finite or not positive definite, or memory is short.
    pub fn factorize(&mut self, a: &BlockMatrix) -> Result<bool, SolveError> {
        check_matrix(a)?;
        let analyzed = self.analyze(a.pattern())?;
        let (Some(analysis), Some(memory)) = (&self.analysis, &mut self.memory) else {
            return Err(SolveError::NotFactorized);
        };
        let pattern = &*analysis.pattern;
        let unknowns = scalars(pattern);
        self.entries.clear();
        for j in 0..pattern.n() {
            let first = pattern.diagonal_position(j);
            let blocks = &a.blocks()[first..first + pattern.column(j).len()];
            for c in 0..unknowns {
                // of the block on the diagonal what is on and below the diagonal
                self.entries.extend((c..unknowns).map(|r| blocks[0][(r, c)]));
                let below = blocks[1..].iter();
                self.entries.extend(below.flat_map(|b| (0..unknowns).map(move |r| b[(r, c)])));
            }
        }
        let matrix = SparseColMatRef::new(analysis.scalar_pattern.as_ref(), &self.entries);
        let result = analysis.symbolic.factorize_numeric_llt(
            &mut self.factor,
            matrix,
            Side::Lower,
            Default::default(),
            Par::Seq,
            MemStack::new(memory),
            Default::default(),
        );
        match result {
            Ok(_) => Ok(analyzed),
            Err(LltError::NonPositivePivot { index }) => {
                // faer counts pivots from 1
                let place = index.saturating_sub(1) / unknowns;
                let block = analysis.permutation.new_to_old().get(place).copied();
                Err(SolveError::NotPositiveDefinite { block: block.unwrap_or(0) as usize })
            }
        }
    }

    /// x ← A⁻¹ b with the last factor.
    fn back_solve(&mut self, b: &[Vec3], x: &mut [Vec3]) -> Result<(), SolveError> {
        let (Some(analysis), Some(memory)) = (&self.analysis, &mut self.memory) else {
            return Err(SolveError::NotFactorized);
        };
        let unknowns = scalars(&analysis.pattern);
        self.scalars.clear();
        self.scalars.extend(b.iter().flat_map(|b| b.iter().take(unknowns)));
        let n = self.scalars.len();
        LltRef::new(&analysis.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(&mut self.scalars, n, 1),
            Par::Seq,
            MemStack::new(memory),
        );
        for (x, s) in x.iter_mut().zip(self.scalars.chunks_exact(unknowns)) {
            *x = Vec3::from_fn(|c, _| s.get(c).copied().unwrap_or(0.0));
        }
        Ok(())
    }
}

impl LinearSolver for FaerCholesky {
    fn solve(
        &mut self,
        a: &BlockMatrix,
        b: &[Vec3],
        x: &mut [Vec3],
    ) -> Result<SolveReport, SolveError> {
        check_vectors(a.n(), b, x)?;
        let clock = Instant::now();
        check_matrix(a)?;
        let analyzed = self.analyze(a.pattern())?;
        let symbolic = clock.elapsed().as_secs_f64();
        self.factorize(a)?;
        let numeric = clock.elapsed().as_secs_f64() - symbolic;
        let refinement = self.refinement;
        let solve = &mut |b: &[Vec3], x: &mut [Vec3]| self.back_solve(b, x);
        let (iterations, relative_residual) = refinement.solve(a, b, x, solve)?;
        let back_solve = clock.elapsed().as_secs_f64() - symbolic - numeric;
        Ok(SolveReport {
            iterations,
            relative_residual,
            analyzed,
            factor_nonzeros: self.factor.len(),
            seconds: SolveSeconds { symbolic, numeric, back_solve },
        })
    }
}
