//! The aliases that the configs of frameworks, Vite and Deno in one folder declare.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::resolve::manifests::ParsedManifest;
use crate::resolve::manifests::framework::{Configs, framework_aliases, layers};
use crate::resolve::manifests::tsconfig::Patterns;
use crate::resolve::paths::folder;

/// Most layers of all projects of a graph together.
const MAX_LAYERS: usize = 50_000;

/// The aliases for a folder and those below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aliases {
    paths: Patterns,
    /// The project that this is a layer of: in a layer, aliases mean the project's files first.
    project: Option<Arc<Aliases>>,
    /// The folder to which Vite's paths that begin with a slash are relative.
    pub(crate) root: Option<String>,
    /// Whether the aliases of outer folders count as well: Deno's import map of a workspace does for its members.
    pub(crate) is_open: bool,
}

/// The aliases of each folder that has any. `configs` has the paths and contents of the configs by folder. Aliases that
/// equal those in `older` are shared with it. If there is no room for the layers of a project, its config goes to
/// `left_out`.
pub(super) fn aliases_by_folder(
    configs: &BTreeMap<&str, Vec<(&str, &ParsedManifest)>>,
    older: Option<&HashMap<String, Arc<Aliases>>>,
    left_out: &mut BTreeSet<String>,
) -> HashMap<String, Arc<Aliases>> {
    let share = |folder: &str, fresh: Aliases| {
        let old = older.and_then(|older| older.get(folder));
        let equal = old.filter(|old| ***old == fresh);
        equal.map_or_else(|| Arc::new(fresh), Arc::clone)
    };
    let frameworks = frameworks(configs);
    let mut project_of: HashMap<&str, &str> = HashMap::new();
    let mut room = MAX_LAYERS;
    let mut aliases = HashMap::new();
    for (folder, configs) in configs {
        let mut layers = layers(folder, &frameworks);
        match room.checked_sub(layers.len()) {
            Some(rest) => room = rest,
            None => {
                left_out.extend(frameworks.get(folder).map(|(path, _)| (*path).to_owned()));
                layers.clear();
            }
        }
        let fresh = Aliases::new(configs, &layers, &frameworks);
        if !fresh.is_open || !fresh.paths.is_empty() {
            aliases.insert((*folder).to_owned(), share(folder, fresh));
        }
        for layer in layers {
            project_of.entry(layer).or_insert(folder);
        }
    }
    let in_project = |(layer, project): (&&str, &&str)| {
        let fresh = Aliases {
            project: Some(Arc::clone(aliases.get(*project)?)),
            ..Aliases::clone(aliases.get(*layer)?)
        };
        Some(((*layer).to_owned(), share(layer, fresh)))
    };
    let layers: Vec<_> = project_of.iter().filter_map(in_project).collect();
    aliases.extend(layers);
    aliases
}

/// The framework configs among `configs`. In one folder, the first counts.
fn frameworks<'a>(configs: &BTreeMap<&'a str, Vec<(&'a str, &'a ParsedManifest)>>) -> Configs<'a> {
    let first = |configs: &Vec<(&'a str, &'a ParsedManifest)>| {
        configs.iter().find_map(|(path, config)| match config {
            ParsedManifest::Framework(config) => Some((*path, &**config)),
            _ => None,
        })
    };
    configs
        .iter()
        .filter_map(|(folder, configs)| Some((*folder, first(configs)?)))
        .collect()
}

impl Aliases {
    /// The aliases that `configs` declare, given by path and content. All are in one folder, and their project has
    /// these layers. The first declaration of an alias counts.
    fn new(configs: &[(&str, &ParsedManifest)], layers: &[&str], frameworks: &Configs<'_>) -> Self {
        let mut aliases = Aliases {
            is_open: true,
            ..Aliases::default()
        };
        let mut seen_patterns = HashSet::new();
        for (path, config) in configs {
            let here = folder(path);
            let (patterns, is_open) = match config {
                ParsedManifest::Framework(config) => {
                    let patterns = framework_aliases(path, config, layers, frameworks);
                    (patterns.unwrap_or_default(), false)
                }
                ParsedManifest::Vite(config) => {
                    aliases.root = aliases.root.or_else(|| config.root(here));
                    (config.patterns(here), false)
                }
                ParsedManifest::Deno(config) => (config.patterns(here), true),
                _ => continue,
            };
            aliases.is_open &= is_open;
            let fresh = patterns
                .into_iter()
                .filter(|(pattern, _)| seen_patterns.insert(pattern.clone()));
            aliases.paths.extend(fresh);
        }
        aliases
    }

    /// The aliases of the project and of the folder itself. Earlier ones take precedence.
    pub(crate) fn all_paths(&self) -> impl Iterator<Item = &Patterns> {
        let project_paths = self.project.iter().map(|project| &project.paths);
        project_paths.chain([&self.paths])
    }
}
