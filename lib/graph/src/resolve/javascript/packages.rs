//! Package names -> files, by `exports`, `imports` and `main`.

use crate::file::FileId;
use crate::resolution::{Reason, Resolution};
use crate::resolve::javascript::aliases::best_pattern;
use crate::resolve::javascript::files::{MAX_DEPTH, is_declaration, is_script};
use crate::resolve::javascript::importer::{Form, Importer};
use crate::resolve::javascript::unbuilt::Sources;
use crate::resolve::keys::KeySpace;
use crate::resolve::manifests::dependency::split_package_name;
use crate::resolve::manifests::json::Json;
use crate::resolve::manifests::package_json::exports_key;
use crate::resolve::manifests::package_targets::{Conditions, has_branch, visit_targets};
use crate::resolve::manifests::tsconfig::Mode;
use crate::resolve::paths::{around, below, folder, joined};
use crate::resolve::projects::context::Context;
use crate::resolve::projects::package::Package;

/// How the entries of packages are found: the conditions, and whether `exports` counts.
#[derive(Clone, Copy)]
pub(super) struct Lookup {
    mode: Mode,
    require: bool,
    browser: bool,
    /// Whether to resolve as at run time: no declarations, no `types`.
    runtime: bool,
}

impl Importer<'_> {
    /// The target of `#x`, by the `imports` of the nearest package.
    pub(super) fn resolve_by_imports(&mut self, text: &str) -> Option<FileId> {
        let context = self.context;
        let package = context.package.as_ref()?;
        self.trace.charge_list(package.manifest.entry_count());
        let (target, matched) = package.manifest.imports_target(text)?;
        let lookups = self.lookups();
        for lookup in lookups.into_iter().chain(self.fallback_lookup(target)) {
            let file = visit_targets(target, matched, Some(conditions(context, lookup)), &mut |target| {
                if target.starts_with('.') {
                    return self.load_target(&package.path(target)?, lookup.runtime);
                }
                let (name, subpath) = split_package_name(target)?;
                match self.resolve_package(name, subpath) {
                    Resolution::File(file) => Some(file),
                    Resolution::Unresolved(_) => None,
                }
            });
            if file.is_some() {
                return file;
            }
        }
        let lookups = lookups.into_iter().chain(self.fallback_lookup(target));
        let conditions: Vec<_> = lookups.map(|lookup| conditions(context, lookup)).collect();
        self.sources(package).of_import(target, matched, &conditions)
    }

    /// The target of `subpath` of the package `name`. If it has none, the target in the package of its types.
    pub(super) fn resolve_package(&mut self, name: &str, subpath: &str) -> Resolution {
        let outcome = self.resolve_package_itself(name, subpath);
        if let Resolution::Unresolved(_) = outcome
            && let Some(types_name) = types_package(name)
            && let types @ Resolution::File(_) = self.resolve_package_itself(&types_name, subpath)
        {
            return types;
        }
        outcome
    }

    fn resolve_package_itself(&mut self, name: &str, subpath: &str) -> Resolution {
        self.trace
            .push(self.table.keys().of_named(KeySpace::PackageNames, name));
        let own = self
            .context
            .package
            .as_ref()
            .filter(|package| package.manifest.name.as_deref() == Some(name) && package.manifest.exports.is_some());
        let linked = self.projects.package_named(name, folder(self.from), self.trace);
        let packages = [
            own,
            linked.filter(|linked| own.is_none_or(|own| own.folder != linked.folder)),
        ];
        let mut is_known = false;
        for package in packages.into_iter().flatten() {
            is_known = true;
            if let Some(file) = self.load_entry(package, subpath) {
                return Resolution::File(file);
            }
        }
        let reason = if is_known { Reason::NoEntry } else { Reason::External };
        Resolution::of(self.bare_module(name, subpath), reason)
    }

    /// A file or folder without a manifest in a tracked `node_modules`, nearest first.
    fn bare_module(&mut self, name: &str, subpath: &str) -> Option<FileId> {
        let module_folders = self.projects.module_folders(self.table.keys(), self.trace);
        if module_folders.is_empty() {
            return None;
        }
        for dir in around(folder(self.from)) {
            if self.trace.is_spent() {
                break;
            }
            self.trace.charge(1);
            self.trace.charge_text(dir.len());
            if module_folders.contains(dir) {
                let path = below(&below(&below(dir, "node_modules"), name), subpath);
                if let Some(file) = self.load(&path, MAX_DEPTH) {
                    return Some(file);
                }
            }
        }
        None
    }

    fn load_entry(&mut self, package: &Package, subpath: &str) -> Option<FileId> {
        // Some lookups in `exports` follow, one for each mode.
        self.trace.charge_list(4 * package.manifest.entry_count());
        let lookups = self.lookups();
        let entry = lookups
            .iter()
            .find_map(|lookup| self.entry_for_importer(package, subpath, *lookup));
        if entry.is_some() || package.manifest.forbids(subpath) {
            return entry;
        }
        let key = exports_key(subpath);
        let fallback = package
            .manifest
            .exports_target(&key)
            .and_then(|(target, _)| self.fallback_lookup(target));
        fallback
            .and_then(|lookup| self.entry_for_importer(package, subpath, lookup))
            .or_else(|| self.unbuilt_entry(package, subpath, fallback))
    }

    /// The source of an entry that is not built. `fallback` is the lookup to try after [`Self::lookups`].
    pub(super) fn unbuilt_entry(
        &mut self,
        package: &Package,
        subpath: &str,
        fallback: Option<Lookup>,
    ) -> Option<FileId> {
        let context = self.context;
        // `exports` does not count in every mode.
        let lookups = self.lookups().into_iter().chain(fallback);
        let lookups = lookups.filter(|lookup| lookup.mode != Mode::Node10);
        let conditions: Vec<_> = lookups.map(|lookup| conditions(context, lookup)).collect();
        let require = self.form == Form::Require;
        self.sources(package).of_entry(subpath, &conditions, require)
    }

    pub(super) fn sources<'s>(&'s mut self, package: &'s Package) -> Sources<'s> {
        Sources {
            table: self.table,
            package,
            trace: self.trace,
        }
    }

    /// First as the config says, then as a bundler does.
    fn lookups(&self) -> [Lookup; 2] {
        let options = self.context.options.as_ref();
        let mode = options.map_or(Mode::Bundler, |options| options.mode);
        [mode, Mode::Bundler].map(|mode| Lookup {
            mode,
            require: self.form != Form::Import,
            browser: false,
            runtime: false,
        })
    }

    /// The lookup of an import, of Node or of a browser, whichever has conditions that hold in `target`. `None` if
    /// those of [`Self::lookups`] hold there, even for files that do not exist.
    fn fallback_lookup(&self, target: &Json) -> Option<Lookup> {
        let holds = |lookup: &Lookup| has_branch(target, conditions(self.context, *lookup));
        let [configured, bundler] = self.lookups();
        if holds(&configured) || holds(&bundler) {
            return None;
        }
        let import = Lookup {
            require: self.form == Form::Require,
            ..bundler
        };
        let node = Lookup {
            mode: Mode::Node,
            ..import
        };
        let browser = Lookup {
            browser: true,
            ..import
        };
        [import, node, browser].into_iter().find(holds)
    }

    /// [`Self::entry`]; if the importer is a script, the file that runs and not its declaration.
    fn entry_for_importer(&mut self, package: &Package, subpath: &str, lookup: Lookup) -> Option<FileId> {
        let file = self.entry(package, subpath, lookup)?;
        if !is_script(self.from) || !is_declaration(self.table.path(file)) {
            return Some(file);
        }
        let runtime = Lookup {
            mode: Mode::Node,
            runtime: true,
            ..lookup
        };
        self.entry(package, subpath, runtime).or(Some(file))
    }

    fn entry(&mut self, package: &Package, subpath: &str, lookup: Lookup) -> Option<FileId> {
        if package.manifest.exports.is_some() && lookup.mode != Mode::Node10 {
            let key = exports_key(subpath);
            let (target, matched) = package.manifest.exports_target(&key)?;
            let conditions = conditions(self.context, lookup);
            return visit_targets(target, matched, Some(conditions), &mut |target| {
                self.load_target(&package.path(target)?, lookup.runtime)
            });
        }
        let types = self.types_version(package, subpath, lookup);
        types.or_else(|| match subpath {
            "" => self.load_main(package, lookup.runtime, MAX_DEPTH),
            subpath => self.load(&package.path(subpath)?, MAX_DEPTH),
        })
    }

    /// The types of an entry of a package without `exports`, by its `typesVersions`.
    fn types_version(&mut self, package: &Package, subpath: &str, lookup: Lookup) -> Option<FileId> {
        let manifest = &package.manifest;
        if manifest.types_versions.is_empty() || lookup.runtime {
            return None;
        }
        self.trace.charge_list(manifest.types_versions.len());
        let main = manifest.types.as_ref().or(manifest.main.as_ref());
        let path = match subpath {
            "" => joined("", main.map_or("index", String::as_str))?,
            subpath => subpath.to_owned(),
        };
        let (targets, matched) = best_pattern(&manifest.types_versions, &path)?;
        self.first_target(&package.folder, targets, matched, &mut |this, path| {
            this.load(path, MAX_DEPTH)
        })
    }

    /// A target of `exports` or `imports`: a file name with extension.
    fn load_target(&mut self, path: &str, runtime: bool) -> Option<FileId> {
        if runtime {
            return self
                .table
                .file(path, self.trace)
                .filter(|file| !is_declaration(self.table.path(*file)));
        }
        self.load_by_extension(path).or_else(|| self.load_exact(path))
    }
}

/// The package with the types of package `name`: `@types/x`, `@types/scope__x`.
fn types_package(name: &str) -> Option<String> {
    match name.strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some(("types", _)) => None,
        Some((scope, name)) => Some(format!("@types/{scope}__{name}")),
        None => Some(format!("@types/{name}")),
    }
}

fn conditions(context: &Context, lookup: Lookup) -> Conditions<'_> {
    Conditions {
        require: lookup.require,
        types: !lookup.runtime,
        node: lookup.mode == Mode::Node,
        browser: lookup.browser,
        repository: false,
        custom: context.options.as_ref().map_or(&[], |options| &options.conditions),
    }
}
