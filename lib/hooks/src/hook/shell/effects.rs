//! The effects of a shell command.

use std::path::PathBuf;

/// The effects of a command on working copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Whether any of its programs may change something: all but those known to only read, and the commands that Coord
    /// itself gives agents.
    pub changes: bool,
    /// Files and folders that it writes, moves or removes, absolute.
    pub writes: Vec<PathBuf>,
    /// Files that it shows, absolute.
    pub reads: Vec<PathBuf>,
    /// An act of a person that it is, such as `coord intent unblock`.
    pub person: Option<String>,
    /// The part of it that goes past the guard in git's hooks.
    pub guard_bypass: Option<String>,
    /// Commands of git that change a whole working copy.
    pub trees: Vec<TreeChange>,
    /// The folders that it pushes from.
    pub pushes: Vec<PathBuf>,
}

impl Effects {
    /// Those of a command that cannot be read: it may do anything.
    pub(super) fn unknown() -> Effects {
        Effects {
            changes: true,
            ..Effects::default()
        }
    }
}

/// A command of git that changes a whole working copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChange {
    /// A folder of the working copy.
    pub folder: PathBuf,
    /// The command, such as `git checkout`.
    pub command: String,
}
