//! `standoff run`.

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::Console;
use crate::progress::Progress;
use crate::scene;
use standoff_scene::output::{FailureData, FrameData, OutputError, RunFolder, Summary};
use standoff_sim::{Simulation, StepError, StepReport};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

/// How a step is done: [`Simulation::step`].
type Step<'a> = &'a mut dyn FnMut(&mut Simulation) -> Result<StepReport, StepError>;

/// Simulates a scene and writes its results.
pub fn run(args: &RunArgs, console: &mut Console) -> Result<(), Failure> {
    args.common.start_threads();
    let mut scene = scene::load(&args.scene, &args.common, &overrides(args))?;
    if let Some(steps) = args.steps {
        scene.set_steps(steps);
    }
    let file = args.scene.display();
    let mut simulation =
        Simulation::new(&scene.definition).map_err(|e| Failure::Input(format!("{file}: {e}")))?;
    let input = |e: OutputError| Failure::Input(e.to_string());
    let mut folder = RunFolder::create(&args.output, &scene, args.force).map_err(input)?;
    write_frame(&mut folder, &simulation).map_err(input)?;
    if folder.needs_checkpoint(0) {
        folder.write_checkpoint(simulation.state()).map_err(input)?;
    }
    if !args.quiet {
        scene.notes.iter().for_each(|note| console.say(format_args!("note: {note}")));
        let (vertices, tets) = (folder.topology().rest.len(), folder.topology().tets.len());
        let steps = scene.steps();
        console.say(format_args!("{file}: {vertices} vertices, {tets} tetrahedra, {steps} steps"));
    }
    let (summary, steps) = (Summary::default(), scene.steps());
    finish(&mut simulation, &mut folder, summary, steps, args.quiet, console)
}

/// Does the steps that are left and reports how the whole run went.
pub fn finish(
    simulation: &mut Simulation,
    folder: &mut RunFolder,
    mut summary: Summary,
    steps: u64,
    quiet: bool,
    console: &mut Console,
) -> Result<(), Failure> {
    let mut progress = Progress::start(simulation.step_index() as u64, steps, quiet);
    let mut observe = |report: &StepReport| {
        summary.add(report);
        progress.step(report, console);
    };
    let stops = step_all(simulation, folder, steps, &mut Simulation::step, &mut observe);
    progress.finish();
    summary.stopped = !stops.is_empty();
    if !quiet {
        console.say(summary.to_string().trim_end());
        console.say(format_args!("results in {}", folder.path().display()));
    }
    stops.iter().skip(1).for_each(|stop| console.complain(format_args!("error: {stop}")));
    match stops.first() {
        Some(first) => Err(Failure::Result(first.to_string())),
        None if summary.is_success() => Ok(()),
        None => {
            let (outcome, count) = summary.failures[0];
            let what = outcome.describe();
            Err(Failure::Result(format!("{count} steps did not end well: {what}")))
        }
    }
}

/// The overrides of `--set`, then those of the options of their own.
fn overrides(args: &RunArgs) -> Vec<String> {
    let mut all = args.common.set.clone();
    all.extend(args.solver.as_ref().map(|s| format!("solver.method=\"{s}\"")));
    all.extend(args.audit.as_ref().map(|a| format!("solver.audit=\"{a}\"")));
    all
}

/// Does all steps, as far as possible. Returns why it stopped before the last one, then what else
/// went wrong; nothing if all went well. The last good state is on disk as far as the disk allows it.
fn step_all(
    simulation: &mut Simulation,
    folder: &mut RunFolder,
    steps: u64,
    step: Step<'_>,
    observe: &mut dyn FnMut(&StepReport),
) -> Vec<Stop> {
    let mut stops = Vec::new();
    for done in simulation.step_index() as u64..steps {
        let result = guarded("computing the next step", done, || step(simulation));
        let written = result.and_then(|report| {
            observe(&report);
            guarded("writing results", done + 1, || write_step(folder, simulation, &report))
        });
        if let Err(stop) = written {
            stops.push(stop);
            break;
        }
    }
    stops.extend(write_end(folder, simulation, stops.first().map(ToString::to_string)));
    stops
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
fn write_step(
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
fn write_end(
    folder: &mut RunFolder,
    simulation: &Simulation,
    failure: Option<String>,
) -> Vec<Stop> {
    let step = simulation.step_index() as u64;
    let mut stops = Vec::new();
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

/// Writes the state as a frame.
pub fn write_frame(folder: &mut RunFolder, simulation: &Simulation) -> Result<(), OutputError> {
    folder.write_frame(&FrameData {
        step: simulation.step_index() as u64,
        time: simulation.time(),
        positions: simulation.positions(),
        velocities: simulation.velocities(),
        contact_forces: simulation.contact_forces(),
        von_mises: &simulation.von_mises(),
        stretch: &simulation.stretches(),
        bending_energy: &simulation.bending_energies(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::ResumeArgs;
    use crate::resume::resume;
    use standoff_scene::Scene;
    use std::path::Path;

    const SCENE: &str = r#"
ground = 0.0
time = { step = 0.01, end = 0.07 }
output = { every = 2, checkpoint_every = 5 }
[[objects]]
name = "block"
shape = { kind = "box" }
translate = [0, 0.52, 0]
"#;

    /// Runs the scene in a folder with steps of which `fault` may take the place.
    fn run_with(
        folder: &Path,
        fault: &mut dyn FnMut(u64) -> Option<StepError>,
    ) -> (RunFolder, Vec<Stop>) {
        let scene = Scene::parse(SCENE, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
        let mut simulation = Simulation::new(&scene.definition).unwrap();
        let mut run = RunFolder::create(folder, &scene, true).unwrap();
        write_frame(&mut run, &simulation).unwrap();
        let mut step = |s: &mut Simulation| match fault(s.step_index() as u64) {
            None => s.step(),
            Some(error) => Err(error),
        };
        let stops = step_all(&mut simulation, &mut run, scene.steps(), &mut step, &mut |_| {});
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
        let args =
            ResumeArgs { folder: folder.to_owned(), steps: None, threads: None, quiet: true };
        resume(&args, &mut Console::default()).unwrap_or_else(|e| panic!("{e:?}"));
        frames(folder)
    }

    #[test]
    fn a_panic_in_a_step_keeps_the_last_state() {
        let (whole, cut) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (_, stops) = run_with(whole.path(), &mut |_| None);
        assert!(stops.is_empty(), "{stops:?}");
        let (run, stops) =
            run_with(cut.path(), &mut |done| if done == 3 { panic!("on purpose") } else { None });
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
        run_with(whole.path(), &mut |_| None);
        // a folder in its place stops frame 4
        let block = cut.path().join("frames/000004.vtu");
        let (run, stops) = run_with(cut.path(), &mut |done| {
            if done == 3 {
                std::fs::create_dir(&block).unwrap();
            }
            None
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
        let scene = Scene::parse(SCENE, Path::new("scene.toml"), Path::new(""), &[]).unwrap();
        let run = RunFolder::create(folder.path(), &scene, true).unwrap();
        assert!(run.needs_checkpoint(0) && !run.needs_checkpoint(1));
    }
}
