//! Aliases of compiler options: `paths` and `baseUrl`.

use crate::file::FileId;
use crate::resolve::extension::Extension;
use crate::resolve::javascript::files::MAX_DEPTH;
use crate::resolve::javascript::importer::Importer;
use crate::resolve::manifests::package_json::match_star;
use crate::resolve::manifests::tsconfig::{Options, Patterns};
use crate::resolve::paths::{around, below, folder, join, joined};

/// The result of `paths` and `baseUrl` for a specifier.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AliasTarget {
    File(FileId),
    /// A pattern of `paths` matches, and none of its targets exists.
    Nowhere,
    /// No match.
    Unknown,
}

impl AliasTarget {
    pub(super) fn or(self, other: Self) -> Self {
        if self == AliasTarget::Unknown { other } else { self }
    }
}

impl Importer<'_> {
    /// Applies `paths`, then `baseUrl` where no pattern of `paths` matches.
    pub(super) fn resolve_by_options(&mut self, options: &Options, text: &str) -> AliasTarget {
        let (target, is_matched) = self.resolve_by_paths(&options.paths, text);
        if is_matched {
            return target;
        }
        let Some(base) = options.base_url.as_deref() else {
            return AliasTarget::Unknown;
        };
        if !join(self.buffer, base, text) {
            return AliasTarget::Unknown;
        }
        let path = std::mem::take(self.buffer);
        let file = self.load(&path, MAX_DEPTH);
        *self.buffer = path;
        file.map_or(AliasTarget::Unknown, AliasTarget::File)
    }

    /// The target of a pattern of `paths`, and whether any pattern matches.
    pub(super) fn resolve_by_paths(&mut self, paths: &Patterns, text: &str) -> (AliasTarget, bool) {
        self.trace.charge_list(paths.len());
        let Some((targets, matched)) = best_pattern(paths, text) else {
            return (AliasTarget::Unknown, false);
        };
        let file = self.first_target("", targets, matched, &mut |this, path| {
            let exact = match Extension::split(path) {
                Some(_) => this.load_exact(path).map(|file| this.implementation(file)),
                None => None,
            };
            exact.or_else(|| this.load(path, MAX_DEPTH))
        });
        if let Some(file) = file {
            return (AliasTarget::File(file), true);
        }
        // A pattern that matches everything proves nothing, and an alias of an installed package is still external.
        let is_local = matched.len() < text.len() && !targets.iter().any(|target| target.contains("node_modules"));
        if !is_local {
            return (AliasTarget::Unknown, true);
        }
        let file = self.first_target("", targets, matched, &mut |this, path| this.load_as_bundlers(path));
        (file.map_or(AliasTarget::Nowhere, AliasTarget::File), true)
    }

    /// The file of the first of `targets` that `load` finds, relative to `folder`, with `matched` in place of its `*`.
    pub(super) fn first_target(
        &mut self,
        folder: &str,
        targets: &[String],
        matched: &str,
        load: &mut dyn FnMut(&mut Self, &str) -> Option<FileId>,
    ) -> Option<FileId> {
        self.trace.charge_list(targets.len());
        for target in targets {
            if self.trace.is_spent() {
                break;
            }
            self.trace.charge_text(target.len());
            if !join(self.buffer, folder, &target.replacen('*', matched, 1)) {
                continue;
            }
            let path = std::mem::take(self.buffer);
            let file = load(self, &path);
            *self.buffer = path;
            if file.is_some() {
                return file;
            }
        }
        None
    }

    /// The target of a path that begins with a slash, which Vite and servers take relative to the root of the project:
    /// the folder that Vite's config names, or one with an `index.html`.
    pub(super) fn resolve_by_root(&mut self, text: &str) -> Option<FileId> {
        let context = self.context;
        let load = |this: &mut Self, root: &str| {
            let path = joined(root, text)?;
            this.load(&path, MAX_DEPTH)
        };
        let configured = context.aliases.iter().find_map(|aliases| aliases.root.as_deref());
        if let Some(file) = configured.and_then(|root| load(self, root)) {
            return Some(file);
        }
        for dir in around(folder(self.from)) {
            if self.trace.is_spent() {
                break;
            }
            if self.table.file(&below(dir, "index.html"), self.trace).is_some()
                && let Some(file) = load(self, dir)
            {
                return Some(file);
            }
        }
        None
    }
}

/// The targets of the pattern of `paths` that best matches `text`, and the text that its `*` stands for.
pub(super) fn best_pattern<'a>(paths: &'a Patterns, text: &'a str) -> Option<(&'a [String], &'a str)> {
    if let Some((_, targets)) = paths.iter().find(|(pattern, _)| pattern == text) {
        return Some((targets, ""));
    }
    // A longer pattern cannot match, and may be very long.
    let candidates = paths.iter().filter(|(pattern, _)| pattern.len() <= text.len() + 1);
    let matches =
        candidates.filter_map(|(pattern, targets)| Some((pattern.find('*')?, targets, match_star(pattern, text)?)));
    let best = matches.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some((best.1, best.2))
}
