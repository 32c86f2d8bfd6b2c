//! Releases that have not reached the server: they are made again until one lands or the locks have expired. The agent is told
//! which by a warning of its next answer.

use std::path::PathBuf;
use std::time::Duration;

use coord::domain::{FilePaths, RepoId};
use coord_protocol::{ErrorCode, PostRequest};
use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use super::backend::Failure;
use super::proxy::Proxy;
use super::tools::is_offline;

/// Time until the first retry. It doubles with each.
const FIRST_DELAY: Duration = Duration::from_millis(500);

/// Longest time between two retries.
const LONGEST_DELAY: Duration = Duration::from_secs(30);

/// Most releases that are retried, and most notes that are kept.
const MOST: usize = 64;

/// Releases that are retried.
#[derive(Default)]
pub struct ReleaseRetries {
    pending: Mutex<Vec<Pending>>,
    added: Notify,
    /// What the agent has to be told.
    notes: Mutex<Vec<String>>,
}

struct Pending {
    /// The working copy, whose server is asked.
    root: PathBuf,
    request: PostRequest,
    /// From when on the locks have expired.
    until: Instant,
    /// When it is made again.
    at: Instant,
    delay: Duration,
}

/// What became of a retry.
enum Retried {
    Landed,
    Refused(String),
    Failed,
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
        pending.push(Pending {
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

    /// Drops what `request`, a newer claim or release, makes out of date.
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

    /// What the agent has to be told, once.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut *self.notes.lock())
    }

    /// Keeps something that the agent has to be told.
    pub fn note(&self, sentence: String) {
        let mut notes = self.notes.lock();
        if notes.len() < MOST {
            notes.push(sentence);
        }
    }

    fn next_at(&self) -> Option<Instant> {
        self.pending.lock().iter().map(|pending| pending.at).min()
    }

    /// Takes out what is due at `time`.
    fn take_due(&self, time: Instant) -> Vec<Pending> {
        let mut pending = self.pending.lock();
        pending.extract_if(.., |pending| pending.at <= time).collect()
    }
}

impl Proxy {
    /// Retries releases for as long as it is polled.
    pub async fn retry_releases(&self) {
        loop {
            match self.retries.next_at() {
                None => self.retries.added.notified().await,
                Some(at) => {
                    sleep_until(at).await;
                    let _alone = self.posts.write().await;
                    self.retry_due(Instant::now()).await;
                }
            }
        }
    }

    /// Retries every release now.
    pub(super) async fn retry_all(&self) {
        let latest = self.retries.pending.lock().iter().map(|pending| pending.at).max();
        if let Some(latest) = latest {
            self.retry_due(latest).await;
        }
    }

    async fn retry_due(&self, time: Instant) {
        for mut pending in self.retries.take_due(time) {
            let files = files_of(&pending.request);
            let retried = match pending.until <= Instant::now() {
                true => {
                    let note = format!("RELEASE_EXPIRED: Coord gave no answer until the locks on {files} had expired.");
                    self.retries.note(note);
                    continue;
                }
                false => self.retry(&pending).await,
            };
            match retried {
                Retried::Landed => self
                    .retries
                    .note(format!("RELEASE_LANDED: {files} released after all.")),
                Retried::Refused(why) => self.retries.note(format!(
                    "RELEASE_REFUSED: The retried release of {files} was refused: {why}"
                )),
                Retried::Failed => {
                    pending.delay = (pending.delay * 2).min(LONGEST_DELAY);
                    pending.at = (Instant::now() + pending.delay).min(pending.until);
                    self.retries.pending.lock().push(pending);
                }
            }
        }
    }

    async fn retry(&self, pending: &Pending) -> Retried {
        let request = &pending.request;
        let answer = self
            .backend
            .ask(&pending.root, async |client| client.post_status(request).await);
        match answer.await {
            Ok(response) if response.success => Retried::Landed,
            Ok(response) if is_offline(&response) => Retried::Failed,
            Ok(response) => Retried::Refused(response.orchestration.reason),
            Err(Failure::Refused(error)) if error.error.error != ErrorCode::RateLimited => {
                Retried::Refused(error.orchestration.reason)
            }
            Err(_) => Retried::Failed,
        }
    }
}

/// `'a', 'b'`: the files of a release.
fn files_of(request: &PostRequest) -> String {
    let quoted = request.file_paths.iter().flatten().map(|path| format!("'{path}'"));
    quoted.collect::<Vec<_>>().join(", ")
}

fn has_same_holder(one: &PostRequest, other: &PostRequest) -> bool {
    let repo = |request: &PostRequest| RepoId::parse(request.repo_url.as_deref().unwrap_or_default()).ok();
    one.branch == other.branch && one.agent_id == other.agent_id && repo(one) == repo(other)
}
