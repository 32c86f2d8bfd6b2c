//! Whether a path still leads to the opened file.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The current target of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    Same,
    /// Nothing.
    Gone,
    /// Something else.
    Replaced,
}

/// A file or folder that stays open, so that the system gives its number to no other one, and the path that it had then.
#[derive(Debug)]
pub struct Anchor {
    path: PathBuf,
    opened: Option<(File, FileNumber)>,
}

/// The device of a file or folder and its number there, which is reused only after no process has it open any more.
type FileNumber = (u64, u64);

#[cfg(unix)]
fn number(about: &fs::Metadata) -> Option<FileNumber> {
    use std::os::unix::fs::MetadataExt;
    Some((about.dev(), about.ino()))
}

/// Windows opens no folder as a file, and removes none that is in use.
#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> Option<FileNumber> {
    None
}

impl Anchor {
    /// The current folder at `path`.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn at(path: &Path) -> io::Result<Anchor> {
        let opened = match cfg!(unix) {
            true => {
                let file = File::open(path)?;
                number(&file.metadata()?).map(|number| (file, number))
            }
            false => None,
        };
        Ok(Anchor {
            path: path.to_owned(),
            opened,
        })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The current target of the path. If the system does not report it, nothing has changed.
    #[must_use]
    pub fn standing(&self) -> PathState {
        let there = match fs::metadata(&self.path) {
            Ok(there) => there,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return PathState::Gone;
            }
            Err(_) => return PathState::Same,
        };
        match &self.opened {
            Some((_, own)) if number(&there) != Some(*own) => PathState::Replaced,
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
        let standing = || anchors.each_ref().map(Anchor::standing);
        assert_eq!(standing(), [PathState::Same; 2]);
        fs::write(&file, "2").unwrap();
        assert_eq!(standing(), [PathState::Same; 2]);
        fs::remove_dir_all(&path).unwrap();
        assert_eq!(standing(), [PathState::Gone; 2]);
        // Without the open folder, the system would give the next one its number.
        fs::create_dir(&path).unwrap();
        fs::write(&file, "1").unwrap();
        assert_eq!(standing(), [PathState::Replaced; 2]);
        assert!(Anchor::at(&folder.path().join("none")).is_err());
    }
}
