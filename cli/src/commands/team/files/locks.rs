//! The plugin's locks: POSIX record locks over the whole `.lock` files. `flock`, which is also that of the standard library, does
//! not exclude these. Such a lock belongs to the process and ends with the first descriptor of the file that it closes, so that each
//! file is opened once.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use coord_teams::layout::Entry;
use coord_teams::names::TeamName;

use super::disk::Disk;

/// How long is waited for others.
const PATIENCE: Duration = Duration::from_secs(10);

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// With whom it is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// With other readers.
    Shared,
    /// With nobody.
    Exclusive,
}

/// Both locks of a team, until they are dropped.
#[derive(Debug)]
pub(super) struct Locks {
    _files: Vec<File>,
}

impl Locks {
    /// Takes those whose folders are there.
    ///
    /// # Errors
    /// When another program keeps one for ten seconds, or one is no file.
    pub fn take(disk: &Disk, team: &TeamName, kind: Kind) -> anyhow::Result<Locks> {
        let entries = [Entry::TeamLock(team.clone()), Entry::TaskLock(team.clone())];
        let folder = |entry: &Entry| entry.path().trim_end_matches("/.lock").to_owned();
        let entries = entries.iter().filter(|entry| disk.admitted(&folder(entry)).is_ok());
        let paths: Vec<_> = entries.map(|entry| disk.path(entry)).collect();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut files = Vec::new();
            let mut waits_for = None;
            for path in paths.iter().filter(|path| path.parent().is_some_and(Path::is_dir)) {
                let about = || format!("the lock {}", path.display());
                let file = lock_file(path).with_context(about)?;
                if !try_lock(&file, kind).with_context(about)? {
                    // Whoever has the second may wait for the first: none is kept.
                    waits_for = Some(path);
                    break;
                }
                files.push(file);
            }
            let Some(path) = waits_for else {
                return Ok(Locks { _files: files });
            };
            if Instant::now() > deadline {
                bail!(
                    "{} is locked by another program for {} s",
                    path.display(),
                    PATIENCE.as_secs()
                );
            }
            drop(files);
            std::thread::sleep(PAUSE);
        }
    }
}

fn lock_file(path: &Path) -> io::Result<File> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is no file, and is not opened")),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    open_no_follow(
        OpenOptions::new().read(true).write(true).create(true).truncate(false),
        path,
    )
}

/// Opens a file that is no symbolic link, and without waiting for the other end of a pipe.
#[cfg(unix)]
pub(super) fn open_no_follow(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    options.custom_flags(flags.cast_signed()).open(path)
}

/// Opens a file. Symbolic links take a privilege here, and were looked for before.
#[cfg(not(unix))]
pub(super) fn open_no_follow(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

#[cfg(unix)]
fn try_lock(file: &File, kind: Kind) -> io::Result<bool> {
    use rustix::fs::{FlockOperation, fcntl_lock};
    let operation = match kind {
        Kind::Shared => FlockOperation::NonBlockingLockShared,
        Kind::Exclusive => FlockOperation::NonBlockingLockExclusive,
    };
    match fcntl_lock(file, operation).map_err(io::Error::from) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::PermissionDenied) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The plugin does not run here; this excludes other synchronizations.
#[cfg(not(unix))]
fn try_lock(file: &File, kind: Kind) -> io::Result<bool> {
    let locked = match kind {
        Kind::Shared => file.try_lock_shared(),
        Kind::Exclusive => file.try_lock(),
    };
    match locked {
        Ok(()) => Ok(true),
        Err(fs::TryLockError::WouldBlock) => Ok(false),
        Err(fs::TryLockError::Error(error)) => Err(error),
    }
}
