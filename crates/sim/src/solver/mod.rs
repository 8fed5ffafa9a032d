//! Minimisers of the incremental potential, one file each.

use crate::collisions::Detector;
use crate::contact::ContactSet;
use crate::system::System;
use standoff_geometry::audit::Auditor;
use standoff_linalg::Vec3;
use standoff_sparse::LinearSolver;

pub mod barrier_free;
mod contact_model;
pub mod first_guess;
pub mod forcing;
pub mod linear;
pub mod projected_newton;

/// A feasible point with its contacts.
#[derive(Debug, Clone)]
pub struct Iterate {
    /// Positions, m (`#V`).
    pub x: Vec<Vec3>,
    /// All contacts at `x`.
    pub active: ContactSet,
}

/// Buffers and solvers that are kept between steps; none of it influences a result.
pub struct Minimiser {
    /// Collision detection.
    pub detector: Detector,
    /// The Newton system.
    pub system: System,
    /// Solver of the Newton system.
    pub linear: Box<dyn LinearSolver + Send>,
    /// The audit.
    pub auditor: Auditor,
}
