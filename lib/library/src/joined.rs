//! The parts of a build, joined.

use std::collections::BTreeMap;

use super::part::Part;
use super::source::{Source, in_order};

type Sources = BTreeMap<&'static str, &'static Source<'static>>;

/// The modules and functions of all parts.
#[derive(Debug, Default)]
pub struct JoinedParts {
    modules: Sources,
    functions: Sources,
}

/// The prelude by which modules find each other.
const PRELUDE: &str = "local modules = {}\nlocal function require(name)\nreturn modules[name]\nend\n";

impl JoinedParts {
    /// The parts together.
    ///
    /// # Panics
    /// When two of their modules, or two of their functions, have the same name.
    pub fn of(parts: impl IntoIterator<Item = &'static Part>) -> Self {
        let mut joined = JoinedParts::default();
        let add = |all: &mut Sources, files: &'static [(&'static str, Source<'static>)]| {
            for (name, source) in files {
                assert!(all.insert(name, source).is_none(), "two Lua files have the name {name}");
            }
        };
        for part in parts {
            add(&mut joined.modules, part.modules);
            add(&mut joined.functions, part.functions);
        }
        joined
    }

    /// The text that registers each function.
    pub fn library(&self) -> String {
        let mut library = self.modules(self.modules.keys().copied());
        for (name, function) in &self.functions {
            library += &format!("register('{name}', (function()\n{}end)())\n", function.code);
        }
        library
    }

    /// The function `name` as a script with its modules.
    pub fn script(&self, name: &str) -> Option<String> {
        let function = self.functions.get(name)?;
        let mut script = self.modules(function.requires.iter().copied());
        script += &format!("return (function()\n{}end)()(KEYS, ARGV)\n", function.code);
        Some(script)
    }

    /// The names of the functions.
    pub fn functions(&self) -> impl Iterator<Item = &'static str> {
        self.functions.keys().copied()
    }

    fn modules<'m>(&'m self, wanted: impl IntoIterator<Item = &'m str>) -> String {
        let mut text = String::from(PRELUDE);
        for name in in_order(&self.modules, wanted) {
            text += &format!("modules['{name}'] = (function()\n{}end)()\n", self.modules[name].code);
        }
        text
    }
}
