//! Minimisers of the incremental potential, one file each.

use crate::contact::ContactSet;
use crate::contact::detector::Detector;
use crate::solver::assembly::System;
use standoff_geometry::audit::Auditor;
use standoff_linalg::Vec3;
use standoff_sparse::LinearSolver;

pub mod assembly;
pub mod barrier_free;
mod contact_subproblem;
pub mod forcing;
pub mod initial_guess;
pub mod line_search;
pub mod linear;
pub mod newton;

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
