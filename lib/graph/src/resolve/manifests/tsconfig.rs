//! `tsconfig.json` and `jsconfig.json`: the options that affect resolution, own and inherited through `extends`.

use std::sync::Arc;

use crate::resolve::manifests::glob::{Stop, matches};
use crate::resolve::manifests::json::Json;
use crate::resolve::paths::{folder, is_within, joined};

/// Patterns in written order, each with its targets.
pub(crate) type Patterns = Vec<(String, Vec<String>)>;

/// One file as written. Folders and globs are relative to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RawConfig {
    pub(crate) extends: Vec<String>,
    pub(crate) references: Vec<String>,
    base_url: Option<String>,
    paths: Option<Patterns>,
    root_dirs: Option<Vec<String>>,
    root_dir: Option<String>,
    out_dirs: Vec<String>,
    module_resolution: Option<String>,
    module: Option<String>,
    conditions: Option<Vec<String>>,
    module_suffixes: Option<Vec<String>>,
    allow_js: Option<bool>,
    files: Option<Vec<String>>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
}

impl RawConfig {
    /// The number of values in it.
    pub(crate) fn value_count(&self) -> usize {
        let paths = self.paths.iter().flatten();
        let targets: usize = paths.map(|(_, targets)| 1 + targets.len()).sum();
        let lists = [&self.files, &self.include, &self.exclude, &self.root_dirs];
        let items: usize = lists.into_iter().flatten().map(Vec::len).sum();
        targets + items + self.extends.len() + self.references.len() + 1
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let json = Json::parse(text)?;
        json.fields()?;
        let empty = Json::Null;
        let options = json.get("compilerOptions").unwrap_or(&empty);
        let text_of = |key| options.get(key).and_then(Json::text).map(str::to_owned);
        let bool_of = |key| match options.get(key) {
            Some(Json::Bool(value)) => Some(*value),
            _ => None,
        };
        Some(RawConfig {
            extends: match json.get("extends") {
                Some(Json::Text(one)) => vec![one.clone()],
                Some(list) => list.texts().unwrap_or_default(),
                None => Vec::new(),
            },
            references: json
                .get("references")
                .and_then(Json::list)
                .unwrap_or_default()
                .iter()
                .filter_map(|reference| reference.get("path")?.text().map(str::to_owned))
                .collect(),
            base_url: text_of("baseUrl"),
            paths: options.get("paths").and_then(Json::fields).map(|fields| {
                fields
                    .iter()
                    .map(|(pattern, targets)| (pattern.clone(), targets.texts().unwrap_or_default()))
                    .collect()
            }),
            root_dirs: options.get("rootDirs").and_then(Json::texts),
            root_dir: text_of("rootDir"),
            out_dirs: ["outDir", "declarationDir"].into_iter().filter_map(text_of).collect(),
            module_resolution: text_of("moduleResolution").map(|text| text.to_ascii_lowercase()),
            module: text_of("module").map(|text| text.to_ascii_lowercase()),
            conditions: options.get("customConditions").and_then(bounded_texts),
            module_suffixes: options.get("moduleSuffixes").and_then(bounded_texts),
            allow_js: bool_of("allowJs").or(bool_of("checkJs").filter(|checks_js| *checks_js)),
            files: json.get("files").and_then(Json::texts),
            include: json.get("include").and_then(Json::texts),
            exclude: json.get("exclude").and_then(Json::texts),
        })
    }
}

/// Most suffixes of modules, and most conditions, of one config: every lookup tries all of them.
const MAX_TRIED: usize = 64;

fn bounded_texts(list: &Json) -> Option<Vec<String>> {
    let mut texts = list.texts()?;
    texts.truncate(MAX_TRIED);
    Some(texts)
}

/// How TypeScript finds the entries of packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    /// By `exports`, with the condition `import` or `require`.
    #[default]
    Bundler,
    /// By `exports`, also with the condition `node`.
    Node,
    /// By `types` and `main`, without `exports`.
    Node10,
}

/// The options in effect after inheritance. Paths are relative to the repository.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Options {
    pub(crate) base_url: Option<String>,
    /// Patterns and their targets, with `*` still in both. Configs that inherit the same patterns share them.
    pub(crate) paths: Arc<Patterns>,
    pub(crate) root_dirs: Vec<String>,
    pub(crate) root_dir: Option<String>,
    pub(crate) out_dirs: Vec<String>,
    pub(crate) mode: Mode,
    pub(crate) conditions: Vec<String>,
    /// Suffixes that can be between a module's name and its extension, best first.
    pub(crate) module_suffixes: Vec<String>,
    allow_js: bool,
    files: Option<Vec<String>>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
}

/// Longest chain of `extends`.
const MAX_DEPTH: usize = 32;
/// Most files that one config may inherit from; arrays of `extends` could double the number at each step.
const MAX_INHERITED: usize = 256;

/// The options of the config at `path`. `read` returns a config by path. `locate` returns the path that an `extends`
/// refers to, from the folder of its file. `values` is the number of values that configs may still inherit. `None` if
/// this config inherits more.
pub(crate) fn effective_options<'a>(
    path: &str,
    read: &dyn Fn(&str) -> Option<&'a RawConfig>,
    locate: &dyn Fn(&str, &str) -> Option<String>,
    values: &mut usize,
) -> Option<Options> {
    let mut inheritance = Inheritance {
        read,
        locate,
        leaf: folder(path),
        open: Vec::new(),
        remaining_configs: MAX_INHERITED,
        remaining_values: values,
        is_exceeded: false,
        options: RawConfig::default(),
        origin: String::new(),
    };
    inheritance.add(path);
    if inheritance.is_exceeded {
        return None;
    }
    let options = inheritance.options;
    let from = options.base_url.as_deref().unwrap_or(&inheritance.origin);
    let resolve = |target: &String| joined(if target.starts_with('/') { "" } else { from }, target);
    let patterns = options.paths.into_iter().flatten();
    let paths: Patterns = patterns
        .map(|(pattern, targets)| (pattern, targets.iter().filter_map(resolve).collect()))
        .collect();
    let mode = match (options.module_resolution.as_deref(), options.module.as_deref()) {
        (Some("node16" | "nodenext"), _) | (None, Some("node16" | "node18" | "node20" | "nodenext")) => Mode::Node,
        (Some("node" | "node10"), _) => Mode::Node10,
        _ => Mode::Bundler,
    };
    Some(Options {
        paths: Arc::new(paths),
        base_url: options.base_url,
        root_dirs: options.root_dirs.unwrap_or_default(),
        root_dir: options.root_dir,
        out_dirs: options.out_dirs,
        mode,
        conditions: options.conditions.unwrap_or_default(),
        module_suffixes: options.module_suffixes.unwrap_or_default(),
        allow_js: options
            .allow_js
            .unwrap_or_else(|| path.rsplit('/').next().is_some_and(|name| name.starts_with("jsconfig"))),
        files: options.files,
        include: options.include,
        exclude: options.exclude,
    })
}

/// The options of one config, as far as they were read from it and the configs that it extends.
struct Inheritance<'a, 'c> {
    read: &'a dyn Fn(&str) -> Option<&'c RawConfig>,
    locate: &'a dyn Fn(&str, &str) -> Option<String>,
    /// The folder of the config that inherits.
    leaf: &'a str,
    /// The paths of the configs that are being read.
    open: Vec<String>,
    /// The numbers of configs and values that may still be inherited. All configs of the graph share the values.
    remaining_configs: usize,
    remaining_values: &'a mut usize,
    is_exceeded: bool,
    /// The options so far. Folders and globs are relative to the repository.
    options: RawConfig,
    /// The folder that targets of `paths` are relative to without `baseUrl`.
    origin: String,
}

impl Inheritance<'_, '_> {
    /// Adds the config at `path` to the options, after the configs that it extends.
    fn add(&mut self, path: &str) {
        if self.open.len() >= MAX_DEPTH
            || self.remaining_configs == 0
            || self.is_exceeded
            || self.open.iter().any(|open| open == path)
        {
            return;
        }
        let Some(config) = (self.read)(path) else { return };
        self.remaining_configs -= 1;
        let (here, leaf) = (folder(path), self.leaf);
        let cost = config.value_count() * (1 + leaf.len().max(path.len()) / 64);
        let Some(rest) = self.remaining_values.checked_sub(cost) else {
            self.is_exceeded = true;
            return;
        };
        *self.remaining_values = rest;
        self.open.push(path.to_owned());
        for parent in &config.extends {
            if let Some(parent) = (self.locate)(here, parent) {
                self.add(&parent);
            }
        }
        self.open.pop();
        let resolve = |text: &String| match text.strip_prefix("${configDir}") {
            Some(rest) => joined(leaf, rest),
            None => joined(here, text),
        };
        let resolve_all = |texts: &Vec<String>| texts.iter().filter_map(resolve).collect::<Vec<_>>();
        let options = &mut self.options;
        if let Some(base) = &config.base_url {
            options.base_url = resolve(base);
        }
        if let Some(paths) = &config.paths {
            // A leading `/` marks a target relative to the repository. A later `baseUrl` does not affect it.
            let anchor = |target: &String| match target.strip_prefix("${configDir}/") {
                Some(rest) => format!("/{leaf}/{rest}"),
                None => target.clone(),
            };
            let unfold =
                |(pattern, targets): &(String, Vec<String>)| (pattern.clone(), targets.iter().map(anchor).collect());
            options.paths = Some(paths.iter().map(unfold).collect());
            self.origin = here.to_owned();
        }
        if let Some(dir) = &config.root_dir {
            options.root_dir = resolve(dir);
        }
        if !config.out_dirs.is_empty() {
            options.out_dirs = resolve_all(&config.out_dirs);
        }
        override_with(&mut options.module_resolution, &config.module_resolution);
        override_with(&mut options.module, &config.module);
        override_with(&mut options.conditions, &config.conditions);
        override_with(&mut options.module_suffixes, &config.module_suffixes);
        override_with(&mut options.allow_js, &config.allow_js);
        for (inherited, own) in [
            (&mut options.root_dirs, &config.root_dirs),
            (&mut options.files, &config.files),
            (&mut options.include, &config.include),
            (&mut options.exclude, &config.exclude),
        ] {
            if let Some(own) = own {
                *inherited = Some(resolve_all(own));
            }
        }
    }
}

fn override_with<T: Clone>(inherited: &mut Option<T>, own: &Option<T>) {
    if own.is_some() {
        inherited.clone_from(own);
    }
}

/// Folders that `include` enters only where it names them.
const NEVER_INCLUDED: [&str; 3] = ["node_modules", "bower_components", "jspm_packages"];

impl Options {
    /// The number of values that it does not share with other configs.
    pub(crate) fn own_value_count(&self) -> usize {
        let lists = [&self.files, &self.include, &self.exclude];
        let items: usize = lists.into_iter().flatten().map(Vec::len).sum();
        1 + items + self.root_dirs.len() + self.module_suffixes.len() + self.conditions.len()
    }

    /// The cost of one call of [`lists`](Self::lists): 1 for each glob, and more for a long glob.
    pub(crate) fn glob_cost(&self) -> usize {
        let lists = [&self.files, &self.include, &self.exclude];
        lists
            .into_iter()
            .flatten()
            .flatten()
            .map(|glob| 1 + glob.len() / 8)
            .sum()
    }

    /// Whether the config at `config_path` lists `file` by its own `files`, `include` and `exclude`.
    pub(crate) fn lists(&self, config_path: &str, file: &str) -> bool {
        if self
            .files
            .as_ref()
            .is_some_and(|files| files.iter().any(|listed| listed == file))
        {
            return true;
        }
        let here = folder(config_path);
        let is_script =
            file.ends_with(".js") || file.ends_with(".jsx") || file.ends_with(".mjs") || file.ends_with(".cjs");
        if is_script && !self.allow_js {
            return false;
        }
        let included = match (&self.include, &self.files) {
            (Some(patterns), _) => patterns.iter().any(|pattern| includes(pattern, file)),
            (None, Some(_)) => false,
            (None, None) => is_within(file, here) && !enters_package_folder(here, file),
        };
        included
            && !match &self.exclude {
                Some(patterns) => patterns.iter().any(|pattern| matches(pattern, file, Stop::AtAnyFolder)),
                None => self.out_dirs.iter().any(|dir| is_within(file, dir)),
            }
    }
}

fn includes(pattern: &str, file: &str) -> bool {
    let last = pattern.rsplit('/').next().unwrap_or(pattern);
    // A last component without wildcard or extension names a folder.
    let names_a_folder = last == "**" || !last.contains(['*', '?', '.']);
    let matched = if pattern.is_empty() {
        true
    } else if names_a_folder {
        matches(pattern, file, Stop::AtAnyFolder)
    } else {
        matches(pattern, file, Stop::AtEnd)
    };
    matched && (!pattern.contains("**") && !names_a_folder || !enters_package_folder(fixed_folder(pattern), file))
}

/// The folder of a pattern before its first wildcard.
fn fixed_folder(pattern: &str) -> &str {
    let fixed = pattern
        .find(['*', '?'])
        .map_or(pattern, |wildcard| &pattern[..wildcard]);
    folder(fixed)
}

fn enters_package_folder(from: &str, file: &str) -> bool {
    file.get(from.len()..)
        .unwrap_or("")
        .split('/')
        .any(|part| NEVER_INCLUDED.contains(&part))
}
