//! JavaScript and TypeScript: specifiers -> files, as TypeScript resolves them under the config that governs the file,
//! then as bundlers do (assets, `?query`), then by the source of what is not built yet.
//!
//! Where a declaration has its implementation beside it (`x.d.ts`, `x.js`), the implementation is meant: that is the
//! file whose change reaches the importer.

use super::super::FileId;
use super::super::scan::ImportKind;
use super::package::{Conditions, Package, matched_by, visit_targets};
use super::path_table::{Extension, PathTable, Trace, folder, is_within, join};
use super::projects::{Context, PACKAGE_NAMES, Projects, split_package_name};
use super::tsconfig::{Mode, Options, Patterns};
use super::unbuilt;
use super::{Outcome, Reason};

/// What a written extension may stand for, best first.
const SCRIPT: &[Extension] = &[
    Extension::Ts,
    Extension::Tsx,
    Extension::Js,
    Extension::Jsx,
    Extension::Dts,
];
const MARKUP: &[Extension] = &[
    Extension::Tsx,
    Extension::Ts,
    Extension::Jsx,
    Extension::Js,
    Extension::Dts,
];
const MODULE: &[Extension] = &[Extension::Mts, Extension::Mjs, Extension::Dmts];
const COMMON: &[Extension] = &[Extension::Cts, Extension::Cjs, Extension::Dcts];

/// Deepest chain of packages that name packages in turn.
const MAX_DEPTH: u8 = 8;

/// One resolution: the file that imports, and what governs it.
pub(super) struct Javascript<'a> {
    pub(super) table: &'a PathTable,
    pub(super) projects: &'a Projects,
    pub(super) context: &'a Context,
    pub(super) from: &'a str,
    pub(super) trace: &'a mut Trace,
    /// For candidate paths, so that most need no allocation.
    pub(super) buffer: &'a mut String,
}

/// How entries of packages are looked up: which conditions, and whether `exports` counts.
#[derive(Clone, Copy)]
struct Lookup {
    mode: Mode,
    require: bool,
    /// As at run time: no declarations, no `types`.
    runtime: bool,
}

/// What `paths` and `baseUrl` say of a specifier.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ByOptions {
    File(FileId),
    /// A pattern of `paths` fits, and none of its targets is there.
    Nowhere,
    /// Nothing.
    Unknown,
}

impl ByOptions {
    fn or(self, other: Self) -> Self {
        if self == ByOptions::Unknown { other } else { self }
    }
}

impl Javascript<'_> {
    /// Where `specifier` leads.
    pub(super) fn resolve(&mut self, specifier: &str, kind: ImportKind) -> Outcome {
        if specifier.is_empty() || memchr::memchr(0, specifier.as_bytes()).is_some() {
            return Outcome::Unresolved(Reason::Invalid);
        }
        let plain = match memchr::memchr2(b'?', b'#', &specifier.as_bytes()[1..]) {
            Some(at) => &specifier[..=at],
            None => specifier,
        };
        if matches!(kind, ImportKind::Url | ImportKind::Reference) {
            return self.resolve_exact(plain);
        }
        let require = matches!(kind, ImportKind::Require | ImportKind::RequireResolve);
        let mut outcome = self.resolve_text(specifier, require);
        if plain.len() < specifier.len() && !matches!(outcome, Outcome::File(_)) {
            outcome = self.resolve_text(plain, require);
        }
        outcome
    }

    /// A path as it stands, from the file's folder.
    fn resolve_exact(&mut self, path: &str) -> Outcome {
        if path.starts_with('/') || path.contains(':') {
            return Outcome::Unresolved(Reason::External);
        }
        if !join(self.buffer, folder(self.from), path) {
            return Outcome::Unresolved(Reason::OutsideRepository);
        }
        match self.table.file(self.buffer, self.trace) {
            Some(file) => Outcome::File(file),
            None => Outcome::Unresolved(Reason::Missing),
        }
    }

    fn resolve_text(&mut self, text: &str, require: bool) -> Outcome {
        if is_relative(text) {
            return self.resolve_relative(text);
        }
        if text.starts_with('/') {
            return Outcome::Unresolved(Reason::External);
        }
        let context = self.context;
        let options = context.options.as_deref();
        let mut by_options = options.map_or(ByOptions::Unknown, |options| self.by_options(options, text));
        if let (Some(framework), ByOptions::Nowhere | ByOptions::Unknown) = (context.framework.as_deref(), by_options) {
            by_options = self.by_paths(framework.paths(), text).or(by_options);
        }
        if let ByOptions::File(file) = by_options {
            return Outcome::File(file);
        }
        if text.starts_with('#') {
            return match self.by_imports(text, require) {
                Some(file) => Outcome::File(file),
                None => Outcome::Unresolved(Reason::Missing),
            };
        }
        if text.contains(':') {
            return Outcome::Unresolved(Reason::External);
        }
        let outcome = match split_package_name(text) {
            Some((name, subpath)) => self.resolve_package(name, subpath, require),
            None => Outcome::Unresolved(Reason::Invalid),
        };
        match outcome {
            Outcome::Unresolved(_) if by_options == ByOptions::Nowhere => Outcome::Unresolved(Reason::Missing),
            outcome => outcome,
        }
    }

    fn resolve_relative(&mut self, text: &str) -> Outcome {
        let mut base = std::mem::take(self.buffer);
        let outcome = if join(&mut base, folder(self.from), text) {
            match self.load_relative(&base, text) {
                Some(file) => Outcome::File(file),
                None => Outcome::Unresolved(Reason::Missing),
            }
        } else {
            Outcome::Unresolved(Reason::OutsideRepository)
        };
        *self.buffer = base;
        outcome
    }

    fn load_relative(&mut self, base: &str, text: &str) -> Option<FileId> {
        let only_folder = matches!(text, "." | "..") || ["/", "/.", "/.."].iter().any(|end| text.ends_with(end));
        let load = |this: &mut Self, path: &str| match only_folder {
            true => {
                // Where a file may stand for the folder, looking for that file has left this key.
                this.trace.keys.push(this.table.keys().of(path));
                this.load_folder(path, MAX_DEPTH)
            }
            false => this.load(path, MAX_DEPTH),
        };
        if let Some(file) = load(self, base) {
            return Some(file);
        }
        let context = self.context;
        let dirs = context.options.as_deref().map_or(&[][..], |options| &options.root_dirs);
        let within = dirs
            .iter()
            .filter(|dir| is_within(base, dir))
            .max_by_key(|dir| dir.len())?;
        let rest = base.get(within.len()..)?.trim_start_matches('/').to_owned();
        dirs.iter()
            .filter(|dir| *dir != within)
            .find_map(|dir| load(self, &below(dir, &rest)))
    }

    /// `paths`, then `baseUrl` where no pattern of `paths` fits.
    fn by_options(&mut self, options: &Options, text: &str) -> ByOptions {
        let by_paths = self.by_paths(&options.paths, text);
        if by_paths != ByOptions::Unknown || by_path_pattern(&options.paths, text).is_some() {
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

    /// The file that a pattern of `paths` leads to.
    fn by_paths(&mut self, paths: &Patterns, text: &str) -> ByOptions {
        let Some((targets, matched)) = by_path_pattern(paths, text) else {
            return ByOptions::Unknown;
        };
        for target in targets {
            if !join(self.buffer, "", &target.replacen('*', matched, 1)) {
                continue;
            }
            let path = std::mem::take(self.buffer);
            let found = match Extension::split(&path) {
                Some(_) => self.table.file(&path, self.trace).map(|file| self.implementation(file)),
                None => None,
            };
            let found = found.or_else(|| self.load(&path, MAX_DEPTH));
            *self.buffer = path;
            if let Some(file) = found {
                return ByOptions::File(file);
            }
        }
        // A pattern that fits everything says nothing, and an alias of what is installed is a package all the same.
        let is_own = matched.len() < text.len() && !targets.iter().any(|target| target.contains("node_modules"));
        if is_own { ByOptions::Nowhere } else { ByOptions::Unknown }
    }

    /// `#x`, by the `imports` of the nearest package.
    fn by_imports(&mut self, text: &str, require: bool) -> Option<FileId> {
        let context = self.context;
        let package = context.package.as_ref()?;
        let (target, matched) = package.manifest.imported(text)?;
        for lookup in self.lookups(require) {
            let found = visit_targets(target, matched, Some(conditions(context, lookup)), &mut |target| {
                if target.starts_with('.') {
                    return self.load_target(&package.path(target)?, lookup.runtime);
                }
                let (name, subpath) = split_package_name(target)?;
                match self.resolve_package(name, subpath, require) {
                    Outcome::File(file) => Some(file),
                    Outcome::Unresolved(_) => None,
                }
            });
            if found.is_some() {
                return found;
            }
        }
        // Nothing of that is built: the source of what holds, else of anything.
        let held = self.lookups(require).map(|lookup| Some(conditions(context, lookup)));
        held.into_iter().chain([None]).find_map(|conditions| {
            visit_targets(target, matched, conditions, &mut |target| {
                unbuilt::source_of(self.table, package, target, self.trace)
            })
        })
    }

    fn resolve_package(&mut self, name: &str, subpath: &str, require: bool) -> Outcome {
        self.trace.keys.push(self.table.keys().of_named(PACKAGE_NAMES, name));
        let own = self
            .context
            .package
            .as_ref()
            .filter(|package| package.manifest.name.as_deref() == Some(name) && package.manifest.exports.is_some());
        let named = self.projects.package_named(name, folder(self.from));
        let packages = [
            own,
            named.filter(|named| own.is_none_or(|own| own.folder != named.folder)),
        ];
        let mut known = false;
        for package in packages.into_iter().flatten() {
            known = true;
            if let Some(file) = self.load_entry(package, subpath, require) {
                return Outcome::File(file);
            }
        }
        if let Some(file) = self.bare_module(name, subpath) {
            return Outcome::File(file);
        }
        Outcome::Unresolved(if known { Reason::NoEntry } else { Reason::External })
    }

    /// A file or folder without a manifest in a tracked `node_modules`, the nearest first.
    fn bare_module(&mut self, name: &str, subpath: &str) -> Option<FileId> {
        let holders = self.projects.module_folders(self.table.keys(), self.trace);
        if holders.is_empty() {
            return None;
        }
        let mut dir = folder(self.from);
        loop {
            if holders.contains(dir) {
                let path = below(&below(&below(dir, "node_modules"), name), subpath);
                if let Some(file) = self.load(&path, MAX_DEPTH) {
                    return Some(file);
                }
            }
            if dir.is_empty() {
                return None;
            }
            dir = folder(dir);
        }
    }

    fn load_entry(&mut self, package: &Package, subpath: &str, require: bool) -> Option<FileId> {
        let lookups = self.lookups(require);
        let mut found = lookups.iter().find_map(|lookup| self.entry(package, subpath, *lookup));
        if is_script(self.from)
            && let Some(file) = found
            && is_declaration(self.table.path(file))
        {
            // A script means what runs, not what describes it.
            let runtime = Lookup {
                mode: Mode::Node,
                require: true,
                runtime: true,
            };
            found = self.entry(package, subpath, runtime).or(found);
        }
        if found.is_none() && !subpath.is_empty() {
            found = package
                .path(subpath)
                .and_then(|path| self.table.file(&path, self.trace));
        }
        let context = self.context;
        // `exports` does not count in every mode.
        let held = lookups.map(|lookup| (lookup.mode != Mode::Node10).then(|| conditions(context, lookup)));
        let held = held.into_iter().flatten();
        found.or_else(|| unbuilt::entry(self.table, package, subpath, held, self.trace))
    }

    /// As the config has it, then as a bundler has it.
    fn lookups(&self, require: bool) -> [Lookup; 2] {
        let mode = self
            .context
            .options
            .as_ref()
            .map_or(Mode::Bundler, |options| options.mode);
        [mode, Mode::Bundler].map(|mode| Lookup {
            mode,
            require,
            runtime: false,
        })
    }

    fn entry(&mut self, package: &Package, subpath: &str, lookup: Lookup) -> Option<FileId> {
        if package.manifest.exports.is_some() && lookup.mode != Mode::Node10 {
            let key = match subpath {
                "" => ".".to_owned(),
                subpath => format!("./{subpath}"),
            };
            let (target, matched) = package.manifest.exported(&key)?;
            let conditions = conditions(self.context, lookup);
            return visit_targets(target, matched, Some(conditions), &mut |target| {
                self.load_target(&package.path(target)?, lookup.runtime)
            });
        }
        if subpath.is_empty() {
            return self.load_main(package, lookup.runtime, MAX_DEPTH);
        }
        self.load(&package.path(subpath)?, MAX_DEPTH)
    }

    /// A target of `exports` or `imports`: a file with its extension.
    fn load_target(&mut self, path: &str, runtime: bool) -> Option<FileId> {
        if runtime {
            return self
                .table
                .file(path, self.trace)
                .filter(|file| !is_declaration(self.table.path(*file)));
        }
        if let Some(file) = self.load_by_extension(path) {
            return Some(file);
        }
        self.table.file(path, self.trace)
    }

    /// The entry of a package without `exports`.
    fn load_main(&mut self, package: &Package, runtime: bool, depth: u8) -> Option<FileId> {
        let manifest = &package.manifest;
        let types = manifest.types.as_ref().filter(|_| !runtime);
        for target in [types, manifest.main.as_ref(), manifest.module.as_ref()]
            .into_iter()
            .flatten()
        {
            if let Some(path) = package.path(target)
                && path != package.folder
                && let Some(file) = self.load(&path, depth.checked_sub(1)?)
            {
                return Some(file);
            }
        }
        self.load_index(&package.folder)
    }

    /// `path` as a file, with another or no extension, or as a folder.
    fn load(&mut self, path: &str, depth: u8) -> Option<FileId> {
        if let Some(file) = self.load_by_extension(path) {
            return Some(file);
        }
        if has_other_extension(path) {
            // `x.css` beside `x.css.d.ts`: the file itself is meant, as with `x.js` beside `x.d.ts`.
            if let Some(file) = self.table.file(path, self.trace) {
                return Some(file);
            }
        }
        if let Some(file) = self.first_of(path, SCRIPT) {
            return Some(file);
        }
        self.load_folder(path, depth)
            .or_else(|| self.table.file(path, self.trace))
            .or_else(|| self.declaration_of_other(path))
    }

    /// `x.d.css.ts`, which describes an `x.css` that is not there.
    fn declaration_of_other(&mut self, path: &str) -> Option<FileId> {
        if !has_other_extension(path) {
            return None;
        }
        let (stem, extension) = path.rsplit_once('.')?;
        self.table.file(&format!("{stem}.d.{extension}.ts"), self.trace)
    }

    /// The first of `order` that is there under `stem`, with one of the suffixes that the config has for modules.
    fn first_of(&mut self, stem: &str, order: &[Extension]) -> Option<FileId> {
        let context = self.context;
        let suffixes = context
            .options
            .as_deref()
            .map_or(&[][..], |options| &options.module_suffixes);
        if suffixes.is_empty() {
            return self.table.siblings(stem, self.trace)?.first(order);
        }
        let suffixed: Vec<_> = suffixes
            .iter()
            .filter_map(|suffix| match suffix.as_str() {
                "" => self.table.siblings(stem, self.trace),
                suffix => self.table.siblings(&format!("{stem}{suffix}"), self.trace),
            })
            .collect();
        let of_extension = |extension| suffixed.iter().find_map(|files| files.first(&[extension]));
        order.iter().copied().find_map(of_extension)
    }

    /// `x.js` is `x.ts` where there is one, and so on.
    fn load_by_extension(&mut self, path: &str) -> Option<FileId> {
        let (stem, extension) = Extension::split(path)?;
        let order = match extension {
            Extension::Ts | Extension::Dts | Extension::Js => SCRIPT,
            Extension::Tsx | Extension::Jsx => MARKUP,
            Extension::Mts | Extension::Dmts | Extension::Mjs => MODULE,
            Extension::Cts | Extension::Dcts | Extension::Cjs => COMMON,
            Extension::Py | Extension::Pyi => return None,
        };
        self.first_of(stem, order)
    }

    fn load_folder(&mut self, path: &str, depth: u8) -> Option<FileId> {
        let Some(package) = self.projects.package_at(path) else {
            return self.load_index(path);
        };
        let found = self.load_main(package, false, depth);
        match found {
            Some(file) if is_script(self.from) && is_declaration(self.table.path(file)) => {
                self.load_main(package, true, depth).or(found)
            }
            found => found,
        }
    }

    fn load_index(&mut self, path: &str) -> Option<FileId> {
        self.first_of(&below(path, "index"), SCRIPT)
    }

    /// The implementation beside a declaration.
    fn implementation(&mut self, file: FileId) -> FileId {
        let (stem, order) = match Extension::split(self.table.path(file)) {
            Some((stem, Extension::Dts)) => (stem, &[Extension::Js, Extension::Jsx][..]),
            Some((stem, Extension::Dmts)) => (stem, &[Extension::Mjs][..]),
            Some((stem, Extension::Dcts)) => (stem, &[Extension::Cjs][..]),
            _ => return file,
        };
        let files = self.table.siblings(stem, self.trace);
        files.and_then(|files| files.first(order)).unwrap_or(file)
    }
}

/// The targets of the pattern of `paths` that fits `text` best, and what its `*` stands for.
fn by_path_pattern<'a>(paths: &'a Patterns, text: &'a str) -> Option<(&'a [String], &'a str)> {
    if let Some((_, targets)) = paths.iter().find(|(pattern, _)| pattern == text) {
        return Some((targets, ""));
    }
    let fits = paths.iter().filter(|(pattern, _)| pattern.contains('*'));
    let fits = fits.filter_map(|(pattern, targets)| Some((pattern.find('*')?, targets, matched_by(pattern, text)?)));
    let best = fits.reduce(|best, other| if other.0 > best.0 { other } else { best })?;
    Some((best.1, best.2))
}

fn conditions(context: &Context, lookup: Lookup) -> Conditions<'_> {
    Conditions {
        require: lookup.require,
        types: !lookup.runtime,
        node: lookup.mode == Mode::Node,
        custom: context.options.as_ref().map_or(&[], |options| &options.conditions),
    }
}

fn is_relative(text: &str) -> bool {
    matches!(text, "." | "..") || text.starts_with("./") || text.starts_with("../")
}

fn is_script(path: &str) -> bool {
    matches!(
        Extension::split(path),
        Some((_, Extension::Js | Extension::Jsx | Extension::Mjs | Extension::Cjs))
    )
}

/// Whether the name ends in an extension that is none of a script's: a style, a component, an asset.
fn has_other_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').is_some_and(|dot| dot > 0) && Extension::split(name).is_none()
}

fn is_declaration(path: &str) -> bool {
    matches!(
        Extension::split(path),
        Some((_, Extension::Dts | Extension::Dmts | Extension::Dcts))
    )
}

fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        return name.to_owned();
    }
    if name.is_empty() {
        return folder.to_owned();
    }
    format!("{folder}/{name}")
}
