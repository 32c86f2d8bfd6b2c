//! Releases that have not reached the server. They are retried until one lands or the locks have expired. A warning in
//! the agent's next response tells which.

use std::path::PathBuf;
use std::time::Duration;

use coord_domain::{FilePaths, RepoId};
use coord_protocol::PostRequest;
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Time until the first retry. It doubles with each.
const FIRST_DELAY: Duration = Duration::from_millis(500);

/// Maximum pending releases, and maximum notes.
const MAX_ENTRIES: usize = 64;

/// Releases to retry, and notes for the agent.
#[derive(Default)]
pub struct ReleaseRetries {
    pub(super) pending: Mutex<Vec<PendingRelease>>,
    pub(super) added: Notify,
    notes: Mutex<Vec<String>>,
}

pub(super) struct PendingRelease {
    /// The working copy, whose server gets the request.
    pub(super) root: PathBuf,
    pub(super) request: PostRequest,
    /// When the locks have expired, so that no retry is needed.
    pub(super) until: Instant,
    /// When the next retry is due.
    pub(super) at: Instant,
    pub(super) delay: Duration,
}

impl ReleaseRetries {
    /// Retries `request`, whose locks expire after `ttl` at the latest. Returns a warning that says so.
    pub fn add(&self, root: PathBuf, request: PostRequest, ttl: Duration) -> String {
        let files = files_of(&request);
        let mut pending = self.pending.lock();
        if pending.len() == MAX_ENTRIES {
            return format!(
                "RELEASE_FAILED: The release of {files} is not retried, because {MAX_ENTRIES} others are; the locks expire by \
                 themselves."
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

    /// Adds a note for the agent.
    pub fn note(&self, sentence: String) {
        let mut notes = self.notes.lock();
        if notes.len() < MAX_ENTRIES {
            notes.push(sentence);
        }
    }

    /// When the next retry is due.
    pub(super) fn next_at(&self) -> Option<Instant> {
        self.pending.lock().iter().map(|pending| pending.at).min()
    }

    /// Takes out the releases that are due at `time`.
    pub(super) fn take_due(&self, time: Instant) -> Vec<PendingRelease> {
        let mut pending = self.pending.lock();
        pending.extract_if(.., |pending| pending.at <= time).collect()
    }
}

/// The files of a release, for a sentence.
pub(super) fn files_of(request: &PostRequest) -> String {
    list_paths(request.file_paths.as_deref().unwrap_or_default())
}

/// `'a', 'b'`: paths for a sentence.
pub(super) fn list_paths(paths: &[String]) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| format!("'{path}'")).collect();
    quoted.join(", ")
}

fn has_same_holder(a: &PostRequest, b: &PostRequest) -> bool {
    let repo = |request: &PostRequest| RepoId::parse(request.repo_url.as_deref().unwrap_or_default()).ok();
    a.branch == b.branch && a.agent_id == b.agent_id && repo(a) == repo(b)
}
