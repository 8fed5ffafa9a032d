//! Fill-reducing orders of the block rows ("vertices") of a symmetric matrix.
//!
//! Orders are found on the graph of the blocks, which is 3× smaller than that of the scalars and
//! gives the same fill. Every order is a pure function of the pattern.

mod elimination;

pub use elimination::EliminationTree;

use crate::minimum_degree::minimum_degree_of;
use crate::permutation::Permutation;
use crate::{BlockPattern, graph};

/// How the vertices are ordered for a factorisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ordering {
    /// Minimum degree; on graphs where the factor is large enough to repay it also nested
    /// dissection, and of the two the one with fewer operations.
    #[default]
    Automatic,
    /// Nested dissection. Minimum degree where the graph has fewer than 50 vertices, or 2³¹ arcs or more.
    NestedDissection,
    /// Approximate minimum degree.
    MinimumDegree,
    /// As numbered (but see [`VertexOrder`] on postorder).
    Natural,
}

/// An order of the vertices and the elimination tree that it implies.
///
/// Orders are brought into postorder of the tree: equivalent in fill, and the columns of a
/// supernode become neighbours.
#[derive(Debug, Clone)]
pub struct VertexOrder {
    /// Between the numbers of the pattern (old) and the order of elimination (new).
    pub permutation: Permutation,
    /// In the order of elimination.
    pub tree: EliminationTree,
}

/// Vertices below which there is no nested dissection.
const SMALL: usize = 50;

/// Block operations of the factorisation per block of the matrix from which nested dissection repays its time
/// (0.6–0.9 µs per block against some 40 % of 1.2 ns per operation) within about three
/// factorisations: measured with `benches/examples/solver_table.rs`.
const REPAID: f64 = 600.0;

/// The same for an order that serves many systems: within about a hundred factorisations.
const REPAID_BY_MANY: f64 = 20.0;

/// Block operations per block in the order of minimum degree from which those of nested dissection can be estimated, and
/// the share that it leaves of them: 0.30 to 0.42 for three cubes of 14,000 to 20,000 vertices.
const LARGE: f64 = 5000.0;
/// Vertices below which there are not that many.
const FEW: usize = 5000;
const LEFT_BY_DISSECTION: f64 = 0.4;

impl VertexOrder {
    /// Orders the vertices of a pattern.
    pub fn new(pattern: &BlockPattern, ordering: Ordering) -> Self {
        Self::repaid(pattern, ordering, REPAID)
    }

    /// Orders the vertices of a pattern that many systems will have, or have the most of: more time is spent on the order.
    pub fn for_many(pattern: &BlockPattern, ordering: Ordering) -> Self {
        Self::repaid(pattern, ordering, REPAID_BY_MANY)
    }

    /// An estimate of the block operations in the order that [`for_many`](Self::for_many) finds, by minimum degree alone; `None` for
    /// patterns that are ordered quickly. A function of the pattern.
    pub(crate) fn expected_operations(pattern: &BlockPattern, ordering: Ordering) -> Option<f64> {
        let may_be_large = pattern.n() >= FEW;
        if !may_be_large || ordering != Ordering::Automatic {
            return None;
        }
        let tree = EliminationTree::new(pattern, &minimum_degree(pattern));
        let operations = tree.operations();
        let is_large = operations >= LARGE * pattern.block_count() as f64;
        is_large.then_some(LEFT_BY_DISSECTION * operations)
    }

    /// With so many block operations per block from which nested dissection is tried.
    fn repaid(pattern: &BlockPattern, ordering: Ordering, repaid: f64) -> Self {
        let minimum_degree = || Self::complete(pattern, minimum_degree(pattern));
        match ordering {
            Ordering::Natural => Self::complete(pattern, Permutation::identity(pattern.n())),
            Ordering::MinimumDegree => minimum_degree(),
            Ordering::NestedDissection => match nested_dissection(pattern) {
                Some(permutation) => Self::complete(pattern, permutation),
                None => minimum_degree(),
            },
            Ordering::Automatic => {
                let order = minimum_degree();
                if order.tree.operations() < repaid * pattern.block_count() as f64 {
                    return order;
                }
                match nested_dissection(pattern).map(|p| Self::complete(pattern, p)) {
                    Some(other) if other.tree.operations() < order.tree.operations() => other,
                    _ => order,
                }
            }
        }
    }

    /// The vertices of a pattern in a given order (but in postorder).
    pub(crate) fn with_permutation(pattern: &BlockPattern, permutation: Permutation) -> Self {
        Self::complete(pattern, permutation)
    }

    /// Adds the elimination tree and brings both into postorder.
    fn complete(pattern: &BlockPattern, permutation: Permutation) -> Self {
        let tree = EliminationTree::new(pattern, &permutation);
        let postorder = tree.postorder();
        Self { permutation: permutation.then(&postorder), tree: tree.renumbered(&postorder) }
    }
}

/// Approximate minimum degree; the natural order where that fails.
fn minimum_degree(pattern: &BlockPattern) -> Permutation {
    minimum_degree_of(pattern.col_ptr(), pattern.row_idx())
}

/// Nested dissection; `None` where that is not worth trying.
fn nested_dissection(pattern: &BlockPattern) -> Option<Permutation> {
    if pattern.n() < SMALL {
        return None;
    }
    graph::nested_dissection(pattern).and_then(Permutation::from_new_to_old)
}
