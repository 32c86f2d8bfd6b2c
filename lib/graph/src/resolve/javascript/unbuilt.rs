//! Sources of files that a build has not written yet.
//!
//! The graph sees a workspace before any build, but its packages name files in `dist`. The package's own tsconfig names
//! the folders of their sources; otherwise, conventional folders are searched. Paths that `exports` and `imports` name
//! under unmet conditions are not sources: they are for other importers.

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

/// Folders that builds write to if a manifest names a file in them; otherwise they may contain sources.
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

/// Deepest nesting of folders of an output folder, one for each format: `dist/esm/types/x.js`.
const MAX_FORMATS: usize = 3;

/// The targets of one entry of `exports` or `imports`.
#[derive(Default)]
struct Branches {
    /// The targets of conditions that hold.
    active: Vec<String>,
    /// Sources, under conditions that are specific to the repository (`source`, `@scope/source`).
    sources: Vec<String>,
    /// All other targets.
    inactive: Vec<String>,
}

impl Branches {
    fn new(target: &Json, matched: &str, conditions: &[Conditions<'_>], trace: &mut Trace) -> Self {
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
        let active: Vec<String> = conditions.iter().flat_map(|set| list(Some(*set))).collect();
        let in_repository = conditions.first().map(|set| Conditions {
            repository: true,
            ..*set
        });
        let mut sources = in_repository.map_or_else(Vec::new, |set| list(Some(set)));
        let mut inactive = list(None);
        trace.charge_list((active.len() + sources.len()) * inactive.len());
        sources.retain(|target| is_source(target) && !active.contains(target));
        inactive.retain(|target| !active.contains(target) && !sources.contains(target));
        Branches {
            active,
            sources,
            inactive,
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

/// Whether builds do not process a file with this name. It may belong to an inactive branch.
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
    /// The source of `subpath` (`""` for the package itself), under `conditions`, the best first.
    pub(super) fn of_entry(&mut self, subpath: &str, conditions: &[Conditions<'_>], require: bool) -> Option<FileId> {
        let manifest = &self.package.manifest;
        let key = exports_key(subpath);
        let exported = manifest.exports_target(&key);
        let branches = exported.map(|(target, matched)| Branches::new(target, matched, conditions, self.trace));
        let branches = branches.unwrap_or_default();
        let inactive = self.paths(&branches.inactive);
        if !subpath.is_empty()
            && let Some(file) = self.tracked_file(&key, &inactive)
        {
            return Some(file);
        }
        if let Some(file) = self.of_branches(&branches, &inactive) {
            return Some(file);
        }
        if !subpath.is_empty() {
            let usual = [format!("src/{subpath}"), subpath.to_owned()];
            return self
                .of_target(&key, &inactive)
                .or_else(|| usual.iter().find_map(|path| self.at(path, &inactive)));
        }
        let fields = [
            manifest.source.as_ref(),
            manifest.types.as_ref(),
            manifest.module.as_ref().filter(|_| !require || exported.is_none()),
            manifest.main.as_ref().filter(|_| require || exported.is_none()),
        ];
        let fields: Vec<&String> = fields.into_iter().flatten().collect();
        // If there are `exports`, the fields do not name the entry itself, but may lead to its source.
        let direct = if exported.is_none() { &fields[..] } else { &[] };
        let file = direct
            .iter()
            .find_map(|target| self.tracked_file(target, &inactive))
            .or_else(|| fields.iter().find_map(|target| self.of_target(target, &inactive)));
        let table = self.table;
        let may_be_source = |file: &FileId| exported.is_none() || !is_finished(table.path(*file));
        file.or_else(|| {
            let mut usual = ["src/index", "index", "src/main", "lib/index"].iter();
            usual.find_map(|path| self.at(path, &inactive).filter(may_be_source))
        })
    }

    /// The source of a target of `imports`, under `conditions`, the best first.
    pub(super) fn of_import(&mut self, target: &Json, matched: &str, conditions: &[Conditions<'_>]) -> Option<FileId> {
        let branches = Branches::new(target, matched, conditions, self.trace);
        let inactive = self.paths(&branches.inactive);
        self.of_branches(&branches, &inactive)
    }

    /// The source of the file at `path`, which is in the package's output, for an importer outside it.
    pub(super) fn of_output(&mut self, path: &str, importer: &str) -> Option<FileId> {
        let folder = &self.package.folder;
        let target = path.get(folder.len()..)?.trim_start_matches('/');
        let first = target.split('/').next()?;
        let is_conventional = OUTPUTS.contains(&first) && !is_within(importer, &joined(folder, first)?);
        let is_configured = |(output, _): &(String, String)| is_within(path, output) && !is_within(importer, output);
        if is_conventional || self.package.output_folders.iter().any(is_configured) {
            let table = self.table;
            self.of_target(target, &[])
                .filter(|file| !is_finished(table.path(*file)))
        } else {
            None
        }
    }

    fn of_branches(&mut self, branches: &Branches, inactive: &[String]) -> Option<FileId> {
        let sources = &branches.sources;
        branches
            .active
            .iter()
            .find_map(|target| self.of_target(target, inactive))
            .or_else(|| sources.iter().find_map(|target| self.tracked_file(target, inactive)))
    }

    fn paths(&self, targets: &[String]) -> Vec<String> {
        targets.iter().filter_map(|target| self.package.path(target)).collect()
    }

    /// The tracked file that `target` names.
    fn tracked_file(&mut self, target: &str, inactive: &[String]) -> Option<FileId> {
        let path = self.package.path(target)?;
        let file = self.table.file(&path, self.trace)?;
        self.exclude_inactive(file, inactive)
    }

    /// `file`, unless it is one of the `inactive` ones.
    fn exclude_inactive(&mut self, file: FileId, inactive: &[String]) -> Option<FileId> {
        self.trace.charge_list(inactive.len());
        let path = self.table.path(file);
        (!inactive.iter().any(|inactive| inactive == path)).then_some(file)
    }

    /// The source of one file that the package names.
    fn of_target(&mut self, target: &str, inactive: &[String]) -> Option<FileId> {
        let path = self.package.path(target)?;
        for (output, source) in &self.package.output_folders {
            if is_within(&path, output)
                && let Some(rest) = path.get(output.len()..)
                && let Some(moved) = joined(source, rest)
                && let Some(file) = self.at_path(&moved, inactive)
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
                if let Some(file) = self.at(&format!("{folder}/{rest}"), inactive) {
                    return Some(file);
                }
            }
            rest = rest.split_once('/')?.1;
        }
        None
    }

    /// [`Self::at_path`] of a path within the package.
    fn at(&mut self, relative: &str, inactive: &[String]) -> Option<FileId> {
        self.at_path(&self.package.path(relative)?, inactive)
    }

    /// The file at `path`, or the source from which a build would create it.
    fn at_path(&mut self, path: &str, inactive: &[String]) -> Option<FileId> {
        if let Some(file) = self.table.file(path, self.trace) {
            return self.exclude_inactive(file, inactive);
        }
        let stem = Extension::split(path).map_or(path, |(stem, _)| stem);
        let mut source = |stem: &str| {
            let files = self.table.siblings(stem, self.trace)?;
            let mut candidates = SOURCES.iter().filter_map(|extension| files.first(&[*extension]));
            candidates.find_map(|file| self.exclude_inactive(file, inactive))
        };
        source(stem)
            .or_else(|| if stem.len() < path.len() { source(path) } else { None })
            .or_else(|| source(&format!("{stem}/index")))
    }
}
