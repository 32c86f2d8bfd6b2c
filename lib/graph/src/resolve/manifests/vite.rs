//! `vite.config` and `vitest.config`: the root and the aliases, as far as they are literal.

use crate::resolve::manifests::framework::{add_alias, script_stem};
use crate::resolve::manifests::object_literal::{Property, literal_properties};
use crate::resolve::manifests::tsconfig::Patterns;
use crate::resolve::paths::joined;

/// Most aliases of one config.
const MAX_ALIASES: usize = 256;

/// The literal part of one config.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ViteConfig {
    /// Aliases and targets. A target is relative to the root if it begins with a slash, else to the config's folder.
    aliases: Vec<(String, String)>,
    /// The root, relative to the config's folder.
    root: Option<String>,
}

/// Whether a file with this name is such a config.
pub(crate) fn is_vite_config(name: &str) -> bool {
    script_stem(name).is_some_and(|stem| ["vite.config", "vitest.config"].contains(&stem))
}

impl ViteConfig {
    pub(crate) fn parse(text: &str) -> Self {
        let mut config = ViteConfig::default();
        // Most configs have neither, so reading their tokens would be wasted work.
        if !["alias", "root"].iter().any(|name| text.contains(name)) {
            return config;
        }
        // The values in the last `{ find, replacement }`, in either order.
        let (mut find, mut replacement) = (None, None);
        for property in literal_properties(text) {
            // A string that begins with a slash is a path; any other is the name of a package.
            let is_path = property.is_path || property.value.starts_with('/');
            let Property {
                within,
                name,
                value,
                object,
                ..
            } = property;
            match (within.as_slice(), name.as_str()) {
                ([], "root") if config.root.is_none() && !value.starts_with('/') => config.root = Some(value),
                ([.., "alias"], "find") => find = Some((object, value)),
                ([.., "alias"], "replacement") if is_path => replacement = Some((object, value)),
                ([.., "alias"], _) if is_path => config.add_alias(name, value),
                _ => {}
            }
            if let (Some((find_object, alias)), Some((replacement_object, target))) = (&find, &replacement)
                && find_object == replacement_object
            {
                config.add_alias(alias.clone(), target.clone());
                (find, replacement) = (None, None);
            }
        }
        config
    }

    fn add_alias(&mut self, alias: String, target: String) {
        if self.aliases.len() < MAX_ALIASES {
            self.aliases.push((alias, target));
        }
    }

    /// The number of values in it.
    pub(crate) fn value_count(&self) -> usize {
        1 + 2 * self.aliases.len()
    }

    /// The root of the project whose config is in `folder`.
    pub(crate) fn root(&self, folder: &str) -> Option<String> {
        joined(folder, self.root.as_deref().unwrap_or_default())
    }

    /// The aliases of the project whose config is in `folder`.
    pub(crate) fn patterns(&self, folder: &str) -> Patterns {
        let mut patterns = Patterns::new();
        let root = self.root(folder);
        for (alias, target) in &self.aliases {
            let base = if target.starts_with('/') {
                root.as_deref()
            } else {
                Some(folder)
            };
            let target = base.and_then(|base| joined(base, target));
            if target.is_some() {
                add_alias(&mut patterns, alias.trim_end_matches('/'), &[target]);
            }
        }
        patterns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_are_read_in_the_forms_in_which_people_write_them() {
        for (value, expected) in [
            ("'/src'", Some("d/src")),
            ("resolve(__dirname, 'src')", Some("d/src")),
            ("path.join(import.meta.dirname, '..', 'x')", Some("x")),
            ("fileURLToPath(new URL('../src', import.meta.url))", Some("src")),
            ("new URL('./src/', import.meta.url).pathname", Some("d/src")),
            ("'vue'", None),
            ("'./src'", None),
            ("path.resolve('../../src')", None),
            ("resolve(unknown, 'src')", None),
        ] {
            let target_of = |config: &str| {
                let text = format!("export default defineConfig({{ plugins: [a()], resolve: {{ alias: {config} }} }})");
                let patterns = ViteConfig::parse(&text).patterns("d");
                patterns
                    .into_iter()
                    .find(|(key, _)| key == "@")
                    .map(|(_, targets)| targets.concat())
            };
            for config in [
                format!("{{ '@': {value}, b: c }}"),
                format!("[{{ find: /^~/, replacement: '/no' }}, {{ find: '@', replacement: {value} }}, x()]"),
                format!("[x(), {{ replacement: {value}, find: '@' }}, {{ replacement: '/no', find: /x/ }}]"),
            ] {
                assert_eq!(target_of(&config).as_deref(), expected, "{config}");
            }
        }
    }

    #[test]
    fn aliases_lead_below_the_config_or_the_root() {
        let text = "export default { root: 'web', test: { root: 'no', alias: { '~/': '/lib', $a: resolve('a'), up: resolve('../..') } } }";
        let config = ViteConfig::parse(text);
        assert_eq!(config.root("app"), Some("app/web".to_owned()));
        let patterns = config.patterns("app");
        let entries: Vec<(&str, &str)> = patterns
            .iter()
            .map(|(key, targets)| (key.as_str(), targets[0].as_str()))
            .collect();
        assert_eq!(
            entries,
            [
                ("~/*", "app/web/lib/*"),
                ("~", "app/web/lib"),
                ("$a/*", "app/a/*"),
                ("$a", "app/a")
            ]
        );
        assert_eq!(ViteConfig::parse("").root("app"), Some("app".to_owned()));
        let many: String = (0..1_000).map(|number| format!("a{number}: '/a',")).collect();
        assert_eq!(
            ViteConfig::parse(&format!("alias: {{ {many} }}")).aliases.len(),
            MAX_ALIASES
        );
    }
}
