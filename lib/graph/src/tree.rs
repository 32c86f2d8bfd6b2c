//! The input of a graph: the entries of a tree, and their blobs.

use std::cmp::Ordering;

use crate::file::FileId;

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

/// Each path of two lists that are sorted by path, in order: its position in `files` and in `older`.
pub(crate) fn pair_by_path(
    files: &[TreeEntry],
    older: &[TreeEntry],
) -> impl Iterator<Item = (Option<FileId>, Option<FileId>)> {
    let (mut at, mut at_older) = (0, 0);
    std::iter::from_fn(move || {
        let order = match (files.get(at), older.get(at_older)) {
            (Some(one), Some(other)) => one.path.cmp(&other.path),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let id = order.is_le().then_some(at as FileId);
        let old_id = order.is_ge().then_some(at_older as FileId);
        at += usize::from(order.is_le());
        at_older += usize::from(order.is_ge());
        Some((id, old_id))
    })
}
