//! Keys of lookups. Every lookup adds its key to the [`Trace`] of the file that it is for.

use hashbrown::DefaultHashBuilder;
use std::hash::BuildHasher;

/// Hashes lookups. Seeded at random, so that no repository can be built to collide; cloned from table to table, so that keys
/// keep their meaning.
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

/// The key of a hash.
pub(crate) fn fold(hash: u64) -> u32 {
    ((hash >> 32) ^ hash) as u32
}

/// The kind of a name that is not a path.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeySpace {
    /// Top-level names of Python.
    PythonTopNames,
    /// Names of packages of JavaScript.
    PackageNames,
    /// The folders with a `node_modules`, in the whole tree.
    ModuleFolders,
    /// Folders of packages of Go.
    GoPackages,
    /// Modules of Rust, and names in them.
    RustModules,
}

/// The keys that a resolution has looked up. Different lookups may share a key; that costs a needless second resolution,
/// never a missed one.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(crate) keys: Vec<u32>,
}
