//! The aliases of one folder's projects, by the configs of frameworks, Vite and Deno in it.

use std::collections::HashSet;

use crate::resolve::manifests::Parsed;
use crate::resolve::manifests::framework::Framework;
use crate::resolve::manifests::tsconfig::Patterns;
use crate::resolve::paths::folder;

/// The aliases for a folder and those below it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Aliases {
    pub(crate) paths: Patterns,
    /// The folder to which Vite's paths that begin with a slash are relative.
    pub(crate) root: Option<String>,
    /// Whether those of outer folders count as well: Deno's import map of a workspace does for its members.
    pub(crate) is_open: bool,
}

impl Aliases {
    /// The aliases by `configs`, path and content, which are in one folder. Of one alias, the first counts.
    pub(super) fn new(configs: &[(&str, &Parsed)]) -> Self {
        let mut aliases = Aliases {
            is_open: true,
            ..Aliases::default()
        };
        let mut known = HashSet::new();
        for (path, config) in configs {
            let here = folder(path);
            let (patterns, is_open) = match config {
                Parsed::Framework(config) => {
                    let framework = Framework::new(path, config);
                    (framework.map_or_else(Vec::new, Framework::into_paths), false)
                }
                Parsed::Vite(config) => {
                    aliases.root = aliases.root.or_else(|| config.root(here));
                    (config.patterns(here), false)
                }
                Parsed::Deno(config) => (config.patterns(here), true),
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
}
