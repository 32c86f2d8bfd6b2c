//! Locks that are taken away from their holders.

use super::scripts::FORCE_RELEASE;
use crate::domain::{FilePath, LockReason};
use crate::state::admission::{AdmissionTerms, Admitted, Kind, admitted};
use crate::state::reply::{arguments, call};
use crate::state::request_keys::lock_keys;
use crate::state::teams::Membership;
use crate::store::{Store, StoreError};

/// Locks that were taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forced {
    /// Each of them.
    pub locks: Vec<TakenLock>,
    /// What waits for the caller in its teams.
    pub waiting: Vec<Membership>,
}

/// A lock that was taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenLock {
    /// The file.
    pub file_path: String,
    /// Login of the holder.
    pub user: String,
    /// The agent.
    pub agent_id: Option<String>,
}

/// Takes others' locks on `paths` away, all that there are on the branch. One round trip.
///
/// # Errors
/// When the store does not respond, or its reply is malformed. Even then the locks may be gone.
pub async fn force_release(
    store: &dyn Store,
    terms: &AdmissionTerms<'_>,
    message: &LockReason,
    paths: &[FilePath],
) -> Result<Admitted<Forced>, StoreError> {
    let keys = lock_keys(terms);
    let mut args = terms.arguments(Kind::Release, paths.len(), &keys);
    args.extend(arguments([message.as_str()]));
    args.extend(paths.iter().map(|path| path.as_str().as_bytes().to_vec()));
    let reply = call(store, &FORCE_RELEASE, keys, args).await?;
    admitted(reply, |mut reply| match reply.outcome.as_str() {
        "FORCED" => Ok(Forced {
            locks: reply.tuples(|tuple| {
                Ok(TakenLock {
                    file_path: tuple.text()?,
                    user: tuple.text()?,
                    agent_id: tuple.optional_text()?,
                })
            })?,
            waiting: Membership::read(&mut reply)?,
        }),
        _ => Err(reply.malformed("an unknown outcome")),
    })
}
