//! One build from the lease to the published graph.

use std::sync::Arc;

use tokio::time::{Instant, timeout_at};

use super::build::{build_tree, to_nfc};
use super::error::BuildError;
use super::job::{Job, LastBuild};
use super::previous_records::load_records;
use super::progress_report::Reporter;
use super::publish::publish;
use super::settled_pending;
use super::stored_ignore::StoredIgnore;
use super::stored_policy::{self, LoadedPolicy};
use coord_graph::Previous;
use coord_sources::Source;
use coord_state::builds::{BuildLease, PublishOutcome, fail_build, lease_build};
use coord_store::Store;

/// Builds the graph of `job` and publishes it, unless it is already stored or another builder has the lease. `last` is
/// the previous build of this process; the new one replaces it. A build that is stopped at `end_by` counts as failed.
///
/// # Errors
/// When the repository or the store cannot be read or written. The failure is recorded in the store if possible.
pub async fn build_and_publish(
    store: Arc<dyn Store>,
    source: &dyn Source,
    job: Job<'_>,
    last: &mut Option<LastBuild>,
    end_by: Option<Instant>,
) -> Result<BuildLease, BuildError> {
    let Job {
        repo,
        branch,
        commit,
        builder,
        ..
    } = job;
    let lease = lease_build(&*store, repo, branch, builder, commit).await?;
    if lease != BuildLease::Granted {
        return Ok(lease);
    }
    let building = build_leased(&store, source, job, last);
    let result = match end_by {
        None => building.await,
        Some(end_by) => timeout_at(end_by, building).await.unwrap_or(Err(BuildError::TimeUp)),
    };
    if let Err(error) = &result {
        // The cause is for the log. The store, and so the page, get a sentence without local paths.
        let reason = match error {
            BuildError::Source(_) => "the repository could not be read",
            BuildError::Store(_) | BuildError::Torn => "the store could not be written",
            BuildError::Encoding(_) => "the graph could not be encoded",
            BuildError::TimeUp => "it exceeded the time limit of a build",
        };
        if let Err(error) = fail_build(&*store, repo, branch, builder, commit, reason).await {
            tracing::debug!(%error, "the failure of a build could not be noted");
        }
    }
    match result? {
        // Another builder has the lease, or the store has lost it.
        PublishOutcome::LeaseLost => Ok(BuildLease::Busy { until: 0 }),
        PublishOutcome::Done | PublishOutcome::Rebased | PublishOutcome::Torn => Ok(lease),
    }
}

async fn build_leased(
    store: &Arc<dyn Store>,
    source: &dyn Source,
    job: Job<'_>,
    last: &mut Option<LastBuild>,
) -> Result<PublishOutcome, BuildError> {
    let reporter = Reporter::start(store, job);
    let building = async {
        let (tree, left_out) = to_nfc(source.tree(job.repo, job.commit).await?);
        if left_out > 0 {
            tracing::warn!(
                repo = %job.repo, commit = %job.commit, left_out,
                "files whose paths are equal in Unicode NFC are left out of the graph"
            );
        }
        let previous = match last {
            Some(built) => Previous::Snapshot(Arc::clone(&built.snapshot)),
            None => Previous::Stored(load_records(&**store, job.repo, job.branch, &tree).await?),
        };
        let last_ignore = last.as_ref().and_then(|built| built.ignore.as_ref());
        let ignore = StoredIgnore::read(source, job.repo, &tree, last_ignore).await?;
        let last_policy = last.as_ref().map(|built| &built.policy);
        let LoadedPolicy {
            policy,
            tree,
            without_neighbors,
        } = stored_policy::load(&**store, source, job, tree, last_policy).await?;
        if let Err(error) = settled_pending::settle(&**store, source, job, &tree).await {
            tracing::debug!(%error, repo = %job.repo, branch = %job.branch, "pending changes stay for the next build");
        }
        let snapshot = build_tree(source, job.repo, tree, previous, job.limits, reporter.sink()).await?;
        let neighbors = if without_neighbors.is_empty() {
            Arc::clone(snapshot.graph())
        } else {
            Arc::new(snapshot.graph().without(|path| without_neighbors.contains(path)))
        };
        Ok::<_, BuildError>(LastBuild {
            commit: job.commit.clone(),
            snapshot: Arc::new(snapshot),
            ignore,
            policy,
            neighbors,
        })
    };
    let built = tokio::select! {
        built = building => built?,
        () = reporter.lease_lost() => {
            tracing::debug!(repo = %job.repo, branch = %job.branch, "a build lost its lease and stops");
            return Ok(PublishOutcome::LeaseLost);
        }
    };
    drop(reporter);
    let published = publish(&**store, job, &built, last.as_ref()).await?;
    if published == PublishOutcome::LeaseLost {
        tracing::debug!(repo = %job.repo, branch = %job.branch, "another builder has taken over");
    }
    *last = Some(built);
    Ok(published)
}
