//! The lease of a builder: one at a time builds the graph of a branch.

use super::keys;
use super::publish::{LEASE_SECONDS, Published};
use super::scripts::{FAIL_BUILD, LEASE_BUILD, REPORT_BUILD, RETURN_LEASE};
use crate::domain::{Branch, BuildProgress, CommitSha, RepoId};
use crate::state::events;
use crate::state::reply::{arguments, call};
use crate::store::{Store, StoreError};

/// Whether this builder may build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildLease {
    /// It may.
    Granted,
    /// There is nothing to build.
    Current,
    /// Another is at it, until then (Unix seconds) at the latest.
    Busy {
        /// When the other's lease ends.
        until: i64,
    },
    /// The build of this commit has just failed.
    BackingOff {
        /// Why it failed.
        reason: String,
        /// When it may be tried again, Unix seconds.
        until: i64,
    },
}

/// Asks to be the one that builds `commit`. `builder` is a name that no other process has.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn lease_build(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
) -> Result<BuildLease, StoreError> {
    let args = arguments([builder, commit.as_str(), &LEASE_SECONDS.to_string()]);
    let mut reply = call(store, &LEASE_BUILD, vec![keys::graph(repo, branch)], args).await?;
    match reply.outcome.as_str() {
        "GRANTED" => Ok(BuildLease::Granted),
        "CURRENT" => Ok(BuildLease::Current),
        "BUSY" => {
            reply.text()?;
            Ok(BuildLease::Busy { until: reply.number()? })
        }
        "BACKING_OFF" => Ok(BuildLease::BackingOff {
            reason: reply.text()?,
            until: reply.number()?,
        }),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// Tells everybody who watches how far the build is.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn report_build(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    progress: BuildProgress,
) -> Result<Published, StoreError> {
    let counts = [progress.files, progress.wanted, progress.scanned].map(|count| count.to_string());
    let [files, wanted, scanned] = &counts;
    let lease = LEASE_SECONDS.to_string();
    let args = arguments([builder, &lease, branch.as_str(), files, wanted, scanned]);
    let keys = vec![keys::graph(repo, branch), events::keys::events(repo)];
    let reply = call(store, &REPORT_BUILD, keys, args).await?;
    match reply.outcome.as_str() {
        "REPORTED" => Ok(Published::Done),
        "LOST" => Ok(Published::LeaseLost),
        _ => Err(reply.malformed("an unknown outcome")),
    }
}

/// Notes that the build of `commit` failed, and gives the lease back.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn fail_build(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
    reason: &str,
) -> Result<(), StoreError> {
    let args = arguments([builder, commit.as_str(), reason]);
    call(store, &FAIL_BUILD, vec![keys::graph(repo, branch)], args).await?;
    Ok(())
}

/// Gives the lease of `builder` back, if it still has it.
///
/// # Errors
/// When the store gives no answer, or none that is understood.
pub async fn return_lease(store: &dyn Store, repo: &RepoId, branch: &Branch, builder: &str) -> Result<(), StoreError> {
    let keys = vec![keys::graph(repo, branch)];
    call(store, &RETURN_LEASE, keys, arguments([builder])).await?;
    Ok(())
}
