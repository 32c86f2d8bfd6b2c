//! Files of a checkout in place of their blobs: no zlib, and no search in packs.
//!
//! git's index says which blob each file of a worktree was when it last looked, and what `lstat` said then. A file of
//! which `lstat` still says the same is that blob, by the rule that git itself goes by: one whose time is not before the
//! index was written may have changed since within a tick of the clock, and does not count. What git would convert on
//! its way out of the database does not count either: all content with a carriage return, and everything where an
//! attribute names a filter, an encoding or `ident`. Whatever does not count is read from the object database.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use coord::source::{EntryKind, TreeEntry};
use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::index::entry::{Mode, Stat, stat};
use gix::index::fs::Metadata;

use super::tree::push_name;

/// From how many blobs on reading the index pays.
pub(super) const WORTH_AN_INDEX: usize = 256;
/// Longest file of attributes that is looked into; a longer one counts as if it named a filter.
const MAX_ATTRIBUTES: u64 = 1 << 20;
/// Attributes that make a file differ from its blob in more than the ends of its lines.
const CONVERSIONS: [&str; 3] = ["filter", "ident", "working-tree-encoding"];
const STRICT: stat::Options = stat::Options {
    trust_ctime: true,
    check_stat: true,
    use_nsec: true,
    use_stdev: true,
};

/// Where a worktree and its index are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Worktree {
    /// Its root, absolute.
    pub(super) root: PathBuf,
    /// The folder of its index: that of the repository, or below `worktrees/` there.
    pub(super) git_dir: PathBuf,
    /// Files of attributes outside the worktree.
    pub(super) attributes: Vec<PathBuf>,
}

/// The index of a worktree, as it was when it was read.
pub(super) struct Checkout {
    root: PathBuf,
    index: gix::index::File,
}

impl Checkout {
    /// `None` where there is no index that can be used.
    pub(super) fn read(worktree: &Worktree, hash: gix::hash::Kind) -> Option<Self> {
        let path = worktree.git_dir.join("index");
        let index = gix::index::File::at(path, hash, true, gix::index::decode::Options::default()).ok()?;
        let root = worktree.root.clone();
        // A split index keeps some of its entries elsewhere; a sparse one has folders among them.
        let is_whole = index.link().is_none() && !index.is_sparse();
        is_whole.then_some(Checkout { root, index })
    }

    /// All files of the tree `id`, sorted by path, if the index is of exactly that tree.
    pub(super) fn tree(&self, id: ObjectId) -> Option<Vec<TreeEntry>> {
        let root = self.index.tree()?;
        let entries = self.index.entries();
        if root.id != id || root.num_entries? as usize != entries.len() {
            return None;
        }
        let mut files = Vec::with_capacity(entries.len());
        for entry in entries {
            let kind = match entry.mode {
                Mode::FILE | Mode::FILE_EXECUTABLE => EntryKind::File,
                Mode::SYMLINK => EntryKind::Symlink,
                Mode::COMMIT => EntryKind::Submodule,
                _ => return None,
            };
            let path = entry.path(&self.index);
            let mut checked = String::with_capacity(path.len());
            if !path.split_str("/").all(|name| push_name(&mut checked, name.as_bstr())) {
                // The walk through the tree says in the log what it leaves out.
                return None;
            }
            files.push(TreeEntry {
                path: checked,
                blob: entry.id.to_string(),
                kind,
            });
        }
        Some(files)
    }
}

impl Checkout {
    /// The folders with a file in the index, and the root.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let mut last = None;
        let folders = self.index.entries().iter().filter_map(move |entry| {
            let path = entry.path(&self.index);
            let folder = &path[..path.rfind_byte(b'/')?];
            let is_new = last != Some(folder);
            last = Some(folder);
            is_new.then(|| folder.to_path().ok()).flatten()
        });
        let folders = folders.map(|folder| self.root.join(folder));
        std::iter::once(self.root.clone()).chain(folders)
    }
}

/// Which file is which blob.
pub(super) struct CheckedOutBlobs {
    checkout: Checkout,
    entry_of: gix::hashtable::HashMap<ObjectId, u32>,
}

impl CheckedOutBlobs {
    /// `None` where nothing of the worktree can be read in place of blobs.
    pub(super) fn read(worktree: &Worktree, hash: gix::hash::Kind) -> Option<Self> {
        let checkout = Checkout::read(worktree, hash)?;
        let written = checkout.index.timestamp();
        let mut entry_of = gix::hashtable::HashMap::default();
        for (number, entry) in (0..).zip(checkout.index.entries()) {
            let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
            if is_file && !entry.stat.is_racy(written, STRICT) {
                entry_of.insert(entry.id, number);
            }
        }
        let converts = checkout
            .folders()
            .any(|folder| converts(&folder.join(".gitattributes")))
            || worktree.attributes.iter().any(|path| converts(path));
        (!converts).then_some(CheckedOutBlobs { checkout, entry_of })
    }

    /// Fills `content` with the blob `id`, if a file of the worktree is certainly that and has at most `max_bytes`.
    pub(super) fn find(&self, id: &ObjectId, max_bytes: u64, content: &mut Vec<u8>) -> bool {
        let mut read = || {
            let entry = self.checkout.index.entry(*self.entry_of.get(id)? as usize);
            let path = self
                .checkout
                .root
                .join(entry.path(&self.checkout.index).to_path().ok()?);
            let is_same = |metadata: &Metadata| {
                metadata.is_file() && Stat::from_fs(metadata).is_ok_and(|stat| stat.matches(&entry.stat, STRICT))
            };
            // Before it is opened, because opening a named pipe would wait for a writer.
            let metadata = Metadata::from_path_no_follow(&path).ok()?;
            if !is_same(&metadata) || metadata.len() > max_bytes {
                return None;
            }
            content.resize(usize::try_from(metadata.len()).ok()?, 0);
            let mut file = File::open(&path).ok()?;
            file.read_exact(content).ok()?;
            // And after it was read, because somebody may be writing it.
            is_same(&Metadata::from_file(&file).ok()?).then_some(())
        };
        read().is_some() && memchr::memchr(b'\r', content).is_none()
    }
}

/// Whether a file of attributes names a conversion, as far as its words tell.
fn converts(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else {
        return false;
    };
    if !metadata.is_file() || metadata.len() > MAX_ATTRIBUTES {
        return true;
    }
    let Ok(text) = fs::read(path) else { return true };
    CONVERSIONS.iter().any(|word| text.contains_str(word))
}
