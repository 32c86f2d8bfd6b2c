//! The holder of the locks of a session: the `agent_id` that all processes of one conversation of an agent share.
//!
//! Hooks know the conversation by its name ([`conversations`]). `coord mcp` and commands in a shell find it by the agent's process.
//! Without hooks, the agent's process alone identifies the session: the first process to start writes a file with that process in
//! its name, and the others read it. Which locks a session holds is asked of the server; nothing about it is kept here.

use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;
use serde::{Deserialize, Serialize};

use super::ancestors::{self, AgentProcess};
use super::conversations::{self, Owner};
use super::local_server;
use super::session_notes::SessionNotes;
use crate::private_folder;

/// Files of processes that have ended, and of conversations that no hook has touched, are removed after this time.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// Largest file, in bytes.
const MOST_BYTES: u64 = 4096;

/// Most files that are looked at.
pub(super) const MOST_FILES: usize = 10_000;

/// Longest part of a writer's own name, in characters.
const MOST_WRITER_CHARS: usize = 40;

/// A session of an agent, as a process below it finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The holder of its locks.
    pub agent_id: AgentId,
    /// The conversations that this process may belong to, if that is uncertain. Then `agent_id` matches none of them, so that
    /// nothing is granted that one of them holds.
    pub one_of: Vec<AgentId>,
}

/// The file of a process.
#[derive(Debug, Deserialize, Serialize)]
struct Record {
    agent_id: String,
}

impl Session {
    /// The session of the agent that has started this process; a new one where it has none yet. `client` is the agent's name, such
    /// as `claude-code`, and begins the id of a new one.
    ///
    /// # Errors
    /// When the file of a new one cannot be written.
    pub fn of_this_process(working_copy: &WorkingCopy, client: &str) -> anyhow::Result<Session> {
        match conversations::owner(working_copy, Some(client)) {
            Some(owner) => Session::of(owner, client),
            None => Session::of_agents_process(working_copy, client).map(Session::known),
        }
    }

    /// The session of the nearest process above this one that has one: none for a person in a terminal. Unlike an agent's own
    /// tools, a hook of git may have programs of any name between.
    pub fn existing(working_copy: &WorkingCopy) -> Option<Session> {
        if let Some(owner) = conversations::owner(working_copy, None) {
            return Session::of(owner, "shell").ok();
        }
        let found = ancestors::all_above().find_map(|process| of_process(working_copy, process));
        found.map(Session::known)
    }

    /// A note for the caller if the session is uncertain.
    pub fn note(&self) -> Option<String> {
        let listed: Vec<&str> = self.one_of.iter().map(AgentId::as_str).collect();
        (!listed.is_empty()).then(|| {
            format!(
                "SESSION_UNKNOWN: The agent's process has several conversations ({}), and nothing says which one this call is from. \
                 It counts as '{}', which holds none of their files. To act for a conversation, pass its `agent_id` (`--agent` or \
                 COORD_AGENT in a shell).",
                listed.join(", "),
                self.agent_id.as_str()
            )
        })
    }

    fn known(agent_id: AgentId) -> Session {
        Session {
            agent_id,
            one_of: Vec::new(),
        }
    }

    fn of(owner: Owner, client: &str) -> anyhow::Result<Session> {
        match owner {
            Owner::One(agent_id) => Ok(Session::known(agent_id)),
            Owner::OneOf(process, one_of) => Ok(Session {
                agent_id: id_of(client, &format!("one of those of {}-{}", process.id, process.started))?,
                one_of,
            }),
        }
    }

    /// The holder that the agent's process has without a conversation.
    fn of_agents_process(working_copy: &WorkingCopy, client: &str) -> anyhow::Result<AgentId> {
        let folder = local_server::sessions(working_copy);
        /// The same for the whole process, if the agent's process is unknown.
        static NUMBER: OnceLock<u32> = OnceLock::new();
        let made = id(client, &format!("{:08x}", NUMBER.get_or_init(|| fastrand::u32(..))))?;
        let Some(process) = ancestors::candidates().first().copied() else {
            return Ok(made);
        };
        let path = path_of(&folder, process);
        if let Some(agent_id) = read(&path) {
            return Ok(agent_id);
        }
        folder.make(PRIVATE_MODE)?;
        remove_old(&folder);
        let record = serde_json::to_vec(&Record {
            agent_id: made.as_str().to_owned(),
        })?;
        let about = || format!("the session's file {} cannot be written", path.full().display());
        // A file beside it with the whole record, so that readers never see a part of it.
        if path.stage(&record, FILE_MODE, None).with_context(about)?.create()? {
            SessionNotes::change(working_copy, &made, |notes| {
                notes.add_worktree(working_copy.root());
            });
            return Ok(made);
        }
        // Another process of the agent was faster, or its file is damaged.
        match read(&path) {
            Some(agent_id) => Ok(agent_id),
            None => {
                path.stage(&record, FILE_MODE, None).with_context(about)?.replace()?;
                Ok(made)
            }
        }
    }
}

/// The holder of the conversation `name` of the program `agent`: the same wherever it is made.
///
/// # Errors
/// When `agent` makes no `agent_id`.
pub fn id_of(agent: &str, name: &str) -> anyhow::Result<AgentId> {
    let digest = sha1_smol::Sha1::from(name).digest().to_string();
    id(agent, &digest[..8])
}

/// The holder for the writer `name` below `lead`, a subagent of its conversation. An id without room for it stays the lead's.
pub fn below(lead: &AgentId, name: &str) -> AgentId {
    let is_plain = |character: &char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
    let mut writer: String = name.chars().filter(is_plain).take(MOST_WRITER_CHARS).collect();
    if writer != name {
        let digest = sha1_smol::Sha1::from(name).digest().to_string();
        writer = format!("{writer}.{}", &digest[..8]);
    }
    AgentId::parse(&format!("{}{}{writer}", lead.as_str(), AgentId::BELOW)).unwrap_or_else(|_| lead.clone())
}

/// The holder that a process has without a conversation.
pub(super) fn of_process(working_copy: &WorkingCopy, process: AgentProcess) -> Option<AgentId> {
    read(&path_of(&local_server::sessions(working_copy), process))
}

fn read(path: &RootedPath) -> Option<AgentId> {
    let text = private_folder::read(path, MOST_BYTES).ok()?;
    let record: Record = serde_json::from_slice(&text).ok()?;
    AgentId::parse(&record.agent_id).ok()
}

fn path_of(folder: &RootedPath, process: AgentProcess) -> RootedPath {
    folder.join(format!("{}-{}.json", process.id, process.started))
}

fn id(agent: &str, end: &str) -> anyhow::Result<AgentId> {
    AgentId::parse(&format!("{agent}-{end}")).map_err(|invalid| anyhow::anyhow!("the agent's name {agent:?} {invalid}"))
}

/// Removes outdated files, so that the folder does not grow.
pub(super) fn remove_old(folder: &RootedPath) {
    for name in folder.list(MOST_FILES).ok().flatten().unwrap_or_default() {
        let file = folder.join(&name);
        let age = file.about().ok().flatten().and_then(|about| about.modified);
        let age = age.and_then(|at| SystemTime::now().duration_since(at).ok());
        let is_running = process_of(&name.to_string_lossy()).is_some_and(AgentProcess::is_running);
        if age.is_some_and(|age| age > KEPT) && !is_running {
            let _ = file.remove();
        }
    }
}

fn process_of(name: &str) -> Option<AgentProcess> {
    let (id, started) = name.strip_suffix(".json")?.split_once('-')?;
    Some(AgentProcess {
        id: id.parse().ok()?,
        started: started.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    // rule: holders#writer
    #[test]
    fn a_writer_has_an_id_below_its_lead_whatever_its_name() {
        let lead = AgentId::parse("claude-code-1f0c22aa").unwrap();
        assert_eq!(below(&lead, "a1b2").as_str(), "claude-code-1f0c22aa::a1b2");
        let long = "x".repeat(300);
        let names = ["ann@alpha", "ann.alpha", "annalpha", "a::b", "", "名前", &long, "x"];
        let ids: Vec<AgentId> = names.iter().map(|name| below(&lead, name)).collect();
        let distinct: HashSet<&AgentId> = ids.iter().collect();
        assert_eq!(distinct.len(), names.len(), "{ids:?}");
        assert!(ids.iter().all(|id| id.lead() == Some(lead.clone())), "{ids:?}");
        assert_eq!(lead.lead(), None);
    }
}
