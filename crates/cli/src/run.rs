//! `standoff run` and `standoff resume`.

use crate::args::{ResumeArgs, RunArgs};
use crate::expect;
use crate::failure::Failure;
use crate::interrupts::Interrupts;
use crate::output::Console;
use crate::progress::Progress;
use crate::scene;
use crate::view::Watch;
use standoff::errors::RunError;
use standoff::settings::Device;
use standoff::{Error, Event, Options, Scene, Summary};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Simulates a scene and writes its results.
pub fn run(args: &RunArgs, console: &mut Console) -> Result<(), Failure> {
    let folder = args.output.clone().unwrap_or_else(|| free_folder(&args.scene, args.force));
    let file = scene::converted(args, &folder, console)?;
    let scene = scene::load(&file, &args.common, &overrides(args), args.steps)?;
    let mut view =
        View { title: args.scene.as_path(), notes: &scene.notes, ..View::new(args.quiet) };
    let options = Options { force: args.force };
    let watch = Watch::start(&args.watch, &folder, console)?;
    let interrupts = listen()?;
    let result = standoff::run_with(&scene, &folder, options, &mut |event| {
        view.show(event, console);
        interrupts.signal().map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
    });
    let expected = args.expect.then_some(&scene);
    end(view, result, expected, &interrupts, watch, &folder, console)
}

/// `out/NAME` of the scene, or the first of `out/NAME-2`, `out/NAME-3` and so on that is not there, so that no run takes the place
/// of another one unless that is wanted.
fn free_folder(scene: &Path, force: bool) -> PathBuf {
    let name = scene.file_stem().unwrap_or_default().to_string_lossy();
    let folder = Path::new("out").join(&*name);
    if force || folder.symlink_metadata().is_err() {
        return folder;
    }
    let mut numbered = (2_u64..).map(|k| Path::new("out").join(format!("{name}-{k}")));
    numbered.find(|f| f.symlink_metadata().is_err()).unwrap_or(folder)
}

/// Continues a run.
pub fn resume(args: &ResumeArgs, console: &mut Console) -> Result<(), Failure> {
    let mut scene = standoff::load_run(&args.folder)?;
    if let Some(steps) = args.steps {
        scene.set_steps(steps);
    }
    match args.device.as_deref() {
        Some("gpu") => scene.set_device(Device::Gpu),
        Some(_) => scene.set_device(Device::Cpu),
        None => {}
    }
    let mut view = View { title: args.folder.as_path(), ..View::new(args.quiet) };
    let watch = Watch::start(&args.watch, &args.folder, console)?;
    let interrupts = listen()?;
    let result = standoff::resume_with(&scene, &args.folder, &mut |event| {
        view.show(event, console);
        interrupts.signal().map_or(ControlFlow::Continue(()), |_| ControlFlow::Break(()))
    });
    let expected = args.expect.then_some(&scene);
    end(view, result, expected, &interrupts, watch, &args.folder, console)
}

fn listen() -> Result<Interrupts, Failure> {
    let failed = |e| Failure::Input(format!("cannot listen to signals: {e}"));
    Interrupts::listen().map_err(failed)
}

/// Shows how a run went, whether it shows what the scene `expected` says, and the run itself until the user has seen enough,
/// unless a signal ended it.
fn end(
    view: View<'_>,
    result: Result<Summary, Error>,
    expected: Option<&Scene>,
    interrupts: &Interrupts,
    watch: Watch,
    folder: &Path,
    console: &mut Console,
) -> Result<(), Failure> {
    let (done, steps, quiet) = (view.done, view.steps, view.quiet);
    let result = view.finish(result, folder, console);
    let signal = interrupts.signal();
    let result = match (result, expected) {
        (Ok(()), Some(scene)) if signal.is_none() || done == steps => {
            expect::report(scene, folder, quiet, console)
        }
        (result, _) => result,
    };
    match signal {
        Some(signal) if done < steps && result.is_ok() => {
            let folder = folder.display();
            let message = format!(
                "interrupted after step {done} of {steps}; `standoff resume {folder}` continues the run"
            );
            Err(Failure::Interrupted { signal, message })
        }
        Some(_) => result,
        None => {
            interrupts.over();
            watch.stay(result, console)
        }
    }
}

/// The overrides of `--set`, then those of the options of their own.
fn overrides(args: &RunArgs) -> Vec<String> {
    let mut all = args.common.set.clone();
    all.extend(args.solver.as_ref().map(|s| format!("solver.method=\"{s}\"")));
    all.extend(args.audit.as_ref().map(|a| format!("solver.audit=\"{a}\"")));
    all.extend(args.device.as_ref().map(|d| format!("solver.device=\"{d}\"")));
    all
}

/// What is shown of a run.
struct View<'a> {
    /// What the messages are about: the scene, or the folder that is resumed.
    title: &'a Path,
    notes: &'a [String],
    quiet: bool,
    progress: Option<Progress>,
    /// Steps done, and all of them.
    done: u64,
    steps: u64,
}

impl View<'_> {
    fn new(quiet: bool) -> Self {
        Self { title: Path::new(""), notes: &[], quiet, progress: None, done: 0, steps: 0 }
    }

    fn show(&mut self, event: &Event<'_>, console: &mut Console) {
        match event {
            Event::Begin { done, steps, .. } => (self.done, self.steps) = (*done, *steps),
            Event::Step(report) => self.done = report.step,
            Event::Warning(_) => {}
        }
        match event {
            Event::Warning(text) => console.complain(format_args!("warning: {text}")),
            _ if self.quiet => {}
            Event::Begin { vertices, elements, planar, done, steps, begun_by } => {
                let title = self.title.display();
                for note in self.notes {
                    console.say(format_args!("note: {note}"));
                }
                if let Some(program) = begun_by {
                    console.say(format_args!(
                        "note: the run was started with standoff {program}; the last bits may differ"
                    ));
                }
                let kind = if *planar { "triangles" } else { "tetrahedra" };
                match done {
                    0 => console.say(format_args!(
                        "{title}: {vertices} vertices, {elements} {kind}, {steps} steps"
                    )),
                    _ => {
                        console.say(format_args!("{title}: continues after step {done} of {steps}"))
                    }
                }
                self.progress = Some(Progress::start(*done, *steps));
            }
            Event::Step(report) => {
                if let Some(progress) = &mut self.progress {
                    progress.step(report, console);
                }
            }
        }
    }

    /// Shows how the whole run went.
    fn finish(
        self,
        result: Result<Summary, Error>,
        folder: &Path,
        console: &mut Console,
    ) -> Result<(), Failure> {
        if let Some(progress) = self.progress {
            progress.finish();
        }
        let close = |summary: &Summary, console: &mut Console| {
            if !self.quiet {
                console.say(summary.to_string().trim_end());
                console.say(format_args!("results in {}", folder.display()));
            }
        };
        match result {
            Ok(summary) => {
                close(&summary, console);
                summary.failures.first().map_or(Ok(()), |(outcome, count)| {
                    let what = outcome.describe();
                    let first =
                        summary.first_failure.as_ref().filter(|(_, place)| !place.is_empty());
                    let first = first
                        .map(|(step, place)| format!("; in step {step}, the first one, {place}"))
                        .unwrap_or_default();
                    Err(Failure::Result(format!(
                        "{count} steps did not converge: {what}{first}. {}",
                        outcome.advice()
                    )))
                })
            }
            Err(Error::Run(RunError::Stopped(stopped))) => {
                close(&stopped.summary, console);
                for other in &stopped.others {
                    console.complain(format_args!("error: {other}"));
                }
                Err(Failure::Result(stopped.cause.to_string()))
            }
            Err(Error::Run(RunError::Build(error))) => {
                Err(Failure::Input(format!("{}: {error}", self.title.display())))
            }
            Err(error) => Err(Failure::Input(error.to_string())),
        }
    }
}
