//! The error of a call.

use crate::{ErrorBody, Orchestration, Waiting};

/// Why a call did not return a response of the expected form.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address or a header is not valid.
    #[error("{0}")]
    Invalid(String),
    /// The server responded with an error.
    #[error("{}", .error.message)]
    Refused {
        /// The HTTP status.
        status: u16,
        /// Code, message and field.
        error: Box<ErrorBody>,
        /// The command for the agent, where the server sends one.
        orchestration: Option<Box<Orchestration>>,
        /// Pending items for the caller in its team, if the team's rules refuse the request.
        waiting: Box<Waiting>,
        /// The header `Retry-After`, in seconds, where the server sends it.
        retry_after: Option<u64>,
    },
    /// No response: the server cannot be reached, or took too long.
    #[error("the server does not answer: {0}")]
    Unreachable(#[source] reqwest::Error),
    /// Another server has the address now.
    #[error("another server now has this server's address")]
    OtherServer,
    /// The response is too large, or not of this protocol.
    #[error("the answer with status {status} is not from Coord: {problem}")]
    Malformed {
        /// The HTTP status.
        status: u16,
        /// The deviation from the protocol.
        problem: String,
    },
}

impl ClientError {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            ClientError::Unreachable(_) | ClientError::OtherServer => true,
            ClientError::Malformed { status, .. } | ClientError::Refused { status, .. } => {
                *status == 429 || *status >= 500
            }
            ClientError::Invalid(_) => false,
        }
    }
}

/// Drops the URL of the error, which may contain a password.
pub(super) fn unreachable(error: reqwest::Error) -> ClientError {
    ClientError::Unreachable(error.without_url())
}
