//! What a factorisation knows before it sees numbers: the order, the structure of the factor and
//! the place of every block in the permuted scalar matrix.

use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::sparse::linalg::SymbolicSupernodalParams;
use faer::sparse::linalg::cholesky::{simplicial, supernodal};
use faer::sparse::{SymbolicSparseColMat, SymbolicSparseColMatRef};

use crate::{BlockMatrix, BlockPattern, EliminationTree, Ordering, SolveError, VertexOrder};

/// Adjacent supernodes are merged where they have together at most so many columns and at most
/// such a share of zeros. In multiples of the block size; otherwise near faer's own choice, from
/// which it differed by less than the noise of a loaded machine.
const RELAX: &[(usize, f64)] = &[(12, 1.0), (24, 0.6), (48, 0.2), (usize::MAX, 0.05)];

/// The symbolic factorisation of a pattern: a pure function of the pattern and the ordering.
#[derive(Debug)]
pub(crate) struct Symbolic {
    pub(crate) pattern: Arc<BlockPattern>,
    pub(crate) order: VertexOrder,
    /// Structure of the scalar factor.
    pub(crate) factor: supernodal::SymbolicSupernodalCholesky<usize>,
    /// The permuted lower triangle, expanded to scalars (with whole diagonal blocks).
    pub(crate) lower: SymbolicSparseColMat<usize>,
    /// Where each block of the pattern goes in it.
    targets: Vec<Target>,
}

/// Place of a block among the values of the permuted scalar matrix: entry (i, j) of the block (of
/// its transpose where the permutation moved it to the other triangle) is at `base + j stride + i`.
#[derive(Debug, Clone, Copy)]
struct Target {
    base: usize,
    stride: u32,
    transposed: bool,
}

impl Symbolic {
    pub(crate) fn new(pattern: Arc<BlockPattern>, ordering: Ordering) -> Result<Self, SolveError> {
        let order = VertexOrder::new(&pattern, ordering);
        let factor = supernodes(&pattern, &order)?;
        let (lower, targets) = expand(&pattern, order.permutation.old_to_new());
        Ok(Self { pattern, order, factor, lower, targets })
    }

    /// Writes the blocks of `a`, which has this pattern, as values of the scalar matrix.
    pub(crate) fn permute(&self, a: &BlockMatrix, values: &mut [f64]) {
        for (block, target) in a.blocks().iter().zip(&self.targets) {
            for j in 0..3 {
                let at = target.base + j * target.stride as usize;
                let column = &mut values[at..at + 3];
                for i in 0..3 {
                    column[i] = if target.transposed { block[(j, i)] } else { block[(i, j)] };
                }
            }
        }
    }
}

/// The permuted lower triangle as scalars. Rows within a column are in no particular order.
fn expand(pattern: &BlockPattern, new: &[u32]) -> (SymbolicSparseColMat<usize>, Vec<Target>) {
    let n = pattern.n();
    let entries = |j: usize| pattern.column(j).iter().map(move |&i| (new[i as usize], new[j]));
    // block offsets of the permuted columns
    let mut start = vec![0usize; n + 1];
    for (a, b) in (0..n).flat_map(entries) {
        start[a.min(b) as usize + 1] += 1;
    }
    for j in 0..n {
        start[j + 1] += start[j];
    }
    // a block column of m blocks becomes three columns of 3 m scalars
    let mut col_ptr = Vec::with_capacity(3 * n + 1);
    col_ptr.push(0);
    for j in 0..n {
        let length = 3 * (start[j + 1] - start[j]);
        (1..=3).for_each(|k| col_ptr.push(9 * start[j] + k * length));
    }
    let mut row_idx = vec![0; 9 * start[n]];
    let mut next = start.clone();
    let mut targets = Vec::with_capacity(pattern.block_count());
    for (a, b) in (0..n).flat_map(entries) {
        let (row, col) = (a.max(b) as usize, a.min(b) as usize);
        let stride = 3 * (start[col + 1] - start[col]);
        let base = 9 * start[col] + 3 * (next[col] - start[col]);
        next[col] += 1;
        for j in 0..3 {
            for i in 0..3 {
                row_idx[base + j * stride + i] = 3 * row + i;
            }
        }
        targets.push(Target { base, stride: stride as u32, transposed: a < b });
    }
    (SymbolicSparseColMat::new_unsorted_checked(3 * n, 3 * n, col_ptr, None, row_idx), targets)
}

/// The supernodes of the scalar factor from the elimination tree of the blocks.
fn supernodes(
    pattern: &BlockPattern,
    order: &VertexOrder,
) -> Result<supernodal::SymbolicSupernodalCholesky<usize>, SolveError> {
    let n = pattern.n();
    let failed = || SolveError::OutOfMemory {
        nonzeros: usize::try_from(order.tree.factor_blocks()).unwrap_or(0).saturating_mul(9),
    };
    let (parent, count) = scalar_tree(&order.tree);
    let (col_ptr, row_idx) = skeleton(pattern, order);
    let upper =
        SymbolicSparseColMatRef::new_unsorted_checked(3 * n, 3 * n, &col_ptr, None, &row_idx);
    let request: StackReq =
        supernodal::factorize_supernodal_symbolic_cholesky_scratch::<usize>(3 * n);
    let mut memory = MemBuffer::try_new(request).map_err(|_| failed())?;
    // SAFETY: `from_inner` asks for what `prefactorize_symbolic_cholesky` computes. `scalar_tree`
    // gives the same: the three columns of a block are a path, the last one's parent is the first
    // scalar of the block's parent, and each column has the block column's rows less those above
    // it (the test below compares with faer's own, entry by entry). What faer relies on when it
    // skips bounds checks holds by construction: every parent is -1 or in 0..3n, and larger than
    // its child.
    let tree = unsafe { simplicial::EliminationTreeRef::<usize>::from_inner(&parent) };
    supernodal::factorize_supernodal_symbolic_cholesky(
        upper,
        tree,
        &count,
        MemStack::new(&mut memory),
        SymbolicSupernodalParams { relax: Some(RELAX) },
    )
    .map_err(|_| failed())
}

/// Parents (−1: root) and column counts of the scalar factor.
fn scalar_tree(tree: &EliminationTree) -> (Vec<isize>, Vec<usize>) {
    let counts = tree.column_counts();
    let mut parent = Vec::with_capacity(3 * counts.len());
    let mut count = Vec::with_capacity(3 * counts.len());
    for (j, &c) in counts.iter().enumerate() {
        let next_block = tree.parent(j).map_or(-1, |p| 3 * p as isize);
        parent.extend([3 * j as isize + 1, 3 * j as isize + 2, next_block]);
        let c = 3 * c as usize;
        count.extend([c, c - 1, c - 2]);
    }
    (parent, count)
}

/// A scalar upper triangle with the fill of the permuted matrix, but a third of its entries: of
/// each block row only the first scalar, from which the tree's path runs through the others.
fn skeleton(pattern: &BlockPattern, order: &VertexOrder) -> (Vec<usize>, Vec<usize>) {
    let n = pattern.n();
    let (old, new) = (order.permutation.new_to_old(), order.permutation.old_to_new());
    let mut col_ptr = Vec::with_capacity(3 * n + 1);
    let mut row_idx = Vec::with_capacity(3 * pattern.block_count());
    col_ptr.push(0);
    for j in 0..n {
        let i = old[j] as usize;
        let begin = row_idx.len();
        let neighbours = pattern.row(i).map(|(v, _)| v);
        let neighbours = neighbours.chain(pattern.column(i).iter().map(|&v| v as usize));
        row_idx.extend(neighbours.map(|v| new[v] as usize).filter(|&k| k <= j).map(|k| 3 * k));
        let length = row_idx.len() - begin;
        col_ptr.push(row_idx.len());
        for _ in 0..2 {
            row_idx.extend_from_within(begin..begin + length);
            col_ptr.push(row_idx.len());
        }
    }
    (col_ptr, row_idx)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns() -> Vec<Arc<BlockPattern>> {
        let grid = |n: u32, f: &dyn Fn(u32, u32) -> bool| {
            let pairs: Vec<_> = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
            let pairs: Vec<_> = pairs.into_iter().filter(|&(i, j)| f(i, j)).collect();
            Arc::new(BlockPattern::from_pairs(n as usize, &pairs).unwrap())
        };
        vec![
            grid(1, &|_, _| false),
            grid(30, &|_, _| false),
            grid(40, &|i, j| i - j == 1),
            grid(80, &|i, j| i - j == 1 || i - j == 9),
            grid(70, &|i, j| (i * i + 31 * j) % 23 == 0),
            grid(20, &|_, _| true),
        ]
    }

    /// The tree expanded from blocks is the one that faer computes from the expanded matrix, and
    /// the skeleton has the same fill as that matrix.
    #[test]
    fn scalar_tree_is_the_one_faer_computes() {
        for pattern in patterns() {
            for ordering in [Ordering::Natural, Ordering::MinimumDegree, Ordering::NestedDissection]
            {
                let symbolic = Symbolic::new(pattern.clone(), ordering).unwrap();
                let upper = symbolic.lower.to_row_major().unwrap();
                let full = upper.as_ref().transpose();
                let (col_ptr, row_idx) = skeleton(&pattern, &symbolic.order);
                let m = 3 * pattern.n();
                let thin =
                    SymbolicSparseColMatRef::new_unsorted_checked(m, m, &col_ptr, None, &row_idx);
                let (expected_parent, expected_count) = scalar_tree(&symbolic.order.tree);
                for upper in [full, thin] {
                    let (mut parent, mut count) = (vec![0isize; m], vec![0usize; m]);
                    let request = simplicial::prefactorize_symbolic_cholesky_scratch::<usize>(
                        m,
                        row_idx.len(),
                    );
                    let mut memory = MemBuffer::new(request);
                    simplicial::prefactorize_symbolic_cholesky(
                        &mut parent,
                        &mut count,
                        upper,
                        MemStack::new(&mut memory),
                    );
                    assert_eq!(parent, expected_parent);
                    assert_eq!(count, expected_count);
                }
            }
        }
    }
}
