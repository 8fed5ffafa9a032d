//! `standoff run`.

use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::{complain, say};
use crate::progress::Progress;
use crate::scene;
use standoff_scene::output::{FrameData, OutputError, RunFolder, Summary};
use standoff_sim::Simulation;

/// Simulates a scene and writes its results.
pub fn run(args: &RunArgs) -> Result<(), Failure> {
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
    if !args.quiet {
        scene.notes.iter().for_each(|note| say(format_args!("note: {note}")));
        let (vertices, tets) = (folder.topology().rest.len(), folder.topology().tets.len());
        let steps = scene.steps();
        say(format_args!("{file}: {vertices} vertices, {tets} tetrahedra, {steps} steps"));
    }
    let (summary, failure) = step_all(&mut simulation, &mut folder, scene.steps(), args.quiet);
    if !args.quiet {
        say(summary.to_string().trim_end());
        say(format_args!("results in {}", args.output.display()));
    }
    match failure {
        Some(message) => Err(Failure::Result(Some(message))),
        None if summary.is_success() => Ok(()),
        None => {
            let (outcome, count) = summary.failures[0];
            let what = outcome.describe();
            Err(Failure::Result(Some(format!("{count} steps did not end well: {what}"))))
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
    steps: u64,
    quiet: bool,
) -> (Summary, Option<String>) {
    let mut summary = Summary::default();
    let mut progress = Progress::start(steps, quiet);
    let mut failure = None;
    for step in 1..=steps {
        let report = match simulation.step() {
            Ok(report) => report,
            Err(error) => {
                failure = Some(error.to_string());
                break;
            }
        };
        summary.add(&report);
        progress.step(&report);
        let written = folder.append_stats(&report).and_then(|()| {
            if folder.wants_frame(step, simulation.time()) {
                return write_frame(folder, simulation);
            }
            Ok(())
        });
        if let Err(error) = written {
            progress.finish();
            return (summary, Some(error.to_string()));
        }
    }
    progress.finish();
    if folder.last_frame() != Some(simulation.step_index() as u64)
        && let Err(error) = write_frame(folder, simulation)
    {
        match &failure {
            None => failure = Some(error.to_string()),
            Some(_) => complain(format_args!("error: {error}")),
        }
    }
    (summary, failure)
}

fn write_frame(folder: &mut RunFolder, simulation: &Simulation) -> Result<(), OutputError> {
    folder.write_frame(&FrameData {
        step: simulation.step_index() as u64,
        time: simulation.time(),
        positions: simulation.positions(),
        velocities: simulation.velocities(),
        contact_forces: simulation.contact_forces(),
        von_mises: &simulation.von_mises(),
    })
}
