//! Python: module names -> files.
//!
//! A file's own root is its nearest folder that is not a package. An absolute name is looked up in this order:
//!
//! 1. at the own root, and at enclosing folders that contain packages
//! 2. at the repository root, in every `src` folder, and in folders that a `pyproject.toml` names
//! 3. at other folders under the same top-level folder that contain packages, if all lead to the same file
//!
//! Below a source root (`src`, or a folder that a `pyproject.toml` names) a folder without `__init__` is a namespace and not
//! a root. Its modules are imported by their names from the source root on. There are two exceptions: a folder with a
//! project's own file (`src/backend/pyproject.toml`), and scripts in a folder that contains no packages, unless a module of
//! it is imported by its name from the source root on.
//!
//! A name of the standard library counts only at the own root, and only where a real module or package has it: Python itself
//! would find that first.

mod roots;
mod scripts;
mod standard_library;

use std::borrow::Cow;

use crate::file::FileId;
use crate::resolution::{Reason, Resolution};
use crate::resolve::keys::{KeySpace, Trace};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{below, folder, is_within};
use crate::resolve::python::roots::MODULE;

pub(crate) use roots::PythonRoots;
use standard_library::is_standard;

/// The target of a dotted name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// A folder with `__init__.py` or `__init__.pyi`, and that file.
    Package(FileId),
    /// A file.
    Module(FileId),
    /// A folder with Python files below it and no `__init__`.
    Namespace,
}

impl Found {
    fn file(self) -> Option<FileId> {
        match self {
            Found::Package(file) | Found::Module(file) => Some(file),
            Found::Namespace => None,
        }
    }
}

impl PythonRoots {
    /// The target of one name below a folder.
    fn step(&self, table: &PathTable, dir: &str, name: &str, trace: &mut Trace) -> Option<Found> {
        let path = below(dir, name);
        let known = self.traced_folder(table, &path, trace);
        if known.is_some_and(|folder| folder.is_package)
            && let Some(init) = table
                .siblings(&below(&path, "__init__"), trace)
                .and_then(|files| files.first(MODULE))
        {
            return Some(Found::Package(init));
        }
        // The lookup of the folder has traced the same key.
        if let Some(file) = table.siblings_untraced(&path).and_then(|files| files.first(MODULE)) {
            return Some(Found::Module(file));
        }
        known.map(|_| Found::Namespace)
    }

    /// The target of `parts` below `root`; `root` itself when there are none.
    fn walk<'a>(
        &self,
        table: &PathTable,
        root: &'a str,
        parts: &str,
        trace: &mut Trace,
    ) -> Option<(Found, Cow<'a, str>)> {
        trace.charge_text(root.len() + parts.len());
        let Some((parents, last)) = parts.rsplit_once('.').or((!parts.is_empty()).then_some(("", parts))) else {
            return Some((Found::Namespace, Cow::Borrowed(root)));
        };
        let parent: Cow<'a, str> = if parents.is_empty() {
            Cow::Borrowed(root)
        } else {
            let parent = below(root, &parents.replace('.', "/"));
            let known = self.traced_folder(table, &parent, trace)?;
            if known.hidden as usize > root.len() + 1 {
                return None;
            }
            Cow::Owned(parent)
        };
        let found = self.step(table, &parent, last, trace)?;
        Some((found, Cow::Owned(below(&parent, last))))
    }

    fn absolute<'a>(
        &'a self,
        table: &PathTable,
        from: &'a str,
        parts: &str,
        trace: &mut Trace,
    ) -> Option<(Found, Cow<'a, str>)> {
        let own = self.own_root(table, folder(from), trace);
        let first = parts.split('.').next().unwrap_or(parts);
        if is_standard(first) {
            return match self.step(table, own, first, trace)? {
                Found::Namespace => None,
                _ => self
                    .walk(table, own, parts, trace)
                    .filter(|(found, _)| *found != Found::Namespace),
            };
        }
        let mut namespace = None;
        let mut consider = |root: &'a str, trace: &mut Trace| match self.walk(table, root, parts, trace) {
            Some((Found::Namespace, path)) => {
                namespace.get_or_insert((Found::Namespace, path));
                None
            }
            found => found,
        };
        if let Some(found) = consider(own, trace) {
            return Some(found);
        }
        let mut above = own;
        while !above.is_empty() && !trace.is_spent() {
            trace.charge(1);
            trace.charge_text(above.len());
            above = folder(above);
            if self.package_parents.contains(above)
                && let Some(found) = consider(above, trace)
            {
                return Some(found);
            }
        }
        trace.push(self.keys.of_named(KeySpace::PythonTopNames, first));
        let roots = self.tops.get(first).map_or(&[][..], Vec::as_slice);
        trace.charge_list(roots.len());
        let is_near = |root: &str| root == own || (is_within(own, root) && self.package_parents.contains(root));
        for root in roots.iter().filter(|root| self.shared.contains_key(root.as_str())) {
            if trace.is_spent() {
                break;
            }
            if !is_near(root)
                && let Some(found) = consider(root, trace)
            {
                return Some(found);
            }
        }
        if namespace.is_some() {
            return namespace;
        }
        let top = |path: &'a str| path.split('/').next().unwrap_or(path);
        let mut agreed: Option<(Found, Cow<'a, str>)> = None;
        for root in roots.iter().filter(|root| !self.shared.contains_key(root.as_str())) {
            if trace.is_spent() {
                break;
            }
            if is_near(root) || top(root) != top(from) {
                continue;
            }
            match self.walk(table, root, parts, trace) {
                None | Some((Found::Namespace, _)) => {}
                Some(found) if agreed.as_ref().is_none_or(|(known, _)| known.file() == found.0.file()) => {
                    agreed = Some(found);
                }
                Some(_) => return None,
            }
        }
        agreed
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
        let base = if level == 0 {
            self.absolute(table, from, parts, trace)
        } else {
            let mut dir = folder(from);
            for _ in 1..level {
                if dir.is_empty() {
                    return Resolution::Unresolved(Reason::OutsideRepository);
                }
                dir = folder(dir);
            }
            if parts.is_empty() {
                let init = table
                    .siblings(&below(dir, "__init__"), trace)
                    .and_then(|files| files.first(MODULE));
                Some((init.map_or(Found::Namespace, Found::Package), Cow::Borrowed(dir)))
            } else {
                self.walk(table, dir, parts, trace)
            }
        };
        let Some((found, path)) = base else {
            return Resolution::Unresolved(if level == 0 { Reason::External } else { Reason::Missing });
        };
        if let Some(name) = name.filter(|name| *name != "*" && !name.contains('/'))
            && !matches!(found, Found::Module(_))
            && let Some(file) = self.step(table, &path, name, trace).and_then(Found::file)
        {
            return Resolution::File(file);
        }
        match found.file() {
            Some(file) => Resolution::File(file),
            None => Resolution::Unresolved(Reason::Namespace),
        }
    }
}
