//! Sealing after the response: a function does it once the response is sent, a server in a task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use super::sealing::seal_lines;
use coord_domain::RepoId;
use coord_runtime::after_response::defer;
use coord_runtime::mutex::lock;
use coord_store::Store;

/// Seals the ledgers to which requests have appended. A process runs one sealing of a repository at a time, and once
/// more if lines are appended meanwhile.
#[derive(Debug, Default)]
pub struct Sealing {
    /// The repositories that are being sealed, and whether lines were appended meanwhile.
    running: Mutex<HashMap<RepoId, bool>>,
    /// How often this process has appended.
    appended: watch::Sender<u64>,
}

/// Ends the sealing of a repository, even if its task is dropped.
struct SealingGuard {
    sealing: Arc<Sealing>,
    repo: RepoId,
    is_over: bool,
}

impl Sealing {
    /// Seals the lines of `repo` after the response, and drops the oldest beyond `most_lines`. Returns immediately.
    pub fn seal_later(self: &Arc<Self>, store: &Arc<dyn Store>, repo: &RepoId, most_lines: usize) {
        self.appended.send_modify(|count| *count += 1);
        let Some(mut guard) = self.begin(repo) else {
            return;
        };
        let store = Arc::clone(store);
        let mut work = Some(async move {
            loop {
                if let Err(error) = seal_lines(&*store, &guard.repo, most_lines).await {
                    let repo = &guard.repo;
                    tracing::warn!(%repo, %error, "the ledger was not sealed; the next request or sweep will seal it");
                    return;
                }
                if !guard.must_repeat() {
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

    /// Begins the sealing of `repo`. If it is already running, makes it run once more, and returns `None`.
    fn begin(self: &Arc<Self>, repo: &RepoId) -> Option<SealingGuard> {
        let mut running = lock(&self.running);
        if let Some(must_repeat) = running.get_mut(repo) {
            *must_repeat = true;
            return None;
        }
        running.insert(repo.clone(), false);
        Some(SealingGuard {
            sealing: Arc::clone(self),
            repo: repo.clone(),
            is_over: false,
        })
    }
}

impl SealingGuard {
    /// Whether lines were appended since the last call. If not, the sealing is over.
    fn must_repeat(&mut self) -> bool {
        let mut running = lock(&self.sealing.running);
        let must_repeat = running.get_mut(&self.repo).is_some_and(std::mem::take);
        if !must_repeat {
            running.remove(&self.repo);
            self.is_over = true;
        }
        must_repeat
    }
}

impl Drop for SealingGuard {
    fn drop(&mut self) {
        if !self.is_over {
            lock(&self.sealing.running).remove(&self.repo);
        }
    }
}
