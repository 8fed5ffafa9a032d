//! The elimination tree of a symmetric matrix in a given order, and the fill that it predicts.

use crate::BlockPattern;
use crate::permutation::Permutation;

/// Marks a root.
const NONE: u32 = u32::MAX;

/// Parents and column counts of the block Cholesky factor L [Liu 1990].
///
/// The parent of column j is the row of the first entry of L below the diagonal in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EliminationTree {
    parent: Vec<u32>,
    count: Vec<u32>,
}

impl EliminationTree {
    /// Of the pattern with its vertices renumbered, in a time that is almost proportional to the size of the pattern.
    pub(crate) fn new(pattern: &BlockPattern, order: &Permutation) -> Self {
        let graph = Renumbered { pattern, order };
        let parent = parents(&graph);
        let mut tree = Self { count: vec![0; parent.len()], parent };
        tree.count = column_counts(&graph, &tree.parent, tree.postorder().new_to_old());
        tree
    }

    /// The parent of column `j`; `None` for a root.
    ///
    /// # Panics
    /// Where `j` ≥ n.
    pub fn parent(&self, j: usize) -> Option<usize> {
        (self.parent[j] != NONE).then_some(self.parent[j] as usize)
    }

    /// Number of blocks in each column of L, diagonal included.
    pub fn column_counts(&self) -> &[u32] {
        &self.count
    }

    /// Number of blocks of L.
    pub fn factor_blocks(&self) -> u64 {
        self.count.iter().map(|&c| u64::from(c)).sum()
    }

    /// Block multiplications of the factorisation, Σ c (c + 1) / 2 over the column counts c.
    pub fn operations(&self) -> f64 {
        self.count.iter().map(|&c| 0.5 * f64::from(c) * (f64::from(c) + 1.0)).sum()
    }

    /// The order that visits children before parents, subtree by subtree. Of its children a
    /// parent follows the one with the longest column, whose structure is closest to its own.
    pub(crate) fn postorder(&self) -> Permutation {
        let n = self.parent.len();
        let mut by_count: Vec<u32> = (0..n as u32).collect();
        by_count.sort_by_key(|&j| self.count[j as usize]);
        // linked lists of children; pushing to the front in ascending order puts the longest first
        let (mut child, mut sibling) = (vec![NONE; n], vec![NONE; n]);
        let mut stack = Vec::new();
        for j in by_count {
            match self.parent[j as usize] {
                NONE => stack.push(j),
                p => {
                    sibling[j as usize] = child[p as usize];
                    child[p as usize] = j;
                }
            }
        }
        // reversed postorder: a parent, then its subtrees, the longest first
        let mut position = n;
        let mut new_to_old = vec![0; n];
        let mut old_to_new = vec![0; n];
        while let Some(j) = stack.pop() {
            position -= 1;
            new_to_old[position] = j;
            old_to_new[j as usize] = position as u32;
            // the stack's top comes next, so the longest child is pushed last
            let first = stack.len();
            let mut c = child[j as usize];
            while c != NONE {
                stack.push(c);
                c = sibling[c as usize];
            }
            stack[first..].reverse();
        }
        Permutation { new_to_old, old_to_new }
    }

    /// The same tree with its columns renumbered by a postorder.
    pub(crate) fn renumbered(&self, order: &Permutation) -> Self {
        let parent = order.new_to_old().iter().map(|&j| match self.parent[j as usize] {
            NONE => NONE,
            p => order.old_to_new()[p as usize],
        });
        let count = order.new_to_old().iter().map(|&j| self.count[j as usize]);
        Self { parent: parent.collect(), count: count.collect() }
    }
}

/// A pattern with its vertices in another order.
struct Renumbered<'a> {
    pattern: &'a BlockPattern,
    order: &'a Permutation,
}

impl Renumbered<'_> {
    /// The neighbours of vertex `j`, in any order.
    fn neighbours(&self, j: u32) -> impl Iterator<Item = u32> {
        let (old, new) = (self.order.new_to_old(), self.order.old_to_new());
        let i = old[j as usize] as usize;
        let before = self.pattern.row(i).map(|(v, _)| v);
        let behind = self.pattern.column(i)[1..].iter().map(|&v| v as usize);
        before.chain(behind).map(|v| new[v])
    }
}

/// Parents of all columns. A column's way to its root is shortened wherever the loop passes [Liu 1990, § 4.2].
fn parents(graph: &Renumbered<'_>) -> Vec<u32> {
    let n = graph.pattern.n();
    let (mut parent, mut ancestor) = (vec![NONE; n], vec![NONE; n]);
    for j in 0..n as u32 {
        for mut k in graph.neighbours(j) {
            // to the root of the tree that holds k so far
            while k < j {
                let next = std::mem::replace(&mut ancestor[k as usize], j);
                if next == NONE {
                    parent[k as usize] = j;
                    break;
                }
                k = next;
            }
        }
    }
    parent
}

/// Lengths of all columns of L [Gilbert 1994].
///
/// Row i of L is a subtree: the columns from which i is reached. Its leaves are columns with an entry of A in row i. The
/// length of column j is the number of subtrees that contain it. It is summed up along the tree from what each subtree
/// adds: 1 at each of its leaves, −1 where the ways of two successive leaves meet, −1 at the parent of its root.
fn column_counts(graph: &Renumbered<'_>, parent: &[u32], postorder: &[u32]) -> Vec<u32> {
    let n = parent.len();
    // of each column: its first descendant in the postorder
    let mut first = vec![NONE; n];
    let mut change = vec![0i64; n];
    for (k, &leaf) in postorder.iter().enumerate() {
        let mut j = leaf;
        change[j as usize] = i64::from(first[j as usize] == NONE);
        while j != NONE && first[j as usize] == NONE {
            first[j as usize] = k as u32;
            j = parent[j as usize];
        }
    }
    // of each row: its last leaf, and the first descendant of that
    let (mut last, mut reached) = (vec![NONE; n], vec![NONE; n]);
    let mut ancestor: Vec<u32> = (0..n as u32).collect();
    for &j in postorder {
        let up = parent[j as usize];
        if up != NONE {
            change[up as usize] -= 1;
        }
        for i in graph.neighbours(j).filter(|&i| i > j) {
            let i = i as usize;
            if reached[i] != NONE && first[j as usize] <= reached[i] {
                continue;
            }
            reached[i] = first[j as usize];
            change[j as usize] += 1;
            let before = std::mem::replace(&mut last[i], j);
            if before != NONE {
                change[root(&mut ancestor, before) as usize] -= 1;
            }
        }
        if up != NONE {
            ancestor[j as usize] = up;
        }
    }
    for &j in postorder {
        if parent[j as usize] != NONE {
            change[parent[j as usize] as usize] += change[j as usize];
        }
    }
    change.iter().map(|&c| c as u32).collect()
}

/// The root of the tree that holds `j`; what is on the way to it then points to it.
fn root(ancestor: &mut [u32], j: u32) -> u32 {
    let mut root = j;
    while ancestor[root as usize] != root {
        root = ancestor[root as usize];
    }
    let mut k = j;
    while k != root {
        k = std::mem::replace(&mut ancestor[k as usize], root);
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ordering, VertexOrder};

    /// Dense boolean elimination, the obvious twin.
    fn twin(pattern: &BlockPattern, order: &Permutation) -> EliminationTree {
        let n = pattern.n();
        let mut l = vec![vec![false; n]; n];
        for j in 0..n {
            for &i in pattern.column(j) {
                let (a, b) = (order.old_to_new()[i as usize], order.old_to_new()[j]);
                l[a.max(b) as usize][a.min(b) as usize] = true;
            }
        }
        for k in 0..n {
            for i in k + 1..n {
                for j in k + 1..=i {
                    l[i][j] |= l[i][k] && l[j][k];
                }
            }
        }
        let below = |j: usize| (j + 1..n).filter(|&i| l[i][j]).collect::<Vec<_>>();
        let parent = (0..n).map(|j| below(j).first().map_or(NONE, |&i| i as u32)).collect();
        let count = (0..n).map(|j| below(j).len() as u32 + 1).collect();
        EliminationTree { parent, count }
    }

    #[test]
    fn tree_and_counts_match_dense_elimination_in_every_order() {
        let n = 70u32;
        let pairs: Vec<_> = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .filter(|(i, j)| (i * i + 31 * j) % 23 == 0 || i - j == 7)
            .collect();
        let pattern = BlockPattern::from_pairs(n as usize, &pairs).unwrap();
        for ordering in [Ordering::Natural, Ordering::MinimumDegree, Ordering::NestedDissection] {
            let order = VertexOrder::new(&pattern, ordering);
            assert_eq!(order.tree, twin(&pattern, &order.permutation), "{ordering:?}");
            for j in 0..n as usize {
                assert!(order.tree.parent(j).is_none_or(|p| p > j));
            }
        }
        let natural = EliminationTree::new(&pattern, &Permutation::identity(n as usize));
        let postordered = VertexOrder::new(&pattern, Ordering::Natural).tree;
        assert_eq!(natural.factor_blocks(), postordered.factor_blocks());
        assert_eq!(natural.operations(), postordered.operations());
    }

    /// In a postorder the descendants of each column directly precede it.
    #[test]
    fn subtrees_are_contiguous() {
        let n = 64;
        let pairs: Vec<_> = (1..n as u32).map(|i| (i, (i * 5) % i)).collect();
        let pattern = BlockPattern::from_pairs(n, &pairs).unwrap();
        for ordering in [Ordering::Natural, Ordering::MinimumDegree, Ordering::NestedDissection] {
            let tree = VertexOrder::new(&pattern, ordering).tree;
            let mut size = vec![1usize; n];
            let mut first: Vec<usize> = (0..n).collect();
            for j in 0..n {
                if let Some(p) = tree.parent(j) {
                    size[p] += size[j];
                    first[p] = first[p].min(first[j]);
                }
            }
            for j in 0..n {
                assert_eq!(j - first[j] + 1, size[j], "{ordering:?} column {j}");
            }
        }
    }
}
