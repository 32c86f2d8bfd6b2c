//! Files of a working copy: which of them git ignores, and which it tracks.

use std::path::Path;

use coord_domain::{CommitSha, FilePath};
use coord_files::{EntryInfo, EntryKind, RootedPath};
use coord_sources::SourceError;
use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::index::entry::{Flags, Mode, Stage};
use gix::worktree::stack::state::ignore::Source;

use super::working_copy::WorkingCopy;

/// A file of the index, with what git recorded about it on disk.
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
    /// Whether git ignores `path`: a rule of `.gitignore` names it, and it is not tracked. If the index or the rules
    /// cannot be read, it counts as not ignored.
    pub fn is_ignored(&self, path: &FilePath) -> bool {
        if has_special_rules(self.root(), path.as_str()) {
            return false;
        }
        // Rules are read from the files of the working copy; the index, which is large, only if a rule matches.
        let handle = self.handle();
        let empty_index = gix::index::State::new(handle.object_hash());
        let Ok(mut rules) = handle.excludes(&empty_index, None, Source::WorktreeThenIdMappingIfNotSkipped) else {
            return false;
        };
        let mode = self.root().join(path.as_str()).is_dir().then_some(Mode::DIR);
        let platform = rules.at_path(path.as_str(), mode);
        platform.is_ok_and(|platform| platform.is_excluded()) && !self.is_tracked(path)
    }

    /// The content of `path` in `commit`, as git stores it; `None` if the commit has no such file.
    ///
    /// # Errors
    /// When it cannot be read here, or has more than `most` bytes.
    pub fn content_at(&self, commit: &CommitSha, path: &FilePath, most: u64) -> Result<Option<Vec<u8>>, SourceError> {
        let unreadable = |error: &dyn std::fmt::Display| SourceError::Unreachable(error.to_string());
        let handle = self.handle();
        let id = ObjectId::from_hex(commit.as_str().as_bytes()).map_err(|error| unreadable(&error))?;
        let tree = handle.find_commit(id).map_err(|error| unreadable(&error))?;
        let tree = tree.tree().map_err(|error| unreadable(&error))?;
        let entry = tree
            .lookup_entry_by_path(path.as_str())
            .map_err(|error| unreadable(&error))?;
        let Some(entry) = entry.filter(|entry| entry.mode().is_blob()) else {
            return Ok(None);
        };
        let size = handle
            .find_header(entry.id())
            .map_err(|error| unreadable(&error))?
            .size();
        if size > most {
            return Err(unreadable(&"the file is too large"));
        }
        let mut blob = handle.find_blob(entry.id()).map_err(|error| unreadable(&error))?;
        Ok(Some(std::mem::take(&mut blob.data)))
    }

    /// Whether the index has `path`.
    fn is_tracked(&self, path: &FilePath) -> bool {
        let index = self.handle().open_index();
        let path = path.as_str().as_bytes().as_bstr();
        index.is_ok_and(|index| index.entry_by_path_and_stage(path, Stage::Unconflicted).is_some())
    }

    /// The tracked files in `folder`, a path of the repository, or in the whole working copy if `folder` is empty.
    /// Returns at most `most` of them, and whether there are more. If the index cannot be read, returns none.
    pub fn tracked_below(&self, folder: &str, most: usize) -> (Vec<FilePath>, bool) {
        let Ok(index) = self.handle().open_index() else {
            return (Vec::new(), false);
        };
        let prefix = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let entries = index.prefixed_entries(prefix.as_bytes().as_bstr()).unwrap_or_default();
        let paths = entries.iter().filter_map(|entry| entry.path(&index).to_str().ok());
        let mut files: Vec<FilePath> = paths
            .filter_map(|path| FilePath::parse(path).ok())
            .take(most.saturating_add(1))
            .collect();
        let has_more = files.len() > most;
        files.truncate(most);
        (files, has_more)
    }

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

    /// `path`, absolute or relative to `folder`, as a path of the repository: empty for its root. `None` if it is not a
    /// folder of the working copy.
    pub fn folder_path(&self, folder: &Path, path: &Path) -> Option<String> {
        let absolute = folder.join(path).canonicalize().ok().filter(|path| path.is_dir())?;
        let relative = absolute.strip_prefix(self.root()).ok()?;
        let names: Option<Vec<&str>> = relative.iter().map(|name| name.to_str()).collect();
        Some(names?.join("/"))
    }
}

/// Whether a `.gitignore` in a folder above `path` is a special file such as a named pipe, which git would wait for.
fn has_special_rules(root: &Path, path: &str) -> bool {
    let is_special = |entry: EntryInfo| !matches!(entry.kind, EntryKind::File | EntryKind::Folder | EntryKind::Link);
    let mut folders = Path::new(path).ancestors().skip(1);
    folders.any(|folder| {
        let rules = RootedPath::new(root, folder.join(".gitignore"));
        rules.about().ok().flatten().is_some_and(is_special)
    })
}
