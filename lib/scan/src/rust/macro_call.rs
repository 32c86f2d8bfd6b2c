//! Calls of macros that include a file, or whose text is code that belongs elsewhere.

use crate::meter;
use crate::rust::scanner::{Form, Frame, Scanner};
use crate::rust::trivia::{
    character_end, comment_end, ident, is_name_byte, literal, raw_string, skip, string_end, word_end,
};

impl Scanner<'_, '_> {
    /// A call of the macro `name`; `at` is after the `!`.
    pub(super) fn macro_call(&mut self, start: usize, name: &str, at: usize) {
        let mut open = skip(self.text, at);
        match name {
            "macro_rules" => {
                if let Some((_, end)) = ident(self.text, open) {
                    open = skip(self.text, end);
                }
                return self.macro_rules(open);
            }
            "quote" | "quote_spanned" | "parse_quote" | "parse_quote_spanned" => {
                self.position = group_end(self.text, open, |_| {});
                return;
            }
            "include" | "include_str" | "include_bytes" => {
                if let Some((value, end)) = literal(self.text, skip(self.text, open + 1)) {
                    let closing = skip(self.text, end);
                    if matches!(self.text.get(closing), Some(b')' | b']' | b'}' | b',')) {
                        self.position = end;
                        self.add(start, Form::Include(value.to_owned()));
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

    /// The rules of a macro, whose bracket is at `open`. They are code of its callers, except for paths that begin with
    /// `$crate`, which is the crate of this file.
    fn macro_rules(&mut self, open: usize) {
        let text = self.text;
        let mut crate_paths = Vec::new();
        let end = group_end(text, open, |name| {
            if text.get(name - 1..name + 5) == Some(b"$crate") && text.get(name..word_end(text, name)) == Some(b"crate")
            {
                crate_paths.push(name);
            }
        });
        for start in crate_paths {
            if self.pending.is_full() {
                break;
            }
            self.path(start, "crate", start + 5, false);
        }
        self.position = end;
    }
}

/// The end of the group whose bracket is at `position`, after its closing bracket. All brackets count alike: code that
/// compiles has them in pairs. `on_name` gets the position of each name.
fn group_end(text: &[u8], position: usize, mut on_name: impl FnMut(usize)) -> usize {
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
                on_name(at);
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
