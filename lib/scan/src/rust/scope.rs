//! The meaning of names in one file, as far as the file defines it: inline modules, declared modules, and names that
//! `use` binds.
//!
//! A file may use a name before it binds it, so paths are looked up after the whole file has been read.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

/// A module in braces, or the file itself.
#[derive(Debug)]
struct Module {
    parent: u32,
    /// Names from the file's module down, each with `::` after it. `None` if they nest too deep to be followed.
    prefix: Option<String>,
    scope: u32,
    /// Whether it imports all names of the module around it.
    imports_parent_names: bool,
}

/// A pair of braces that can bind names.
#[derive(Clone, Copy, Debug)]
struct Scope {
    parent: u32,
    module: u32,
}

/// The scope, and the module, of the whole file.
pub(super) const FILE: u32 = 0;
/// Deepest inline module that is followed; it bounds the output for a hostile file.
const MAX_DEPTH: usize = 32;
/// Most scopes that are searched for all names of one file: twenty for each finding, at the bound on findings.
const MAX_STEPS: usize = 400_000;
/// Most `use`s of one file through which a name is followed.
const MAX_ALIASES: usize = 8;
/// Longest path that is kept, in bytes; a bound like [`MAX_DEPTH`].
pub(super) const MAX_PATH_BYTES: usize = 512;

/// The names that a file binds.
#[derive(Debug)]
pub(super) struct Scopes<'t> {
    modules: Vec<Module>,
    scopes: Vec<Scope>,
    declared: HashSet<(u32, &'t str)>,
    /// Name in a scope -> the path that it stands for, to be looked up in the same scope.
    aliases: HashMap<u32, HashMap<String, String>>,
    /// Number of scopes that may still be searched.
    steps: Cell<usize>,
}

impl<'t> Scopes<'t> {
    pub(super) fn new() -> Self {
        let file = Module {
            parent: FILE,
            prefix: Some(String::new()),
            scope: FILE,
            imports_parent_names: false,
        };
        let scope = Scope {
            parent: FILE,
            module: FILE,
        };
        Scopes {
            modules: vec![file],
            scopes: vec![scope],
            declared: HashSet::new(),
            aliases: HashMap::new(),
            steps: Cell::new(MAX_STEPS),
        }
    }

    /// Numbers of scopes and modules.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.scopes.len(), self.modules.len())
    }

    pub(super) fn module_of(&self, scope: u32) -> u32 {
        self.scopes.get(scope as usize).map_or(FILE, |scope| scope.module)
    }

    pub(super) fn open_block(&mut self, parent: u32) -> u32 {
        let module = self.module_of(parent);
        self.scopes.push(Scope { parent, module });
        (self.scopes.len() - 1) as u32
    }

    /// Opens the inline module `name` in the scope `parent`.
    pub(super) fn open_module(&mut self, parent: u32, name: &'t str) -> u32 {
        let around = self.module_of(parent);
        self.declared.insert((around, name));
        let prefix = self.modules[around as usize].prefix.as_ref().and_then(|prefix| {
            let is_short = prefix.matches("::").count() < MAX_DEPTH && prefix.len() + name.len() + 2 <= MAX_PATH_BYTES;
            is_short.then(|| format!("{prefix}{name}::"))
        });
        let module = self.modules.len() as u32;
        let scope = self.scopes.len() as u32;
        self.modules.push(Module {
            parent: around,
            prefix,
            scope,
            imports_parent_names: false,
        });
        // Names in a module are not looked up in the scopes around it.
        self.scopes.push(Scope { parent: scope, module });
        scope
    }

    /// Records `mod name;` in `scope`.
    pub(super) fn declare(&mut self, scope: u32, name: &'t str) {
        self.declared.insert((self.module_of(scope), name));
    }

    /// Records that `name` stands for `path` in `scope`. Of several under different conditions, the first counts.
    pub(super) fn bind(&mut self, scope: u32, name: &str, path: &str) {
        // `use a::a` binds no module: if it did, the first `a` would be ambiguous.
        if name != "_" && split_first(path).0 != name {
            let aliases = self.aliases.entry(scope).or_default();
            aliases.entry(name.to_owned()).or_insert_with(|| path.to_owned());
        }
    }

    /// Records `use super::*` in `scope`.
    pub(super) fn import_parent_names(&mut self, scope: u32) {
        let module = self.module_of(scope);
        if self.scopes[scope as usize].module == module && self.modules[module as usize].scope == scope {
            self.modules[module as usize].imports_parent_names = true;
        }
    }

    /// The path from the file's module to `module`, with `::` after each name.
    pub(super) fn prefix(&self, module: u32) -> Option<&str> {
        self.modules.get(module as usize)?.prefix.as_deref()
    }

    pub(super) fn is_declared(&self, module: u32, name: &str) -> bool {
        self.declared.contains(&(module, name))
    }

    fn alias(&self, scope: u32, name: &str) -> Option<&String> {
        self.aliases.get(&scope)?.get(name)
    }

    /// Whether [`MAX_STEPS`] has stopped the lookups of names.
    pub(super) fn has_stopped(&self) -> bool {
        self.steps.get() == 0
    }

    /// `path` in `scope`, relative to the file's module. It begins with `crate`, `self`, one or more `super`, `::`, or
    /// the name of a crate, which the file does not bind. `None` if it is too long.
    pub(super) fn absolute_path(&self, path: &str, scope: u32) -> Option<String> {
        let mut path = path.to_owned();
        let mut scope = scope;
        for _ in 0..MAX_ALIASES {
            let next = match self.step(&path, scope)? {
                Step::Done(path) => return Some(path),
                Step::Again(path, scope) => (path, scope),
            };
            if next.0.len() > MAX_PATH_BYTES {
                return None;
            }
            (path, scope) = next;
        }
        None
    }

    fn step(&self, path: &str, scope: u32) -> Option<Step> {
        let (first, rest) = split_first(path);
        let mut module = self.module_of(scope);
        match first {
            "" | "crate" => Some(Step::Done(path.to_owned())),
            "self" => self.step_in_module(module, rest),
            "super" => {
                let mut rest = path;
                while let ("super", after) = split_first(rest) {
                    if module == FILE {
                        return Some(Step::Done(rest.to_owned()));
                    }
                    module = self.modules[module as usize].parent;
                    rest = after;
                }
                self.step_in_module(module, rest)
            }
            name => self.step_by_name(name, path, rest, scope),
        }
    }

    /// A path whose first name is looked up in `scope` and the scopes around it.
    fn step_by_name(&self, name: &str, path: &str, rest: &str, mut scope: u32) -> Option<Step> {
        for _ in 0..=MAX_DEPTH * 4 {
            self.steps.set(self.steps.get().checked_sub(1)?);
            let Scope { parent, module } = *self.scopes.get(scope as usize)?;
            let is_module = self.modules[module as usize].scope == scope;
            if is_module && self.is_declared(module, name) {
                return self.file_path(module, path).map(Step::Done);
            }
            if let Some(target) = self.alias(scope, name) {
                return Some(Step::Again(join(target, rest), scope));
            }
            if !is_module {
                scope = parent;
            } else if self.modules[module as usize].imports_parent_names && module != FILE {
                scope = self.modules[self.modules[module as usize].parent as usize].scope;
            } else {
                break;
            }
        }
        Some(Step::Done(path.to_owned()))
    }

    /// `rest` in `module`.
    fn step_in_module(&self, module: u32, rest: &str) -> Option<Step> {
        let (first, after) = split_first(rest);
        let scope = self.modules[module as usize].scope;
        match self.alias(scope, first) {
            Some(target) if !self.is_declared(module, first) => Some(Step::Again(join(target, after), scope)),
            _ => self.file_path(module, rest).map(Step::Done),
        }
    }

    /// `rest` in `module`, as a path from the file's module.
    fn file_path(&self, module: u32, rest: &str) -> Option<String> {
        let prefix = self.prefix(module)?;
        let path = format!("self::{prefix}{rest}");
        Some(path.trim_end_matches(':').to_owned())
    }
}

enum Step {
    Done(String),
    /// An alias was substituted: look up this path in this scope.
    Again(String, u32),
}

/// The first name of a path and the rest, without the `::`.
pub(super) fn split_first(path: &str) -> (&str, &str) {
    path.split_once("::").unwrap_or((path, ""))
}

fn join(path: &str, rest: &str) -> String {
    if rest.is_empty() {
        path.to_owned()
    } else {
        format!("{path}::{rest}")
    }
}
