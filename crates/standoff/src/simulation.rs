//! A simulation that is advanced step by step.

// long: what can be read and set of each kind of thing, a method for each

mod body;
mod find;
mod forces;
mod inside;

pub use body::{Body, BodyMut, HalfSpace, Pose};
pub use forces::{Applied, Contact, Held, LoadValue};

use crate::device;
use crate::error::Error;
use crate::errors::ControlError;
use crate::handle::{OfBody, OfHalfSpace, OfLoad, OfPrescription, Which, indices};
use standoff_linalg::Vec3;
use standoff_run::{Options, Recording, Summary, checkpoint_bytes, fingerprint, parse_checkpoint};
use standoff_scene::Scene;
use standoff_scene::resolve::origin::Origin;
use standoff_sim::joints::JointTarget;
use standoff_sim::report::JointForces;
use standoff_sim::{ContactRecord, StepError, StepReport};
use standoff_sparse::LinearSolver;
use std::collections::HashMap;
use std::fmt;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

/// A simulation that is advanced step by step: positions, velocities and forces may be read, and targets,
/// loads, gravity, positions and velocities changed, between any two steps.
///
/// Everything that is changed is part of its state: [`save`](Self::save) and [`restore`](Self::restore),
/// and a run in a folder that is [resumed](Self::resume), continue with the same bits.
pub struct Simulation {
    core: standoff_sim::Simulation,
    scene: Arc<Scene>,
    /// Index in the definition of what comes from a place of the scene file.
    indices: HashMap<Origin, usize>,
    fingerprint: u64,
    recording: Option<Recording>,
    report: Option<StepReport>,
}

impl Simulation {
    /// A simulation of a scene before its first step.
    ///
    /// # Errors
    /// [`Error::Build`] where the scene cannot be simulated: an inverted element, an intersection at the
    /// start.
    pub fn new(scene: &Scene) -> Result<Self, Error> {
        Self::of(Arc::new(scene.clone()))
    }

    /// The same of a scene that several simulations share.
    pub(crate) fn of(scene: Arc<Scene>) -> Result<Self, Error> {
        let linear = device::linear_solver(&scene)?;
        Ok(Self::with(standoff_sim::Simulation::new(&scene.definition)?, scene, None, linear))
    }

    fn with(
        mut core: standoff_sim::Simulation,
        scene: Arc<Scene>,
        recording: Option<Recording>,
        linear: Option<Box<dyn LinearSolver>>,
    ) -> Self {
        linear.into_iter().for_each(|l| core.set_linear_solver(l));
        let fingerprint = fingerprint(&scene.definition);
        let indices = indices(&scene);
        Self { core, scene, indices, fingerprint, recording, report: None }
    }

    /// Records this simulation in a folder from now on, as [`run`](crate::run) does: frames, statistics
    /// and checkpoints as the scene's output settings ask for them.
    ///
    /// # Errors
    /// [`Error::Output`]: the folder cannot be used, or steps were done before.
    pub fn record(&mut self, folder: impl AsRef<Path>, options: Options) -> Result<(), Error> {
        self.finish()?;
        let recording = Recording::begin(&self.scene, folder.as_ref(), options, &self.core)?;
        self.recording = Some(recording);
        Ok(())
    }

    /// Takes up the run of a scene in a folder where its newest checkpoint left it, and continues to record
    /// there.
    ///
    /// # Errors
    /// [`Error::Run`]: nothing in the folder is of use, or it belongs to another scene.
    pub fn resume(scene: &Scene, folder: impl AsRef<Path>) -> Result<Self, Error> {
        let linear = device::linear_solver(scene)?;
        let (recording, core) = Recording::resume(scene, folder.as_ref(), &mut |_| {})?;
        Ok(Self::with(core, Arc::new(scene.clone()), Some(recording), linear))
    }

    /// The whole state as bytes, from which [`restore`](Self::restore) and [`load`](Self::load) go on.
    pub fn save(&self) -> Vec<u8> {
        checkpoint_bytes(self.fingerprint, self.core.state(), &[])
    }

    /// A simulation of a scene in the state that [`save`](Self::save) gave.
    ///
    /// # Errors
    /// [`Error::Output`] for bytes that are damaged or of another scene.
    pub fn restore(scene: &Scene, saved: &[u8]) -> Result<Self, Error> {
        let linear = device::linear_solver(scene)?;
        let state = parse_checkpoint(SAVED.as_ref(), saved, fingerprint(&scene.definition))?.state;
        let core = standoff_sim::Simulation::restore(&scene.definition, state)?;
        Ok(Self::with(core, Arc::new(scene.clone()), None, linear))
    }

    /// Goes back or forward to a state that [`save`](Self::save) gave for this scene. A recording ends.
    ///
    /// # Errors
    /// As [`restore`](Self::restore); nothing is changed then.
    pub fn load(&mut self, saved: &[u8]) -> Result<(), Error> {
        let state = parse_checkpoint(SAVED.as_ref(), saved, self.fingerprint)?.state;
        self.finish()?;
        self.core.set_state(state)?;
        self.report = None;
        Ok(())
    }

    /// Goes back to the state before the first step, without anything that was set since. A recording ends.
    ///
    /// # Errors
    /// [`Error::Output`]: the recording could not be ended; nothing is changed then.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.finish()?;
        self.core.reset();
        self.report = None;
        Ok(())
    }

    /// Does one time step, and records it where a folder was given.
    ///
    /// # Errors
    /// [`Error::Step`] with the state before the step; [`Error::Output`] where results could not be
    /// written.
    pub fn step(&mut self) -> Result<&StepReport, Error> {
        let report = match self.core.step() {
            Ok(report) => report,
            // nothing failed: the program may take the step again
            Err(error @ StepError::Cancelled { .. }) => return Err(error.into()),
            Err(error) => {
                if let Some(mut recording) = self.recording.take() {
                    // the step's own error is the one to tell
                    recording.finish(&self.core, Some(error.to_string()));
                }
                return Err(error.into());
            }
        };
        let report = self.report.insert(report);
        if let Some(recording) = &mut self.recording {
            recording.write(&self.core, report)?;
        }
        Ok(report)
    }

    /// Does the steps up to the end of the scene. After each one `observe` may look at the simulation and
    /// change it, and end the run.
    ///
    /// # Errors
    /// As [`step`](Self::step).
    pub fn run(
        &mut self,
        observe: &mut dyn FnMut(&mut Self, &StepReport) -> ControlFlow<()>,
    ) -> Result<Summary, Error> {
        let mut summary = Summary::default();
        while !self.is_finished() {
            let report = self.step()?.clone();
            summary.add(&report);
            if observe(self, &report).is_break() {
                break;
            }
        }
        if self.is_finished() {
            self.finish()?;
        }
        Ok(summary)
    }

    /// Ends a recording: the last state is written as frame and checkpoint. Also happens when the
    /// simulation is dropped.
    ///
    /// # Errors
    /// [`Error::Output`].
    pub fn finish(&mut self) -> Result<(), Error> {
        let Some(mut recording) = self.recording.take() else { return Ok(()) };
        match recording.finish(&self.core, None).into_iter().next() {
            None => Ok(()),
            Some(stop) => Err(stop.into()),
        }
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.core.time()
    }

    /// Steps done.
    pub fn step_index(&self) -> u64 {
        self.core.step_index() as u64
    }

    /// Whether the end of the scene is reached.
    pub fn is_finished(&self) -> bool {
        self.step_index() >= self.scene.steps()
    }

    /// The report of the last step: energies, contacts, iterations, seconds.
    pub fn report(&self) -> Option<&StepReport> {
        self.report.as_ref()
    }

    /// Positions of all vertices, m (`#V`).
    pub fn positions(&self) -> &[Vec3] {
        self.core.positions()
    }

    /// Velocities of all vertices, m/s (`#V`).
    pub fn velocities(&self) -> &[Vec3] {
        self.core.velocities()
    }

    /// Contact and friction forces on all vertices at the end of the last step, N (`#V`).
    pub fn contact_forces(&self) -> &[Vec3] {
        self.core.contact_forces()
    }

    /// Every contact at the current positions.
    pub fn contacts(&self) -> Vec<ContactRecord> {
        self.core.contacts()
    }

    /// What the independent audit finds wrong with the current positions: always nothing.
    pub fn audit(&self) -> Vec<String> {
        let model = self.core.model();
        self.core.audit().iter().map(|v| v.describe(model)).collect()
    }

    /// The simulator beneath, with model and state.
    pub fn core(&self) -> &standoff_sim::Simulation {
        &self.core
    }

    /// Names of the bodies in the order of their vertices.
    pub fn body_names(&self) -> impl Iterator<Item = &str> {
        self.core.model().bodies.iter().map(|b| b.name.as_str())
    }

    /// A body by name or handle.
    ///
    /// # Errors
    /// [`Error::Control`] with the names that there are, or for a handle of another scene.
    pub fn body<'a>(&self, which: impl Into<Which<'a, OfBody>>) -> Result<Body<'_>, Error> {
        Ok(Body { simulation: self, index: self.find(which.into())? })
    }

    /// A body by name or handle, to set its positions, velocities or targets.
    ///
    /// # Errors
    /// As [`body`](Self::body).
    pub fn body_mut<'a>(
        &mut self,
        which: impl Into<Which<'a, OfBody>>,
    ) -> Result<BodyMut<'_>, Error> {
        let index = self.find(which.into())?;
        Ok(BodyMut { simulation: self, index })
    }

    /// A half-space by name or handle; that of [`ground`](crate::SceneBuilder::ground) is `"ground"`.
    ///
    /// # Errors
    /// As [`body`](Self::body).
    pub fn half_space<'a>(
        &self,
        which: impl Into<Which<'a, OfHalfSpace>>,
    ) -> Result<HalfSpace<'_>, Error> {
        Ok(HalfSpace { simulation: self, index: self.find(which.into())? })
    }

    /// Sets gravity for the steps to come, m/s².
    ///
    /// # Errors
    /// [`Error::Control`] for a number that is not finite.
    pub fn set_gravity(&mut self, gravity: impl Into<Vec3>) -> Result<(), Error> {
        Ok(self.core.set_gravity(Some(gravity.into()))?)
    }

    /// Sets the value of a load for the steps to come, in place of the scene's; `None` goes back to that. A
    /// load is named `OBJECT.REGION`, or `OBJECT.force[K]` for the K-th force of an object on all
    /// vertices or on a region without a name. Of several with one name all are set; a handle means one.
    ///
    /// # Errors
    /// [`Error::Control`] for a name that no load has or a handle of another scene, for a value of another quantity than
    /// the load's, and for what is not finite.
    pub fn set_load<'a>(
        &mut self,
        which: impl Into<Which<'a, OfLoad>>,
        value: impl Into<Option<LoadValue>>,
    ) -> Result<(), Error> {
        let value = value.into();
        let mut wanted = Vec::new();
        for index in self.forces(which.into())? {
            let force = &self.scene.definition.forces[index];
            wanted.push((index, value.map(|v| v.of(force)).transpose()?));
        }
        for (index, value) in wanted {
            self.core.set_load(index, value)?;
        }
        Ok(())
    }

    /// What a joint or a tendon acted with in the last step, and its coordinates now.
    ///
    /// # Errors
    /// [`Error::Control`] for a name that neither has.
    pub fn joint(&self, name: &str) -> Result<JointForces, Error> {
        // the index is that of a joint
        Ok(self.core.joint(self.joint_index(name)?).unwrap_or_default())
    }

    /// Sets what the drive of a joint moves to in the steps to come, in place of what the scene says; `JointTarget::default()` goes back to that.
    /// A joint without a drive takes an effort alone.
    ///
    /// # Errors
    /// [`Error::Control`] for a name that no joint has, for a joint without a single coordinate, for a position or a velocity without the gain of the
    /// drive that it needs, and for what is not finite.
    pub fn set_joint_target(&mut self, name: &str, target: JointTarget) -> Result<(), Error> {
        let index = self.joint_index(name)?;
        Ok(self.core.set_joint_target(index, target)?)
    }

    fn joint_index(&self, name: &str) -> Result<usize, ControlError> {
        let joints = || self.core.model().joints.names();
        joints().position(|n| n == name).ok_or_else(|| ControlError::Unknown {
            what: "joint",
            name: name.to_owned(),
            known: joints().map(str::to_owned).collect(),
        })
    }

    /// Where the vertices of a prescription have to be at the end of the next step, m; they stay there
    /// until they are told otherwise. A prescription is named `OBJECT.REGION`, or `OBJECT.fixed[K]` and
    /// `OBJECT.motion[K]`; where several have one name, the second is `NAME#2`. Motions of the scene add to targets.
    ///
    /// # Errors
    /// [`Error::Control`] for a name that no prescription has or a handle of another scene, for another number of
    /// positions than it has vertices, and where it does not act in the next step.
    pub fn set_targets<'a>(
        &mut self,
        which: impl Into<Which<'a, OfPrescription>>,
        targets: &[Vec3],
    ) -> Result<(), Error> {
        let index = self.find(which.into())?;
        let vertices = self.core.model().motions[index].vertices.clone();
        Ok(self.core.set_targets(&vertices, targets)?)
    }

    /// Current targets of the vertices of a prescription, m.
    ///
    /// # Errors
    /// [`Error::Control`] for a name that no prescription has or a handle of another scene.
    pub fn targets<'a>(
        &self,
        which: impl Into<Which<'a, OfPrescription>>,
    ) -> Result<Vec<Vec3>, Error> {
        let index = self.find(which.into())?;
        let targets = &self.core.state().targets;
        let vertices = &self.core.model().motions[index].vertices;
        Ok(vertices.iter().map(|v| targets[*v as usize]).collect())
    }

    /// Lets a prescription go (`acts` false) or hold again, from where its vertices are.
    ///
    /// # Errors
    /// [`Error::Control`] for a name that no prescription has or a handle of another scene.
    pub fn set_prescription<'a>(
        &mut self,
        which: impl Into<Which<'a, OfPrescription>>,
        acts: bool,
    ) -> Result<(), Error> {
        let index = self.find(which.into())?;
        Ok(self.core.set_prescription(index, acts)?)
    }
}

/// What stands for a file in messages about bytes in memory.
const SAVED: &str = "the saved state";

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("bodies", &self.body_names().collect::<Vec<_>>())
            .field("step", &self.step_index())
            .field("time", &self.time())
            .finish_non_exhaustive()
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        // a caller that needs the result calls `finish`
        let _ = self.finish();
    }
}
