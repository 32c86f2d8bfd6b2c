//! A file that is written, changed or deleted.

use std::path::PathBuf;

use coord_files::RootedPath;

#[derive(Debug)]
pub struct Change {
    /// Where it is, without symbolic links.
    pub path: PathBuf,
    /// It, by the folder below which no link is followed.
    pub file: RootedPath,
    /// Its name for the user.
    pub name: String,
    /// Its text. `None` where there is no file.
    pub before: Option<String>,
    /// Its text then. `None` where it is deleted.
    pub after: Option<String>,
    /// Whether it is a program, if it is made.
    pub is_program: bool,
}
