//! Graphs built by functions: after an answer, by whoever has met a head that the stored graph is not of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::builder::{GraphBuilder, Watched, random_name};
use crate::after_answer::{Allotted, defer};
use crate::app::HeadObserver;
use crate::domain::{Branch, CommitSha, RepoId};
use crate::source::Source;
use crate::store::scripts::BuildLease;
use crate::store::{Request, Store, StoreError, Value, keys};
use coord_graph::Limits;

/// For this long nobody asks whether the graph of a head is there, once it was.
const QUIET: Duration = Duration::from_secs(60);

/// For this long nobody asks again whether a graph may be built that another is building, or that could not be built.
const RETRY: Duration = Duration::from_secs(15);

/// Branches remembered at once. Past that, those are forgotten that may be asked about, and then all.
const MOST_BRANCHES: usize = 256;

/// Branches that may be at it at once, of which one builds.
const MOST_WAITING: usize = 8;

/// Graphs kept in memory for the next build.
const MOST_GRAPHS: usize = 2;

/// Builds after answers; see the module.
pub struct DeferredBuilds(Arc<Shared>);

struct Shared {
    builder: Arc<GraphBuilder>,
    seen: Mutex<HashMap<Watched, Seen>>,
    turns: Arc<Semaphore>,
}

/// What is known of a branch.
struct Seen {
    head: CommitSha,
    /// Until then there is nothing to do for that head, as far as is known.
    quiet_until: Instant,
    is_under_way: bool,
}

impl DeferredBuilds {
    /// Builds what `source` has into `store`.
    pub fn new(store: Arc<dyn Store>, source: Arc<dyn Source>, limits: Limits) -> Self {
        DeferredBuilds(Arc::new(Shared {
            builder: GraphBuilder::new(store, source, random_name(), limits, MOST_GRAPHS),
            seen: Mutex::default(),
            turns: Arc::new(Semaphore::new(MOST_WAITING)),
        }))
    }
}

impl HeadObserver for DeferredBuilds {
    fn saw_head(&self, repo: &RepoId, branch: &Branch, head: &CommitSha) {
        let watched = (repo.clone(), branch.clone());
        let Some(turn) = self.0.take_turn(&watched, head) else {
            return;
        };
        let shared = Arc::clone(&self.0);
        if !defer(|allotted| async move { shared.bring_up(turn, allotted).await }) {
            self.0.lock().remove(&watched);
            tracing::debug!(%repo, %branch, "nothing waits for a build here");
        }
    }

    /// What has just been found to be built, or on its way, by this process is believed for a moment all the same: the answer that
    /// said otherwise may be older.
    fn misses_graph(&self, repo: &RepoId, branch: &Branch, head: &CommitSha) {
        {
            let mut seen = self.0.lock();
            let later = Instant::now() + RETRY;
            let watched = (repo.clone(), branch.clone());
            if let Some(seen) = seen.get_mut(&watched).filter(|seen| seen.quiet_until > later) {
                seen.quiet_until = Instant::now();
            }
        }
        self.saw_head(repo, branch, head);
    }

    /// Of the branches that this process has met. A function that only sweeps has met none, and the store does not list
    /// branches; whoever next asks about one brings its graph up to date.
    fn look_again(&self) {
        let again: Vec<(Watched, CommitSha)> = {
            let mut seen = self.0.lock();
            let idle = seen.iter_mut().filter(|(_, seen)| !seen.is_under_way);
            idle.map(|(watched, seen)| {
                seen.quiet_until = Instant::now();
                (watched.clone(), seen.head.clone())
            })
            .collect()
        };
        for ((repo, branch), head) in again {
            self.saw_head(&repo, &branch, &head);
        }
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<Watched, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn, where there may be something to do for `head`. The branch is then noted as under way.
    fn take_turn(self: &Arc<Self>, watched: &Watched, head: &CommitSha) -> Option<Turn> {
        let now = Instant::now();
        let mut seen = self.lock();
        if seen
            .get(watched)
            .is_some_and(|seen| seen.head == *head && (seen.is_under_way || seen.quiet_until > now))
        {
            return None;
        }
        let permit = Arc::clone(&self.turns).try_acquire_owned().ok()?;
        if seen.len() >= MOST_BRANCHES {
            seen.retain(|_, seen| seen.is_under_way || seen.quiet_until > now);
        }
        if seen.len() >= MOST_BRANCHES {
            seen.clear();
        }
        let noted = Seen {
            head: head.clone(),
            quiet_until: now,
            is_under_way: true,
        };
        seen.insert(watched.clone(), noted);
        drop(seen);
        Some(Turn {
            shared: Arc::clone(self),
            watched: watched.clone(),
            head: head.clone(),
            quiet: RETRY,
            _permit: permit,
        })
    }

    async fn bring_up(&self, mut turn: Turn, allotted: Allotted) {
        let (repo, branch) = turn.watched.clone();
        // What is begun late would be ended early, and count as failed.
        let begin_by = allotted.began + (allotted.end_by - allotted.began) / 2;
        let Ok(mut building) = timeout_at(begin_by, self.builder.begin()).await else {
            tracing::info!(%repo, %branch, "other graphs took so long that this one was not begun");
            return;
        };
        // Where the branch has moved meanwhile, the newer head has a turn of its own.
        let mut next = Some(turn.head.clone()).filter(|_| turn.is_newest());
        while let Some(head) = next.take() {
            match building.build(&turn.watched, &head, Some(allotted.end_by)).await {
                Ok(BuildLease::Granted) => {
                    turn.done(&head);
                    if Instant::now() < begin_by {
                        next = self.moved_from(&turn.watched, &head).await;
                    }
                }
                Ok(BuildLease::Current) => turn.done(&head),
                Ok(BuildLease::Busy { .. }) => {
                    tracing::debug!(%repo, %branch, "another builds the graph");
                }
                Ok(BuildLease::BackingOff { reason, .. }) => {
                    tracing::debug!(%reason, %repo, %branch, "the build has failed and waits");
                }
                Err(error) => {
                    tracing::warn!(%error, %repo, %branch, "the import graph could not be brought up to date");
                }
            }
        }
    }

    /// The head of the branch, where that is another than `built` by now: who met it meanwhile was told that the graph is being
    /// built, and went away.
    async fn moved_from(&self, (repo, branch): &Watched, built: &CommitSha) -> Option<CommitSha> {
        match stored_head(self.builder.store(), repo, branch).await {
            Ok(head) => head.filter(|head| head != built),
            Err(error) => {
                tracing::debug!(%error, %repo, %branch, "whether the branch has moved could not be read");
                None
            }
        }
    }
}

/// One branch being brought up to date. Dropped when that has ended, in whatever way.
struct Turn {
    shared: Arc<Shared>,
    watched: Watched,
    head: CommitSha,
    /// How long nobody needs to ask again.
    quiet: Duration,
    _permit: OwnedSemaphorePermit,
}

impl Turn {
    /// No other head of the branch has been seen since.
    fn is_newest(&self) -> bool {
        let seen = self.shared.lock();
        seen.get(&self.watched).is_none_or(|seen| seen.head == self.head)
    }

    /// The graph in the store is that of `head`.
    fn done(&mut self, head: &CommitSha) {
        if *head == self.head {
            self.quiet = QUIET;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut seen = self.shared.lock();
        // A newer head has a turn of its own.
        if let Some(seen) = seen.get_mut(&self.watched).filter(|seen| seen.head == self.head) {
            seen.is_under_way = false;
            seen.quiet_until = Instant::now() + self.quiet;
        }
    }
}

async fn stored_head(store: &dyn Store, repo: &RepoId, branch: &Branch) -> Result<Option<CommitSha>, StoreError> {
    let question = Request::command(["HGET", &keys::head(repo, branch), "commit"]);
    match store.run(vec![question]).await?.into_iter().next() {
        Some(Value::Error(error)) => Err(StoreError::Failed(error)),
        Some(value) => Ok(value.as_str().and_then(|text| CommitSha::parse(text).ok())),
        None => Ok(None),
    }
}
