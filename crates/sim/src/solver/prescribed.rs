//! Prescribed vertices that move to obstructed targets, between Newton iterations.

use super::termination::Verdict;
use crate::diagnosis;
use crate::dirichlet::Pulled;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;

/// After a Newton iteration: holds the prescribed vertices once they have arrived, else tightens their constraints whenever the
/// minimisation has settled under the present ones, or its `speed` is below the tolerance for that. None where nothing is
/// constrained.
///
/// # Errors
/// `BlockedMotion` where tightening or many iterations have brought no progress, or the minimisation stalls
/// (`stalled`: for a long time already).
pub fn advance(
    potential: &mut IncrementalPotential<'_>,
    it: &Iterate,
    verdict: Verdict,
    speed: Option<f64>,
    stalled: bool,
) -> Result<Option<Pulled>, StepError> {
    let context = &potential.context;
    let coarse = context.settings.solver.boundary_tolerance_relative;
    let coarse = coarse.map_or(0.0, |t| t * context.model.length);
    let coarsely = speed.is_some_and(|speed| speed < coarse);
    let pulled = potential.pull(&it.x, matches!(verdict, Verdict::Settled(_)), coarsely);
    let stalled = stalled || matches!(verdict, Verdict::Stalled(_));
    match pulled {
        Some(Pulled::Blocked) => Err(blocked(potential, it)),
        Some(Pulled::On | Pulled::Tightened) if stalled => Err(blocked(potential, it)),
        _ => Ok(pulled),
    }
}

/// The error of a motion that something blocks: the vertex furthest from its target names the
/// prescribed motion, or its body where targets were set step by step, the closest pair, the most crushed element or the most stretched triangle what is in the way.
pub fn blocked(potential: &IncrementalPotential<'_>, it: &Iterate) -> StepError {
    let (model, penalty) = (potential.context.model, potential.penalty());
    let progress = penalty.map_or(1.0, |e| e.progress(&it.x));
    let furthest = penalty.and_then(|e| e.furthest(&it.x)).map(|(v, _)| v);
    let name = furthest.map(|v| match model.motions.iter().find(|m| m.vertices.contains(&v)) {
        Some(motion) => motion.name.clone(),
        None => model.locate(v).0.name.clone(),
    });
    let obstacle = diagnosis::describe_obstacle(potential, it);
    StepError::BlockedMotion {
        step: potential.context.step,
        name: name.unwrap_or_default(),
        progress: 100.0 * progress.max(0.0),
        reason: obstacle.unwrap_or_else(|| "no step length lowers the potential".into()),
    }
}
