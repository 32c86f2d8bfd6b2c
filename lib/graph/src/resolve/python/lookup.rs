//! The order in which absolute names are looked up at the roots.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::resolve::keys::{KeySpace, Trace};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{below, folder, is_within};
use crate::resolve::python::roots::MODULE;
use crate::resolve::python::standard_library::is_standard;
use crate::resolve::python::{NameTarget, PythonRoots};

/// Top-level names in a project's own folder that are not installed, as setuptools has it.
const NOT_INSTALLED: [&str; 42] = [
    "benchmark",
    "benchmarks",
    "bin",
    "build",
    "changelog",
    "ci",
    "conanfile",
    "conftest",
    "dist",
    "doc",
    "docs",
    "documentation",
    "dodo",
    "env",
    "example",
    "examples",
    "exercise",
    "exercises",
    "fabfile",
    "manage",
    "manpages",
    "news",
    "noxfile",
    "pavement",
    "python",
    "requirements",
    "scripts",
    "setup",
    "site_scons",
    "tasks",
    "test",
    "tests",
    "tools",
    "toxfile",
    "unit_test",
    "unit_tests",
    "util",
    "utils",
    "venv",
    "versioneer",
    "SConstruct",
    "Sconstruct",
];

/// How near roots are to a file.
struct Nearness<'a> {
    from: &'a str,
    /// The folders of projects that the file's project requires.
    required: Option<&'a BTreeSet<String>>,
}

impl<'a> Nearness<'a> {
    fn new(roots: &'a PythonRoots, from: &'a str) -> Self {
        let required = &roots.kinds.required;
        let mut dir = folder(from);
        while !required.is_empty() && !dir.is_empty() && !required.contains_key(dir) {
            dir = folder(dir);
        }
        let required = required.get(dir);
        Nearness { from, required }
    }

    /// Higher is nearer: the nearest folder has the longest path.
    fn of(&self, root: &str, owner: &str) -> usize {
        if is_within(self.from, owner) {
            return owner.len() + 2;
        }
        let mut around = std::iter::successors(Some(root), |dir| (!dir.is_empty()).then(|| folder(dir)));
        usize::from(
            self.required
                .is_some_and(|required| around.any(|dir| required.contains(dir))),
        )
    }
}

type Target<'a> = (NameTarget, Cow<'a, str>);

impl PythonRoots {
    /// The target of an absolute name in the file `from`.
    pub(super) fn absolute<'a>(
        &'a self,
        table: &PathTable,
        from: &'a str,
        parts: &str,
        trace: &mut Trace,
    ) -> Option<Target<'a>> {
        let own = self.own_root(table, folder(from), trace);
        let first = parts.split('.').next().unwrap_or(parts);
        if is_standard(first) {
            return match self.step(table, own, first, trace)? {
                NameTarget::Namespace => None,
                _ => self
                    .walk(table, own, parts, trace)
                    .filter(|(found, _)| *found != NameTarget::Namespace),
            };
        }
        let mut namespace = None;
        let mut consider = |root: &'a str, trace: &mut Trace| match self.walk(table, root, parts, trace) {
            Some((NameTarget::Namespace, path)) => {
                namespace.get_or_insert((NameTarget::Namespace, path));
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
            let name = above.rsplit('/').next().unwrap_or(above);
            above = folder(above);
            if (name == first || self.kinds.package_parents.contains(above) || self.kinds.local.contains(above))
                && let Some(found) = consider(above, trace)
            {
                return Some(found);
            }
        }
        trace.push(self.keys.of_named(KeySpace::PythonTopNames, first));
        let roots = self.tops.get(first).map_or(&[][..], Vec::as_slice);
        trace.charge(roots.len());
        let is_tried = |root: &str| root == own || (is_within(own, root) && self.kinds.package_parents.contains(root));
        for root in self.shared_roots(roots, from) {
            if trace.is_spent() {
                break;
            }
            if !is_tried(root)
                && let Some(found) = consider(root, trace)
            {
                return Some(found);
            }
        }
        let elsewhere = self.named_package(table, parts, trace);
        if let Some(found) = elsewhere.or_else(|| self.installed(table, roots, (from, first, parts), trace)) {
            return Some(found);
        }
        if namespace.is_some() {
            return namespace;
        }
        let top = |path: &'a str| path.split('/').next().unwrap_or(path);
        let others = roots.iter().map(String::as_str);
        let others = others.filter(|root| !self.kinds.shared.contains_key(*root) && !is_tried(root));
        let others = others.filter(|root| self.kinds.package_parents.contains(*root) && top(root) == top(from));
        self.agreed(table, others, parts, trace).unwrap_or_default()
    }

    /// Those of `roots` that are shared: of the projects around `from`, the nearest first, of projects that these require, and
    /// then the others.
    fn shared_roots<'a>(&'a self, roots: &'a [String], from: &str) -> impl Iterator<Item = &'a str> {
        let shared = roots
            .iter()
            .filter_map(|root| Some((root.as_str(), self.kinds.shared.get(root)?)));
        let nearness = Nearness::new(self, from);
        let mut shared: Vec<(&str, usize)> = shared
            .map(|(root, shared)| (root, nearness.of(root, &shared.owner)))
            .collect();
        shared.sort_by_key(|(_, near)| std::cmp::Reverse(*near));
        shared.into_iter().map(|(root, _)| root)
    }

    /// The target of a name that is, or is below, a package whose folder a manifest names.
    fn named_package<'a>(&'a self, table: &PathTable, parts: &str, trace: &mut Trace) -> Option<Target<'a>> {
        if self.kinds.packages.is_empty() {
            return None;
        }
        let dots = memchr::memrchr_iter(b'.', parts.as_bytes());
        for end in std::iter::once(parts.len()).chain(dots) {
            trace.charge(1);
            trace.charge_text(end);
            for folder in self.kinds.packages.get(&parts[..end]).into_iter().flatten() {
                if trace.is_spent() {
                    return None;
                }
                let found = match parts.get(end + 1..) {
                    Some(inside) => self.walk(table, folder, inside, trace),
                    None => {
                        let init = table.siblings(&below(folder, "__init__"), trace);
                        let init = init.and_then(|files| files.first(MODULE));
                        init.map(|init| (NameTarget::Package(init), Cow::Borrowed(folder.as_str())))
                    }
                };
                if found.as_ref().is_some_and(|(found, _)| *found != NameTarget::Namespace) {
                    return found;
                }
            }
        }
        None
    }

    /// The target at those of `roots` that every file sees. Those of the nearest project count first, then those of projects
    /// that it requires.
    fn installed<'a>(
        &'a self,
        table: &PathTable,
        roots: &'a [String],
        (from, first, parts): (&str, &str, &str),
        trace: &mut Trace,
    ) -> Option<Target<'a>> {
        let is_named = |root: &str| {
            let is_hidden = NOT_INSTALLED.contains(&first) && !is_within(from, root);
            !(is_hidden && self.kinds.flat.contains(root))
        };
        let nearness = Nearness::new(self, from);
        let installed = roots.iter().filter_map(|root| {
            let owner = self.kinds.installed.get(root).filter(|_| is_named(root))?;
            Some((root.as_str(), nearness.of(root, owner)))
        });
        let mut installed: Vec<(&str, usize)> = installed.collect();
        installed.sort_by_key(|(_, near)| std::cmp::Reverse(*near));
        for group in installed.chunk_by(|one, other| one.1 == other.1) {
            match self.agreed(table, group.iter().map(|(root, _)| *root), parts, trace) {
                Some(None) => {}
                found => return found.flatten(),
            }
        }
        None
    }

    /// The target at `roots`, if all that have one have the same; the outer `None` says that they differ.
    fn agreed<'a>(
        &self,
        table: &PathTable,
        roots: impl Iterator<Item = &'a str>,
        parts: &str,
        trace: &mut Trace,
    ) -> Option<Option<Target<'a>>> {
        let mut agreed: Option<Target<'a>> = None;
        for root in roots {
            if trace.is_spent() {
                break;
            }
            match self.walk(table, root, parts, trace) {
                None | Some((NameTarget::Namespace, _)) => {}
                Some(found) if agreed.as_ref().is_none_or(|(known, _)| known.file() == found.0.file()) => {
                    agreed = Some(found);
                }
                Some(_) => return None,
            }
        }
        Some(agreed)
    }
}
