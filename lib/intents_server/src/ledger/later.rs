//! Sealing after the response: in a function when the response is out, in a server by a task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::sealing::seal_lines;
use coord_domain::RepoId;
use coord_runtime::after_response::defer;
use coord_store::Store;

/// Seals the ledgers to which requests have appended. One sealing of a repository is under way at a time in a process; lines that are
/// appended meanwhile are sealed by one more after it.
#[derive(Debug, Default)]
pub struct Sealing {
    /// The repositories that are sealed now, and whether once more.
    running: Mutex<HashMap<RepoId, bool>>,
    /// How often this process has appended.
    appended: watch::Sender<u64>,
}

/// Ends the sealing of a repository, also where its work is dropped.
struct SealingGuard {
    sealing: Arc<Sealing>,
    repo: RepoId,
    is_over: bool,
}

impl Sealing {
    /// Seals the lines of `repo` after the response, and drops the oldest beyond `most_lines`. It returns at once.
    pub fn seal_later(self: &Arc<Self>, store: &Arc<dyn Store>, repo: &RepoId, most_lines: usize) {
        self.appended.send_modify(|count| *count += 1);
        let Some(mut running) = self.begin(repo) else {
            return;
        };
        let store = Arc::clone(store);
        let mut work = Some(async move {
            loop {
                if let Err(error) = seal_lines(&*store, &running.repo, most_lines).await {
                    tracing::warn!(repo = %running.repo, %error, "the ledger was not sealed; the next request or sweep does");
                    return;
                }
                if !running.once_more() {
                    return;
                }
            }
        });
        let is_deferred = defer(|_| work.take().expect("it is taken once"));
        if let Some(work) = work.filter(|_| !is_deferred) {
            tokio::spawn(work);
        }
    }

    /// Changes whenever this process has appended to a ledger.
    pub fn appended(&self) -> watch::Receiver<u64> {
        self.appended.subscribe()
    }

    /// Begins the sealing of `repo`, unless one is under way, which is then asked for one more.
    fn begin(self: &Arc<Self>, repo: &RepoId) -> Option<SealingGuard> {
        let mut running = self.lock();
        if let Some(once_more) = running.get_mut(repo) {
            *once_more = true;
            return None;
        }
        running.insert(repo.clone(), false);
        Some(SealingGuard {
            sealing: Arc::clone(self),
            repo: repo.clone(),
            is_over: false,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RepoId, bool>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SealingGuard {
    /// Whether lines were appended since the last call; if not, the sealing is over.
    fn once_more(&mut self) -> bool {
        let mut running = self.sealing.lock();
        let once_more = running.get_mut(&self.repo).is_some_and(std::mem::take);
        if !once_more {
            running.remove(&self.repo);
            self.is_over = true;
        }
        once_more
    }
}

impl Drop for SealingGuard {
    fn drop(&mut self) {
        if !self.is_over {
            self.sealing.lock().remove(&self.repo);
        }
    }
}
