//! The folder of a command, and its effects so far.

use std::path::{Path, PathBuf};

use super::effects::Effects;

/// The folder of a command, and the effects of the commands so far.
#[derive(Default)]
pub(super) struct ShellState {
    /// The folder, where it is known.
    pub(super) folder: Option<PathBuf>,
    pub(super) effects: Effects,
    /// Commands in the arguments of a shell, which are still to be read.
    pub(super) nested: Vec<String>,
}

impl ShellState {
    /// The file that `path` names in the folder of the command, as one that is written.
    pub(super) fn writes(&mut self, path: &str) {
        if path.is_empty() || is_device(path) {
            return;
        }
        self.effects.changes = true;
        if let Some(path) = self.absolute(path) {
            self.effects.writes.push(path);
        }
    }

    /// The file that `path` names in the folder of the command, as one that is shown.
    pub(super) fn reads(&mut self, path: &str) {
        let found = self.absolute(path).filter(|_| !is_device(path));
        self.effects.reads.extend(found.filter(|path| !path.is_dir()));
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

/// Whether `path` is that of a device, which no repository contains. Linux has a folder for files in memory among them.
fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}
