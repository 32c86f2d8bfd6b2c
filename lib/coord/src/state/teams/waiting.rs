//! What waits for a caller in its teams, in the answers of requests about locks: `includes/waiting.lua`.

use crate::state::reply::Reply;
use crate::store::StoreError;

/// What waits for the caller in one of its teams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The team, in lower case.
    pub team: String,
    /// The caller's handle.
    pub handle: String,
    /// Number of messages that it has not proved to have.
    pub unread: u64,
    /// Handle of who asks it to stop, if it has not answered.
    pub asked_to_stop_by: Option<String>,
}

impl Waiting {
    pub(in crate::state) fn read(reply: &mut Reply) -> Result<Vec<Self>, StoreError> {
        reply.tuples(|tuple| {
            Ok(Waiting {
                team: tuple.text()?,
                handle: tuple.text()?,
                unread: tuple.number()?.unsigned_abs(),
                asked_to_stop_by: tuple.optional_text()?,
            })
        })
    }
}
