//! The aliases of one folder's projects, by the configs of frameworks, Vite and Deno in it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use crate::resolve::manifests::ParsedManifest;
use crate::resolve::manifests::framework::{Configs, Framework, layers};
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
    /// Whether those of outer folders count as well: Deno's import map of a workspace does for its members.
    pub(crate) is_open: bool,
}

/// The aliases by folder, where any are: path and content of its configs are in `configs`. Those that equal aliases of `older` are
/// taken from there. The config of a project for whose layers there is no room goes to `left_out`.
pub(super) fn aliases_by_folder(
    configs: &BTreeMap<&str, Vec<(&str, &ParsedManifest)>>,
    older: Option<&HashMap<String, Arc<Aliases>>>,
    left_out: &mut BTreeSet<String>,
) -> HashMap<String, Arc<Aliases>> {
    let keep = |folder: &str, fresh: Aliases| {
        let known = older.and_then(|older| older.get(folder));
        let kept = known.filter(|known| ***known == fresh);
        kept.map_or_else(|| Arc::new(fresh), Arc::clone)
    };
    let frameworks = frameworks(configs);
    let mut project_of: HashMap<&str, &str> = HashMap::new();
    let mut room = MAX_LAYERS;
    let mut all = HashMap::new();
    for (folder, configs) in configs {
        let mut layers = layers(folder, &frameworks);
        match room.checked_sub(layers.len()) {
            Some(left) => room = left,
            None => {
                left_out.extend(frameworks.get(folder).map(|(path, _)| (*path).to_owned()));
                layers.clear();
            }
        }
        let fresh = Aliases::new(configs, &layers, &frameworks);
        if !fresh.is_open || !fresh.paths.is_empty() {
            all.insert((*folder).to_owned(), keep(folder, fresh));
        }
        for layer in layers {
            project_of.entry(layer).or_insert(folder);
        }
    }
    let in_project = |(layer, project): (&&str, &&str)| {
        let fresh = Aliases {
            project: Some(Arc::clone(all.get(*project)?)),
            ..Aliases::clone(all.get(*layer)?)
        };
        Some(((*layer).to_owned(), keep(layer, fresh)))
    };
    let layers: Vec<_> = project_of.iter().filter_map(in_project).collect();
    all.extend(layers);
    all
}

/// The configs of frameworks among `all`. Of those in one folder, the first counts.
fn frameworks<'a>(all: &BTreeMap<&'a str, Vec<(&'a str, &'a ParsedManifest)>>) -> Configs<'a> {
    let first = |configs: &Vec<(&'a str, &'a ParsedManifest)>| {
        configs.iter().find_map(|(path, config)| match config {
            ParsedManifest::Framework(config) => Some((*path, &**config)),
            _ => None,
        })
    };
    all.iter()
        .filter_map(|(folder, configs)| Some((*folder, first(configs)?)))
        .collect()
}

impl Aliases {
    /// The aliases by `configs`, path and content, which are in one folder and whose project has these layers. Of one alias, the
    /// first counts.
    fn new(configs: &[(&str, &ParsedManifest)], layers: &[&str], frameworks: &Configs<'_>) -> Self {
        let mut aliases = Aliases {
            is_open: true,
            ..Aliases::default()
        };
        let mut known = HashSet::new();
        for (path, config) in configs {
            let here = folder(path);
            let (patterns, is_open) = match config {
                ParsedManifest::Framework(config) => {
                    let framework = Framework::new(path, config, layers, frameworks);
                    (framework.map_or_else(Vec::new, Framework::into_paths), false)
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
                .filter(|(pattern, _)| known.insert(pattern.clone()));
            aliases.paths.extend(fresh);
        }
        aliases
    }

    /// The aliases, those that count first before others.
    pub(crate) fn all_paths(&self) -> impl Iterator<Item = &Patterns> {
        let of_project = self.project.iter().map(|project| &project.paths);
        of_project.chain([&self.paths])
    }
}
