use crate::domain::CommitSha;
use crate::state::reply::Reply;
use crate::store::StoreError;

/// The head that an outcome is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenHead {
    /// The commit.
    pub commit: CommitSha,
    /// Seconds since somebody looked whether it is still that; none where it has just been fetched.
    pub age: Option<u64>,
    /// It should have been looked at again, and could not be.
    pub is_unconfirmed: bool,
}

impl SeenHead {
    pub(in crate::state) fn read(reply: &mut Reply) -> Result<Self, StoreError> {
        Ok(SeenHead {
            commit: reply.commit()?,
            age: reply.optional_number()?,
            is_unconfirmed: reply.flag()?,
        })
    }

    /// The head; nothing, where the request was admitted without one.
    pub(in crate::state) fn read_if_any(reply: &mut Reply) -> Result<Option<Self>, StoreError> {
        let commit = reply.optional_commit()?;
        let (age, is_unconfirmed) = (reply.optional_number()?, reply.flag()?);
        Ok(commit.map(|commit| SeenHead {
            commit,
            age,
            is_unconfirmed,
        }))
    }
}
