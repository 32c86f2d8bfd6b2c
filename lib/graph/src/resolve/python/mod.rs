//! Python: module names -> files.
//!
//! A file's own root is its nearest folder that is not a package. The resolver looks up an absolute name in this order:
//!
//! 1. at the own root, and at enclosing folders that contain packages or a `conftest.py`, or in which the next folder
//!    toward the file is named like the first component of the name
//! 2. at the repository root, in every `src` folder, and in folders that a manifest declares. Projects around the file
//!    come first, beginning with the nearest
//! 3. in the folder that a manifest declares for the package
//! 4. at roots below a source root, and in projects that have their packages in their own folder, if all lead to the
//!    same file
//! 5. at other folders under the same top-level folder that contain packages, if all lead to the same file
//!
//! Below a source root (`src`, or a folder that a manifest declares), a folder without `__init__` may be a namespace or
//! a root: [`homes`] has the rule. A folder with a project's own file (`src/backend/pyproject.toml`) is a root.
//!
//! A name of the standard library counts only at the own root, and only if a real module or package has it: Python
//! itself would find that first.

mod homes;
mod lookup;
mod roots;
mod standard_library;

use std::borrow::Cow;

use crate::file::FileId;
use crate::resolution::{Reason, Resolution};
use crate::resolve::keys::Trace;
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{below, folder, is_within};
use crate::resolve::python::roots::{module_at, module_untraced};

pub(crate) use roots::PythonRoots;

/// The target of a dotted name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameTarget {
    /// A folder with `__init__.py` or `__init__.pyi`, and that file.
    Package(FileId),
    Module(FileId),
    /// A folder with Python files below it and no `__init__`.
    Namespace,
}

impl NameTarget {
    fn file(self) -> Option<FileId> {
        match self {
            NameTarget::Package(file) | NameTarget::Module(file) => Some(file),
            NameTarget::Namespace => None,
        }
    }
}

impl PythonRoots {
    /// The target of one name below a folder.
    fn step(&self, table: &PathTable, dir: &str, name: &str, trace: &mut Trace) -> Option<NameTarget> {
        let path = below(dir, name);
        let folder = self.traced_folder(table, &path, trace);
        if folder.is_some_and(|folder| folder.is_package)
            && let Some(init) = module_at(table, &below(&path, "__init__"), trace)
        {
            return Some(NameTarget::Package(init));
        }
        // The lookup of the folder has traced the same key.
        let module = module_untraced(table, &path).map(NameTarget::Module);
        module.or(folder.map(|_| NameTarget::Namespace))
    }

    /// The target of `parts` below `root`, which is `root` itself if there are no parts.
    fn walk<'a>(
        &self,
        table: &PathTable,
        root: &'a str,
        parts: &str,
        trace: &mut Trace,
    ) -> Option<(NameTarget, Cow<'a, str>)> {
        trace.charge_text(root.len() + parts.len());
        let Some((parents, last)) = parts.rsplit_once('.').or((!parts.is_empty()).then_some(("", parts))) else {
            return Some((NameTarget::Namespace, Cow::Borrowed(root)));
        };
        let parent: Cow<'a, str> = if parents.is_empty() {
            Cow::Borrowed(root)
        } else {
            let parent = below(root, &parents.replace('.', "/"));
            let folder = self.traced_folder(table, &parent, trace)?;
            if folder.hidden as usize > root.len() + 1 {
                return None;
            }
            Cow::Owned(parent)
        };
        let target = self.step(table, &parent, last, trace)?;
        Some((target, Cow::Owned(below(&parent, last))))
    }

    /// The name of the package in `dir`, around the file `from`, if other roots may have more of it. They may if it is
    /// a namespace or extends its path.
    fn extensible_package_name(&self, table: &PathTable, from: &str, dir: &str, trace: &mut Trace) -> Option<String> {
        let is_package = self.traced_folder(table, dir, trace)?.is_package;
        if is_package && !self.extended.contains(dir) {
            return None;
        }
        let root = self.own_root(table, folder(from), trace);
        let inside = is_within(dir, root).then(|| dir.get(root.len()..))??;
        let inside = inside.trim_start_matches('/');
        (!inside.is_empty()).then(|| inside.replace('/', "."))
    }

    /// The target of `module` (dotted, with leading dots for levels), or of `name` in it, from the file `from`.
    pub(crate) fn resolve(
        &self,
        table: &PathTable,
        from: &str,
        module: &str,
        name: Option<&str>,
        trace: &mut Trace,
    ) -> Resolution {
        let parts = module.trim_start_matches('.');
        let level = module.len() - parts.len();
        if parts.split('.').any(|part| part.is_empty() || part.contains('/')) && !(parts.is_empty() && level > 0) {
            return Resolution::Unresolved(Reason::Invalid);
        }
        // The name relative to a root, if other roots may have more of the same package.
        let mut full_name = None;
        let base = if level == 0 {
            full_name = Some(parts.to_owned());
            self.resolve_absolute(table, from, parts, trace)
        } else {
            let mut dir = folder(from);
            for _ in 1..level {
                if dir.is_empty() {
                    return Resolution::Unresolved(Reason::OutsideRepository);
                }
                dir = folder(dir);
            }
            let mut base = if parts.is_empty() {
                let init = module_at(table, &below(dir, "__init__"), trace);
                let package = init.map_or(NameTarget::Namespace, NameTarget::Package);
                Some((package, Cow::Borrowed(dir)))
            } else {
                self.walk(table, dir, parts, trace)
            };
            if !matches!(base, Some((NameTarget::Module(_), _))) {
                full_name = self.extensible_package_name(table, from, dir, trace);
                if let Some(package) = full_name.as_mut().filter(|_| !parts.is_empty()) {
                    package.push('.');
                    package.push_str(parts);
                    base = base.or_else(|| self.resolve_absolute(table, from, package, trace));
                }
            }
            base
        };
        let Some((base, path)) = base else {
            return Resolution::Unresolved(if level == 0 { Reason::External } else { Reason::Missing });
        };
        if let Some(name) = name.filter(|name| *name != "*" && !name.contains('/'))
            && !matches!(base, NameTarget::Module(_))
        {
            if let Some(file) = self.step(table, &path, name, trace).and_then(NameTarget::file) {
                return Resolution::File(file);
            }
            if let Some(package) = full_name
                && (base == NameTarget::Namespace || self.extended.contains(&*path))
                && let Some((target, _)) = self.resolve_absolute(table, from, &format!("{package}.{name}"), trace)
                && let Some(file) = target.file()
            {
                return Resolution::File(file);
            }
        }
        Resolution::of(base.file(), Reason::Namespace)
    }
}
