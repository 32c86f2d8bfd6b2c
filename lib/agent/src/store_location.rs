//! Where the locks of a repository are kept, in a file in git's folder, if not in that folder itself. Commands of agents start no
//! server then: it would know none of these locks.

use coord_files::{FILE_MODE, PRIVATE_MODE, RootedPath};

use crate::private_folder;

/// The file's name, in `coord/` of git's folder.
const FILE: &str = "store";

/// Largest file, in bytes.
const MOST_BYTES: u64 = 4096;

/// Notes that the locks of the repository with this `folder` are kept in the store that `place` describes.
pub fn note(folder: &RootedPath, place: &str) {
    let file = folder.join(FILE);
    let made = file.make_parents(PRIVATE_MODE);
    let noted = made.and_then(|_| file.write(format!("{place}\n").as_bytes(), FILE_MODE));
    if let Err(error) = noted {
        tracing::warn!(%error, folder = %folder.full().display(), "commands of agents cannot read which store is in use");
    }
}

/// Notes that they are kept in `folder`.
pub fn forget(folder: &RootedPath) {
    let _ = folder.join(FILE).remove();
}

/// The store that keeps them elsewhere.
pub fn elsewhere(folder: &RootedPath) -> Option<String> {
    let text = private_folder::read(&folder.join(FILE), MOST_BYTES).ok()?;
    let text = String::from_utf8(text).ok()?;
    text.lines().next().filter(|place| !place.is_empty()).map(str::to_owned)
}
