//! The folder below its root: which entries Coord reads and writes, and which it leaves alone.

use crate::bounds::{CONFIG_BYTES, INBOX_BYTES, TASK_BYTES};
use crate::names::{Handle, InvalidName, TaskId, TeamName};
use crate::refusal::{Refusal, quote};

/// An entry that is read or written. Its path consists of parsed names only.
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

    /// The hidden file in the same folder that is written first, and then renamed. It has the plugin's name. `None` for
    /// locks, which are not written.
    pub fn temporary_path(&self, process: u32, milliseconds: u64) -> Option<String> {
        let path = self.path();
        let (folder, name) = path.rsplit_once('/')?;
        let name = name.strip_suffix(".json")?;
        Some(format!("{folder}/.{name}.json.{process}.{milliseconds}.tmp"))
    }

    /// The most bytes that are read.
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
    /// Coord reads and writes it.
    Ours(Entry),
    /// It belongs to other features, is hidden or unknown. Coord does not read it.
    Other,
    /// It would be an entry, but its name is invalid.
    Refused(Refusal),
}

/// The kind of a path with `/` as separator.
pub fn path_kind(path: &str) -> PathKind {
    let parts: Vec<_> = path.split('/').collect();
    let entry = match parts[..] {
        ["teams" | "tasks", team] if is_hidden(team) => return PathKind::Other,
        ["teams" | "tasks", team] => match TeamName::parse(team) {
            Ok(_) => return PathKind::Other,
            Err(error) => Err(error),
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
        Err(error) => PathKind::Refused(Refusal::of_file(quote(path), error.to_string())),
    }
}

fn both<T>(team: &str, name: Result<T, InvalidName>) -> Result<(TeamName, T), InvalidName> {
    Ok((TeamName::parse(team)?, name?))
}

/// The plugin lists only names that end in `.json` and do not begin with a dot.
fn stem(file: &str) -> Option<&str> {
    file.strip_suffix(".json").filter(|_| !is_hidden(file))
}

fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

/// The type of an entry on disk. Links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryType {
    /// A regular file, with its size in bytes.
    File(u64),
    Folder,
    Symlink,
    /// A pipe, a device, a socket.
    Other,
}

/// Checks that a folder on the path to an entry may be opened. The root may be a link; below it, no link is followed.
pub fn admit_folder(path: &str, found: EntryType) -> Result<(), Refusal> {
    match found {
        EntryType::Folder => Ok(()),
        other => Err(Refusal::of_file(path, wrong_type("folder", other))),
    }
}

/// Checks that an entry may be read and replaced.
pub fn admit_file(entry: &Entry, found: EntryType) -> Result<(), Refusal> {
    let most = entry.max_bytes();
    match found {
        EntryType::File(bytes) if bytes > most as u64 && most > 0 => {
            let message = format!("the file has {bytes} bytes; at most {most} are read");
            Err(Refusal::of_file(entry.path(), message))
        }
        EntryType::File(_) => Ok(()),
        other => Err(Refusal::of_file(entry.path(), wrong_type("file", other))),
    }
}

fn wrong_type(expected: &str, found: EntryType) -> String {
    match found {
        EntryType::Symlink => "a symbolic link, which is not followed".to_owned(),
        _ => format!("not a {expected}"),
    }
}

/// Names that differ from an earlier name only in case. Some disks cannot hold both in one folder.
pub fn same_but_for_case<'a, T>(names: impl IntoIterator<Item = &'a T>, folded: fn(&T) -> String) -> Vec<&'a T> {
    let mut seen = std::collections::HashSet::new();
    names.into_iter().filter(|name| !seen.insert(folded(name))).collect()
}
