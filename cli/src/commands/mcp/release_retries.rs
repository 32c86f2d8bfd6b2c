//! Releases that have not reached the server: they are made again until one lands or the locks have expired. The agent learns
//! which by a warning in its next answer.

use std::path::PathBuf;
use std::time::Duration;

use coord_domain::{FilePaths, RepoId};
use coord_protocol::PostRequest;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Time until the first retry. It doubles with each.
const FIRST_DELAY: Duration = Duration::from_millis(500);

/// Most releases that are retried, and most notes that are kept.
const MOST: usize = 64;

/// Releases that are retried.
#[derive(Default)]
pub struct ReleaseRetries {
    pub(super) pending: Mutex<Vec<PendingRelease>>,
    pub(super) added: Notify,
    /// Notes for the agent.
    notes: Mutex<Vec<String>>,
}

pub(super) struct PendingRelease {
    /// The working copy, whose server is asked.
    pub(super) root: PathBuf,
    pub(super) request: PostRequest,
    /// From when on the locks have expired.
    pub(super) until: Instant,
    /// When it is made again.
    pub(super) at: Instant,
    pub(super) delay: Duration,
}

impl ReleaseRetries {
    /// Retries `request`, whose locks are held for `ttl` at most, and says so.
    pub fn add(&self, root: PathBuf, request: PostRequest, ttl: Duration) -> String {
        let files = files_of(&request);
        let mut pending = self.pending.lock();
        if pending.len() == MOST {
            return format!(
                "RELEASE_FAILED: The release of {files} is not retried, because {MOST} others are; the locks expire by themselves."
            );
        }
        let now = Instant::now();
        pending.push(PendingRelease {
            root,
            request,
            until: now + ttl,
            at: now + FIRST_DELAY,
            delay: FIRST_DELAY,
        });
        drop(pending);
        self.added.notify_one();
        format!(
            "RELEASE_RETRIED: The release of {files} is retried in the background until it lands or the locks have expired; leave \
             these files alone."
        )
    }

    /// Drops releases that `request`, a newer claim or release, makes obsolete.
    pub fn forget(&self, request: &PostRequest) {
        let mut pending = self.pending.lock();
        pending.retain_mut(|old| {
            if !has_same_holder(&old.request, request) {
                return true;
            }
            let newer = request.file_paths.as_deref().unwrap_or_default();
            let is_newer =
                |path: &String| newer.contains(path) || newer.iter().any(|path| path == FilePaths::EVERYTHING);
            let paths = old.request.file_paths.get_or_insert_default();
            paths.retain(|path| !is_newer(path));
            !paths.is_empty()
        });
    }

    /// Takes the notes for the agent, each once.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock())
    }

    /// Keeps a note for the agent.
    pub fn note(&self, sentence: String) {
        let mut notes = self.notes.lock();
        if notes.len() < MOST {
            notes.push(sentence);
        }
    }

    pub(super) fn next_at(&self) -> Option<Instant> {
        self.pending.lock().iter().map(|pending| pending.at).min()
    }

    /// Takes out the releases that are due at `time`.
    pub(super) fn take_due(&self, time: Instant) -> Vec<PendingRelease> {
        let mut pending = self.pending.lock();
        pending.extract_if(.., |pending| pending.at <= time).collect()
    }
}

/// `'a', 'b'`: the files of a release.
pub(super) fn files_of(request: &PostRequest) -> String {
    let quoted = request.file_paths.iter().flatten().map(|path| format!("'{path}'"));
    quoted.collect::<Vec<_>>().join(", ")
}

fn has_same_holder(one: &PostRequest, other: &PostRequest) -> bool {
    let repo = |request: &PostRequest| RepoId::parse(request.repo_url.as_deref().unwrap_or_default()).ok();
    one.branch == other.branch && one.agent_id == other.agent_id && repo(one) == repo(other)
}
