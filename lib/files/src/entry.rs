//! Metadata of a name in a folder, without opening the file.

use std::time::SystemTime;

/// Kind of an entry in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    /// A device, or something else.
    Device,
}

/// The system's metadata of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    pub kind: EntryKind,
    /// Its length in bytes.
    pub len: u64,
    /// When its content was last changed.
    pub modified: Option<SystemTime>,
}
