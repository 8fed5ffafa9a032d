//! Lines for people, on the standard output and the standard error.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};

/// Prints lines and remembers what the system refused to print.
#[derive(Debug, Default)]
pub struct Console {
    refused: Option<io::Error>,
}

impl Console {
    /// Prints a line on the standard output.
    pub fn say(&mut self, line: impl Display) {
        let result = writeln!(io::stdout(), "{line}");
        self.note(result);
    }

    /// Prints a line on the standard error.
    pub fn complain(&mut self, line: impl Display) {
        // there is nowhere to report it to
        let _ = writeln!(io::stderr(), "{line}");
    }

    /// Remembers the first refusal. A closed pipe (`standoff schema | head`) is none.
    pub fn note(&mut self, result: io::Result<()>) {
        if let Err(error) = result
            && error.kind() != ErrorKind::BrokenPipe
        {
            self.refused.get_or_insert(error);
        }
    }

    /// Writes out what is buffered; says why, if something could not be printed.
    pub fn finish(mut self) -> io::Result<()> {
        let result = io::stdout().flush();
        self.note(result);
        self.refused.map_or(Ok(()), Err)
    }
}
