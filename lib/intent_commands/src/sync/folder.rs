//! The files on disk: written to a temporary file and renamed, by one writer at a time.

use std::io::Write;

use anyhow::{Context, bail, ensure};
use coord_files::{FILE_MODE, FOLDER_MODE, FileLock, PRIVATE_MODE, RootedPath};
use coord_git::WorkingCopy;

/// The folder, at the root of the working copy.
pub const FOLDER: &str = ".orchestration";

pub const REGISTRY: &str = "active_intents.yaml";
pub(super) const TRACE: &str = "agent_trace.jsonl";
pub(super) const MAP: &str = "intent_map.md";

pub const FILES: [&str; 3] = [REGISTRY, TRACE, MAP];

/// Largest registry and map, in bytes.
const MOST_BYTES: u64 = 8 << 20;

/// Largest ledger, in bytes.
pub(super) const MOST_TRACE_BYTES: u64 = 1 << 30;

/// The folder, locked for writing. Anyone who can push decides its content, so it is opened without following links.
pub(super) struct Folder {
    path: RootedPath,
    /// The last written texts are kept here, under git's folder.
    kept: RootedPath,
    _lock: FileLock,
}

impl Folder {
    /// Does not wait: the process that writes the folder now brings it up to date as well.
    ///
    /// # Errors When another process writes it, or a folder cannot be made.
    pub(super) fn open(working_copy: &WorkingCopy) -> anyhow::Result<Folder> {
        let path = RootedPath::new(working_copy.root(), FOLDER);
        let kept = RootedPath::new(working_copy.git_folder(), "coord/sync");
        let lock = kept.join("lock");
        lock.make_parents(PRIVATE_MODE)?;
        let Some(lock) = lock.try_lock(FILE_MODE)? else {
            bail!("another coord sync is writing {}; run it again", path.full().display())
        };
        Ok(Folder {
            path,
            kept,
            _lock: lock,
        })
    }

    pub(super) fn file(&self, name: &str) -> RootedPath {
        self.path.join(name)
    }

    /// The content of a file; `None` where there is none.
    pub(super) fn read(&self, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(self.file(name).read(MOST_BYTES)?)
    }

    /// The last written text of a file.
    pub(super) fn last_written(&self, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(self.kept.join(name).read(MOST_BYTES)?)
    }

    /// Writes a file, if it is still as it was read.
    ///
    /// # Errors
    /// When it was changed meanwhile, or cannot be written.
    pub(super) fn write(&self, name: &str, before: Option<&[u8]>, text: &str) -> anyhow::Result<()> {
        let file = self.file(name);
        file.make_parents(FOLDER_MODE)?;
        let staged = file.stage(text.as_bytes(), FILE_MODE, None)?;
        ensure!(
            file.read(MOST_BYTES)?.as_deref() == before,
            "{} was changed meanwhile; run it again",
            file.full().display()
        );
        Ok(staged.replace()?)
    }

    /// Keeps the last written text of a file.
    pub(super) fn keep(&self, name: &str, text: &str) -> anyhow::Result<()> {
        Ok(self.kept.join(name).write(text.as_bytes(), FILE_MODE)?)
    }

    /// Appends to a file, if it has as many bytes as when it was read, and makes it where there is none.
    ///
    /// # Errors When another process has written to it meanwhile, or it cannot be written.
    pub(super) fn append(&self, name: &str, length: u64, bytes: &[u8]) -> anyhow::Result<()> {
        let file = self.file(name);
        file.make_parents(FOLDER_MODE)?;
        let shown = file.full();
        let about = || format!("{} cannot be written", shown.display());
        let mut file = file.append(FILE_MODE)?;
        ensure!(
            file.metadata().with_context(about)?.len() == length,
            "{} was changed meanwhile; run it again",
            shown.display()
        );
        let appended = file.write_all(bytes).and_then(|()| file.sync_all());
        appended.with_context(about)
    }
}

#[cfg(test)]
mod tests {
    use coord_test_support::git::Repo;

    use super::*;

    #[test]
    fn one_writes_at_a_time_and_never_over_what_was_changed_meanwhile() {
        let place = tempfile::tempdir().unwrap();
        let repo = Repo::init(place.path().join("repo"), &[]);
        let working_copy = WorkingCopy::containing(repo.path()).unwrap();
        let folder = Folder::open(&working_copy).unwrap();
        assert!(Folder::open(&working_copy).is_err());
        assert_eq!(folder.read(REGISTRY).unwrap(), None);
        folder.write(REGISTRY, None, "one").unwrap();
        assert!(folder.write(REGISTRY, None, "two").is_err(), "it is there by now");
        assert!(folder.write(REGISTRY, Some(b"other"), "two").is_err());
        folder.write(REGISTRY, Some(b"one"), "two").unwrap();
        folder.keep(REGISTRY, "two").unwrap();
        assert_eq!(folder.read(REGISTRY).unwrap(), folder.last_written(REGISTRY).unwrap());
        folder.append(TRACE, 0, b"a\n").unwrap();
        assert!(folder.append(TRACE, 0, b"b\n").is_err(), "it has two bytes by now");
        folder.append(TRACE, 2, b"b\n").unwrap();
        assert_eq!(folder.read(TRACE).unwrap().unwrap(), b"a\nb\n");
        let names = std::fs::read_dir(folder.path.full()).unwrap().count();
        assert_eq!(names, 2, "nothing temporary is left");
        drop(folder);
        assert!(Folder::open(&working_copy).is_ok());
    }
}
