//! Keeps graphs up to date on a server: one build at a time in the background, for each branch that was requested.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::builder::GraphBuilder;
use super::head_observer::HeadObserver;
use super::schedule::{BuildClaim, Pace, RepoBranch};
use super::upkeep::{Driver, RemainingWork, Upkeep};
use coord_graph::Limits;
use coord_runtime::mutex::lock;
use coord_sources::{Source, SourceError};
use coord_state::builds::return_lease;
use coord_store::Store;

/// How often the heads of known branches are read.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Time limit for returning a lease.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);

/// Maximum number of graphs in memory, for the next build of their branches.
const MAX_GRAPHS: usize = 16;

const PACE: Pace = Pace {
    max_claims: 256,
    // Until the branch has another head, or a request misses the graph.
    current: Duration::from_secs(u32::MAX as u64),
    // The other builder may have stopped and returned its lease.
    busy: Duration::from_secs(2),
    failed: Duration::from_secs(5),
};

/// Builds in the background; see the module.
pub struct BackgroundBuilds {
    upkeep: Upkeep,
    queue: mpsc::UnboundedSender<BuildClaim>,
    current: Mutex<Option<RepoBranch>>,
    /// The tasks that [`BackgroundBuilds::stop`] ends.
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl BackgroundBuilds {
    /// Starts the background work on the current runtime; it ends when the value is dropped. No other process may have
    /// the name `builder`.
    pub fn start(store: Arc<dyn Store>, source: Arc<dyn Source>, builder: String, limits: Limits) -> Arc<Self> {
        let (queue, claims) = mpsc::unbounded_channel();
        let builds = Arc::new(BackgroundBuilds {
            upkeep: Upkeep::new(GraphBuilder::new(store, source, builder, limits, MAX_GRAPHS), PACE),
            queue,
            current: Mutex::default(),
            tasks: Mutex::default(),
        });
        *lock(&builds.tasks) = vec![
            tokio::spawn(Self::process_claims(Arc::downgrade(&builds), claims)),
            tokio::spawn(Self::poll_heads(Arc::downgrade(&builds))),
        ];
        builds
    }

    /// Ends the background work. An interrupted build returns its lease, so that another process can begin at once.
    pub async fn stop(&self) {
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        for task in tasks {
            task.abort();
            // The error only says that the task was aborted.
            let _ = task.await;
        }
        let Some((repo, branch)) = lock(&self.current).take() else {
            return;
        };
        let builder = self.upkeep.builder();
        let returning = return_lease(builder.store(), &repo, &branch, builder.name());
        match tokio::time::timeout(STOP_TIMEOUT, returning).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, %repo, %branch, "the lease of a build could not be released"),
            Err(_) => tracing::warn!(%repo, %branch, "the lease of a build could not be released in time"),
        }
    }

    /// Number of graphs in memory, for the next build of their branches.
    pub async fn graphs_in_memory(&self) -> usize {
        self.upkeep.builder().builds_in_memory().await
    }

    async fn process_claims(builds: Weak<Self>, mut claims: mpsc::UnboundedReceiver<BuildClaim>) {
        while let Some(claim) = claims.recv().await {
            let Some(builds) = builds.upgrade() else { return };
            let key = claim.branch().clone();
            *lock(&builds.current) = Some(key.clone());
            let remaining = builds.upkeep.update(claim, None).await;
            lock(&builds.current).take();
            match remaining {
                RemainingWork::Nothing => {}
                RemainingWork::Retry(pause) => {
                    let builds = Arc::downgrade(&builds);
                    tokio::spawn(async move {
                        tokio::time::sleep(pause).await;
                        if let Some(builds) = builds.upgrade()
                            && let Some(claim) = builds.upkeep.schedule().claim_again(&key)
                        {
                            builds.start(claim);
                        }
                    });
                }
                RemainingWork::Unused => builds.upkeep.drop_unused(&key).await,
                // Requests about the branch get an error that says so.
                RemainingWork::Gone => builds.upkeep.forget(&key).await,
            }
        }
    }

    async fn poll_heads(builds: Weak<Self>) {
        let mut interval = tokio::time::interval(POLL_INTERVAL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            let Some(builds) = builds.upgrade() else { return };
            let source = builds.upkeep.builder().source();
            for key in builds.upkeep.schedule().branches() {
                let (repo, branch) = &key;
                if source.keeps_heads_in_store(repo) {
                    // Requests about the branch also refresh its head when that is due.
                    continue;
                }
                match source.head(repo, branch).await {
                    Ok(head) => builds.saw_move(repo, branch, &head),
                    Err(SourceError::UnknownBranch { .. }) => builds.upkeep.forget(&key).await,
                    Err(error) => tracing::debug!(%error, %repo, %branch, "the head could not be read"),
                }
            }
        }
    }
}

impl Driver for BackgroundBuilds {
    fn upkeep(&self) -> &Upkeep {
        &self.upkeep
    }

    fn start(&self, claim: BuildClaim) {
        if self.queue.send(claim).is_err() {
            tracing::debug!("the background builds have stopped");
        }
    }
}
