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

/// The maximum size of the registry and of the map.
const MAX_BYTES: u64 = 8 << 20;

/// The maximum size of the ledger.
pub(super) const MAX_TRACE_BYTES: u64 = 1 << 30;

/// The folder, locked for writing. Anyone who can push decides its content, so it is opened without following links.
pub(super) struct Folder {
    path: RootedPath,
    /// The folder for the last written texts, below git's folder.
    last_written: RootedPath,
    _lock: FileLock,
}

impl Folder {
    /// Does not wait for another process, because that process brings the files up to date as well.
    ///
    /// # Errors
    /// When another process writes the folder, or a folder cannot be made.
    pub(super) fn open(working_copy: &WorkingCopy) -> anyhow::Result<Folder> {
        let path = RootedPath::new(working_copy.root(), FOLDER);
        let last_written = RootedPath::new(working_copy.git_folder(), "coord/sync");
        let lock = last_written.join("lock");
        lock.create_parents(PRIVATE_MODE)?;
        let Some(lock) = lock.try_lock(FILE_MODE)? else {
            bail!("another coord sync is writing {}; run it again", path.full().display())
        };
        Ok(Folder {
            path,
            last_written,
            _lock: lock,
        })
    }

    pub(super) fn file(&self, name: &str) -> RootedPath {
        self.path.join(name)
    }

    /// Reads a file; `None` if it does not exist.
    pub(super) fn read(&self, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(self.file(name).read(MAX_BYTES)?)
    }

    /// Reads the last written text of a file.
    pub(super) fn read_last_written(&self, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(self.last_written.join(name).read(MAX_BYTES)?)
    }

    /// Writes a file that is still as it was read.
    ///
    /// # Errors
    /// When the file was changed since, or cannot be written.
    pub(super) fn write(&self, name: &str, before: Option<&[u8]>, text: &str) -> anyhow::Result<()> {
        let file = self.file(name);
        file.create_parents(FOLDER_MODE)?;
        let staged = file.stage(text.as_bytes(), FILE_MODE, None)?;
        ensure!(
            file.read(MAX_BYTES)?.as_deref() == before,
            "{} changed during the sync; run it again",
            file.full().display()
        );
        Ok(staged.replace()?)
    }

    /// Stores `text` as the last written text of a file.
    pub(super) fn store_last_written(&self, name: &str, text: &str) -> anyhow::Result<()> {
        Ok(self.last_written.join(name).write(text.as_bytes(), FILE_MODE)?)
    }

    /// Appends to a file that still has `length` bytes. Creates it if it does not exist.
    ///
    /// # Errors
    /// When the file has another length, or cannot be written.
    pub(super) fn append(&self, name: &str, length: u64, bytes: &[u8]) -> anyhow::Result<()> {
        let file = self.file(name);
        file.create_parents(FOLDER_MODE)?;
        let path = file.full();
        let context = || format!("{} cannot be written", path.display());
        let mut file = file.append(FILE_MODE)?;
        ensure!(
            file.metadata().with_context(context)?.len() == length,
            "{} changed during the sync; run it again",
            path.display()
        );
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .with_context(context)
    }
}

#[cfg(test)]
mod tests {
    use coord_test_support::git::Repo;

    use super::*;

    #[test]
    fn one_writes_at_a_time_and_never_over_what_was_changed_meanwhile() {
        let temporary = tempfile::tempdir().unwrap();
        let repo = Repo::init(temporary.path().join("repo"), &[]);
        let working_copy = WorkingCopy::containing(repo.path()).unwrap();
        let folder = Folder::open(&working_copy).unwrap();
        assert!(Folder::open(&working_copy).is_err());
        assert_eq!(folder.read(REGISTRY).unwrap(), None);
        folder.write(REGISTRY, None, "one").unwrap();
        assert!(folder.write(REGISTRY, None, "two").is_err(), "it is there by now");
        assert!(folder.write(REGISTRY, Some(b"other"), "two").is_err());
        folder.write(REGISTRY, Some(b"one"), "two").unwrap();
        folder.store_last_written(REGISTRY, "two").unwrap();
        assert_eq!(
            folder.read(REGISTRY).unwrap(),
            folder.read_last_written(REGISTRY).unwrap()
        );
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
