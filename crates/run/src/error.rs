//! Result files that cannot be written or read.

use standoff_sim::threads::ThreadsError;
use std::io;
use std::path::PathBuf;

/// Result files that cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// The system refused to create or write a file or folder.
    #[error("cannot write {}: {source}{}", path.display(), remedy(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused to read a file or folder.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder holds the results of another run.
    #[error(
        "{} already holds a run ({found}); continue it with `standoff resume`, choose another folder, or \
         pass --force to replace it",
        path.display()
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// A file of that run.
        found: String,
    },
    /// A part of a run is a link to elsewhere.
    #[error(
        "{} is a link to {}; a run writes into its own folder alone, so that it cannot overwrite another one: remove the \
         link, or choose another folder (-o DIR)",
        path.display(),
        target.display()
    )]
    Linked {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// The folder holds no run.
    #[error("{} holds no run: {what}", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
        /// What is missing.
        what: String,
    },
    /// A file does not hold what it should.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A checkpoint belongs to something else.
    #[error("{}: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// To what.
        what: String,
    },
    /// A recording is to begin after the first step.
    #[error(
        "{} cannot record a simulation that has done {step} steps: a run begins with the first one",
        path.display()
    )]
    Late {
        /// The folder.
        path: PathBuf,
        /// Steps done.
        step: u64,
    },
    /// A run has an energy that its scene does not bring.
    #[error(
        "{} cannot be resumed from files alone: its energy '{energy}' was defined by the program that \
         began the run; resume it from that program, with the same energy",
        path.display()
    )]
    Energy {
        /// The folder.
        path: PathBuf,
        /// Name of the energy.
        energy: String,
    },
    /// A run cannot go on because no checkpoint is of use.
    #[error("{} cannot be resumed: {what}", path.display())]
    NoCheckpoint {
        /// The folder.
        path: PathBuf,
        /// Why not.
        what: String,
    },
    /// Another process writes to the folder.
    #[error("{} is being written by another process; wait for it or stop it", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// The system refused the threads to work with.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
    /// A list of the frame has the wrong length.
    #[error("{what} has {found} entries, expected {expected}")]
    Length {
        /// Which list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The right length.
        expected: usize,
    },
}

impl OutputError {
    pub(crate) fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::Write { path, source }
    }

    pub(crate) fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::Read { path, source }
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free space, then continue with `standoff resume`, or write frames less often \
             (output.every, output.interval)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder that you may write to (-o DIR)"
        }
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "; a file stands where a folder is needed: remove it or choose another folder (-o DIR)"
        }
        _ => "",
    }
}

/// What is wrong with a file of a format that is not known yet.
pub(crate) fn later_format(format: u32, known: u32) -> String {
    format!(
        "a later version of standoff wrote it, in format {format}, and this one reads format {known}; continue with \
         that version, or begin again with `standoff run --force`"
    )
}
