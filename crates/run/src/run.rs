//! The loop over the steps of a run.

// long: a third of it are tests that need a step or a file to fail at a given place

use crate::checksum::Integrity;
use crate::energy::EnergyWatch;
use crate::{
    FailureData, FrameData, OutputError, ResumePoint, RunFolder, RunInfo, Summary, fingerprint,
};
use standoff_scene::Scene;
use standoff_scene::file::Field;
use standoff_sim::recovery::Recovered;
use standoff_sim::{BuildError, Simulation, StepError, StepReport};
use standoff_sparse::LinearSolver;
use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// What a run tells while it goes on.
#[derive(Debug)]
pub enum Event<'a> {
    /// All is ready for the first of the steps that are left.
    Begin {
        /// Vertices of all bodies.
        vertices: usize,
        /// Elements of all solids: tetrahedra, in two dimensions triangles.
        elements: usize,
        /// Whether it is in two dimensions.
        planar: bool,
        /// Steps done before, by the run that is resumed.
        done: u64,
        /// Steps in all.
        steps: u64,
        /// Version of the program that wrote the checkpoint, if it is another one.
        begun_by: Option<&'a str>,
    },
    /// A step has been done.
    Step(&'a StepReport),
    /// Something that the user should know; the run goes on.
    Warning(String),
}

/// Takes the events of a run. [`ControlFlow::Break`] ends the run after the step that is under way,
/// as if it had been the last one.
pub type Observer<'a> = &'a mut dyn FnMut(&Event<'_>) -> ControlFlow<()>;

/// How a run is begun.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether a run that the folder holds is replaced.
    pub force: bool,
}

/// Why there is no run, or not all of it.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scene cannot be simulated. Nothing was written.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The folder cannot be used. No step was done.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The requested end of a resumed run lies before its last step.
    #[error("the run is at step {done} already; give --steps {done} or more")]
    PastEnd {
        /// Steps done.
        done: u64,
    },
    /// The run ended before its last step.
    #[error("{}", .0.cause)]
    Stopped(Box<Stopped>),
}

/// A run that ended before its last step.
#[derive(Debug)]
pub struct Stopped {
    /// Why.
    pub cause: Stop,
    /// What else went wrong while the last state was written.
    pub others: Vec<Stop>,
    /// The steps that were done.
    pub summary: Summary,
}

/// Why a run ended before its last step.
#[derive(Debug, thiserror::Error)]
pub enum Stop {
    /// A step could not be done.
    #[error(transparent)]
    Step(#[from] StepError),
    /// Results could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// Standoff itself is at fault.
    #[error(
        "internal error while {doing} after step {step}: {message}. This is a fault of Standoff, \
         not of the scene: please report it with the scene file"
    )]
    Internal {
        /// What was being done.
        doing: &'static str,
        /// Steps done before.
        step: u64,
        /// What the program said.
        message: String,
    },
}

/// Simulates a scene and writes its results to a folder, which is made if it does not exist.
///
/// # Errors
/// See [`RunError`]. Steps that were done but did not end well are no error:
/// [`Summary::is_success`] tells.
pub fn run(
    scene: &Scene,
    folder: &Path,
    options: Options,
    observe: Observer<'_>,
) -> Result<Summary, RunError> {
    run_by(scene, folder, options, None, observe)
}

/// As [`run`], with a linear solver in place of the one that the settings choose.
///
/// # Errors
/// As [`run`].
pub fn run_by(
    scene: &Scene,
    folder: &Path,
    options: Options,
    linear: Option<Box<dyn LinearSolver>>,
    observe: Observer<'_>,
) -> Result<Summary, RunError> {
    let mut simulation = Simulation::new(&scene.definition)?;
    linear.into_iter().for_each(|l| simulation.set_linear_solver(l));
    let mut folder = begin(scene, folder, options, &simulation)?;
    let (summary, energy) = (Summary::default(), EnergyWatch::new(&scene.definition));
    let run = Run { summary, energy, steps: scene.steps(), begun_by: None };
    run.finish(&mut simulation, &mut folder, observe)
}

/// Continues the run of a scene in a folder, from its newest usable checkpoint, to the
/// scene's end. What follows has the bits of a run that was never stopped.
///
/// # Errors
/// See [`RunError`]. Nothing is changed unless steps were done.
pub fn resume(scene: &Scene, folder: &Path, observe: Observer<'_>) -> Result<Summary, RunError> {
    resume_by(scene, folder, None, observe)
}

/// As [`resume`], with a linear solver in place of the one that the settings choose.
///
/// # Errors
/// As [`resume`].
pub fn resume_by(
    scene: &Scene,
    folder: &Path,
    linear: Option<Box<dyn LinearSolver>>,
    observe: Observer<'_>,
) -> Result<Summary, RunError> {
    let mut warn = |text: String| {
        // there is nothing yet that could be ended
        let _ = observe(&Event::Warning(text));
    };
    let Taken { mut simulation, mut folder, summary, energy, program } =
        take_up(scene, folder, &mut warn)?;
    linear.into_iter().for_each(|l| simulation.set_linear_solver(l));
    let begun_by = (program != env!("CARGO_PKG_VERSION")).then_some(program.as_str());
    Run { summary, energy, steps: scene.steps(), begun_by }.finish(
        &mut simulation,
        &mut folder,
        observe,
    )
}

/// A folder with the first state of a new run.
pub(crate) fn begin(
    scene: &Scene,
    folder: &Path,
    options: Options,
    simulation: &Simulation,
) -> Result<RunFolder, OutputError> {
    let d_hat = Some(simulation.model().resolved.d_hat);
    let mut folder = RunFolder::create_for(folder, scene, d_hat, options.force)?;
    write_frame(&mut folder, simulation)?;
    if folder.needs_checkpoint(0) {
        folder.write_checkpoint(simulation.state())?;
    }
    Ok(folder)
}

/// A run that is taken up where its newest checkpoint left it.
pub(crate) struct Taken {
    pub simulation: Simulation,
    pub folder: RunFolder,
    pub summary: Summary,
    /// The energies of the steps so far.
    pub energy: EnergyWatch,
    /// Version of the program that wrote the checkpoint.
    pub program: String,
}

/// Takes up the run in a folder; `warn` is told what was wrong with it.
pub(crate) fn take_up(
    scene: &Scene,
    folder: &Path,
    warn: &mut dyn FnMut(String),
) -> Result<Taken, RunError> {
    check_energies(scene, folder)?;
    RunInfo::read(folder)?.check(folder, scene)?;
    let from = ResumePoint::find(folder, fingerprint(&scene.definition))?;
    from.notes.iter().for_each(|note| warn(format!("{note}; the checkpoint before it is used")));
    let (done, steps) = (from.checkpoint.state.step as u64, scene.steps());
    if done > steps {
        return Err(RunError::PastEnd { done });
    }
    let state = from.checkpoint.state.clone();
    let simulation = Simulation::restore(&scene.definition, state)?;
    let (mut folder, suspect) = RunFolder::reopen(folder, scene, &from)?;
    for (step, integrity) in suspect {
        match integrity {
            // the checkpoint was written in its stead when it could not be
            Integrity::Truncated if step == done => write_frame(&mut folder, &simulation)?,
            Integrity::Altered => warn(format!(
                "frame {step} was altered after it had been written (its checksum is wrong); it is kept"
            )),
            _ => warn(format!("frame {step} is missing or truncated")),
        }
    }
    let (mut summary, mut energy) = (Summary::default(), EnergyWatch::new(&scene.definition));
    for report in &from.reports {
        summary.add(report);
        // what was to be told of these steps was told when they were done
        let _ = energy.add(report);
    }
    Ok(Taken { simulation, folder, summary, energy, program: from.checkpoint.program })
}

/// Energies of a program are in no file: the scene must bring those that the run began with.
fn check_energies(scene: &Scene, folder: &Path) -> Result<(), OutputError> {
    // a folder without this file is reported by the search for checkpoints
    let Ok(info) = RunInfo::read(folder) else { return Ok(()) };
    let given = |name: &String| scene.definition.energies.iter().any(|e| e.name() == name);
    match info.energies.into_iter().find(|name| !given(name)) {
        None => Ok(()),
        Some(energy) => Err(OutputError::Energy { path: folder.to_owned(), energy }),
    }
}

/// What is left to do of a run.
struct Run<'a> {
    summary: Summary,
    energy: EnergyWatch,
    steps: u64,
    begun_by: Option<&'a str>,
}

/// How a step is done: [`Simulation::step`].
type Step<'a> = &'a mut dyn FnMut(&mut Simulation) -> Result<StepReport, StepError>;

impl Run<'_> {
    fn finish(
        mut self,
        simulation: &mut Simulation,
        folder: &mut RunFolder,
        observe: Observer<'_>,
    ) -> Result<Summary, RunError> {
        let begin = Event::Begin {
            vertices: folder.topology().rest.len(),
            elements: folder.topology().solids(),
            planar: folder.topology().planar,
            done: simulation.step_index() as u64,
            steps: self.steps,
            begun_by: self.begun_by,
        };
        let steps = match observe(&begin) {
            ControlFlow::Continue(()) => self.steps,
            ControlFlow::Break(()) => 0,
        };
        let (summary, energy) = (&mut self.summary, &mut self.energy);
        let mut count = |event: &Event<'_>| {
            let Event::Step(report) = event else { return observe(event) };
            summary.add(report);
            let flow = observe(event);
            match energy.add(report) {
                Some(text) if flow.is_continue() => observe(&Event::Warning(text)),
                _ => flow,
            }
        };
        let mut stops =
            all_steps(simulation, folder, steps, &mut Simulation::step, &mut count).into_iter();
        let wanted = folder.fields().contains(&Field::RecoveredStress);
        if wanted || !simulation.model().resolved.settings.time.scheme().inertial() {
            self.summary.stress_error = simulation.worst_stress_error();
        }
        match stops.next() {
            None => Ok(self.summary),
            Some(cause) => {
                self.summary.stopped = true;
                let (others, summary) = (stops.collect(), self.summary);
                Err(RunError::Stopped(Box::new(Stopped { cause, others, summary })))
            }
        }
    }
}

/// Does the steps up to `steps`, as far as possible. Returns why it stopped before that, then what
/// else went wrong; nothing if all went well. The last good state is on disk as far as the disk allows
/// it.
fn all_steps(
    simulation: &mut Simulation,
    folder: &mut RunFolder,
    steps: u64,
    step: Step<'_>,
    observe: Observer<'_>,
) -> Vec<Stop> {
    let mut stops = Vec::new();
    for done in simulation.step_index() as u64..steps {
        let result = guarded("computing the next step", done, || step(simulation));
        let written = result.and_then(|report| {
            let flow = observe(&Event::Step(&report));
            guarded("writing results", done + 1, || write_step(folder, simulation, &report))?;
            Ok(pass_on(folder, flow, observe))
        });
        match written {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(())) => break,
            Err(stop) => {
                stops.push(stop);
                break;
            }
        }
    }
    stops.extend(write_end(folder, simulation, stops.first().map(ToString::to_string)));
    let _ = pass_on(folder, ControlFlow::Continue(()), observe);
    stops
}

/// Tells the observer what the user should know of the folder. Whether the run goes on.
fn pass_on(
    folder: &mut RunFolder,
    flow: ControlFlow<()>,
    observe: Observer<'_>,
) -> ControlFlow<()> {
    let notes = folder.take_notes().into_iter();
    notes.fold(flow, |flow, note| match observe(&Event::Warning(note)) {
        ControlFlow::Continue(()) => flow,
        end => end,
    })
}

/// Does something of which not even a panic may cost the last state.
fn guarded<T, E: Into<Stop>>(
    doing: &'static str,
    step: u64,
    action: impl FnOnce() -> Result<T, E>,
) -> Result<T, Stop> {
    // a simulation replaces its state, and a folder its lists, by one assignment at the end
    match catch_unwind(AssertUnwindSafe(action)) {
        Ok(result) => result.map_err(Into::into),
        Err(panic) => Err(Stop::Internal { doing, step, message: message(&*panic) }),
    }
}

/// What a panic says.
fn message(panic: &(dyn Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    literal.or_else(|| panic.downcast_ref().cloned()).unwrap_or_else(|| "unknown".into())
}

/// Writes what the settings ask for after a step. The checkpoint comes last, so that all before it
/// is complete.
pub(crate) fn write_step(
    folder: &mut RunFolder,
    simulation: &Simulation,
    report: &StepReport,
) -> Result<(), OutputError> {
    folder.append_stats(report)?;
    if folder.wants_frame(report.step, simulation.time()) {
        write_frame(folder, simulation)?;
    }
    if folder.wants_checkpoint(report.step) {
        folder.write_checkpoint(simulation.state())?;
    }
    Ok(())
}

/// Writes the last state, then what made a step fail; each whatever becomes of the others.
pub(crate) fn write_end(
    folder: &mut RunFolder,
    simulation: &Simulation,
    failure: Option<String>,
) -> Vec<Stop> {
    let step = simulation.step_index() as u64;
    let mut stops = Vec::new();
    stops.extend(guarded("writing statistics", step, || folder.check_stats()).err());
    if folder.needs_checkpoint(step) {
        let write = || folder.write_checkpoint(simulation.state());
        stops.extend(guarded("writing the last checkpoint", step, write).err());
    }
    if folder.last_frame() != Some(step) {
        let write = || write_frame(folder, simulation);
        stops.extend(guarded("writing the last frame", step, write).err());
    }
    if let (Some(message), Some(diagnosis)) = (&failure, simulation.diagnosis()) {
        let (time, model) = (simulation.time(), simulation.model());
        let failure = FailureData { step, time, message, diagnosis, model };
        let write = || folder.write_failure(&failure);
        stops.extend(guarded("writing why the step failed", step, write).err());
    }
    stops
}

fn write_frame(folder: &mut RunFolder, simulation: &Simulation) -> Result<(), OutputError> {
    let decomposition = simulation.model().decomposition.as_deref();
    let subdomain = decomposition.map_or_else(Vec::new, |d| folder.topology().subdomains(d));
    // tensors only where they are written
    let wants = |fields: &[Field]| folder.fields().iter().any(|f| fields.contains(f));
    let stress = match wants(&[Field::Stress, Field::PrincipalStress]) {
        true => simulation.stresses(),
        false => Vec::new(),
    };
    let recovered = match wants(&[Field::RecoveredStress]) {
        true => simulation.recovered_stresses(),
        false => Recovered::default(),
    };
    let strain = if wants(&[Field::Strain]) { simulation.strains() } else { Vec::new() };
    let plastic_strain = match simulation.model().inelastic.yields() {
        true => simulation.plastic_strains(),
        false => Vec::new(),
    };
    folder.write_frame(&FrameData {
        step: simulation.step_index() as u64,
        time: simulation.time(),
        positions: simulation.positions(),
        velocities: simulation.velocities(),
        contact_forces: simulation.contact_forces(),
        von_mises: &simulation.von_mises(),
        stress: &stress,
        recovered_stress: &recovered.stress,
        stress_error: &recovered.error,
        strain: &strain,
        plastic_strain: &plastic_strain,
        stretch: &simulation.stretches(),
        bending_energy: &simulation.bending_energies(),
        contact_reach: &simulation.contact_reach(),
        subdomain: &subdomain,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENE: &str = r#"
ground = 0.0
time = { step = 0.01, end = 0.07 }
output = { every = 2, checkpoint_every = 5 }
[[objects]]
name = "block"
shape = { kind = "box" }
translate = [0, 0.52, 0]
"#;

    fn scene() -> Scene {
        Scene::parse(SCENE, Path::new("scene.toml"), Path::new(""), &[]).unwrap()
    }

    /// Runs the scene in a folder with steps of which `fault` may take the place.
    fn run_with(folder: &Path, fault: &mut dyn FnMut(u64)) -> (RunFolder, Vec<Stop>) {
        let scene = scene();
        let mut simulation = Simulation::new(&scene.definition).unwrap();
        let mut run = RunFolder::create(folder, &scene, true).unwrap();
        write_frame(&mut run, &simulation).unwrap();
        let mut step = |s: &mut Simulation| {
            fault(s.step_index() as u64);
            s.step()
        };
        let mut observe = |_: &Event<'_>| ControlFlow::Continue(());
        let stops = all_steps(&mut simulation, &mut run, scene.steps(), &mut step, &mut observe);
        (run, stops)
    }

    fn frames(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let files = std::fs::read_dir(folder.join("frames")).unwrap();
        let mut all: Vec<_> = files
            .map(|f| f.unwrap())
            .map(|f| (f.file_name().into_string().unwrap(), std::fs::read(f.path()).unwrap()))
            .collect();
        all.sort();
        all
    }

    fn resumed(folder: &Path) -> Vec<(String, Vec<u8>)> {
        resume(&scene(), folder, &mut |_| ControlFlow::Continue(())).unwrap();
        frames(folder)
    }

    #[test]
    fn a_panic_in_a_step_keeps_the_last_state() {
        let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (_, stops) = run_with(whole.path(), &mut |_| {});
        assert!(stops.is_empty(), "{stops:?}");
        let (run, stops) = run_with(cut.path(), &mut |done| assert!(done != 3, "on purpose"));
        assert_eq!(stops.len(), 1, "{stops:?}");
        let said = stops[0].to_string();
        assert!(said.contains("after step 3: on purpose") && said.contains("report"), "{said}");
        assert_eq!(run.last_frame(), Some(3));
        assert!(cut.path().join("checkpoints/000003.ckpt").exists());
        drop(run);
        assert_eq!(resumed(cut.path()), frames(whole.path()));
    }

    #[test]
    fn a_frame_that_cannot_be_written_is_written_by_resume() {
        let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        run_with(whole.path(), &mut |_| {});
        // a folder in its place stops frame 4
        let block = cut.path().join("frames/000004.vtu");
        let (run, stops) = run_with(cut.path(), &mut |done| {
            if done == 3 {
                std::fs::create_dir(&block).unwrap();
            }
        });
        assert!(matches!(stops[..], [Stop::Output(_), Stop::Output(_)]), "{stops:?}");
        assert!(cut.path().join("checkpoints/000004.ckpt").exists());
        drop(run);
        std::fs::remove_dir(&block).unwrap();
        assert_eq!(resumed(cut.path()), frames(whole.path()));
    }

    #[test]
    fn a_line_that_cannot_be_written_leaves_the_checkpoint_before() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path(), &scene(), true).unwrap();
        assert!(run.needs_checkpoint(0) && !run.needs_checkpoint(1));
    }

    #[test]
    fn an_observer_ends_a_run_and_resume_goes_on() {
        let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        run_with(whole.path(), &mut |_| {});
        let mut seen = Vec::new();
        let summary =
            run(&scene(), cut.path(), Options { force: true }, &mut |event| match event {
                Event::Begin { vertices: 8, done: 0, steps: 7, begun_by: None, .. } => {
                    ControlFlow::Continue(())
                }
                Event::Step(report) => {
                    seen.push(report.step);
                    if report.step == 3 {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                }
                other => panic!("{other:?}"),
            });
        let summary = summary.unwrap();
        assert_eq!((summary.steps, summary.is_success(), seen), (3, true, vec![1, 2, 3]));
        assert_eq!(resumed(cut.path()), frames(whole.path()));
        let past = resume(&short(), cut.path(), &mut |_| ControlFlow::Continue(()));
        assert!(matches!(past, Err(RunError::PastEnd { done: 7 })), "{past:?}");
    }

    fn short() -> Scene {
        let mut scene = scene();
        scene.set_steps(2);
        scene
    }
}
