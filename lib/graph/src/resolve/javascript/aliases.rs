//! Aliases of compiler options: `paths` and `baseUrl`.

use crate::file::FileId;
use crate::resolve::extension::Extension;
use crate::resolve::javascript::files::MAX_DEPTH;
use crate::resolve::javascript::importer::Importer;
use crate::resolve::manifests::package_json::matched_by;
use crate::resolve::manifests::tsconfig::{Options, Patterns};
use crate::resolve::paths::join;

/// The result of `paths` and `baseUrl` for a specifier.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ByOptions {
    File(FileId),
    /// A pattern of `paths` matches, and none of its targets exists.
    Nowhere,
    /// No match.
    Unknown,
}

impl ByOptions {
    pub(super) fn or(self, other: Self) -> Self {
        if self == ByOptions::Unknown { other } else { self }
    }
}

impl Importer<'_> {
    /// Applies `paths`, then `baseUrl` where no pattern of `paths` matches.
    pub(super) fn by_options(&mut self, options: &Options, text: &str) -> ByOptions {
        let (by_paths, is_matched) = self.by_paths(&options.paths, text);
        if is_matched {
            return by_paths;
        }
        let Some(base) = options.base_url.as_deref() else {
            return ByOptions::Unknown;
        };
        if !join(self.buffer, base, text) {
            return ByOptions::Unknown;
        }
        let path = std::mem::take(self.buffer);
        let found = self.load(&path, MAX_DEPTH);
        *self.buffer = path;
        found.map_or(ByOptions::Unknown, ByOptions::File)
    }

    /// The target of a pattern of `paths`, and whether any pattern matches.
    pub(super) fn by_paths(&mut self, paths: &Patterns, text: &str) -> (ByOptions, bool) {
        self.trace.charge_list(paths.len());
        let Some((targets, matched)) = by_path_pattern(paths, text) else {
            return (ByOptions::Unknown, false);
        };
        self.trace.charge_list(targets.len());
        for target in targets {
            if self.trace.is_spent() {
                break;
            }
            self.trace.charge_text(target.len());
            if !join(self.buffer, "", &target.replacen('*', matched, 1)) {
                continue;
            }
            let path = std::mem::take(self.buffer);
            let found = match Extension::split(&path) {
                Some(_) => self.named(&path).map(|file| self.implementation(file)),
                None => None,
            };
            let found = found.or_else(|| self.load(&path, MAX_DEPTH));
            *self.buffer = path;
            if let Some(file) = found {
                return (ByOptions::File(file), true);
            }
        }
        // A pattern that matches everything proves nothing, and an alias of an installed package is external all the same.
        let is_own = matched.len() < text.len() && !targets.iter().any(|target| target.contains("node_modules"));
        let found = if is_own { ByOptions::Nowhere } else { ByOptions::Unknown };
        (found, true)
    }
}

/// The targets of the pattern of `paths` that best matches `text`, and the text that its `*` stands for.
pub(super) fn by_path_pattern<'a>(paths: &'a Patterns, text: &'a str) -> Option<(&'a [String], &'a str)> {
    if let Some((_, targets)) = paths.iter().find(|(pattern, _)| pattern == text) {
        return Some((targets, ""));
    }
    // A longer pattern cannot fit, and may be very long.
    let fits = paths.iter().filter(|(pattern, _)| pattern.len() <= text.len() + 1);
    let fits = fits.filter_map(|(pattern, targets)| Some((pattern.find('*')?, targets, matched_by(pattern, text)?)));
    let best = fits.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some((best.1, best.2))
}
