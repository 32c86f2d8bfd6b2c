//! A file that is written under a temporary name, so that readers see the old content or the new one, never a part.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use super::system::{self, Folder};
use super::{EntryKind, FileError};

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A file beside the one that it will replace. Dropping it removes the file.
#[derive(Debug)]
pub struct StagedFile {
    folder: Folder,
    name: OsString,
    temporary: OsString,
    is_renamed: bool,
    path: PathBuf,
    file: File,
}

impl StagedFile {
    pub(crate) fn write(
        folder: Folder,
        name: &OsStr,
        path: PathBuf,
        temporary: Option<&OsStr>,
        content: &[u8],
        mode: u32,
    ) -> Result<StagedFile, FileError> {
        let system_error = |error| FileError::system(path.clone(), error);
        // A replaced file keeps its permissions; a new file gets those that the user's mask leaves.
        let is_file = folder.entry_info(name).is_ok_and(|entry| entry.kind == EntryKind::File);
        let old_mode = is_file
            .then(|| folder.read(name).and_then(|file| system::file_mode(&file)).ok())
            .flatten();
        let (file, temporary) = match temporary {
            Some(temporary) => (
                folder.create_new(temporary, mode).map_err(system_error)?,
                temporary.to_owned(),
            ),
            None => create_temporary(&folder, mode).map_err(system_error)?,
        };
        let staged = StagedFile {
            folder,
            name: name.to_owned(),
            temporary,
            is_renamed: false,
            path: path.clone(),
            file,
        };
        fill(&staged.file, content, old_mode).map_err(system_error)?;
        Ok(staged)
    }

    /// Waits until the content is on disk.
    pub(crate) fn sync(&self) -> Result<(), FileError> {
        let synced = self.file.sync_all();
        synced.map_err(|error| FileError::system(self.path.clone(), error))
    }

    /// Gives the file its name, and so replaces the current file.
    ///
    /// # Errors
    /// When a folder has the name, or the system refuses.
    pub fn replace(mut self) -> Result<(), FileError> {
        let result = self.folder.rename(&self.temporary, &self.name);
        self.is_renamed = result.is_ok();
        result.map_err(|error| FileError::system(self.path.clone(), error))
    }

    /// Gives the file its name. Returns false if the name exists already.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn create(self) -> Result<bool, FileError> {
        match self.folder.link(&self.temporary, &self.name) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(FileError::system(self.path.clone(), error)),
        }
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = self.folder.remove(&self.temporary);
        }
    }
}

fn fill(mut file: &File, content: &[u8], mode: Option<u32>) -> io::Result<()> {
    file.write_all(content)?;
    match mode {
        Some(mode) => system::set_mode(file, mode),
        None => Ok(()),
    }
}

fn create_temporary(folder: &Folder, mode: u32) -> io::Result<(File, OsString)> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos();
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = OsString::from(format!(".coord-{}-{now:x}-{number}.tmp", std::process::id()));
        match folder.create_new(&name, mode) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            file => return Ok((file?, name)),
        }
    }
}
