//! Which pairs are close: one sweep of the broad phase per Newton direction serves the contacts at
//! every point of the line search and the largest admissible step.

use crate::contact::friction::FrictionSet;
use crate::contact::pairs::{ContactSet, HalfSpaceContact};
use crate::contact::potential::BarrierPotential;
use crate::model::Model;
use crate::settings::Ccd;
use standoff_geometry::broad_phase::{BroadPhase, Candidates};
use standoff_geometry::ccd;
use standoff_linalg::Vec3;

/// All contacts (distance below d̂) at one position.
#[derive(Debug, Clone, Default)]
pub struct ActiveSet {
    /// Between surface primitives.
    pub pairs: ContactSet,
    /// Between surface vertices and half-spaces.
    pub planes: Vec<HalfSpaceContact>,
}
