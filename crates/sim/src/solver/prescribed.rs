//! Prescribed vertices that move to obstructed targets, between Newton iterations.

use super::termination::Verdict;
use crate::diagnosis;
use crate::dirichlet::penalty::ARRIVED;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;

/// After a Newton iteration: holds the prescribed vertices once they have arrived, else tightens
/// their constraints whenever the minimisation has settled under the present ones, or `coarsely_settled`.
///
/// # Errors
/// `BlockedMotion` where tightening or many iterations have brought no progress, or the minimisation stalls
/// (`stalled`: for a long time already).
pub fn advance(
    potential: &mut IncrementalPotential<'_>,
    it: &Iterate,
    verdict: Verdict,
    coarsely_settled: bool,
    stalled: bool,
) -> Result<(), StepError> {
    let Some(penalty) = &mut potential.dirichlet else { return Ok(()) };
    let progress = penalty.progress(&it.x);
    if progress >= ARRIVED {
        potential.release();
        return Ok(());
    }
    if penalty.is_too_slow(progress) {
        return Err(blocked(potential, it));
    }
    if matches!(verdict, Verdict::Settled(_)) {
        if penalty.is_blocked(progress) {
            return Err(blocked(potential, it));
        }
        penalty.update(&it.x);
    } else if coarsely_settled {
        penalty.update(&it.x);
    }
    if stalled || matches!(verdict, Verdict::Stalled(_)) {
        return Err(blocked(potential, it));
    }
    Ok(())
}

/// The error of a motion that something blocks: the vertex furthest from its target names the
/// prescribed motion, or its body where targets were set step by step, the closest pair, the most crushed element or the most stretched triangle what is in the way.
pub fn blocked(potential: &IncrementalPotential<'_>, it: &Iterate) -> StepError {
    let (model, penalty) = (potential.context.model, potential.dirichlet.as_ref());
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
