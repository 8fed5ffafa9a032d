//! What a factorisation knows before it sees numbers: order, fronts, and the place of every block.

use std::sync::Arc;

use super::tree::FrontTree;
use crate::{BlockPattern, Permutation, SolveError, VertexOrder};

/// Set in [`Entry::row`] where the block is read transposed.
const TRANSPOSED: u32 = 1 << 31;

/// A block of the matrix in its front.
#[derive(Debug, Clone, Copy)]
struct Entry {
    block: u32,
    row: u32,
}

/// One front: a dense lower trapezoid of which `k` block columns are eliminated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Front {
    /// First block column, in the order of elimination.
    pub(crate) first: usize,
    /// Block columns eliminated.
    pub(crate) k: usize,
    /// Block rows, eliminated ones included.
    pub(crate) m: usize,
    /// Parent; the front itself for a root.
    pub(crate) parent: usize,
    /// First front of the subtree that ends here.
    pub(crate) subtree: usize,
    /// Operations (multiplications with addition) of the subtree.
    pub(crate) work: f64,
    /// Start of its rows in `Analysis::rows` and `Analysis::relative`.
    rows: usize,
}

/// The symbolic factorisation of a pattern: a pure function of the pattern and the order.
#[derive(Debug)]
pub(crate) struct Analysis {
    pub(crate) pattern: Arc<BlockPattern>,
    pub(crate) permutation: Permutation,
    /// Scalar columns of a block column, 1, 2 or 3.
    pub(crate) unknowns: usize,
    /// In postorder.
    pub(crate) fronts: Vec<Front>,
    /// Where the columns of each front start among the scalars of the factor, and their end.
    pub(crate) panels: Vec<usize>,
    /// First scalar of the fronts' columns in a vector, and their end.
    pub(crate) columns: Vec<usize>,
    /// Children of each front: offsets, and lists in postorder.
    child_start: Vec<u32>,
    children: Vec<u32>,
    /// Block rows below the eliminated ones of all fronts.
    rows: Vec<u32>,
    /// The same as block rows of the parent front.
    relative: Vec<u32>,
    /// Offsets of each block column into `entries`.
    entry_start: Vec<u32>,
    entries: Vec<Entry>,
}

impl Analysis {
    pub(crate) fn new(pattern: Arc<BlockPattern>, order: VertexOrder) -> Result<Self, SolveError> {
        let blocks = usize::try_from(order.tree.factor_blocks()).unwrap_or(usize::MAX);
        let unknowns = pattern.unknowns();
        let entries = unknowns * unknowns;
        let too_large = SolveError::OutOfMemory { nonzeros: blocks.saturating_mul(entries) };
        if pattern.block_count() >= TRANSPOSED as usize || blocks > usize::MAX / 64 {
            return Err(too_large);
        }
        let tree = FrontTree::new(&order.tree, unknowns as f64);
        let regroup = Permutation::from_new_to_old(tree.order).ok_or(too_large)?;
        let permutation = order.permutation.then(&regroup);
        let fronts = fronts(&tree.size, &tree.parent, unknowns as f64);
        let (child_start, children) = children(&fronts);
        let sum = |size: &dyn Fn(&Front) -> usize| {
            let mut total = 0;
            let mut starts: Vec<usize> = Vec::with_capacity(fronts.len() + 1);
            starts.push(0);
            starts.extend(fronts.iter().map(|f| {
                total += size(f);
                total
            }));
            starts
        };
        let panels = sum(&|f| entries * f.k * f.m);
        let columns = sum(&|f| unknowns * f.k);
        let n = pattern.n();
        let mut analysis = Self {
            pattern,
            permutation,
            unknowns,
            fronts,
            panels,
            columns,
            child_start,
            children,
            rows: Vec::new(),
            relative: Vec::new(),
            entry_start: Vec::with_capacity(n + 1),
            entries: Vec::new(),
        };
        analysis.place_rows();
        analysis.place_children();
        Ok(analysis)
    }

    /// Rows of every front, and the entries of its columns.
    // long: one loop over the fronts, in which rows of the children become rows of the front
    fn place_rows(&mut self) {
        let pattern = &*self.pattern;
        let (old, new) = (self.permutation.new_to_old(), self.permutation.old_to_new());
        let total = self.fronts.last().map_or(0, |f| f.rows + f.m - f.k);
        self.rows.reserve_exact(total);
        self.entries.reserve_exact(pattern.block_count());
        self.entry_start.push(0);
        let mut seen = vec![u32::MAX; pattern.n()];
        let mut local = vec![0u32; pattern.n()];
        for f in 0..self.fronts.len() {
            let front = self.fronts[f];
            let end = (front.first + front.k) as u32;
            debug_assert_eq!(self.rows.len(), front.rows);
            // union of the matrix' rows and of the children's
            for &i in &old[front.first..end as usize] {
                for v in pattern.neighbours(i as usize) {
                    push_new(new[v], end, f, &mut seen, &mut self.rows);
                }
            }
            for c in self.child_start[f]..self.child_start[f + 1] {
                let child = self.fronts[self.children[c as usize] as usize];
                for r in child.rows..child.rows + child.m - child.k {
                    push_new(self.rows[r], end, f, &mut seen, &mut self.rows);
                }
            }
            let rows = &mut self.rows[front.rows..];
            debug_assert_eq!(rows.len(), front.m - front.k);
            rows.sort_unstable();
            for (r, &row) in rows.iter().enumerate() {
                local[row as usize] = (front.k + r) as u32;
            }
            for j in front.first..end as usize {
                local[j] = (j - front.first) as u32;
            }
            for j in front.first..end as usize {
                let i = old[j] as usize;
                let first = pattern.diagonal_position(i);
                for (v, block) in pattern.row(i) {
                    if new[v] as usize > j {
                        let row = local[new[v] as usize] | TRANSPOSED;
                        self.entries.push(Entry { block: block as u32, row });
                    }
                }
                for (t, &v) in pattern.column(i).iter().enumerate() {
                    if new[v as usize] as usize >= j {
                        let row = local[new[v as usize] as usize];
                        self.entries.push(Entry { block: (first + t) as u32, row });
                    }
                }
                self.entry_start.push(self.entries.len() as u32);
            }
        }
    }

    /// The rows of each front as rows of its parent.
    fn place_children(&mut self) {
        self.relative = vec![0; self.rows.len()];
        for front in &self.fronts {
            let range = front.rows..front.rows + front.m - front.k;
            let parent = &self.fronts[front.parent];
            let end = parent.first + parent.k;
            let mut at = parent.rows;
            for r in range {
                let row = self.rows[r];
                self.relative[r] = if (row as usize) < end {
                    row - parent.first as u32
                } else {
                    while self.rows[at] != row {
                        at += 1;
                    }
                    (parent.k + at - parent.rows) as u32
                };
            }
        }
    }

    /// Children of a front, in postorder.
    pub(crate) fn children(&self, f: usize) -> &[u32] {
        &self.children[self.child_start[f] as usize..self.child_start[f + 1] as usize]
    }

    /// Block rows of the parent that the rows below a front's eliminated ones are.
    pub(crate) fn relative(&self, f: usize) -> &[u32] {
        let front = &self.fronts[f];
        &self.relative[front.rows..front.rows + front.m - front.k]
    }

    /// The matrix' blocks in column `j` (in the order of elimination): number of the block, block
    /// row of the front, and whether it is read transposed.
    pub(crate) fn entries(&self, j: usize) -> impl Iterator<Item = (usize, usize, bool)> + '_ {
        let range = self.entry_start[j] as usize..self.entry_start[j + 1] as usize;
        self.entries[range]
            .iter()
            .map(|e| (e.block as usize, (e.row & !TRANSPOSED) as usize, e.row & TRANSPOSED != 0))
    }

    /// Scalars of the factor, the zeros of merged fronts among them.
    pub(crate) fn factor_len(&self) -> usize {
        *self.panels.last().unwrap_or(&0)
    }
}

fn push_new(row: u32, end: u32, f: usize, seen: &mut [u32], rows: &mut Vec<u32>) {
    if row >= end && seen[row as usize] != f as u32 {
        seen[row as usize] = f as u32;
        rows.push(row);
    }
}

fn fronts(size: &[[u32; 2]], parent: &[u32], unknowns: f64) -> Vec<Front> {
    let (mut first, mut rows) = (0, 0);
    let mut fronts: Vec<Front> = Vec::with_capacity(size.len());
    for (f, (&[k, m], &parent)) in size.iter().zip(parent).enumerate() {
        let (a, u) = (unknowns * f64::from(k), unknowns * f64::from(m - k));
        let work = a * (a * (a / 6.0 + 0.5 * u) + 0.5 * u * u);
        let (k, m) = (k as usize, m as usize);
        fronts.push(Front { first, k, m, parent: parent as usize, subtree: f, work, rows });
        first += k;
        rows += m - k;
    }
    for f in 0..fronts.len() {
        let Front { parent, subtree, work, .. } = fronts[f];
        if parent != f {
            fronts[parent].work += work;
            fronts[parent].subtree = fronts[parent].subtree.min(subtree);
        }
    }
    fronts
}

/// Offsets of each front into the list of children, and that list.
fn children(fronts: &[Front]) -> (Vec<u32>, Vec<u32>) {
    let mut start = vec![0u32; fronts.len() + 1];
    for (f, front) in fronts.iter().enumerate().filter(|(f, front)| front.parent != *f) {
        debug_assert!(front.parent > f);
        start[front.parent + 1] += 1;
    }
    for f in 0..fronts.len() {
        start[f + 1] += start[f];
    }
    let mut next = start.clone();
    let mut children = vec![0; start[fronts.len()] as usize];
    for (f, front) in fronts.iter().enumerate().filter(|(f, front)| front.parent != *f) {
        children[next[front.parent] as usize] = f as u32;
        next[front.parent] += 1;
    }
    (start, children)
}
