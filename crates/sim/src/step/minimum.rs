//! The minimum that belongs to the end of a step: what its solver left undone.
//!
//! A step solved again with other tolerances may take other lagged friction forces, κ or stiffness of limits, or end in another minimum. So the
//! minimisation continues from where the step ended, in a copy of its potential whose parameters stay as they are, and the step does not
//! notice. It serves measurements only.

use super::end_state;
use crate::clock::Clock;
use crate::definition::settings::Method;
use crate::dirichlet::DirichletTargets;
use crate::error::StepError;
use crate::iterate::Iterate;
use crate::potential::IncrementalPotential;
use crate::report::{FallbackReason, StepOutcome, StepReport};
use crate::solver::balance::Balance;
use crate::solver::direction::linear_failure;
use crate::solver::workspace::Workspace;
use crate::solver::{barrier_free, newton};
use crate::state::State;

/// The end of a step, before anything of it is given up.
pub struct End<'e, 'p> {
    /// The state in which the step began.
    pub(super) start: &'e State,
    pub(super) targets: &'e DirichletTargets,
    /// The potential that was minimised, as it is at the end.
    pub(super) potential: &'e IncrementalPotential<'p>,
    pub(super) it: &'e Iterate,
    /// Why the barrier finished a step of the barrier-free method; none if it did not.
    pub(super) fallback: Option<FallbackReason>,
}

/// How accurately a minimum is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Accuracy {
    /// The velocity tolerance, as part of the one of the step.
    pub velocity: f64,
    /// The force tolerance, below 1.
    pub forces: f64,
}

/// A minimum.
#[derive(Debug, Clone)]
pub struct Minimum {
    /// What the state at the end of the step would be; without reactions.
    pub state: State,
    /// How the minimisation ended.
    pub outcome: StepOutcome,
    /// Its iterations, residual speed and imbalance.
    pub report: StepReport,
}

impl End<'_, '_> {
    /// The minimum of the potential with the friction forces, κ, stiffness of limits and multipliers of the end, reached from there by
    /// Newton's method. The barrier-free method keeps its friction forces and stiffness; its multipliers are unknowns like the positions and
    /// settle further.
    ///
    /// # Errors
    /// As a step, where the minimisation fails.
    pub fn minimum(&self, accuracy: Accuracy) -> Result<Minimum, StepError> {
        let context = self.potential.context;
        let clock = Clock::start();
        let mut settings = context.settings.clone();
        let of_barrier_free =
            settings.solver.method == Method::BarrierFree && self.fallback.is_none();
        if !of_barrier_free {
            settings.solver.method = Method::Barrier;
        }
        settings.solver.end.characteristic = None;
        settings.solver.end.cumulative_toi = None;

        let mut potential = self.potential.clone();
        potential.keep_parameters();
        potential.context.clock = &clock;
        potential.context.settings = &settings;
        potential.context.velocity_tolerance *= accuracy.velocity;
        potential.context.force_tolerance = accuracy.forces;
        potential.context.work_limit = None;

        // memory of its own: what the step has kept serves the next one
        let mut work = Workspace::new(context.model, self.start)
            .map_err(|e| linear_failure(&StepReport::default(), e.to_string()))?;
        work.detector.d_hat = context.d_hat;
        work.report.step = context.step as u64;
        let mut it = self.it.clone();
        let outcome = match of_barrier_free {
            true => barrier_free::go_on(&mut potential, &self.start.x, &mut it, &mut work),
            false => newton::minimise(&mut potential, &mut it, &mut work),
        }?;
        let balance = Balance::of_state(&potential, &it, 1.0);
        let mut report = std::mem::take(&mut work.report);
        (report.imbalance, report.imbalance_force) = (balance.imbalance, balance.force);
        let state = end_state(&potential, self.targets.clone(), self.start, &it);
        Ok(Minimum { state, outcome, report })
    }
}
