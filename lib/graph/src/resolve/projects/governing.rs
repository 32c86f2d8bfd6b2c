//! The compiler options that govern a file: those of the nearest config, or of one that it refers to.

use std::sync::Arc;

use crate::resolve::manifests::tsconfig::Options;

/// A config that governs files in and below its folder, and the configs that it refers to; it comes first itself.
#[derive(Clone, Debug)]
pub(super) struct GoverningConfig {
    /// Path and options.
    pub(super) candidates: Vec<(String, Arc<Options>)>,
}

/// Most work for finding the config that lists one file.
const MAX_GOVERNING_WORK: usize = 100_000;

/// Whether there is more than one config, so that the one that governs a file depends on its name.
pub(super) fn has_choice(governing: &[GoverningConfig]) -> bool {
    governing.len() > 1 || governing.iter().any(|config| config.candidates.len() > 1)
}

/// The options that govern `path`: those of the first config that lists it, else of the nearest.
/// `work` counts the texts that the path is compared with.
pub(super) fn govern(governing: &[GoverningConfig], path: &str, work: &mut usize) -> Option<Arc<Options>> {
    let nearest = governing.first()?.candidates.first()?;
    if has_choice(governing) {
        for (config, options) in governing.iter().flat_map(|config| &config.candidates) {
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
    Some(Arc::clone(&nearest.1))
}
