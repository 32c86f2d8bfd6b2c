//! Aliases that SvelteKit, Nuxt and WXT write into a generated tsconfig, which is not tracked. The defaults are built
//! in. The rest is the literal part of the framework's own config.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::resolve::manifests::object_literal::{Property, literal_properties};
use crate::resolve::manifests::tsconfig::Patterns;
use crate::resolve::paths::{below, folder, joined};

/// A framework, by the name of its config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    SvelteKit,
    Nuxt,
    Wxt,
}

const CONFIGS: [(&str, Kind); 3] = [
    ("svelte.config", Kind::SvelteKit),
    ("nuxt.config", Kind::Nuxt),
    ("wxt.config", Kind::Wxt),
];

/// Most aliases of one config.
const MAX_ALIASES: usize = 256;
/// Most layers of one project.
const MAX_LAYERS: usize = 256;

/// The name of a script without its extension.
pub(crate) fn script_stem(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_script = ["js", "ts", "mjs", "mts", "cjs", "cts"].contains(&extension);
    is_script.then_some(stem)
}

fn kind_of(name: &str) -> Option<Kind> {
    let stem = script_stem(name)?;
    let (_, kind) = CONFIGS.iter().find(|(config, _)| *config == stem)?;
    Some(*kind)
}

/// Whether a file with this name is the config of one of the frameworks.
pub(crate) fn is_framework_config(name: &str) -> bool {
    kind_of(name).is_some()
}

/// The literal part of one config.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FrameworkConfig {
    /// Alias and target, relative to the config's folder.
    aliases: Vec<(String, String)>,
    /// `srcDir` of Nuxt and WXT.
    source_folder: Option<String>,
    /// `kit.files.lib` of SvelteKit.
    library_folder: Option<String>,
    /// Folders of layers that Nuxt's `extends` names.
    layers: Vec<String>,
    /// `$meta.name` of a layer of Nuxt.
    name: Option<String>,
}

impl FrameworkConfig {
    /// The number of values in it.
    pub(crate) fn value_count(&self) -> usize {
        1 + self.aliases.len() + self.layers.len()
    }

    pub(crate) fn parse(text: &str) -> Self {
        let mut config = FrameworkConfig::default();
        for Property {
            within, name, value, ..
        } in literal_properties(text)
        {
            match (within.as_slice(), name.as_str()) {
                ([.., "alias"], _) if config.aliases.len() < MAX_ALIASES => config.aliases.push((name, value)),
                ([.., "files"], "lib") => config.library_folder = Some(value),
                ([], "srcDir") => config.source_folder = Some(value),
                ([], "extends") if value.starts_with('.') && config.layers.len() < MAX_LAYERS => {
                    config.layers.push(value);
                }
                (["$meta"], "name") => config.name = Some(value),
                _ => {}
            }
        }
        config
    }

    /// The folders that can have the sources of the Nuxt project in `root`. By default, these are `app` from version 4
    /// on, and the root in earlier versions.
    fn nuxt_sources(&self, root: &str) -> [Option<String>; 2] {
        match self.source_folder.as_deref() {
            Some(source) => [joined(root, source), None],
            None => [joined(root, "app"), joined(root, "")],
        }
    }
}

/// The configs of a tree by folder, one for each.
pub(crate) type Configs<'a> = BTreeMap<&'a str, (&'a str, &'a FrameworkConfig)>;

/// The folders of the layers of the Nuxt project in `root`: those in its folder `layers`, then those that it extends.
pub(crate) fn layers<'a>(root: &str, configs: &Configs<'a>) -> Vec<&'a str> {
    let Some((_, config)) = configs.get(root).filter(|(path, _)| is_nuxt(path)) else {
        return Vec::new();
    };
    let local = below(root, "layers/");
    let in_folder = configs
        .range::<str, _>((Bound::Included(local.as_str()), Bound::Unbounded))
        .map(|(folder, _)| *folder)
        .take_while(|folder| folder.starts_with(&local))
        .filter(|folder| !folder[local.len()..].contains('/'));
    let mut layers: Vec<&str> = in_folder.take(MAX_LAYERS).collect();
    let extended = config.layers.iter().filter_map(|layer| {
        let (folder, _) = configs.get_key_value(joined(root, layer)?.as_str())?;
        Some(*folder)
    });
    layers.extend(extended);
    layers.retain(|folder| *folder != root && configs.get(folder).is_some_and(|(path, _)| is_nuxt(path)));
    layers
}

fn is_nuxt(path: &str) -> bool {
    path.rsplit('/').next().and_then(kind_of) == Some(Kind::Nuxt)
}

/// The aliases of the project whose config is at `path` and which has these layers. `None` if `path` is no such config.
pub(crate) fn framework_aliases(
    path: &str,
    config: &FrameworkConfig,
    layers: &[&str],
    configs: &Configs<'_>,
) -> Option<Patterns> {
    let root = folder(path);
    let kind = kind_of(path.rsplit('/').next()?)?;
    let mut paths = Patterns::new();
    let mut add = |aliases: &[&str], targets: &[Option<String>]| {
        for alias in aliases {
            add_alias(&mut paths, alias, targets);
        }
    };
    // The config overrides a default with the same name.
    for (alias, target) in &config.aliases {
        add(&[alias.as_str()], &[joined(root, target)]);
    }
    let in_root = |relative: Option<&str>, default: &str| joined(root, relative.unwrap_or(default));
    match kind {
        Kind::SvelteKit => add(&["$lib"], &[in_root(config.library_folder.as_deref(), "src/lib")]),
        Kind::Nuxt => {
            add(&["~", "@"], &config.nuxt_sources(root));
            for layer in layers {
                let Some((_, config)) = configs.get(*layer) else {
                    continue;
                };
                // A layer outside of the folder `layers` has no name unless it gives itself one.
                let folder_name = layer.strip_prefix(&below(root, "layers/"));
                if let Some(name) = config.name.as_deref().or(folder_name) {
                    let alias = format!("#layers/{name}");
                    let mut sources = config.nuxt_sources(layer).to_vec();
                    sources.push(Some((*layer).to_owned()));
                    add(&[alias.as_str()], &sources);
                }
            }
            add(&["~~", "@@"], &[joined(root, "")]);
            add(&["#shared"], &[joined(root, "shared")]);
        }
        Kind::Wxt => {
            add(&["~", "@"], &[in_root(config.source_folder.as_deref(), "")]);
            add(&["~~", "@@"], &[joined(root, "")]);
        }
    }
    Some(paths)
}

/// Adds an alias for the targets and everything below them, unless `paths` has the alias.
pub(crate) fn add_alias(paths: &mut Patterns, alias: &str, targets: &[Option<String>]) {
    let alias = alias.trim_end_matches("/*");
    let targets: Vec<&str> = targets
        .iter()
        .flatten()
        .map(|target| target.trim_end_matches("/*"))
        .collect();
    if alias.is_empty() || alias.contains('*') || paths.iter().any(|(pattern, _)| pattern == alias) {
        return;
    }
    let to_pattern = |target: &&str| match *target {
        "" => "*".to_owned(),
        target => format!("{target}/*"),
    };
    paths.push((format!("{alias}/*"), targets.iter().map(to_pattern).collect()));
    paths.push((
        alias.to_owned(),
        targets.iter().map(|target| (*target).to_owned()).collect(),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(path: &str, text: &str, alias: &str) -> Vec<String> {
        let aliases = framework_aliases(path, &FrameworkConfig::parse(text), &[], &Configs::new()).unwrap();
        let entry = aliases.into_iter().find(|(pattern, _)| pattern == alias);
        entry.map_or(Vec::new(), |(_, targets)| targets)
    }

    #[test]
    fn each_framework_has_its_defaults() {
        for (path, text, alias, expected) in [
            ("web/svelte.config.js", "", "$lib/*", vec!["web/src/lib/*"]),
            ("svelte.config.ts", "", "$lib", vec!["src/lib"]),
            ("nuxt.config.ts", "", "~/*", vec!["app/*", "*"]),
            ("a/nuxt.config.ts", "", "@@/*", vec!["a/*"]),
            (
                "nuxt.config.ts",
                "export default defineNuxtConfig({ srcDir: 'client/' })",
                "@/*",
                vec!["client/*"],
            ),
            ("wxt.config.ts", "", "@/*", vec!["*"]),
            (
                "e/wxt.config.ts",
                "export default defineConfig({ srcDir: \"src\" })",
                "~/*",
                vec!["e/src/*"],
            ),
        ] {
            assert_eq!(targets(path, text, alias), expected, "{path}: {alias}");
        }
        assert!(!is_framework_config("svelte.config.json") && !is_framework_config("my-nuxt.config.ts"));
    }

    #[test]
    fn literal_aliases_are_added_and_others_are_not() {
        let text = "const config = { kit: { files: { lib: 'src/own' }, alias: {\n\
                    // '$no': 'src/no',\n $ui: 'src/ui', '$api/*': \"./src/api/*\", $computed: path.resolve('x'), $not: path.resolve(x), '@': `src` } } };";
        for (alias, expected) in [
            ("$ui/*", vec!["src/ui/*"]),
            ("$api", vec!["src/api"]),
            ("$lib/*", vec!["src/own/*"]),
            ("@/*", vec!["src/*"]),
            ("$computed", vec!["x"]),
            ("$not", vec![]),
            ("$no", vec![]),
        ] {
            assert_eq!(targets("svelte.config.js", text, alias), expected, "{alias}");
        }
    }
}
