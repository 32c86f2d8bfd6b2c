//! The `agent_id` that all processes of one session of an agent share: its hooks, its `coord mcp`, and `coord claim` in its shell.
//!
//! It is the holder of the session's locks, so that all of them have to agree on it. They agree by the agent's process, which all
//! of them have above them: the first to come writes a file with that process in its name, and the others read it. Which locks the
//! session holds is asked of the server; nothing about it is kept here.

use std::time::{Duration, SystemTime};

use anyhow::Context;
use coord::domain::AgentId;
use coord_files::{FILE_MODE, Inside, PRIVATE_MODE, Staged};
use coord_git::WorkingCopy;
use serde::{Deserialize, Serialize};

use super::ancestors::AgentProcess;
use super::local_server;
use super::session_notes::SessionNotes;
use crate::private_folder;

/// Files of processes that have ended are removed after this time.
const KEPT: Duration = Duration::from_secs(24 * 3600);

/// Largest file, in bytes.
const MOST_BYTES: u64 = 4096;

/// Most files that are looked at.
const MOST_FILES: usize = 10_000;

/// A session of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The holder of its locks.
    pub agent_id: AgentId,
    /// The agent's own name of the conversation, where a hook has told it.
    pub conversation: Option<String>,
    /// Its file; `None` where the system does not tell which process is the agent's.
    path: Option<Inside>,
}

/// What is in the file.
#[derive(Debug, Deserialize, Serialize)]
struct Record {
    agent_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    conversation: Option<String>,
}

impl Session {
    /// The session of the agent that has started this process; a new one where it has none yet. `agent` is the agent's name, such
    /// as `claude-code`, and begins the id of a new one.
    ///
    /// # Errors
    /// When the file of a new one cannot be written.
    pub fn of_this_process(working_copy: &WorkingCopy, agent: &str) -> anyhow::Result<Session> {
        let folder = local_server::sessions(working_copy);
        let Some(process) = AgentProcess::above() else {
            return Ok(Session {
                agent_id: new_id(agent)?,
                conversation: None,
                path: None,
            });
        };
        let path = path_of(&folder, process);
        if let Some(session) = Session::read(&path) {
            return Ok(session);
        }
        folder.make(PRIVATE_MODE)?;
        remove_old(&folder);
        let session = Session {
            agent_id: new_id(agent)?,
            conversation: None,
            path: Some(path.clone()),
        };
        if session.create(&path)? {
            SessionNotes::change(working_copy, &session.agent_id, |notes| {
                notes.add_worktree(working_copy.root());
            });
            return Ok(session);
        }
        // Another process of the agent was faster, or its file is damaged.
        match Session::read(&path) {
            Some(session) => Ok(session),
            None => session.replace(&path).map(|()| session),
        }
    }

    /// The session of the nearest process above this one that has one: none for a person in a terminal. Unlike an agent's own
    /// tools, a hook of git may have programs of any name between.
    pub fn existing(working_copy: &WorkingCopy) -> Option<Session> {
        let folder = local_server::sessions(working_copy);
        AgentProcess::all_above()
            .into_iter()
            .find_map(|process| Session::read(&path_of(&folder, process)))
    }

    /// The session of a conversation, for an agent of which one process may have several at once: the process's own for its first
    /// conversation, so that the agent's MCP server has the same; for another an id that is made from the conversation's name.
    ///
    /// # Errors
    /// When a file cannot be written, or `agent` makes no `agent_id`.
    pub fn in_conversation(working_copy: &WorkingCopy, agent: &str, conversation: &str) -> anyhow::Result<Session> {
        let mut session = Session::of_this_process(working_copy, agent)?;
        if session.conversation.is_none() {
            session.note_conversation(conversation)?;
            // Where two conversations were noted at once, the later one counts for both.
            session = Session::of_this_process(working_copy, agent)?;
        }
        match session.conversation.as_deref() == Some(conversation) {
            true => Ok(session),
            false => Session::of_conversation(agent, conversation),
        }
    }

    /// Whether other processes of the agent find it: not where the system does not tell which process is the agent's.
    pub fn is_shared(&self) -> bool {
        self.path.is_some()
    }

    /// Notes the agent's own name of the conversation.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn note_conversation(&mut self, conversation: &str) -> anyhow::Result<()> {
        if self.conversation.as_deref() == Some(conversation) {
            return Ok(());
        }
        self.conversation = Some(conversation.to_owned());
        match &self.path {
            Some(path) => self.replace(path),
            None => Ok(()),
        }
    }

    /// The session of the conversation of an agent of which one process has several at once: an id made from the name of the
    /// conversation.
    ///
    /// # Errors
    /// When `agent` makes no `agent_id`.
    pub fn of_conversation(agent: &str, conversation: &str) -> anyhow::Result<Session> {
        let digest = sha1_smol::Sha1::from(conversation).digest().to_string();
        Ok(Session {
            agent_id: id(agent, &digest[..8])?,
            conversation: Some(conversation.to_owned()),
            path: None,
        })
    }

    fn read(path: &Inside) -> Option<Session> {
        let text = private_folder::read(path, MOST_BYTES).ok()?;
        let record: Record = serde_json::from_slice(&text).ok()?;
        Some(Session {
            agent_id: AgentId::parse(&record.agent_id).ok()?,
            conversation: record.conversation,
            path: Some(path.clone()),
        })
    }

    /// Whether the file was written: it is left as it is where there is one.
    fn create(&self, path: &Inside) -> anyhow::Result<bool> {
        self.staged(path)?.create().with_context(|| about(path))
    }

    fn replace(&self, path: &Inside) -> anyhow::Result<()> {
        self.staged(path)?.replace().with_context(|| about(path))
    }

    /// A file beside `path` with the whole record, so that readers never see a part of it.
    fn staged(&self, path: &Inside) -> anyhow::Result<Staged> {
        let record = Record {
            agent_id: self.agent_id.as_str().to_owned(),
            conversation: self.conversation.clone(),
        };
        let staged = path.stage(&serde_json::to_vec(&record)?, FILE_MODE, None);
        staged.with_context(|| about(path))
    }
}

fn path_of(folder: &Inside, process: AgentProcess) -> Inside {
    folder.join(format!("{}-{}.json", process.id, process.started))
}

fn about(path: &Inside) -> String {
    format!("the session's file {} cannot be written", path.full().display())
}

fn new_id(agent: &str) -> anyhow::Result<AgentId> {
    id(agent, &format!("{:08x}", fastrand::u32(..)))
}

fn id(agent: &str, end: &str) -> anyhow::Result<AgentId> {
    AgentId::parse(&format!("{agent}-{end}")).map_err(|invalid| anyhow::anyhow!("the agent's name {agent:?} {invalid}"))
}

/// Removes files of agents that have ended, so that the folder does not grow. They are kept for a day, for whoever looks into a
/// session that went wrong.
fn remove_old(folder: &Inside) {
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
