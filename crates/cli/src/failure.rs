//! How a command fails: what is printed, and the exit code.

use crate::output::Console;
use miette::{Diagnostic, GraphicalReportHandler, LabeledSpan, NamedSource, SourceCode};
use standoff_scene::SceneError;
use standoff_scene::error::Origin;
use std::fmt;
use std::io::IsTerminal;

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The scene is wrong; nothing was simulated.
    Scene(Box<SceneError>),
    /// Nothing was simulated for another reason.
    Input(String),
    /// A step, a check or the writing of results failed.
    Result(String),
    /// A signal ended a run before its last step.
    Interrupted {
        /// The signal.
        signal: i32,
        /// What was done until then.
        message: String,
    },
    /// It was reported already; with this exit code.
    Reported(u8),
}

impl From<SceneError> for Failure {
    fn from(error: SceneError) -> Self {
        Self::Scene(Box::new(error))
    }
}

impl From<standoff::Error> for Failure {
    fn from(error: standoff::Error) -> Self {
        match error {
            standoff::Error::Scene(error) => error.into(),
            other => Self::Input(other.to_string()),
        }
    }
}

impl Failure {
    /// The process's exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Scene(_) | Self::Input(_) => 2,
            Self::Result(_) => 1,
            // as a shell reports a process that died of it
            Self::Interrupted { signal, .. } => u8::try_from(128 + signal).unwrap_or(1),
            Self::Reported(code) => *code,
        }
    }

    /// Reports the failure: with an excerpt of the scene on a terminal, as one line otherwise.
    pub fn print(&self, console: &mut Console) {
        match self {
            Self::Scene(error) => match excerpt(error) {
                Some(text) if std::io::stderr().is_terminal() => console.complain(text.trim_end()),
                _ => console.complain(format_args!("error: {error}")),
            },
            Self::Input(message) | Self::Result(message) => {
                console.complain(format_args!("error: {message}"));
            }
            Self::Interrupted { message, .. } => console.complain(message),
            Self::Reported(_) => {}
        }
    }
}

fn excerpt(error: &SceneError) -> Option<String> {
    let location = error.location.as_ref()?;
    let name = match &location.origin {
        Origin::File(path) => path.display().to_string(),
        Origin::Option(_) => "--set".to_owned(),
    };
    let report = Excerpt {
        message: error.message(),
        source: NamedSource::new(name, location.text.to_string()),
        span: location.span.clone(),
    };
    let mut text = String::new();
    GraphicalReportHandler::new().render_report(&mut text, &report).ok()?;
    Some(text)
}

#[derive(Debug)]
struct Excerpt {
    message: String,
    source: NamedSource<String>,
    span: std::ops::Range<usize>,
}

impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Excerpt {}

impl Diagnostic for Excerpt {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(std::iter::once(LabeledSpan::underline(self.span.clone()))))
    }
}
