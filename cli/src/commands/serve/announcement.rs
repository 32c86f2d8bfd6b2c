//! The address of the process that has a store open, in a file beside the store: a second process prints it.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// The file's name, in the folder of the store.
const FILE: &str = "listening";

/// The file of this process; dropping it removes the file.
#[derive(Debug)]
pub struct Announcement {
    path: PathBuf,
}

impl Announcement {
    /// Writes the address of this process. Only the process that has the store open may call it, so that there is one at a
    /// time.
    #[must_use]
    pub fn write(folder: &Path, address: SocketAddr) -> Announcement {
        let path = folder.join(FILE);
        let text = format!("http://{address} (process {})", std::process::id());
        if let Err(error) = fs::write(&path, text) {
            tracing::debug!(%error, "a second process will not be told where this one listens");
            // An old file is that of a process that has ended.
            let _ = fs::remove_file(&path);
        }
        Announcement { path }
    }

    /// The address of the process that has the store in `folder` open.
    #[must_use]
    pub fn read(folder: &Path) -> Option<String> {
        let text = fs::read_to_string(folder.join(FILE)).ok()?;
        Some(text).filter(|text| text.starts_with("http://") && !text.contains(char::is_control))
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
