//! A pattern as it is matched: a row of segments.

use super::brackets::{self, Brackets};
use super::segment::{ByteSet, Segment, Token};

/// A step of a rule.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// Any number of segments: `**`.
    Deep,
    /// One segment, whatever its name: `*`.
    Any,
    /// One segment.
    One(Segment),
}

/// A row of items that must match a path from the root on.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) items: Vec<Item>,
    /// It matches folders and no files, because it ends with a slash.
    pub(super) folder_only: bool,
    /// It includes files again that earlier ones ignore.
    pub(super) negated: bool,
    /// Which pattern or line it comes from.
    pub(super) source: usize,
}

/// How a text is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// As git does.
    Git,
    /// As git does, and each segment with brackets matches itself too.
    Literal,
}

/// The rows of items for `text`, a pattern without its first and its last slash: two where git reads a text in two ways.
pub(super) fn rows(text: &[u8], reading: Reading) -> Vec<Vec<Item>> {
    let joined = |parts: &[&[u8]]| row(&parts.concat(), reading);
    // Git compares the text before the first wildcard by itself, and then reads the rest as if it were at the beginning of
    // a segment. So the stars of `a**/b` are those of `**/b` behind an `a`: `ab`, `ax/b` and `ax/y/b` match.
    let Some((name, mut rest)) = stars_after_name(text) else {
        return vec![row(text, reading)];
    };
    loop {
        let after = match rest {
            [] => return vec![joined(&[name, b"*/**"]), joined(&[name, b"*"])],
            [b'/', after @ ..] => after,
            // An escaped slash must be there.
            [_, after @ ..] => return vec![joined(&[name, b"*/**", after])],
        };
        match stars_of_segment(after) {
            Some(behind) => rest = behind,
            None => return vec![joined(&[name, b"*/**/", after]), joined(&[name, after])],
        }
    }
}

/// The items for `text`, a name in any folder.
pub(super) fn name(text: &[u8]) -> Vec<Item> {
    let mut items = vec![Item::Deep];
    // Alone, `**` is a name too: that of everything.
    match text.iter().all(|byte| *byte == b'*') {
        true => items.push(Item::Any),
        false => items.extend(row(text, Reading::Git)),
    }
    items
}

/// The texts before and behind the first wildcards of `text`, if they are `**` that ends a segment, but does not begin
/// one.
fn stars_after_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = text.iter().position(|byte| b"*?[\\".contains(byte))?;
    let (name, rest) = text.split_at(start);
    let begins_segment = matches!(name, [] | [.., b'/']);
    if begins_segment {
        None
    } else {
        stars_of_segment(rest).map(|rest| (name, rest))
    }
}

/// The text behind the `**` at the beginning of `text`, if the segment ends there.
fn stars_of_segment(text: &[u8]) -> Option<&[u8]> {
    let stars = text.iter().take_while(|byte| **byte == b'*').count();
    let rest = &text[stars..];
    (stars > 1 && matches!(rest, [] | [b'/', ..] | [b'\\', b'/', ..])).then_some(rest)
}

fn row(text: &[u8], reading: Reading) -> Vec<Item> {
    let mut items = Vec::new();
    let (mut at, mut start, mut has_brackets) = (0, 0, false);
    let mut tokens = Vec::new();
    loop {
        let rest = &text[at..];
        let (token, length) = match rest {
            [] | [b'/', ..] | [b'\\', b'/', ..] => {
                let written = &text[start..at];
                let ending = rest.iter().position(|byte| *byte == b'/').map(|slash| slash + 1);
                let is_deep = written.len() > 1 && written.iter().all(|byte| *byte == b'*');
                let name = (has_brackets && reading == Reading::Literal).then(|| unescaped(written));
                if is_deep && ending == Some(1) {
                    if !matches!(items.last(), Some(Item::Deep)) {
                        items.push(Item::Deep);
                    }
                } else if is_deep {
                    // At the end, and before a slash that is escaped, it stands for at least one segment.
                    items.extend([Item::Any, Item::Deep]);
                } else if written == b"*" {
                    items.push(Item::Any);
                } else {
                    items.push(Item::One(Segment::new(std::mem::take(&mut tokens), name)));
                }
                tokens.clear();
                let Some(length) = ending else { return items };
                at += length;
                (start, has_brackets) = (at, false);
                continue;
            }
            [b'*', ..] => (Token::Star, 1),
            [b'?', ..] => (Token::One(ByteSet::ANY), 1),
            [b'\\', byte, ..] => (Token::Byte(*byte), 2),
            [b'\\'] => (Token::One(ByteSet::EMPTY), 1),
            [b'[', ..] => {
                has_brackets = true;
                match brackets::read(rest) {
                    Brackets::Set { set, length, .. } => (Token::One(set), length),
                    // Nothing matches for git, and the rest need not be read.
                    Brackets::None if reading == Reading::Git => {
                        let nothing = Token::One(ByteSet::EMPTY);
                        items.push(Item::One(Segment::new(vec![nothing], None)));
                        return items;
                    }
                    Brackets::None => (Token::One(ByteSet::EMPTY), 1),
                }
            }
            [byte, ..] => (Token::Byte(*byte), 1),
        };
        // Stars side by side are one.
        if token != Token::Star || tokens.last() != Some(&Token::Star) {
            tokens.push(token);
        }
        at += length;
    }
}

/// `text` without the backslashes before other characters.
pub(super) fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = text.iter();
    let mut all = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => all.extend(bytes.next()),
            _ => all.push(*byte),
        }
    }
    all
}

/// `text` without the blanks at its end, unless a backslash keeps them.
pub(super) fn without_blanks(text: &[u8]) -> &[u8] {
    let mut kept = 0;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b' ' => at += 1,
            b'\\' => {
                at += 2;
                kept = at.min(text.len());
            }
            _ => {
                at += 1;
                kept = at;
            }
        }
    }
    &text[..kept]
}
