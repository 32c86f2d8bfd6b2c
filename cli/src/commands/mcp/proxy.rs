//! The data of one `coord mcp` between two calls: the working copies and agents of its requests. Only the server knows
//! the locks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use coord_agent::ancestors::{self, AgentProcess};
use coord_agent::options::AgentArgs;
use coord_agent::session::Session;
use coord_domain::AgentId;
use coord_git::WorkingCopy;
use coord_mcp::ToolGroup;
#[cfg(feature = "teams")]
use coord_protocol::team_tools::TeamCall;
use coord_protocol::{PostRequest, PostResponse};
use parking_lot::Mutex;
use tokio::sync::{RwLock, watch};
use tokio::time::Instant;

use super::backend::{Backend, Failure};
use super::claims::{Claims, HolderKey};
use super::folder::AgentFolder;
use super::release_retries::ReleaseRetries;

/// Time to live of a lock, until the server has granted a lock and so reported the actual time.
const DEFAULT_TTL: Duration = Duration::from_secs(300);

/// Maximum length of the part of an `agent_id` that comes from the name of a client.
const MAX_NAME_CHARS: usize = 32;

/// Whether a repository has intents and teams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RepositoryUse {
    pub intents: bool,
    pub teams: bool,
}

impl RepositoryUse {
    /// The groups of tools that the repository has a use for.
    pub fn groups(self) -> Vec<ToolGroup> {
        let mut extension_groups: Vec<ToolGroup> = Vec::new();
        #[cfg(feature = "intents")]
        if self.intents {
            extension_groups.push(coord_intent_tools::INTENT_TOOLS);
        }
        #[cfg(feature = "teams")]
        if self.teams {
            extension_groups.extend([coord_team_tools::TASKS, coord_team_tools::MESSAGES]);
        }
        ToolGroup::in_use(&extension_groups)
    }
}

/// The data of one process.
pub struct Proxy {
    pub(super) args: AgentArgs,
    /// The folder of the agent, in which relative paths begin.
    pub(super) folder: AgentFolder,
    pub(super) backend: Backend,
    /// The working copies in which each holder has worked through this process.
    roots_by_holder: Mutex<BTreeMap<HolderKey, BTreeSet<PathBuf>>>,
    /// Claims and releases of the agent run concurrently (read). Background requests exclude them (write): they must
    /// not renew a lock after the agent has released it, nor release a lock after the agent has claimed it again.
    pub(super) posts: RwLock<()>,
    /// Locks claimed by this process.
    pub(super) claims: Claims,
    /// Releases that have not reached the server.
    pub(super) retries: ReleaseRetries,
    /// Requests that mark messages as read, for the agent's next call: it proves that the agent has received them.
    #[cfg(feature = "teams")]
    pub(super) read_proofs: Mutex<Vec<(PathBuf, TeamCall)>>,
    /// Time until a lock expires.
    pub(super) ttl: watch::Sender<Duration>,
    /// How long locks are renewed after the agent's last call.
    renewal_time: Duration,
    /// The extensions that the repository of the current folder uses; `None` while unknown.
    pub(super) repository_use: Mutex<Option<RepositoryUse>>,
    /// Number of events in that repository since a client first listened.
    pub(super) event_count: watch::Sender<u64>,
    /// Whether a client listens or has listened, so that events are counted.
    pub(super) has_listener: watch::Sender<bool>,
    last_call: Mutex<Option<Instant>>,
    /// The agent's process, if the system reports it.
    pub(super) agent_process: Option<AgentProcess>,
}

impl Proxy {
    /// A proxy that has not sent a request.
    pub fn new(args: AgentArgs, renewal_time: Duration) -> Proxy {
        Proxy {
            backend: Backend::new(args.clone()),
            args,
            folder: AgentFolder::of_process(),
            roots_by_holder: Mutex::default(),
            posts: RwLock::default(),
            claims: Claims::default(),
            retries: ReleaseRetries::default(),
            #[cfg(feature = "teams")]
            read_proofs: Mutex::default(),
            ttl: watch::Sender::new(DEFAULT_TTL),
            renewal_time,
            repository_use: Mutex::default(),
            event_count: watch::Sender::default(),
            has_listener: watch::Sender::default(),
            last_call: Mutex::default(),
            agent_process: ancestors::candidates().first().copied(),
        }
    }

    /// Connects to the server of the current folder, and starts a local one, so that the first call need not wait.
    pub async fn connect(&self) {
        if let Some(root) = WorkingCopy::root_containing(&self.folder.get())
            && let Err(error) = self.backend.connection(&root).await
        {
            tracing::warn!(%error, "there is no server yet");
        }
    }

    /// Sends a claim or a release to the server of the working copy at `root`.
    pub(super) async fn post_status(&self, root: &Path, request: &PostRequest) -> Result<PostResponse, Failure> {
        self.backend
            .ask(root, async |client| client.post_status(request).await)
            .await
    }

    /// Notes that the agent has made a call.
    pub(super) fn note_call(&self) {
        *self.last_call.lock() = Some(Instant::now());
    }

    /// Whether the agent's last call is recent, so that its locks are renewed.
    pub(super) fn is_active(&self) -> bool {
        let last_call = *self.last_call.lock();
        last_call.is_some_and(|time| time.elapsed() <= self.renewal_time)
    }

    /// Notes the time to live of locks from the response to a claim.
    pub(super) fn note_ttl(&self, response: &PostResponse) {
        let lock = response.locks.iter().flatten().next();
        if let Some(seconds) = lock.and_then(|(_, lock)| u64::try_from(lock.expiry - lock.timestamp).ok()) {
            let ttl = Duration::from_secs(seconds.max(1));
            self.ttl.send_if_modified(|old| std::mem::replace(old, ttl) != ttl);
        }
    }

    /// The agent of the session in `working_copy`. `client` is the client's name. Each call looks for the session
    /// again, because the conversations of the agent's process change. If it is uncertain, the next response says so.
    ///
    /// # Errors
    /// When the file of a new session cannot be written.
    pub(super) fn session_agent(&self, working_copy: &WorkingCopy, client: Option<&str>) -> anyhow::Result<AgentId> {
        let session = Session::of_this_process(working_copy, &id_prefix(client.unwrap_or_default()))?;
        if let Some(note) = session.note() {
            self.retries.note(note);
        }
        Ok(session.agent_id)
    }

    /// Notes that `holder` works in the working copy at `root`.
    pub(super) fn note_work(&self, holder: HolderKey, root: &Path) {
        let mut roots_by_holder = self.roots_by_holder.lock();
        roots_by_holder.entry(holder).or_default().insert(root.to_owned());
    }

    /// The holders of this process, each with its working copies that still exist: an agent may remove its worktrees.
    pub(super) fn holders(&self) -> Vec<(HolderKey, Vec<PathBuf>)> {
        let mut roots_by_holder = self.roots_by_holder.lock();
        for roots in roots_by_holder.values_mut() {
            roots.retain(|root| root.exists());
        }
        roots_by_holder
            .iter()
            .map(|(holder, roots)| (holder.clone(), roots.iter().cloned().collect()))
            .collect()
    }
}

/// A client's name as the beginning of an `agent_id`: `Claude Code` becomes `claude-code`.
fn id_prefix(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let words: Vec<&str> = lower
        .split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut prefix = words.join("-");
    prefix.truncate(MAX_NAME_CHARS);
    match prefix.trim_end_matches('-') {
        "" => "agent".to_owned(),
        prefix => prefix.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_client_becomes_the_beginning_of_an_id() {
        for (name, prefix) in [
            ("claude-code", "claude-code"),
            ("Visual Studio Code", "visual-studio-code"),
            ("  gemini_cli (v2)\n", "gemini-cli-v2"),
            ("", "agent"),
            ("名前", "agent"),
            (&"ab ".repeat(100), "ab-ab-ab-ab-ab-ab-ab-ab-ab-ab-ab"),
        ] {
            assert_eq!(id_prefix(name), prefix);
            assert!(AgentId::parse(&format!("{prefix}-0123abcd")).is_ok());
        }
    }
}
