//! Whether a path still leads to the opened file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The current target of a path, compared with the opened file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    Same,
    /// The path leads nowhere.
    Gone,
    /// The path leads to another file or folder.
    Replaced,
}

/// A path, and the file or folder that it led to. The file stays open, so that the system cannot reuse its number.
#[derive(Debug)]
pub struct Anchor {
    path: PathBuf,
    file: Option<(File, FileNumber)>,
}

/// The device and inode number of a file or folder. The system reuses the number only after all processes have closed
/// the file.
type FileNumber = (u64, u64);

#[cfg(unix)]
fn file_number(metadata: &fs::Metadata) -> Option<FileNumber> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// Windows cannot open a folder as a file, and does not remove a folder that is in use.
#[cfg(not(unix))]
fn file_number(_: &fs::Metadata) -> Option<FileNumber> {
    None
}

impl Anchor {
    /// Opens the current file or folder at `path`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn at(path: &Path) -> io::Result<Anchor> {
        let file = match cfg!(unix) {
            true => {
                let file = File::open(path)?;
                file_number(&file.metadata()?).map(|number| (file, number))
            }
            false => None,
        };
        Ok(Anchor {
            path: path.to_owned(),
            file,
        })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Compares the current target of the path with the opened file. A target that the system cannot report counts as
    /// the same.
    #[must_use]
    pub fn path_state(&self) -> PathState {
        let metadata = match fs::metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return PathState::Gone;
            }
            Err(_) => return PathState::Same,
        };
        match &self.file {
            Some((_, number)) if file_number(&metadata) != Some(*number) => PathState::Replaced,
            _ => PathState::Same,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_the_same_folder_until_that_is_gone_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, file) = (folder.path().join("clone"), folder.path().join("clone/store"));
        fs::create_dir(&path).unwrap();
        fs::write(&file, "1").unwrap();
        let anchors = [Anchor::at(&path).unwrap(), Anchor::at(&file).unwrap()];
        let states = || anchors.each_ref().map(Anchor::path_state);
        assert_eq!(states(), [PathState::Same; 2]);
        fs::write(&file, "2").unwrap();
        assert_eq!(states(), [PathState::Same; 2]);
        fs::remove_dir_all(&path).unwrap();
        assert_eq!(states(), [PathState::Gone; 2]);
        // Without the open folder, the system would give the next one its number.
        fs::create_dir(&path).unwrap();
        fs::write(&file, "1").unwrap();
        assert_eq!(states(), [PathState::Replaced; 2]);
        assert!(Anchor::at(&folder.path().join("none")).is_err());
    }
}
