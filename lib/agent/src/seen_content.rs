//! The content of files that a session knows: the hash of what it last read or wrote, by the real path of the file. A write to
//! any other content would undo someone else's change. One file for each holder; losing it allows every write.

use std::collections::BTreeMap;
use std::path::Path;

use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;
use coord_intents::ledger::ContentHash;
use serde::{Deserialize, Serialize};

use super::file_content::{on_disk, stamp};
use super::session_notes;
use crate::private_folder;

/// The end of the files' names.
const END: &str = "content.json";

/// Most files that are remembered; the least recently used go first.
const MOST_FILES: usize = 2000;

/// Largest file, in bytes.
const MOST_BYTES: u64 = 4 << 20;

/// Records by absolute paths without symbolic links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct SeenContent {
    files: BTreeMap<String, SeenFile>,
    /// Grows with each change, so that the oldest entry is known.
    count: u64,
}

/// The record of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
struct SeenFile {
    /// The content that the session read or wrote last.
    hash: Option<ContentHash>,
    /// The file's stamp at that time, so that a look is mostly no read.
    stamp: Option<u64>,
    /// A granted write whose end has not been reported.
    write: Option<GrantedWrite>,
    /// Before a command began, someone else had already changed the file.
    is_foreign: bool,
    /// The content for which a write was refused last: each conflict is recorded once.
    refused: Option<ContentHash>,
    /// Whether the session was allowed to change the file's interface.
    changes_interface: bool,
    at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
struct GrantedWrite {
    before: Option<ContentHash>,
    /// The fencing token of the lock.
    token: Option<i64>,
}

/// A write that would change content which the session has not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The content that the session last read or wrote.
    pub expected: ContentHash,
    /// The content on disk.
    pub actual: ContentHash,
    /// Whether it was refused for the first time.
    pub is_new: bool,
}

/// The result of a write that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteResult {
    /// The fencing token of the lock under which it was granted.
    pub token: Option<i64>,
}

impl SeenContent {
    /// Changes the record of `agent_id`, and saves it. One process at a time.
    pub fn change<T>(working_copy: &WorkingCopy, agent_id: &AgentId, change: impl FnOnce(&mut SeenContent) -> T) -> T {
        let path = session_notes::path(working_copy, agent_id).with_extension(END);
        // Without the lock, a change of another process may be lost, and with it a refusal.
        let lock = path.with_extension("lock");
        let made = lock.make_parents(PRIVATE_MODE);
        let _lock = made
            .and_then(|_| lock.append(FILE_MODE))
            .ok()
            .filter(|file| file.lock().is_ok());
        let before = read(&path).unwrap_or_default();
        let mut seen = before.clone();
        let outcome = change(&mut seen);
        if seen != before {
            seen.shrink();
            if let Err(error) = session_notes::write(&path, &seen) {
                tracing::debug!(%error, "the session's reads cannot be noted");
            }
        }
        outcome
    }

    /// The session has read `path`. A failed read of a missing file tells the agent so, and the file may be written anew.
    pub fn read(&mut self, path: &Path) {
        match on_disk(path) {
            Some(ContentHash::Deleted) => {
                self.files.remove(&key(path));
            }
            found => self.set(path, found),
        }
    }

    /// Whether a write to `path` would change content that the session has not seen. Nothing is known of files that it has neither
    /// read nor written.
    pub fn conflict(&mut self, path: &Path) -> Option<Conflict> {
        let seen = self.files.get(&key(path))?;
        let expected = seen.hash?;
        // A granted write may have happened although no event reported it.
        if seen.write.is_some() {
            return None;
        }
        let actual = on_disk(path)?;
        if actual == expected {
            return None;
        }
        let is_new = seen.refused != Some(actual);
        let seen = self.touch(path);
        seen.refused = Some(actual);
        Some(Conflict {
            expected,
            actual,
            is_new,
        })
    }

    /// Begins a write to `path`, after [`SeenContent::conflict`] has found none.
    pub fn begin_write(&mut self, path: &Path, token: Option<i64>, changes_interface: bool) {
        let seen = self.touch(path);
        let before = match (seen.hash, seen.write) {
            // It was looked at just now.
            (Some(hash), None) => Some(hash),
            _ => on_disk(path),
        };
        seen.write = Some(GrantedWrite { before, token });
        seen.changes_interface = changes_interface;
    }

    /// Whether the session was allowed to change the interface of `path`.
    pub fn changes_interface(&self, path: &Path) -> bool {
        self.files.get(&key(path)).is_some_and(|seen| seen.changes_interface)
    }

    /// From now on, the session may change the interface of `path`, or has to keep it.
    pub fn set_changes_interface(&mut self, path: &Path, changes: bool) {
        self.touch(path).changes_interface = changes;
    }

    /// A write to `path` has ended, which wrote `content` where that is known. `None` if it changed nothing, or was reported
    /// before.
    pub fn end_write(&mut self, path: &Path, content: Option<ContentHash>) -> Option<WriteResult> {
        let seen = self.files.get(&key(path));
        let write = seen.and_then(|seen| seen.write);
        let before = match write {
            Some(write) => write.before,
            None => seen.and_then(|seen| seen.hash),
        };
        let after = content.or_else(|| on_disk(path));
        self.set(path, after);
        (before.is_none() || before != after).then_some(WriteResult {
            token: write.and_then(|write| write.token),
        })
    }

    /// A write to `path` has failed. Changes made anyway are attributed to someone else.
    pub fn fail_write(&mut self, path: &Path) {
        if let Some(seen) = self.files.get_mut(&key(path)) {
            seen.write = None;
        }
    }

    /// Called before a command of the session: changes until now are not the command's.
    pub fn begin_command(&mut self, root: &Path) {
        self.of(root, |path, seen| {
            let is_same = seen.stamp == stamp(path) || seen.hash == on_disk(path);
            seen.is_foreign = !is_same;
        });
    }

    /// Called after a command of the session: changes since it began are the command's.
    pub fn end_command(&mut self, root: &Path) {
        self.of(root, |path, seen| {
            let now = stamp(path);
            if !seen.is_foreign && seen.hash.is_some() && seen.stamp != now {
                seen.hash = on_disk(path);
                seen.stamp = now;
                seen.write = None;
            }
        });
    }

    fn of(&mut self, root: &Path, change: impl Fn(&Path, &mut SeenFile)) {
        let below = self.files.iter_mut().map(|(path, seen)| (Path::new(path), seen));
        below
            .filter(|(path, _)| path.starts_with(root))
            .for_each(|(path, seen)| change(path, seen));
    }

    fn set(&mut self, path: &Path, hash: Option<ContentHash>) {
        let stamp = stamp(path);
        let is_there = hash.is_some_and(|hash| on_disk(path) == Some(hash));
        let seen = self.touch(path);
        *seen = SeenFile {
            hash,
            stamp: stamp.filter(|_| is_there),
            at: seen.at,
            changes_interface: seen.changes_interface,
            ..SeenFile::default()
        };
    }

    fn touch(&mut self, path: &Path) -> &mut SeenFile {
        self.count += 1;
        let seen = self.files.entry(key(path)).or_default();
        seen.at = self.count;
        seen
    }

    fn shrink(&mut self) {
        while self.files.len() > MOST_FILES {
            let oldest = self.files.iter().min_by_key(|(_, seen)| seen.at);
            let Some(oldest) = oldest.map(|(path, _)| path.clone()) else {
                return;
            };
            self.files.remove(&oldest);
        }
    }
}

fn key(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn read(path: &RootedPath) -> Option<SeenContent> {
    serde_json::from_slice(&private_folder::read(path, MOST_BYTES).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_write_to_content_that_the_session_has_not_seen_is_a_conflict_until_it_reads_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut seen = SeenContent::default();
        let of = |text: &str| ContentHash::of(text.as_bytes());
        fs::write(&path, "one").unwrap();
        assert_eq!(seen.conflict(&path), None, "nothing is known of it");
        seen.read(&path);
        assert_eq!(seen.conflict(&path), None);
        fs::write(&path, "").unwrap();
        let conflict = |is_new| Conflict {
            expected: of("one"),
            actual: of(""),
            is_new,
        };
        assert_eq!(seen.conflict(&path), Some(conflict(true)));
        assert_eq!(seen.conflict(&path), Some(conflict(false)), "it is recorded once");
        seen.read(&path);
        assert_eq!(seen.conflict(&path), None);
        fs::remove_file(&path).unwrap();
        assert_eq!(seen.conflict(&path).unwrap().actual, ContentHash::Deleted);
        seen.read(&path);
        assert_eq!(seen.conflict(&path), None);
    }

    #[test]
    fn a_sessions_writes_are_its_own_and_later_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut seen = SeenContent::default();
        fs::write(&path, "one").unwrap();
        seen.read(&path);
        seen.begin_write(&path, Some(7), true);
        fs::write(&path, "two").unwrap();
        assert_eq!(seen.end_write(&path, None), Some(WriteResult { token: Some(7) }));
        assert_eq!(seen.end_write(&path, None), None, "two events of one write");
        assert_eq!(seen.conflict(&path), None);
        // A write that changed nothing.
        seen.begin_write(&path, None, true);
        assert_eq!(seen.end_write(&path, None), None);
        // Between the write and its event, another program has written.
        seen.begin_write(&path, None, true);
        fs::write(&path, "theirs").unwrap();
        let own = ContentHash::of(b"three");
        assert_eq!(seen.end_write(&path, Some(own)), Some(WriteResult { token: None }));
        assert_eq!(seen.conflict(&path).unwrap().expected, own);
    }

    #[test]
    fn a_commands_changes_belong_to_its_session_and_earlier_ones_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let (own, other) = (folder.path().join("own"), folder.path().join("other"));
        let mut seen = SeenContent::default();
        for path in [&own, &other] {
            fs::write(path, "one").unwrap();
            seen.read(path);
        }
        fs::write(&other, "theirs").unwrap();
        seen.begin_command(folder.path());
        fs::write(&own, "two!").unwrap();
        fs::write(&other, "both").unwrap();
        seen.end_command(folder.path());
        assert_eq!(seen.conflict(&own), None);
        assert!(seen.conflict(&other).is_some());
    }

    #[test]
    fn the_oldest_entries_go_first() {
        let mut seen = SeenContent::default();
        for number in 0..MOST_FILES + 10 {
            seen.touch(Path::new(&format!("/{number}")));
        }
        seen.touch(Path::new("/0"));
        seen.shrink();
        assert_eq!(seen.files.len(), MOST_FILES);
        assert!(seen.files.contains_key("/0") && !seen.files.contains_key("/1"));
    }
}
