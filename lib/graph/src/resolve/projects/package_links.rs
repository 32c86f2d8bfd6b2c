//! Package names that lead to folders of the tree. They come from workspaces of npm, yarn, pnpm, bun, Lerna, Rush and
//! Deno, dependencies on folders and on packages of the workspace, overrides, and tracked `node_modules`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::resolve::manifests::dependency::LocalTarget;
use crate::resolve::manifests::glob::{Stop, matches};
use crate::resolve::manifests::package_json::PackageJson;
use crate::resolve::manifests::workspace::Workspace;
use crate::resolve::paths::{is_within, joined};

/// A package name that files at and below `scope` can import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) scope: String,
    pub(crate) folder: String,
}

/// Names and their links, the innermost scope first.
pub(crate) type Links = HashMap<String, Vec<Link>>;

type Packages<'a> = BTreeMap<&'a str, &'a Arc<PackageJson>>;

/// Most work for links and globs, in compared bytes: a hostile manifest could demand any amount.
const MAX_GLOB_WORK: usize = 400_000_000;

/// The work that one link costs. This bounds the memory for all links.
const LINK_WORK: usize = 2_000;

/// All links of a tree. `packages` are the manifests by folder. `workspaces` are the other files that make a folder a
/// workspace.
pub(crate) fn find_links<'a>(packages: &Packages<'a>, workspaces: &BTreeMap<&'a str, Vec<&'a Workspace>>) -> Links {
    let mut finder = Finder {
        packages,
        links: Links::new(),
        taken_names: HashSet::new(),
        members: HashMap::new(),
        remaining_work: MAX_GLOB_WORK,
    };
    let overrides = || {
        let of_workspaces = workspaces
            .iter()
            .flat_map(|(folder, files)| files.iter().map(|file| (*folder, &file.overrides)));
        let of_packages = packages.iter().map(|(folder, manifest)| (*folder, &manifest.overrides));
        of_packages.chain(of_workspaces)
    };
    // The first link of a name in a scope counts: an override replaces the manifest's version.
    let dependencies = packages.iter().map(|(folder, manifest)| (*folder, &manifest.links));
    for (folder, targets) in overrides().chain(dependencies.clone()) {
        for (name, target) in targets {
            finder.add_folder(folder, name, target);
        }
    }
    for folder in packages.keys() {
        if let Some((scope, name)) = split_installed_folder(folder) {
            finder.add(name, scope, folder);
        }
    }
    let roots: HashSet<&str> = packages
        .iter()
        .filter(|(_, manifest)| !manifest.workspaces.is_empty())
        .map(|(folder, _)| *folder)
        .chain(workspaces.keys().copied())
        .collect();
    let mut roots: Vec<&str> = roots.into_iter().collect();
    roots.sort_unstable();
    for root in roots {
        finder.add_workspace(root, workspaces.get(root).map_or(&[], Vec::as_slice));
    }
    for (folder, targets) in overrides().chain(dependencies) {
        for (name, target) in targets {
            finder.add_member(folder, name, target);
        }
    }
    let mut links = finder.links;
    for links in links.values_mut() {
        links.sort_by_key(|link| Reverse(link.scope.len()));
    }
    links
}

struct Finder<'p, 'a> {
    packages: &'p Packages<'a>,
    links: Links,
    /// The names that have a link already, with its scope.
    taken_names: HashSet<(String, String)>,
    /// The packages of workspaces by name: root and folder. They include the package of the root itself, which gets a
    /// link only if another package depends on it.
    members: HashMap<&'a str, Vec<(&'a str, &'a str)>>,
    remaining_work: usize,
}

impl<'a> Finder<'_, 'a> {
    fn add(&mut self, name: &str, scope: &str, folder: &str) {
        // The first folder of a name wins; a package manager rejects the second.
        if self.spend(LINK_WORK + name.len() + scope.len() + folder.len())
            && self.taken_names.insert((name.to_owned(), scope.to_owned()))
        {
            self.links.entry(name.to_owned()).or_default().push(Link {
                scope: scope.to_owned(),
                folder: folder.to_owned(),
            });
        }
    }

    /// Takes `cost` from the remaining work, and returns whether that was enough.
    fn spend(&mut self, cost: usize) -> bool {
        let rest = self.remaining_work.checked_sub(cost);
        self.remaining_work = rest.unwrap_or_default();
        rest.is_some()
    }

    /// Adds a dependency of the manifest in `scope` that names a folder.
    fn add_folder(&mut self, scope: &str, name: &str, target: &LocalTarget) {
        if let LocalTarget::Folder(target) = target
            && self.spend(scope.len() + target.len() + 16)
            && let Some(target) = joined(scope, target).filter(|target| self.packages.contains_key(target.as_str()))
        {
            self.add(name, scope, &target);
        }
    }

    /// Adds a dependency of the manifest in `scope` on a package of its workspace, unless the package's own name
    /// already leads there.
    fn add_member(&mut self, scope: &str, name: &str, target: &LocalTarget) {
        let LocalTarget::Member(member) = target else { return };
        let candidates = self.members.get(member.as_str()).map_or(&[][..], Vec::as_slice);
        let cost = (scope.len() + 16) * (1 + candidates.len());
        let around = candidates.iter().filter(|(root, _)| is_within(scope, root));
        let nearest = around
            .max_by_key(|(root, folder)| (root.len(), root != folder))
            .copied();
        if self.spend(cost)
            && let Some((root, folder)) = nearest
            && (name != member || root == folder)
        {
            self.add(name, scope, folder);
        }
    }

    /// Adds the packages of the workspace in `root`.
    fn add_workspace(&mut self, root: &'a str, files: &[&Workspace]) {
        let own_globs = self.packages.get(root).map_or(&[][..], |manifest| &manifest.workspaces);
        let file_globs = files.iter().flat_map(|file| &file.globs);
        let mut globs: Vec<&str> = own_globs.iter().chain(file_globs).map(String::as_str).collect();
        if globs.is_empty() {
            globs.extend(files.iter().filter_map(|file| file.default_glob));
        }
        let packages = self.packages;
        for (folder, manifest) in packages
            .range(root..)
            .take_while(|(folder, _)| folder.starts_with(root))
        {
            if !is_within(folder, root) || folder.split('/').any(|part| part == "node_modules") {
                continue;
            }
            let relative = folder[root.len()..].trim_start_matches('/');
            let cost = globs.iter().map(|glob| glob.len() * relative.len() + 16).sum();
            if !self.spend(cost) {
                break;
            }
            let Some(name) = &manifest.name else { continue };
            if *folder == root {
                self.members.entry(name).or_default().push((root, folder));
            } else if is_member(&globs, relative) {
                self.members.entry(name).or_default().push((root, folder));
                self.add(name, root, folder);
            }
        }
    }
}

fn is_member(globs: &[&str], folder: &str) -> bool {
    let is_match = |glob: &str| {
        let glob = glob.trim_start_matches("./").trim_end_matches('/');
        matches(glob, folder, Stop::AtEnd)
    };
    globs.iter().any(|glob| !glob.starts_with('!') && is_match(glob))
        && !globs.iter().any(|glob| glob.strip_prefix('!').is_some_and(is_match))
}

/// The folder that contains `node_modules`, and the package name, for a folder directly below `node_modules`.
fn split_installed_folder(folder: &str) -> Option<(&str, &str)> {
    let at = folder.rfind("node_modules/")?;
    let scope = match &folder[..at] {
        "" => "",
        before => before.strip_suffix('/')?,
    };
    let name = &folder[at + "node_modules/".len()..];
    let parts = name.split('/').count();
    (parts == if name.starts_with('@') { 2 } else { 1 }).then_some((scope, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_follow_globs_and_negation_and_the_first_of_a_name_wins() {
        let named = |name: &str| {
            Arc::new(PackageJson {
                name: Some(name.to_owned()),
                ..PackageJson::default()
            })
        };
        let root = Arc::new(PackageJson {
            workspaces: vec!["./packages/*".to_owned(), "!packages/no".to_owned()],
            ..PackageJson::default()
        });
        let (one, two, no, installed) = (named("x"), named("x"), named("no"), named("other-name"));
        let packages = BTreeMap::from([
            ("", &root),
            ("packages/a", &one),
            ("packages/b", &two),
            ("packages/no", &no),
            ("packages/a/node_modules/@s/dep", &installed),
        ]);
        let links = find_links(&packages, &BTreeMap::new());
        assert_eq!(
            links["x"],
            [Link {
                scope: String::new(),
                folder: "packages/a".to_owned()
            }]
        );
        assert!(!links.contains_key("no"));
        assert_eq!(links["@s/dep"][0].scope, "packages/a");
    }
}
