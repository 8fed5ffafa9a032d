//! Where the orientation-aware potential acts.

use crate::contact::BarrierPotential;
use crate::contact::orientation::{Measure, OrientationContact, Parameters, Step};
use crate::contact::stiffness::LOADED_GAP;
use crate::definition::settings::{ContactPotential, Method};
use crate::error::BuildError;
use crate::model::Model;
use crate::potential::stiffness::mean_weight;
use standoff_linalg::Vec3;
use std::sync::Arc;

/// The surfaces on which the orientation-aware potential acts, with `x` (`#V`) at the start; none where
/// another potential is chosen.
///
/// # Errors
/// The barrier-free method, no closed surface.
pub fn build(model: &Model, x: &[Vec3]) -> Result<Option<Arc<OrientationContact>>, BuildError> {
    let settings = &model.resolved.settings;
    if settings.contact.potential != ContactPotential::OrientationAware {
        return Ok(None);
    }
    let refuse = |must| {
        let value = "orientation-aware".to_owned();
        Err(BuildError::Setting { key: "contact.potential", value, must })
    };
    if settings.solver.method == Method::BarrierFree {
        return refuse(
            "the barrier-free solver has no contact potential; choose \"ipc\" or the solver \
             \"barrier\"",
        );
    }
    let parameters = parameters(model);
    let mut solid = vec![false; x.len()];
    for body in model.bodies.iter().filter(|b| !b.solids.is_empty()) {
        solid[body.vertices.clone()].fill(true);
    }
    let (mesh, length) = (&model.collision, settings.contact.orientation.length);
    let (half_spaces, d_hat) = (&model.half_spaces, model.resolved.d_hat);
    let mut contact =
        OrientationContact::new(mesh, &solid, parameters, length, half_spaces, x, d_hat);
    if !contact.acts() {
        return refuse(
            "no surface of the scene is closed, so there is nothing on which it could act; choose \
             \"ipc\"",
        );
    }
    let barrier = BarrierPotential {
        barrier: settings.contact.barrier,
        d_hat,
        kappa: 1.0,
        physical: settings.contact.is_area_weighted(),
        even: true,
    };
    let ipc = barrier.unit_force(LOADED_GAP * d_hat, mean_weight(model), 0.0);
    contact.stiffness_ratio = ipc / contact.unit_force();
    Ok(Some(Arc::new(contact)))
}

fn parameters(model: &Model) -> Parameters {
    let o = &model.resolved.settings.contact.orientation;
    Parameters {
        exponent: if model.dimension.is_planar() { 1 } else { 2 },
        tangential: Step { alpha: o.alpha, beta: o.beta },
        normal: Step { alpha: o.exterior_alpha, beta: o.exterior_beta },
        measure: Measure::Rest,
    }
}
