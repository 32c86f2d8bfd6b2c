//! The effects of a shell command.

use std::path::PathBuf;

/// The effects of a command on working copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Whether any of its programs may change something: all except those known to only read, and the commands that
    /// Coord itself gives to agents.
    pub changes: bool,
    /// Files and folders that it writes, moves or removes, absolute.
    pub writes: Vec<PathBuf>,
    /// Files that it shows, absolute.
    pub reads: Vec<PathBuf>,
    /// An act in it that is reserved for people, such as `coord intent unblock`.
    pub person_act: Option<String>,
    /// The part of it that bypasses the guard in git's hooks.
    pub guard_bypass: Option<String>,
    /// Commands of git that change a whole working copy.
    pub tree_changes: Vec<TreeChange>,
    /// The folders from which it pushes.
    pub pushes: Vec<PathBuf>,
}

impl Effects {
    /// The effects of a command that cannot be parsed: it may do anything.
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
