//! A step in which the barrier-free method does not converge, finished by the barrier solver.
//!
//! The barrier solver begins where the step began: all that it needs are positive gaps. Friction keeps the
//! forces of the multipliers, so that both solvers solve the same step, and the forces of the barrier at
//! its end become the multipliers with which the next step begins.

use crate::contact::{Constraint, ConstraintKey, Contact};
use crate::context::StepContext;
use crate::definition::settings::Fallback;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::report::{FallbackReason, StepOutcome};
use crate::state::State;
use standoff_geometry::distance::mollifier;
use standoff_geometry::{CollisionMesh, Pair, PairKind};
use std::collections::HashMap;

/// What a minimisation with the barrier takes over from the step before.
#[derive(Debug, Default)]
pub struct Before {
    /// Stiffness κ with which contacts bore their forces; 0 if none did.
    pub kappa: f64,
    /// Whether friction has the forces of the last step already, where κ does not tell them.
    pub is_lagged: bool,
    /// The largest contact force of that, N.
    pub force: f64,
    /// Whether κ begins with the least of its range, whatever the load.
    pub least_stiffness: bool,
}

/// Why the barrier solver has to finish a step that ended so; none if it does not, or if the scene does not
/// want it.
pub fn reason(
    context: &StepContext<'_>,
    solved: &Result<StepOutcome, StepError>,
) -> Option<FallbackReason> {
    if context.settings.solver.barrier_free.fallback == Fallback::None {
        return None;
    }
    match solved {
        Ok(StepOutcome::RoundOff) => Some(FallbackReason::RoundOff),
        Ok(outcome) if outcome.is_success() => None,
        Ok(outcome) if outcome.is_stall() => Some(FallbackReason::Stalled),
        Ok(_) => Some(FallbackReason::WorkLimit),
        // time and cancellation are those of the step, however it is solved
        Err(
            StepError::TimeLimit { .. } | StepError::Cancelled { .. } | StepError::Audit { .. },
        ) => None,
        Err(StepError::BlockedMotion { .. }) => Some(FallbackReason::Blocked),
        Err(StepError::Stalled { .. }) => Some(FallbackReason::Stalled),
        Err(
            StepError::NotFinite { .. }
            | StepError::LinearSolve { .. }
            | StepError::OpenJoint { .. },
        ) => Some(FallbackReason::Failed),
    }
}

/// Takes friction and load from the multipliers with which the step began, and removes the constraints from
/// the potential.
pub fn begin(potential: &mut IncrementalPotential<'_>, state: &State) -> Before {
    let mut before = Before::default();
    if !state.constraints.is_empty() {
        potential.linearise(&state.x, &state.x, 0.0);
        potential.lag_friction_of_constraints();
        before.is_lagged = true;
        before.force = state.constraints.iter().map(|c| c.force).fold(0.0, f64::max);
    }
    potential.constraints_mut().clear();
    before
}

/// The forces of the barrier at an iterate as constraints with multipliers, ascending by key.
pub fn constraints(potential: &IncrementalPotential<'_>, it: &Iterate) -> Vec<Constraint> {
    let (mesh, barrier) = (&potential.context.model.collision, potential.barrier());
    let primitives = Primitives::new(mesh);
    let pairs = it.contacts.contacts.iter().filter_map(|c| {
        let x = c.gather(&it.x);
        // the multiplier of a constraint does not hold its mollifier
        let part = if c.is_mollified(&x) { mollifier::value(&x, c.eps_x) } else { 1.0 };
        let force = barrier.force_magnitude(c, &x) / part;
        let key = ConstraintKey::Pair(primitives.pair(c)?);
        (force > 0.0 && force.is_finite()).then_some(Constraint { key, force, decay: 1.0 })
    });
    let planes = it.contacts.half_space.iter().filter_map(|c| {
        let force = barrier.half_space_force_magnitude(c, &it.x[c.vertex as usize]);
        let key = ConstraintKey::HalfSpace(c.vertex, c.half_space);
        (force > 0.0 && force.is_finite()).then_some(Constraint { key, force, decay: 1.0 })
    });
    let mut all: Vec<Constraint> = pairs.chain(planes).collect();
    all.sort_by_key(|c| c.key);
    all.dedup_by(|next, kept| {
        let same = next.key == kept.key;
        kept.force += if same { next.force } else { 0.0 };
        same
    });
    all
}

/// The numbers of edges and faces by their vertices, ascending.
struct Primitives {
    edges: HashMap<[u32; 2], u32>,
    faces: HashMap<[u32; 3], u32>,
}

impl Primitives {
    fn new(mesh: &CollisionMesh) -> Self {
        Self {
            edges: (0..).zip(&mesh.edges).map(|(i, e)| (sorted(*e), i)).collect(),
            faces: (0..).zip(&mesh.faces).map(|(i, f)| (sorted(*f), i)).collect(),
        }
    }

    /// The pair of a contact; none of primitives that the mesh does not have.
    fn pair(&self, c: &Contact) -> Option<Pair> {
        let [a, b, c0, d] = c.vertices;
        let edge = |a, b| self.edges.get(&sorted([a, b])).copied();
        let primitives = match c.kind {
            PairKind::VertexVertex => sorted([a, b]),
            PairKind::EdgeVertex => [edge(b, c0)?, a],
            PairKind::EdgeEdge => sorted([edge(a, b)?, edge(c0, d)?]),
            PairKind::FaceVertex => [self.faces.get(&sorted([b, c0, d])).copied()?, a],
        };
        Some(Pair::new(c.kind, primitives))
    }
}

fn sorted<const N: usize>(mut of: [u32; N]) -> [u32; N] {
    of.sort_unstable();
    of
}
