//! Paths: the trees of `use`, and `a::b::c` anywhere else.

use crate::rust::scanner::{Form, Scanner};
use crate::rust::scope::MAX_PATH_BYTES;
use crate::rust::trivia::{ident, skip};

impl<'t> Scanner<'t, '_> {
    /// `use` at `start`; the position is after the word. Adds one specifier for each leaf of the tree.
    pub(super) fn use_tree(&mut self, start: usize) {
        let mut at = skip(self.text, self.position);
        // `use<'a, T>` names the captures of a type.
        if self.text.get(at) == Some(&b'<') {
            return;
        }
        let mut prefix = Prefix::default();
        // The prefix at each open brace.
        let mut open: Vec<(usize, bool)> = Vec::new();
        while !self.pending.is_full() {
            match self.text.get(at) {
                Some(b'{') => {
                    open.push((prefix.text.len(), prefix.is_too_long));
                    at += 1;
                }
                Some(b'}') if !open.is_empty() => {
                    open.pop();
                    at += 1;
                }
                Some(b',') if !open.is_empty() => {
                    let (length, is_too_long) = open.last().copied().unwrap_or_default();
                    prefix.text.truncate(length);
                    prefix.is_too_long = is_too_long;
                    at += 1;
                }
                Some(b'*') => {
                    self.glob(start, &prefix);
                    at += 1;
                }
                // Only at the start: elsewhere it is consumed with the name before it.
                Some(b':') if self.text.get(at + 1) == Some(&b':') => {
                    if prefix.text.is_empty() {
                        prefix.text.push_str("::");
                    }
                    at += 2;
                }
                _ => {
                    let Some((name, end)) = ident(self.text, at) else { break };
                    let after = skip(self.text, end);
                    if self.text.get(after..after + 2) == Some(b"::") {
                        prefix.push(name);
                        at = after + 2;
                    } else {
                        at = self.leaf(start, &prefix, name, after);
                    }
                }
            }
            at = skip(self.text, at);
        }
        self.position = self.position.max(at);
    }

    fn glob(&mut self, start: usize, prefix: &Prefix) {
        if prefix.text == "super::" {
            self.scopes.import_parent_names(self.scope);
        }
        if !prefix.text.is_empty() && !prefix.is_too_long {
            self.add(start, Form::Use(format!("{}*", prefix.text)));
        }
    }

    /// The last name of a branch; `after` is the position after it. Returns the end of the leaf.
    fn leaf(&mut self, start: usize, prefix: &Prefix, name: &'t str, after: usize) -> usize {
        let mut bound = Some(name);
        let mut path = format!("{}{name}", prefix.text);
        if name == "self" && !prefix.text.is_empty() {
            path.truncate(prefix.text.trim_end_matches(':').len());
            bound = None;
        }
        let mut at = after;
        if let Some(("as", end)) = ident(self.text, at)
            && let Some((alias, end)) = ident(self.text, skip(self.text, end))
        {
            bound = Some(alias);
            at = end;
        }
        if !prefix.is_too_long && path.len() <= MAX_PATH_BYTES {
            let last = path.rsplit("::").next().unwrap_or(&path);
            self.scopes.bind(self.scope, bound.unwrap_or(last), &path);
            self.add(start, Form::Use(path));
        }
        at
    }

    /// A path that begins with the name at `start`, or with the `::` before it if `is_global`. Returns its last name.
    pub(super) fn path(&mut self, start: usize, first: &'t str, end: usize, is_global: bool) -> &'t str {
        self.position = end;
        let mut parents = String::new();
        let mut last = first;
        loop {
            let colons = skip(self.text, self.position);
            if self.text.get(colons..colons + 2) != Some(b"::") {
                break;
            }
            let Some((name, end)) = ident(self.text, skip(self.text, colons + 2)) else {
                break;
            };
            if parents.len() + last.len() <= MAX_PATH_BYTES {
                if !parents.is_empty() || is_global {
                    parents.push_str("::");
                }
                parents.push_str(last);
            }
            last = name;
            self.position = end;
        }
        // The last name is a value, a type or a macro, never a module.
        let is_type = first.starts_with(char::is_uppercase);
        if !parents.is_empty() && !is_type && parents.len() <= MAX_PATH_BYTES {
            self.add(start, Form::Path(parents));
        }
        last
    }
}

/// The text before a name in the tree of a `use`: names, each with `::` after it.
#[derive(Debug, Default)]
struct Prefix {
    text: String,
    is_too_long: bool,
}

impl Prefix {
    fn push(&mut self, name: &str) {
        if self.text.len() + name.len() + 2 > MAX_PATH_BYTES {
            self.is_too_long = true;
        }
        if !self.is_too_long {
            self.text.push_str(name);
            self.text.push_str("::");
        }
    }
}
