//! The plugin's locks: POSIX record locks over the whole `.lock` files. `flock`, which is also that of the standard library, does
//! not exclude these. Such a lock belongs to the process and ends with the first descriptor of the file that it closes, so that each
//! file is opened once.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use coord_files::{FILE_MODE, RootedPath};

/// How long is waited for others.
const PATIENCE: Duration = Duration::from_secs(10);

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// The kind of sharing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// With other readers.
    Shared,
    /// Not shared.
    Exclusive,
}

/// Both locks of a team, until they are dropped.
#[derive(Debug)]
pub(super) struct Locks {
    _files: Vec<File>,
}

impl Locks {
    /// Acquires those of `paths` whose folders are there.
    ///
    /// # Errors
    /// When another program keeps one for ten seconds, or one is no file.
    pub fn take(paths: &[RootedPath], kind: Kind) -> anyhow::Result<Locks> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut files = Vec::new();
            let mut waits_for = None;
            for path in paths {
                let about = || format!("the lock {}", path.full().display());
                let file = match path.append(FILE_MODE) {
                    // Its folder is not there.
                    Err(error) if error.is_missing() => continue,
                    file => file.with_context(about)?,
                };
                if !try_lock(&file, kind).with_context(about)? {
                    // The holder of the second lock may wait for the first: release all.
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
                    path.full().display(),
                    PATIENCE.as_secs()
                );
            }
            drop(files);
            std::thread::sleep(PAUSE);
        }
    }
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
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}
