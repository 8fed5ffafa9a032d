//! The same factorisation by faer alone in any precision: what ours in single precision is measured against.
#![allow(dead_code)]

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::cholesky::{
    SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Par, Side};
use standoff_sparse::{BlockMatrix, Ordering, VertexOrder};

/// faer's supernodal Cholesky factorisation, one thread, in the precision of `T`.
pub struct FaerTwin<T> {
    matrix: SparseColMat<usize, T>,
    symbolic: SymbolicCholesky<usize>,
    values: Vec<T>,
    memory: MemBuffer,
}

impl<T: faer::traits::RealField + Copy> FaerTwin<T> {
    pub fn new(a: &BlockMatrix, ordering: Ordering, round: fn(f64) -> T) -> Self {
        let n = 3 * a.n();
        let mut entries = Vec::new();
        for j in 0..a.n() {
            let first = a.pattern().col_ptr()[j] as usize;
            for (k, &i) in a.pattern().column(j).iter().enumerate() {
                let block = a.blocks()[first + k];
                for (r, c) in (0..9).map(|e| (e % 3, e / 3)) {
                    let (row, col) = (3 * i as usize + r, 3 * j + c);
                    if row >= col {
                        entries.push(Triplet::new(row, col, round(block[(r, c)])));
                    }
                }
            }
        }
        let matrix = SparseColMat::try_new_from_triplets(n, n, &entries).expect("valid");
        let order = VertexOrder::new(a.pattern(), ordering).permutation;
        let scalars = |v: &u32| (0..3).map(|c| 3 * *v as usize + c).collect::<Vec<_>>();
        let forward: Vec<usize> = order.new_to_old().iter().flat_map(scalars).collect();
        let inverse: Vec<usize> = order.old_to_new().iter().flat_map(scalars).collect();
        let order = faer::perm::Perm::new_checked(forward.into(), inverse.into(), n);
        let symbolic = factorize_symbolic_cholesky(
            matrix.symbolic(),
            Side::Lower,
            SymmetricOrdering::Custom(order.as_ref()),
            Default::default(),
        )
        .expect("memory");
        let memory = MemBuffer::new(StackReq::any_of(&[
            symbolic.factorize_numeric_llt_scratch::<T>(Par::Seq, Default::default()),
            symbolic.solve_in_place_scratch::<T>(1, Par::Seq),
        ]));
        let values = vec![round(0.0); symbolic.len_val()];
        Self { matrix, symbolic, values, memory }
    }

    pub fn factorize(&mut self) {
        self.symbolic
            .factorize_numeric_llt(
                &mut self.values,
                self.matrix.as_ref(),
                Side::Lower,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut self.memory),
                Default::default(),
            )
            .expect("positive definite");
    }
}
