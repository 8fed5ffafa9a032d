//! Where a step that did not end well is furthest from its minimum.

use crate::definition::settings::{ContactPotential, Method};
use crate::diagnosis;
use crate::energy::Role;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::solver::direction::direction;
use crate::solver::speedups::Forcing;
use crate::solver::workspace::Workspace;

/// Where an iterate that is no minimum has its largest Newton direction, and what is close there, in the words
/// of the scene.
pub fn describe(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    work: &mut Workspace,
) -> Option<String> {
    let (model, settings) = (potential.context.model, &potential.context.settings.solver);
    let gradient = potential.gradient(it);
    let mut forcing = Forcing::exact(settings.linear_tolerance);
    // decomposed optimisation and its family are for bodies whose Newton systems are too large
    let p = match settings.method {
        Method::Dot | Method::LbfgsPd | Method::AdmmPd => None,
        Method::Barrier | Method::BarrierFree => {
            direction(potential, it, &gradient, &mut forcing, work).ok()
        }
    };
    let (what, p) = match &p {
        Some(p) => ("the Newton direction", p),
        None => ("the gradient", &gradient),
    };
    let size = |v: usize| p[v].norm_squared();
    let worst = (0..model.vertex_count()).max_by(|&a, &b| size(a).total_cmp(&size(b)))?;
    let vertex = model.describe_vertex(worst as u32);
    let obstacle =
        diagnosis::describe_obstacle(potential, it).map(|o| format!("; {o}")).unwrap_or_default();
    let negative = if is_negative(potential, it) {
        "; the convergent potential is negative, so that pairs attract each other: `contact.d_hat` has to be less than the edges"
    } else {
        ""
    };
    Some(format!("{what} is largest at {vertex}{obstacle}{negative}"))
}

/// Whether what the convergent potential subtracts outweighs the rest.
fn is_negative(potential: &IncrementalPotential<'_>, it: &Iterate) -> bool {
    let terms = potential.terms(&it.contacts);
    let barrier = terms.iter().filter(|t| t.term.role() == Role::Contact);
    potential.context.settings.contact.potential == ContactPotential::Convergent
        && barrier.map(|t| t.term.value(&it.x)).sum::<f64>() < 0.0
}
