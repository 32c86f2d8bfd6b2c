//! Patterns of [`ImportKind::Glob`](coord_scan::ImportKind::Glob) -> files.
//!
//! A pattern may contain `*`, `**`, `?` and `{a,b}`; one with brackets or parentheses is not followed. Hidden files and
//! `node_modules` below its first wildcard do not match. All files below the folder before the wildcard are compared,
//! so the resolution depends on every path below that folder.

use crate::file::FileId;
use crate::resolution::Reason;
use crate::resolve::javascript::aliases::best_pattern;
use crate::resolve::javascript::importer::Importer;
use crate::resolve::javascript::is_relative;
use crate::resolve::keys::KeySpace;
use crate::resolve::manifests::glob::{Stop, matches};
use crate::resolve::paths::{folder, is_within, joined};

/// Most patterns that the braces of one pattern stand for.
const MAX_CHOICES: usize = 64;
/// The work of a file that matches, in lookups: it bounds the edges of a graph.
const MATCH_WORK: usize = 32;
/// This many steps of comparing a pattern with a path count as one lookup.
const STEPS_PER_LOOKUP: usize = 256;

impl Importer<'_> {
    /// The files that `pattern` matches and no line of `exclusions` does.
    pub(crate) fn files_of_glob(&mut self, pattern: &str, exclusions: Option<&str>) -> Result<Vec<FileId>, Reason> {
        let patterns = self.patterns(pattern)?;
        let mut excluded = Vec::new();
        for line in exclusions.unwrap_or_default().lines() {
            // The exclusions of an unsupported pattern are unknown.
            excluded.extend(self.patterns(line)?);
        }
        let mut files = Vec::new();
        for pattern in patterns {
            self.match_files(&pattern, &excluded, &mut files);
        }
        files.sort_unstable();
        files.dedup();
        if files.is_empty() {
            Err(Reason::Missing)
        } else {
            Ok(files)
        }
    }

    /// The patterns, relative to the repository, that `pattern` stands for.
    fn patterns(&mut self, pattern: &str) -> Result<Vec<String>, Reason> {
        if pattern.contains(['(', '[', '\\']) {
            return Err(Reason::Invalid);
        }
        let context = self.context;
        let package = context.package.as_ref().map_or("", |package| &package.folder);
        let configured = context.aliases.iter().find_map(|aliases| aliases.root.as_deref());
        // The config of Vite that governs a package may be that of the whole repository.
        let root = configured.filter(|root| is_within(root, package)).unwrap_or(package);
        let mut patterns = Vec::new();
        for choice in choices(pattern).ok_or(Reason::Invalid)? {
            self.trace.charge_text(choice.len());
            if is_relative(&choice) {
                patterns.push(joined(folder(self.from), &choice).ok_or(Reason::OutsideRepository)?);
            } else if choice.starts_with('/') {
                patterns.extend(joined(root, &choice));
            } else if choice.starts_with("**") {
                patterns.extend(joined(package, &choice));
            } else {
                patterns.extend(self.resolve_alias(&choice)?);
            }
        }
        Ok(patterns)
    }

    /// The patterns that the alias at the start of `pattern` stands for.
    fn resolve_alias(&mut self, pattern: &str) -> Result<Vec<String>, Reason> {
        let context = self.context;
        let of_options = context.options.iter().map(|options| &*options.paths);
        for paths in of_options.chain(context.aliases.iter().flat_map(|aliases| aliases.all_paths())) {
            self.trace.charge_list(paths.len());
            if let Some((targets, matched)) = best_pattern(paths, pattern) {
                let targets = targets.iter().map(|target| target.replacen('*', matched, 1));
                return Ok(targets.filter_map(|target| joined("", &target)).collect());
            }
        }
        Err(Reason::External)
    }

    fn match_files(&mut self, pattern: &str, excluded: &[String], files: &mut Vec<FileId>) {
        let Some(wildcard) = pattern.find(['*', '?']) else {
            files.extend(self.table.file(pattern, self.trace));
            return;
        };
        let table = self.table;
        let base = folder(&pattern[..wildcard]);
        let relative = pattern[base.len()..].trim_start_matches('/');
        let ending = literal_ending(relative);
        let names_hidden = relative.starts_with('.') || relative.contains("/.");
        self.trace.push(table.keys().of_named(KeySpace::GlobFolders, base));
        for (path, file) in table.files_below(base) {
            if self.trace.is_spent() {
                return;
            }
            let rest = path[base.len()..].trim_start_matches('/');
            self.trace.charge(1 + relative.len() * rest.len() / STEPS_PER_LOOKUP);
            let is_left_out = |part: &str| part == "node_modules" || (!names_hidden && part.starts_with('.'));
            if !rest.ends_with(ending) || !matches(relative, rest, Stop::AtEnd) || rest.split('/').any(is_left_out) {
                continue;
            }
            self.trace.charge_list(8 * excluded.len());
            if !excluded.iter().any(|excluded| matches(excluded, path, Stop::AtEnd)) {
                self.trace.charge(MATCH_WORK);
                files.push(file);
            }
        }
    }
}

/// The suffix of each path that `pattern` matches: most files below a folder are excluded by that alone.
fn literal_ending(pattern: &str) -> &str {
    let last = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    last.rfind(['*', '?', '{', '}'])
        .map_or(last, |wildcard| &last[wildcard + 1..])
}

/// The patterns that `{a,b}` stands for, which may be nested; `None` if there are too many.
fn choices(pattern: &str) -> Option<Vec<String>> {
    let mut pending = vec![pattern.to_owned()];
    let mut expanded = Vec::new();
    while let Some(pattern) = pending.pop() {
        if pending.len() + expanded.len() > MAX_CHOICES {
            return None;
        }
        // The innermost braces: nothing is open between them.
        let close = pattern.find('}');
        let open = close.and_then(|close| pattern[..close].rfind('{'));
        let (Some(open), Some(close)) = (open, close) else {
            expanded.push(pattern);
            continue;
        };
        let (before, after) = (&pattern[..open], &pattern[close + 1..]);
        pending.extend(
            pattern[open + 1..close]
                .split(',')
                .map(|choice| format!("{before}{choice}{after}")),
        );
    }
    // In `{a,b{c,d}}`, each choice of the inner braces repeats `a`.
    expanded.sort_unstable();
    expanded.dedup();
    Some(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_expand_to_choices_up_to_a_bound() {
        let all = |pattern: &str| Some(choices(pattern)?.join(" "));
        assert_eq!(all("a/*.{js,ts}").as_deref(), Some("a/*.js a/*.ts"));
        assert_eq!(all("{a,b{c,d}}/{e,}").as_deref(), Some("a/ a/e bc/ bc/e bd/ bd/e"));
        assert_eq!(all("a}{b").as_deref(), Some("a}{b"));
        assert_eq!(all(&"{a,b}".repeat(20)), None);
    }

    #[test]
    fn a_matching_path_has_the_literal_ending() {
        for (pattern, ending, path) in [
            ("**/*.tsx", ".tsx", "a/b.tsx"),
            ("**/index.ts", "index.ts", "index.ts"),
            ("*/i?x.js", "x.js", "a/iax.js"),
            ("a/**", "", "a/b/c"),
            ("**/a/", "a", "b/a"),
            ("*", "", "a"),
        ] {
            assert_eq!(literal_ending(pattern), ending, "{pattern}");
            assert!(
                matches(pattern, path, Stop::AtEnd) && path.ends_with(ending),
                "{pattern} {path}"
            );
        }
    }
}
