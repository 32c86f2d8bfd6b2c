//! Files below a folder. Other people can put links, pipes and devices into a working copy. So each folder of a path is
//! opened from its parent without following links, and only regular files are opened.
//!
//! - `rooted_path`: a file by its root and its path below; `staged`: a file that is written under a temporary name
//! - `named`: a file that the user or the system names; links are followed
//! - `anchor`: whether a path still leads to the opened file
//! - `lock`: a lock between processes; `entry`: metadata of a name; `refusal`: why a file is not opened, as a sentence
//! - `unix`: folders as descriptors; `other`: folders as paths, on systems where creating a link takes a privilege

mod anchor;
mod entry;
mod lock;
mod named;
mod refusal;
mod rooted_path;
mod staged;

#[cfg(not(unix))]
#[path = "other.rs"]
mod system;
#[cfg(unix)]
#[path = "unix.rs"]
mod system;

pub use self::anchor::{Anchor, PathState};
pub use self::entry::{EntryInfo, EntryKind};
pub use self::lock::FileLock;
pub use self::named::{open_regular, open_stream, regular};
pub use self::refusal::{Cause, FileError, Refusal};
pub use self::rooted_path::RootedPath;
pub use self::staged::StagedFile;
pub use self::system::Folder;

/// Permissions of a file, before the user's mask.
pub const FILE_MODE: u32 = 0o666;
/// Permissions of a folder, before the user's mask.
pub const FOLDER_MODE: u32 = 0o777;
/// Permissions of a folder that only its user may open.
pub const PRIVATE_MODE: u32 = 0o700;
