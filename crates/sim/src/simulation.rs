//! A simulation: model, state and the buffers between them.

use crate::audit::{self, Violation};
use crate::collisions::Detector;
use crate::definition::Definition;
use crate::diagnosis::Diagnosis;
use crate::error::{BuildError, StepError};
use crate::material::von_mises;
use crate::model::Model;
use crate::report::StepReport;
use crate::solver::{Minimiser, linear};
use crate::state::State;
use crate::step;
use crate::system::System;
use standoff_linalg::Vec3;

/// A simulation in progress.
pub struct Simulation {
    model: Model,
    state: State,
    work: Minimiser,
    diagnosis: Option<Diagnosis>,
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
        Self::build(model, state)
    }

    /// Takes up a simulation of a definition where `state` left it: what follows has the same bits
    /// as if it had never stopped.
    ///
    /// # Errors
    /// As [`Self::new`], and [`BuildError::State`] for a state that cannot be one of this
    /// definition: other sizes, numbers that are not finite, another time, an intersection.
    pub fn restore(definition: &Definition, state: State) -> Result<Self, BuildError> {
        let (model, start) = Model::new(definition)?;
        state.check(&start, model.resolved.h).map_err(|problem| BuildError::State { problem })?;
        if let Some(first) = audit::violations(&model, &state.x).first() {
            return Err(BuildError::State { problem: first.describe(&model) });
        }
        Self::build(model, state)
    }

    fn build(model: Model, state: State) -> Result<Self, BuildError> {
        let free = &model.deformable;
        let system = System::new(&model, free).map_err(|e| BuildError::Body {
            body: model.bodies[0].name.clone(),
            problem: e.to_string(),
        })?;
        let linear = linear::solver(&model.resolved.settings.solver);
        let detector = Detector::default();
        Ok(Self { model, state, work: Minimiser { detector, system, linear }, diagnosis: None })
    }

    /// Does one time step.
    ///
    /// # Errors
    /// See [`StepError`]; the state is then the one before the step, and [`Self::diagnosis`] holds
    /// the culprits.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        match step::step(&self.model, &self.state, &mut self.work) {
            Ok((state, report)) => {
                self.state = state;
                self.diagnosis = None;
                Ok(report)
            }
            Err(failure) => {
                self.diagnosis = Some(failure.diagnosis);
                Err(failure.error)
            }
        }
    }

    /// Why the last step failed, as data; `None` after one that did not.
    pub fn diagnosis(&self) -> Option<&Diagnosis> {
        self.diagnosis.as_ref()
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
        &self.state.contact_forces
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
