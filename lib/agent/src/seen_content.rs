//! The content of files that a session has seen: the hash of the content that it last read or wrote, by the real path
//! of the file. A write to any other content would undo someone else's change. Each holder has a file; without it,
//! every write is allowed.

use std::collections::BTreeMap;
use std::path::Path;

use coord_domain::AgentId;
use coord_files::{FILE_MODE, PRIVATE_MODE};
use coord_git::WorkingCopy;
use coord_intents::ledger::ContentHash;
use serde::{Deserialize, Serialize};

use super::file_content::{on_disk, stamp};
use super::session_notes;
use crate::private_folder;

/// The extension of the files' names.
const EXTENSION: &str = "content.json";

/// Maximum number of recorded files: excess files are removed, the least recently used first.
const MAX_FILES: usize = 2000;

/// Maximum size of a holder's file, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Records by absolute paths without symbolic links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct SeenContent {
    files: BTreeMap<String, SeenFile>,
    /// The number of changes so far, from which each record has its `at`.
    count: u64,
}

/// The record of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
struct SeenFile {
    /// The content that the session read or wrote last.
    hash: Option<ContentHash>,
    /// The file's stamp at that time. While it is the same, the file need not be read.
    stamp: Option<u64>,
    /// A granted write whose end has not been reported.
    write: Option<GrantedWrite>,
    /// Whether someone else had changed the file before the current command began.
    is_foreign: bool,
    /// The content for which a write was refused last: each conflict is recorded once.
    refused: Option<ContentHash>,
    /// Whether the session was allowed to change the file's interface.
    changes_interface: bool,
    /// The number of the last change of the record.
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
    /// Whether a write to this content was not refused before.
    pub is_new: bool,
}

/// The result of a write that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteResult {
    /// The fencing token of the lock under which the write was granted.
    pub token: Option<i64>,
}

impl SeenContent {
    /// Changes the record of `agent_id`, and saves it. Only one process at a time can do this.
    pub fn change<T>(working_copy: &WorkingCopy, agent_id: &AgentId, change: impl FnOnce(&mut SeenContent) -> T) -> T {
        let path = session_notes::path(working_copy, agent_id).with_extension(EXTENSION);
        // Without the lock, a change of another process may be lost, and with it a refusal.
        let lock = path.with_extension("lock");
        let _lock = lock
            .create_parents(PRIVATE_MODE)
            .and_then(|_| lock.append(FILE_MODE))
            .ok()
            .filter(|file| file.lock().is_ok());
        let before: SeenContent = private_folder::read_json(&path, MAX_BYTES).unwrap_or_default();
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

    /// Notes that the session has read `path`. After a failed read, the agent knows that the file is missing, and may
    /// create it.
    pub fn read(&mut self, path: &Path) {
        match on_disk(path) {
            Some(ContentHash::Deleted) => {
                self.files.remove(&key(path));
            }
            hash => self.record(path, hash),
        }
    }

    /// The conflict if a write to `path` would change content that the session has not seen. `None` also for files that
    /// it has neither read nor written.
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

    /// Notes the start of a write to `path`, for which [`SeenContent::conflict`] has returned `None`.
    pub fn begin_write(&mut self, path: &Path, token: Option<i64>, changes_interface: bool) {
        let seen = self.touch(path);
        let before = match (seen.hash, seen.write) {
            // `conflict` has just compared it with the file.
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

    /// Notes whether the session may change the interface of `path` from now on.
    pub fn set_changes_interface(&mut self, path: &Path, changes: bool) {
        self.touch(path).changes_interface = changes;
    }

    /// Notes the end of a write to `path`, and its `content` if that is known. `None` if the write changed nothing, or
    /// was reported before.
    pub fn end_write(&mut self, path: &Path, content: Option<ContentHash>) -> Option<WriteResult> {
        let seen = self.files.get(&key(path));
        let write = seen.and_then(|seen| seen.write);
        let before = match write {
            Some(write) => write.before,
            None => seen.and_then(|seen| seen.hash),
        };
        let after = content.or_else(|| on_disk(path));
        self.record(path, after);
        (before.is_none() || before != after).then_some(WriteResult {
            token: write.and_then(|write| write.token),
        })
    }

    /// Notes that a write to `path` has failed. Changes made anyway are attributed to someone else.
    pub fn fail_write(&mut self, path: &Path) {
        if let Some(seen) = self.files.get_mut(&key(path)) {
            seen.write = None;
        }
    }

    /// Notes the start of a command of the session: earlier changes are not the command's.
    pub fn begin_command(&mut self, root: &Path) {
        self.update_below(root, |path, seen| {
            let is_same = seen.stamp == stamp(path) || seen.hash == on_disk(path);
            seen.is_foreign = !is_same;
        });
    }

    /// Notes the end of a command of the session: changes since its start are the command's.
    pub fn end_command(&mut self, root: &Path) {
        self.update_below(root, |path, seen| {
            let now = stamp(path);
            if !seen.is_foreign && seen.hash.is_some() && seen.stamp != now {
                seen.hash = on_disk(path);
                seen.stamp = now;
                seen.write = None;
            }
        });
    }

    /// Calls `update` for each recorded file below `root`.
    fn update_below(&mut self, root: &Path, update: impl Fn(&Path, &mut SeenFile)) {
        for (path, seen) in &mut self.files {
            let path = Path::new(path);
            if path.starts_with(root) {
                update(path, seen);
            }
        }
    }

    /// Records `hash` as the content of `path` that the session knows.
    fn record(&mut self, path: &Path, hash: Option<ContentHash>) {
        let stamp = stamp(path);
        let is_current = hash.is_some_and(|hash| on_disk(path) == Some(hash));
        let seen = self.touch(path);
        *seen = SeenFile {
            hash,
            stamp: stamp.filter(|_| is_current),
            at: seen.at,
            changes_interface: seen.changes_interface,
            ..SeenFile::default()
        };
    }

    /// The record of `path`, as the most recently used one.
    fn touch(&mut self, path: &Path) -> &mut SeenFile {
        self.count += 1;
        let seen = self.files.entry(key(path)).or_default();
        seen.at = self.count;
        seen
    }

    fn shrink(&mut self) {
        while self.files.len() > MAX_FILES {
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
        for number in 0..MAX_FILES + 10 {
            seen.touch(Path::new(&format!("/{number}")));
        }
        seen.touch(Path::new("/0"));
        seen.shrink();
        assert_eq!(seen.files.len(), MAX_FILES);
        assert!(seen.files.contains_key("/0") && !seen.files.contains_key("/1"));
    }
}
