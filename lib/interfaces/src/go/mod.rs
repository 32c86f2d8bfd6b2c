//! The interface of Go: capitalized names of the package. Types with their exported fields and methods, heads of
//! functions, constants and variables with their types, or with the names that their types depend on.

mod lexer;

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::InterfaceUnknown;
use super::outline::{Head, Outline};
use super::tokens::{Kind, Tokens};

/// Adds the declarations of `text` to `outline`.
pub(super) fn read(text: &[u8], outline: &mut Outline) -> Result<(), InterfaceUnknown> {
    let tokens = lexer::tokens(text)?;
    let reader = Reader { tokens: &tokens };
    let mut at = 0;
    while at < tokens.len() {
        at = reader.declaration(at, outline).max(at + 1);
    }
    Ok(())
}

struct Reader<'a, 't> {
    tokens: &'a Tokens<'t>,
}

impl<'t> Reader<'_, 't> {
    fn word(&self, at: usize) -> &'t [u8] {
        self.tokens.word(at)
    }

    fn is_open(&self, at: usize, bracket: &[u8]) -> bool {
        self.tokens.kind(at) == Some(Kind::Open) && self.word(at) == bracket
    }

    /// Reads the declaration at `at`. Returns the index after it.
    fn declaration(&self, at: usize, outline: &mut Outline) -> usize {
        let keyword = self.word(at);
        match keyword {
            b"package" => {
                outline.add_exported(b"package", &Head::of(&[self.word(at + 1)]));
                at + 2
            }
            b"func" => self.function(at, outline),
            b"import" | b"type" | b"const" | b"var" => {
                if !self.is_open(at + 1, b"(") {
                    let end = self.line_end(at + 1, self.tokens.len());
                    self.specification(keyword, at + 1..end, &mut Head::default(), outline);
                    return end;
                }
                let end = self.tokens.partner(at + 1);
                // A constant without a value repeats the value before it.
                let mut before = Head::default();
                let mut start = at + 2;
                while start < end {
                    let close = self.line_end(start, end).max(start + 1);
                    self.specification(keyword, start..close, &mut before, outline);
                    start = close;
                }
                end + 1
            }
            _ => self.tokens.after(at),
        }
    }

    /// The end of the line, or of the statement on it, that begins at `start`.
    fn line_end(&self, start: usize, end: usize) -> usize {
        let mut at = start;
        while at < end {
            let before = at.wrapping_sub(1);
            // A line that ends with an operator or an opening bracket goes on.
            let is_continued = self.tokens.kind(before) == Some(Kind::Punct);
            if self.word(at) == b";" || at > start && self.tokens.starts_line(at) && !is_continued {
                return at;
            }
            at = self.tokens.after(at);
        }
        end
    }

    fn specification(&self, keyword: &[u8], range: Range<usize>, before: &mut Head, outline: &mut Outline) {
        let Range { start, end } = range;
        match keyword {
            b"import" => self.import(start, end, outline),
            b"type" => {
                if self.tokens.is_name(start) {
                    let mut head = Head::of(&[b"type"]);
                    self.write_type(start + 1..end, &mut head);
                    let name = self.word(start);
                    outline.add(name, is_exported(name), &head);
                }
            }
            _ => {
                let mut at = start;
                let mut names = Vec::new();
                while at < end && self.tokens.is_name(at) {
                    names.push(self.word(at));
                    at += 1;
                    if self.word(at) != b"," {
                        break;
                    }
                    at += 1;
                }
                let equals = (at..end).find(|at| self.word(*at) == b"=").unwrap_or(end);
                let mut head = Head::of(&[keyword]);
                if at < equals {
                    head.push_range(self.tokens, at..equals);
                } else if equals < end {
                    self.write_value(equals + 1..end, &mut head);
                } else {
                    head = before.clone();
                }
                let shared = if names.len() > 1 { head.digest() } else { head.clone() };
                for name in names {
                    outline.add(name, is_exported(name), &shared);
                }
                if keyword == b"const" {
                    *before = head.digest();
                }
            }
        }
    }

    /// Adds the package that names in types may refer to.
    fn import(&self, start: usize, end: usize, outline: &mut Outline) {
        let path = end.saturating_sub(1).max(start);
        let [_, content @ .., _] = self.word(path) else { return };
        let mut parts = content.rsplit(|byte| *byte == b'/');
        let last = parts.next().unwrap_or_default();
        let is_version = last.len() > 1 && last[0] == b'v' && last[1..].iter().all(u8::is_ascii_digit);
        let last = if is_version { parts.next().unwrap_or(last) } else { last };
        let name = if path > start { self.word(start) } else { last };
        if !matches!(name, b"_" | b".") {
            outline.add_local(name, &Head::of(&[b"import", self.word(path)]));
        }
    }

    fn function(&self, at: usize, outline: &mut Outline) -> usize {
        let mut name = at + 1;
        let mut receiver: Option<&[u8]> = None;
        if self.is_open(name, b"(") {
            // `(a *Type[T])`: the last name before type parameters.
            let inside = name + 1..self.tokens.partner(name);
            let stop = inside.clone().find(|at| self.is_open(*at, b"[")).unwrap_or(inside.end);
            receiver = Some(self.word(stop.saturating_sub(1)));
            name = inside.end + 1;
        }
        let mut body = name + 1;
        while body < self.tokens.len() && !self.tokens.starts_line(body) {
            let is_type = matches!(self.word(body - 1), b"interface" | b"struct");
            if self.is_open(body, b"{") && !is_type {
                break;
            }
            body = self.tokens.after(body);
        }
        let mut head = Head::of(&[b"func"]);
        if let Some(receiver) = receiver {
            // Whether the receiver is a pointer decides which values have the method.
            let is_pointer = (at + 2..name).any(|at| self.word(at) == b"*");
            head.push(if is_pointer { b"*" } else { b"-" });
            head.push(receiver);
        }
        head.push_range(self.tokens, name + 1..body);
        let name = self.word(name);
        match receiver {
            Some(receiver) if is_exported(name) && is_exported(receiver) => {
                outline.add_exported(&[receiver, b".", name].concat(), &head);
            }
            Some(receiver) if is_exported(name) => {
                // It counts if an exported head names its type.
                outline.add_local(receiver, &Head::of(&[b".", name]));
                outline.add_local(receiver, &head);
            }
            Some(_) => {}
            None => outline.add(name, is_exported(name), &head),
        }
        if self.is_open(body, b"{") {
            self.tokens.after(body)
        } else {
            body
        }
    }

    /// Writes a type: the exported and embedded fields of a struct, all tokens of any other type.
    fn write_type(&self, range: Range<usize>, head: &mut Head) {
        let structure = range
            .clone()
            .find(|at| self.word(*at) == b"struct" && self.is_open(at + 1, b"{"))
            .filter(|at| self.tokens.after(at + 1) == range.end);
        let Some(structure) = structure else {
            return head.push_range(self.tokens, range);
        };
        head.push_range(self.tokens, range.start..structure + 2);
        let end = range.end - 1;
        let mut start = structure + 2;
        while start < end {
            if self.word(start) == b";" {
                start += 1;
                continue;
            }
            let close = self.line_end(start, end).max(start + 1);
            self.write_field(start..close, head);
            start = close;
        }
        head.push(b"}");
    }

    fn write_field(&self, range: Range<usize>, head: &mut Head) {
        let Range { start, end } = range;
        let mut names = vec![start];
        let mut at = start + 1;
        while at + 1 < end && self.word(at) == b"," {
            names.push(at + 1);
            at += 2;
        }
        let is_embedded = !self.tokens.is_name(start)
            || at >= end
            || self.word(at) == b"."
            || self.tokens.kind(at) == Some(Kind::Text)
            // `Type[T]` is embedded, `name []T` is not.
            || self.is_open(at, b"[") && self.tokens.bytes(at).start == self.tokens.bytes(start).end;
        if is_embedded {
            head.push(b"embeds");
            return head.push_range(self.tokens, range);
        }
        names.retain(|name| is_exported(self.word(*name)));
        for name in &names {
            head.push(&[b"'", self.word(*name)].concat());
        }
        if !names.is_empty() {
            head.push_range(self.tokens, at..end);
            head.push(b";");
        }
    }

    /// Writes values as far as their types depend on them.
    fn write_value(&self, range: Range<usize>, head: &mut Head) {
        let mut at = range.start;
        while at < range.end {
            let next = at + 1;
            match (self.tokens.kind(at), self.word(at)) {
                (Some(Kind::Number), word) => {
                    let is_float = word.contains(&b'.') || !word.starts_with(b"0x") && word.contains(&b'e');
                    head.push(match (word.ends_with(b"i"), is_float) {
                        (true, _) => b"#complex",
                        (false, true) => b"#float",
                        (false, false) => b"#integer",
                    });
                }
                (Some(Kind::Text), word) => head.push(if word.starts_with(b"'") { b"#rune" } else { b"#string" }),
                (Some(Kind::Open), b"{") if self.is_literal_body(at, range.start) => {
                    head.push(b"{}");
                    at = self.tokens.after(at);
                    continue;
                }
                _ => head.push_range(self.tokens, at..next),
            }
            at = next;
        }
    }

    /// Whether the brace at `at` begins the content of a literal, or the body of a function, and not a type.
    fn is_literal_body(&self, at: usize, start: usize) -> bool {
        at > start && !matches!(self.word(at - 1), b"struct" | b"interface")
    }
}

/// Whether other packages see the name.
fn is_exported(name: &[u8]) -> bool {
    match name.first() {
        Some(byte) if byte.is_ascii() => byte.is_ascii_uppercase(),
        _ => std::str::from_utf8(name).is_ok_and(|name| name.chars().next().is_some_and(char::is_uppercase)),
    }
}
