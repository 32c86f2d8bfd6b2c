//! Verified credentials, remembered for all processes. Unverified ones are not stored.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use super::keys;
use super::scripts::RECALL_IDENTITIES;
use crate::reply::Reply;
use coord_domain::{Member, RepoId};
use coord_store::{Request, Store, StoreError, Value};

/// Remembers a verified credential in `repo`, for `ttl`.
///
/// # Errors
/// When the store does not respond.
pub async fn remember(
    store: &dyn Store,
    repo: &RepoId,
    credential: &str,
    member: &Member,
    ttl: Duration,
) -> Result<(), StoreError> {
    let json = serde_json::to_string(member).map_err(|error| StoreError::Malformed(error.to_string()))?;
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
pub type AgedVerdict = (Member, Duration);

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
    let member = serde_json::from_str(text).ok()?;
    let left = Duration::from_secs(u64::try_from(left).ok()?);
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
