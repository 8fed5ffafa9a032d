//! The line search on the augmented Lagrangian L of the true distances.

use super::{StepBounds, merit};
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::{Energy, IncrementalPotential};
use crate::solver::direction::not_finite;
use crate::solver::line_search::{
    audited, falls, is_flatter, noise_of_rounding, promises_nothing, slope,
};
use crate::solver::path::StepLimit;
use crate::solver::workspace::Workspace;
use crate::thresholds::{ADVANCE_HALVINGS, NEGLIGIBLE};
use standoff_linalg::Vec3;

/// What a line search did.
pub(super) struct StepTaken {
    /// Step length.
    pub alpha: f64,
    /// What limited the first trial.
    pub limit: StepLimit,
    /// Whether the decrease to expect is below round-off.
    pub within_round_off: bool,
}

/// Moves x along `p` by the largest tried step that lowers L, by its slope where the digits of L tell nothing, or the largest one where L
/// `may_rise`; a negligible direction counts as taken.
pub(super) fn search(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    p: &[Vec3],
    gradient: &[Vec3],
    bounds: &StepBounds,
    may_rise: bool,
    work: &mut Workspace,
) -> Result<StepTaken, StepError> {
    let contact = bounds.until_contact(potential);
    let mut alpha = bounds.inversion.min(contact);
    let limit = match alpha < 1.0 {
        true if bounds.inversion < bounds.contact => StepLimit::Inversion,
        true => StepLimit::Contact,
        false => StepLimit::None,
    };
    let before = merit(potential, &it.x);
    if !before.value.is_finite() {
        return Err(not_finite("the potential", potential, it));
    }
    let noise = before.noise();
    let mut descent = Descent { p, slope: slope(gradient, p), before, noise, is_measured: false };
    for _ in 0..ADVANCE_HALVINGS {
        let trial: Vec<Vec3> = it.x.iter().zip(p).map(|(x, p)| x + alpha * p).collect();
        if !potential.within_limits(&trial, 1.0) {
            work.report.step_cuts.strain += 1;
        } else if !descent.accepts(potential, it, &trial, alpha, may_rise) {
            work.report.step_cuts.line_search += 1;
        } else if !audited(&potential.context, &it.x, &trial, work) {
            work.report.step_cuts.audit += 1;
        } else {
            it.x = trial;
            return Ok(StepTaken { alpha, limit, within_round_off: descent.is_hidden() });
        }
        alpha *= 0.5;
    }
    let negligible = work.report.residual_speed < NEGLIGIBLE * potential.context.velocity_tolerance;
    let alpha = f64::from(u8::from(negligible));
    Ok(StepTaken { alpha, limit, within_round_off: descent.is_hidden() })
}

/// What is known of L along a direction.
struct Descent<'d> {
    p: &'d [Vec3],
    /// The slope of L where the direction begins, and L there.
    slope: f64,
    before: Energy,
    /// What rounding changes in L: of its sum, and of positions once that was measured.
    noise: f64,
    is_measured: bool,
}

impl Descent<'_> {
    /// Whether L is lower at a `trial` point, by its slope where its digits tell nothing; a finite L will do where it `may_rise`.
    fn accepts(
        &mut self,
        potential: &IncrementalPotential<'_>,
        it: &Iterate,
        trial: &[Vec3],
        alpha: f64,
        may_rise: bool,
    ) -> bool {
        let after = merit(potential, trial);
        if falls(&self.before, &after, alpha * self.slope) || may_rise && after.value.is_finite() {
            return true;
        }
        if !self.is_measured {
            self.is_measured = true;
            let merit = |it: &Iterate| merit(potential, &it.x);
            self.noise = self.noise.max(noise_of_rounding(potential, it, &self.before, merit));
        }
        let rise = after.value - self.before.value;
        let left = || slope_at(potential, trial, self.p);
        is_flatter(rise, self.noise, [self.slope, alpha], left)
    }

    /// Whether rounding hides the decrease to expect.
    fn is_hidden(&self) -> bool {
        promises_nothing(self.slope, self.noise)
    }
}

/// The slope of L at `x` along `p`, with constraints as they were linearised.
fn slope_at(potential: &IncrementalPotential<'_>, x: &[Vec3], p: &[Vec3]) -> f64 {
    let mut gradient = smooth_gradient(potential, x);
    potential.add_contact_gradient(&Iterate::without_contacts(x.to_vec()), &mut gradient);
    slope(&gradient, p)
}

/// The gradient of L without the forces of constraints and friction, but with what mollifiers change in them (`#V`, kg m).
pub(super) fn smooth_gradient(potential: &IncrementalPotential<'_>, x: &[Vec3]) -> Vec<Vec3> {
    let context = &potential.context;
    let mut gradient = potential.gradient_without_contact(x);
    let mut of_mollifiers = vec![Vec3::zeros(); x.len()];
    let mesh = &context.model.collision;
    potential.constraints().add_mollifier_gradient(mesh, x, &mut of_mollifiers);
    context.model.map.gather(&mut of_mollifiers);
    for v in (0..gradient.len()).filter(|&v| potential.free()[v]) {
        gradient[v] += context.contact_scale * of_mollifiers[v];
    }
    gradient
}
