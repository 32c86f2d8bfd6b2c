//! The folder below its root: which entries are ours, and which stay as they are.

use crate::bounds::{CONFIG_BYTES, INBOX_BYTES, TASK_BYTES};
use crate::names::{Handle, InvalidName, TaskId, TeamName};
use crate::refusal::{Refusal, quote};

/// An entry that is read or written. Its path is made of parsed names alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// `teams/TEAM/config.json`
    Config(TeamName),
    /// `teams/TEAM/.lock`, of configuration and inboxes
    TeamLock(TeamName),
    /// `teams/TEAM/inboxes/HANDLE.json`
    Inbox(TeamName, Handle),
    /// `tasks/TEAM/ID.json`
    Task(TeamName, TaskId),
    /// `tasks/TEAM/.lock`, of all tasks of the team
    TaskLock(TeamName),
}

impl Entry {
    /// The path below the root, with `/`.
    pub fn path(&self) -> String {
        match self {
            Entry::Config(team) => format!("teams/{team}/config.json"),
            Entry::TeamLock(team) => format!("teams/{team}/.lock"),
            Entry::Inbox(team, handle) => format!("teams/{team}/inboxes/{handle}.json"),
            Entry::Task(team, id) => format!("tasks/{team}/{id}.json"),
            Entry::TaskLock(team) => format!("tasks/{team}/.lock"),
        }
    }

    /// The hidden file in the same folder under which it is written, before it gets its name; as the plugin names it.
    /// Locks are not written.
    pub fn temporary_path(&self, process: u32, milliseconds: u64) -> Option<String> {
        let path = self.path();
        let (folder, name) = path.rsplit_once('/')?;
        let name = name.strip_suffix(".json")?;
        Some(format!("{folder}/.{name}.json.{process}.{milliseconds}.tmp"))
    }

    /// Bytes that are read of it at most.
    pub fn max_bytes(&self) -> usize {
        match self {
            Entry::Config(_) => CONFIG_BYTES,
            Entry::Inbox(..) => INBOX_BYTES,
            Entry::Task(..) => TASK_BYTES,
            Entry::TeamLock(_) | Entry::TaskLock(_) => 0,
        }
    }
}

/// Kind of a path below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// Read and written.
    Ours(Entry),
    /// Of other features, hidden or unknown: it stays, unread.
    Other,
    /// It is where ours are, with a name that is none.
    Refused(Refusal),
}

/// The kind of a path, given with `/`.
pub fn path_kind(path: &str) -> PathKind {
    let parts: Vec<_> = path.split('/').collect();
    let entry = match parts[..] {
        ["teams" | "tasks", team] if hidden(team) => return PathKind::Other,
        ["teams" | "tasks", team] => match TeamName::parse(team) {
            Ok(_) => return PathKind::Other,
            Err(wrong) => Err(wrong),
        },
        ["teams", team, "config.json"] => TeamName::parse(team).map(Entry::Config),
        ["teams", team, ".lock"] => TeamName::parse(team).map(Entry::TeamLock),
        ["tasks", team, ".lock"] => TeamName::parse(team).map(Entry::TaskLock),
        ["teams", team, "inboxes", file] => match stem(file) {
            Some(handle) => both(team, Handle::parse(handle)).map(|(team, handle)| Entry::Inbox(team, handle)),
            None => return PathKind::Other,
        },
        ["tasks", team, file] => match stem(file) {
            Some(id) => both(team, TaskId::parse(id)).map(|(team, id)| Entry::Task(team, id)),
            None => return PathKind::Other,
        },
        _ => return PathKind::Other,
    };
    match entry {
        Ok(entry) => PathKind::Ours(entry),
        Err(wrong) => PathKind::Refused(Refusal::of_file(quote(path), wrong.to_string())),
    }
}

fn both<T>(team: &str, name: Result<T, InvalidName>) -> Result<(TeamName, T), InvalidName> {
    Ok((TeamName::parse(team)?, name?))
}

/// The plugin lists only names that end in `.json` and do not begin with a dot.
fn stem(file: &str) -> Option<&str> {
    file.strip_suffix(".json").filter(|_| !hidden(file))
}

fn hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// Kind of an entry on disk, without following it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    /// A regular file of so many bytes.
    File(u64),
    Folder,
    /// A symbolic link, wherever it leads.
    Symlink,
    /// A pipe, a device, a socket.
    Other,
}

/// Whether a folder on the way to an entry may be opened. The root itself may be anything; below it no link is followed.
pub fn admit_folder(path: &str, found: EntryType) -> Result<(), Refusal> {
    match found {
        EntryType::Folder => Ok(()),
        other => Err(Refusal::of_file(path, not_a("folder", other))),
    }
}

/// Whether an entry may be read and replaced.
pub fn admit_file(entry: &Entry, found: EntryType) -> Result<(), Refusal> {
    let most = entry.max_bytes();
    match found {
        EntryType::File(bytes) if bytes > most as u64 && most > 0 => {
            let message = format!("the file has {bytes} bytes; at most {most} are read");
            Err(Refusal::of_file(entry.path(), message))
        }
        EntryType::File(_) => Ok(()),
        other => Err(Refusal::of_file(entry.path(), not_a("file", other))),
    }
}

fn not_a(expected: &str, found: EntryType) -> String {
    match found {
        EntryType::Symlink => "a symbolic link, which is not followed".to_owned(),
        _ => format!("not a {expected}"),
    }
}

/// Names that one folder cannot hold on every disk, because they differ in case alone. All but the first are refused.
pub fn same_but_for_case<'a, T>(names: impl IntoIterator<Item = &'a T>, folded: fn(&T) -> String) -> Vec<&'a T> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().filter(|name| !seen.insert(folded(name))).collect()
}
