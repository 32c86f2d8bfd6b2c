//! The plugin's locks: POSIX record locks over the whole `.lock` files. They do not conflict with `flock`, which the
//! standard library uses. Such a lock belongs to the process, which loses it when it closes any descriptor of the file.
//! So each file is opened only once.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use coord_files::{FILE_MODE, RootedPath};

/// The longest wait for other programs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

const RETRY_INTERVAL: Duration = Duration::from_millis(2);

/// The mode of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Shared,
    Exclusive,
}

/// Both locks of a team, until they are dropped.
#[derive(Debug)]
pub(super) struct Locks {
    _files: Vec<File>,
}

impl Locks {
    /// Acquires the locks of `paths`, except those whose folder does not exist.
    ///
    /// # Errors
    /// When another program holds a lock for ten seconds, or a path is not a file.
    pub fn acquire(paths: &[RootedPath], kind: Kind) -> anyhow::Result<Locks> {
        let deadline = Instant::now() + LOCK_TIMEOUT;
        loop {
            let mut files = Vec::new();
            let mut locked_path = None;
            for path in paths {
                let context = || format!("the lock {}", path.full().display());
                let file = match path.append(FILE_MODE) {
                    // Its folder does not exist.
                    Err(error) if error.is_missing() => continue,
                    file => file.with_context(context)?,
                };
                if !try_lock(&file, kind).with_context(context)? {
                    // The holder of the second lock may wait for the first, so this releases both.
                    locked_path = Some(path);
                    break;
                }
                files.push(file);
            }
            let Some(path) = locked_path else {
                return Ok(Locks { _files: files });
            };
            if Instant::now() > deadline {
                bail!(
                    "{} is locked by another program for {} s",
                    path.full().display(),
                    LOCK_TIMEOUT.as_secs()
                );
            }
            drop(files);
            std::thread::sleep(RETRY_INTERVAL);
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

/// The plugin does not run here, so this only excludes other syncs.
#[cfg(not(unix))]
fn try_lock(file: &File, kind: Kind) -> io::Result<bool> {
    let result = match kind {
        Kind::Shared => file.try_lock_shared(),
        Kind::Exclusive => file.try_lock(),
    };
    match result {
        Ok(()) => Ok(true),
        Err(std::fs::TryLockError::WouldBlock) => Ok(false),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}
