//! Why authentication failed.

/// Why authentication failed. The sentences may be shown to the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// The credential is missing or bad.
    #[error("{0}")]
    Refused(String),
    /// The credential is good, but does not count in this repository.
    #[error("{0}")]
    ForbiddenRepository(String),
    /// Nobody can be verified at the moment.
    #[error("{0}")]
    Unavailable(String),
}

impl AuthError {
    pub(crate) fn refused(sentence: &str) -> Self {
        AuthError::Refused(sentence.to_owned())
    }
}
