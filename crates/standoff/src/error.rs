//! What can go wrong, in one type.

use standoff_ipc_import::ImportError;
use standoff_mesh::MeshError;
use standoff_run::{OutputError, RunError, Stop};
use standoff_scene::SceneError;
use standoff_sim::{BuildError, ControlError, StepError};

/// What can go wrong. Every message says what, where, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A scene that does not make sense.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A scene of the IPC 2020 reference that cannot be taken over.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A mesh that cannot be read or written.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A scene that cannot be simulated.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A step that could not be done. The state is the one before it.
    #[error(transparent)]
    Step(#[from] StepError),
    /// Something that cannot be set between steps. Nothing was changed.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// Results that cannot be written or read.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A run in a folder that did not begin or did not reach its end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// What concerns several simulations at once.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A graphics processor that a scene asks for and that cannot be used.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Why a graphics processor cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// This program knows none.
    #[error(
        "`solver.device = \"gpu\"` needs a program that is built with the feature `gpu` \
         (`cargo build --release -p standoff-cli --features gpu`); without it, take \"cpu\""
    )]
    NotBuilt,
    /// There is none that will do.
    #[error("`solver.device = \"gpu\"`: {reason}; or take \"cpu\"")]
    Unusable {
        /// What is missing or wrong.
        reason: String,
    },
}

/// What can go wrong with several simulations at once.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// No scene.
    #[error("a batch needs at least one member")]
    Empty,
    /// A member that does not exist.
    #[error("there is no member {member}; the batch has {count}, which are numbered from 0")]
    NoMember {
        /// The number that was given.
        member: usize,
        /// Number of members.
        count: usize,
    },
    /// A member that is named twice.
    #[error("member {member} is named twice")]
    Repeated {
        /// Which one.
        member: usize,
    },
    /// Members that have no common array.
    #[error(
        "member {member} has {found} {what}, where member 0 has {expected}: there is no array of all members; read them one by one"
    )]
    Unequal {
        /// The member that differs from the first.
        member: usize,
        /// What differs in number.
        what: &'static str,
        /// Its number.
        found: usize,
        /// The first member's.
        expected: usize,
    },
    /// Something went wrong with one member.
    #[error("member {member}: {error}")]
    Member {
        /// Which one.
        member: usize,
        /// What.
        error: Box<Error>,
    },
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Step(error) => Self::Step(error),
            Stop::Output(error) => Self::Output(error),
            other @ Stop::Internal { .. } => {
                Self::Run(RunError::Stopped(Box::new(standoff_run::Stopped {
                    cause: other,
                    others: Vec::new(),
                    summary: standoff_run::Summary { stopped: true, ..Default::default() },
                })))
            }
        }
    }
}
