//! The paths of a tree, including those through symbolic links.
//!
//! A resolver sees the tree only through this table, and every lookup adds its key to a [`Trace`]. The result of a
//! lookup changes only if a path with that key appears or disappears. So a file none of whose traced keys changed
//! resolves as before.

use std::collections::HashSet;
use std::sync::Arc;

use crate::file::FileId;
use crate::resolve::extension::{Extension, Siblings};
use crate::resolve::keys::{KeySpace, Keys, Trace, fold};
use crate::resolve::paths::{around, is_within};
use crate::resolve::symlinks::{LinkedPaths, Symlinks};
use crate::resolve::tracked_paths::TrackedPaths;
use crate::tree::{EntryKind, TreeEntry};

#[derive(Debug)]
pub(crate) struct PathTable {
    tracked: Arc<TrackedPaths>,
    /// The paths through symbolic links, if there are any.
    linked: Option<Box<LinkedPaths>>,
}

impl PathTable {
    /// `files` must be sorted by path. A file's id is its position.
    pub(crate) fn new(files: Arc<[TreeEntry]>, keys: Keys) -> Self {
        PathTable {
            tracked: Arc::new(TrackedPaths::new(files, keys)),
            linked: None,
        }
    }

    /// A table of the same tree with other symbolic links.
    pub(crate) fn with_links(&self, links: Symlinks) -> Self {
        let linked = (!links.is_empty()).then(|| Box::new(LinkedPaths::new(&self.tracked, links)));
        PathTable {
            tracked: Arc::clone(&self.tracked),
            linked,
        }
    }

    /// Whether its symbolic links are `links`.
    pub(crate) fn has_same_links(&self, links: &Symlinks) -> bool {
        match &self.linked {
            Some(linked) => linked.links == *links,
            None => links.is_empty(),
        }
    }

    /// Whether `path` is a symbolic link for which the table lacks some paths, because it leads to too many files.
    pub(crate) fn is_cut_link(&self, path: &str) -> bool {
        self.linked.as_ref().is_some_and(|linked| linked.cut.contains(path))
    }

    /// Paths through symbolic links, and the files that they mean.
    pub(crate) fn linked_paths(&self) -> &[(String, FileId)] {
        self.linked.as_ref().map_or(&[][..], |linked| &linked.paths)
    }

    /// Passes to `sink` the keys of lookups whose results differ from `older`'s because of links.
    pub(crate) fn changed_links(&self, older: &Self, sink: &mut impl FnMut(u32)) {
        let meanings = |table: &'_ Self| -> HashSet<(String, String)> {
            let paths = table.linked_paths().iter();
            paths
                .map(|(path, id)| (path.clone(), table.path(*id).to_owned()))
                .collect()
        };
        if self.linked.is_some() || older.linked.is_some() {
            for (path, _) in meanings(self).symmetric_difference(&meanings(older)) {
                self.keys_of_path(path, sink);
            }
        }
    }

    pub(crate) fn files(&self) -> &Arc<[TreeEntry]> {
        &self.tracked.files
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.tracked.keys
    }

    /// The path of a file, or the path through a link to which [`Self::all_paths`] gives this number.
    pub(crate) fn path(&self, id: FileId) -> &str {
        self.tracked.path(id).unwrap_or_else(|| {
            let at = id as usize - self.files().len();
            self.linked_paths().get(at).map_or("", |(path, _)| path)
        })
    }

    /// A number for each path. Paths through links come last.
    pub(crate) fn all_paths(&self) -> impl Iterator<Item = FileId> {
        0..(self.files().len() + self.linked_paths().len()) as FileId
    }

    pub(crate) fn file(&self, path: &str, trace: &mut Trace) -> Option<FileId> {
        if trace.is_spent() {
            return None;
        }
        let hash = self.keys().hash(path);
        trace.push(fold(hash));
        trace.charge_text(path.len());
        self.file_hashed(path, hash)
    }

    /// [`Self::file`] for lookups that no resolution depends on.
    pub(crate) fn file_untraced(&self, path: &str) -> Option<FileId> {
        self.file_hashed(path, self.keys().hash(path))
    }

    /// The tree entry at `path`, which may itself be a link.
    pub(crate) fn tracked_file(&self, path: &str) -> Option<FileId> {
        self.tracked.file(path)
    }

    fn file_hashed(&self, path: &str, hash: u64) -> Option<FileId> {
        let tracked = self.tracked.file_hashed(path, hash);
        match &self.linked {
            None => tracked,
            Some(linked) => tracked.map(|id| linked.real(id)).or_else(|| linked.file(path)),
        }
    }

    /// The entries below `folder`, which must not be the root, sorted.
    pub(crate) fn entries_below(&self, folder: &str) -> &[TreeEntry] {
        self.tracked.entries_below(folder)
    }

    /// The paths below `folder`, which may be the root, with the files that they mean, without links that mean no file.
    pub(crate) fn files_below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, FileId)> {
        let tracked = self.tracked.ids_below(folder);
        let real = |id: FileId| self.linked.as_ref().map_or(id, |linked| linked.real(id));
        let is_link = |id: FileId| {
            self.files()
                .get(id as usize)
                .is_some_and(|file| file.kind == EntryKind::Symlink)
        };
        let tracked = tracked.map(move |(id, path)| (path, real(id)));
        let tracked = tracked.filter(move |(_, id)| !is_link(*id));
        let linked = self.linked_paths();
        let first = linked.partition_point(|(path, _)| path.as_str() < folder);
        let linked = linked[first..]
            .iter()
            .take_while(move |(path, _)| path.starts_with(folder));
        let linked = linked.filter(move |(path, _)| is_within(path, folder) && self.tracked_file(path).is_none());
        tracked.chain(linked.map(|(path, id)| (path.as_str(), *id)))
    }

    /// The folders that contain a folder `name` with files.
    pub(crate) fn folders_with(&self, name: &str) -> HashSet<String> {
        self.tracked.folders_with(name)
    }

    /// The files at `stem` with any [`Extension`](super::extension::Extension).
    pub(crate) fn siblings(&self, stem: &str, trace: &mut Trace) -> Option<Siblings> {
        if trace.is_spent() {
            return None;
        }
        let hash = self.keys().hash(stem);
        trace.push(fold(hash));
        trace.charge_text(stem.len());
        self.siblings_hashed(stem, hash)
    }

    /// [`Self::siblings`] for lookups that other keys trace.
    pub(crate) fn siblings_untraced(&self, stem: &str) -> Option<Siblings> {
        self.siblings_hashed(stem, self.keys().hash(stem))
    }

    fn siblings_hashed(&self, stem: &str, hash: u64) -> Option<Siblings> {
        let Some(tracked) = self.tracked.siblings_hashed(stem, hash) else {
            return self.linked.as_ref()?.siblings(stem);
        };
        let mut siblings = Siblings::default();
        for (extension, id) in tracked {
            siblings.set(extension, self.linked.as_ref().map_or(id, |linked| linked.real(id)));
        }
        Some(siblings)
    }

    /// The keys of lookups whose results change when `path` appears or disappears.
    pub(crate) fn keys_of_path(&self, path: &str, sink: &mut impl FnMut(u32)) {
        sink(self.keys().of(path));
        if let Some((stem, _)) = Extension::split(path) {
            sink(self.keys().of(stem));
        }
        for dir in around(path).skip(1) {
            sink(self.keys().of_named(KeySpace::GlobFolders, dir));
        }
    }
}
