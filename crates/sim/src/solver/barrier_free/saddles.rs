//! Leaves saddles of the augmented Lagrangian; see [`crate::solver::saddle`].

use super::{merit, step_bounds};
use crate::energy::Projection;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::solver::direction::linear_failure;
use crate::solver::line_search::audited;
use crate::solver::saddle::{self, Trial};
use crate::solver::speedups::Projecting;
use crate::solver::workspace::Workspace;
use crate::thresholds::{ESCAPES, NEGLIGIBLE, SADDLES};
use standoff_linalg::Vec3;

/// Ends that were none because the Hessian was not positive definite.
#[derive(Default)]
pub(super) struct Saddles {
    /// Iterations that went on.
    near: u32,
    /// Saddles that were left.
    left: u32,
}

impl Saddles {
    /// Whether the minimisation continues where everything else says that it has ended: x may be near a saddle, or has left one.
    ///
    /// # Errors
    /// A matrix that is too large.
    pub(super) fn lead_on(
        &mut self,
        potential: &mut IncrementalPotential<'_>,
        start: &[Vec3],
        it: &mut Iterate,
        projecting: &Projecting,
        work: &mut Workspace,
    ) -> Result<bool, StepError> {
        let context = potential.context;
        let is_long = work.report.residual_speed > NEGLIGIBLE * context.velocity_tolerance;
        if context.force_tolerance >= 1.0 {
            return Ok(false);
        }
        // the matrix has the convex part of friction alone
        let falling = potential.friction().is_falling(&it.x);
        let definite = projecting.is_definite(potential) && !falling;
        work.report.saddle = false;
        if is_long && !definite && self.near < SADDLES {
            self.near += 1;
            return Ok(true);
        }
        if !projecting.may_be_at_saddle(potential, falling, work) {
            return Ok(false);
        }
        if context.settings.time.scheme().inertial() {
            // it stays there, and says so
            find(potential, it, work)?;
            return Ok(false);
        }
        self.left += 1;
        work.report.saddle = self.left > ESCAPES;
        Ok(!work.report.saddle && leave(potential, start, it, work)?)
    }
}

/// A displacement at x along which the Hessian of L has a negative curvature, if there is one, and with that whether the report says that x is a
/// saddle.
fn find(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    work: &mut Workspace,
) -> Result<Option<Vec<Vec3>>, StepError> {
    let assemble = |projection: Projection<'_>, work: &mut Workspace| {
        let hessian = &mut work.hessian;
        let assembled = hessian
            .assemble_without_contact(potential, it, projection)
            .and_then(|()| hessian.replace_contacts(potential, it, projection));
        assembled.map_err(|e| linear_failure(&work.report, e.to_string()))
    };
    let gradient = potential.gradient(it);
    let found = saddle::negative_curvature(potential, assemble, &gradient, work)?;
    work.report.saddle = found.is_some();
    Ok(found)
}

/// Moves x away from a saddle to where L is lower; whether that was possible.
fn leave(
    potential: &mut IncrementalPotential<'_>,
    start: &[Vec3],
    it: &mut Iterate,
    work: &mut Workspace,
) -> Result<bool, StepError> {
    let Some(p) = find(potential, it, work)? else { return Ok(false) };
    // what is not lower aside to working precision is no saddle
    work.report.saddle = false;
    let bounds = step_bounds(potential, &it.x, &p, work);
    let mesh = &potential.context.model.collision;
    potential.constraints_mut().expand(mesh, &bounds.collisions, false);
    potential.linearise(&it.x, start, 0.0);
    let limit = bounds.inversion.min(bounds.until_contact(potential));
    let reached = saddle::fall(merit(potential, &it.x), |length| {
        let fitted = length.min(limit);
        let end: Vec<Vec3> = it.x.iter().zip(&p).map(|(x, p)| x + fitted * p).collect();
        let is_free =
            potential.within_limits(&end, 1.0) && audited(&potential.context, &it.x, &end, work);
        is_free.then(|| Trial { value: merit(potential, &end), end, is_last: fitted < length })
    });
    let Some(reached) = reached else { return Ok(false) };
    it.x = reached;
    potential.linearise(&it.x, start, 0.0);
    Ok(true)
}
