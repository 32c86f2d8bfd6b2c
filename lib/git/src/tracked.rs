//! The files of the index, with what git recorded about each file on disk.

use gix::bstr::ByteSlice;
use gix::index::entry::{Flags, Mode};

use super::working_copy::WorkingCopy;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedFile {
    /// Its path in the repository.
    pub path: String,
    /// The id of the blob that is its content in the index.
    pub blob: String,
    /// Its size in bytes when git last looked, truncated to 32 bits.
    pub size: u32,
    /// Its modification time when git last looked: seconds, and nanoseconds, which git leaves out on some systems.
    pub modified: (u32, u32),
}

impl WorkingCopy {
    /// The files of the index. `None` if it has more than `most`, or cannot be read.
    pub fn tracked_files(&self, most: usize) -> Option<Vec<TrackedFile>> {
        let index = self.handle().open_index().ok()?;
        if index.entries().len() > most {
            return None;
        }
        let is_file = |mode: Mode| matches!(mode, Mode::FILE | Mode::FILE_EXECUTABLE | Mode::SYMLINK);
        let entries = index.entries().iter();
        // A sparse checkout leaves files out on purpose.
        let checked_out = entries.filter(|entry| is_file(entry.mode) && !entry.flags.contains(Flags::SKIP_WORKTREE));
        let files = checked_out.filter_map(|entry| {
            Some(TrackedFile {
                path: entry.path(&index).to_str().ok()?.to_owned(),
                blob: entry.id.to_string(),
                size: entry.stat.size,
                modified: (entry.stat.mtime.secs, entry.stat.mtime.nsecs),
            })
        });
        Some(files.collect())
    }

    /// `path` as the index spells it, if the file system ignores case (`core.ignorecase`) and the index spells it
    /// differently.
    pub fn spelling_in_index(&self, path: &str) -> Option<String> {
        let config = self.handle().config_snapshot();
        if config.boolean("core.ignorecase") != Some(true) {
            return None;
        }
        let index = self.handle().open_index().ok()?;
        let lowercase = path.to_lowercase();
        let mut entries = index.entries().iter();
        let tracked = entries.find_map(|entry| {
            let tracked = entry.path(&index).to_str().ok()?;
            (tracked.to_lowercase() == lowercase).then(|| tracked.to_owned())
        });
        tracked.filter(|tracked| tracked != path)
    }
}
