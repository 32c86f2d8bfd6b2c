//! Verified credentials, remembered for all processes. Unverified ones are not stored.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::keys;
use super::scripts::RECALL_IDENTITIES;
use crate::reply::Reply;
use coord_domain::{RepoId, UserId};
use coord_store::{Request, Store, StoreError, Value};

/// The holder of a credential, and its rights in one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedMember {
    pub user_id: UserId,
    pub user_name: String,
    /// Whether it may push; it may read in any case.
    pub can_push: bool,
    /// Whether it owns the repository.
    pub is_owner: bool,
}

#[derive(Serialize, Deserialize)]
struct StoredIdentity {
    user_id: String,
    user_name: String,
    can_push: bool,
    #[serde(default)]
    is_owner: bool,
}

/// Remembers a verified credential in `repo`, for `kept`.
///
/// # Errors
/// When the store does not respond.
pub async fn remember(
    store: &dyn Store,
    repo: &RepoId,
    credential: &str,
    member: &RememberedMember,
    kept: Duration,
) -> Result<(), StoreError> {
    let stored = StoredIdentity {
        user_id: member.user_id.to_string(),
        user_name: member.user_name.clone(),
        can_push: member.can_push,
        is_owner: member.is_owner,
    };
    let json = serde_json::to_string(&stored).map_err(|error| StoreError::Malformed(error.to_string()))?;
    let key = keys::identity(repo, credential);
    let seconds = kept.as_secs().to_string();
    one(store, vec![Request::command(["SET", &key, &json, "EX", &seconds])]).await
}

/// Forgets a credential in `repo`, which was verified before.
///
/// # Errors
/// When the store does not respond.
pub async fn forget(store: &dyn Store, repo: &RepoId, credential: &str) -> Result<(), StoreError> {
    let key = keys::identity(repo, credential);
    one(store, vec![Request::command(["DEL", &key])]).await
}

/// A verdict that was stored, and its age.
pub type AgedVerdict = (RememberedMember, Duration);

/// The answer of `recall_identities.lua`.
#[derive(Deserialize)]
struct RecallIdentitiesAnswer {
    #[serde(default)]
    verdicts: Vec<RecalledVerdict>,
}

#[derive(Deserialize)]
struct RecalledVerdict {
    place: usize,
    verdict: String,
    left: i64,
}

/// The stored verdicts on credentials, each in a repository, in the order of `credentials`; `kept` is the time for which they were
/// stored. Reads one key for each, whose name cannot be guessed without the credential, and writes nothing. One round trip,
/// and one script for each repository.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn recall(
    store: &dyn Store,
    credentials: &[(RepoId, String)],
    kept: Duration,
) -> Result<Vec<Option<AgedVerdict>>, StoreError> {
    let mut by_repo: BTreeMap<&RepoId, Vec<(usize, String)>> = BTreeMap::new();
    for (place, (repo, credential)) in credentials.iter().enumerate() {
        let key = keys::identity(repo, credential);
        by_repo.entry(repo).or_default().push((place, key));
    }
    let script = |keys: &Vec<(usize, String)>| Request::Script {
        script: &RECALL_IDENTITIES,
        keys: keys.iter().map(|(_, key)| key.clone()).collect(),
        args: Vec::new(),
    };
    let mut replies = store.run(by_repo.values().map(script).collect()).await?.into_iter();
    let mut found: Vec<Option<AgedVerdict>> = credentials.iter().map(|_| None).collect();
    for keys in by_repo.values() {
        let reply = Reply::open(&RECALL_IDENTITIES, replies.next())?;
        if reply.outcome != "RECALLED" {
            return Err(reply.malformed("an unknown outcome"));
        }
        let answer: RecallIdentitiesAnswer = reply.object()?;
        for one in answer.verdicts {
            let key = one.place.checked_sub(1).and_then(|place| keys.get(place));
            let Some(found) = key.and_then(|(place, _)| found.get_mut(*place)) else {
                return Err(reply.malformed("a verdict on no credential"));
            };
            *found = verdict(&one.verdict, one.left, kept);
        }
    }
    Ok(found)
}

/// The verdict in `text`, which is kept for `left` more seconds. One that cannot be read is of another version, and counts as
/// none.
fn verdict(text: &str, left: i64, kept: Duration) -> Option<AgedVerdict> {
    let stored: StoredIdentity = serde_json::from_str(text).ok()?;
    let left = Duration::from_secs(u64::try_from(left).ok()?);
    let member = RememberedMember {
        user_id: UserId::parse(&stored.user_id).ok()?,
        user_name: stored.user_name,
        can_push: stored.can_push,
        is_owner: stored.is_owner,
    };
    Some((member, kept.saturating_sub(left)))
}

/// Runs one command whose reply is not needed.
async fn one(store: &dyn Store, batch: Vec<Request>) -> Result<(), StoreError> {
    match store.run(batch).await?.into_iter().next() {
        Some(Value::Error(error)) => Err(StoreError::Failed(error)),
        Some(_) => Ok(()),
        None => Err(StoreError::Malformed("no answer to a command".to_owned())),
    }
}
