//! The folder of a command, and the effects of the commands so far.

use std::path::{Path, PathBuf};

use super::effects::Effects;

/// The folder of a command, and the effects of the commands so far.
#[derive(Default)]
pub(super) struct ShellState {
    /// The folder, if it is known.
    pub(super) folder: Option<PathBuf>,
    pub(super) effects: Effects,
    /// Commands in the arguments of a shell, which are still to be parsed.
    pub(super) nested: Vec<String>,
}

impl ShellState {
    /// Adds the file at `path`, relative to the command's folder, to the written files.
    pub(super) fn writes(&mut self, path: &str) {
        if path.is_empty() || is_device(path) {
            return;
        }
        self.effects.changes = true;
        if let Some(path) = self.absolute(path) {
            self.effects.writes.push(path);
        }
    }

    /// Adds the file at `path`, relative to the command's folder, to the shown files.
    pub(super) fn reads(&mut self, path: &str) {
        let file = self.absolute(path).filter(|_| !is_device(path));
        self.effects.reads.extend(file.filter(|path| !path.is_dir()));
    }

    /// The absolute path of `path` in the command's folder. `None` if that folder is unknown.
    pub(super) fn absolute(&self, path: &str) -> Option<PathBuf> {
        match (&self.folder, Path::new(path)) {
            (_, path) if path.is_absolute() => Some(path.to_owned()),
            (Some(folder), path) => Some(folder.join(path)),
            (None, _) => None,
        }
    }
}

/// Whether `path` is a device, which no repository contains. On Linux, a folder for files in memory is among them.
fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}
