//! Keeps heads recorded and graphs built, in the background, for every branch that somebody asks about.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::builder::{GraphBuilder, Watched};
use super::publish::BuildError;
use crate::app::HeadObserver;
use crate::domain::{Branch, CommitSha, RepoId};
use crate::source::{Source, SourceError};
use crate::store::scripts::{BuildLease, LearntHead, forget_head, record_head, return_lease};
use crate::store::{Store, StoreError};
use coord_graph::Limits;

/// How often the branches that are watched are looked at.
const POLL: Duration = Duration::from_secs(2);

/// After this long, what could not be done is tried again.
const RETRY: Duration = Duration::from_secs(5);

/// After this long, a builder that was at it is asked for its lease again: it may have been stopped, and have given it back.
const BUSY_RETRY: Duration = Duration::from_secs(2);

/// Longest time for giving a lease back.
const STOP_TIME: Duration = Duration::from_secs(2);

/// Branches watched at once. Past that, the watch begins anew with those that are asked about.
const MOST_BRANCHES: usize = 256;

/// Graphs kept in memory for the next build.
const MOST_GRAPHS: usize = 16;

/// Commits recorded with a head, so that a function without a source can tell that one of them was pushed.
const RECENT_COMMITS: usize = 200;

/// Watches branches; see the module.
pub struct GraphKeeper {
    builder: Arc<GraphBuilder>,
    heads: Mutex<HashMap<RepoId, HashMap<Branch, CommitSha>>>,
    /// Branches that wait for their turn, so that each waits once.
    queued: Mutex<HashSet<Watched>>,
    queue: mpsc::UnboundedSender<Watched>,
    /// What is brought up to date now.
    under_way: Mutex<Option<Watched>>,
    /// What ends with [`GraphKeeper::stop`].
    tasks: Mutex<Vec<JoinHandle<()>>>,
}

/// Why a branch could not be brought up to date.
#[derive(Debug, thiserror::Error)]
enum KeepError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Build(#[from] BuildError),
}

/// What is left to do for a branch.
enum Kept {
    Done,
    Later(Duration),
}

impl GraphKeeper {
    /// Starts the background work on the current runtime; it ends when the keeper is dropped. `builder` is a name that no
    /// other process has.
    pub fn start(store: Arc<dyn Store>, source: Arc<dyn Source>, builder: String, limits: Limits) -> Arc<Self> {
        let (queue, waiting) = mpsc::unbounded_channel();
        let keeper = Arc::new(GraphKeeper {
            builder: GraphBuilder::new(store, source, builder, limits, MOST_GRAPHS),
            heads: Mutex::default(),
            queued: Mutex::default(),
            queue,
            under_way: Mutex::default(),
            tasks: Mutex::default(),
        });
        *lock(&keeper.tasks) = vec![
            tokio::spawn(Self::work(Arc::downgrade(&keeper), waiting)),
            tokio::spawn(Self::poll(Arc::downgrade(&keeper))),
        ];
        keeper
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
        let returning = return_lease(self.builder.store(), &repo, &branch, self.builder.name());
        match tokio::time::timeout(STOP_TIME, returning).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, %repo, %branch, "the lease of a build could not be given back"),
            Err(_) => tracing::warn!(%repo, %branch, "the lease of a build could not be given back in time"),
        }
    }

    async fn work(keeper: Weak<Self>, mut waiting: mpsc::UnboundedReceiver<Watched>) {
        while let Some(watched) = waiting.recv().await {
            let Some(keeper) = keeper.upgrade() else { return };
            lock(&keeper.queued).remove(&watched);
            let (repo, branch) = &watched;
            *lock(&keeper.under_way) = Some(watched.clone());
            let kept = keeper.keep(&watched).await;
            lock(&keeper.under_way).take();
            match kept {
                Ok(Kept::Done) => {}
                Ok(Kept::Later(pause)) => keeper.enqueue_later(watched, pause),
                Err(KeepError::Source(SourceError::UnknownBranch { .. } | SourceError::UnknownRepository { .. })) => {
                    // The branch is gone; whoever asks about it is told so.
                    keeper.forget(repo, branch).await;
                }
                Err(error) => {
                    tracing::warn!(%error, %repo, %branch, "the import graph could not be brought up to date");
                    keeper.enqueue_later(watched, RETRY);
                }
            }
        }
    }

    async fn poll(keeper: Weak<Self>) {
        let mut interval = tokio::time::interval(POLL);
        interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            interval.tick().await;
            let Some(keeper) = keeper.upgrade() else { return };
            for (repo, branch) in keeper.watched() {
                if keeper.builder.source().keeps_heads_in_store(&repo) {
                    // Whoever asks about the branch asks for its head as well, when it is due.
                    continue;
                }
                match keeper.builder.source().head(&repo, &branch).await {
                    Ok(head) => keeper.saw_head(&repo, &branch, &head),
                    Err(SourceError::UnknownBranch { .. }) => keeper.forget(&repo, &branch).await,
                    Err(error) => tracing::debug!(%error, %repo, %branch, "the head could not be read"),
                }
            }
        }
    }

    fn watched(&self) -> Vec<Watched> {
        let heads = lock(&self.heads);
        let pairs = |(repo, branches): (&RepoId, &HashMap<Branch, CommitSha>)| {
            let pairs = branches.keys().map(|branch| (repo.clone(), branch.clone()));
            pairs.collect::<Vec<_>>()
        };
        heads.iter().flat_map(pairs).collect()
    }

    fn enqueue(&self, watched: Watched) {
        let is_new = lock(&self.queued).insert(watched.clone());
        if is_new && self.queue.send(watched).is_err() {
            tracing::debug!("the keeper has stopped");
        }
    }

    fn enqueue_later(self: &Arc<Self>, watched: Watched, pause: Duration) {
        let keeper = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            if let Some(keeper) = keeper.upgrade() {
                keeper.enqueue(watched);
            }
        });
    }

    /// Watches a branch no more that is gone, and lets the store forget it.
    async fn forget(&self, repo: &RepoId, branch: &Branch) {
        if let Some(branches) = lock(&self.heads).get_mut(repo) {
            branches.remove(branch);
        }
        if let Err(error) = forget_head(self.builder.store(), repo, branch).await {
            tracing::debug!(%error, %repo, %branch, "a branch that is gone could not be forgotten");
        }
    }

    /// The head that was seen last.
    fn seen(&self, repo: &RepoId, branch: &Branch) -> Option<CommitSha> {
        let heads = lock(&self.heads);
        heads.get(repo)?.get(branch).cloned()
    }

    async fn keep(&self, watched: &Watched) -> Result<Kept, KeepError> {
        let (repo, branch) = watched;
        let (store, source) = (self.builder.store(), self.builder.source());
        let head = if source.keeps_heads_in_store(repo) {
            let Some(head) = self.seen(repo, branch) else {
                return Ok(Kept::Done);
            };
            head
        } else {
            let head = source.head(repo, branch).await?;
            let recent = source.recent_commits(repo, &head, RECENT_COMMITS).await?;
            record_head(store, repo, branch, &LearntHead::local(&head, &recent)).await?;
            head
        };
        match self.builder.begin().await.build(watched, &head, None).await? {
            BuildLease::Granted | BuildLease::Current => Ok(Kept::Done),
            BuildLease::Busy { .. } => Ok(Kept::Later(BUSY_RETRY)),
            BuildLease::BackingOff { reason, .. } => {
                tracing::debug!(%reason, %repo, %branch, "the build has failed and waits");
                Ok(Kept::Later(RETRY))
            }
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HeadObserver for GraphKeeper {
    fn saw_head(&self, repo: &RepoId, branch: &Branch, head: &CommitSha) {
        {
            let mut heads = lock(&self.heads);
            if heads.get(repo).and_then(|branches| branches.get(branch)) == Some(head) {
                return;
            }
            if heads.values().map(HashMap::len).sum::<usize>() >= MOST_BRANCHES {
                heads.clear();
            }
            heads
                .entry(repo.clone())
                .or_default()
                .insert(branch.clone(), head.clone());
        }
        self.enqueue((repo.clone(), branch.clone()));
    }

    fn misses_graph(&self, repo: &RepoId, branch: &Branch, head: &CommitSha) {
        self.saw_head(repo, branch, head);
        self.enqueue((repo.clone(), branch.clone()));
    }

    fn look_again(&self) {
        for watched in self.watched() {
            self.enqueue(watched);
        }
    }
}
