//! The Lua files of the state as modules: their requirements, and their order. For `build.rs`, and for the tests of its errors.

use std::collections::{BTreeMap, BTreeSet};

pub struct Source {
    /// It, without comments: a store keeps the text.
    pub code: String,
    /// The modules that it uses itself.
    pub requires: Vec<String>,
}

impl Source {
    /// The file `name` with this text.
    pub fn of(name: &str, text: &str) -> Self {
        assert!(!text.contains("[["), "{name}: a long string looks like code");
        let mut source = Source {
            code: String::with_capacity(text.len()),
            requires: Vec::new(),
        };
        let mut is_head = true;
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("--");
        for line in text.lines().filter(is_code) {
            let required = required(line);
            is_head &= required.is_some();
            assert!(
                is_head || !line.contains("require("),
                "{name}: put its requires at its head, a line each: {line}"
            );
            source.requires.extend(required.map(str::to_owned));
            source.code += line;
            source.code.push('\n');
        }
        let names: BTreeSet<&String> = source.requires.iter().collect();
        assert!(
            names.len() == source.requires.len(),
            "{name}: it requires a module twice"
        );
        source
    }
}

/// The module of a line `local Alias = require('NAME')`.
fn required(line: &str) -> Option<&str> {
    let (alias, name) = line
        .strip_prefix("local ")?
        .strip_suffix("')")?
        .split_once(" = require('")?;
    alias.chars().all(char::is_alphanumeric).then_some(name)
}

/// `wanted` and all modules that these use, each behind its dependencies; and the modules `AGGREGATE/seams` that put functions into seams
/// among these.
pub fn in_order<'m>(modules: &'m BTreeMap<String, Source>, wanted: impl IntoIterator<Item = &'m str>) -> Vec<&'m str> {
    fn add<'m>(
        modules: &'m BTreeMap<String, Source>,
        name: &'m str,
        path: &mut Vec<&'m str>,
        order: &mut Vec<&'m str>,
    ) {
        assert!(!path.contains(&name), "{name} uses itself: {path:?}");
        if order.contains(&name) {
            return;
        }
        let source = modules
            .get(name)
            .unwrap_or_else(|| panic!("{path:?} require {name}, and there is no such module"));
        path.push(name);
        for other in &source.requires {
            add(modules, other, path, order);
        }
        path.pop();
        order.push(name);
    }
    let mut order = Vec::new();
    for name in wanted {
        add(modules, name, &mut Vec::new(), &mut order);
    }
    // An extension may bring another seam with it.
    let is_missing = |order: &[&str], name: &str, extension: &Source| {
        let has_seam = |required: &String| required.starts_with("seams/") && order.contains(&required.as_str());
        name.ends_with("/seams") && !order.contains(&name) && extension.requires.iter().any(has_seam)
    };
    while let Some((name, _)) = modules.iter().find(|(name, source)| is_missing(&order, name, source)) {
        add(modules, name, &mut Vec::new(), &mut order);
    }
    order
}
