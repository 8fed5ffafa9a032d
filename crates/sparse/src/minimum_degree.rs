//! Approximate minimum degree by faer.

use crate::permutation::Permutation;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

/// An order of approximate minimum degree of the graph whose edges the columns of a lower triangle list, diagonal
/// included; the natural order where faer fails.
pub(crate) fn minimum_degree_of(col_ptr: &[u32], row_idx: &[u32]) -> Permutation {
    let n = col_ptr.len() - 1;
    let find = || -> Option<Permutation> {
        let graph = SymbolicSparseColMatRef::new_checked(n, n, col_ptr, None, row_idx);
        let (mut new_to_old, mut old_to_new) = (vec![0u32; n], vec![0u32; n]);
        let request = amd::order_scratch::<u32>(n, row_idx.len());
        let mut memory = MemBuffer::try_new(request).ok()?;
        let stack = MemStack::new(&mut memory);
        amd::order(&mut new_to_old, &mut old_to_new, graph, amd::Control::default(), stack).ok()?;
        Permutation::from_new_to_old(new_to_old)
    };
    find().unwrap_or_else(|| Permutation::identity(n))
}
