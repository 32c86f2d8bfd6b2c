//! The holder of the locks of a session: the `agent_id` that all processes of one conversation of an agent share.
//!
//! Hooks know the conversation by its name ([`conversations`]). `coord mcp` and commands in a shell find it by the agent's process.
//! Without hooks, the agent's process alone identifies the session: the first process to start writes a file with that process in
//! its name, and the others read it. Which locks a session holds is asked of the server; nothing about it is kept here.

use std::sync::OnceLock;

use anyhow::Context;
use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE};
use coord_git::WorkingCopy;

use super::ancestors;
use super::conversations::{self, Owner};
use super::holder_ids::{id, id_of};
use super::local_server;
use super::process_sessions::{Record, of_process, path_of, read, remove_old};
use super::session_notes::SessionNotes;

/// A session of an agent, as a process below it finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The holder of its locks.
    pub agent_id: AgentId,
    /// The conversations that this process may belong to, if that is uncertain. Then `agent_id` matches none of them, so that
    /// nothing is granted that one of them holds.
    pub one_of: Vec<AgentId>,
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
            None => Session::of_agents_process(working_copy, client).map(Session::of_agent),
        }
    }

    /// The session of the nearest process above this one that has one: none for a person in a terminal. Unlike an agent's own
    /// tools, a hook of git may have programs of any name between.
    pub fn existing(working_copy: &WorkingCopy) -> Option<Session> {
        if let Some(owner) = conversations::owner(working_copy, None) {
            return Session::of(owner, "shell").ok();
        }
        let found = ancestors::all_above().find_map(|process| of_process(working_copy, process));
        found.map(Session::of_agent)
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

    fn of_agent(agent_id: AgentId) -> Session {
        Session {
            agent_id,
            one_of: Vec::new(),
        }
    }

    fn of(owner: Owner, client: &str) -> anyhow::Result<Session> {
        match owner {
            Owner::One(agent_id) => Ok(Session::of_agent(agent_id)),
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
