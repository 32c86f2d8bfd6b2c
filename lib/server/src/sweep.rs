//! Drops and announces expired locks and expired records of extensions. No claim depends on it: an expired lock is free at
//! that instant.

use std::time::{Duration, Instant};

use serde::Serialize;
use utoipa::ToSchema;

use crate::extension::Extensions;
use coord_domain::RepoId;
use coord_state::expiry::{DueRepository, settle_due, take_due};
use coord_state::sweep::sweep;
use coord_store::{Store, StoreError};

/// Repositories taken from the due list at once.
const MOST_REPOSITORIES: usize = 100;

/// Files, or records of an extension, per script run, so that no script blocks the store for long.
const MOST_AT_ONCE: usize = 500;

/// Time after which a sweep stops; the rest is due in the next.
const MOST_TIME: Duration = Duration::from_secs(20);

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

/// Sweeps every repository in which a lock, or a record of one of `extensions`, may have expired.
/// Sweeps may run concurrently. If nothing is due, it costs four store commands.
///
/// # Errors
/// When the store does not respond. Repositories that were taken but not completed are due again a minute later.
pub async fn sweep_due(store: &dyn Store, extensions: &Extensions) -> Result<SweepReport, StoreError> {
    let started = Instant::now();
    let mut report = SweepReport::default();
    while started.elapsed() < MOST_TIME {
        let taken = take_due(store, MOST_REPOSITORIES).await?;
        let count = taken.len();
        for repository in taken {
            report.repositories += 1;
            report.expired += sweep_repository(store, &repository, extensions, started).await?;
        }
        if count < MOST_REPOSITORIES {
            report.is_complete = true;
            break;
        }
    }
    if let Err(error) = store.delete_unused_libraries(coord_state::libraries::library()).await {
        tracing::warn!(%error, "unused libraries of functions could not be looked for");
    }
    Ok(report)
}

async fn sweep_repository(
    store: &dyn Store,
    taken: &DueRepository,
    extensions: &Extensions,
    started: Instant,
) -> Result<u64, StoreError> {
    let Ok(repo) = RepoId::parse(&format!("https://{}", taken.name)) else {
        tracing::error!(
            name = taken.name,
            "an entry of the due list names no repository; it is dropped"
        );
        let forgotten = DueRepository {
            is_last_look: true,
            ..taken.clone()
        };
        settle_due(store, &forgotten, None).await?;
        return Ok(0);
    };
    let mut expired = 0;
    loop {
        let swept = sweep(store, &repo, MOST_AT_ONCE).await?;
        expired += swept.expired;
        for extension in extensions.iter() {
            expired += extension.settle(store, &repo, &swept.due, MOST_AT_ONCE).await?;
        }
        // Parts stay due until their records are settled, whatever ends this sweep.
        let has_more = swept.next_expiry.is_some_and(|expiry| expiry <= swept.now);
        if !has_more || started.elapsed() >= MOST_TIME {
            if swept.has_unfinished {
                for extension in extensions.iter() {
                    extension.finish(store, &repo).await?;
                }
            }
            settle_due(store, taken, swept.next_expiry).await?;
            return Ok(expired);
        }
    }
}
