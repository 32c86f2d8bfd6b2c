//! The question of a script whose files were not judged by the policy of the branch.

use crate::state::reply::Reply;
use crate::store::StoreError;

/// The policy by which files have to be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyQuestion {
    /// Its digest; empty where there is none.
    pub digest: String,
    /// Its text.
    pub text: String,
    /// The files.
    pub files: Vec<String>,
}

impl PolicyQuestion {
    pub(super) fn read(reply: &mut Reply) -> Result<Self, StoreError> {
        Ok(PolicyQuestion {
            digest: reply.text()?,
            text: reply.text()?,
            files: reply.texts()?,
        })
    }
}
