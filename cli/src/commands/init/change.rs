//! The change of a file.

use std::path::PathBuf;

use coord_files::RootedPath;

/// A file that is created, changed or deleted.
#[derive(Debug)]
pub struct Change {
    /// The path, without symbolic links.
    pub path: PathBuf,
    /// The same path below a folder, from which on no link is followed.
    pub file: RootedPath,
    /// The file's name for the user.
    pub name: String,
    /// The text before the change; `None` if there is no file.
    pub before: Option<String>,
    /// The text after the change; `None` if the file is deleted.
    pub after: Option<String>,
    /// Whether a created file is a program.
    pub is_program: bool,
}
