//! Reports to the store the progress of a build, and that its builder is alive.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::build::ProgressSink;
use super::job::Job;
use coord_domain::BuildProgress;
use coord_state::builds::{PublishOutcome, report_build};
use coord_store::Store;

/// Minimum time between two reports.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Maximum time between two reports: well within the lease, which each report renews.
const MAX_INTERVAL: Duration = Duration::from_secs(15);

/// Reports until it is dropped.
pub(super) struct Reporter {
    progress: watch::Sender<BuildProgress>,
    is_lease_lost: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

impl Reporter {
    pub(super) fn start(store: &Arc<dyn Store>, job: Job<'_>) -> Self {
        let (progress, mut news) = watch::channel(BuildProgress::default());
        let (set_lease_lost, is_lease_lost) = watch::channel(false);
        let store = Arc::clone(store);
        let (repo, branch, builder) = (job.repo.clone(), job.branch.clone(), job.builder.to_owned());
        let task = tokio::spawn(async move {
            loop {
                // Either there is progress, or it is time to show that the builder is alive.
                if let Ok(Err(_)) = tokio::time::timeout(MAX_INTERVAL, news.changed()).await {
                    return;
                }
                let progress = *news.borrow_and_update();
                match report_build(&*store, &repo, &branch, &builder, progress).await {
                    Ok(PublishOutcome::LeaseLost) => {
                        set_lease_lost.send_replace(true);
                        return;
                    }
                    Ok(_) => {}
                    Err(error) => {
                        tracing::debug!(%error, %repo, %branch, "the progress of a build could not be reported");
                    }
                }
                tokio::time::sleep(MIN_INTERVAL).await;
            }
        });
        Reporter {
            progress,
            is_lease_lost,
            task,
        }
    }

    /// Completes when the store refuses a report because another builder has the lease.
    pub(super) async fn lease_lost(&self) {
        let mut is_lease_lost = self.is_lease_lost.clone();
        if is_lease_lost.wait_for(|is_lost| *is_lost).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    pub(super) fn sink(&self) -> ProgressSink {
        let sender = self.progress.clone();
        Arc::new(move |progress| {
            // Several threads report; the newest progress is the one with the most files scanned.
            sender.send_if_modified(|newest| {
                let is_newer = newest.scanned <= progress.scanned && *newest != progress;
                if is_newer {
                    *newest = progress;
                }
                is_newer
            });
        })
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.task.abort();
    }
}
