//! The state of one `coord mcp` between two calls: the working copies and agents of its requests. Which locks there are is known to
//! the server alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use coord_agent::ancestors::{self, AgentProcess};
use coord_agent::options::AgentArgs;
use coord_agent::session::Session;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_protocol::PostResponse;
#[cfg(feature = "teams")]
use coord_protocol::team_tools::TeamCall;
use parking_lot::Mutex;
use tokio::sync::{RwLock, watch};
use tokio::time::Instant;

use super::backend::Backend;
use super::claims::Claims;
use super::folder::AgentFolder;
use super::holder_key::HolderKey;
use super::release_retries::ReleaseRetries;
use super::repository_use::RepositoryUse;

/// Time to live of a lock, until the server has granted one and so reported the real one.
const DEFAULT_TTL: Duration = Duration::from_secs(300);

/// Longest beginning of an `agent_id` that is made from the name of a client.
const MOST_NAME_CHARS: usize = 32;

/// The state of one process.
pub struct Proxy {
    pub(super) args: AgentArgs,
    /// The folder of the agent, which relative paths begin in.
    pub(super) folder: AgentFolder,
    pub(super) backend: Backend,
    /// The working copies that each holder has worked in through this process.
    pub(super) worked_in: Mutex<BTreeMap<HolderKey, BTreeSet<PathBuf>>>,
    /// Claims and releases of the agent go side by side. Background requests exclude them: a lock must not be renewed after the
    /// agent has released it, and must not be released after the agent has claimed it again.
    pub(super) posts: RwLock<()>,
    /// Locks claimed by this process.
    pub(super) claims: Claims,
    /// Releases that have not reached the server.
    pub(super) retries: ReleaseRetries,
    /// Requests that prove that the agent has the messages that it was given: its next call does.
    #[cfg(feature = "teams")]
    pub(super) proofs: Mutex<Vec<(PathBuf, TeamCall)>>,
    /// Time that a lock is held.
    pub(super) ttl: watch::Sender<Duration>,
    /// Time after the last call for which locks are renewed.
    pub(super) renewed_for: Duration,
    /// Features that the repository of the current folder uses, as far as they are known.
    pub(super) known: Mutex<Option<RepositoryUse>>,
    /// How often something has happened in it, as far as this was followed.
    pub(super) happened: watch::Sender<u64>,
    /// Whether that is followed: a client listens, or has listened.
    pub(super) is_followed: watch::Sender<bool>,
    last_call: Mutex<Option<Instant>>,
    /// The agent's process, if the system reports it.
    pub(super) agents_process: Option<AgentProcess>,
}

impl Proxy {
    /// One that has not asked anything.
    pub fn new(args: AgentArgs, renewed_for: Duration) -> Proxy {
        Proxy {
            backend: Backend::new(args.clone()),
            args,
            folder: AgentFolder::of_process(),
            worked_in: Mutex::default(),
            posts: RwLock::default(),
            claims: Claims::default(),
            retries: ReleaseRetries::default(),
            #[cfg(feature = "teams")]
            proofs: Mutex::default(),
            ttl: watch::Sender::new(DEFAULT_TTL),
            renewed_for,
            known: Mutex::default(),
            happened: watch::Sender::default(),
            is_followed: watch::Sender::default(),
            last_call: Mutex::default(),
            agents_process: ancestors::candidates().first().copied(),
        }
    }

    /// Connects to the server of the current folder, and starts it where it has to run here, so that the first call finds it.
    pub async fn connect(&self) {
        if let Some(root) = WorkingCopy::root_containing(&self.folder.get())
            && let Err(error) = self.backend.connection(&root).await
        {
            tracing::warn!(%error, "there is no server yet");
        }
    }

    /// Notes the folders that the client works in.
    pub fn note_roots(&self, uris: &[String]) {
        self.folder.note_roots(uris);
    }

    /// Notes that the agent has made a call.
    pub(super) fn note_call(&self) {
        *self.last_call.lock() = Some(Instant::now());
    }

    /// Whether the agent has made a call lately, so that its locks are renewed.
    pub(super) fn is_working(&self) -> bool {
        let last = *self.last_call.lock();
        last.is_some_and(|last| last.elapsed() <= self.renewed_for)
    }

    /// Notes for how long locks are held, as the answer to a claim shows.
    pub(super) fn note_ttl(&self, response: &PostResponse) {
        let granted = response.locks.iter().flatten().next();
        if let Some(held) = granted.and_then(|(_, lock)| u64::try_from(lock.expiry - lock.timestamp).ok()) {
            let ttl = Duration::from_secs(held.max(1));
            self.ttl.send_if_modified(|known| std::mem::replace(known, ttl) != ttl);
        }
    }

    /// The agent of the session in `working_copy`. `client` is the client's name. It is looked for at each call, because the
    /// conversations of the agent's process change; where it is uncertain, the next answer says so.
    ///
    /// # Errors
    /// When the file of a new session cannot be written.
    pub(super) fn session_agent(&self, working_copy: &WorkingCopy, client: Option<&str>) -> anyhow::Result<AgentId> {
        let session = Session::of_this_process(working_copy, &as_word(client.unwrap_or_default()))?;
        if let Some(note) = session.note() {
            self.retries.note(note);
        }
        Ok(session.agent_id)
    }

    /// Notes that `holder` works in the working copy at `root`.
    pub(super) fn note_work(&self, holder: HolderKey, root: &Path) {
        self.worked_in.lock().entry(holder).or_default().insert(root.to_owned());
    }

    /// Every holder of this process, and the working copies of each that are still there: an agent removes its worktrees.
    pub(super) fn holders(&self) -> Vec<(HolderKey, Vec<PathBuf>)> {
        let mut worked_in = self.worked_in.lock();
        for roots in worked_in.values_mut() {
            roots.retain(|root| root.exists());
        }
        let each = worked_in
            .iter()
            .map(|(holder, roots)| (holder.clone(), roots.iter().cloned().collect()));
        each.collect()
    }
}

/// A client's name as the beginning of an `agent_id`: `Claude Code` is `claude-code`.
fn as_word(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let parts = lower
        .split(|char: char| !char.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty());
    let word: String = parts
        .collect::<Vec<_>>()
        .join("-")
        .chars()
        .take(MOST_NAME_CHARS)
        .collect();
    match word.trim_end_matches('-') {
        "" => "agent".to_owned(),
        word => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_client_becomes_the_beginning_of_an_id() {
        for (name, word) in [
            ("claude-code", "claude-code"),
            ("Visual Studio Code", "visual-studio-code"),
            ("  gemini_cli (v2)\n", "gemini-cli-v2"),
            ("", "agent"),
            ("名前", "agent"),
            (&"ab ".repeat(100), "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab"),
        ] {
            assert_eq!(as_word(name), word);
            assert!(AgentId::parse(&format!("{word}-0123abcd")).is_ok());
        }
    }
}
