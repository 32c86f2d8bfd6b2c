//! `importlib.import_module("a.b")` and `__import__("a.b")`.

use std::ops::Range;

use crate::import_kind::ImportKind;
use crate::python::bytes::word_end;
use crate::python::scanner::Scanner;
use crate::python::trivia::skip;

impl Scanner<'_, '_> {
    /// A call of `import_module` or `__import__`; the position is after the word.
    ///
    /// A relative name counts only if its package is known: written out, or the file's own (`__package__`, `__name__`).
    pub(super) fn import_module(&mut self) {
        let start = self.position;
        let parenthesis = skip(self.text, start, false);
        if self.text.get(parenthesis) != Some(&b'(') {
            return;
        }
        let (mut module, mut package) = (None, None);
        let mut at = skip(self.text, parenthesis + 1, true);
        for number in 0..2 {
            let (keyword, value) = self.keyword(at);
            let end = match (keyword, number) {
                (None, 0) | (Some(b"name"), _) => {
                    let Some((content, end)) = literal(self.text, value) else {
                        return;
                    };
                    module = Some(content);
                    end
                }
                (None, _) | (Some(b"package"), _) => {
                    let Some((value, end)) = self.package(value) else {
                        break;
                    };
                    package = Some(value);
                    end
                }
                _ => break,
            };
            let after = skip(self.text, end, true);
            match self.text.get(after) {
                Some(b')') => break,
                Some(b',') => at = skip(self.text, after + 1, true),
                _ => return,
            }
        }
        let Some(Ok(module)) = module.map(|content| std::str::from_utf8(&self.text[content])) else {
            return;
        };
        let levels = module.bytes().take_while(|byte| *byte == b'.').count();
        let (dots, path) = module.split_at(levels);
        let is_dotted = path.split('.').all(is_name) || (path.is_empty() && levels > 0);
        if !is_dotted {
            return;
        }
        let text = if levels == 0 {
            path.to_owned()
        } else {
            match package {
                Some(Package::Own) => format!("{dots}{path}"),
                Some(Package::Named(package)) => match resolve_relative(package, levels, path) {
                    Some(module) => module,
                    None => return,
                },
                None => return,
            }
        };
        self.emit(start, text, None, ImportKind::Dynamic);
    }

    /// The keyword of the argument at `position`, and the position of its value.
    fn keyword(&self, position: usize) -> (Option<&[u8]>, usize) {
        let end = word_end(self.text, position);
        let equals = skip(self.text, end, true);
        let is_keyword = end > position && matches!(self.text.get(equals..), Some([b'=', next, ..]) if *next != b'=');
        match is_keyword {
            true => (self.text.get(position..end), skip(self.text, equals + 1, true)),
            false => (None, position),
        }
    }

    /// The package at `position`, and the position after it.
    fn package(&self, position: usize) -> Option<(Package<'_>, usize)> {
        let (end, package) = match self.text.get(position..word_end(self.text, position)) {
            Some(name @ (b"__package__" | b"__name__")) => (position + name.len(), Package::Own),
            _ => {
                let (content, end) = literal(self.text, position)?;
                let name = std::str::from_utf8(&self.text[content]).ok()?;
                (end, name.split('.').all(is_name).then_some(Package::Named(name))?)
            }
        };
        matches!(self.text.get(skip(self.text, end, true)), Some(b')' | b',')).then_some((package, end))
    }
}

/// The package of a relative name.
enum Package<'t> {
    /// The package of the file.
    Own,
    /// A package named in the call.
    Named(&'t str),
}

/// `path` after `levels` dots, relative to `package`. `None` beyond the top.
fn resolve_relative(package: &str, levels: usize, path: &str) -> Option<String> {
    let mut base = package;
    for _ in 1..levels {
        base = base.rsplit_once('.')?.0;
    }
    Some(if path.is_empty() {
        base.to_owned()
    } else {
        format!("{base}.{path}")
    })
}

/// The content and the end of a plain string without escapes at `position`.
fn literal(text: &[u8], position: usize) -> Option<(Range<usize>, usize)> {
    let quote_at = word_end(text, position);
    if !matches!(text.get(position..quote_at)?, b"" | b"u" | b"U" | b"r" | b"R") {
        return None;
    }
    let quote = *text.get(quote_at).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let width = if text.get(quote_at + 1..quote_at + 3) == Some(&[quote; 2]) {
        3
    } else {
        1
    };
    let start = quote_at + width;
    let length = text
        .get(start..)?
        .iter()
        .take_while(|byte| is_module_byte(**byte))
        .count();
    let end = start + length;
    let is_closed = text.get(end..end + width)?.iter().all(|byte| *byte == quote);
    is_closed.then_some((start..end, end + width))
}

fn is_module_byte(byte: u8) -> bool {
    byte == b'.' || byte == b'_' || byte.is_ascii_alphanumeric() || byte >= 0x80
}

fn is_name(part: &str) -> bool {
    !part.is_empty() && !part.starts_with(|first: char| first.is_ascii_digit())
}
