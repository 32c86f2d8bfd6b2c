//! Notes where the locks of a repository are stored, in a file in git's folder, if they are not in that folder itself.
//! Then agents' commands start no server, because a new server would not have these locks.

use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};

use crate::private_folder;

/// The file's name, in `coord/` of git's folder.
const FILE: &str = "store";

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 4096;

/// Notes that the locks of the repository with Coord's folder `folder` are in the store that `store` describes.
pub fn note(folder: &RootedPath, store: &str) {
    let file = folder.join(FILE);
    let written = file
        .create_parents(PRIVATE_MODE)
        .and_then(|_| file.write(format!("{store}\n").as_bytes(), FILE_MODE));
    if let Err(error) = written {
        let folder = folder.full();
        tracing::warn!(%error, folder = %folder.display(), "commands of agents cannot read which store is in use");
    }
}

/// Notes that the locks are in `folder`.
pub fn forget(folder: &RootedPath) {
    let _ = folder.join(FILE).remove();
}

/// The description of another store that has the locks.
pub fn elsewhere(folder: &RootedPath) -> Option<String> {
    let text = private_folder::read(&folder.join(FILE), MAX_BYTES).ok()?;
    let text = String::from_utf8(text).ok()?;
    text.lines().next().filter(|store| !store.is_empty()).map(str::to_owned)
}
