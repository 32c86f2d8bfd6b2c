//! All files of a commit.

use std::sync::Arc;

use coord::domain::{CommitSha, FilePath};
use coord::source::{EntryKind, MOST_TREE_ENTRIES, MOST_TREE_PATH_BYTES, SourceError, TreeEntry};
use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use gix::objs::TreeRefIter;
use gix::objs::tree::EntryKind as GitKind;

use super::checkout::Checkout;
use super::deadline::Deadline;
use super::file_names::is_name;
use super::repository::{Repository, unreadable};

struct Walk<'a> {
    repository: &'a Repository,
    handle: &'a gix::Repository,
    deadline: &'a Deadline,
    entries: Vec<TreeEntry>,
    /// Entries seen, folders included.
    seen: usize,
    path_bytes: usize,
    left_out: usize,
}

impl Repository {
    /// All files of `commit`, sorted by the bytes of their paths. Paths that are not UTF-8, longer than
    /// [`FilePath::MAX_BYTES`], or with a component that no file can have (`..`, empty, with a slash) are left out and
    /// logged.
    pub(super) fn tree(&self, commit: &CommitSha, deadline: &Deadline) -> Result<Vec<TreeEntry>, SourceError> {
        self.objects()
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
            let prefetch = self
                .take_prefetch()
                .and_then(|prefetch| prefetch.finish(&worktree, self.hash()));
            let (checkout, files) = match prefetch {
                Some(read) => (Some(read.checkout), read.files),
                None => (Checkout::read(&worktree, self.hash()).map(Arc::new), None),
            };
            let Some(checkout) = checkout.filter(|checkout| checkout.is_of(tree)) else {
                continue;
            };
            if let Some(files) = files.or_else(|| checkout.files()) {
                self.keep_checkout(worktree, checkout);
                return Ok(files);
            }
        }
        let mut walk = Walk {
            repository: self,
            handle,
            deadline,
            entries: Vec::new(),
            seen: 0,
            path_bytes: 0,
            left_out: 0,
        };
        walk.folder(tree, &mut String::new())?;
        self.note_names_left_out(walk.left_out);
        if walk.left_out > 0 {
            tracing::warn!(
                repo = %self.id(), commit = %id, left_out = walk.left_out,
                "some files have names that cannot be served"
            );
        }
        let mut entries = walk.entries;
        // git sorts by whole paths; a tree written by another program may have another order.
        if !entries.is_sorted_by(|left, right| left.path < right.path) {
            entries.sort_by(|left, right| left.path.cmp(&right.path));
            entries.dedup_by(|later, earlier| later.path == earlier.path);
        }
        Ok(entries)
    }
}

impl Walk<'_> {
    /// The length of a path bounds the depth: every level adds at least two bytes.
    fn folder(&mut self, id: ObjectId, path: &mut String) -> Result<(), SourceError> {
        if self.deadline.has_passed() {
            return Err(self.deadline.error());
        }
        let tree = self
            .handle
            .find_tree(id)
            .map_err(|error| unreadable(self.repository, format_args!("tree {id} cannot be read: {error}")))?;
        for entry in TreeRefIter::from_bytes(&tree.data, id.kind()) {
            let entry =
                entry.map_err(|error| unreadable(self.repository, format_args!("tree {id} is damaged: {error}")))?;
            self.seen += 1;
            if self.seen > MOST_TREE_ENTRIES || self.path_bytes > MOST_TREE_PATH_BYTES {
                return Err(unreadable(
                    self.repository,
                    format_args!(
                        "its tree has more than {MOST_TREE_ENTRIES} entries, or {MOST_TREE_PATH_BYTES} bytes of paths"
                    ),
                ));
            }
            let before = path.len();
            if !push_name(path, entry.filename) {
                self.left_out += 1;
                continue;
            }
            let kind = match entry.mode.kind() {
                GitKind::Tree => {
                    self.folder(entry.oid.to_owned(), path)?;
                    path.truncate(before);
                    continue;
                }
                GitKind::Blob | GitKind::BlobExecutable => EntryKind::File,
                GitKind::Link => EntryKind::Symlink,
                GitKind::Commit => EntryKind::Submodule,
            };
            self.path_bytes += path.len();
            self.entries.push(TreeEntry {
                path: path.clone(),
                blob: entry.oid.to_string(),
                kind,
            });
            path.truncate(before);
        }
        Ok(())
    }
}

/// Appends a name, if a file can have it.
fn push_name(path: &mut String, name: &BStr) -> bool {
    let Ok(name) = name.to_str() else {
        return false;
    };
    let is_name = is_name(name) && memchr::memchr2(b'/', 0, name.as_bytes()).is_none();
    if !is_name || path.len() + 1 + name.len() > FilePath::MAX_BYTES {
        return false;
    }
    if !path.is_empty() {
        path.push('/');
    }
    path.push_str(name);
    true
}
