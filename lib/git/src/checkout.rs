//! Files of a checkout, read in place of their blobs. This saves decompression and searches in packs.
//!
//! git's index records, for each file of a worktree, the blob that it was when git last looked, and its `lstat` then. A
//! file with the same `lstat` now still is that blob. This is git's own rule, with git's own exception: a file may have
//! changed within one tick of the clock if its time is not before the index was written, so such a file does not count.
//!
//! Files that git converts on checkout still differ from their blobs. A file with a carriage return is read from the
//! database. If a filter is configured, or an attribute names a conversion, a file counts only if its content has the
//! blob's id. The same applies to a file that looks converted, because git leaves it unchanged when a later commit no
//! longer names the conversion.

use std::collections::HashSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

use coord_domain::FilePath;
use coord_files::{FileError, Folder, Refusal, RootedPath};
use coord_sources::{EntryKind, TreeEntry};
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::index::entry::{Mode, Stat, stat};
use gix::index::fs::Metadata;
use gix::objs::compute_hash;
use memchr::memmem::Finder;

/// Maximum size of an attributes file; a larger one counts as if it named a conversion.
const MAX_ATTRIBUTES: u64 = 1 << 20;
const ATTRIBUTES: &str = ".gitattributes";
/// Attributes that make a file differ from its blob beyond its line ends.
const CONVERSIONS: [&str; 3] = ["filter", "ident", "working-tree-encoding"];
const STRICT: stat::Options = stat::Options {
    trust_ctime: true,
    check_stat: true,
    use_nsec: true,
    use_stdev: true,
};

static ID: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("$Id:"));

/// The locations of a worktree, its index and its attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorktreePaths {
    pub(super) root: PathBuf,
    /// The folder of its index: that of the repository, or below `worktrees/` there.
    pub(super) git_dir: PathBuf,
    /// Attributes files outside the worktree.
    pub(super) attributes: Vec<PathBuf>,
    /// Whether the configuration has a filter.
    pub(super) has_filters: bool,
}

/// The index of a worktree at one time.
pub(super) struct Checkout {
    root: PathBuf,
    index: gix::index::File,
    /// Whether an attributes file in the worktree names a conversion, or differs from the index.
    may_convert: OnceLock<bool>,
}

impl Checkout {
    /// Reads the index in `git_dir`, of the worktree at `root`. `None` if there is no usable one.
    pub(super) fn read(root: PathBuf, git_dir: &Path, hash: gix::hash::Kind) -> Option<Self> {
        let path = git_dir.join("index");
        let index = gix::index::File::at(path, hash, true, gix::index::decode::Options::default()).ok()?;
        // A split index has some of its entries in another file; a sparse one has entries for folders.
        let is_complete = index.link().is_none() && !index.is_sparse();
        is_complete.then_some(Checkout {
            root,
            index,
            may_convert: OnceLock::new(),
        })
    }

    /// Number of files in the index.
    pub(super) fn len(&self) -> usize {
        self.index.entries().len()
    }

    /// Whether the index equals the tree `id`.
    pub(super) fn is_tree(&self, id: ObjectId) -> bool {
        let count = self.len();
        let has_all = |entries: u32| entries as usize == count;
        self.index
            .tree()
            .is_some_and(|root| root.id == id && root.num_entries.is_some_and(has_all))
    }

    /// All files of the index, sorted by path. `None` if an entry cannot be a file of a tree, or its path cannot be
    /// served.
    pub(super) fn files(&self) -> Option<Vec<TreeEntry>> {
        let entries = self.index.entries();
        let mut files = Vec::with_capacity(entries.len());
        for entry in entries {
            let kind = match entry.mode {
                Mode::FILE | Mode::FILE_EXECUTABLE => EntryKind::File,
                Mode::SYMLINK => EntryKind::Symlink,
                Mode::COMMIT => EntryKind::Submodule,
                _ => return None,
            };
            // The caller then walks the tree instead, and logs the paths that it leaves out.
            let path = entry.path(&self.index).to_str().ok().filter(|path| is_path(path))?;
            files.push(TreeEntry {
                path: path.to_owned(),
                blob: entry.id.to_hex().to_string(),
                kind,
            });
        }
        Some(files)
    }

    /// The root, and every folder that contains a file of the index: each may have an attributes file.
    fn folders(&self) -> impl Iterator<Item = RootedPath> {
        let mut seen: HashSet<&BStr> = HashSet::new();
        let mut last: Option<&BStr> = None;
        for entry in self.index.entries() {
            let mut folder = parent(entry.path(&self.index));
            // Files of one folder mostly follow each other.
            if folder == last {
                continue;
            }
            last = folder;
            while let Some(path) = folder.filter(|path| seen.insert(path)) {
                folder = parent(path);
            }
        }
        let paths = seen.into_iter().filter_map(|folder| folder.to_path().ok());
        let folders: Vec<RootedPath> = paths.map(|folder| RootedPath::new(&self.root, folder)).collect();
        std::iter::once(RootedPath::new(&self.root, "")).chain(folders)
    }

    /// Whether an attributes file differs from the index: git may have applied either version.
    fn has_changed_attributes(&self) -> bool {
        self.index.entries().iter().any(|entry| {
            let path = entry.path(&self.index);
            path.ends_with(ATTRIBUTES.as_bytes())
                && path
                    .to_path()
                    .is_ok_and(|path| !is_unchanged(&self.root.join(path), &entry.stat))
        })
    }

    /// Whether attributes files in the worktree may make files differ from their blobs. Opens one per folder, or waits
    /// for the thread that already does.
    pub(super) fn may_convert(&self) -> bool {
        *self.may_convert.get_or_init(|| {
            self.has_changed_attributes()
                || self
                    .folders()
                    .any(|folder| names_conversion(folder.join(ATTRIBUTES).read(MAX_ATTRIBUTES)))
        })
    }
}

/// Whether `path` can be the path of a file.
fn is_path(path: &str) -> bool {
    path.len() <= FilePath::MAX_BYTES && memchr::memchr(0, path.as_bytes()).is_none() && path.split('/').all(is_name)
}

/// Whether `part`, one component of a path, can be the name of a file.
pub(super) fn is_name(part: &str) -> bool {
    !matches!(part, "" | "." | "..")
}

fn parent(path: &BStr) -> Option<&BStr> {
    path.rfind_byte(b'/').map(|slash| path[..slash].as_bstr())
}

/// Whether the `lstat` of the file at `path` is the one that the index recorded.
fn is_unchanged(path: &Path, recorded: &Stat) -> bool {
    Metadata::from_path_no_follow(path).is_ok_and(|metadata| is_same(&metadata, recorded))
}

fn is_same(metadata: &Metadata, recorded: &Stat) -> bool {
    metadata.is_file() && Stat::from_fs(metadata).is_ok_and(|stat| stat.matches(recorded, STRICT))
}

/// The blobs that files of a worktree contain, by id.
pub(super) struct CheckoutBlobs {
    checkout: Arc<Checkout>,
    entry_of: gix::hashtable::HashMap<ObjectId, u32>,
    /// Whether a file may differ from its blob although its `lstat` is unchanged.
    may_convert: bool,
}

/// Buffers that one thread reuses from file to file.
#[derive(Default)]
pub(super) struct Buffers {
    folder: LastFolder,
    /// Its length is that of the largest file so far, or more.
    content: Vec<u8>,
    /// The length of the last file.
    length: usize,
}

impl Buffers {
    /// The content of the last file read.
    pub(super) fn content(&self) -> &[u8] {
        &self.content[..self.length]
    }
}

impl CheckoutBlobs {
    pub(super) fn new(worktree: &WorktreePaths, checkout: Arc<Checkout>) -> Self {
        let mut entry_of = gix::hashtable::HashMap::default();
        entry_of.reserve(checkout.index.entries().len());
        for (number, entry) in (0..).zip(checkout.index.entries()) {
            let is_file = matches!(entry.mode, Mode::FILE | Mode::FILE_EXECUTABLE);
            if is_file && is_settled(&entry.stat, &checkout.index) {
                entry_of.insert(entry.id, number);
            }
        }
        let may_convert = worktree.has_filters
            || worktree
                .attributes
                .iter()
                .any(|path| names_conversion(coord_files::regular(path, MAX_ATTRIBUTES)))
            || checkout.may_convert();
        CheckoutBlobs {
            checkout,
            entry_of,
            may_convert,
        }
    }

    /// Reads the blob `id` into `buffers` if a file of the worktree certainly is that blob and has at most `max_bytes`.
    /// Returns whether it did.
    pub(super) fn read(&self, id: &ObjectId, max_bytes: u64, buffers: &mut Buffers) -> bool {
        if self.read_unchanged(id, max_bytes, buffers).is_none() {
            return false;
        }
        let content = buffers.content();
        memchr::memchr(b'\r', content).is_none()
            && (!(self.may_convert || looks_converted(content)) || has_id(content, id))
    }

    /// Reads the file with the blob `id`, if its `lstat` is unchanged.
    fn read_unchanged(&self, id: &ObjectId, max_bytes: u64, buffers: &mut Buffers) -> Option<()> {
        let Checkout { root, index, .. } = &*self.checkout;
        let entry = index.entry(*self.entry_of.get(id)? as usize);
        let size = u64::from(entry.stat.size);
        if size > max_bytes {
            return None;
        }
        let mut file = buffers.folder.open_file(root, entry.path(index))?;
        buffers.length = usize::try_from(size).ok()?;
        if buffers.content.len() < buffers.length {
            // A new vector, because the system provides zeroed memory; growing this one would copy and clear it.
            buffers.content = vec![0; buffers.length.next_power_of_two()];
        }
        file.read_exact(&mut buffers.content[..buffers.length]).ok()?;
        // Checked after reading, because another process may be writing it. The index has only 32 bits of a size.
        let metadata = Metadata::from_file(&file).ok()?;
        (metadata.len() == size && is_same(&metadata, &entry.stat)).then_some(())
    }
}

/// The folder of the last opened file. Files of one folder are mostly read one after the other.
#[derive(Default)]
struct LastFolder(Option<(PathBuf, Folder)>);

impl LastFolder {
    /// Opens a file that is neither a symbolic link nor below one. Does not wait for the writer of a named pipe in its
    /// place.
    fn open_file(&mut self, root: &Path, path: &BStr) -> Option<File> {
        let (folder_path, name) = match parent(path) {
            Some(folder) => (folder.to_path().ok()?, &path[folder.len() + 1..]),
            None => (Path::new(""), path),
        };
        let folder = match self.0.take() {
            Some((last_path, folder)) if last_path == folder_path => folder,
            _ => RootedPath::new(root, folder_path).folder().ok()??,
        };
        let file = folder.read(name.to_os_str().ok()?);
        self.0 = Some((folder_path.to_owned(), folder));
        file.ok()
    }
}

/// Whether a change after `index` was written must show in the `lstat`. The time of the last change of the inode counts
/// too, because no program can set it back.
fn is_settled(recorded: &Stat, index: &gix::index::File) -> bool {
    let by_inode_change = Stat {
        mtime: recorded.ctime,
        ..*recorded
    };
    [*recorded, by_inode_change]
        .iter()
        .all(|stat| !stat.is_racy(index.timestamp(), STRICT))
}

fn has_id(content: &[u8], id: &ObjectId) -> bool {
    compute_hash(id.kind(), gix::objs::Kind::Blob, content).is_ok_and(|computed| computed == *id)
}

/// Whether content may be the output of `ident` or of an encoding: an expanded id, or no plain UTF-8.
fn looks_converted(content: &[u8]) -> bool {
    ID.find(content).is_some()
        || memchr::memchr2(0, 0x1b, content).is_some()
        || !(content.is_ascii() || std::str::from_utf8(content).is_ok())
}

/// Whether an attributes file contains the name of a conversion.
fn names_conversion(text: Result<Option<Vec<u8>>, FileError>) -> bool {
    let text = match text {
        Ok(text) => text.unwrap_or_default(),
        // Git does not follow links to attributes in a worktree either.
        Err(error) => return error.refusal() != Some(Refusal::NotAFile(coord_files::EntryKind::Link)),
    };
    CONVERSIONS.iter().any(|word| text.contains_str(word))
}
