//! The question of a script that cannot match patterns.

use crate::state::reply::Reply;
use crate::store::StoreError;

/// A judgement that the script lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScopeQuestion {
    /// The intent.
    pub intent: String,
    /// Digest of its scope.
    pub scope: String,
    /// The intent as JSON; empty where this digest was sent.
    pub text: String,
    /// Digest of `.intentignore`; empty where there is none.
    pub ignore: String,
    /// `.intentignore`; empty where this digest was sent.
    pub ignore_text: String,
    /// The files, where only the store knows them.
    pub files: Vec<String>,
}

impl ScopeQuestion {
    pub(super) fn read(reply: &mut Reply) -> Result<Self, StoreError> {
        Ok(ScopeQuestion {
            intent: reply.text()?,
            scope: reply.text()?,
            text: reply.text()?,
            ignore: reply.text()?,
            ignore_text: reply.text()?,
            files: reply.texts()?,
        })
    }
}
