//! The address of a running `coord serve`, in a file: of a store that is in use, and in git's folder of each repository that is
//! served. A second `coord serve` prints it; commands of agents find their server by it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use crate::private_folder;

/// The file's name, in the folder of the store and in `coord/` of git's folder.
const FILE: &str = "listening";

/// The folder of Coord's files in git's folder.
pub const FOLDER: &str = "coord";

/// The file of the embedded store, in its folder.
pub const STORE: &str = "store.redb";

/// The files of this process; dropping it removes those that are still its own.
#[derive(Debug)]
pub struct Announcement {
    text: String,
    paths: Vec<PathBuf>,
}

impl Announcement {
    /// Writes the address of this process into each of `folders`. Only the process that has the store open may call it, so
    /// that there is one at a time.
    #[must_use]
    pub fn write(folders: impl IntoIterator<Item = PathBuf>, address: SocketAddr) -> Announcement {
        let text = format!("http://{address} (process {})", std::process::id());
        let mut paths: Vec<PathBuf> = folders.into_iter().map(|folder| folder.join(FILE)).collect();
        paths.sort();
        paths.dedup();
        for path in &paths {
            if let Err(error) = write_at_once(path, &text) {
                tracing::debug!(%error, path = %path.display(), "other processes cannot read where this one listens");
                // An old file is that of a process that has ended.
                let _ = fs::remove_file(path);
            }
        }
        Announcement { text, paths }
    }

    /// What the process that has the store in `folder` open announces: its address, and its process in parentheses.
    #[must_use]
    pub fn read(folder: &Path) -> Option<String> {
        let text = fs::read_to_string(folder.join(FILE)).ok()?;
        Some(text).filter(|text| text.starts_with("http://") && !text.contains(char::is_control))
    }

    /// The address alone.
    #[must_use]
    pub fn address(folder: &Path) -> Option<String> {
        let text = Announcement::read(folder)?;
        text.split(' ').next().map(str::to_owned)
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        for path in &self.paths {
            // A server with another store may have announced itself for the same repository since.
            if fs::read_to_string(path).is_ok_and(|text| text == self.text) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// Readers see the old text or the new one, never a part.
fn write_at_once(path: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        private_folder::make(folder)?;
    }
    let unfinished = path.with_extension(std::process::id().to_string());
    fs::write(&unfinished, text)?;
    fs::rename(&unfinished, path)
}
