//! The elimination tree of a symmetric matrix in a given order, and the fill that it predicts.

use super::Permutation;
use crate::BlockPattern;

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
    /// Of the pattern with its vertices renumbered. Visits each block of L once.
    pub(crate) fn new(pattern: &BlockPattern, order: &Permutation) -> Self {
        let n = pattern.n();
        let (old, new) = (order.new_to_old(), order.old_to_new());
        let mut parent = vec![NONE; n];
        let mut count = vec![1u32; n];
        let mut visited = vec![NONE; n];
        for j in 0..n as u32 {
            visited[j as usize] = j;
            let i = old[j as usize] as usize;
            // row j of L is the union of the tree's paths from the entries of row j of A to j
            let neighbours = pattern.row(i).map(|(v, _)| v);
            let neighbours = neighbours.chain(pattern.column(i)[1..].iter().map(|&v| v as usize));
            for v in neighbours {
                let mut k = new[v];
                if k > j {
                    continue;
                }
                while visited[k as usize] != j {
                    visited[k as usize] = j;
                    count[k as usize] += 1;
                    if parent[k as usize] == NONE {
                        parent[k as usize] = j;
                    }
                    k = parent[k as usize];
                }
            }
        }
        Self { parent, count }
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
