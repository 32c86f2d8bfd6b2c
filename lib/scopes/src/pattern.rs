//! A pattern of a scope, parsed once.

use unicode_normalization::UnicodeNormalization;

use super::braces;
use super::brackets::{self, Brackets};
use super::refusal::{ListProblem, MAX_PATTERN_BYTES, Refusal};
use super::rule::{self, Item, Rule, Syntax};

/// One pattern, without alternatives in braces.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    folder_only: bool,
    rows: Vec<Vec<Item>>,
}

impl Pattern {
    /// Parses a pattern that a person or an agent wrote. `{a,b}` gives a pattern for each alternative.
    ///
    /// # Errors
    /// When its meaning would surprise its author: see [`Refusal`].
    pub fn parse(written: &str) -> Result<Vec<Pattern>, Refusal> {
        if written.len() > MAX_PATTERN_BYTES {
            let beginning = written.chars().take(40).collect();
            return Err(Refusal::TooLong(beginning, written.len()));
        }
        braces::expand(written)?
            .iter()
            .map(|text| Pattern::parse_single(text))
            .collect()
    }

    fn parse_single(written: &str) -> Result<Pattern, Refusal> {
        // Names have one Unicode form, whatever the keyboard and the file system use; so do paths of claims.
        let text: String = written.nfc().collect();
        let length = rule::trim_trailing_spaces(text.as_bytes()).len();
        let text = text.get(..length).unwrap_or(&text).to_owned();
        if text.trim().is_empty() {
            return Err(ListProblem::EmptyPattern.into());
        }
        if let Some(refusal) = find_problem(text.as_bytes()) {
            return Err(refusal(text));
        }
        let folder_only = text.ends_with('/');
        let without_slash = text.strip_suffix('/').unwrap_or(&text);
        let rows = rule::parse_rows(without_slash.as_bytes(), Syntax::Literal);
        Ok(Pattern {
            text,
            folder_only,
            rows,
        })
    }

    /// The pattern as it was written, with alternatives expanded and without spaces at its end.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether its first segment consists of wildcards alone, so that it reaches into every folder of the root.
    pub(super) fn begins_with_wildcards(&self) -> bool {
        self.rows.iter().any(|row| match row.first() {
            Some(Item::Deep | Item::Any) => true,
            Some(Item::Segment(segment)) => segment.is_wild(),
            None => false,
        })
    }

    /// The rules of the pattern, whose index in its scope is `source`.
    pub(super) fn rules(&self, source: usize) -> impl Iterator<Item = Rule> {
        self.rows.iter().map(move |items| Rule {
            items: items.clone(),
            folder_only: self.folder_only,
            negated: false,
            source,
        })
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// The kind of refusal for `text`, if it is refused.
fn find_problem(text: &[u8]) -> Option<fn(String) -> Refusal> {
    match text {
        _ if text.contains(&0) => return Some(Refusal::Nul),
        [b'!', ..] => return Some(Refusal::Negated),
        [b'/', ..] | [b'~', b'/', ..] => return Some(Refusal::Absolute),
        [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic() => return Some(Refusal::Absolute),
        _ => {}
    }
    let is_escapable = |byte: u8| byte == b' ' || (byte.is_ascii_punctuation() && !b"/\\".contains(&byte));
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let set = match rest {
            [b'\\', escaped, ..] if is_escapable(*escaped) => {
                at += 2;
                continue;
            }
            [b'\\', ..] => return Some(Refusal::Backslash),
            [b'[', ..] => brackets::parse(rest),
            _ => None,
        };
        let Some(Brackets { length, has_class, .. }) = set else {
            at += 1;
            continue;
        };
        if has_class {
            return Some(Refusal::PosixClass);
        }
        if rest[..length].contains(&b'/') {
            return Some(Refusal::SlashInBrackets);
        }
        let mut escapes = rest[..length].windows(2).filter(|pair| pair[0] == b'\\');
        if escapes.any(|pair| !pair[1].is_ascii_punctuation() || pair[1] == b'\\') {
            return Some(Refusal::Backslash);
        }
        at += length;
    }
    let without_slash = text.strip_suffix(b"/").unwrap_or(text);
    for segment in without_slash.split(|byte| *byte == b'/') {
        match &*rule::unescape(segment) {
            b".." => return Some(Refusal::Parent),
            b"" | b"." => return Some(Refusal::EmptySegment),
            _ => {}
        }
    }
    None
}
