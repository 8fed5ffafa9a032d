//! Memory that is kept between steps.

use crate::audit::Violation;
use crate::clock::Clock;
use crate::detector::Detector;
use crate::iterate::Iterate;
use crate::model::Model;
use crate::potential::IncrementalPotential;
use crate::report::StepReport;
use crate::solver::assembly::HessianAssembly;
use crate::solver::comparison::laplacian::Laplacian;
use crate::solver::linear;
use crate::solver::subdomains::SubdomainFactors;
use crate::state::State;
use crate::watch::Watcher;
use standoff_geometry::audit::Auditor;
use standoff_sparse::{LinearSolver, MatrixError};

/// Buffers and solvers that are kept between steps, and the report of the step that is under way. None of
/// it influences a result.
pub struct Workspace {
    /// Collision detection.
    pub detector: Detector,
    /// The Newton matrix.
    pub hessian: HessianAssembly,
    /// Solver of the Newton system.
    pub linear: Box<dyn LinearSolver>,
    /// Factors of subdomains.
    pub subdomains: SubdomainFactors,
    /// The constant matrix of projective dynamics.
    pub laplacian: Laplacian,
    /// The iterate before the last step along a direction.
    pub before: Iterate,
    /// The audit.
    pub auditor: Auditor,
    /// What the audit found on the path of prescribed vertices that moved directly, before the first iterate.
    pub found_directly: Option<Violation>,
    /// Counts of the step that is under way.
    pub report: StepReport,
    /// What looks on.
    pub watcher: Option<Watcher>,
}

impl Workspace {
    /// A workspace for the steps of a simulation that begins in `state`, with the linear solver that the
    /// settings ask for.
    ///
    /// # Errors
    /// More matrix blocks than 32-bit indices can name.
    pub fn new(model: &Model, state: &State) -> Result<Self, MatrixError> {
        let clock = Clock::start();
        let mut potential = IncrementalPotential::at_start(model, state, &clock);
        // the free vertices of most steps; where others are free, the assembly changes over to them
        potential.free_all();
        Ok(Self {
            detector: Detector::new(model.resolved.d_hat),
            hessian: HessianAssembly::new(&potential)?,
            linear: linear::solver(&model.resolved.settings.solver),
            subdomains: SubdomainFactors::default(),
            laplacian: Laplacian::default(),
            before: Iterate::without_contacts(Vec::new()),
            auditor: Auditor::default(),
            found_directly: None,
            report: StepReport::default(),
            watcher: None,
        })
    }

    /// Joints have broken, or hold again: the pattern of the Newton matrix is another one.
    ///
    /// # Errors
    /// See [`Self::new`].
    pub fn forget_joints(&mut self, model: &Model, state: &State) -> Result<(), MatrixError> {
        let Self { hessian, detector, .. } = Self::new(model, state)?;
        (self.hessian, self.detector) = (hessian, detector);
        Ok(())
    }
}
