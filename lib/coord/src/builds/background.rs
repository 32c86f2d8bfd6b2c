//! Graphs kept up to date by a server: one build after the other in the background, for every branch that callers ask about.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::builder::GraphBuilder;
use super::head_observer::HeadObserver;
use super::schedule::{BuildClaim, Pace, RepoBranch};
use super::upkeep::{Driver, Remaining, Upkeep};
use crate::source::{Source, SourceError};
use crate::store::Store;
use crate::store::scripts::return_lease;
use coord_graph::Limits;

/// Time between two looks at the heads of the branches that are remembered.
const POLL: Duration = Duration::from_secs(2);

/// Longest time for giving a lease back.
const STOP_TIME: Duration = Duration::from_secs(2);

/// Graphs kept in memory for the next build.
const MOST_GRAPHS: usize = 16;

const PACE: Pace = Pace {
    most_claims: 256,
    // Until another head is seen, or the graph is missed.
    current: Duration::from_secs(u32::MAX as u64),
    // The other builder may have been stopped, and have given its lease back.
    busy: Duration::from_secs(2),
    failed: Duration::from_secs(5),
};

/// Builds in the background; see the module.
pub struct BackgroundBuilds {
    upkeep: Upkeep,
    queue: mpsc::UnboundedSender<BuildClaim>,
    /// The branch that is brought up to date now.
    under_way: Mutex<Option<RepoBranch>>,
    /// What ends with [`BackgroundBuilds::stop`].
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

impl BackgroundBuilds {
    /// Starts the background work on the current runtime; it ends when the value is dropped. `builder` is a name that no
    /// other process has.
    pub fn start(store: Arc<dyn Store>, source: Arc<dyn Source>, builder: String, limits: Limits) -> Arc<Self> {
        let (queue, waiting) = mpsc::unbounded_channel();
        let builds = Arc::new(BackgroundBuilds {
            upkeep: Upkeep::new(GraphBuilder::new(store, source, builder, limits, MOST_GRAPHS), PACE),
            queue,
            under_way: Mutex::default(),
            tasks: Mutex::default(),
        });
        *lock(&builds.tasks) = vec![
            tokio::spawn(Self::work(Arc::downgrade(&builds), waiting)),
            tokio::spawn(Self::poll(Arc::downgrade(&builds))),
        ];
        builds
    }

    /// Ends the background work. A build that is cut off gives its lease back, so that another process can begin at once.
    pub async fn stop(&self) {
        let tasks = std::mem::take(&mut *lock(&self.tasks));
        for task in tasks {
            task.abort();
            // An error says that it was aborted, as it should be.
            let _ = task.await;
        }
        let Some((repo, branch)) = lock(&self.under_way).take() else {
            return;
        };
        let builder = self.upkeep.builder();
        let returning = return_lease(builder.store(), &repo, &branch, builder.name());
        match tokio::time::timeout(STOP_TIME, returning).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, %repo, %branch, "the lease of a build could not be given back"),
            Err(_) => tracing::warn!(%repo, %branch, "the lease of a build could not be given back in time"),
        }
    }

    async fn work(builds: Weak<Self>, mut waiting: mpsc::UnboundedReceiver<BuildClaim>) {
        while let Some(claim) = waiting.recv().await {
            let Some(builds) = builds.upgrade() else { return };
            let key = claim.branch().clone();
            *lock(&builds.under_way) = Some(key.clone());
            let remaining = builds.upkeep.bring_up(claim, None).await;
            lock(&builds.under_way).take();
            match remaining {
                Remaining::Nothing => {}
                Remaining::Retry(pause) => {
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
                // Callers that ask about it are told so.
                Remaining::Gone => builds.upkeep.forget(&key).await,
            }
        }
    }

    async fn poll(builds: Weak<Self>) {
        let mut interval = tokio::time::interval(POLL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            let Some(builds) = builds.upgrade() else { return };
            let source = builds.upkeep.builder().source();
            for key in builds.upkeep.schedule().branches() {
                let (repo, branch) = &key;
                if source.keeps_heads_in_store(repo) {
                    // Callers that ask about the branch ask for its head as well, when it is due.
                    continue;
                }
                match source.head(repo, branch).await {
                    Ok(head) => builds.saw_head(repo, branch, &head),
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

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
