//! The direct motion of prescribed vertices at the start of a step.

use crate::audit;
use crate::clock::Phase;
use crate::definition::settings::AuditLevel;
use crate::dirichlet::DirichletTargets;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::solver::workspace::Workspace;
use crate::state::State;
use crate::thresholds::{DIRECT_HALVINGS, KEEP_GAP_DIRECTLY, KEEP_PLANE_GAP, USE_LIMIT};
use standoff_linalg::Vec3;

/// Moves the prescribed vertices towards their targets as far as that is safe while all others
/// stand still; where something is in the way, constraints take over the rest. Returns the start of the
/// step where vertices have moved since, and where they are now.
pub fn move_directly(
    potential: &mut IncrementalPotential<'_>,
    targets: &DirichletTargets,
    state: &State,
    work: &mut Workspace,
) -> (Option<Iterate>, Iterate) {
    let (clock, model) = (potential.context.clock, potential.context.model);
    let detector = &mut work.detector;
    let mut x = state.x.clone();
    let mut dx = vec![Vec3::zeros(); x.len()];
    for &v in &targets.moving {
        dx[v as usize] = targets.left_of(v, &x[v as usize]);
    }
    model.map.spread(&mut dx);
    let moves = !targets.moving.is_empty();
    let mut alpha = 1.0;
    if moves {
        let plane =
            clock.time(Phase::Ccd, || detector.max_plane_step(model, &x, &dx, KEEP_PLANE_GAP));
        alpha = potential.max_step(&x, &dx).min(plane);
    }
    clock.time(Phase::BroadPhase, || detector.sweep(model, &x, &dx, alpha));
    let at = |x: &[Vec3], detector: &mut crate::detector::Detector| Iterate {
        x: x.to_vec(),
        contacts: clock.time(Phase::Contact, || detector.contacts(model, x)),
    };
    let start = moves.then(|| at(&x, detector));
    if moves {
        let contact =
            clock.time(Phase::Ccd, || detector.max_step(model, &x, &dx, KEEP_GAP_DIRECTLY, alpha));
        let alpha = within_limits(potential, &x, &dx, alpha.min(contact));
        if alpha < 1.0 {
            potential.constrain(targets, &x);
        }
        for &v in &targets.moving {
            let v = v as usize;
            // on rails, too, nothing else has moved since the targets were set
            x[v] = if alpha < 1.0 { x[v] + alpha * dx[v] } else { targets.x[v] };
        }
        model.map.advance(&mut x, alpha, &dx);
        if potential.context.settings.solver.audit == AuditLevel::EveryPath {
            let auditor = &mut work.auditor;
            let between = || audit::violations_between(auditor, model, &state.x, &x);
            work.found_directly = clock.time(Phase::Audit, between).into_iter().next();
        }
    }
    (start, at(&x, detector))
}

/// The part of a motion of prescribed vertices that stretches no triangle close to its limit.
fn within_limits(
    potential: &IncrementalPotential<'_>,
    x: &[Vec3],
    dx: &[Vec3],
    mut alpha: f64,
) -> f64 {
    for _ in 0..DIRECT_HALVINGS {
        let trial: Vec<Vec3> = x.iter().zip(dx).map(|(x, dx)| x + alpha * dx).collect();
        if potential.within_limits(&trial, USE_LIMIT) {
            return alpha;
        }
        alpha *= 0.5;
    }
    0.0
}
