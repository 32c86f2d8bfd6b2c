use super::reply::{arguments, call};
use super::{SETTLE_DUE, SWEEP, TAKE_DUE};
use crate::domain::RepoId;
use crate::store::{Store, StoreError, keys};

/// Seconds that a sweep's turn at a repository lasts. Longer than any request lives.
const TURN_SECONDS: u32 = 60;

/// A repository that this sweep has taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenRepository {
    /// `host/owner/name`, as the store has it.
    pub name: String,
    /// Whether it is forgotten if nothing is held in it.
    pub is_last_look: bool,
}

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

/// Takes up to `most` repositories in which something may have expired.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
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

/// Drops and announces up to `most_files` files' expired locks in `repo`.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn sweep(store: &dyn Store, repo: &RepoId, most_files: usize) -> Result<Swept, StoreError> {
    let keys = vec![
        keys::locks(repo),
        keys::expiries(repo),
        keys::status_log(repo),
        keys::events(repo),
        keys::held(repo),
        keys::marked(repo),
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

/// Ends this sweep's turn at `repository`.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
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
