use serde::{Deserialize, Serialize};

use super::scripts::SWEEP;
use crate::extension::registered;
use crate::read::Read;
use crate::reply::call_with_reads;
use crate::request_keys::Keys;
use crate::{events, expiry, locks};
use coord_domain::RepoId;
use coord_store::{Store, StoreError};

/// Arguments of `sweep.lua`.
#[derive(Serialize)]
struct SweepArgs {
    most: usize,
}

#[derive(Deserialize)]
struct SweepAnswer {
    expired: u64,
    next_expiry: Option<i64>,
    #[serde(default)]
    due: Vec<String>,
}

/// Result of one run of the sweep script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepResult {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// Number of expired records, which were all announced.
    pub expired: u64,
    /// The next expiry in the repository.
    pub next_expiry: Option<i64>,
    /// The names of the parts of the repository in which records of extensions may have expired. The extensions drop and announce
    /// them.
    pub due: Vec<String>,
    /// Whether an extension has something to finish in the repository.
    pub has_unfinished: bool,
}

/// Drops and announces the expired records in `repo`, of each kind up to `most`; of locks that is the number of files. One round
/// trip.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn sweep(store: &dyn Store, repo: &RepoId, most: usize) -> Result<SweepResult, StoreError> {
    let mut keys = Keys::of([
        ("status_log", events::keys::status_log(repo)),
        ("events", events::keys::events(repo)),
        ("mark", expiry::keys::marked(repo)),
    ]);
    keys.add(locks::keys::sweep_keys(repo));
    keys.add(registered().iter().flat_map(|extension| (extension.sweep_keys)(repo)));
    let args = keys.args(&SweepArgs { most });
    let unfinished = registered()
        .iter()
        .filter_map(|extension| (extension.read_unfinished)(repo))
        .fold(Read::nothing().map(|()| false), |one, other| {
            one.and(other).map(|(one, other)| one || other)
        });
    let (reads, decode) = unfinished.into_parts();
    let (reply, replies) = call_with_reads(store, &SWEEP, keys, args, reads).await?;
    let answer: SweepAnswer = reply.object()?;
    Ok(SweepResult {
        now: reply.now,
        expired: answer.expired,
        next_expiry: answer.next_expiry,
        due: answer.due,
        has_unfinished: decode(replies)?,
    })
}
