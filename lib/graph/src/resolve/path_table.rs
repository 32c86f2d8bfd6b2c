//! The paths of a tree, looked up whole and without their extension.
//!
//! A resolver sees the tree through this table alone, and every lookup leaves its key in a [`Trace`]. A lookup's answer
//! changes only when a path with that key comes or goes, so a file whose traced keys are untouched resolves as before.

use std::collections::HashSet;
use std::hash::BuildHasher;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};
use memchr::memmem::Finder;

use super::super::FileId;
use super::symlinks::{LinkedPaths, Symlinks};
use crate::tree::TreeEntry;

/// No file.
const NONE: FileId = FileId::MAX;

/// Extensions that an import may leave out or name by another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Extension {
    Ts,
    Tsx,
    Dts,
    Mts,
    Dmts,
    Cts,
    Dcts,
    Js,
    Jsx,
    Mjs,
    Cjs,
    Py,
    Pyi,
}

impl Extension {
    const COUNT: usize = 13;

    /// The path without its extension, and the extension, where it is one of these.
    pub(super) fn split(path: &str) -> Option<(&str, Extension)> {
        let bytes = path.as_bytes();
        let dot = memchr::memrchr2(b'.', b'/', bytes).filter(|at| bytes[*at] == b'.')?;
        // A name that begins with its only dot has no extension.
        let is_name = |stem: &str| !stem.is_empty() && !stem.ends_with('/');
        let stem = Some(&path[..dot]).filter(|stem| is_name(stem))?;
        let declaration = |plain, declared| match stem.strip_suffix(".d") {
            Some(shorter) if is_name(shorter) => (shorter, declared),
            _ => (stem, plain),
        };
        Some(match &path[dot + 1..] {
            "ts" => declaration(Extension::Ts, Extension::Dts),
            "mts" => declaration(Extension::Mts, Extension::Dmts),
            "cts" => declaration(Extension::Cts, Extension::Dcts),
            "tsx" => (stem, Extension::Tsx),
            "js" => (stem, Extension::Js),
            "jsx" => (stem, Extension::Jsx),
            "mjs" => (stem, Extension::Mjs),
            "cjs" => (stem, Extension::Cjs),
            "py" => (stem, Extension::Py),
            "pyi" => (stem, Extension::Pyi),
            _ => return None,
        })
    }
}

/// The files that share a path up to the extension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Siblings([FileId; Extension::COUNT]);

impl Default for Siblings {
    fn default() -> Self {
        Siblings([NONE; Extension::COUNT])
    }
}

impl Siblings {
    pub(super) fn set(&mut self, extension: Extension, file: FileId) {
        self.0[extension as usize] = file;
    }

    /// The first of `order` that exists.
    pub(super) fn first(&self, order: &[Extension]) -> Option<FileId> {
        order
            .iter()
            .map(|extension| self.0[*extension as usize])
            .find(|file| *file != NONE)
    }
}

/// The keys that a resolution looked at. Different lookups may share a key; that costs a needless second resolution,
/// never a missed one.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) keys: Vec<u32>,
}

/// Hashes lookups. Seeded at random, so that a repository cannot be built to collide; cloned from table to table, so
/// that keys of one mean the same in the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(DefaultHashBuilder);

impl Keys {
    /// The hash that keys are made of.
    pub(super) fn hash(&self, text: &str) -> u64 {
        self.0.hash_one(text.as_bytes())
    }

    /// The key under which a lookup of `text` is traced.
    pub(super) fn of(&self, text: &str) -> u32 {
        fold(self.hash(text))
    }

    /// The key of something that is no path: `space` keeps it apart from paths.
    pub(super) fn of_named(&self, space: u8, name: &str) -> u32 {
        fold(self.0.hash_one((space, name)))
    }
}

fn fold(hash: u64) -> u32 {
    ((hash >> 32) ^ hash) as u32
}

/// The table.
#[derive(Debug)]
pub(crate) struct PathTable {
    files: Arc<[TreeEntry]>,
    keys: Keys,
    whole: HashTable<FileId>,
    stems: HashTable<FileId>,
    next_sibling: Vec<FileId>,
    /// What there is by way of symbolic links, where there are any.
    linked: Option<Box<LinkedPaths>>,
}

impl PathTable {
    /// `files` are sorted by path; a file's id is its position.
    pub(crate) fn new(files: Arc<[TreeEntry]>, keys: Keys) -> Self {
        let mut whole = HashTable::with_capacity(files.len());
        let mut stems: HashTable<FileId> = HashTable::with_capacity(files.len());
        let mut next_sibling = vec![NONE; files.len()];
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
        PathTable {
            files,
            keys,
            whole,
            stems,
            next_sibling,
            linked: None,
        }
    }

    /// The same tree with other symbolic links.
    pub(crate) fn with_links(&self, links: Symlinks) -> Self {
        let mut table = PathTable {
            files: Arc::clone(&self.files),
            keys: self.keys.clone(),
            whole: self.whole.clone(),
            stems: self.stems.clone(),
            next_sibling: self.next_sibling.clone(),
            linked: None,
        };
        if !links.is_empty() {
            table.linked = Some(Box::new(LinkedPaths::new(&table, links)));
        }
        table
    }

    /// Whether its symbolic links are `links`.
    pub(crate) fn has_links(&self, links: &Symlinks) -> bool {
        match &self.linked {
            Some(linked) => linked.links() == links,
            None => links.is_empty(),
        }
    }

    /// Paths by way of symbolic links, and the files that they mean.
    pub(super) fn linked_paths(&self) -> &[(String, FileId)] {
        self.linked.as_deref().map_or(&[], LinkedPaths::paths)
    }

    /// Tells `sink` the keys whose answers differ from `older`'s by what links lead to.
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
        &self.files
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// The path of a file, or of the number that [`Self::all_paths`] has for a path by way of a link.
    pub(super) fn path(&self, id: FileId) -> &str {
        match self.files.get(id as usize) {
            Some(file) => &file.path,
            None => {
                let at = id as usize - self.files.len();
                self.linked_paths().get(at).map_or("", |(path, _)| path)
            }
        }
    }

    /// A number for each path, those by way of links last.
    pub(super) fn all_paths(&self) -> impl Iterator<Item = FileId> {
        0..(self.files.len() + self.linked_paths().len()) as FileId
    }

    /// The file at `path`.
    pub(super) fn file(&self, path: &str, trace: &mut Trace) -> Option<FileId> {
        let hash = self.keys.hash(path);
        trace.keys.push(fold(hash));
        self.file_hashed(path, hash)
    }

    /// Like [`Self::file`], for questions that no resolution rests on.
    pub(crate) fn file_untraced(&self, path: &str) -> Option<FileId> {
        self.file_hashed(path, self.keys.hash(path))
    }

    /// The entry of the tree at `path`, links not followed.
    pub(crate) fn tracked(&self, path: &str) -> Option<FileId> {
        let hash = self.keys.hash(path);
        self.whole.find(hash, |id| path_of(&self.files, *id) == path).copied()
    }

    fn file_hashed(&self, path: &str, hash: u64) -> Option<FileId> {
        let found = self.whole.find(hash, |id| path_of(&self.files, *id) == path).copied();
        match &self.linked {
            None => found,
            Some(linked) => found.map(|id| linked.real(id)).or_else(|| linked.file(path)),
        }
    }

    /// The files below `folder`, which is not the root, sorted.
    pub(super) fn below(&self, folder: &str) -> &[TreeEntry] {
        // What is below a folder begins with its path and a slash; `0` is the byte behind the slash.
        let first = self
            .files
            .partition_point(|file| file.path.as_str() < format!("{folder}/").as_str());
        let end = self
            .files
            .partition_point(|file| file.path.as_str() < format!("{folder}0").as_str());
        self.files.get(first..end).unwrap_or_default()
    }

    /// The files below `folder`, which may be the root, and their ids.
    pub(super) fn ids_below(&self, folder: &str) -> impl Iterator<Item = (FileId, &str)> {
        let below = if folder.is_empty() {
            &self.files[..]
        } else {
            self.below(folder)
        };
        let first = below.first().map_or(0, |first| {
            self.files.partition_point(|file| file.path < first.path) as FileId
        });
        (first..).zip(below.iter().map(|file| file.path.as_str()))
    }

    /// The folders that hold a folder `name` with files.
    pub(super) fn folders_with(&self, name: &str) -> HashSet<String> {
        let part = format!("{name}/");
        let finder = Finder::new(&part);
        let mut found: HashSet<String> = HashSet::new();
        let mut last: Option<&str> = None;
        for file in self.files.iter() {
            let path = file.path.as_str();
            // Files of one folder stand together.
            if last.is_some_and(|last| path.strip_prefix(last).is_some_and(|rest| rest.starts_with(&part))) {
                continue;
            }
            for at in finder.find_iter(path.as_bytes()) {
                let Some(holder) = path.get(..at) else { continue };
                if holder.is_empty() || holder.ends_with('/') {
                    last = Some(holder);
                    if !found.contains(holder.trim_end_matches('/')) {
                        found.insert(holder.trim_end_matches('/').to_owned());
                    }
                }
            }
        }
        found
    }

    /// The files at `stem` with any [`Extension`].
    pub(super) fn siblings(&self, stem: &str, trace: &mut Trace) -> Option<Siblings> {
        let hash = self.keys.hash(stem);
        trace.keys.push(fold(hash));
        self.siblings_hashed(stem, hash)
    }

    /// Like [`Self::siblings`], for questions whose answers are traced otherwise.
    pub(super) fn siblings_untraced(&self, stem: &str) -> Option<Siblings> {
        self.siblings_hashed(stem, self.keys.hash(stem))
    }

    fn siblings_hashed(&self, stem: &str, hash: u64) -> Option<Siblings> {
        let Some(first) = self.stems.find(hash, |id| stem_of(&self.files, *id) == stem) else {
            return self.linked.as_ref()?.siblings(stem);
        };
        let mut id = *first;
        let mut siblings = Siblings::default();
        while id != NONE {
            if let Some((_, extension)) = Extension::split(path_of(&self.files, id)) {
                siblings.set(extension, self.linked.as_ref().map_or(id, |linked| linked.real(id)));
            }
            id = self.next_sibling[id as usize];
        }
        Some(siblings)
    }

    /// The keys whose answers change when `path` comes or goes.
    pub(crate) fn keys_of_path(&self, path: &str, sink: &mut impl FnMut(u32)) {
        sink(self.keys.of(path));
        if let Some((stem, _)) = Extension::split(path) {
            sink(self.keys.of(stem));
        }
    }
}

fn path_of(files: &[TreeEntry], id: FileId) -> &str {
    files.get(id as usize).map_or("", |entry| entry.path.as_str())
}

fn stem_of(files: &[TreeEntry], id: FileId) -> &str {
    let path = path_of(files, id);
    Extension::split(path).map_or(path, |(stem, _)| stem)
}

/// The folder of a path, `""` at the root.
pub(crate) fn folder(path: &str) -> &str {
    memchr::memrchr(b'/', path.as_bytes()).map_or("", |slash| &path[..slash])
}

/// Writes `folder` joined with `relative` into `out`, `.` and `..` folded. `false` when it leads out of the root.
pub(super) fn join(out: &mut String, folder: &str, relative: &str) -> bool {
    out.clear();
    out.push_str(folder);
    let mut start = 0;
    // Parts are short: a search for each next slash would take longer than a look at every byte.
    for part in relative.as_bytes().split(|byte| *byte == b'/') {
        let end = start + part.len();
        let part = &relative[start..end];
        start = end + 1;
        match part {
            "" | "." => {}
            ".." => {
                if out.is_empty() {
                    return false;
                }
                out.truncate(memchr::memrchr(b'/', out.as_bytes()).unwrap_or(0));
            }
            name => {
                if !out.is_empty() {
                    out.push('/');
                }
                out.push_str(name);
            }
        }
    }
    true
}

/// [`join`] into a new string.
pub(super) fn joined(folder: &str, relative: &str) -> Option<String> {
    let mut out = String::with_capacity(folder.len() + relative.len() + 1);
    join(&mut out, folder, relative).then_some(out)
}

/// Whether `path` is `folder` or below it. Everything is below `""`.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_never_leave_the_root() {
        assert_eq!(joined("a/b", "./c").as_deref(), Some("a/b/c"));
        assert_eq!(joined("a/b", "../c//d/.").as_deref(), Some("a/c/d"));
        assert_eq!(joined("a", "..").as_deref(), Some(""));
        assert_eq!(joined("a", "../.."), None);
        assert_eq!(joined("", "x").as_deref(), Some("x"));
    }

    #[test]
    fn an_extension_is_split_off_and_a_dotfile_has_none() {
        assert_eq!(Extension::split("a/b.d.ts"), Some(("a/b", Extension::Dts)));
        assert_eq!(Extension::split("a/b.test.ts"), Some(("a/b.test", Extension::Ts)));
        assert_eq!(Extension::split("a/.d.ts"), Some(("a/.d", Extension::Ts)));
        assert_eq!(Extension::split("a.b/.ts"), None);
        assert_eq!(Extension::split("a.b/c"), None);
        assert_eq!(Extension::split("x.json"), None);
    }

    #[test]
    fn a_folder_holds_itself_and_what_is_below_it() {
        assert!(is_within("a/b", "a"));
        assert!(is_within("a", "a"));
        assert!(!is_within("ab", "a"));
        assert!(is_within("ab", ""));
    }
}
