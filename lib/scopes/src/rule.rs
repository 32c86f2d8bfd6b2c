//! A pattern as it is matched: a row of segments.

use super::brackets::{self, Brackets};
use super::segment::{ByteSet, Segment, Token};

/// An element of a rule.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Any number of segments: `**`.
    Deep,
    /// One segment with any name: `*`.
    Any,
    /// One segment that matches.
    Segment(Segment),
}

/// A row of items that must match a path from the root.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) items: Vec<Item>,
    /// The rule matches only folders, because it ends with a slash.
    pub(super) folder_only: bool,
    /// The rule includes files again that earlier rules ignore.
    pub(super) negated: bool,
    /// The index of its pattern or line.
    pub(super) source: usize,
}

/// How a text is parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    /// As git parses it.
    Git,
    /// As git parses it, but each segment with brackets also matches itself.
    Literal,
}

/// Parses `text`, a pattern without its first and its last slash. Returns two rows where git reads a text in two ways.
pub(super) fn parse_rows(text: &[u8], syntax: Syntax) -> Vec<Vec<Item>> {
    let row_of = |parts: &[&[u8]]| parse_row(&parts.concat(), syntax);
    // Git compares the text before the first wildcard separately, and reads the rest as if a segment began there. So
    // the stars of `a**/b` are those of `**/b` after an `a`: `ab`, `ax/b` and `ax/y/b` match.
    let Some((name, mut rest)) = split_at_stars(text) else {
        return vec![parse_row(text, syntax)];
    };
    loop {
        let after = match rest {
            [] => return vec![row_of(&[name, b"*/**"]), row_of(&[name, b"*"])],
            [b'/', after @ ..] => after,
            // The path must contain an escaped slash.
            [_, after @ ..] => return vec![row_of(&[name, b"*/**", after])],
        };
        match strip_stars_segment(after) {
            Some(after_stars) => rest = after_stars,
            None => return vec![row_of(&[name, b"*/**/", after]), row_of(&[name, after])],
        }
    }
}

/// Parses `text`, a name that matches in every folder.
pub(super) fn parse_name(text: &[u8]) -> Vec<Item> {
    let mut items = vec![Item::Deep];
    // Without a slash, `**` is also a name that matches everything.
    match text.iter().all(|byte| *byte == b'*') {
        true => items.push(Item::Any),
        false => items.extend(parse_row(text, Syntax::Git)),
    }
    items
}

/// Splits `text` around its first wildcards, if these are a `**` that ends a segment but does not begin it.
fn split_at_stars(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = text.iter().position(|byte| b"*?[\\".contains(byte))?;
    let (name, rest) = text.split_at(start);
    let begins_segment = matches!(name, [] | [.., b'/']);
    if begins_segment {
        None
    } else {
        strip_stars_segment(rest).map(|rest| (name, rest))
    }
}

/// The rest of `text` after a `**` at its beginning, if the segment ends there.
fn strip_stars_segment(text: &[u8]) -> Option<&[u8]> {
    let stars = text.iter().take_while(|byte| **byte == b'*').count();
    let rest = &text[stars..];
    (stars > 1 && matches!(rest, [] | [b'/', ..] | [b'\\', b'/', ..])).then_some(rest)
}

fn parse_row(text: &[u8], syntax: Syntax) -> Vec<Item> {
    let mut items = Vec::new();
    let (mut at, mut start, mut has_brackets) = (0, 0, false);
    let mut tokens = Vec::new();
    loop {
        let rest = &text[at..];
        let (token, length) = match rest {
            [] | [b'/', ..] | [b'\\', b'/', ..] => {
                let written = &text[start..at];
                let separator = rest.iter().position(|byte| *byte == b'/').map(|slash| slash + 1);
                let is_deep = written.len() > 1 && written.iter().all(|byte| *byte == b'*');
                let name = (has_brackets && syntax == Syntax::Literal).then(|| unescape(written));
                if is_deep && separator == Some(1) {
                    if !matches!(items.last(), Some(Item::Deep)) {
                        items.push(Item::Deep);
                    }
                } else if is_deep {
                    // At the end, and before an escaped slash, it stands for at least one segment.
                    items.extend([Item::Any, Item::Deep]);
                } else if written == b"*" {
                    items.push(Item::Any);
                } else {
                    items.push(Item::Segment(Segment::new(std::mem::take(&mut tokens), name)));
                }
                tokens.clear();
                let Some(length) = separator else { return items };
                at += length;
                (start, has_brackets) = (at, false);
                continue;
            }
            [b'*', ..] => (Token::Star, 1),
            [b'?', ..] => (Token::Set(ByteSet::ANY), 1),
            [b'\\', byte, ..] => (Token::Byte(*byte), 2),
            [b'\\'] => (Token::Set(ByteSet::EMPTY), 1),
            [b'[', ..] => {
                has_brackets = true;
                match brackets::parse(rest) {
                    Some(Brackets { set, length, .. }) => (Token::Set(set), length),
                    // For git, the pattern matches nothing, so the rest does not matter.
                    None if syntax == Syntax::Git => {
                        let nothing = Token::Set(ByteSet::EMPTY);
                        items.push(Item::Segment(Segment::new(vec![nothing], None)));
                        return items;
                    }
                    None => (Token::Set(ByteSet::EMPTY), 1),
                }
            }
            [byte, ..] => (Token::Byte(*byte), 1),
        };
        // Adjacent stars count as one.
        if token != Token::Star || tokens.last() != Some(&Token::Star) {
            tokens.push(token);
        }
        at += length;
    }
}

/// Removes the backslashes that escape other characters of `text`.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.iter();
    let mut unescaped = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => unescaped.extend(bytes.next()),
            _ => unescaped.push(*byte),
        }
    }
    unescaped
}

/// Removes the spaces at the end of `text` that no backslash escapes.
pub(super) fn trim_trailing_spaces(text: &[u8]) -> &[u8] {
    let mut length = 0;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b' ' => at += 1,
            b'\\' => {
                at += 2;
                length = at.min(text.len());
            }
            _ => {
                at += 1;
                length = at;
            }
        }
    }
    &text[..length]
}
