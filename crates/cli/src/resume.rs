//! `standoff resume`.

use crate::args::{ResumeArgs, start_threads};
use crate::failure::Failure;
use crate::output::Console;
use crate::run::{finish, write_frame};
use crate::scene;
use standoff_scene::output::{OutputError, ResumePoint, RunFolder, Summary, fingerprint};
use standoff_sim::Simulation;

/// Goes on with a run.
pub fn resume(args: &ResumeArgs, console: &mut Console) -> Result<(), Failure> {
    start_threads(args.threads);
    let input = |e: OutputError| Failure::Input(e.to_string());
    let mut scene = scene::reload(&args.folder)?;
    if let Some(steps) = args.steps {
        scene.set_steps(steps);
    }
    let from = ResumePoint::find(&args.folder, fingerprint(&scene.definition)).map_err(input)?;
    from.notes.iter().for_each(|note| {
        console.complain(format_args!("warning: {note}; the checkpoint before it is used"));
    });
    let (done, steps) = (from.checkpoint.state.step as u64, scene.steps());
    if done > steps {
        let message = format!("the run is at step {done} already; give --steps {done} or more");
        return Err(Failure::Input(message));
    }
    let state = from.checkpoint.state.clone();
    let mut simulation = Simulation::restore(&scene.definition, state)
        .map_err(|e| Failure::Input(format!("{}: {e}", args.folder.display())))?;
    let (mut folder, missing) = RunFolder::reopen(&args.folder, &scene, &from).map_err(input)?;
    for step in missing {
        if step == done {
            // the checkpoint was written in its stead when it could not be
            write_frame(&mut folder, &simulation).map_err(input)?;
        } else {
            console.complain(format_args!("warning: frame {step} is missing or cut off"));
        }
    }
    if !args.quiet {
        let program = &from.checkpoint.program;
        if program != env!("CARGO_PKG_VERSION") {
            console.say(format_args!(
                "note: the run was begun by standoff {program}; bits may differ"
            ));
        }
        let file = args.folder.display();
        console.say(format_args!("{file}: goes on after step {done} of {steps}"));
    }
    let mut summary = Summary::default();
    from.reports.iter().for_each(|report| summary.add(report));
    finish(&mut simulation, &mut folder, summary, steps, args.quiet, console)
}
