//! Keys of lookups. Every lookup leaves its key in the [`Trace`] of the file that it was made for.

use hashbrown::DefaultHashBuilder;
use std::hash::BuildHasher;

/// Hashes lookups. Seeded at random, so that a repository cannot be built to collide; cloned from table to table, so
/// that keys of one mean the same in the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys(DefaultHashBuilder);

impl Keys {
    /// The hash that keys are made of.
    pub(crate) fn hash(&self, text: &str) -> u64 {
        self.0.hash_one(text.as_bytes())
    }

    /// The key under which a lookup of `text` is traced.
    pub(crate) fn of(&self, text: &str) -> u32 {
        fold(self.hash(text))
    }

    /// The key of something that is no path: `space` keeps it apart from paths.
    pub(crate) fn of_named(&self, space: KeySpace, name: &str) -> u32 {
        fold(self.0.hash_one((space as u8, name)))
    }
}

/// The key of a hash.
pub(crate) fn fold(hash: u64) -> u32 {
    ((hash >> 32) ^ hash) as u32
}

/// The space of a name that is no path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeySpace {
    /// Top-level names of Python.
    PythonTopNames,
    /// Names of packages of JavaScript.
    PackageNames,
    /// The folders with a `node_modules`, of the whole tree.
    ModuleFolders,
    /// Folders of packages of Go.
    GoPackages,
    /// Modules of Rust, and names in them.
    RustModules,
}

/// The keys that a resolution looked at. Different lookups may share a key; that costs a needless second resolution,
/// never a missed one.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) keys: Vec<u32>,
}
