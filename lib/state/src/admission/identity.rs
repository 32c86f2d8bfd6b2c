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

/// Remembers a verified credential in `repo`, for `ttl`.
///
/// # Errors
/// When the store does not respond.
pub async fn remember(
    store: &dyn Store,
    repo: &RepoId,
    credential: &str,
    member: &RememberedMember,
    ttl: Duration,
) -> Result<(), StoreError> {
    let stored = StoredIdentity {
        user_id: member.user_id.to_string(),
        user_name: member.user_name.clone(),
        can_push: member.can_push,
        is_owner: member.is_owner,
    };
    let json = serde_json::to_string(&stored).map_err(|error| StoreError::Malformed(error.to_string()))?;
    let key = keys::identity(repo, credential);
    let seconds = ttl.as_secs().to_string();
    run_command(store, Request::command(["SET", &key, &json, "EX", &seconds])).await
}

/// Forgets a credential in `repo` that was verified before.
///
/// # Errors
/// When the store does not respond.
pub async fn forget(store: &dyn Store, repo: &RepoId, credential: &str) -> Result<(), StoreError> {
    let key = keys::identity(repo, credential);
    run_command(store, Request::command(["DEL", &key])).await
}

/// A stored verdict, and its age.
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

/// The stored verdicts on credentials, each in a repository, in the order of `credentials`; `ttl` is the time for which they were
/// stored. Reads one key for each, whose name cannot be guessed without the credential, and writes nothing. One round trip,
/// and one script for each repository.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn recall(
    store: &dyn Store,
    credentials: &[(RepoId, String)],
    ttl: Duration,
) -> Result<Vec<Option<AgedVerdict>>, StoreError> {
    let mut by_repo: BTreeMap<&RepoId, Vec<(usize, String)>> = BTreeMap::new();
    for (index, (repo, credential)) in credentials.iter().enumerate() {
        let key = keys::identity(repo, credential);
        by_repo.entry(repo).or_default().push((index, key));
    }
    let script = |keys: &Vec<(usize, String)>| Request::Script {
        script: &RECALL_IDENTITIES,
        keys: keys.iter().map(|(_, key)| key.clone()).collect(),
        args: Vec::new(),
    };
    let mut replies = store.run(by_repo.values().map(script).collect()).await?.into_iter();
    let mut verdicts: Vec<Option<AgedVerdict>> = vec![None; credentials.len()];
    for keys in by_repo.values() {
        let reply = Reply::open(&RECALL_IDENTITIES, replies.next())?;
        let answer: RecallIdentitiesAnswer = reply.object_of("RECALLED")?;
        for recalled in answer.verdicts {
            let key = recalled.place.checked_sub(1).and_then(|index| keys.get(index));
            let Some(verdict) = key.and_then(|(index, _)| verdicts.get_mut(*index)) else {
                return Err(reply.malformed("a verdict on no credential"));
            };
            *verdict = parse_verdict(&recalled.verdict, recalled.left, ttl);
        }
    }
    Ok(verdicts)
}

/// The verdict in `text`, which expires in `left` seconds. One that cannot be read is from another version, and counts as
/// none.
fn parse_verdict(text: &str, left: i64, ttl: Duration) -> Option<AgedVerdict> {
    let stored: StoredIdentity = serde_json::from_str(text).ok()?;
    let left = Duration::from_secs(u64::try_from(left).ok()?);
    let member = RememberedMember {
        user_id: UserId::parse(&stored.user_id).ok()?,
        user_name: stored.user_name,
        can_push: stored.can_push,
        is_owner: stored.is_owner,
    };
    Some((member, ttl.saturating_sub(left)))
}

/// Runs one command whose reply is not needed.
async fn run_command(store: &dyn Store, command: Request) -> Result<(), StoreError> {
    match store.run(vec![command]).await?.into_iter().next() {
        Some(Value::Error(error)) => Err(StoreError::Failed(error)),
        Some(_) => Ok(()),
        None => Err(StoreError::Malformed("no answer to a command".to_owned())),
    }
}
