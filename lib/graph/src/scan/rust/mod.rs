//! Modules and paths of Rust, read without building a syntax tree.
//!
//! Found are `mod name;`, the leaves of every `use`, `extern crate`, files that `include!` and its kin take in, and paths
//! of two names and more wherever they stand: in expressions, types, attributes and the arguments of macros, whose text
//! is mostly items or expressions. Left alone is text that is code of another place: the rules of `macro_rules!`, and
//! what `quote!` and its kin put together.
//!
//! A path counts as far as a module can stand in it: a leaf of `use` may be one, the last name of an expression or type
//! never is. Its first name is looked up among what the file binds ([`scope`]), so that what is told is relative to the
//! file's own module, whatever inline module it stands in.

mod path;
mod scope;
#[cfg(test)]
mod tests;
mod trivia;

use std::collections::HashSet;

use super::lines::Lines;
use super::meter;
use super::{ImportKind, Specifier};
use scope::{Scopes, split_first};
use trivia::{character_end, comment_end, literal, raw_string, skip, string_end};

/// The name at `position`, without `r#`, and where it ends.
fn ident(text: &[u8], position: usize) -> Option<(&str, usize)> {
    let is_raw = text.get(position..position + 2) == Some(b"r#") && text.get(position + 2).is_some_and(is_name_start);
    let start = if is_raw { position + 2 } else { position };
    text.get(start).filter(|byte| is_name_start(byte))?;
    let end = word_end(text, start);
    Some((std::str::from_utf8(&text[start..end]).ok()?, end))
}

fn word_end(text: &[u8], position: usize) -> usize {
    let rest = text.get(position..).unwrap_or_default();
    let length = rest.iter().take_while(|byte| is_name_byte(byte)).count();
    meter::read(length);
    position + length
}

fn is_name_start(byte: &u8) -> bool {
    is_name_byte(byte) && !byte.is_ascii_digit()
}

fn is_name_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80
}

/// What was found, before its names are looked up.
#[derive(Debug)]
enum Form {
    /// `mod name;`: from the file's module on, and what `#[path]` says.
    Module(String, Option<String>),
    /// A leaf of `use`.
    Use(String),
    /// A path elsewhere, without its last name.
    Path(String),
    /// A file taken in as it is.
    Include(String),
}

#[derive(Debug)]
struct Found {
    position: usize,
    scope: u32,
    form: Form,
}

/// An open brace: the scope around it, and whether braces right in it bind their names outside.
#[derive(Clone, Copy, Debug)]
struct Frame {
    outer: u32,
    is_conditional: bool,
}

/// A text that is being scanned.
pub(super) struct Scanner<'t, 'f> {
    text: &'t [u8],
    position: usize,
    frames: Vec<Frame>,
    scope: u32,
    scopes: Scopes<'t>,
    /// What `path` attributes said since the last item, and whether each does so only under a condition.
    paths: Vec<(&'t str, bool)>,
    /// Whether the last attribute began with `cfg_attr`.
    is_conditional: bool,
    pending: Vec<Found>,
    found: &'f mut Vec<Specifier>,
}

impl<'t, 'f> Scanner<'t, 'f> {
    /// A scanner of `text`, which appends what it finds to `found`.
    pub(super) fn new(text: &'t [u8], found: &'f mut Vec<Specifier>) -> Self {
        let mut position = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let is_attribute = text.get(skip(text, position + 2)) == Some(&b'[');
        if text[position..].starts_with(b"#!") && !is_attribute {
            position = memchr::memchr(b'\n', text).unwrap_or(text.len());
        }
        Scanner {
            text,
            position,
            frames: Vec::new(),
            scope: scope::FILE,
            scopes: Scopes::new(),
            paths: Vec::new(),
            is_conditional: false,
            pending: Vec::new(),
            found,
        }
    }

    /// Scans the whole text.
    pub(super) fn scan_file(mut self) {
        while let Some(&byte) = self.text.get(self.position) {
            meter::read(1);
            let start = self.position;
            match byte {
                b'/' if matches!(self.text.get(start + 1), Some(b'/' | b'*')) => {
                    self.position = comment_end(self.text, start);
                    meter::read(self.position - start);
                }
                b'"' => {
                    self.position = string_end(self.text, start);
                    meter::read(self.position.saturating_sub(start));
                }
                b'\'' => self.quote(),
                b'{' => self.open_block(),
                b'}' => self.close(),
                b';' => {
                    self.paths.clear();
                    self.position += 1;
                }
                b'#' => self.attribute(),
                b':' if self.text.get(start + 1) == Some(&b':') => self.colons(),
                b'0'..=b'9' => self.position = word_end(self.text, start),
                _ if is_name_byte(&byte) => self.word(),
                _ => self.position += 1,
            }
        }
        self.look_up();
    }

    /// A character, or a lifetime or label, whose name is then passed over.
    fn quote(&mut self) {
        let end = character_end(self.text, self.position);
        let is_lifetime = end == self.position + 1;
        self.position = if is_lifetime { word_end(self.text, end) } else { end };
    }

    fn open_block(&mut self) {
        self.paths.clear();
        self.position += 1;
        let outer = self.scope;
        if !self.frames.last().is_some_and(|frame| frame.is_conditional) {
            self.scope = self.scopes.open_block(outer);
        }
        self.frames.push(Frame {
            outer,
            is_conditional: false,
        });
    }

    fn close(&mut self) {
        self.paths.clear();
        self.position += 1;
        if let Some(frame) = self.frames.pop() {
            self.scope = frame.outer;
        }
    }

    /// Notes which attribute begins, for a `path` in it; its text is read on.
    fn attribute(&mut self) {
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

    /// `#[path = "x"]` and `#[cfg_attr(c, path = "x")]`, kept for the item that follows; the position is behind `path`.
    fn path_attribute(&mut self) {
        let equals = skip(self.text, self.position);
        if self.text.get(equals) == Some(&b'=')
            && let Some((value, end)) = literal(self.text, skip(self.text, equals + 1))
        {
            meter::read(end - self.position);
            self.position = end;
            self.paths.push((value, self.is_conditional));
        }
    }

    /// `::` at the position: the front of a path, or what goes on behind `<T>`.
    fn colons(&mut self) {
        let start = self.position;
        self.position += 2;
        let before = self.text[..start]
            .iter()
            .rev()
            .take(64)
            .find(|byte| !byte.is_ascii_whitespace());
        let goes_on = matches!(before, Some(b'>' | b']' | b')' | b'}' | b'$')) || before.is_some_and(is_name_byte);
        let Some((name, end)) = ident(self.text, skip(self.text, self.position)) else {
            return;
        };
        if goes_on {
            self.position = end;
        } else {
            self.path(start, name, end, true);
        }
    }

    /// A keyword, a path, or the beginning of a literal.
    fn word(&mut self) {
        let start = self.position;
        let Some((name, end)) = ident(self.text, start) else {
            self.position = word_end(self.text, start).max(start + 1);
            return;
        };
        self.position = end;
        let next = self.text.get(end);
        if matches!(name, "r" | "br" | "cr")
            && matches!(next, Some(b'"' | b'#'))
            && let Some((_, end)) = raw_string(self.text, end)
        {
            meter::read(end - self.position);
            self.position = end;
            return;
        }
        match name {
            "mod" => return self.module(start),
            "use" => return self.use_tree(start),
            "extern" => return self.extern_crate(start),
            "pub" => return self.visibility(),
            "path" => self.path_attribute(),
            _ => {}
        }
        if start > 0 && self.text[start - 1] == b'$' {
            return;
        }
        if self.position != end {
            return;
        }
        let last = match next {
            Some(b':' | b'!' | b' ' | b'\n' | b'\t' | b'\r' | b'/') => self.path(start, name, end, false),
            _ => return,
        };
        let bang = skip(self.text, self.position);
        if self.text.get(bang) == Some(&b'!') {
            self.macro_call(start, last, bang + 1);
        }
    }

    /// `mod name;` and `mod name {`; the position is behind the word.
    fn module(&mut self, start: usize) {
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
                    self.note(start, Form::Module(path.clone(), None));
                }
                for (value, is_conditional) in paths {
                    if !is_conditional || !is_elsewhere {
                        self.note(start, Form::Module(path.clone(), Some(value.to_owned())));
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

    /// `extern crate name as alias;`; the position is behind `extern`.
    fn extern_crate(&mut self, start: usize) {
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
        }
        if path.len() <= scope::MAX_PATH_BYTES {
            self.note(start, Form::Use(path));
        }
    }

    /// `pub(in a::b)` names a module around it, which is no use of that module.
    fn visibility(&mut self) {
        let open = skip(self.text, self.position);
        if self.text.get(open) == Some(&b'(')
            && let Some(("in", end)) = ident(self.text, skip(self.text, open + 1))
        {
            let rest = &self.text[end..];
            let length = rest.iter().take(scope::MAX_PATH_BYTES).position(|byte| *byte == b')');
            self.position = end + length.unwrap_or(0);
        }
    }

    /// A call of the macro `name`; `at` is behind the `!`.
    fn macro_call(&mut self, start: usize, name: &str, at: usize) {
        let mut open = skip(self.text, at);
        match name {
            "macro_rules" => {
                if let Some((_, end)) = ident(self.text, open) {
                    open = skip(self.text, end);
                }
                self.position = group_end(self.text, open);
                return;
            }
            "quote" | "quote_spanned" | "parse_quote" | "parse_quote_spanned" => {
                self.position = group_end(self.text, open);
                return;
            }
            "include" | "include_str" | "include_bytes" => {
                if let Some((value, end)) = literal(self.text, skip(self.text, open + 1)) {
                    let closing = skip(self.text, end);
                    if matches!(self.text.get(closing), Some(b')' | b']' | b'}' | b',')) {
                        self.position = end;
                        self.note(start, Form::Include(value.to_owned()));
                    }
                }
            }
            _ => {}
        }
        if self.text.get(open) == Some(&b'{') && self.position <= open {
            self.paths.clear();
            self.position = open + 1;
            self.frames.push(Frame {
                outer: self.scope,
                is_conditional: matches!(name, "cfg_if" | "cfg_select" | "match_cfg"),
            });
        }
    }

    fn note(&mut self, position: usize, form: Form) {
        self.pending.push(Found {
            position,
            scope: self.scope,
            form,
        });
    }

    /// Looks up the names of all that was found, and tells it.
    fn look_up(self) {
        let mut lines = Lines::new(self.text);
        let mut known = HashSet::new();
        for one in self.pending {
            let (text, name, kind) = match one.form {
                Form::Module(text, path) => (text, path, ImportKind::Module),
                Form::Include(text) => (text, None, ImportKind::Reference),
                Form::Use(path) => match (self.scopes.absolute(&path, one.scope), split_first(&path).0) {
                    (Some(absolute), "" | "crate" | "self" | "super") => (absolute, None, ImportKind::Import),
                    (Some(absolute), _) if absolute != path => (path, Some(absolute), ImportKind::Import),
                    (Some(_), _) => (path, None, ImportKind::Import),
                    (None, _) => continue,
                },
                Form::Path(path) => {
                    let Some(absolute) = self.scopes.absolute(&path, one.scope) else {
                        continue;
                    };
                    if leads_nowhere_else(&self.scopes, &path, &absolute) || !known.insert(absolute.clone()) {
                        continue;
                    }
                    (absolute, None, ImportKind::Path)
                }
            };
            if text.len() > super::MAX_SPECIFIER_BYTES {
                continue;
            }
            let line = lines.at(self.text, one.position);
            self.found.push(Specifier { text, name, kind, line });
        }
    }
}

/// Whether a path, as written and as looked up, adds nothing to what `mod` and `use` say: it is in this file, names what
/// one of them names, or is the standard library's.
fn leads_nowhere_else(scopes: &Scopes<'_>, written: &str, absolute: &str) -> bool {
    let is_bound_name = !written.contains("::") && written != absolute && !matches!(written, "self" | "super");
    let (first, rest) = split_first(absolute);
    match first {
        "self" => {
            let (name, _) = split_first(rest);
            is_bound_name || rest.is_empty() || !scopes.is_declared(scope::FILE, name)
        }
        "super" | "crate" | "" => is_bound_name,
        name => is_bound_name || is_built_in(name),
    }
}

fn is_built_in(name: &str) -> bool {
    matches!(
        name,
        "std"
            | "core"
            | "alloc"
            | "bool"
            | "char"
            | "str"
            | "f32"
            | "f64"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "usize"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "isize"
    )
}

/// Where the group whose bracket is at `position` ends, behind its closing one. All brackets count alike: text that
/// compiles has them in pairs.
fn group_end(text: &[u8], position: usize) -> usize {
    let mut at = position;
    let mut depth = 0_usize;
    while let Some(byte) = text.get(at) {
        at = match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                at + 1
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                at + 1
            }
            b'/' if matches!(text.get(at + 1), Some(b'/' | b'*')) => comment_end(text, at),
            b'"' => string_end(text, at),
            b'\'' => character_end(text, at),
            b'r' if matches!(text.get(at + 1), Some(b'"' | b'#')) => match raw_string(text, at + 1) {
                Some((_, end)) => end,
                None => at + 1,
            },
            byte if is_name_byte(byte) => {
                let end = word_end(text, at);
                // `br"` and `cr"`.
                if end - at == 2 && text[at + 1] == b'r' {
                    at + 1
                } else {
                    end
                }
            }
            _ => at + 1,
        };
        if depth == 0 {
            break;
        }
    }
    meter::read(at.min(text.len()).saturating_sub(position));
    at
}
