//! The package, options and aliases that govern one file.

use std::sync::Arc;

use crate::resolve::manifests::tsconfig::Options;
use crate::resolve::projects::aliases::Aliases;
use crate::resolve::projects::package::Package;

/// A config that governs files in and below its folder, and the configs that it refers to; it comes first itself. Each
/// has its path and options.
pub(super) type GoverningConfig = Vec<(String, Arc<Options>)>;

/// Most work for finding the config that lists one file.
const MAX_GOVERNING_WORK: usize = 100_000;

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

/// Whether there is more than one config, so that the one that governs a file depends on its name.
pub(super) fn has_choice(governing: &[GoverningConfig]) -> bool {
    governing.len() > 1 || governing.iter().any(|config| config.len() > 1)
}

/// The options that govern `path`: those of the first config that lists it, else of the nearest.
/// `work` counts the texts that the path is compared with.
pub(super) fn govern(governing: &[GoverningConfig], path: &str, work: &mut usize) -> Option<Arc<Options>> {
    let (_, nearest) = governing.first()?.first()?;
    if has_choice(governing) {
        for (config, options) in governing.iter().flatten() {
            // Comparing with eight texts takes about as long as a lookup.
            *work += options.glob_cost() * (1 + path.len() / 64) / 8;
            if *work > MAX_GOVERNING_WORK {
                break;
            }
            if options.lists(config, path) {
                return Some(Arc::clone(options));
            }
        }
    }
    Some(Arc::clone(nearest))
}
