//! The files on disk: written to a temporary file and renamed, by one writer at a time.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use coord_git::WorkingCopy;
use tempfile::NamedTempFile;

/// The folder, at the root of the working copy.
pub const FOLDER: &str = ".orchestration";

/// The registry.
pub const REGISTRY: &str = "active_intents.yaml";
/// The ledger.
pub(super) const TRACE: &str = "agent_trace.jsonl";
/// The map.
pub(super) const MAP: &str = "intent_map.md";

/// All files.
pub const FILES: [&str; 3] = [REGISTRY, TRACE, MAP];

/// Largest registry and map, in bytes.
const MOST_BYTES: u64 = 8 << 20;

/// The folder, while nobody else writes it.
pub(super) struct Folder {
    path: PathBuf,
    /// What was last written is kept here, under git's folder.
    kept: PathBuf,
    _lock: File,
}

impl Folder {
    /// Waits for nobody: whoever writes the folder now brings it up to date as well.
    ///
    /// # Errors
    /// When somebody else writes it, or a folder cannot be made.
    pub(super) fn open(working_copy: &WorkingCopy) -> anyhow::Result<Folder> {
        let path = working_copy.root().join(FOLDER);
        ensure!(
            !path.is_symlink(),
            "{} is a symbolic link, and is not written through",
            path.display()
        );
        let kept = working_copy.git_folder().join("coord/sync");
        fs::create_dir_all(&kept).with_context(|| format!("{} cannot be made", kept.display()))?;
        let lock = File::create(kept.join("lock")).context("the lock of the files cannot be made")?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another coord sync is writing {}; run it again", path.display()),
            Err(TryLockError::Error(error)) => return Err(error).context("the lock of the files"),
        }
        Ok(Folder {
            path,
            kept,
            _lock: lock,
        })
    }

    /// The path of a file.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The content of a file; `None` where there is none.
    pub(super) fn read(&self, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
        read(&self.file(name))
    }

    /// What was last written of a file.
    pub(super) fn last_written(&self, name: &str) -> anyhow::Result<Option<Vec<u8>>> {
        read(&self.kept.join(name))
    }

    /// Writes a file, if it is still as it was read.
    ///
    /// # Errors
    /// When it was changed meanwhile, or cannot be written.
    pub(super) fn write(&self, name: &str, before: Option<&[u8]>, text: &str) -> anyhow::Result<()> {
        fs::create_dir_all(&self.path).with_context(|| format!("{} cannot be made", self.path.display()))?;
        let path = self.file(name);
        let prepared = prepare(&path, text)?;
        ensure!(
            read(&path)?.as_deref() == before,
            "{} was changed meanwhile; run it again",
            path.display()
        );
        persist(prepared, &path)
    }

    /// Keeps what was last written of a file.
    pub(super) fn keep(&self, name: &str, text: &str) -> anyhow::Result<()> {
        let path = self.kept.join(name);
        persist(prepare(&path, text)?, &path)
    }

    /// Appends to a file, if it has as many bytes as when it was read, and makes it where there is none.
    ///
    /// # Errors
    /// When somebody else has written to it meanwhile, or it cannot be written.
    pub(super) fn append(&self, name: &str, length: u64, bytes: &[u8]) -> anyhow::Result<()> {
        fs::create_dir_all(&self.path).with_context(|| format!("{} cannot be made", self.path.display()))?;
        let path = self.file(name);
        let about = || format!("{} cannot be written", path.display());
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(about)?;
        ensure!(
            file.metadata().with_context(about)?.len() == length,
            "{} was changed meanwhile; run it again",
            path.display()
        );
        let appended = file.write_all(bytes).and_then(|()| file.sync_all());
        appended.with_context(about)
    }
}

fn read(path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    let about = || format!("{} cannot be read", path.display());
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.with_context(about)?,
    };
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).with_context(about)?;
    ensure!(
        bytes.len() as u64 <= MOST_BYTES,
        "{} is larger than 8 MiB",
        path.display()
    );
    Ok(Some(bytes))
}

fn prepare(path: &Path, text: &str) -> anyhow::Result<NamedTempFile> {
    let about = || format!("{} cannot be written", path.display());
    let folder = path.parent().with_context(about)?;
    let mut file = NamedTempFile::new_in(folder).with_context(about)?;
    file.write_all(text.as_bytes()).with_context(about)?;
    // A temporary file is its owner's alone, and these are everybody's who may read the working copy.
    let permissions = fs::metadata(path).map(|about| about.permissions());
    #[cfg(unix)]
    let permissions = permissions.unwrap_or_else(|_| std::os::unix::fs::PermissionsExt::from_mode(0o644));
    #[cfg(unix)]
    file.as_file().set_permissions(permissions).with_context(about)?;
    #[cfg(not(unix))]
    drop(permissions);
    file.as_file().sync_all().with_context(about)?;
    Ok(file)
}

fn persist(file: NamedTempFile, path: &Path) -> anyhow::Result<()> {
    let persisted = file.persist(path).map_err(|failed| failed.error);
    persisted
        .map(drop)
        .with_context(|| format!("{} cannot be written", path.display()))
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
        let names = fs::read_dir(folder.file("")).unwrap().count();
        assert_eq!(names, 2, "nothing temporary is left");
        drop(folder);
        assert!(Folder::open(&working_copy).is_ok());
    }
}
