//! The files of the index, with git's notes about them on disk.

use gix::bstr::ByteSlice;
use gix::index::entry::{Flags, Mode};

use super::working_copy::WorkingCopy;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrackedFile {
    /// Its path in the repository.
    pub path: String,
    /// Its content in the index, as the name of git's object.
    pub blob: String,
    /// Its size in bytes when git looked last, cut off to 32 bits.
    pub size: u32,
    /// When it was modified, as git saw it last: seconds and nanoseconds, which git leaves out on some systems.
    pub modified: (u32, u32),
}

impl WorkingCopy {
    /// The files of the index. `None` where it has more than `most`, or cannot be read.
    pub fn tracked(&self, most: usize) -> Option<Vec<TrackedFile>> {
        let index = self.handle().open_index().ok()?;
        if index.entries().len() > most {
            return None;
        }
        let is_file = |mode: Mode| matches!(mode, Mode::FILE | Mode::FILE_EXECUTABLE | Mode::SYMLINK);
        let entries = index.entries().iter();
        // A sparse checkout leaves files out on purpose.
        let present = entries.filter(|entry| is_file(entry.mode) && !entry.flags.contains(Flags::SKIP_WORKTREE));
        let tracked = present.filter_map(|entry| {
            Some(TrackedFile {
                path: entry.path(&index).to_str().ok()?.to_owned(),
                blob: entry.id.to_string(),
                size: entry.stat.size,
                modified: (entry.stat.mtime.secs, entry.stat.mtime.nsecs),
            })
        });
        Some(tracked.collect())
    }

    /// `path` as the index spells it, if the file system ignores case (`core.ignorecase`) and the file itself is missing.
    pub fn spelled(&self, path: &str) -> Option<String> {
        let config = self.handle().config_snapshot();
        if config.boolean("core.ignorecase") != Some(true) {
            return None;
        }
        let index = self.handle().open_index().ok()?;
        let wanted = path.to_lowercase();
        let mut entries = index.entries().iter();
        let found = entries.find_map(|entry| {
            let known = entry.path(&index).to_str().ok()?;
            (known.to_lowercase() == wanted).then(|| known.to_owned())
        });
        found.filter(|known| known != path)
    }
}
