//! Svelte: scripts at the root of a file are its module; braces in markup and attributes hold code.

use crate::component::script::Visit;
use crate::javascript::trivia::{skip, word};
use crate::javascript::{Dialect, Scanner};
use crate::markup::{Element, closing_end, comment_end, is_void, raw_end, tag_name};
use crate::meter;

/// The outermost open element or block, and how many of its name are open.
#[derive(Clone, Copy, Debug)]
struct OutermostBlock<'t> {
    /// `{` for a block.
    name: &'t [u8],
    depth: usize,
}

struct Markup<'t, 's, 'u, 'f> {
    text: &'t [u8],
    scanner: &'s mut Scanner<'u, 'f>,
    outer: Option<OutermostBlock<'t>>,
    /// Whether braces hold code: not after a brace that nothing closes.
    has_holes: bool,
}

pub(super) fn walk(text: &[u8], scanner: &mut Scanner<'_, '_>, visit: Visit<'_>) {
    let mut markup = Markup {
        text,
        scanner,
        outer: None,
        has_holes: true,
    };
    let mut at = 0;
    while let Some(distance) = text.get(at..).and_then(|rest| memchr::memchr2(b'<', b'{', rest)) {
        meter::read(distance + 1);
        at += distance;
        if text[at] == b'{' {
            at = markup.braces(at);
        } else if let Some(end) = comment_end(text, at) {
            at = end;
        } else if text.get(at + 1) == Some(&b'/') {
            markup.close(tag_name(text, at + 2));
            at = closing_end(text, at);
        } else {
            at = markup.element(at + 1, visit);
        }
    }
}

impl<'t> Markup<'t, '_, '_, '_> {
    /// Reads the element whose name is at `position`, up to its content; returns the position after what was read.
    fn element(&mut self, position: usize, visit: Visit<'_>) -> usize {
        let text = self.text;
        let name = tag_name(text, position);
        let after_name = position + name.len();
        if name.is_empty() {
            return position;
        }
        let is_root = self.outer.is_none();
        let is_script = name.eq_ignore_ascii_case(b"script");
        if is_root && (is_script || name == b"style" || name == b"template") {
            let element = Element::read(text, after_name, name);
            // Files that preprocessors import have a path that begins with a dot.
            let is_relative = element
                .source
                .clone()
                .is_some_and(|source| text[source].starts_with(b"."));
            let end = element.end;
            if is_script {
                element.visit_script(self.scanner, false, visit);
                return end;
            }
            if is_relative {
                element.emit_source(self.scanner);
                return end;
            }
        }
        let (at, is_closed) = self.attributes(after_name);
        if is_closed || is_void(name) {
            return at;
        }
        if is_script || name == b"style" {
            return closing_end(text, raw_end(text, at, name));
        }
        self.open(name);
        at
    }

    /// The position after the tag whose attributes begin at `position`, and whether it has no content.
    fn attributes(&mut self, position: usize) -> (usize, bool) {
        let mut at = position;
        while let Some(&byte) = self.text.get(at) {
            meter::read(1);
            match byte {
                b'>' => return (at + 1, false),
                b'/' if self.text.get(at + 1) == Some(&b'>') => return (at + 2, true),
                b'{' => at = self.hole(at),
                b'"' | b'\'' => at = self.quoted(at + 1, byte),
                _ => at += 1,
            }
        }
        (at, false)
    }

    /// The position after the quoted value at `position`, which may have holes.
    fn quoted(&mut self, position: usize, quote: u8) -> usize {
        let mut at = position;
        while let Some(distance) = self.text.get(at..).and_then(|rest| memchr::memchr2(quote, b'{', rest)) {
            meter::read(distance + 1);
            at += distance;
            if self.text[at] == quote {
                return at + 1;
            }
            at = self.hole(at);
        }
        self.text.len()
    }

    /// Reads the braces at `position`, which are not in a tag: they contain code, or are a part of a block. Returns the
    /// position after them.
    fn braces(&mut self, position: usize) -> usize {
        let text = self.text;
        let spaces = text[position + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace());
        let mut at = position + 1 + spaces.count();
        let next = text.get(at + 1);
        match text.get(at) {
            Some(b'#') => {
                self.open(b"{");
                at = after_word(text, at + 1);
            }
            Some(b'/') if !matches!(next, Some(b'/' | b'*')) => {
                self.close(b"{");
                at += 1;
            }
            Some(b':' | b'@') => {
                let is_else = word(text, at + 1) == b"else";
                at = after_word(text, at + 1);
                let more = skip(text, at);
                if is_else && word(text, more) == b"if" {
                    at = more + 2;
                }
            }
            _ => {}
        }
        self.code(position, at)
    }

    /// Scans the code in the braces at `position`; returns the position after it.
    fn hole(&mut self, position: usize) -> usize {
        self.code(position, position + 1)
    }

    /// Scans the code that begins at `start` in the braces at `position`.
    fn code(&mut self, position: usize, start: usize) -> usize {
        let end = match self.has_holes {
            true => self.scanner.scan_hole(Dialect::TYPESCRIPT, start),
            false => None,
        };
        self.has_holes = end.is_some();
        end.unwrap_or(position + 1)
    }

    fn open(&mut self, name: &'t [u8]) {
        match &mut self.outer {
            None => self.outer = Some(OutermostBlock { name, depth: 1 }),
            // A paragraph ends where the next one begins.
            Some(outer) if outer.name == name && name != b"p" => outer.depth += 1,
            Some(_) => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        if let Some(outer) = self.outer.as_mut().filter(|outer| outer.name == name) {
            outer.depth -= 1;
            if outer.depth == 0 {
                self.outer = None;
            }
        }
    }
}

fn after_word(text: &[u8], position: usize) -> usize {
    position + word(text, position).len()
}
