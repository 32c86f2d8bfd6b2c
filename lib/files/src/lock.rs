//! A file lock between processes. The system releases it when its process ends.

use std::fs::{File, TryLockError};

use super::{FileError, RootedPath};

#[derive(Debug)]
pub struct FileLock(File);

impl RootedPath {
    /// Locks the file. A missing file is created, in an existing folder. `None` while another process holds the lock.
    ///
    /// # Errors
    /// As [`RootedPath::append`], and when the file system has no locks.
    pub fn try_lock(&self, mode: u32) -> Result<Option<FileLock>, FileError> {
        let file = self.append(mode)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(FileLock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(FileError::system(self.full(), error)),
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A child that another thread forks has a copy of the descriptor until it runs its program. Closing only this
        // descriptor would leave the lock to the copy.
        let _ = self.0.unlock();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_descriptor_does_not_keep_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = RootedPath::new(folder.path(), "lock");
        let lock = path.try_lock(0o600).unwrap().unwrap();
        let copy = lock.0.try_clone().unwrap();
        assert!(path.try_lock(0o600).unwrap().is_none());
        drop(lock);
        assert!(path.try_lock(0o600).unwrap().is_some());
        drop(copy);
    }
}
