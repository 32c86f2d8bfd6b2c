//! Verified credentials, remembered for all processes. Unverified ones are not stored.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::keys;
use crate::domain::{RepoId, UserId};
use crate::store::{Request, Store, StoreError, Value};

/// The holder of a credential, and its rights in one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RememberedMember {
    /// The login.
    pub user_id: UserId,
    /// A display name.
    pub user_name: String,
    /// Whether it may push; it may read in any case.
    pub can_push: bool,
    /// Whether it owns the repository.
    pub is_owner: bool,
}

#[derive(Serialize, Deserialize)]
struct Stored {
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
    let stored = Stored {
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

/// The stored holder of a credential in `repo`, and the age of that verdict; `kept` is the time for which it was stored.
/// Reads one key, whose name cannot be guessed without the credential, and writes nothing.
///
/// # Errors
/// When the store does not respond.
pub async fn recall(
    store: &dyn Store,
    repo: &RepoId,
    credential: &str,
    kept: Duration,
) -> Result<Option<(RememberedMember, Duration)>, StoreError> {
    let key = keys::identity(repo, credential);
    let batch = vec![Request::command(["GET", &key]), Request::command(["TTL", &key])];
    let replies = store.run(batch).await?;
    let [stored, left] = replies.as_slice() else {
        return Err(StoreError::Malformed("no answer to GET and TTL".to_owned()));
    };
    if let Value::Error(error) = stored {
        return Err(StoreError::Failed(error.clone()));
    }
    // An unreadable value is of another version, and counts as none.
    let stored = stored
        .as_str()
        .and_then(|text| serde_json::from_str::<Stored>(text).ok());
    let left = left.as_int().and_then(|seconds| u64::try_from(seconds).ok());
    let (Some(stored), Some(left)) = (stored, left) else {
        return Ok(None);
    };
    let Ok(user_id) = UserId::parse(&stored.user_id) else {
        return Ok(None);
    };
    let member = RememberedMember {
        user_id,
        user_name: stored.user_name,
        can_push: stored.can_push,
        is_owner: stored.is_owner,
    };
    Ok(Some((member, kept.saturating_sub(Duration::from_secs(left)))))
}

/// Runs one command whose reply is not needed.
async fn one(store: &dyn Store, batch: Vec<Request>) -> Result<(), StoreError> {
    match store.run(batch).await?.into_iter().next() {
        Some(Value::Error(error)) => Err(StoreError::Failed(error)),
        Some(_) => Ok(()),
        None => Err(StoreError::Malformed("no answer to a command".to_owned())),
    }
}
