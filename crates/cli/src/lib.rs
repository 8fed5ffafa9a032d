//! The `standoff` command as a function, for the program of that name and for the Python package.
//!
//! Exit codes: 0 if everything ended well; 1 if a step failed, a violation was found or results
//! could not be written or printed; 128 + N if signal N ended a run before its last step; 2 if nothing was simulated, because of the command line, the
//! scene or the output folder.

mod args;
mod audit;
mod check;
mod expect;
mod export;
mod failure;
mod fit;
mod info;
mod interrupts;
mod new;
mod output;
mod progress;
mod run;
mod scene;
mod shell;
mod view;

use args::{Args, Command};
use clap::Parser;
use failure::Failure;
use output::Console;
use std::ffi::OsString;

/// Runs the command with these arguments, the first of which is the program's name; returns its exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let mut console = Console::default();
    let result = match Args::try_parse_from(arguments) {
        Ok(args) => command(args.command, &mut console),
        // help and version are "errors", too
        Err(mut error) => {
            shell::suggest(&mut error);
            console.note(error.print());
            Err(Failure::Reported(error.exit_code() as u8))
        }
    };
    let mut code = 0;
    if let Err(failure) = result {
        failure.print(&mut console);
        code = failure.code();
    }
    if let Err(error) = console.finish() {
        Console::default().complain(format_args!("error: cannot print: {error}"));
        code = code.max(1);
    }
    code
}

fn command(command: Command, console: &mut Console) -> Result<(), Failure> {
    let threads = usize::from(command.threads().unwrap_or(0));
    standoff_sim::threads::start(threads).map_err(|e| Failure::Input(e.to_string()))?;
    match command {
        Command::New(args) => new::new(&args, console),
        Command::Run(args) => run::run(&args, console),
        Command::Resume(args) => run::resume(&args, console),
        Command::View(args) => view::view(&args, console),
        Command::Check(args) => check::check(&args, console),
        Command::Audit(args) => audit::audit(&args, console),
        Command::Export(args) => export::export(&args, console),
        Command::Render(args) => export::render(&args, console),
        Command::Plot(args) => export::plot(&args, console),
        Command::Fit(args) => fit::fit(&args, console),
        Command::Convert(args) => scene::convert(&args, console),
        Command::Completions(args) => shell::completions(&args, console),
        Command::Man(args) => shell::man(&args, console),
        Command::Info => info::info(console),
        Command::Schema => {
            console.say(standoff_scene::schema::json_schema_text().trim_end());
            Ok(())
        }
    }
}
