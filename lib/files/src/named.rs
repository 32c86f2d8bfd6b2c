//! Files that the user or the system names by their whole path. Links are followed.

use std::fs::File;
use std::io;
use std::path::Path;

use super::rooted_path::read_bounded;
use super::{EntryKind, FileError, Refusal, system};

/// Reads the regular file at `path`, at most `max_bytes` bytes. `None` if it does not exist.
///
/// # Errors
/// When it is not a regular file, cannot be read, or has more bytes.
pub fn regular(path: &Path, max_bytes: u64) -> Result<Option<Vec<u8>>, FileError> {
    let Some(file) = open_regular(path)? else {
        return Ok(None);
    };
    read_bounded(file, max_bytes, path.to_owned()).map(Some)
}

/// Opens the regular file at `path` for reading. `None` if it does not exist.
///
/// # Errors
/// When it is not a regular file, or cannot be opened.
pub fn open_regular(path: &Path) -> Result<Option<File>, FileError> {
    let Some((file, kind)) = open(path)? else {
        return Ok(None);
    };
    match kind {
        EntryKind::File => Ok(Some(file)),
        kind => Err(FileError::refused(path.to_owned(), Refusal::NotAFile(kind))),
    }
}

/// As [`open_regular`], but also opens a pipe or a device. A pipe without a writer is at its end, so that reads do not
/// wait for one.
///
/// # Errors
/// When it is a folder or a socket, or cannot be opened.
pub fn open_stream(path: &Path) -> Result<Option<File>, FileError> {
    let Some((file, kind)) = open(path)? else {
        return Ok(None);
    };
    match kind {
        EntryKind::File => {}
        EntryKind::Pipe | EntryKind::Device => {
            system::wait_for_writers(&file).map_err(|error| FileError::system(path.to_owned(), error))?;
        }
        kind => return Err(FileError::refused(path.to_owned(), Refusal::NotAFile(kind))),
    }
    Ok(Some(file))
}

fn open(path: &Path) -> Result<Option<(File, EntryKind)>, FileError> {
    let system_error = |error| FileError::system(path.to_owned(), error);
    let file = match system::open_named(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(system_error)?,
    };
    let kind = system::file_kind(&file).map_err(system_error)?;
    Ok(Some((file, kind)))
}
