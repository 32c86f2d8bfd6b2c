use super::RECORD_HEAD;
use super::reply::{arguments, call};
use crate::domain::{Branch, CommitSha, RepoId};
use crate::store::{Store, StoreError, keys};

/// What [`record_head`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadChange {
    /// The branch has moved, or is seen for the first time; that was announced.
    Moved,
    /// It was known.
    Unchanged,
}

/// Notes that `commit` is the newest of `branch`, learnt by `how` (`local`, say). `recent` are commits reachable from it:
/// what lets a function that has no source tell that a commit was pushed.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn record_head(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    commit: &CommitSha,
    how: &str,
    recent: &[CommitSha],
) -> Result<HeadChange, StoreError> {
    let recent = recent.iter().map(CommitSha::as_str).collect::<Vec<_>>().join(" ");
    let keys = vec![keys::head(repo, branch), keys::status_log(repo), keys::events(repo)];
    let reply = call(
        store,
        &RECORD_HEAD,
        keys,
        arguments([branch.as_str(), commit.as_str(), how, &recent]),
    )
    .await?;
    match reply.outcome.as_str() {
        "MOVED" => Ok(HeadChange::Moved),
        "UNCHANGED" => Ok(HeadChange::Unchanged),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}
