//! The `standoff` command: simulates elastic solids in contact from scene files.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(standoff_cli::main(std::env::args_os()))
}
