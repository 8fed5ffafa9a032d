//! Multifrontal Cholesky factorisation on the pattern of 3×3 blocks, of their 2×2 parts in the plane, or of one
//! number where they are multiples of the identity, in either precision, on any number of threads with the same bits.

mod analysis;
mod dense;
mod factor;
mod pool;
mod scalar;
mod solve;
mod traverse;
mod tree;

pub(crate) use analysis::Analysis;
pub(crate) use factor::Factor;

use std::sync::Arc;

use crate::{BlockPattern, Ordering, Permutation, SolveError, VertexOrder, pattern};

/// Predicted operations, in multiples of those for which an order was found, above which a pattern
/// is ordered again.
const GROWTH: f64 = 1.2;

/// Patterns of which orders and analyses are kept: those of a step's systems with and without the
/// vertices that move to obstructed targets.
const KEPT: usize = 2;

/// Symbolic factorisations, kept while they hold.
#[derive(Debug)]
pub(crate) struct Analyses {
    ordering: Ordering,
    /// The latest ones, last used first, and the order in force for which each was made.
    latest: Vec<(Arc<Analysis>, Option<Arc<Permutation>>)>,
    /// The patterns of the latest restarts and their orders, last used first.
    bases: Vec<(Arc<BlockPattern>, Order)>,
    /// The order in force since the last restart; without a restart every pattern has its own.
    order: Option<Order>,
}

/// An order and the operations predicted where it was found.
#[derive(Debug, Clone)]
struct Order {
    permutation: Arc<Permutation>,
    operations: f64,
}

impl Order {
    fn of(order: &VertexOrder) -> Self {
        let permutation = Arc::new(order.permutation.clone());
        Self { permutation, operations: order.tree.operations() }
    }
}

impl Analyses {
    pub(crate) fn new(ordering: Ordering) -> Self {
        Self { ordering, latest: Vec::new(), bases: Vec::new(), order: None }
    }

    /// Makes the order of `base` that of the patterns to come; see
    /// [`LinearSolver::restart`](crate::LinearSolver::restart). Returns the operations predicted for
    /// `base`.
    pub(crate) fn restart(&mut self, base: &Arc<BlockPattern>) -> f64 {
        let known = self.bases.iter().position(|(p, _)| pattern::same(p, base));
        let (_, order) = match known {
            Some(k) => self.bases.remove(k),
            None => (base.clone(), Order::of(&VertexOrder::for_many(base, self.ordering))),
        };
        self.bases.insert(0, (base.clone(), order.clone()));
        self.bases.truncate(KEPT);
        // what was made for an order that is gone holds no more
        let bases = &self.bases;
        let holds =
            |p: &Arc<Permutation>| bases.iter().any(|(_, o)| Arc::ptr_eq(&o.permutation, p));
        self.latest.retain(|(_, made_for)| made_for.as_ref().is_some_and(holds));
        let operations = order.operations;
        self.order = Some(order);
        operations
    }

    /// The analysis of a pattern and whether it had to be made.
    pub(crate) fn of(
        &mut self,
        pattern: &Arc<BlockPattern>,
    ) -> Result<(Arc<Analysis>, bool), SolveError> {
        let known = self.latest.iter().position(|(analysis, made_for)| {
            let in_force = match (made_for, &self.order) {
                (Some(a), Some(b)) => Arc::ptr_eq(a, &b.permutation),
                (None, None) => true,
                _ => false,
            };
            in_force && pattern::same(&analysis.pattern, pattern)
        });
        if let Some(k) = known {
            self.latest[..=k].rotate_right(1);
            return Ok((self.latest[0].0.clone(), false));
        }
        // free first: one of the same order is of no use any more
        let order = self.order.as_ref().map(|order| order.permutation.clone());
        let replaced = |made_for: &Option<Arc<Permutation>>| match (made_for, &order) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => true,
        };
        self.latest.retain(|(_, made_for)| !replaced(made_for));
        self.latest.truncate(KEPT - 1);
        let order = self.order_of(pattern);
        let analysis = Arc::new(Analysis::new(pattern.clone(), order)?);
        let made_for = self.order.as_ref().map(|order| order.permutation.clone());
        self.latest.insert(0, (analysis.clone(), made_for));
        Ok((analysis, true))
    }

    /// The order in force if it is still a good one, else a new one.
    fn order_of(&mut self, pattern: &BlockPattern) -> VertexOrder {
        let Some(order) = &self.order else { return VertexOrder::new(pattern, self.ordering) };
        let mut kept = None;
        if order.permutation.new_to_old().len() == pattern.n() {
            let order_before = Permutation::clone(&order.permutation);
            let same = VertexOrder::with_permutation(pattern, order_before);
            if same.tree.operations() <= GROWTH * order.operations {
                return same;
            }
            kept = Some(same);
        }
        let fresh = VertexOrder::new(pattern, self.ordering);
        let better = |kept: &VertexOrder| kept.tree.operations() <= fresh.tree.operations();
        let order = kept.filter(better).unwrap_or(fresh);
        self.order = Some(Order::of(&order));
        order
    }

    pub(crate) fn last(&self) -> Option<&Analysis> {
        self.latest.first().map(|(analysis, _)| &**analysis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(n: u32) -> Arc<BlockPattern> {
        let pairs: Vec<_> = (1..n).map(|k| (k, k - 1)).collect();
        Arc::new(BlockPattern::from_pairs(n as usize, &pairs).unwrap())
    }

    #[test]
    fn two_orders_are_kept_and_the_older_one_goes() {
        let mut analyses = Analyses::new(Ordering::Automatic);
        let mut made = |pattern: &Arc<BlockPattern>| {
            analyses.restart(pattern);
            analyses.of(pattern).unwrap().1
        };
        let (a, b, c) = (chain(5), chain(7), chain(9));
        assert!(made(&a) && made(&b));
        assert!(!made(&a) && !made(&b), "only one was kept");
        // an equal pattern is the same one, in whatever object
        assert!(!made(&chain(5)));
        assert!(made(&c), "b was used longer ago than a");
        assert!(!made(&a) && made(&b));
    }

    /// With too much fill for the order in force, the better one of it and a new one is taken, and then stays.
    #[test]
    fn no_order_is_given_up_for_a_worse_one() {
        let n = 40_u32;
        // a chain whose order is natural, and then with an arrow or with a clique of its last vertices
        let mut arrow: Vec<_> = (1..n).map(|k| (k, k - 1)).collect();
        let mut clique = arrow.clone();
        arrow.extend((2..n).map(|k| (k, 0)));
        clique.extend((n - 12..n).flat_map(|i| (n - 12..i).map(move |j| (i, j))));
        let pattern =
            |pairs: &[(u32, u32)]| Arc::new(BlockPattern::from_pairs(n as usize, pairs).unwrap());
        let operations = |pattern: &Arc<BlockPattern>, permutation: &Permutation| {
            VertexOrder::with_permutation(pattern, permutation.clone()).tree.operations()
        };
        for (pairs, renewed) in [(arrow, true), (clique, false)] {
            let pattern = pattern(&pairs);
            let mut analyses = Analyses::new(Ordering::MinimumDegree);
            analyses.restart(&chain(n));
            // in the natural order, which the clique at its end suits and the arrow does not
            let natural = VertexOrder::new(&chain(n), Ordering::Natural);
            analyses.order = Some(Order::of(&natural));
            let kept = operations(&pattern, &natural.permutation);
            assert!(kept > GROWTH * natural.tree.operations());
            let fresh = VertexOrder::new(&pattern, Ordering::MinimumDegree).tree.operations();
            let found = analyses.order_of(&pattern).tree.operations();
            assert_eq!(found, kept.min(fresh));
            assert_eq!(renewed, fresh < kept);
            let again = analyses.order.clone().unwrap();
            assert_eq!(again.operations, found);
            assert_eq!(analyses.order_of(&pattern).tree.operations(), found);
            assert!(Arc::ptr_eq(&again.permutation, &analyses.order.unwrap().permutation));
        }
    }
}
