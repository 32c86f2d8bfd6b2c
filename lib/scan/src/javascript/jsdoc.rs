//! Types in JavaScript documentation comments: `@type {import("x").T}` and `@import { T } from "x"`.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::literal;
use crate::import_kind::ImportKind;
use crate::javascript::clause;
use crate::javascript::literal::{Literal, quoted_string};
use crate::javascript::scanner::Scanner;
use crate::javascript::trivia::word;

static IMPORT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"import"));

/// Tags with a type in braces after them or, for the first five, after the name they describe.
const TYPE_TAGS: &[&[u8]] = &[
    b"param",
    b"arg",
    b"argument",
    b"property",
    b"prop",
    b"type",
    b"typedef",
    b"returns",
    b"return",
    b"template",
    b"this",
    b"throws",
    b"exception",
    b"satisfies",
    b"extends",
    b"augments",
    b"implements",
    b"enum",
];
const NAME_FIRST: usize = 5;

/// Longest `@import` tag, in bytes.
const IMPORT_TAG_BYTES: usize = 4096;

impl Scanner<'_, '_> {
    /// Adds the types that the comment from `start` to `end` imports, if it is a documentation comment.
    pub(super) fn doc_comment(&mut self, start: usize, end: usize) {
        let comment = &self.text[start..end];
        let is_documentation = comment.starts_with(b"/**") && comment.len() > 4;
        if !is_documentation || IMPORT.find(comment).is_none() {
            return;
        }
        let text = &self.text[..end];
        let mut at = start + 3;
        while let Some(distance) = memchr::memchr(b'@', &text[at..]) {
            let tag = at + distance;
            at = tag + 1;
            if !matches!(text[tag - 1], b' ' | b'\t' | b'\n' | b'\r' | b'*') {
                continue;
            }
            let name = word(text, at);
            at += name.len();
            if name == b"import" {
                self.import_tag(tag, at, end);
            } else if let Some(rank) = TYPE_TAGS.iter().position(|tag| *tag == name) {
                at = self.type_tag(at, end, rank < NAME_FIRST);
            }
        }
    }

    /// Reads the braces of a tag from after its name; returns the position to continue at.
    fn type_tag(&mut self, position: usize, end: usize, may_have_name_first: bool) -> usize {
        let text = &self.text[..end];
        let mut at = skip_margin(text, position);
        if may_have_name_first && text.get(at) != Some(&b'{') {
            let name = text[at..]
                .iter()
                .take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'@')
                .count();
            at = skip_margin(text, at + name);
        }
        if text.get(at) != Some(&b'{') {
            return at;
        }
        let mut depth = 0_usize;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return at + 1;
                    }
                }
                b'i' if text[at..].starts_with(b"import") && !super::bytes::is_word(text[at - 1]) => {
                    let parenthesis = skip_margin(text, at + 6);
                    if text.get(parenthesis) == Some(&b'(')
                        && let Some((literal, after)) = argument(text, parenthesis)
                    {
                        self.emit(&literal, ImportKind::JsDoc);
                        at = after;
                        continue;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Reads `{ T } from "x"` after `@import`. Lines begin with an asterisk, which is not part of the clause.
    fn import_tag(&mut self, tag: usize, position: usize, end: usize) {
        let limit = end.min(position + IMPORT_TAG_BYTES);
        let lines = self.text[position..limit].split_inclusive(|byte| *byte == b'\n');
        let mut clause = Vec::new();
        for (index, line) in lines.enumerate() {
            let rest = line.trim_ascii_start();
            let plain = if index > 0 {
                rest.strip_prefix(b"*").unwrap_or(rest)
            } else {
                line
            };
            if index > 0 && plain.trim_ascii_start().starts_with(b"@") {
                break;
            }
            clause.extend_from_slice(plain);
        }
        if !self.spend_rereads(clause.len()) {
            return;
        }
        if let Some(import) = clause::import(&clause, 0)
            && let Some(text) = literal::decode(&clause[import.source.content])
        {
            self.push(tag, text, None, ImportKind::JsDoc);
        }
    }
}

/// The string in the parenthesis at `position`, and the position after the closing parenthesis. Comments do not nest.
fn argument(text: &[u8], position: usize) -> Option<(Literal, usize)> {
    let literal = quoted_string(text, skip_margin(text, position + 1))?;
    let end = skip_margin(text, literal.end);
    matches!(text.get(end)?, b')' | b',').then_some((literal, end + 1))
}

/// The position after white space and the asterisks at the start of comment lines.
fn skip_margin(text: &[u8], position: usize) -> usize {
    let skipped = text[position..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace() || **byte == b'*')
        .count();
    position + skipped
}
