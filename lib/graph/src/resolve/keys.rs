//! Keys of lookups. Every lookup adds its key to the [`Trace`] of the file that it is for.

use hashbrown::DefaultHashBuilder;
use std::hash::BuildHasher;

/// Hashes lookups. The seed is random, so that nobody can build a repository whose keys collide. Tables clone it from
/// each other, so that keys stay valid.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(DefaultHashBuilder);

impl Keys {
    /// The hash from which keys are made.
    pub(crate) fn hash(&self, text: &str) -> u64 {
        self.0.hash_one(text.as_bytes())
    }

    /// The key under which a lookup of `text` is traced.
    pub(crate) fn of(&self, text: &str) -> u32 {
        fold(self.hash(text))
    }

    /// The key of a name that is not a path; `space` keeps it apart from paths.
    pub(crate) fn of_named(&self, space: KeySpace, name: &str) -> u32 {
        fold(self.0.hash_one((space as u8, name)))
    }
}

pub(crate) fn fold(hash: u64) -> u32 {
    ((hash >> 32) ^ hash) as u32
}

/// The kind of a name that is not a path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeySpace {
    /// Top-level Python names.
    PythonTopNames,
    /// JavaScript package names.
    PackageNames,
    /// The folders with a `node_modules`, in the whole tree.
    ModuleFolders,
    /// Folders of Go packages.
    GoPackages,
    /// Rust modules, and names in them.
    RustModules,
    /// Folders below which all paths matter to a pattern.
    GlobFolders,
}

/// Most work for the imports of one file, in lookups of short paths. Imports past it are not resolved. A bound on
/// imports alone is not enough: a pattern of `paths` can have any number of targets, which multiplies an import's work.
pub(crate) const MAX_FILE_WORK: usize = 2_000_000;

/// This many bytes of a text that is looked up count as one more lookup.
const BYTES_PER_LOOKUP: usize = 64;

/// The keys of the lookups that the resolution of a file has made, and its work. If different lookups share a key, a
/// file may be resolved again needlessly, but a needed resolution is never missed.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) keys: Vec<u32>,
    pub(crate) work: usize,
}

impl Trace {
    /// Clears the trace of the previous file.
    pub(crate) fn begin(&mut self) {
        self.keys.clear();
        self.work = 0;
    }

    /// Adds the key of a lookup.
    pub(crate) fn push(&mut self, key: u32) {
        self.work += 1;
        self.keys.push(key);
    }

    /// Counts the work of `steps` lookups.
    pub(crate) fn charge(&mut self, steps: usize) {
        self.work = self.work.saturating_add(steps);
    }

    /// Adds the cost of a text of `bytes` bytes to the work of its lookup.
    pub(crate) fn charge_text(&mut self, bytes: usize) {
        self.charge(bytes / BYTES_PER_LOOKUP);
    }

    /// Counts the work of comparing with each of `count` short texts.
    pub(crate) fn charge_list(&mut self, count: usize) {
        self.charge(count / 8);
    }

    /// Whether the file has reached the bound on work. Every loop whose length a manifest or a tree controls checks it.
    pub(crate) fn is_spent(&self) -> bool {
        self.work >= MAX_FILE_WORK
    }
}
