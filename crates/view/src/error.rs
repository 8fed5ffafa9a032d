//! Why there is no viewer, or no answer.

use hyper::StatusCode;
use standoff_run::OutputError;
use std::io;

/// Why there is no viewer.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// What was given is no address.
    #[error(
        "cannot listen on '{given}': {why}; give ADDRESS, ADDRESS:PORT or :PORT, as in 127.0.0.1:7327"
    )]
    Address {
        /// What was given.
        given: String,
        /// What is wrong with it.
        why: String,
    },
    /// The system refused the address.
    #[error("cannot listen on {address}: {source}; choose another port with --listen")]
    Listen {
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused a thread or its means to wait.
    #[error("cannot start the viewer: {0}")]
    System(#[from] io::Error),
    /// The program was built without the page.
    #[error("{}", crate::HOW_TO_BUILD)]
    NoPage,
}

/// Why a request gets no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("a request needs one Host")]
    NoHost,
    #[error(
        "the name '{0}' is not that of this server: open it by its IP address or as localhost, or start it \
         with --listen NAME:PORT"
    )]
    ForeignHost(String),
    #[error("only GET and HEAD are answered")]
    Method,
    #[error("there is nothing at this address")]
    NotFound,
    #[error("{0}")]
    Query(String),
    #[error("there is no frame {0}")]
    NoFrame(u64),
    #[error(
        "{0} leads out of the folder of the run, and nothing is served from elsewhere; put a copy in its place"
    )]
    Outside(String),
    #[error("{0} is longer than any file of a run that is served")]
    TooLong(String),
    #[error("the folder holds another run now")]
    Replaced,
    #[error("the statistics are {0} bytes long")]
    PastEnd(u64),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("{}", crate::HOW_TO_BUILD)]
    NoPage,
    #[error("internal error: {0}. This is a fault of Standoff: please report it")]
    Internal(String),
}

impl RequestError {
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NoHost | Self::Query(_) => StatusCode::BAD_REQUEST,
            Self::ForeignHost(_) | Self::Outside(_) => StatusCode::FORBIDDEN,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::NotFound | Self::NoFrame(_) => StatusCode::NOT_FOUND,
            Self::Output(OutputError::NoRun { .. }) => StatusCode::NOT_FOUND,
            Self::Replaced => StatusCode::CONFLICT,
            Self::PastEnd(_) => StatusCode::RANGE_NOT_SATISFIABLE,
            Self::NoPage => StatusCode::NOT_IMPLEMENTED,
            Self::TooLong(_) | Self::Output(_) | Self::Internal(_) => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        }
    }
}
