//! Data about a name, without opening it.

use std::time::SystemTime;

/// Kind of an entry in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    /// A device, or something else.
    Device,
}

/// The system's data about a name, without opening it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryInfo {
    pub kind: Kind,
    /// Its length in bytes.
    pub len: u64,
    /// When its content was changed.
    pub modified: Option<SystemTime>,
}
