//! Code: the bytes that begin a name, a literal, a comment or a block.

use crate::meter;
use crate::rust::scanner::{Frame, Scanner};
use crate::rust::trivia::{character_end, comment_end, ident, is_name_byte, raw_string, skip, string_end, word_end};

impl Scanner<'_, '_> {
    /// Scans the whole text.
    pub(super) fn scan_file(mut self) {
        while let Some(&byte) = self.text.get(self.position)
            && !self.is_full()
        {
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

    /// A character, or a lifetime or label, whose name is skipped.
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

    /// `::` at the position: the start of a path, or its continuation after `<T>`.
    fn colons(&mut self) {
        let start = self.position;
        self.position += 2;
        let before = self.text[..start]
            .iter()
            .rev()
            .take(64)
            .find(|byte| !byte.is_ascii_whitespace());
        let is_continued = matches!(before, Some(b'>' | b']' | b')' | b'}' | b'$')) || before.is_some_and(is_name_byte);
        let Some((name, end)) = ident(self.text, skip(self.text, self.position)) else {
            return;
        };
        if is_continued {
            self.position = end;
        } else {
            self.path(start, name, end, true);
        }
    }

    /// A keyword, a path, or the start of a literal.
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
}
