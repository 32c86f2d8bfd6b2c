//! The package, options and aliases that govern one file.

use std::sync::Arc;

use crate::resolve::manifests::tsconfig::Options;
use crate::resolve::projects::aliases::Aliases;
use crate::resolve::projects::package::Package;

/// The package, options and aliases that govern one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    pub(crate) options: Option<Arc<Options>>,
    pub(crate) package: Option<Arc<Package>>,
    /// The aliases beside compiler options, the innermost first.
    pub(crate) aliases: Vec<Arc<Aliases>>,
    /// The work of finding them, in lookups.
    pub(crate) work: usize,
}

impl Context {
    /// The suffixes that may stand between a module's name and its extension, best first; empty where none may.
    pub(crate) fn module_suffixes(&self) -> &[String] {
        self.options.as_deref().map_or(&[], |options| &options.module_suffixes)
    }

    /// Whether both are the same objects. [`Projects::new`] keeps an older object where nothing has changed.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.options.as_ref().map(Arc::as_ptr) == other.options.as_ref().map(Arc::as_ptr)
            && self.package.as_ref().map(Arc::as_ptr) == other.package.as_ref().map(Arc::as_ptr)
            && self.aliases.len() == other.aliases.len()
            && self
                .aliases
                .iter()
                .zip(&other.aliases)
                .all(|(one, other)| Arc::ptr_eq(one, other))
    }
}
