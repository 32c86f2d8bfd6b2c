//! The lease of a builder: one at a time builds the graph of a branch.

use serde::{Deserialize, Serialize};

use super::keys;
use super::publish::{LEASE_SECONDS, PublishOutcome};
use super::scripts::{FAIL_BUILD, LEASE_BUILD, REPORT_BUILD, RETURN_LEASE};
use crate::events;
use crate::request_keys::Keys;
use coord_domain::{Branch, BuildProgress, CommitSha, RepoId};
use coord_store::{Store, StoreError};

/// Whether this builder may build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildLease {
    Granted,
    /// The graph of this commit is already stored.
    Current,
    /// Another builder has the lease.
    Busy {
        /// When that lease ends, Unix seconds.
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

/// Arguments of `lease_build.lua`.
#[derive(Serialize)]
struct LeaseBuildArgs<'a> {
    builder: &'a str,
    commit: &'a str,
    lease: u32,
}

/// The answer BUSY of `lease_build.lua`.
#[derive(Deserialize)]
struct OtherLease {
    lease_until: i64,
}

/// The answer BACKING_OFF of `lease_build.lua`.
#[derive(Deserialize)]
struct Pause {
    reason: String,
    retry_at: i64,
}

/// Arguments of `report_build.lua`.
#[derive(Serialize)]
struct ReportBuildArgs<'a> {
    builder: &'a str,
    lease: u32,
    branch: &'a str,
    progress: BuildProgress,
}

/// Arguments of `fail_build.lua`.
#[derive(Serialize)]
struct FailBuildArgs<'a> {
    builder: &'a str,
    commit: &'a str,
    reason: &'a str,
}

/// Arguments of `return_lease.lua`.
#[derive(Serialize)]
struct ReturnLeaseArgs<'a> {
    builder: &'a str,
}

fn graph_keys(repo: &RepoId, branch: &Branch) -> Keys {
    Keys::of([("graph", keys::graph(repo, branch))])
}

/// Requests the lease to build `commit`. No other process may use the name `builder`.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn lease_build(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
) -> Result<BuildLease, StoreError> {
    let request = LeaseBuildArgs {
        builder,
        commit: commit.as_str(),
        lease: LEASE_SECONDS,
    };
    let reply = graph_keys(repo, branch).call(store, &LEASE_BUILD, &request).await?;
    match reply.outcome.as_str() {
        "GRANTED" => Ok(BuildLease::Granted),
        "CURRENT" => Ok(BuildLease::Current),
        "BUSY" => Ok(BuildLease::Busy {
            until: reply.object::<OtherLease>()?.lease_until,
        }),
        "BACKING_OFF" => {
            let Pause { reason, retry_at } = reply.object()?;
            Ok(BuildLease::BackingOff {
                reason,
                until: retry_at,
            })
        }
        _ => reply.unknown(),
    }
}

/// Reports the progress of the build to all subscribers, and renews the lease of `builder`.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn report_build(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    progress: BuildProgress,
) -> Result<PublishOutcome, StoreError> {
    let mut keys = graph_keys(repo, branch);
    keys.add([("events", events::keys::events(repo))]);
    let request = ReportBuildArgs {
        builder,
        lease: LEASE_SECONDS,
        branch: branch.as_str(),
        progress,
    };
    let reply = keys.call(store, &REPORT_BUILD, &request).await?;
    match reply.outcome.as_str() {
        "REPORTED" => Ok(PublishOutcome::Done),
        "LOST" => Ok(PublishOutcome::LeaseLost),
        _ => reply.unknown(),
    }
}

/// Records that the build of `commit` failed, and returns the lease.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn fail_build(
    store: &dyn Store,
    repo: &RepoId,
    branch: &Branch,
    builder: &str,
    commit: &CommitSha,
    reason: &str,
) -> Result<(), StoreError> {
    let failure = FailBuildArgs {
        builder,
        commit: commit.as_str(),
        reason,
    };
    graph_keys(repo, branch).call(store, &FAIL_BUILD, &failure).await?;
    Ok(())
}

/// Returns the lease of `builder`, if it still has it.
///
/// # Errors
/// When the store does not respond, or its reply is malformed.
pub async fn return_lease(store: &dyn Store, repo: &RepoId, branch: &Branch, builder: &str) -> Result<(), StoreError> {
    let request = ReturnLeaseArgs { builder };
    graph_keys(repo, branch).call(store, &RETURN_LEASE, &request).await?;
    Ok(())
}
