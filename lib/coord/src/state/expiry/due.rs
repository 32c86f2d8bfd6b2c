use super::keys;
use super::scripts::{SETTLE_DUE, TAKE_DUE};
use crate::state::reply::{arguments, call};
use crate::store::{Store, StoreError};

/// Seconds of a sweep's lease on a repository: longer than any request lasts.
const TURN_SECONDS: u32 = 60;

/// A repository that this sweep has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenRepository {
    /// `host/owner/name`, as in the store.
    pub name: String,
    /// Whether it leaves the due list if nothing is held in it.
    pub is_last_look: bool,
}

/// Takes up to `most` repositories in which a lock may have expired.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn take_due(store: &dyn Store, most: usize) -> Result<Vec<TakenRepository>, StoreError> {
    let args = arguments([&most.to_string(), &TURN_SECONDS.to_string()]);
    let mut reply = call(store, &TAKE_DUE, vec![keys::DUE.to_owned()], args).await?;
    reply.tuples(|tuple| {
        Ok(TakenRepository {
            name: tuple.text()?,
            is_last_look: tuple.flag()?,
        })
    })
}

/// Ends this sweep's lease on `repository`.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn settle_due(
    store: &dyn Store,
    repository: &TakenRepository,
    next_expiry: Option<i64>,
) -> Result<(), StoreError> {
    let args = arguments([
        repository.name.as_str(),
        &next_expiry.map(|expiry| expiry.to_string()).unwrap_or_default(),
        if repository.is_last_look { "1" } else { "0" },
        &TURN_SECONDS.to_string(),
    ]);
    let keys = vec![keys::DUE.to_owned(), keys::DUE_CLAIMS.to_owned()];
    call(store, &SETTLE_DUE, keys, args).await?;
    Ok(())
}
