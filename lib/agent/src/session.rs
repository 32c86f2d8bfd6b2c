//! The holder of the locks of a session: the `agent_id` that all processes of one conversation of an agent share.
//!
//! Hooks receive the name of the conversation ([`conversations`]). `coord mcp` and commands in a shell find it by the
//! agent's process. Without hooks, the agent's process alone identifies the session: the first process to start writes
//! a file with that process in its name, and the others read it. Only the server knows which locks a session holds.

use std::sync::OnceLock;

use anyhow::Context;
use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE};
use coord_git::WorkingCopy;

use super::ancestors;
use super::conversations::{self, Owner};
use super::holder_ids::{id, id_of};
use super::local_server;
use super::process_sessions::{Record, read, read_holder, record_path, remove_old};
use super::session_notes::SessionNotes;

/// A session of an agent, as a process below the agent finds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The holder of the session's locks.
    pub agent_id: AgentId,
    /// The conversations that this process may belong to, if that is uncertain. Then `agent_id` matches none of them,
    /// so that nothing is granted that one of them holds.
    pub one_of: Vec<AgentId>,
}

impl Session {
    /// The session of the agent that started this process; a new session if the agent has none yet. `client` is the
    /// agent's name, such as `claude-code`; the id of a new session begins with it.
    ///
    /// # Errors
    /// When the file of a new session cannot be written.
    pub fn of_this_process(working_copy: &WorkingCopy, client: &str) -> anyhow::Result<Session> {
        match conversations::owner(working_copy, Some(client)) {
            Some(owner) => Session::from_owner(owner, client),
            None => Session::find_or_create_holder(working_copy, client).map(Session::of_agent),
        }
    }

    /// The session of the nearest process above this one that has one: none for a person in a terminal. Unlike an
    /// agent's own tools, a git hook may have programs of any name between itself and the agent.
    pub fn existing(working_copy: &WorkingCopy) -> Option<Session> {
        if let Some(owner) = conversations::owner(working_copy, None) {
            return Session::from_owner(owner, "shell").ok();
        }
        let holder = ancestors::all_above().find_map(|process| read_holder(working_copy, process));
        holder.map(Session::of_agent)
    }

    /// A note for the caller if the session is uncertain.
    pub fn note(&self) -> Option<String> {
        let conversations: Vec<&str> = self.one_of.iter().map(AgentId::as_str).collect();
        (!conversations.is_empty()).then(|| {
            format!(
                "SESSION_UNKNOWN: The agent's process has several conversations ({}), and nothing says which one this \
                 call is from. It counts as '{}', which holds none of their files. To act for a conversation, pass \
                 its `agent_id` (`--agent` or COORD_AGENT in a shell).",
                conversations.join(", "),
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

    fn from_owner(owner: Owner, client: &str) -> anyhow::Result<Session> {
        match owner {
            Owner::One(agent_id) => Ok(Session::of_agent(agent_id)),
            Owner::OneOf(process, one_of) => Ok(Session {
                agent_id: id_of(client, &format!("one of those of {}-{}", process.id, process.started))?,
                one_of,
            }),
        }
    }

    /// The holder of the agent's process without a conversation: the stored one, or a new one.
    fn find_or_create_holder(working_copy: &WorkingCopy, client: &str) -> anyhow::Result<AgentId> {
        let folder = local_server::sessions(working_copy);
        /// The same in all calls of this process, for an agent's process that is unknown.
        static NUMBER: OnceLock<u32> = OnceLock::new();
        let new_id = id(client, &format!("{:08x}", NUMBER.get_or_init(|| fastrand::u32(..))))?;
        let Some(process) = ancestors::candidates().first().copied() else {
            return Ok(new_id);
        };
        let path = record_path(&folder, process);
        if let Some(agent_id) = read(&path) {
            return Ok(agent_id);
        }
        folder.make(PRIVATE_MODE)?;
        remove_old(&folder);
        let record = serde_json::to_vec(&Record {
            agent_id: new_id.as_str().to_owned(),
        })?;
        let context = || format!("the session's file {} cannot be written", path.full().display());
        // The whole record is staged in another file first, so that readers never see an incomplete one.
        if path.stage(&record, FILE_MODE, None).with_context(context)?.create()? {
            SessionNotes::change(working_copy, &new_id, |notes| {
                notes.add_worktree(working_copy.root());
            });
            return Ok(new_id);
        }
        // Another process of the agent has created the file in the meantime, or the file is damaged.
        match read(&path) {
            Some(agent_id) => Ok(agent_id),
            None => {
                path.stage(&record, FILE_MODE, None).with_context(context)?.replace()?;
                Ok(new_id)
            }
        }
    }
}
