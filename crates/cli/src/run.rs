//! `standoff run`.

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::Console;
use crate::progress::Progress;
use crate::scene;
use standoff_scene::output::{FailureData, FrameData, OutputError, RunFolder, Summary};
use standoff_sim::{Simulation, StepReport};

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
    finish(&mut simulation, &mut folder, Summary::default(), scene.steps(), args.quiet, console)
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
    let failure = step_all(simulation, folder, &mut summary, steps, quiet, console);
    summary.stopped = failure.is_some();
    if !quiet {
        console.say(summary.to_string().trim_end());
        console.say(format_args!("results in {}", folder.path().display()));
    }
    match failure {
        Some(message) => Err(Failure::Result(message)),
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

/// Does all steps, as far as possible, and says why it stopped before the last one. The last good
/// state is always on disk.
fn step_all(
    simulation: &mut Simulation,
    folder: &mut RunFolder,
    summary: &mut Summary,
    steps: u64,
    quiet: bool,
    console: &mut Console,
) -> Option<String> {
    let done = simulation.step_index() as u64;
    let mut progress = Progress::start(done, steps, quiet);
    let mut failure = None;
    for _ in done..steps {
        let report = match simulation.step() {
            Ok(report) => report,
            Err(error) => {
                failure = Some(error.to_string());
                break;
            }
        };
        summary.add(&report);
        progress.step(&report, console);
        if let Err(error) = write_step(folder, simulation, &report) {
            progress.finish();
            return Some(error.to_string());
        }
    }
    progress.finish();
    match (write_end(folder, simulation, failure.as_deref()), &failure) {
        (Ok(()), _) => {}
        (Err(error), None) => failure = Some(error.to_string()),
        (Err(error), Some(_)) => console.complain(format_args!("error: {error}")),
    }
    failure
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

/// Writes the last state, and what made a step fail.
fn write_end(
    folder: &mut RunFolder,
    simulation: &Simulation,
    failure: Option<&str>,
) -> Result<(), OutputError> {
    let step = simulation.step_index() as u64;
    if let (Some(message), Some(diagnosis)) = (failure, simulation.diagnosis()) {
        let (time, model) = (simulation.time(), simulation.model());
        folder.write_failure(&FailureData { step, time, message, diagnosis, model })?;
    }
    if folder.needs_checkpoint(step) {
        folder.write_checkpoint(simulation.state())?;
    }
    if folder.last_frame() != Some(step) {
        write_frame(folder, simulation)?;
    }
    Ok(())
}

fn write_frame(folder: &mut RunFolder, simulation: &Simulation) -> Result<(), OutputError> {
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
