//! The filtered line search: first the largest step that keeps every surface apart and inverts no
//! element, then halving until the potential falls [Li 2020, §4.4].

use super::balance::rounded;
use super::direction::closing;
use super::path::{Path, StepLimit};
use crate::audit;
use crate::clock::Phase;
use crate::context::StepContext;
use crate::definition::settings::AuditLevel;
use crate::iterate::Iterate;
use crate::potential::{Energy, IncrementalPotential};
use crate::solver::workspace::Workspace;
use crate::thresholds::{CLOSINGS, HIDDEN, LINE_SEARCH_HALVINGS, SLOPE_LEFT, UNRESOLVED};
use standoff_linalg::Vec3;

/// Outcome of a line search.
#[derive(Debug, Clone, Copy)]
pub struct LineStep {
    /// Step length taken, in units of the direction; 0 where none lowered the potential.
    pub alpha: f64,
    /// What limited the first trial.
    pub limit: StepLimit,
    /// Whether the decrease is below what round-off lets one see.
    pub within_round_off: bool,
    /// Whether the potential was finite at the start.
    pub finite: bool,
    /// The slope of the potential along the direction at the start.
    pub slope: f64,
    /// By how much the potential fell.
    pub decrease: f64,
    /// The potential at the end of the step, where that is known.
    pub value: Option<Energy>,
}

impl LineStep {
    /// A search that did not move.
    fn none(limit: StepLimit, slope: f64) -> Self {
        Self {
            alpha: 0.0,
            limit,
            within_round_off: false,
            finite: true,
            slope,
            decrease: 0.0,
            value: None,
        }
    }
}

/// Moves `it`, where the potential has the value `known` if that was computed before, along `p` by the largest tried step
/// length that does not raise the potential.
pub fn search(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    p: &[Vec3],
    gradient: &[Vec3],
    known: Option<Energy>,
    work: &mut Workspace,
) -> LineStep {
    let slope = slope(gradient, p);
    Search { slope, known, part: 0.0 }.run(potential, it, p, work)
}

/// The slope of a potential with a gradient along a direction.
pub fn slope(gradient: &[Vec3], p: &[Vec3]) -> f64 {
    gradient.iter().zip(p).map(|(g, p)| g.dot(p)).sum()
}

/// Moves `it` along `p` by the largest tried step length that lowers the potential by the `part` of what its
/// slope promises [Nocedal & Wright 2006, Eq. 3.4].
pub fn search_sufficient(
    potential: &IncrementalPotential<'_>,
    it: &mut Iterate,
    p: &[Vec3],
    gradient: &[Vec3],
    part: f64,
    work: &mut Workspace,
) -> LineStep {
    let slope = slope(gradient, p);
    Search { slope, known: None, part }.run(potential, it, p, work)
}

/// What a search along a direction goes by.
struct Search {
    /// Slope of the potential at the start.
    slope: f64,
    /// The potential at the start, where it is known.
    known: Option<Energy>,
    /// Part of the decrease that the slope promises which is required.
    part: f64,
}

impl Search {
    // long: one loop, with each of its ends
    fn run(
        self,
        potential: &IncrementalPotential<'_>,
        it: &mut Iterate,
        p: &[Vec3],
        work: &mut Workspace,
    ) -> LineStep {
        let Self { slope, known, part } = self;
        let mut path = Path::new(potential.context.model, &it.x, p);
        let (mut alpha, limit) = path.fit(potential, it, 1.0, work);
        let none = LineStep::none(limit, slope);
        match limit {
            StepLimit::None => {}
            StepLimit::Inversion => work.report.step_cuts.inversion += 1,
            StepLimit::Contact | StepLimit::HalfSpace => work.report.step_cuts.ccd += 1,
        }
        let is_current = |e: Energy| e.value.to_bits() == potential.value(it).value.to_bits();
        debug_assert!(known.is_none_or(is_current), "the potential has changed");
        let before = known.unwrap_or_else(|| potential.value(it));
        if !before.value.is_finite() {
            return LineStep { finite: false, ..none };
        }
        let mut trial = Iterate::without_contacts(it.x.clone());
        let mut noise = None;
        for halvings in 0..LINE_SEARCH_HALVINGS {
            if halvings > 0 {
                alpha = path.fit(potential, it, 0.5 * alpha, work).0;
            }
            path.place(&it.x, alpha, &mut trial.x);
            if !potential.within_limits(&trial.x, 1.0) {
                work.report.step_cuts.strain += 1;
                continue;
            }
            find_contacts(potential, &mut trial, work);
            let mut after = potential.value(&trial);
            let mut lower = falls_by(&before, &after, alpha * slope, part);
            // where the path to the trial point turns off
            let mut corner = None;
            if !lower
                && halvings < CLOSINGS
                && let Some(closer) = closed(potential, &trial, work)
            {
                let value = potential.value(&closer);
                if falls_by(&before, &value, alpha * slope, part) {
                    corner = Some(std::mem::replace(&mut trial, closer).x);
                    (after, lower) = (value, true);
                }
            }
            if !lower && noise.is_none() {
                noise = Some(noise_of_rounding(potential, it, &before, |x| potential.value(x)));
            }
            let noise = noise.unwrap_or(0.0).max(before.noise()).max(after.noise());
            let rise = after.value - before.value;
            let left = || self::slope(&potential.gradient(&trial), p);
            if lower || is_flatter(rise, noise, [slope, alpha], left) {
                let last = corner.as_ref().unwrap_or(&it.x);
                if corner.as_ref().is_none_or(|c| audited(&potential.context, &it.x, c, work))
                    && audited(&potential.context, last, &trial.x, work)
                {
                    work.before = std::mem::replace(it, trial);
                    let within_round_off = promises_nothing(slope, noise);
                    let decrease = before.value - after.value;
                    let value = Some(after);
                    return LineStep { alpha, within_round_off, decrease, value, ..none };
                }
                work.report.step_cuts.audit += 1;
            } else if size(p) <= UNRESOLVED * size(&it.x) {
                return LineStep { alpha: 1.0, within_round_off: true, ..none };
            } else {
                work.report.step_cuts.line_search += 1;
            }
        }
        LineStep { within_round_off: promises_nothing(slope, before.noise()), ..none }
    }
}

/// A trial point with the loops of joints closed, which directions keep to first order only: the second-order correction of constrained
/// minimisation [Nocedal & Wright 2006, Ch. 18.3]. None without loops, or where something is in the way.
fn closed(
    potential: &IncrementalPotential<'_>,
    trial: &Iterate,
    work: &mut Workspace,
) -> Option<Iterate> {
    let p = closing(potential, &trial.x, work)?;
    let mut path = Path::new(potential.context.model, &trial.x, &p);
    let (alpha, _) = path.fit(potential, trial, 1.0, work);
    let mut closer = Iterate::without_contacts(trial.x.clone());
    path.place(&trial.x, alpha, &mut closer.x);
    if alpha < 1.0 || !potential.within_limits(&closer.x, 1.0) {
        return None;
    }
    find_contacts(potential, &mut closer, work);
    Some(closer)
}

/// Finds the contacts of a trial of which the way was swept.
pub fn find_contacts(potential: &IncrementalPotential<'_>, it: &mut Iterate, work: &mut Workspace) {
    let (clock, model) = (potential.context.clock, potential.context.model);
    it.contacts = clock.time(Phase::Contact, || work.detector.contacts(model, &it.x));
}

/// Whether the potential went down from `before` to `after`; where the decrease to expect (`slope`, J)
/// is lost in round-off, not rising above that has to do.
pub fn falls(before: &Energy, after: &Energy, slope: f64) -> bool {
    falls_by(before, after, slope, 0.0)
}

/// The same for a decrease by the `part` of the one to expect.
fn falls_by(before: &Energy, after: &Energy, slope: f64, part: f64) -> bool {
    // a triangle without area has infinite energy, and infinite noise
    if !after.value.is_finite() {
        return false;
    }
    let noise = before.noise().max(after.noise());
    let allowed = if promises_nothing(slope, noise) { noise } else { 0.0 };
    after.value <= before.value + part * slope.clamp(-f64::MAX, 0.0) + allowed
}

/// Whether the decrease to expect from a step, `slope`, is so small that rounding hides it.
pub fn promises_nothing(slope: f64, noise: f64) -> bool {
    slope.abs() < 100.0 * noise
}

/// The largest entry.
pub fn size(vectors: &[Vec3]) -> f64 {
    vectors.iter().map(|v| v.amax()).fold(0.0, f64::max)
}

/// What the last digits of positions change in a potential at `it`, where it is `before`: strains near zero have few correct digits
/// in stiff sheets, so that this may be far more than the round-off of the sum.
pub fn noise_of_rounding(
    potential: &IncrementalPotential<'_>,
    it: &Iterate,
    before: &Energy,
    value: impl Fn(&Iterate) -> Energy,
) -> f64 {
    let changed = value(&rounded(potential, it)).value - before.value;
    if changed.is_finite() { changed.abs() } else { 0.0 }
}

/// Whether a trial whose energy tells nothing is lower by its slope: the approximate Wolfe condition
/// [Hager & Zhang 2005]. Gradients have fewer digits to lose than differences of energies.
pub fn is_flatter(
    rise: f64,
    noise: f64,
    [slope, alpha]: [f64; 2],
    left: impl FnOnce() -> f64,
) -> bool {
    let hidden = slope < 0.0 && promises_nothing(alpha * slope, noise) && rise <= HIDDEN * noise;
    hidden && left() <= -SLOPE_LEFT * slope
}

/// Whether the independent audit, where it is wanted for every iterate, finds nothing at `x`, nor, where it is wanted for every path, on the
/// straight path from the iterate `from`.
pub fn audited(context: &StepContext<'_>, from: &[Vec3], x: &[Vec3], work: &mut Workspace) -> bool {
    let level = context.settings.solver.audit;
    let (model, auditor) = (context.model, &mut work.auditor);
    context.clock.time(Phase::Audit, || match level {
        AuditLevel::EveryStep | AuditLevel::Off => true,
        AuditLevel::EveryIterate => audit::violations_by(auditor, model, x).is_empty(),
        AuditLevel::EveryPath => {
            audit::violations_by(auditor, model, x).is_empty()
                && audit::violations_between(auditor, model, from, x).is_empty()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn energy(value: f64, magnitude: f64) -> Energy {
        Energy { value, magnitude }
    }

    #[test]
    fn an_infinite_energy_is_no_decrease_however_large_its_noise() {
        let before = energy(1.0, 1.0);
        assert!(!falls(&before, &energy(f64::INFINITY, f64::INFINITY), -1e-30));
        assert!(!falls(&before, &energy(f64::NAN, f64::NAN), -1e-30));
        assert!(falls(&before, &energy(0.9, 1.0), -0.1));
        assert!(!falls(&before, &energy(1.1, 1.0), -0.1));
        // what rounding may have added counts as none only where no greater decrease is expected
        let risen = energy(1.0 + f64::EPSILON, 1.0);
        assert!(falls(&before, &risen, -1e-30));
        assert!(!falls(&before, &risen, -0.1));
    }
}
