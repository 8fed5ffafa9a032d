//! Where friction takes its normal forces and sliding directions from.

use crate::contact::{BarrierPotential, FrictionContact, FrictionSet};
use crate::iterate::Iterate;
use crate::potential::{IncrementalPotential, friction_without_contacts};
use std::collections::HashSet;

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

/// Gives friction to the constraints that carry force and have none yet, with the forces of now; those
/// that have it keep theirs. Whether there were any.
pub fn lag_new_constraints(potential: &mut IncrementalPotential<'_>) -> bool {
    let model = potential.context.model;
    if !model.has_friction {
        return false;
    }
    let identity = |c: &FrictionContact| (c.key, c.vertices);
    let known: HashSet<_> = potential.friction.contacts.iter().map(identity).collect();
    let mut new = potential.constraints.friction(&model.friction);
    new.retain(|c| !known.contains(&identity(c)));
    let found = !new.is_empty();
    potential.friction.contacts.append(&mut new);
    found
}
