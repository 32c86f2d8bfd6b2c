//! The order in which absolute names are looked up at the roots.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::resolve::keys::{KeySpace, Trace};
use crate::resolve::path_table::PathTable;
use crate::resolve::paths::{around, below, folder, is_within};
use crate::resolve::python::roots::module_at;
use crate::resolve::python::standard_library::is_standard;
use crate::resolve::python::{NameTarget, PythonRoots};

/// Top-level names in a project's own folder that setuptools does not install.
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

/// Compares roots by their nearness to a file.
struct Nearness<'a> {
    from: &'a str,
    /// The folders of projects that the file's project requires.
    required: Option<&'a BTreeSet<String>>,
}

impl<'a> Nearness<'a> {
    fn new(roots: &'a PythonRoots, from: &'a str) -> Self {
        let required = &roots.kinds.required;
        let mut around = around(folder(from)).take_while(|_| !required.is_empty());
        let required = around.find_map(|dir| required.get(dir));
        Nearness { from, required }
    }

    /// The nearness of `root`, which belongs to the project in `owner`. Higher is nearer: the nearest folder around the
    /// file has the longest path.
    fn of(&self, root: &str, owner: &str) -> usize {
        if is_within(self.from, owner) {
            return owner.len() + 2;
        }
        let is_required = |required: &BTreeSet<String>| around(root).any(|dir| required.contains(dir));
        usize::from(self.required.is_some_and(is_required))
    }
}

type Target<'a> = (NameTarget, Cow<'a, str>);

impl PythonRoots {
    /// The target of an absolute name in the file `from`.
    pub(super) fn resolve_absolute<'a>(
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
                    .filter(|(target, _)| *target != NameTarget::Namespace),
            };
        }
        let mut namespace = None;
        let mut consider = |root: &'a str, trace: &mut Trace| match self.walk(table, root, parts, trace) {
            Some((NameTarget::Namespace, path)) => {
                namespace.get_or_insert((NameTarget::Namespace, path));
                None
            }
            target => target,
        };
        if let Some(target) = consider(own, trace) {
            return Some(target);
        }
        let mut above = own;
        while !above.is_empty() && !trace.is_spent() {
            trace.charge(1);
            trace.charge_text(above.len());
            let name = above.rsplit('/').next().unwrap_or(above);
            above = folder(above);
            if (name == first || self.kinds.package_parents.contains(above) || self.kinds.local.contains(above))
                && let Some(target) = consider(above, trace)
            {
                return Some(target);
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
                && let Some(target) = consider(root, trace)
            {
                return Some(target);
            }
        }
        let declared = self.declared_package(table, parts, trace);
        let target = declared.or_else(|| self.resolve_installed(table, roots, (from, first, parts), trace));
        if target.is_some() {
            return target;
        }
        if namespace.is_some() {
            return namespace;
        }
        let top = |path: &'a str| path.split('/').next().unwrap_or(path);
        let neighbors = roots.iter().map(String::as_str);
        let neighbors = neighbors.filter(|root| !self.kinds.shared.contains_key(*root) && !is_tried(root));
        let neighbors = neighbors.filter(|root| self.kinds.package_parents.contains(*root) && top(root) == top(from));
        self.common_target(table, neighbors, parts, trace).unwrap_or_default()
    }

    /// The shared roots among `roots`. Those of projects around `from` come first, beginning with the nearest. Roots of
    /// projects that the file's project requires come next.
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

    /// The target of a name that is, or is below, a package whose folder a manifest declares.
    fn declared_package<'a>(&'a self, table: &PathTable, parts: &str, trace: &mut Trace) -> Option<Target<'a>> {
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
                let target = match parts.get(end + 1..) {
                    Some(inside) => self.walk(table, folder, inside, trace),
                    None => {
                        let init = module_at(table, &below(folder, "__init__"), trace);
                        init.map(|init| (NameTarget::Package(init), Cow::Borrowed(folder.as_str())))
                    }
                };
                if matches!(target, Some((NameTarget::Package(_) | NameTarget::Module(_), _))) {
                    return target;
                }
            }
        }
        None
    }

    /// The target at those of `roots` that every file sees. The roots of the nearest project count first, then those of
    /// projects that it requires.
    fn resolve_installed<'a>(
        &'a self,
        table: &PathTable,
        roots: &'a [String],
        (from, first, parts): (&str, &str, &str),
        trace: &mut Trace,
    ) -> Option<Target<'a>> {
        let is_visible = |root: &str| {
            let is_hidden = NOT_INSTALLED.contains(&first) && !is_within(from, root);
            !(is_hidden && self.kinds.flat.contains(root))
        };
        let nearness = Nearness::new(self, from);
        let installed = roots.iter().filter_map(|root| {
            let owner = self.kinds.installed.get(root).filter(|_| is_visible(root))?;
            Some((root.as_str(), nearness.of(root, owner)))
        });
        let mut installed: Vec<(&str, usize)> = installed.collect();
        installed.sort_by_key(|(_, near)| std::cmp::Reverse(*near));
        for group in installed.chunk_by(|one, other| one.1 == other.1) {
            match self.common_target(table, group.iter().map(|(root, _)| *root), parts, trace) {
                Some(None) => {}
                target => return target.flatten(),
            }
        }
        None
    }

    /// The target at `roots`, if all roots that have a target have the same one. The outer `None` means that targets
    /// differ.
    fn common_target<'a>(
        &self,
        table: &PathTable,
        roots: impl Iterator<Item = &'a str>,
        parts: &str,
        trace: &mut Trace,
    ) -> Option<Option<Target<'a>>> {
        let mut common: Option<Target<'a>> = None;
        for root in roots {
            if trace.is_spent() {
                break;
            }
            match self.walk(table, root, parts, trace) {
                None | Some((NameTarget::Namespace, _)) => {}
                Some(target)
                    if common
                        .as_ref()
                        .is_none_or(|(common, _)| common.file() == target.0.file()) =>
                {
                    common = Some(target);
                }
                Some(_) => return None,
            }
        }
        Some(common)
    }
}
