use super::scripts::SWEEP;
use crate::domain::RepoId;
use crate::state::reply::{arguments, call};
use crate::state::{events, expiry, locks};
use crate::store::{Store, StoreError};

/// What one run of the sweep script did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// The store's clock, Unix seconds.
    pub now: i64,
    /// Lock entries that had expired, all announced now.
    pub expired: u64,
    /// When the next lock here expires.
    pub next_expiry: Option<i64>,
}

/// Drops and announces up to `most_files` files' expired locks in `repo`.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn sweep(store: &dyn Store, repo: &RepoId, most_files: usize) -> Result<Swept, StoreError> {
    let keys = vec![
        locks::keys::locks(repo),
        locks::keys::expiries(repo),
        events::keys::status_log(repo),
        events::keys::events(repo),
        locks::keys::held(repo),
        expiry::keys::marked(repo),
    ];
    let mut reply = call(store, &SWEEP, keys, arguments([&most_files.to_string()])).await?;
    Ok(Swept {
        now: reply.now,
        expired: reply.number()?.unsigned_abs(),
        next_expiry: match reply.optional_text()? {
            Some(text) => Some(
                text.parse()
                    .map_err(|_| reply.malformed("an expiry that is no whole number"))?,
            ),
            None => None,
        },
    })
}
