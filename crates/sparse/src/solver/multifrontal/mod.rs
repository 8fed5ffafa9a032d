//! Multifrontal Cholesky factorisation on the pattern of 3×3 blocks, in either precision, on any
//! number of threads with the same bits.

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
/// is ordered anew.
const GROWTH: f64 = 1.2;

/// Symbolic factorisations, kept while they hold.
#[derive(Debug)]
pub(crate) struct Analyses {
    ordering: Ordering,
    /// The last one, and the order in force for which it was made.
    last: Option<(Arc<Analysis>, Option<Arc<Permutation>>)>,
    /// The pattern of the last restart and its order.
    base: Option<(Arc<BlockPattern>, Order)>,
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
        Self { ordering, last: None, base: None, order: None }
    }

    /// Makes the order of `base` that of the patterns to come; see
    /// [`LinearSolver::restart`](crate::LinearSolver::restart).
    pub(crate) fn restart(&mut self, base: &Arc<BlockPattern>) {
        let known = self.base.as_ref().filter(|(p, _)| pattern::same(p, base));
        let order = match known {
            Some((_, order)) => order.clone(),
            None => Order::of(&VertexOrder::new(base, self.ordering)),
        };
        self.base = Some((base.clone(), order.clone()));
        // what was made for another order holds no more
        let of_order = |p: &Arc<Permutation>| Arc::ptr_eq(p, &order.permutation);
        self.last.take_if(|(_, made_for)| !made_for.as_ref().is_some_and(of_order));
        self.order = Some(order);
    }

    /// The analysis of a pattern and whether it had to be made.
    pub(crate) fn of(
        &mut self,
        pattern: &Arc<BlockPattern>,
    ) -> Result<(Arc<Analysis>, bool), SolveError> {
        let same = |(last, _): &&(Arc<Analysis>, _)| pattern::same(&last.pattern, pattern);
        if let Some((last, _)) = self.last.as_ref().filter(same) {
            return Ok((last.clone(), false));
        }
        // free first: the old one is of no use any more
        self.last = None;
        let order = self.order_of(pattern);
        let analysis = Arc::new(Analysis::new(pattern.clone(), order)?);
        let made_for = self.order.as_ref().map(|order| order.permutation.clone());
        self.last = Some((analysis.clone(), made_for));
        Ok((analysis, true))
    }

    /// The order in force if it is still a good one, else a new one.
    fn order_of(&mut self, pattern: &BlockPattern) -> VertexOrder {
        let Some(order) = &self.order else { return VertexOrder::new(pattern, self.ordering) };
        if order.permutation.new_to_old().len() == pattern.n() {
            let kept =
                VertexOrder::with_permutation(pattern, Permutation::clone(&order.permutation));
            if kept.tree.operations() <= GROWTH * order.operations {
                return kept;
            }
        }
        let fresh = VertexOrder::new(pattern, self.ordering);
        self.order = Some(Order::of(&fresh));
        fresh
    }

    pub(crate) fn last(&self) -> Option<&Analysis> {
        self.last.as_ref().map(|(analysis, _)| &**analysis)
    }
}
