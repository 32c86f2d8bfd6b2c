//! The user's folder for state that processes of one user on this machine share beyond one repository's folder.

use std::path::PathBuf;

use coord_files::RootedPath;

use crate::private_folder;

/// `coord` in the user's folder for state. `None` where the user has none, as a service without a home.
pub fn folder() -> Option<PathBuf> {
    let set = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let base = set("XDG_STATE_HOME")
        .or_else(|| set("LOCALAPPDATA"))
        .or_else(|| set("HOME").map(|home| home.join(".local").join("state")))?;
    Some(base.join("coord"))
}

/// `path` in it, on which no link is followed. `None` where the folder cannot be made, or is another user's.
pub fn inside(path: &str) -> Option<RootedPath> {
    let folder = folder()?;
    private_folder::make(&folder).ok()?;
    Some(RootedPath::new(folder, path))
}
