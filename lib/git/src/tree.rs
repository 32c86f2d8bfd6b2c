//! All files of a commit.

use std::sync::Arc;

use coord_domain::{CommitSha, FilePath};
use coord_sources::{EntryKind, MAX_TREE_ENTRIES, MAX_TREE_PATH_BYTES, SourceError, TreeEntry};
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryKind as GitKind;

use super::checkout::{Checkout, is_name};
use super::deadline::Deadline;
use super::repository::{Repository, unreadable};

struct Walk<'a> {
    repository: &'a Repository,
    handle: &'a gix::Repository,
    deadline: &'a Deadline,
    files: Vec<TreeEntry>,
    /// Number of entries so far, folders included.
    entry_count: usize,
    path_bytes: usize,
    names_left_out: usize,
}

impl Repository {
    /// All files of `commit`, sorted by the bytes of their paths. Paths that are not UTF-8, longer than
    /// [`FilePath::MAX_BYTES`], or with a component that no file can have (`..`, empty, with a slash) are left out and
    /// logged.
    pub(super) fn tree(&self, commit: &CommitSha, deadline: &Deadline) -> Result<Vec<TreeEntry>, SourceError> {
        self.objects
            .read(Result::is_err, |handle| self.tree_from(handle, commit, deadline))
    }

    fn tree_from(
        &self,
        handle: &gix::Repository,
        commit: &CommitSha,
        deadline: &Deadline,
    ) -> Result<Vec<TreeEntry>, SourceError> {
        let id = self.commit_id(handle, commit)?;
        let tree = handle
            .find_commit(id)
            .and_then(|commit| commit.tree_id().map(gix::Id::detach))
            .map_err(|error| unreadable(self, format_args!("commit {id} cannot be read: {error}")))?;
        for worktree in self.worktrees() {
            let prefetch = self.prefetch.lock().take();
            let (checkout, files) = match prefetch.and_then(|prefetch| prefetch.finish(&worktree, self.hash)) {
                Some(index) => (Some(index.checkout), index.files),
                None => {
                    let checkout = Checkout::read(worktree.root.clone(), &worktree.git_dir, self.hash);
                    (checkout.map(Arc::new), None)
                }
            };
            let Some(checkout) = checkout.filter(|checkout| checkout.is_tree(tree)) else {
                continue;
            };
            if let Some(files) = files.or_else(|| checkout.files()) {
                *self.kept_checkout.lock() = Some((worktree, checkout));
                return Ok(files);
            }
        }
        let mut walk = Walk {
            repository: self,
            handle,
            deadline,
            files: Vec::new(),
            entry_count: 0,
            path_bytes: 0,
            names_left_out: 0,
        };
        walk.collect_files(tree)?;
        self.note_names_left_out(walk.names_left_out);
        if walk.names_left_out > 0 {
            tracing::warn!(
                repo = %self.id(), commit = %id, left_out = walk.names_left_out,
                "some files have names that cannot be served"
            );
        }
        let mut files = walk.files;
        // git sorts by whole paths; a tree written by another program may have another order.
        if !files.is_sorted_by(|left, right| left.path < right.path) {
            files.sort_by(|left, right| left.path.cmp(&right.path));
            files.dedup_by(|later, earlier| later.path == earlier.path);
        }
        Ok(files)
    }
}

/// An entry of a folder that the walk has yet to visit.
struct PendingEntry {
    folder_path_len: usize,
    name: Box<[u8]>,
    kind: GitKind,
    id: ObjectId,
}

impl Walk<'_> {
    /// Collects all files below the folder `root`, in the order of the trees. Does not recurse, because a path can have
    /// two thousand folders.
    fn collect_files(&mut self, root: ObjectId) -> Result<(), SourceError> {
        let mut pending = Vec::new();
        self.push_entries(root, 0, &mut pending)?;
        let mut path = String::new();
        while let Some(entry) = pending.pop() {
            path.truncate(entry.folder_path_len);
            if !push_name(&mut path, entry.name.as_bstr()) {
                self.names_left_out += 1;
                continue;
            }
            let kind = match entry.kind {
                GitKind::Tree => {
                    self.push_entries(entry.id, path.len(), &mut pending)?;
                    continue;
                }
                GitKind::Blob | GitKind::BlobExecutable => EntryKind::File,
                GitKind::Link => EntryKind::Symlink,
                GitKind::Commit => EntryKind::Submodule,
            };
            self.files.push(TreeEntry {
                path: path.clone(),
                blob: entry.id.to_string(),
                kind,
            });
        }
        Ok(())
    }

    /// Pushes the entries of the folder `id` to `pending`, in reverse order.
    fn push_entries(
        &mut self,
        id: ObjectId,
        folder_path_len: usize,
        pending: &mut Vec<PendingEntry>,
    ) -> Result<(), SourceError> {
        if self.deadline.has_passed() {
            return Err(self.deadline.error());
        }
        let tree = self
            .handle
            .find_tree(id)
            .map_err(|error| unreadable(self.repository, format_args!("tree {id} cannot be read: {error}")))?;
        let first = pending.len();
        for entry in TreeRefIter::from_bytes(&tree.data, id.kind()) {
            let entry =
                entry.map_err(|error| unreadable(self.repository, format_args!("tree {id} is damaged: {error}")))?;
            self.entry_count += 1;
            self.path_bytes += match entry.mode.kind() {
                GitKind::Tree => entry.filename.len(),
                _ => folder_path_len + 1 + entry.filename.len(),
            };
            if self.entry_count > MAX_TREE_ENTRIES || self.path_bytes > MAX_TREE_PATH_BYTES {
                return Err(unreadable(
                    self.repository,
                    format_args!(
                        "its tree has more than {MAX_TREE_ENTRIES} entries, or {MAX_TREE_PATH_BYTES} bytes of paths"
                    ),
                ));
            }
            pending.push(PendingEntry {
                folder_path_len,
                name: entry.filename.as_bytes().into(),
                kind: entry.mode.kind(),
                id: entry.oid.to_owned(),
            });
        }
        pending[first..].reverse();
        Ok(())
    }
}

/// Appends a name to `path`, if a file can have it. Returns whether it did.
fn push_name(path: &mut String, name: &BStr) -> bool {
    let Ok(name) = name.to_str() else {
        return false;
    };
    let is_valid = is_name(name) && memchr::memchr2(b'/', 0, name.as_bytes()).is_none();
    if !is_valid || path.len() + 1 + name.len() > FilePath::MAX_BYTES {
        return false;
    }
    if !path.is_empty() {
        path.push('/');
    }
    path.push_str(name);
    true
}
