//! The `standoff` command: simulates elastic solids in contact from scene files.
//!
//! Exit codes: 0 if everything ended well; 1 if a step failed, a violation was found or results
//! could not be written; 2 if nothing was simulated, because of the command line, the scene or the
//! output folder.

mod args;
mod audit;
mod check;
mod failure;
mod info;
mod output;
mod progress;
mod resume;
mod run;
mod scene;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let result = match args.command {
        Command::Run(args) => run::run(&args),
        Command::Resume(args) => resume::resume(&args),
        Command::Check(args) => check::check(&args),
        Command::Audit(args) => audit::audit(&args),
        Command::Convert(args) => scene::convert(&args),
        Command::Info => info::info(),
        Command::Schema => {
            output::say(standoff_scene::schema::json_schema_text().trim_end());
            Ok(())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(failure.code())
        }
    }
}
