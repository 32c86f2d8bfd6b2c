//! Lua files as modules: their requirements, and their order.

use std::borrow::{Borrow, Cow};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub struct Source<'s> {
    /// The modules that the file itself requires.
    pub requires: Cow<'s, [&'s str]>,
    /// The text without comments, because a store keeps it.
    pub code: Cow<'s, str>,
}

impl<'s> Source<'s> {
    /// A file that a build script has parsed: see [`Source::parse`].
    pub const fn new(requires: &'s [&'s str], code: &'s str) -> Self {
        Source {
            requires: Cow::Borrowed(requires),
            code: Cow::Borrowed(code),
        }
    }

    /// Parses the file `name` with this text.
    ///
    /// # Panics
    /// When the text has a long string, a `require` after its head, or the same `require` twice.
    pub fn parse(name: &str, text: &'s str) -> Self {
        assert!(!text.contains("[["), "{name}: a long string looks like code");
        let (mut code, mut requires) = (String::with_capacity(text.len()), Vec::new());
        let mut is_head = true;
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("--");
        for line in text.lines().filter(is_code) {
            let module = required_module(line);
            is_head &= module.is_some();
            assert!(
                is_head || !line.contains("require("),
                "{name}: put its requires at its head, a line each: {line}"
            );
            requires.extend(module);
            code += line;
            code.push('\n');
        }
        let names: BTreeSet<&str> = requires.iter().copied().collect();
        assert!(names.len() == requires.len(), "{name}: it requires a module twice");
        Source {
            requires: Cow::Owned(requires),
            code: Cow::Owned(code),
        }
    }
}

/// The module in a line `local Alias = require('NAME')`.
fn required_module(line: &str) -> Option<&str> {
    let (alias, name) = line
        .strip_prefix("local ")?
        .strip_suffix("')")?
        .split_once(" = require('")?;
    alias.chars().all(char::is_alphanumeric).then_some(name)
}

/// `wanted` and all modules that these use, each after its dependencies, and the modules `AGGREGATE/seams` that put
/// functions into a seam among these.
///
/// # Panics
/// When a module is missing, or uses itself through others.
pub(crate) fn in_order<'m, 's: 'm, S: Borrow<Source<'s>>>(
    modules: &'m BTreeMap<&'m str, S>,
    wanted: impl IntoIterator<Item = &'m str>,
) -> Vec<&'m str> {
    fn add<'m, 's: 'm, S: Borrow<Source<'s>>>(
        modules: &'m BTreeMap<&'m str, S>,
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
        for other in source.borrow().requires.iter() {
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
    let is_missing = |order: &[&str], name: &str, extension: &Source<'_>| {
        let has_seam = |required: &&str| required.starts_with("seams/") && order.contains(required);
        name.ends_with("/seams") && !order.contains(&name) && extension.requires.iter().any(has_seam)
    };
    while let Some((name, _)) = modules
        .iter()
        .find(|(name, source)| is_missing(&order, name, (*source).borrow()))
    {
        add(modules, name, &mut Vec::new(), &mut order);
    }
    order
}
