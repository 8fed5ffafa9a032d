//! What is wrong with the end of a step: the same step solved again, far more accurately.
//!
//! There are two such references. The step solved *again* begins in the same state and differs in nothing but its tolerances;
//! it tells what a user would have got with these. It may have another stiffness κ, and where there are several
//! minima it may end in another one. The minimum that *belongs* to the end of the step is that of the same potential, with the κ, friction
//! forces and stiffness of limits of the end, reached from the end; it tells the error of the solver alone.
#![allow(dead_code)]

use standoff_linalg::Vec3;
use standoff_sim::definition::Definition;
use standoff_sim::energetics;
use standoff_sim::settings::{Fallback, Method};
use standoff_sim::{
    Accuracy, BuildError, Model, Simulation, State, StepError, StepOutcome, StepReport,
};

/// The velocity tolerance of the references, m/s per metre of a body.
pub const SPEED: f64 = 1e-8;
/// The force tolerance of the references.
pub const FORCES: f64 = 1e-9;
/// A reference that rounding ends counts where its residual speed is below this, m/s per metre of a body, a thousandth of the default
/// tolerance, and its imbalance below [`ROUNDED`], a tenth of the default one.
const ROUNDED_SPEED: f64 = 1e-5;
const ROUNDED: f64 = 1e-5;
/// Part of a body's weight and inertia below which contact forces are compared with this instead of with themselves.
const NO_FORCE: f64 = 1e-3;

/// The settings of a step that is solved with other tolerances: of speed in m/s per metre of a body, and of forces.
pub fn with_tolerances(definition: &Definition, speed: f64, forces: Option<f64>) -> Definition {
    let mut definition = definition.clone();
    let solver = &mut definition.settings.solver;
    solver.end.velocity = None;
    solver.end.velocity_relative = speed;
    solver.end.forces = forces;
    definition
}

/// The differences between the ends of two steps that begin in the same state.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Errors {
    /// The largest difference of positions over the time step and over the size of the body, 1/s: the unit of the tolerance.
    pub speed: f64,
    /// The largest difference of velocities over the size of the body, 1/s.
    pub velocity: f64,
    /// The largest difference of positions over the size of the body.
    pub position: f64,
    /// The difference of the contact force on a body or half-space, as part of the sum of the magnitudes of those on its
    /// vertices, at least a thousandth of its weight and inertia; the largest of all.
    pub force: f64,
    /// The same as part of these forces plus weight and inertia.
    pub force_of_acting: f64,
    /// The difference of the kinetic energies, as part of the greater one.
    pub kinetic: f64,
}

/// The differences of `got` from `exact`, which both follow on `start`.
pub fn errors(model: &Model, start: &State, got: &State, exact: &State) -> Errors {
    let time = model.resolved.settings.time.scheme().speed_time(model.resolved.h);
    let mut errors = Errors::default();
    let mut floor: f64 = 0.0;
    let mut bodies = Vec::new();
    for (body, scale) in model.bodies.iter().zip(&model.scales) {
        let mut forces = Forces::default();
        for v in body.vertices.clone() {
            if model.deformable[v] && !exact.prescribed[v] {
                let distance = (got.x[v] - exact.x[v]).norm() / scale.size;
                errors.position = errors.position.max(distance);
                errors.speed = errors.speed.max(distance / time);
                let velocity = (got.v[v] - exact.v[v]).norm() / scale.size;
                errors.velocity = errors.velocity.max(velocity);
                let inertia = match model.resolved.settings.time.scheme().inertial() {
                    true => (exact.v[v] - start.v[v]) / model.resolved.h,
                    false => Vec3::zeros(),
                };
                forces.other += model.mass[v] * (model.gravity.norm() + inertia.norm());
            }
            forces.add(&got.contact_forces[v], &exact.contact_forces[v]);
        }
        floor = floor.max(forces.other);
        bodies.push(forces);
    }
    for (got, exact) in got.half_space_forces.iter().zip(&exact.half_space_forces) {
        let mut forces = Forces::default();
        forces.add(&got[0], &exact[0]);
        bodies.push(forces);
    }
    for forces in bodies {
        // what has no mass that counts meets something that has
        let other = if forces.other > 0.0 { forces.other } else { floor };
        let part = |of: f64| forces.difference.norm() / of.max(f64::MIN_POSITIVE);
        errors.force = errors.force.max(part(forces.acting.max(NO_FORCE * other)));
        errors.force_of_acting = errors.force_of_acting.max(part(forces.acting + other));
    }
    let [a, b] = [got, exact].map(|state| energetics::kinetic_energy(model, state));
    errors.kinetic = if a == b { 0.0 } else { (a - b).abs() / a.max(b) };
    errors
}

/// The contact forces on a body.
#[derive(Default)]
struct Forces {
    difference: Vec3,
    acting: f64,
    /// Weight and inertia.
    other: f64,
}

impl Forces {
    fn add(&mut self, got: &Vec3, exact: &Vec3) {
        self.difference += got - exact;
        self.acting += exact.norm();
    }
}

/// An accurate end of a step, or the reason why there is none.
pub struct Reference {
    /// The state at the end; none where the step failed.
    pub state: Option<State>,
    /// In words how the step ended.
    pub outcome: String,
    /// Whether it is accurate: converged, or ended by rounding close to the tolerances.
    pub is_accurate: bool,
    /// Newton iterations.
    pub iterations: u64,
}

impl Reference {
    fn none(outcome: String) -> Self {
        Self { state: None, outcome, is_accurate: false, iterations: 0 }
    }
}

/// Solves steps accurately.
pub struct Accurate {
    again: Simulation,
    /// The same without the barrier's help for the barrier-free method.
    alone: Simulation,
}

impl Accurate {
    /// References for the steps of a scene.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn new(definition: &Definition) -> Result<Self, BuildError> {
        let mut tight = with_tolerances(definition, SPEED, Some(FORCES));
        if tight.settings.solver.method == Method::Dot {
            // the same potential, with a method that reaches its minimum
            tight.settings.solver.method = Method::Barrier;
        }
        let again = Simulation::new(&tight)?;
        tight.settings.solver.barrier_free.fallback = Fallback::None;
        tight.settings = tight.settings.without_unread(tight.dimension);
        let alone = Simulation::new(&tight)?;
        Ok(Self { again, alone })
    }

    /// The constant data.
    pub fn model(&self) -> &Model {
        self.again.model()
    }

    /// The step from `start` solved again, by the same solver as the step that was `reported`: the barrier-free method and the
    /// barrier that may finish its steps have other minima.
    pub fn again(&mut self, start: &State, reported: &StepReport) -> Reference {
        let by_barrier = reported.fallback.is_some();
        let simulation = if by_barrier { &mut self.again } else { &mut self.alone };
        if let Err(e) = simulation.set_state(start.clone()) {
            return Reference::none(e.to_string());
        }
        let result = simulation.step();
        let state = simulation.state().clone();
        match result {
            Err(e) => Reference::none(e.to_string()),
            Ok(report) => Reference {
                state: Some(state),
                outcome: report.outcome.describe().into(),
                is_accurate: self.is_accurate(report.outcome, &report)
                    && report.fallback.is_some() == by_barrier,
                iterations: report.newton_iterations,
            },
        }
    }

    /// Does a step of `simulation`, with the minimum that belongs to its end.
    ///
    /// # Errors
    /// As [`Simulation::step`].
    pub fn step(&self, simulation: &mut Simulation) -> Result<(StepReport, Reference), StepError> {
        let velocity = self.model().resolved.velocity_tolerance
            / simulation.model().resolved.velocity_tolerance;
        let (report, minimum) =
            simulation.step_with_minimum(Accuracy { velocity, forces: FORCES })?;
        let reference = match minimum {
            Err(e) => Reference::none(e.to_string()),
            Ok(minimum) => Reference {
                outcome: minimum.outcome.describe().into(),
                is_accurate: self.is_accurate(minimum.outcome, &minimum.report),
                iterations: minimum.report.newton_iterations,
                state: Some(minimum.state),
            },
        };
        Ok((report, reference))
    }

    fn is_accurate(&self, outcome: StepOutcome, report: &StepReport) -> bool {
        let unit = self.model().resolved.velocity_tolerance / SPEED;
        let rounded = report.residual_speed / unit < ROUNDED_SPEED && report.imbalance < ROUNDED;
        outcome == StepOutcome::Converged || outcome.is_minimum() && rounded
    }
}
