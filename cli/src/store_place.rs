//! Where the locks of a repository are kept, in a file in git's folder, if not in that folder itself. Commands of agents start no
//! server then: it would know none of these locks.

use std::fs;
use std::path::Path;

use crate::private_folder;

/// The file's name, in `coord/` of git's folder.
const FILE: &str = "store";

/// Largest file, in bytes.
const MOST_BYTES: u64 = 4096;

/// Notes that the locks of the repository with this `folder` are kept in the store that `place` describes.
pub fn note(folder: &Path, place: &str) {
    let noted = private_folder::make(folder).and_then(|()| fs::write(folder.join(FILE), format!("{place}\n")));
    if let Err(error) = noted {
        tracing::warn!(%error, folder = %folder.display(), "commands of agents cannot read which store is in use");
    }
}

/// Notes that they are kept in `folder`.
pub fn forget(folder: &Path) {
    let _ = fs::remove_file(folder.join(FILE));
}

/// The store that keeps them elsewhere.
pub fn elsewhere(folder: &Path) -> Option<String> {
    let text = private_folder::read(&folder.join(FILE), MOST_BYTES).ok()?;
    let text = String::from_utf8(text).ok()?;
    text.lines().next().filter(|place| !place.is_empty()).map(str::to_owned)
}
