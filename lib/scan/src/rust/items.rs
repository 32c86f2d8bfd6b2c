//! Items that name a module or a crate (`mod`, `extern crate`), and text before items: attributes, `pub(in ...)`.

use crate::meter;
use crate::rust::scanner::{Form, Frame, Scanner};
use crate::rust::scope;
use crate::rust::trivia::{ident, literal, skip};

impl Scanner<'_, '_> {
    /// `mod name;` and `mod name {`; the position is after the word.
    pub(super) fn module(&mut self, start: usize) {
        let Some((name, end)) = ident(self.text, skip(self.text, self.position)) else {
            return;
        };
        let at = skip(self.text, end);
        match self.text.get(at) {
            Some(b';') => {
                self.position = at;
                let module = self.scopes.module_of(self.scope);
                self.scopes.declare(self.scope, name);
                let Some(path) = self.scopes.prefix(module).map(|prefix| format!("{prefix}{name}")) else {
                    return;
                };
                let paths = std::mem::take(&mut self.paths);
                let is_elsewhere = paths.iter().any(|(_, is_conditional)| !is_conditional);
                if !is_elsewhere {
                    self.add(start, Form::Module(path.clone(), None));
                }
                for (value, is_conditional) in paths {
                    if !is_conditional || !is_elsewhere {
                        self.add(start, Form::Module(path.clone(), Some(value.to_owned())));
                    }
                }
            }
            Some(b'{') => {
                self.paths.clear();
                self.position = at + 1;
                let outer = self.scope;
                self.scope = self.scopes.open_module(outer, name);
                self.frames.push(Frame {
                    outer,
                    is_conditional: false,
                });
            }
            _ => {}
        }
    }

    /// `extern crate name as alias;`; the position is after `extern`.
    pub(super) fn extern_crate(&mut self, start: usize) {
        let Some(("crate", end)) = ident(self.text, skip(self.text, self.position)) else {
            return;
        };
        let Some((name, end)) = ident(self.text, skip(self.text, end)) else {
            return;
        };
        self.position = end;
        let path = match name {
            "self" => "crate".to_owned(),
            name => format!("::{name}"),
        };
        if let Some(("as", end)) = ident(self.text, skip(self.text, end))
            && let Some((alias, end)) = ident(self.text, skip(self.text, end))
        {
            self.position = end;
            self.scopes.bind(self.scope, alias, &path);
            // In the root of a crate, the alias applies in all files of the crate.
            let is_short = path.len().max(alias.len()) <= scope::MAX_PATH_BYTES;
            if alias != "_" && self.scope == scope::FILE && is_short {
                return self.add(start, Form::CrateAlias(alias.to_owned(), path));
            }
        }
        if path.len() <= scope::MAX_PATH_BYTES {
            self.add(start, Form::Use(path));
        }
    }

    /// Records whether a `path` in the attribute is conditional. The scan continues inside the attribute.
    pub(super) fn attribute(&mut self) {
        let mut at = skip(self.text, self.position + 1);
        self.position += 1;
        if self.text.get(at) == Some(&b'!') {
            at = skip(self.text, at + 1);
        }
        if self.text.get(at) == Some(&b'[') {
            self.position = at + 1;
            let name = ident(self.text, skip(self.text, at + 1));
            self.is_conditional = name.is_some_and(|(name, _)| name == "cfg_attr");
        }
    }

    /// `#[path = "x"]` and `#[cfg_attr(c, path = "x")]`, kept for the next item; the position is after `path`.
    pub(super) fn path_attribute(&mut self) {
        let equals = skip(self.text, self.position);
        if self.text.get(equals) == Some(&b'=')
            && let Some((value, end)) = literal(self.text, skip(self.text, equals + 1))
        {
            meter::read(end - self.position);
            self.position = end;
            self.paths.push((value, self.is_conditional));
        }
    }

    /// `pub(in a::b)` names a module around it, which does not count as a use of that module.
    pub(super) fn visibility(&mut self) {
        let open = skip(self.text, self.position);
        if self.text.get(open) == Some(&b'(')
            && let Some(("in", end)) = ident(self.text, skip(self.text, open + 1))
        {
            let rest = &self.text[end..];
            let length = rest.iter().take(scope::MAX_PATH_BYTES).position(|byte| *byte == b')');
            self.position = end + length.unwrap_or(0);
        }
    }
}
