//! What all parts of one time step read.

use crate::clock::Clock;
use crate::definition::settings::{BarrierFreeSettings, Fallback, Scheme, Settings};
use crate::model::Model;
use crate::state::State;

/// The constants of one time step, SI units.
#[derive(Debug, Clone, Copy)]
pub struct StepContext<'a> {
    /// Constant data of the simulation.
    pub model: &'a Model,
    /// Its settings.
    pub settings: &'a Settings,
    /// Number of the step, from 1.
    pub step: usize,
    /// Time step h, s.
    pub h: f64,
    /// Time in which a displacement counts as a speed against the velocity tolerance and the stick speed, s: h, in quasi-static
    /// steps, whose time only says which load acts, a hundredth of a second.
    pub speed_time: f64,
    /// Time at the start of the step, s: loads, motions and attachments that act then act in the step.
    pub start: f64,
    /// Time at the end of the step, s: expressions of motions and drives are evaluated there.
    pub end: f64,
    /// Time at which expressions of loads are evaluated, s: that of the positions of elastic forces, mostly the end.
    pub load_time: f64,
    /// Integrator of the step.
    pub integrator: Scheme,
    /// Scale s of all other forces in the gradient of the incremental potential than those of `contact_scale`, s².
    pub elastic_scale: f64,
    /// Scale s_c of contact, friction and limits of the stretch, s².
    pub contact_scale: f64,
    /// Distance d̂ below which contact forces act, m.
    pub d_hat: f64,
    /// Newton tolerance ε_d, m/s.
    pub velocity_tolerance: f64,
    /// Part of the acting forces to which those on each body have to balance; 1 where that is no criterion.
    pub force_tolerance: f64,
    /// Linear systems after which the barrier-free method leaves the step to the fallback; none where it
    /// does not.
    pub work_limit: Option<u64>,
    /// Where the wall time goes.
    pub clock: &'a Clock,
}

impl<'a> StepContext<'a> {
    /// The context of the step that starts in `state`.
    pub fn new(model: &'a Model, state: &State, clock: &'a Clock) -> Self {
        let (settings, h) = (&model.resolved.settings, model.resolved.h);
        let integrator = settings.time.scheme().at(state);
        let elastic_scale = integrator.potential_scale(h);
        let contact_scale = match settings.time.trapezoidal_contact {
            true => elastic_scale,
            false => integrator.contact_scale(h),
        };
        let (start, end) = (state.time, state.next_time(h));
        let load_time = match integrator.beta() {
            1.0 => end,
            beta => start + beta * h,
        };
        Self {
            model,
            settings,
            step: state.step + 1,
            h,
            speed_time: integrator.speed_time(h),
            start,
            end,
            load_time,
            integrator,
            elastic_scale,
            contact_scale,
            d_hat: model.resolved.d_hat,
            velocity_tolerance: model.resolved.velocity_tolerance,
            force_tolerance: model.resolved.force_tolerance,
            work_limit: work_limit(&settings.solver.barrier_free, state.fallbacks),
            clock,
        }
    }
}

/// Every so many consecutive steps that needed the fallback, the whole limit of work is tried again.
const RETRY: u64 = 8;
/// How often the limit is halved from one of these steps to the next.
const FALLBACK_HALVINGS: u64 = 4;

/// The limit of work of a step after so many consecutive steps that needed the fallback: a scene that is too
/// hard for the method in one step is likely to be so in the next one.
fn work_limit(settings: &BarrierFreeSettings, fallbacks: u64) -> Option<u64> {
    let limit =
        (u64::from(settings.fallback_after) >> (fallbacks % RETRY).min(FALLBACK_HALVINGS)).max(1);
    (settings.fallback != Fallback::None).then_some(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_needed_the_fallback_leave_less_work_to_the_next_one() {
        let mut settings = BarrierFreeSettings { fallback_after: 300, ..Default::default() };
        let limits: Vec<u64> = (0..10).filter_map(|n| work_limit(&settings, n)).collect();
        assert_eq!(limits, [300, 150, 75, 37, 18, 18, 18, 18, 300, 150]);
        settings.fallback = Fallback::None;
        assert_eq!(work_limit(&settings, 0), None);
    }
}
