//! Why a file is not opened, and how to fix it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::EntryKind;

/// Why a file is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is a link, or something else that is not a regular file.
    NotAFile(EntryKind),
    /// It is a parent of the file, and not a folder.
    NotAFolder(EntryKind),
    /// It has more bytes than this.
    TooLarge(u64),
    /// It has a second name.
    HardLink,
    /// Its path leads out of its root.
    Outside,
}

/// A path, and why it is not opened.
#[derive(Debug)]
pub struct FileError {
    pub path: PathBuf,
    pub cause: Cause,
}

/// Coord's reason or the system's error.
#[derive(Debug)]
pub enum Cause {
    /// Coord refuses it.
    Refused(Refusal),
    System(io::Error),
}

impl FileError {
    pub(crate) fn refused(path: PathBuf, refusal: Refusal) -> FileError {
        FileError {
            path,
            cause: Cause::Refused(refusal),
        }
    }

    pub(crate) fn system(path: PathBuf, error: io::Error) -> FileError {
        FileError {
            path,
            cause: Cause::System(error),
        }
    }

    /// Why Coord refuses the file. `None` for an error of the system.
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        match self.cause {
            Cause::Refused(refusal) => Some(refusal),
            Cause::System(_) => None,
        }
    }

    /// Whether the file or one of its parents is a link.
    #[must_use]
    pub fn is_link(&self) -> bool {
        let refusal = self.refusal();
        refusal == Some(Refusal::NotAFile(EntryKind::Link)) || refusal == Some(Refusal::NotAFolder(EntryKind::Link))
    }

    /// Whether there is no such file.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(&self.cause, Cause::System(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// The sentence without the path.
    #[must_use]
    pub fn clause(&self) -> String {
        match &self.cause {
            Cause::Refused(refusal) => refusal.to_string(),
            Cause::System(error) => format!("cannot be opened: {error}"),
        }
    }
}

impl fmt::Display for EntryKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            EntryKind::File => "a file",
            EntryKind::Folder => "a folder",
            EntryKind::Link => "a symbolic link",
            EntryKind::Pipe => "a named pipe",
            EntryKind::Socket => "a socket",
            EntryKind::Device => "a device",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NotAFile(EntryKind::Link) => out.write_str(
                "is a symbolic link, which Coord does not follow here: replace it with a regular file, or remove it",
            ),
            Refusal::NotAFile(kind) => write!(
                out,
                "is {kind}, and Coord opens regular files only: replace it with a regular file, or remove it"
            ),
            Refusal::NotAFolder(EntryKind::Link) => out.write_str(
                "is a symbolic link, which Coord does not follow here: replace it with a folder, or remove it",
            ),
            Refusal::NotAFolder(kind) => {
                write!(
                    out,
                    "is {kind}, where a folder should be: replace it with a folder, or remove it"
                )
            }
            Refusal::TooLarge(max_bytes) => write!(
                out,
                "is larger than {}, the limit for this file: make it smaller",
                format_bytes(*max_bytes)
            ),
            Refusal::HardLink => {
                out.write_str("has a second name (a hard link), and Coord would change both: replace it with a copy")
            }
            Refusal::Outside => out.write_str("leads out of its folder: use a path without `..`"),
        }
    }
}

fn format_bytes(count: u64) -> String {
    match count {
        _ if count >= 1 << 20 && count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        _ if count >= 1 << 10 && count.is_multiple_of(1 << 10) => format!("{} KiB", count >> 10),
        _ => format!("{count} bytes"),
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.path.display(), self.clause())
    }
}

/// The sentence contains the text of the system's error, so there is no source.
impl std::error::Error for FileError {}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> io::Error {
        match error.cause {
            Cause::System(error) => error,
            Cause::Refused(_) => io::Error::other(error),
        }
    }
}
