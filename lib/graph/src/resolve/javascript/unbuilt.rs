//! Sources of files that a build has not written yet.
//!
//! A workspace is read as tracked, before any build, and its packages name files in `dist`. The package's own tsconfig names
//! the folders of their sources, or else convention does.

use crate::file::FileId;
use crate::resolve::extension::Extension;
use crate::resolve::keys::Trace;
use crate::resolve::manifests::package_json::exports_key;
use crate::resolve::manifests::package_targets::{Conditions, visit_targets};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{is_within, joined};
use crate::resolve::projects::package::Package;

/// Extensions of sources, best first.
const SOURCES: &[Extension] = &[
    Extension::Ts,
    Extension::Tsx,
    Extension::Mts,
    Extension::Cts,
    Extension::Js,
    Extension::Jsx,
    Extension::Mjs,
    Extension::Cjs,
    Extension::Dts,
    Extension::Dmts,
    Extension::Dcts,
];

/// Folders that builds write to.
const OUTPUTS: &[&str] = &[
    "dist",
    "lib",
    "build",
    "out",
    "es",
    "esm",
    "cjs",
    "umd",
    "types",
    "typings",
    "output",
    ".output",
    "_esm",
    "release",
    "prod",
    "dev",
    "development",
    "production",
];

/// Folders of sources, below the package.
const SOURCE_FOLDERS: [&str; 4] = ["src", "", "lib", "source"];

/// The source of `subpath` of `package` (`""` for the package itself). Targets under the first conditions of `held` count
/// first, then those under the next, then any.
pub(crate) fn entry<'a>(
    table: &PathTable,
    package: &Package,
    subpath: &str,
    mut held: impl Iterator<Item = Conditions<'a>>,
    trace: &mut Trace,
) -> Option<FileId> {
    let manifest = &package.manifest;
    let key = exports_key(subpath);
    let exported = manifest.exported(&key);
    let by_condition = exported.and_then(|(target, matched)| {
        held.find_map(|conditions| {
            visit_targets(target, matched, Some(conditions), &mut |target| {
                source_of(table, package, target, trace)
            })
        })
    });
    if by_condition.is_some() {
        return by_condition;
    }
    let mut targets: Vec<String> = Vec::new();
    if let Some((target, matched)) = exported {
        visit_targets(target, matched, None, &mut |target| {
            targets.push(target.to_owned());
            None::<()>
        });
    }
    if subpath.is_empty() {
        let fields = [&manifest.source, &manifest.types, &manifest.module, &manifest.main];
        targets.extend(fields.into_iter().flatten().cloned());
    } else {
        targets.push(key);
    }
    let tracked = targets
        .iter()
        .filter_map(|target| package.path(target))
        .find_map(|path| table.file(&path, trace));
    if tracked.is_some() {
        return tracked;
    }
    if let Some(file) = targets
        .iter()
        .find_map(|target| source_of(table, package, target, trace))
    {
        return Some(file);
    }
    let usual: &[&str] = &["src/index", "index", "src/main", "lib/index"];
    if subpath.is_empty() {
        return usual
            .iter()
            .find_map(|path| source_at(table, &package.path(path)?, trace));
    }
    [format!("src/{subpath}"), subpath.to_owned()]
        .iter()
        .find_map(|path| source_at(table, &package.path(path)?, trace))
}

/// The source of one file that a package names.
pub(crate) fn source_of(table: &PathTable, package: &Package, target: &str, trace: &mut Trace) -> Option<FileId> {
    let path = package.path(target)?;
    for (output, source) in &package.built_from {
        if is_within(&path, output)
            && let Some(rest) = path.get(output.len()..)
            && let Some(moved) = joined(source, rest)
            && let Some(file) = source_at(table, &moved, trace)
        {
            return Some(file);
        }
    }
    let relative = joined("", target)?;
    let mut rest = relative.as_str();
    if !OUTPUTS.contains(&rest.split('/').next()?) {
        return None;
    }
    // `dist` may have a folder for each format: `dist/esm/types/x.js`.
    for _ in 0..3 {
        rest = rest.split_once('/')?.1;
        for folder in SOURCE_FOLDERS {
            if let Some(path) = package.path(&format!("{folder}/{rest}"))
                && let Some(file) = source_at(table, &path, trace)
            {
                return Some(file);
            }
        }
    }
    None
}

/// The file at `path`, or the source from which a build would make it.
fn source_at(table: &PathTable, path: &str, trace: &mut Trace) -> Option<FileId> {
    if let Some(file) = table.file(path, trace) {
        return Some(file);
    }
    let stem = Extension::split(path).map_or(path, |(stem, _)| stem);
    let mut source = |stem: &str| table.siblings(stem, trace)?.first(SOURCES);
    source(stem)
        .or_else(|| if stem.len() < path.len() { source(path) } else { None })
        .or_else(|| source(&format!("{stem}/index")))
}
