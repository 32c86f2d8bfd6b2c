//! Where a command runs, and what was found of it.

use std::path::{Path, PathBuf};

use super::Effects;

/// The folder of a command, and what the commands so far do.
#[derive(Default)]
pub(super) struct Place {
    /// The folder, where it is known.
    pub(super) folder: Option<PathBuf>,
    pub(super) effects: Effects,
    /// Commands in the arguments of a shell, which are still to be read.
    pub(super) nested: Vec<String>,
}

impl Place {
    /// The file that `path` names in the folder of the command, as one that is written.
    pub(super) fn writes(&mut self, path: &str) {
        // Devices are no files of anybody.
        if path.is_empty() || path.starts_with("/dev/") {
            return;
        }
        if let Some(path) = self.absolute(path) {
            self.effects.writes.push(path);
        }
    }

    /// `path` in the folder of the command; `None` where that is not known.
    pub(super) fn absolute(&self, path: &str) -> Option<PathBuf> {
        match (&self.folder, Path::new(path)) {
            (_, path) if path.is_absolute() => Some(path.to_owned()),
            (Some(folder), path) => Some(folder.join(path)),
            (None, _) => None,
        }
    }
}
