//! Where friction takes its normal forces and sliding directions from.

use crate::contact::{BarrierPotential, FrictionSet};
use crate::iterate::Iterate;
use crate::potential::{IncrementalPotential, friction_without_contacts};

/// Takes the normal forces and sliding directions of friction from an iterate whose contacts bear
/// their forces with the stiffness `kappa`.
pub fn lag(potential: &mut IncrementalPotential<'_>, it: &Iterate, kappa: f64) {
    let model = potential.context.model;
    if !model.has_friction {
        return;
    }
    let barrier = BarrierPotential { kappa, ..potential.barrier };
    let empty = friction_without_contacts(&potential.context);
    potential.friction = empty.lagged(&it.contacts, &barrier, &it.x, &model.friction);
}

/// Takes friction from the multipliers of constraints, in the tangent planes of their linearisation
/// [Zheng 2025, App. A].
pub fn lag_constraints(potential: &mut IncrementalPotential<'_>) {
    let model = potential.context.model;
    if !model.has_friction {
        return;
    }
    potential.friction = FrictionSet {
        contacts: potential.constraints.friction(&model.friction),
        ..friction_without_contacts(&potential.context)
    };
}

/// Takes friction anew where a constraint that carries force has none; whether one had not.
pub fn lag_new_constraints(potential: &mut IncrementalPotential<'_>) -> bool {
    let model = potential.context.model;
    let frictional = potential.constraints.friction(&model.friction).len();
    let new = model.has_friction && frictional > potential.friction.contacts.len();
    if new {
        lag_constraints(potential);
    }
    new
}
