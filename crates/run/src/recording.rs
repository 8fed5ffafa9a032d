//! A run whose steps are done by the caller.

use crate::run::{self, Taken};
use crate::{Options, OutputError, RunError, RunFolder, Stop, Summary};
use standoff_scene::Scene;
use standoff_sim::{Simulation, StepReport};
use std::path::Path;

/// The folder in which a simulation is recorded while its steps are done by the caller, who may change
/// targets, loads and velocities between them. It ends as a folder of [`run`](crate::run()) does, and is
/// resumed like one.
#[derive(Debug)]
pub struct Recording {
    folder: RunFolder,
    summary: Summary,
}

impl Recording {
    /// Begins a folder with the state of a simulation of `scene` before its first step.
    ///
    /// # Errors
    /// See [`OutputError`]; [`OutputError::Late`] for a simulation that has done steps.
    pub fn begin(
        scene: &Scene,
        folder: &Path,
        options: Options,
        simulation: &Simulation,
    ) -> Result<Self, OutputError> {
        if simulation.step_index() > 0 {
            let step = simulation.step_index() as u64;
            return Err(OutputError::Late { path: folder.to_owned(), step });
        }
        let folder = run::begin(scene, folder, options, simulation)?;
        Ok(Self { folder, summary: Summary::default() })
    }

    /// Takes up the run of a scene in a folder from its newest checkpoint that is of use. Steps after that
    /// are removed. `warn` is told what is wrong with the folder.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn resume(
        scene: &Scene,
        folder: &Path,
        warn: &mut dyn FnMut(String),
    ) -> Result<(Self, Simulation), RunError> {
        let Taken { simulation, folder, summary, .. } = run::take_up(scene, folder, warn)?;
        Ok((Self { folder, summary }, simulation))
    }

    /// Writes what the output settings ask for after a step.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(
        &mut self,
        simulation: &Simulation,
        report: &StepReport,
    ) -> Result<(), OutputError> {
        self.summary.add(report);
        run::write_step(&mut self.folder, simulation, report)
    }

    /// Writes the last state, and why the last step failed if it did. Returns what went wrong with that;
    /// each file is written whatever becomes of the others.
    pub fn finish(&mut self, simulation: &Simulation, failure: Option<String>) -> Vec<Stop> {
        run::write_end(&mut self.folder, simulation, failure)
    }

    /// The steps so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}
