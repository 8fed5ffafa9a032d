//! Where friction takes its normal forces and sliding directions from, with the constraints that may have them.

use super::IncrementalPotential;
use crate::clock::Phase;
use crate::contact::{BarrierPotential, FrictionSet, Smoothing, friction_relaxation};
use crate::context::StepContext;
use crate::definition::settings::Transition;
use crate::iterate::Iterate;
use standoff_linalg::Vec3;

impl IncrementalPotential<'_> {
    /// Takes the normal forces and sliding directions of friction from an iterate whose contacts bear
    /// their forces with the stiffness `kappa`.
    pub fn lag_friction(&mut self, it: &Iterate, kappa: f64) {
        let model = self.context.model;
        if model.has_friction {
            let barrier = BarrierPotential { kappa, ..self.barrier };
            self.friction.lag(&it.contacts, &barrier, &it.x, &model.friction);
        }
    }

    /// Linearises the constraints at `x` in a step that began at `start`; see
    /// [`linearise`](crate::contact::ContactConstraints::linearise).
    pub fn linearise(&mut self, x: &[Vec3], start: &[Vec3], accuracy: f64) {
        let (constraints, model) = (&mut self.constraints, self.context.model);
        self.context.clock.time(Phase::Contact, || {
            constraints.linearise(&model.collision, &model.half_spaces, x, start, accuracy);
        });
    }

    /// Takes friction from the multipliers of constraints, in the tangent planes of their linearisation
    /// [Zheng 2025, App. A].
    pub fn lag_friction_of_constraints(&mut self) {
        let model = self.context.model;
        if model.has_friction {
            self.friction.replace(self.constraints.friction(&model.friction));
        }
    }

    /// Gives friction to the constraints that carry force and have none yet, with the forces of now; those
    /// that have it keep theirs. Whether there were any.
    pub fn lag_friction_of_new_constraints(&mut self) -> bool {
        let model = self.context.model;
        model.has_friction && self.friction.add_new(self.constraints.friction(&model.friction))
    }

    /// Goes over to the forces of the given update of friction in this step by a part only, so that lagging settles.
    pub fn relax_friction(&mut self, update: u64) {
        self.friction.relax(friction_relaxation::weight(update));
    }

    /// Makes friction convex for positions near `x`, or as it is again: where it falls with the slip, its potential is not.
    pub fn take_tangents_of_friction(&mut self, x: Option<&[Vec3]>) {
        self.friction.take_tangents(x);
    }

    /// Whether the Hessian of friction is that of secants from now on, which does not overshoot the kink at rest.
    pub fn take_secants_of_friction(&mut self, secant: bool) {
        self.friction.take_secants(secant);
    }
}

/// Friction of the step before any normal force is known.
pub(super) fn without_contacts(context: &StepContext<'_>) -> FrictionSet {
    let friction = &context.settings.friction;
    FrictionSet {
        contacts: Vec::new(),
        smoothing: smoothing(friction.transition),
        eps: context.model.resolved.stick_speed * context.integrator.friction_time(context.h),
        half_space_smoothing: smoothing(friction.half_space_transition),
        mollified_edges: friction.mollified_edges,
        secant: false,
    }
}

fn smoothing(transition: Transition) -> Smoothing {
    match transition {
        Transition::Linear => Smoothing::C0,
        Transition::Quadratic => Smoothing::C1,
        Transition::Cubic => Smoothing::C2,
    }
}
