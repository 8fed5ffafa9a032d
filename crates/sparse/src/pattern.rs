//! Which blocks of a symmetric matrix are stored.
//!
//! Knows index sets only, no numbers.

use std::sync::Arc;

use bytemuck::cast_slice;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::MatrixError;

/// The sparsity of a symmetric matrix of n × n blocks: the lower triangle (row ≥ column), block
/// column after block column, rows ascending. Every diagonal block is present and comes first in
/// its column.
///
/// Immutable; matrices and symbolic factorisations share it by `Arc`.
#[derive(Debug, Clone)]
pub struct BlockPattern {
    /// n + 1 offsets into `row_idx`.
    col_ptr: Vec<u32>,
    /// Rows of the stored blocks.
    row_idx: Vec<u32>,
    /// n + 1 offsets into `row_col` and `row_pos`.
    row_ptr: Vec<u32>,
    /// Columns of the strictly lower blocks, row after row, ascending.
    row_col: Vec<u32>,
    /// Where these blocks are stored.
    row_pos: Vec<u32>,
    /// Of the contents, to tell different patterns apart quickly.
    hash: u64,
    /// Unknowns of a block row, 1, 2 or 3.
    unknowns: u8,
}

impl PartialEq for BlockPattern {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.unknowns == other.unknowns
            && self.col_ptr == other.col_ptr
            && self.row_idx == other.row_idx
    }
}
impl Eq for BlockPattern {}

impl BlockPattern {
    /// Stands for a vertex without a row (a Dirichlet degree of freedom): whatever couples to it
    /// is left out.
    pub const ELIMINATED: u32 = u32::MAX;

    /// The pattern of a block-diagonal matrix of n block rows.
    pub fn diagonal(n: usize) -> Result<Self, MatrixError> {
        Self::from_pairs(n, &[])
    }

    /// The pattern that holds the given blocks and the diagonal. Pairs may be in any order, in
    /// either triangle and repeated; those with an [eliminated](Self::ELIMINATED) vertex are left
    /// out.
    pub fn from_pairs(n: usize, pairs: &[(u32, u32)]) -> Result<Self, MatrixError> {
        check_n(n)?;
        let mut inside = Vec::with_capacity(pairs.len());
        for &pair in pairs {
            inside.extend(lower(n, pair)?);
        }
        let columns = Columns::new(n, &inside);
        let mut col_ptr = Vec::with_capacity(n + 1);
        let mut row_idx: Vec<u32> = Vec::with_capacity(columns.rows.len() + n);
        col_ptr.push(0);
        for j in 0..n {
            // the diagonal first, whether it was given or not
            row_idx.push(j as u32);
            row_idx.extend(columns.of(j).iter().filter(|&&row| row != j as u32));
            col_ptr.push(block_count(row_idx.len())?);
        }
        Ok(Self::from_columns(col_ptr, row_idx))
    }

    /// The pattern that couples all vertices of each stencil (an element, a contact pair).
    pub fn from_stencils<'a>(
        n: usize,
        stencils: impl IntoIterator<Item = &'a [u32]>,
    ) -> Result<Self, MatrixError> {
        Self::from_pairs(n, &Self::stencil_pairs(stencils))
    }

    /// All pairs of different vertices within each stencil, eliminated ones left out, for
    /// [`union`](Self::union) and [`from_pairs`](Self::from_pairs).
    pub fn stencil_pairs<'a>(stencils: impl IntoIterator<Item = &'a [u32]>) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for stencil in stencils {
            for (k, &a) in stencil.iter().enumerate() {
                for &b in &stencil[..k] {
                    if a != b && a != Self::ELIMINATED && b != Self::ELIMINATED {
                        pairs.push((a.max(b), a.min(b)));
                    }
                }
            }
        }
        pairs
    }

    /// This pattern and the given blocks besides, by a sorted merge. Returns the same `Arc` where
    /// nothing is new, so that symbolic work is kept.
    pub fn union(self: &Arc<Self>, pairs: &[(u32, u32)]) -> Result<Arc<Self>, MatrixError> {
        let mut extra = Vec::new();
        for &pair in pairs {
            if let Some((row, col)) = lower(self.n(), pair)?
                && self.position(row, col).is_none()
            {
                extra.push((row, col));
            }
        }
        if extra.is_empty() {
            return Ok(self.clone());
        }
        let new = Columns::new(self.n(), &extra);
        block_count(self.block_count() + new.rows.len())?;
        let mut col_ptr = Vec::with_capacity(self.col_ptr.len());
        let mut row_idx = Vec::with_capacity(self.block_count() + new.rows.len());
        let mut j = 0;
        while j < self.n() {
            // columns without anything new are copied at once
            let shift = row_idx.len() as u32 - self.col_ptr[j];
            let same = new.start[j..].partition_point(|&s| s == new.start[j]) - 1;
            col_ptr.extend(self.col_ptr[j..j + same].iter().map(|p| p + shift));
            row_idx.extend_from_slice(
                &self.row_idx[self.col_ptr[j] as usize..self.col_ptr[j + same] as usize],
            );
            j += same;
            if j == self.n() {
                break;
            }
            col_ptr.push(row_idx.len() as u32);
            let mut new = new.of(j).iter().copied().peekable();
            for &row in self.column(j) {
                while let Some(r) = new.next_if(|&r| r < row) {
                    row_idx.push(r);
                }
                row_idx.push(row);
            }
            row_idx.extend(new);
            j += 1;
        }
        col_ptr.push(row_idx.len() as u32);
        Ok(Arc::new(Self { unknowns: self.unknowns, ..Self::from_columns(col_ptr, row_idx) }))
    }

    /// Completes a valid column structure by the transposed index and the hash.
    fn from_columns(col_ptr: Vec<u32>, row_idx: Vec<u32>) -> Self {
        let n = col_ptr.len() - 1;
        let mut row_ptr = vec![0u32; n + 1];
        for j in 0..n {
            for &row in &row_idx[col_ptr[j] as usize + 1..col_ptr[j + 1] as usize] {
                row_ptr[row as usize + 1] += 1;
            }
        }
        for i in 0..n {
            row_ptr[i + 1] += row_ptr[i];
        }
        let mut next = row_ptr.clone();
        let mut row_col = vec![0u32; row_idx.len() - n];
        let mut row_pos = vec![0u32; row_idx.len() - n];
        for j in 0..n {
            for k in col_ptr[j] as usize + 1..col_ptr[j + 1] as usize {
                let slot = &mut next[row_idx[k] as usize];
                row_col[*slot as usize] = j as u32;
                row_pos[*slot as usize] = k as u32;
                *slot += 1;
            }
        }
        let hash = xxh3_64_with_seed(cast_slice(&row_idx), xxh3_64(cast_slice(&col_ptr)));
        Self { col_ptr, row_idx, row_ptr, row_col, row_pos, hash, unknowns: 3 }
    }

    /// This pattern with two unknowns in each block row (`planar`), or with three. With two, vectors have no
    /// third component: it is 0 in right-hand sides, and blocks do not couple it to the other two.
    /// Factorisations leave it out; what works with whole blocks, as products and conjugate gradients do,
    /// carries zeros along, for which the third diagonal entries must be positive.
    pub fn in_plane(mut self, planar: bool) -> Self {
        self.unknowns = if planar { 2 } else { 3 };
        self
    }

    /// This pattern with one unknown in each block row: blocks are multiples of the identity, of which the factorisation
    /// keeps one number and with which it solves for the three components of vectors one by one. Whatever works
    /// with whole blocks is as with three unknowns.
    pub fn isotropic(mut self) -> Self {
        self.unknowns = 1;
        self
    }

    /// Whether block rows have two unknowns.
    pub fn is_in_plane(&self) -> bool {
        self.unknowns == 2
    }

    /// Unknowns of a block row, 1, 2 or 3.
    pub fn unknowns(&self) -> usize {
        usize::from(self.unknowns)
    }

    /// Number of block rows.
    pub fn n(&self) -> usize {
        self.col_ptr.len() - 1
    }

    /// Number of stored blocks (diagonal and lower triangle).
    pub fn block_count(&self) -> usize {
        self.row_idx.len()
    }

    /// n + 1 offsets of the block columns into [`row_idx`](Self::row_idx).
    pub fn col_ptr(&self) -> &[u32] {
        &self.col_ptr
    }

    /// Block rows of all stored blocks, column after column.
    pub fn row_idx(&self) -> &[u32] {
        &self.row_idx
    }

    /// Block rows of column `j`, the diagonal first.
    ///
    /// # Panics
    /// Where `j` ≥ n.
    pub fn column(&self, j: usize) -> &[u32] {
        &self.row_idx[self.col_ptr[j] as usize..self.col_ptr[j + 1] as usize]
    }

    /// The strictly lower blocks of row `i`: (column, position of the block), ascending.
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let range = self.row_ptr[i] as usize..self.row_ptr[i + 1] as usize;
        let (cols, pos) = (&self.row_col[range.clone()], &self.row_pos[range]);
        cols.iter().zip(pos).map(|(&c, &p)| (c as usize, p as usize))
    }

    /// The vertices that vertex `i` is coupled to, ascending, without itself.
    pub(crate) fn neighbours(&self, i: usize) -> impl Iterator<Item = usize> + '_ {
        let below = self.column(i)[1..].iter().map(|&v| v as usize);
        self.row(i).map(|(v, _)| v).chain(below)
    }

    /// Number of vertices that vertex `i` is coupled to, without itself.
    pub(crate) fn degree(&self, i: usize) -> usize {
        let below = self.col_ptr[i + 1] - self.col_ptr[i] - 1;
        (below + self.row_ptr[i + 1] - self.row_ptr[i]) as usize
    }

    /// Where the diagonal block of row `i` is stored.
    pub(crate) fn diagonal_position(&self, i: usize) -> usize {
        self.col_ptr[i] as usize
    }

    /// Where the block (row, col) of the lower triangle is stored, if it is.
    pub fn position(&self, row: u32, col: u32) -> Option<usize> {
        if col as usize >= self.n() {
            return None;
        }
        let begin = self.col_ptr[col as usize] as usize;
        self.column(col as usize).binary_search(&row).ok().map(|k| begin + k)
    }

    /// Whether all given blocks are stored (in either triangle; pairs with an eliminated vertex
    /// count as stored).
    pub fn contains(&self, pairs: &[(u32, u32)]) -> bool {
        pairs.iter().all(|&pair| match lower(self.n(), pair) {
            Ok(Some((row, col))) => self.position(row, col).is_some(),
            Ok(None) => true,
            Err(_) => false,
        })
    }

    /// Whether every block of this pattern is one of `other`.
    pub fn is_subset_of(&self, other: &Self) -> bool {
        self.n() == other.n() && self.embedding(other).is_ok()
    }

    /// For each block of this pattern its position in a pattern that holds them all.
    pub fn embedding(&self, superset: &Self) -> Result<Vec<u32>, MatrixError> {
        if self.n() != superset.n() {
            return Err(MatrixError::SizeMismatch {
                what: "block rows",
                expected: self.n(),
                found: superset.n(),
            });
        }
        let mut map = Vec::with_capacity(self.block_count());
        for j in 0..self.n() {
            let mut k = superset.col_ptr[j];
            let end = superset.col_ptr[j + 1];
            for &row in self.column(j) {
                while k < end && superset.row_idx[k as usize] < row {
                    k += 1;
                }
                if k == end || superset.row_idx[k as usize] != row {
                    return Err(MatrixError::MissingBlock { row, col: j as u32 });
                }
                map.push(k);
            }
        }
        Ok(map)
    }

    /// A hash of the contents: the same on every machine and in every run.
    pub fn content_hash(&self) -> u64 {
        self.hash
    }
}

/// Rows of blocks by column, ascending and without repetitions.
struct Columns {
    start: Vec<usize>,
    rows: Vec<u32>,
}

impl Columns {
    /// Sorts (row, column) pairs into buckets, and each of these.
    fn new(n: usize, pairs: &[(u32, u32)]) -> Self {
        let mut begin = vec![0usize; n + 1];
        for &(_, col) in pairs {
            begin[col as usize + 1] += 1;
        }
        for j in 0..n {
            begin[j + 1] += begin[j];
        }
        let mut rows = vec![0u32; pairs.len()];
        let mut next = begin.clone();
        for &(row, col) in pairs {
            rows[next[col as usize]] = row;
            next[col as usize] += 1;
        }
        let mut start = Vec::with_capacity(n + 1);
        start.push(0);
        let mut kept = 0;
        for j in 0..n {
            rows[begin[j]..begin[j + 1]].sort_unstable();
            let first = kept;
            for k in begin[j]..begin[j + 1] {
                if kept == first || rows[kept - 1] != rows[k] {
                    rows[kept] = rows[k];
                    kept += 1;
                }
            }
            start.push(kept);
        }
        rows.truncate(kept);
        Self { start, rows }
    }

    fn of(&self, j: usize) -> &[u32] {
        &self.rows[self.start[j]..self.start[j + 1]]
    }
}

/// Whether two shared patterns are the same, cheaply where they are one object.
pub(crate) fn same(a: &Arc<BlockPattern>, b: &Arc<BlockPattern>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// The pair in the lower triangle; `None` where a vertex is eliminated.
fn lower(n: usize, (a, b): (u32, u32)) -> Result<Option<(u32, u32)>, MatrixError> {
    for vertex in [a, b] {
        if vertex as usize >= n && vertex != BlockPattern::ELIMINATED {
            return Err(MatrixError::VertexOutOfRange { vertex, n });
        }
    }
    // the eliminated index is the largest one
    let (row, col) = (a.max(b), a.min(b));
    Ok((row != BlockPattern::ELIMINATED).then_some((row, col)))
}

fn check_n(n: usize) -> Result<(), MatrixError> {
    // the largest index stands for eliminated vertices
    if n < u32::MAX as usize { Ok(()) } else { Err(MatrixError::TooLarge { what: "block rows" }) }
}

fn block_count(blocks: usize) -> Result<u32, MatrixError> {
    u32::try_from(blocks).map_err(|_| MatrixError::TooLarge { what: "blocks" })
}
