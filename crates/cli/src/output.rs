//! Lines for people. A closed pipe (`standoff schema | head`) is no error.

use std::io::Write;

/// Prints a line on the standard output.
pub fn say(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Prints a line on the standard error.
pub fn complain(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
