//! What can be wrong with a scene of the reference, and what the importer has to say about it.

use std::fmt;
use std::path::PathBuf;

/// Why a reference scene cannot be imported: where, what, and what to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{}: {problem}", .file.display(), At(*.line))]
pub struct ImportError {
    /// The scene file.
    pub file: PathBuf,
    /// Line, from 1; 0 where no single line is to blame.
    pub line: usize,
    /// What is wrong.
    pub problem: Problem,
}

/// What is wrong with a reference scene.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot read the scene: {0}")]
    Unreadable(String),
    /// A line does not follow the language.
    #[error("{0}")]
    Malformed(String),
    /// Something of the reference that Standoff does not do.
    #[error("{what} is not supported; {instead}")]
    Unsupported {
        /// The key, option or combination.
        what: String,
        /// What to do about it.
        instead: String,
    },
    /// A mesh file that is nowhere.
    #[error(
        "mesh '{written}' not found; looked in {}. Give the folder that holds it with --mesh-root",
        list(.folders)
    )]
    MissingMesh {
        /// As the scene says.
        written: String,
        /// Folders in which it was looked for, with and without a leading `input/`.
        folders: Vec<PathBuf>,
    },
    /// A mesh that cannot be read or used.
    #[error("{0}")]
    Mesh(String),
}

impl Problem {
    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Problem::Malformed(what.into())
    }

    pub(crate) fn unsupported(what: impl Into<String>, instead: impl Into<String>) -> Self {
        Problem::Unsupported { what: what.into(), instead: instead.into() }
    }
}

/// A problem and the line that it stands in (0 for none), before the file is named.
#[derive(Debug)]
pub(crate) struct Located {
    pub line: usize,
    pub problem: Problem,
}

impl Problem {
    pub(crate) fn at(self, line: usize) -> Located {
        Located { line, problem: self }
    }
}

struct At(usize);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 0 { write!(f, ":{}", self.0) } else { Ok(()) }
    }
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|f| f.display().to_string()).collect::<Vec<_>>().join(", ")
}

/// Something that the importer did not take over literally.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Line, from 1; 0 where no single line is meant.
    pub line: usize,
    /// How much it matters.
    pub kind: NoteKind,
    /// One sentence.
    pub text: String,
}

/// How much a [`Note`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoteKind {
    /// Display and file names: no influence on the motion.
    Cosmetic,
    /// How the reference computes: no influence beyond the solver's tolerance.
    Solver,
    /// What the reference does unexpectedly and the imported scene repeats.
    Quirk,
    /// The motion may differ from the reference's.
    Motion,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.text),
            line => write!(f, "line {line}: {}", self.text),
        }
    }
}
