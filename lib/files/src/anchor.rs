//! Whether a path still leads to what was opened there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What a path leads to now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// What was opened.
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
    opened: Option<(File, Number)>,
}

/// The device of a file or folder and its number there, which is another one's only after nobody has it open any more.
type Number = (u64, u64);

#[cfg(unix)]
fn number(about: &fs::Metadata) -> Option<Number> {
    use std::os::unix::fs::MetadataExt;
    Some((about.dev(), about.ino()))
}

/// Windows opens no folder as a file, and removes none that is in use.
#[cfg(not(unix))]
fn number(_: &fs::Metadata) -> Option<Number> {
    None
}

impl Anchor {
    /// What is at `path` now.
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

    /// What the path leads to now. Where the system does not tell, nothing has changed.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let there = match fs::metadata(&self.path) {
            Ok(there) => there,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Standing::Gone;
            }
            Err(_) => return Standing::Same,
        };
        match &self.opened {
            Some((_, own)) if number(&there) != Some(*own) => Standing::Replaced,
            _ => Standing::Same,
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
        assert_eq!(standing(), [Standing::Same; 2]);
        fs::write(&file, "2").unwrap();
        assert_eq!(standing(), [Standing::Same; 2]);
        fs::remove_dir_all(&path).unwrap();
        assert_eq!(standing(), [Standing::Gone; 2]);
        // Without the open folder, the system would give the next one its number.
        fs::create_dir(&path).unwrap();
        fs::write(&file, "1").unwrap();
        assert_eq!(standing(), [Standing::Replaced; 2]);
        assert!(Anchor::at(&folder.path().join("none")).is_err());
    }
}
