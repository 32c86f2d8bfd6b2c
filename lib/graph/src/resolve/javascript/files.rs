//! Paths in imports -> files: by another extension, by a folder's index, from a declaration to its implementation.

use crate::file::FileId;
use crate::resolve::extension::Extension;
use crate::resolve::javascript::importer::{Form, Importer};
use crate::resolve::paths::{around, below, folder, is_within};
use crate::resolve::projects::package::Package;

/// The extensions that replace a written one, best first.
pub(super) const SCRIPT: &[Extension] = &[
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

/// Deepest chain of packages that refer to other packages.
pub(super) const MAX_DEPTH: u8 = 8;

impl Importer<'_> {
    pub(super) fn load_relative(&mut self, base: &str, text: &str) -> Option<FileId> {
        let is_folder = matches!(text, "." | "..") || ["/", "/.", "/.."].iter().any(|end| text.ends_with(end));
        let load = |this: &mut Self, path: &str| match is_folder {
            true => {
                // Otherwise, the lookup of a file at the path traces this key.
                this.trace.push(this.table.keys().of(path));
                this.load_folder(path, MAX_DEPTH)
            }
            false => this.load(path, MAX_DEPTH),
        };
        if let Some(file) = load(self, base) {
            return Some(file);
        }
        let context = self.context;
        let dirs = context.options.as_deref().map_or(&[][..], |options| &options.root_dirs);
        self.trace.charge_list(dirs.len());
        let own_root = dirs
            .iter()
            .filter(|dir| is_within(base, dir))
            .max_by_key(|dir| dir.len())?;
        let rest = base.get(own_root.len()..)?.trim_start_matches('/').to_owned();
        for dir in dirs.iter().filter(|dir| *dir != own_root) {
            if self.trace.is_spent() {
                break;
            }
            if let Some(file) = load(self, &below(dir, &rest)) {
                return Some(file);
            }
        }
        None
    }

    /// Files at `path` that only bundlers find: data without its extension, and files of one platform.
    pub(super) fn load_as_bundlers(&mut self, path: &str) -> Option<FileId> {
        self.load_exact(&format!("{path}.json"))
            .or_else(|| self.load_platforms(path))
            .or_else(|| self.load_exact(&below(path, "index.json")))
            .or_else(|| self.load_platforms(&below(path, "index")))
    }

    /// The source of `base`, which is a package or a file that a build has not written yet.
    pub(super) fn load_unbuilt(&mut self, base: &str) -> Option<FileId> {
        let projects = self.projects;
        // The lookups of the folder itself have traced its key.
        if let Some(package) = projects.package_at(base) {
            return self.unbuilt_entry(package, "", None);
        }
        for dir in around(folder(base)) {
            if self.trace.is_spent() {
                break;
            }
            self.trace.push(self.table.keys().of(dir));
            self.trace.charge_text(dir.len());
            if let Some(package) = projects.package_at(dir) {
                // Installed packages are built.
                let is_installed = dir.split('/').any(|part| part == "node_modules");
                let importer = self.from;
                let source = || self.sources(package).of_output(base, importer);
                return (!is_installed).then(source).flatten();
            }
        }
        None
    }

    /// The entry of a package without `exports`.
    pub(super) fn load_main(&mut self, package: &Package, runtime: bool, depth: u8) -> Option<FileId> {
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

    /// `path` as a file, with its own, another or no extension, or as a folder.
    pub(super) fn load(&mut self, path: &str, depth: u8) -> Option<FileId> {
        if let Some(file) = self.load_by_extension(path) {
            return Some(file);
        }
        if has_other_extension(path) {
            // `x.css` means the file itself even beside `x.css.d.ts`, as `x.js` does beside `x.d.ts`.
            if let Some(file) = self.load_exact(path) {
                return Some(file);
            }
        }
        if let Some(file) = self.first_of(path, SCRIPT) {
            return Some(file);
        }
        // Node's order: data before folders.
        let data = self.load_data(path);
        data.or_else(|| self.load_folder(path, depth))
            .or_else(|| self.load_exact(path))
            .or_else(|| self.load_declaration(path))
    }

    /// The `path.json` that a `require()` of `path` means.
    fn load_data(&mut self, path: &str) -> Option<FileId> {
        if self.form != Form::Require {
            return None;
        }
        self.load_exact(&format!("{path}.json"))
    }

    /// The file with exactly this extension. If TypeScript knows the extension, one of the config's module suffixes may
    /// precede it.
    pub(super) fn load_exact(&mut self, path: &str) -> Option<FileId> {
        let context = self.context;
        let suffixes = context.module_suffixes();
        let stem = match Extension::split(path) {
            Some((stem, _)) => Some(stem),
            None => path.strip_suffix(".json"),
        };
        let Some(stem) = stem.filter(|_| !suffixes.is_empty()) else {
            return self.table.file(path, self.trace);
        };
        let extension = path.get(stem.len()..)?;
        suffixes
            .iter()
            .find_map(|suffix| self.table.file(&format!("{stem}{suffix}{extension}"), self.trace))
    }

    /// `x.d.css.ts`, which declares an `x.css` that does not exist.
    fn load_declaration(&mut self, path: &str) -> Option<FileId> {
        if !has_other_extension(path) {
            return None;
        }
        let (stem, extension) = path.rsplit_once('.')?;
        self.table.file(&format!("{stem}.d.{extension}.ts"), self.trace)
    }

    /// The first extension of `order` that exists for `stem`, with one of the config's module suffixes.
    fn first_of(&mut self, stem: &str, order: &[Extension]) -> Option<FileId> {
        let context = self.context;
        let suffixes = context.module_suffixes();
        if let Some(declared) = stem.strip_suffix(".d")
            && (suffixes.is_empty() || suffixes.iter().any(String::is_empty))
            && let Some(files) = self.table.siblings(declared, self.trace)
            && let Some(file) = files.first(declarations(order))
        {
            return Some(file);
        }
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

    /// `x.js` leads to `x.ts` if that exists, and so on.
    pub(super) fn load_by_extension(&mut self, path: &str) -> Option<FileId> {
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
        let main = self.load_main(package, false, depth);
        match main {
            Some(file) if is_script(self.from) && is_declaration(self.table.path(file)) => {
                self.load_main(package, true, depth).or(main)
            }
            _ => main,
        }
    }

    fn load_index(&mut self, path: &str) -> Option<FileId> {
        let index = below(path, "index");
        self.first_of(&index, SCRIPT).or_else(|| self.load_data(&index))
    }

    /// The implementation beside a declaration.
    pub(super) fn implementation(&mut self, file: FileId) -> FileId {
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

/// The declarations that `x.d` with an extension of `order` names.
fn declarations(order: &[Extension]) -> &'static [Extension] {
    match order {
        [Extension::Mts, ..] => &[Extension::Dmts],
        [Extension::Cts, ..] => &[Extension::Dcts],
        _ => &[Extension::Dts],
    }
}

pub(super) fn is_script(path: &str) -> bool {
    matches!(
        Extension::split(path),
        Some((_, Extension::Js | Extension::Jsx | Extension::Mjs | Extension::Cjs))
    )
}

/// Whether the name ends in an extension that no script has: a style, a component, an asset.
fn has_other_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rfind('.').is_some_and(|dot| dot > 0) && Extension::split(name).is_none()
}

pub(super) fn is_declaration(path: &str) -> bool {
    matches!(
        Extension::split(path),
        Some((_, Extension::Dts | Extension::Dmts | Extension::Dcts))
    )
}
