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
