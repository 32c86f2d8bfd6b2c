use serde::{Deserialize, Serialize};

use super::keys;
use super::scripts::{SETTLE_DUE, TAKE_DUE};
use crate::admission::is_false;
use crate::request_keys::Keys;
use coord_store::{Store, StoreError};

/// Seconds of a sweep's lease on a repository: longer than any request lasts.
const LEASE_SECONDS: u32 = 60;

/// A repository that is leased to this sweep.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DueRepository {
    /// `host/owner/name`, as in the store.
    pub name: String,
    /// Whether it leaves the due list if nothing is held in it.
    pub is_last_look: bool,
}

/// Arguments of `take_due.lua`.
#[derive(Serialize)]
struct TakeDueArgs {
    most: usize,
    turn: u32,
}

#[derive(Deserialize)]
struct DueAnswer {
    #[serde(default)]
    repositories: Vec<DueRepository>,
}

/// Leases up to `most` repositories in which a lock may have expired.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn take_due(store: &dyn Store, most: usize) -> Result<Vec<DueRepository>, StoreError> {
    let keys = Keys::of([("due", keys::DUE.to_owned())]);
    let request = TakeDueArgs {
        most,
        turn: LEASE_SECONDS,
    };
    let answer: DueAnswer = keys.call(store, &TAKE_DUE, &request).await?.object()?;
    Ok(answer.repositories)
}

/// Arguments of `settle_due.lua`.
#[derive(Serialize)]
struct SettleDueArgs<'a> {
    repository: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_expiry: Option<i64>,
    #[serde(skip_serializing_if = "is_false")]
    was_last_look: bool,
    turn: u32,
}

/// Ends this sweep's lease on `repository`.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn settle_due(
    store: &dyn Store,
    repository: &DueRepository,
    next_expiry: Option<i64>,
) -> Result<(), StoreError> {
    let request = SettleDueArgs {
        repository: &repository.name,
        next_expiry,
        was_last_look: repository.is_last_look,
        turn: LEASE_SECONDS,
    };
    keys::due().call(store, &SETTLE_DUE, &request).await?;
    Ok(())
}
