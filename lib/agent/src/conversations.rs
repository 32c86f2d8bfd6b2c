//! The conversations of agents in this repository: the holder of each, and the process that it runs in. Hooks receive
//! the name of their conversation as input. `coord mcp` and commands in a shell find the conversation by a process that
//! is above both them and its hooks.
//!
//! Each conversation has a small file. The file outlives the process, so that a resumed conversation has the same
//! holder. Files that no hook has touched for a day are removed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use anyhow::Context;
use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_protocol::plain_text::beginning;
use serde::{Deserialize, Serialize};

use super::ancestors::{self, AgentProcess};
use super::holder_ids::id_of;
use super::local_server;
use super::process_sessions::{self, MAX_FILES};
use super::session_notes::{touch, write};
use crate::private_folder;

/// The end of the files' names.
const SUFFIX: &str = ".conversation.json";

/// Maximum size of a file, in bytes.
const MAX_BYTES: u64 = 16 * 1024;

/// Maximum length of a stored name, in bytes.
const MAX_NAME_BYTES: usize = 1024;

/// Maximum number of processes of one conversation: the agent's and those above it.
const MAX_PROCESSES: usize = 8;

/// Maximum number of programs that run hooks for one conversation.
const MAX_PROGRAMS: usize = 8;

/// A conversation without a hook for this long is ignored when a process's owner is looked up.
const QUIET: Duration = Duration::from_secs(3600);

/// The programs that start hooks and MCP servers from different processes.
const WITH_SEVERAL_PROCESSES: [&str; 1] = ["cursor"];

/// An event of a conversation that runs a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConversationEvent {
    /// The conversation begins, or is resumed.
    Start,
    Work,
    /// The conversation ends; it may be resumed.
    End,
}

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
struct Record {
    /// The agent's own name of the conversation.
    conversation: String,
    /// The holder, by the program whose hook format was used. A program that also runs the hooks of another program has
    /// the same holder under both names.
    holders: BTreeMap<String, String>,
    /// The agent's process and the processes above it: those that are above all of its hooks.
    above: Vec<AgentProcess>,
    /// Whether the first of these was above several hooks, so that it is no launcher.
    is_confirmed: bool,
    /// Whether the conversation has ended, and was not resumed.
    has_ended: bool,
}

impl Record {
    /// The holder under the name of the program `agent`.
    fn holder(&self, agent: &str) -> Option<AgentId> {
        AgentId::parse(self.holders.get(agent)?).ok()
    }

    fn any_holder(&self) -> Option<AgentId> {
        self.holders.values().find_map(|holder| AgentId::parse(holder).ok())
    }

    fn has_holder(&self, holder: &AgentId) -> bool {
        self.holders.values().any(|name| name == holder.as_str())
    }

    /// The agent's process. `None` if it does not run.
    fn process(&self) -> Option<AgentProcess> {
        let mut above = self.above.iter().copied();
        let first = above.next()?;
        match first.is_running() {
            true => Some(first),
            // The first process was a launcher, not the agent.
            false if !self.is_confirmed => above.find(|process| process.is_running()),
            false => None,
        }
    }

    fn note_processes(&mut self, mut above_hook: Vec<AgentProcess>, event: ConversationEvent) {
        above_hook.truncate(MAX_PROCESSES);
        let Some(nearest) = above_hook.first().copied() else {
            return;
        };
        let common: Vec<AgentProcess> = self
            .above
            .iter()
            .copied()
            .filter(|process| above_hook.contains(process))
            .collect();
        let is_same = common.first().is_some_and(|first| self.above.first() == Some(first));
        // A launcher ends with its call.
        let was_launcher = !self.is_confirmed && self.above.first().is_some_and(|first| !first.is_running());
        if is_same || (event != ConversationEvent::Start && was_launcher && !common.is_empty()) {
            self.above = common;
            self.is_confirmed = true;
        } else {
            // The conversation is new, or continues in another process.
            self.above = above_hook;
            self.is_confirmed = !nearest.is_young();
        }
    }
}

/// The owner of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    One(AgentId),
    /// One of several holders in the same process.
    OneOf(AgentProcess, Vec<AgentId>),
}

/// Notes an event of the conversation `name` of the program `agent`, in the process of its hook. Returns the holder of
/// the conversation.
///
/// # Errors
/// When the conversation's file cannot be written, or `agent` is not valid in an `agent_id`.
pub fn note_event(
    working_copy: &WorkingCopy,
    agent: &str,
    name: &str,
    event: ConversationEvent,
) -> anyhow::Result<AgentId> {
    let name = beginning(name, MAX_NAME_BYTES);
    let path = path(working_copy, name);
    let context = || format!("the conversation's file {} cannot be written", path.full().display());
    path.create_parents(PRIVATE_MODE).with_context(context)?;
    // Two hooks may be the first at once. Without the lock, both still derive the same holder from the name.
    let lock = path.with_extension("lock").append(FILE_MODE).ok();
    let _lock = lock.filter(|file| file.lock().is_ok());
    let stored = read(&path).filter(|record| record.conversation == name);
    let is_new = stored.is_none();
    let before = stored.unwrap_or_default();
    let mut record = Record {
        conversation: name.to_owned(),
        ..before.clone()
    };
    let candidates = ancestors::candidates();
    let holder = match before.holder(agent) {
        Some(holder) => holder,
        None => {
            let has_same_process = before.process().is_some_and(|process| candidates.contains(&process));
            let from_other_program = before.any_holder().filter(|_| has_same_process);
            let from_process = match candidates.first() {
                Some(process) if is_new => adopt_process_holder(working_copy, *process),
                _ => None,
            };
            match from_other_program.or(from_process) {
                Some(holder) => holder,
                None => id_of(agent, name)?,
            }
        }
    };
    if record.holders.len() < MAX_PROGRAMS {
        record.holders.insert(agent.to_owned(), holder.as_str().to_owned());
    }
    record.note_processes(candidates, event);
    record.has_ended = event == ConversationEvent::End;
    match record == before {
        true => touch(&path).with_context(context)?,
        false => write(&path, &record).with_context(context)?,
    }
    if is_new {
        process_sessions::remove_old(&local_server::sessions(working_copy));
    }
    Ok(holder)
}

/// The holder that `coord mcp` created for the agent's process before any hook ran, unless another conversation has it.
fn adopt_process_holder(working_copy: &WorkingCopy, process: AgentProcess) -> Option<AgentId> {
    let holder = process_sessions::read_holder(working_copy, process)?;
    let has_conversation = all_records(working_copy).any(|record| record.has_holder(&holder));
    (!has_conversation).then_some(holder)
}

/// The owner of this process, by the nearest process above it that belongs to a conversation. `client` is the name of
/// an MCP client, which may start its servers from another process than its hooks. `None` if no process above belongs
/// to a conversation.
pub fn owner(working_copy: &WorkingCopy, client: Option<&str>) -> Option<Owner> {
    let live: Vec<(AgentProcess, Record)> = all_records(working_copy)
        .filter(|record| !record.has_ended && !is_quiet(working_copy, record))
        .filter_map(|record| Some((record.process()?, record)))
        .collect();
    let nearest = ancestors::all_above().find_map(|process| {
        let records = live.iter().filter(|(agent_process, _)| *agent_process == process);
        Owner::from_records(process, records.map(|(_, record)| record))
    });
    nearest.or_else(|| {
        let program = WITH_SEVERAL_PROCESSES
            .into_iter()
            .find(|program| client.is_some_and(|client| client.starts_with(program)))?;
        ancestors::candidates().into_iter().find_map(|process| {
            let records = live
                .iter()
                .filter(|(_, record)| record.above.contains(&process) && record.holders.contains_key(program));
            Owner::from_records(process, records.map(|(_, record)| record))
        })
    })
}

impl Owner {
    fn from_records<'a>(process: AgentProcess, records: impl Iterator<Item = &'a Record>) -> Option<Owner> {
        let names: BTreeSet<&String> = records.flat_map(|record| record.holders.values()).collect();
        let mut holders: Vec<AgentId> = names.into_iter().filter_map(|name| AgentId::parse(name).ok()).collect();
        match holders.len() {
            0 | 1 => holders.pop().map(Owner::One),
            _ => Some(Owner::OneOf(process, holders)),
        }
    }
}

/// Whether the conversation of `holder` has ended: a hook reported the end, or its process has ended. `None` if no hook
/// has reported the conversation.
pub fn has_ended(working_copy: &WorkingCopy, holder: &AgentId) -> Option<bool> {
    let record = all_records(working_copy).find(|record| record.has_holder(holder))?;
    Some(record.has_ended || (!record.above.is_empty() && record.process().is_none()))
}

/// Whether hooks have reported the conversation of `holder`, or its lead's, and it has not ended: hooks see its edits.
pub fn is_hooked(working_copy: &WorkingCopy, holder: &AgentId) -> bool {
    let lead = holder.lead();
    has_ended(working_copy, lead.as_ref().unwrap_or(holder)) == Some(false)
}

fn all_records(working_copy: &WorkingCopy) -> impl Iterator<Item = Record> {
    let folder = local_server::sessions(working_copy);
    let names = folder.list(MAX_FILES).ok().flatten().unwrap_or_default();
    names
        .into_iter()
        .filter(|name| name.to_str().is_some_and(|name| name.ends_with(SUFFIX)))
        .filter_map(move |name| read(&folder.join(&name)))
}

/// Whether no hook has touched the conversation's file for [`QUIET`].
fn is_quiet(working_copy: &WorkingCopy, record: &Record) -> bool {
    let entry = path(working_copy, &record.conversation).about().ok().flatten();
    let age = entry.and_then(|entry| SystemTime::now().duration_since(entry.modified?).ok());
    age.is_some_and(|age| age > QUIET)
}

fn path(working_copy: &WorkingCopy, name: &str) -> RootedPath {
    let digest = sha1_smol::Sha1::from(name).digest().to_string();
    local_server::sessions(working_copy).join(format!("{}{SUFFIX}", &digest[..16]))
}

fn read(path: &RootedPath) -> Option<Record> {
    private_folder::read_json(path, MAX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(id: u32) -> AgentProcess {
        AgentProcess { id, started: 1 }
    }

    fn young(id: u32) -> AgentProcess {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        AgentProcess {
            id,
            started: now.as_secs(),
        }
    }

    /// After hooks with these processes above them.
    fn after(hooks: &[(ConversationEvent, &[AgentProcess])]) -> Record {
        let mut record = Record::default();
        for (event, found) in hooks {
            record.note_processes(found.to_vec(), *event);
        }
        record
    }

    #[test]
    fn a_launcher_that_hides_is_dropped_at_the_second_hook() {
        let (agent, editor) = (process(10), process(9));
        let record = after(&[
            (ConversationEvent::Start, &[young(20), agent, editor]),
            (ConversationEvent::Work, &[young(21), agent, editor]),
        ]);
        assert_eq!((record.above, record.is_confirmed), (vec![agent, editor], true));
    }

    #[test]
    fn a_conversation_that_is_resumed_leaves_its_old_process() {
        let editor = process(9);
        let record = after(&[
            (ConversationEvent::Work, &[process(10), editor]),
            (ConversationEvent::Work, &[process(11), editor]),
        ]);
        assert_eq!(record.above, [process(11), editor]);
        let record = after(&[
            (ConversationEvent::Start, &[young(20), editor]),
            (ConversationEvent::Start, &[young(21), editor]),
        ]);
        assert_eq!(record.above.len(), 2, "a start tells of another process: {record:?}");
    }

    #[test]
    fn without_a_word_of_the_system_nothing_changes() {
        let record = after(&[
            (ConversationEvent::Start, &[process(10)]),
            (ConversationEvent::Work, &[]),
        ]);
        assert_eq!(record.above, [process(10)]);
    }
}
