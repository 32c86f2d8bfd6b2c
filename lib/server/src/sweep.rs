//! Drops and announces expired locks and expired records of extensions. No claim depends on it: a file is free as soon
//! as its lock has expired.

use std::time::{Duration, Instant};

use serde::Serialize;
use utoipa::ToSchema;

use crate::extension::Extensions;
use coord_domain::RepoId;
use coord_state::expiry::{DueRepository, settle_due, take_due};
use coord_state::sweep::sweep;
use coord_store::{Store, StoreError};

/// Maximum number of repositories that are taken from the due list at once.
const MAX_REPOSITORIES: usize = 100;

/// Maximum number of files, or records of an extension, per script run, so that no script blocks the store for long.
const MAX_AT_ONCE: usize = 500;

/// Time after which a sweep stops; the next one continues.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Result of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct SweepReport {
    /// Repositories that were swept.
    pub repositories: u64,
    /// Expired locks and claims of tasks, each of which was published in an event.
    pub expired: u64,
    /// Whether every repository that was due was swept.
    pub is_complete: bool,
}

/// Sweeps every repository in which a lock, or a record of one of `extensions`, may have expired. Sweeps may run
/// concurrently. If nothing is due, it costs four store commands.
///
/// # Errors
/// When the store does not respond. Repositories that were taken but not completed are due again a minute later.
pub async fn sweep_due(store: &dyn Store, extensions: &Extensions) -> Result<SweepReport, StoreError> {
    let started = Instant::now();
    let mut report = SweepReport::default();
    while started.elapsed() < TIME_LIMIT {
        let due = take_due(store, MAX_REPOSITORIES).await?;
        let count = due.len();
        for repository in due {
            report.repositories += 1;
            report.expired += sweep_repository(store, &repository, extensions, started).await?;
        }
        if count < MAX_REPOSITORIES {
            report.is_complete = true;
            break;
        }
    }
    if let Err(error) = store.delete_unused_libraries(coord_state::libraries::library()).await {
        tracing::warn!(%error, "unused function libraries could not be deleted");
    }
    Ok(report)
}

async fn sweep_repository(
    store: &dyn Store,
    due: &DueRepository,
    extensions: &Extensions,
    started: Instant,
) -> Result<u64, StoreError> {
    let Ok(repo) = RepoId::parse(&format!("https://{}", due.name)) else {
        tracing::error!(
            name = due.name,
            "dropping an entry of the due list that names no repository"
        );
        let dropped = DueRepository {
            is_last_look: true,
            ..due.clone()
        };
        settle_due(store, &dropped, None).await?;
        return Ok(0);
    };
    let mut expired = 0;
    loop {
        let swept = sweep(store, &repo, MAX_AT_ONCE).await?;
        expired += swept.expired;
        for extension in extensions.iter() {
            expired += extension.settle(store, &repo, &swept.due, MAX_AT_ONCE).await?;
        }
        // Parts of the repository stay due until their records are settled, even if this sweep stops early.
        let has_more = swept.next_expiry.is_some_and(|expiry| expiry <= swept.now);
        if !has_more || started.elapsed() >= TIME_LIMIT {
            if swept.has_unfinished {
                for extension in extensions.iter() {
                    extension.finish(store, &repo).await?;
                }
            }
            settle_due(store, due, swept.next_expiry).await?;
            return Ok(expired);
        }
    }
}
