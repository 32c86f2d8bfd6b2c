//! The input of a graph: the entries of a tree, and their blobs.

/// One file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// Path from the repository root, with `/` as separator. The source leaves out entries whose path is not UTF-8.
    pub path: String,
    /// Blob id, hex.
    pub blob: String,
    pub kind: EntryKind,
}

/// The kinds of tree entries that Coord distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file, executable or not.
    File,
    /// A symbolic link; its blob is the target path.
    Symlink,
    /// A submodule; its id is a commit of another repository.
    Submodule,
}

/// The result of reading one blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blob<'a> {
    Content(&'a [u8]),
    /// It is larger than the limit, and was not read. Its size in bytes.
    TooLarge(u64),
    /// It is not a blob, is missing, or is damaged.
    Unreadable,
}
