//! Package names that lead to folders of the tree: workspaces of npm, yarn, pnpm and bun, dependencies on folders, and
//! tracked `node_modules`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::resolve::manifests::glob::{Stop, matches};
use crate::resolve::manifests::package_json::PackageJson;
use crate::resolve::paths::{is_within, joined};

/// A package name that files at and below `scope` can import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) scope: String,
    pub(crate) folder: String,
}

/// Names and their links, the innermost scope first.
pub(crate) type Links = HashMap<String, Vec<Link>>;

/// Most work for following links and matching globs, in compared bytes: it bounds hostile manifests.
const MAX_GLOB_WORK: usize = 400_000_000;

/// All links of a tree. `packages` are the manifests by folder; `pnpm` has the globs of each `pnpm-workspace.yaml` by
/// folder.
pub(crate) fn find_links<'a>(
    packages: &BTreeMap<&str, &'a Arc<PackageJson>>,
    pnpm: &BTreeMap<&str, &'a [String]>,
) -> Links {
    let mut links = Links::new();
    let mut known: HashSet<(String, String)> = HashSet::new();
    let mut add = |name: &str, scope: &str, folder: &str| {
        // The first folder of a name wins; a package manager rejects the second.
        if known.insert((name.to_owned(), scope.to_owned())) {
            links.entry(name.to_owned()).or_default().push(Link {
                scope: scope.to_owned(),
                folder: folder.to_owned(),
            });
        }
    };
    let mut work = MAX_GLOB_WORK;
    for (folder, manifest) in packages {
        for (name, target) in &manifest.links {
            let cost = folder.len() + target.len() + 16;
            if cost > work {
                break;
            }
            work -= cost;
            if let Some(target) = joined(folder, target).filter(|target| packages.contains_key(target.as_str())) {
                add(name, folder, &target);
            }
        }
        if let Some((scope, name)) = installed_as(folder) {
            add(name, scope, folder);
        }
    }
    let roots: HashSet<&str> = packages
        .iter()
        .filter(|(_, manifest)| !manifest.workspaces.is_empty())
        .map(|(folder, _)| *folder)
        .chain(pnpm.keys().copied())
        .collect();
    let mut roots: Vec<&str> = roots.into_iter().collect();
    roots.sort_unstable();
    for root in roots {
        let own = packages.get(root).map_or(&[][..], |manifest| &manifest.workspaces);
        let globs: Vec<&str> = own
            .iter()
            .chain(pnpm.get(root).copied().unwrap_or_default())
            .map(String::as_str)
            .collect();
        for (folder, manifest) in packages
            .range(root..)
            .take_while(|(folder, _)| folder.starts_with(root))
        {
            if *folder == root || !is_within(folder, root) || folder.split('/').any(|part| part == "node_modules") {
                continue;
            }
            let relative = if root.is_empty() {
                folder
            } else {
                &folder[root.len() + 1..]
            };
            let cost: usize = globs.iter().map(|glob| glob.len() * relative.len() + 16).sum();
            if cost > work {
                break;
            }
            work -= cost;
            if let Some(name) = &manifest.name
                && is_member(&globs, relative)
            {
                add(name, root, folder);
            }
        }
    }
    for found in links.values_mut() {
        found.sort_by_key(|link| Reverse(link.scope.len()));
    }
    links
}

fn is_member(globs: &[&str], folder: &str) -> bool {
    let fits = |glob: &str| {
        let glob = glob.trim_start_matches("./").trim_end_matches('/');
        matches(glob, folder, Stop::AtEnd)
    };
    globs.iter().any(|glob| !glob.starts_with('!') && fits(glob))
        && !globs.iter().any(|glob| glob.strip_prefix('!').is_some_and(fits))
}

/// The folder that contains `node_modules`, and the package name, for a folder directly below `node_modules`.
fn installed_as(folder: &str) -> Option<(&str, &str)> {
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
