//! What a minimiser may do, by what the terms allow.

use super::IncrementalPotential;

/// What saves a minimiser work, or ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// Directions that are rough far from the minimum.
    RoughDirections,
    /// Hessians that are projected only where they must be: a ram then pushed out sideways what it pressed, instead of being refused.
    LessProjection,
    /// Forecasts of forces by directions, which lead to targets only as far as something lets them.
    Forecasts,
    /// Bodies that rest: all triangles decide together on the stiffness of their limits, all vertices on that of their constraints.
    Rest,
    /// A matrix that serves in the next step, too.
    LastingMatrix,
    /// The end, before which constraints have to be met.
    End,
}

impl IncrementalPotential<'_> {
    /// Whether the terms allow a strategy. Constraints that pull prescribed vertices to obstructed targets allow none.
    pub fn allows(&self, strategy: Strategy) -> bool {
        let limited = self.limits_apart.as_ref().unwrap_or(&self.codim.membranes);
        let has_limits = || limited.elements.iter().any(|m| m.limit.is_some());
        self.dirichlet.is_none() && !(strategy == Strategy::Rest && has_limits())
    }
}
