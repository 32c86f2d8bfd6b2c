//! The tracked paths of a tree, by path and by path without extension. Lookups do not follow symbolic links.

use std::collections::HashSet;
use std::sync::Arc;

use hashbrown::HashTable;
use memchr::memmem::Finder;

use crate::file::{FileId, NO_FILE};
use crate::resolve::extension::Extension;
use crate::resolve::keys::Keys;
use crate::tree::TreeEntry;

/// The files of a tree, by path and by path without extension.
#[derive(Debug)]
pub(crate) struct TrackedPaths {
    pub(crate) files: Arc<[TreeEntry]>,
    pub(crate) keys: Keys,
    whole: HashTable<FileId>,
    stems: HashTable<FileId>,
    next_sibling: Vec<FileId>,
}

impl TrackedPaths {
    /// `files` must be sorted by path. A file's id is its position.
    pub(crate) fn new(files: Arc<[TreeEntry]>, keys: Keys) -> Self {
        let mut whole = HashTable::with_capacity(files.len());
        let mut stems: HashTable<FileId> = HashTable::with_capacity(files.len());
        let mut next_sibling = vec![NO_FILE; files.len()];
        let rehash_whole = |id: &FileId| keys.hash(path_of(&files, *id));
        let rehash_stem = |id: &FileId| keys.hash(stem_of(&files, *id));
        for id in 0..files.len() as FileId {
            let path = path_of(&files, id);
            whole.insert_unique(keys.hash(path), id, rehash_whole);
            let Some((stem, _)) = Extension::split(path) else {
                continue;
            };
            let hash = keys.hash(stem);
            match stems.find_mut(hash, |other| stem_of(&files, *other) == stem) {
                Some(head) => {
                    next_sibling[id as usize] = *head;
                    *head = id;
                }
                None => {
                    stems.insert_unique(hash, id, rehash_stem);
                }
            }
        }
        TrackedPaths {
            files,
            keys,
            whole,
            stems,
            next_sibling,
        }
    }

    /// The path of a file. `None` if no file has this number.
    pub(crate) fn path(&self, id: FileId) -> Option<&str> {
        self.files.get(id as usize).map(|file| file.path.as_str())
    }

    pub(crate) fn file(&self, path: &str) -> Option<FileId> {
        self.file_hashed(path, self.keys.hash(path))
    }

    /// The file at `path`, whose hash is `hash`.
    pub(crate) fn file_hashed(&self, path: &str, hash: u64) -> Option<FileId> {
        self.whole.find(hash, |id| path_of(&self.files, *id) == path).copied()
    }

    /// The files at `stem`, whose hash is `hash`, with their extensions.
    pub(crate) fn siblings_hashed(&self, stem: &str, hash: u64) -> Option<impl Iterator<Item = (Extension, FileId)>> {
        let first = self.stems.find(hash, |id| stem_of(&self.files, *id) == stem)?;
        let next = |id: &FileId| Some(self.next_sibling[*id as usize]).filter(|next| *next != NO_FILE);
        let ids = std::iter::successors(Some(*first), next);
        Some(ids.filter_map(|id| Some((Extension::split(path_of(&self.files, id))?.1, id))))
    }

    /// The entries below `folder`, which must not be the root, sorted.
    pub(crate) fn entries_below(&self, folder: &str) -> &[TreeEntry] {
        // A path below a folder begins with the folder's path and a slash. In ASCII, `0` follows the slash.
        let first = self
            .files
            .partition_point(|file| file.path.as_str() < format!("{folder}/").as_str());
        let end = self
            .files
            .partition_point(|file| file.path.as_str() < format!("{folder}0").as_str());
        self.files.get(first..end).unwrap_or_default()
    }

    /// The files below `folder`, which may be the root, and their ids.
    pub(crate) fn ids_below(&self, folder: &str) -> impl Iterator<Item = (FileId, &str)> {
        let entries = if folder.is_empty() {
            &self.files[..]
        } else {
            self.entries_below(folder)
        };
        let first = entries.first().map_or(0, |first| {
            self.files.partition_point(|file| file.path < first.path) as FileId
        });
        (first..).zip(entries.iter().map(|file| file.path.as_str()))
    }

    /// The folders that contain a folder `name` with files.
    pub(crate) fn folders_with(&self, name: &str) -> HashSet<String> {
        let part = format!("{name}/");
        let finder = Finder::new(&part);
        let mut folders: HashSet<String> = HashSet::new();
        let mut last: Option<&str> = None;
        for file in self.files.iter() {
            let path = file.path.as_str();
            // Files of one folder are adjacent.
            if last.is_some_and(|last| path.strip_prefix(last).is_some_and(|rest| rest.starts_with(&part))) {
                continue;
            }
            for at in finder.find_iter(path.as_bytes()) {
                let Some(prefix) = path.get(..at) else { continue };
                if prefix.is_empty() || prefix.ends_with('/') {
                    last = Some(prefix);
                    let folder = prefix.trim_end_matches('/');
                    if !folders.contains(folder) {
                        folders.insert(folder.to_owned());
                    }
                }
            }
        }
        folders
    }
}

fn path_of(files: &[TreeEntry], id: FileId) -> &str {
    files.get(id as usize).map_or("", |entry| entry.path.as_str())
}

fn stem_of(files: &[TreeEntry], id: FileId) -> &str {
    let path = path_of(files, id);
    Extension::split(path).map_or(path, |(stem, _)| stem)
}
