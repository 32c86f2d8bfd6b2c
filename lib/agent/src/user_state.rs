//! The user's folder for state that processes of one user on this machine share beyond one repository's folder.

use std::path::PathBuf;

use coord_files::RootedPath;

use crate::private_folder;

/// `coord` in the user's folder for state. `None` if the user has none, such as a service without a home.
pub fn folder() -> Option<PathBuf> {
    let absolute_path = |variable: &str| {
        let path = std::env::var_os(variable).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let base = absolute_path("XDG_STATE_HOME")
        .or_else(|| absolute_path("LOCALAPPDATA"))
        .or_else(|| absolute_path("HOME").map(|home| home.join(".local").join("state")))?;
    Some(base.join("coord"))
}

/// `path` in that folder; no link in `path` is followed. `None` if the folder cannot be created, or belongs to another
/// user.
pub fn inside(path: &str) -> Option<RootedPath> {
    let folder = folder()?;
    private_folder::make(&folder).ok()?;
    Some(RootedPath::new(folder, path))
}
