//! Sources of files that a build has not written yet.
//!
//! A workspace is read as tracked, before any build, and its packages name files in `dist`. The package's own tsconfig names
//! the folders of their sources, or else convention does. Paths that `exports` and `imports` name under unmet conditions are
//! not sources: they are for other importers.

use crate::file::FileId;
use crate::resolve::extension::Extension;
use crate::resolve::javascript::files::is_declaration;
use crate::resolve::keys::Trace;
use crate::resolve::manifests::json::Json;
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
    "dist", "lib", "build", "out", "es", "esm", "cjs", "umd", "output", ".output", "_esm",
];

/// Folders that builds write to where a manifest says so; otherwise they may have sources.
const NAMED_OUTPUTS: &[&str] = &[
    "types",
    "typings",
    "release",
    "prod",
    "dev",
    "development",
    "production",
];

/// Folders of sources, below the package.
const SOURCE_FOLDERS: [&str; 4] = ["src", "", "lib", "source"];

/// Most formats that an output folder has a folder for, one in the other: `dist/esm/types/x.js`.
const MAX_FORMATS: usize = 3;

/// The targets of one entry of `exports` or `imports`.
#[derive(Default)]
struct Branches {
    /// Those of conditions that hold.
    meant: Vec<String>,
    /// Sources, under conditions that only the repository itself knows (`source`, `@scope/source`).
    sources: Vec<String>,
    refused: Vec<String>,
}

impl Branches {
    fn new(target: &Json, matched: &str, held: &[Conditions<'_>], trace: &mut Trace) -> Self {
        let mut list = |conditions| {
            let mut targets = Vec::new();
            visit_targets(target, matched, conditions, &mut |target| {
                trace.charge(1);
                trace.charge_text(target.len());
                targets.push(target.to_owned());
                None::<()>
            });
            targets
        };
        let meant: Vec<String> = held.iter().flat_map(|conditions| list(Some(*conditions))).collect();
        let own = held.first().map(|conditions| Conditions {
            own: true,
            ..*conditions
        });
        let mut sources = own.map_or_else(Vec::new, |own| list(Some(own)));
        let mut refused = list(None);
        trace.charge_list((meant.len() + sources.len()) * refused.len());
        sources.retain(|target| is_source(target) && !meant.contains(target));
        refused.retain(|target| !meant.contains(target) && !sources.contains(target));
        Branches {
            meant,
            sources,
            refused,
        }
    }
}

fn is_source(target: &str) -> bool {
    let extension = Extension::split(target).map(|(_, extension)| extension);
    matches!(
        extension,
        Some(Extension::Ts | Extension::Tsx | Extension::Mts | Extension::Cts)
    )
}

/// Whether no build makes anything of a file with this name, which may belong to a branch that is refused.
fn is_finished(path: &str) -> bool {
    is_declaration(path) || path.ends_with(".cjs")
}

/// The sources of one package.
pub(super) struct Sources<'a> {
    pub(super) table: &'a PathTable,
    pub(super) package: &'a Package,
    pub(super) trace: &'a mut Trace,
}

impl Sources<'_> {
    /// The source of `subpath` (`""` for the package itself), under the conditions of `held`, the best first.
    pub(super) fn of_entry(&mut self, subpath: &str, held: &[Conditions<'_>], require: bool) -> Option<FileId> {
        let manifest = &self.package.manifest;
        let key = exports_key(subpath);
        let exported = manifest.exported(&key);
        let branches = exported.map(|(target, matched)| Branches::new(target, matched, held, self.trace));
        let branches = branches.unwrap_or_default();
        let refused = self.paths(&branches.refused);
        if !subpath.is_empty()
            && let Some(file) = self.tracked(&key, &refused)
        {
            return Some(file);
        }
        if let Some(file) = self.of_branches(&branches, &refused) {
            return Some(file);
        }
        if !subpath.is_empty() {
            let usual = [format!("src/{subpath}"), subpath.to_owned()];
            return self
                .of_target(&key, &refused)
                .or_else(|| usual.iter().find_map(|path| self.at(path, &refused)));
        }
        let fields = [
            manifest.source.as_ref(),
            manifest.types.as_ref(),
            manifest.module.as_ref().filter(|_| !require || exported.is_none()),
            manifest.main.as_ref().filter(|_| require || exported.is_none()),
        ];
        let fields: Vec<&String> = fields.into_iter().flatten().collect();
        // Where there are `exports`, nothing else names a file that is meant.
        let named = if exported.is_none() { &fields[..] } else { &[] };
        let found = named
            .iter()
            .find_map(|target| self.tracked(target, &refused))
            .or_else(|| fields.iter().find_map(|target| self.of_target(target, &refused)));
        let table = self.table;
        let is_usual = |file: &FileId| exported.is_none() || !is_finished(table.path(*file));
        found.or_else(|| {
            let mut usual = ["src/index", "index", "src/main", "lib/index"].iter();
            usual.find_map(|path| self.at(path, &refused).filter(is_usual))
        })
    }

    /// The source of a target of `imports`, under the conditions of `held`, the best first.
    pub(super) fn of_import(&mut self, target: &Json, matched: &str, held: &[Conditions<'_>]) -> Option<FileId> {
        let branches = Branches::new(target, matched, held, self.trace);
        let refused = self.paths(&branches.refused);
        self.of_branches(&branches, &refused)
    }

    /// The source of the file at `path`, which is in the package's output, for an importer that is not.
    pub(super) fn of_output(&mut self, path: &str, importer: &str) -> Option<FileId> {
        let folder = &self.package.folder;
        let target = path.get(folder.len()..)?.trim_start_matches('/');
        let first = target.split('/').next()?;
        let is_conventional = OUTPUTS.contains(&first) && !is_within(importer, &joined(folder, first)?);
        let is_configured = |(output, _): &&(String, String)| is_within(path, output) && !is_within(importer, output);
        if is_conventional || self.package.built_from.iter().any(|pair| is_configured(&pair)) {
            let table = self.table;
            self.of_target(target, &[])
                .filter(|file| !is_finished(table.path(*file)))
        } else {
            None
        }
    }

    fn of_branches(&mut self, branches: &Branches, refused: &[String]) -> Option<FileId> {
        let sources = &branches.sources;
        branches
            .meant
            .iter()
            .find_map(|target| self.of_target(target, refused))
            .or_else(|| sources.iter().find_map(|target| self.tracked(target, refused)))
    }

    fn paths(&self, targets: &[String]) -> Vec<String> {
        targets.iter().filter_map(|target| self.package.path(target)).collect()
    }

    /// The tracked file that `target` names.
    fn tracked(&mut self, target: &str, refused: &[String]) -> Option<FileId> {
        let path = self.package.path(target)?;
        let file = self.table.file(&path, self.trace)?;
        self.unless_refused(file, refused)
    }

    fn unless_refused(&mut self, file: FileId, refused: &[String]) -> Option<FileId> {
        self.trace.charge_list(refused.len());
        let path = self.table.path(file);
        (!refused.iter().any(|refused| refused == path)).then_some(file)
    }

    /// The source of one file that the package names.
    fn of_target(&mut self, target: &str, refused: &[String]) -> Option<FileId> {
        let path = self.package.path(target)?;
        for (output, source) in &self.package.built_from {
            if is_within(&path, output)
                && let Some(rest) = path.get(output.len()..)
                && let Some(moved) = joined(source, rest)
                && let Some(file) = self.at_path(&moved, refused)
            {
                return Some(file);
            }
        }
        let relative = joined("", target)?;
        let first = relative.split('/').next()?;
        if !OUTPUTS.contains(&first) && !NAMED_OUTPUTS.contains(&first) {
            return None;
        }
        let mut rest = relative.split_once('/').map_or("index", |(_, rest)| rest);
        for _ in 0..MAX_FORMATS {
            for folder in SOURCE_FOLDERS {
                if let Some(file) = self.at(&format!("{folder}/{rest}"), refused) {
                    return Some(file);
                }
            }
            rest = rest.split_once('/')?.1;
        }
        None
    }

    /// [`Self::at_path`] of a path within the package.
    fn at(&mut self, relative: &str, refused: &[String]) -> Option<FileId> {
        self.at_path(&self.package.path(relative)?, refused)
    }

    /// The file at `path`, or the source from which a build would make it.
    fn at_path(&mut self, path: &str, refused: &[String]) -> Option<FileId> {
        if let Some(file) = self.table.file(path, self.trace) {
            return self.unless_refused(file, refused);
        }
        let stem = Extension::split(path).map_or(path, |(stem, _)| stem);
        let mut source = |stem: &str| {
            let files = self.table.siblings(stem, self.trace)?;
            let mut known = SOURCES.iter().filter_map(|extension| files.first(&[*extension]));
            known.find_map(|file| self.unless_refused(file, refused))
        };
        source(stem)
            .or_else(|| if stem.len() < path.len() { source(path) } else { None })
            .or_else(|| source(&format!("{stem}/index")))
    }
}
