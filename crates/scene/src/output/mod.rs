//! Result files of a run: `frames/*.vtu`, `run.pvd`, `surface/*.obj`, `stats.jsonl`,
//! `scene.resolved.toml`, `run.json`, checkpoints and the report of a failed step.
//!
//! Every file appears complete or not at all: it is written beside its place and renamed. Only
//! `stats.jsonl` grows, by one whole line per step.

mod atomic;
mod checkpoint;
mod failure;
mod folder;
mod frame;
mod obj;
mod resume;
mod summary;
mod topology;
mod vtu;

pub use atomic::write_atomically;
pub use checkpoint::{Checkpoint, fingerprint, read_checkpoint, write_checkpoint};
pub use failure::{FailureData, write_failure};
pub use folder::{RunFolder, RunInfo, frame_files};
pub use frame::{Frame, read_frame};
pub use resume::ResumePoint;
pub use summary::Summary;
pub use topology::{BodyInfo, HalfSpaceInfo, LimitInfo, Topology};
pub use vtu::write_vtu;

use standoff_linalg::Vec3;
use std::io;
use std::path::PathBuf;

/// A state of the simulation, as the writers take it. A list may be empty: the frame lacks it then.
#[derive(Debug, Clone, Copy, Default)]
pub struct FrameData<'a> {
    /// Steps done; also the number in the file's name.
    pub step: u64,
    /// Time, s.
    pub time: f64,
    /// Positions, m (`#V`).
    pub positions: &'a [Vec3],
    /// Velocities, m/s (`#V`).
    pub velocities: &'a [Vec3],
    /// Contact and friction forces, N (`#V`).
    pub contact_forces: &'a [Vec3],
    /// Von Mises stress of every tetrahedron, Pa, in the order of [`Topology::tets`].
    pub von_mises: &'a [f64],
    /// Stretch of every triangle of shells, then of every segment of rods.
    pub stretch: &'a [f64],
    /// Bending energy of the same, J.
    pub bending_energy: &'a [f64],
}

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
        "{} already holds a run ({found}); choose another folder, or pass --force to replace it",
        path.display()
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// A file of that run.
        found: String,
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
    fn write(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::Write { path, source }
    }

    fn read(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        |source| Self::Read { path, source }
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free space, then go on with `standoff resume`, or write frames less often \
             (output.every, output.interval)"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; choose a folder that you may write to (-o DIR)"
        }
        _ => "",
    }
}
