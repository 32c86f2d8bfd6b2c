//! Data about a name, without opening it.

use std::time::SystemTime;

/// Kind of an entry in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    Folder,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Pipe,
    Socket,
    /// A device, or something else.
    Device,
}

/// The system's data about a name, without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    /// Its kind.
    pub kind: Kind,
    /// Its length in bytes.
    pub len: u64,
    /// When its content was changed.
    pub modified: Option<SystemTime>,
}
