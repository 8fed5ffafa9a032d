//! A simulation: model, state and the buffers between them.

use crate::audit::{self, Violation};
use crate::collisions::Detector;
use crate::definition::Definition;
use crate::error::{BuildError, StepError};
use crate::material::von_mises;
use crate::model::Model;
use crate::report::StepReport;
use crate::settings::LinearSolver;
use crate::solver::Minimiser;
use crate::state::State;
use crate::step;
use crate::system::System;
use standoff_linalg::Vec3;
use standoff_sparse::{Cholesky, ConjugateGradient, Ordering};

/// A simulation in progress.
pub struct Simulation {
    model: Model,
    state: State,
    work: Minimiser,
    contact_forces: Vec<Vec3>,
}

impl Simulation {
    /// Checks a definition and readies its first step.
    ///
    /// # Errors
    /// Whatever makes the definition unusable: an inconsistency, a bad number, an inverted element,
    /// an intersection at the start.
    pub fn new(definition: &Definition) -> Result<Self, BuildError> {
        let (model, state) = Model::new(definition)?;
        check_intersections(&model, &state)?;
        let free = &model.deformable;
        let system = System::new(&model, free).map_err(|e| BuildError::Body {
            body: model.bodies[0].name.clone(),
            problem: e.to_string(),
        })?;
        let solver = &model.resolved.settings.solver;
        let linear: Box<dyn standoff_sparse::LinearSolver + Send> = match solver.linear {
            LinearSolver::Cholesky => Box::new(Cholesky::new(Ordering::Automatic)),
            LinearSolver::ConjugateGradient => {
                Box::new(ConjugateGradient::new(solver.linear_tolerance, 10_000))
            }
        };
        let detector = Detector::default();
        let contact_forces = vec![Vec3::zeros(); model.vertex_count()];
        Ok(Self { model, state, work: Minimiser { detector, system, linear }, contact_forces })
    }

    /// Does one time step.
    ///
    /// # Errors
    /// See [`StepError`]; the state is then the one before the step.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        let (state, report, forces) = step::step(&self.model, &self.state, &mut self.work)?;
        self.state = state;
        self.contact_forces = forces;
        Ok(report)
    }

    /// Constant data.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The current state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Positions, m (`#V`).
    pub fn positions(&self) -> &[Vec3] {
        &self.state.x
    }

    /// Velocities, m/s (`#V`).
    pub fn velocities(&self) -> &[Vec3] {
        &self.state.v
    }

    /// Contact and friction forces on the vertices at the end of the last step, N (`#V`).
    pub fn contact_forces(&self) -> &[Vec3] {
        &self.contact_forces
    }

    /// Von Mises stress of each tetrahedron, Pa (`#T`).
    pub fn von_mises(&self) -> Vec<f64> {
        self.model.elastic.cauchy_stress(&self.state.x).iter().map(von_mises).collect()
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.state.time
    }

    /// Number of completed steps.
    pub fn step_index(&self) -> usize {
        self.state.step
    }

    /// The independent audit of the current positions.
    pub fn audit(&self) -> Vec<Violation> {
        audit::violations(&self.model, &self.state.x)
    }
}

/// The start must be free of intersections; inversions were checked with the elements.
fn check_intersections(model: &Model, state: &State) -> Result<(), BuildError> {
    let found = audit::violations(model, &state.x);
    match found.first() {
        None => Ok(()),
        Some(Violation::HalfSpace { vertex, half_space, depth }) => {
            let (body, vertex) = model.locate(*vertex);
            Err(BuildError::BehindHalfSpace {
                body: body.name.clone(),
                vertex,
                half_space: model.half_space_names[*half_space].clone(),
                depth: *depth,
            })
        }
        Some(first) => {
            Err(BuildError::Intersecting { first: first.describe(model), count: found.len() })
        }
    }
}
