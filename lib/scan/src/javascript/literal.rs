//! String literals and templates: their ends and their values.

use std::ops::Range;

use crate::meter;
use crate::specifier::MAX_SPECIFIER_BYTES;

/// A string literal without holes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// The bytes between the quotes, escapes not decoded.
    pub(super) content: Range<usize>,
    /// The first byte after the closing quote.
    pub(super) end: usize,
}

/// The string literal in single or double quotes at `position`.
pub(super) fn quoted_string(text: &[u8], position: usize) -> Option<Literal> {
    let quote = *text.get(position)?;
    if quote != b'"' && quote != b'\'' {
        return None;
    }
    let (end, is_closed) = string_end(text, position);
    is_closed.then(|| Literal {
        content: position + 1..end - 1,
        end,
    })
}

/// A string literal in any quotes, backticks included, if it has no holes.
pub(super) fn plain_literal(text: &[u8], position: usize) -> Option<Literal> {
    if text.get(position) != Some(&b'`') {
        return quoted_string(text, position);
    }
    let (end, opens_hole) = template_end(text, position + 1)?;
    (!opens_hole).then(|| Literal {
        content: position + 1..end - 1,
        end,
    })
}

/// The position after the quoted string at `position`, and whether the string is closed. A string that is not closed on
/// its line ends before the line break, so that a stray quote affects one line and not the file.
pub fn string_end(text: &[u8], position: usize) -> (usize, bool) {
    let quote = text[position];
    let mut at = position + 1;
    let mut is_closed = false;
    while let Some(&byte) = text.get(at) {
        if byte == quote {
            is_closed = true;
            at += 1;
            break;
        }
        match byte {
            b'\\' => {
                at += if text.get(at + 1..at + 3) == Some(b"\r\n") {
                    3
                } else {
                    2
                }
            }
            b'\n' | b'\r' => break,
            _ => at += 1,
        }
    }
    meter::read(at - position);
    (at.min(text.len()), is_closed)
}

/// The value of a literal, with escapes decoded. `None` if it is not valid UTF-8 (such as a lone surrogate), or is
/// longer than any path.
pub(super) fn decode(raw: &[u8]) -> Option<String> {
    if raw.len() > MAX_SPECIFIER_BYTES {
        return None;
    }
    if memchr::memchr(b'\\', raw).is_none() {
        return std::str::from_utf8(raw).ok().map(str::to_owned);
    }
    let mut decoded = String::with_capacity(raw.len());
    let mut rest = std::str::from_utf8(raw).ok()?;
    while let Some(at) = rest.find('\\') {
        decoded.push_str(&rest[..at]);
        rest = decode_escape(&rest[at + 1..], &mut decoded)?;
    }
    decoded.push_str(rest);
    Some(decoded)
}

/// Decodes one escape, whose backslash is already consumed; returns the rest.
fn decode_escape<'t>(rest: &'t str, decoded: &mut String) -> Option<&'t str> {
    let mut characters = rest.chars();
    let character = match characters.next()? {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'v' => '\u{b}',
        'f' => '\u{c}',
        '\r' => return Some(rest.strip_prefix("\r\n").unwrap_or(characters.as_str())),
        '\n' | '\u{2028}' | '\u{2029}' => return Some(characters.as_str()),
        'x' => {
            decoded.push(char::from_u32(parse_hexadecimal(rest.get(1..3)?)?)?);
            return rest.get(3..);
        }
        'u' => return decode_unicode_escape(&rest[1..], decoded),
        '0'..='7' => {
            let limit = if rest.as_bytes()[0] <= b'3' { 3 } else { 2 };
            let digits = rest
                .bytes()
                .take(limit)
                .take_while(|byte| matches!(byte, b'0'..=b'7'))
                .count();
            decoded.push(char::from_u32(u32::from_str_radix(&rest[..digits], 8).ok()?)?);
            return rest.get(digits..);
        }
        other => other,
    };
    decoded.push(character);
    Some(characters.as_str())
}

/// Decodes `XXXX` or `{X...}`, a surrogate pair included.
fn decode_unicode_escape<'t>(rest: &'t str, decoded: &mut String) -> Option<&'t str> {
    if let Some(braced) = rest.strip_prefix('{') {
        let (digits, rest) = braced.split_once('}')?;
        decoded.push(char::from_u32(parse_hexadecimal(digits)?)?);
        return Some(rest);
    }
    let first = parse_hexadecimal(rest.get(..4)?)?;
    let rest = &rest[4..];
    if (0xd800..0xdc00).contains(&first) {
        let second = rest.strip_prefix("\\u")?;
        let low = parse_hexadecimal(second.get(..4)?)?
            .checked_sub(0xdc00)
            .filter(|low| *low < 0x400)?;
        decoded.push(char::from_u32(0x10000 + ((first - 0xd800) << 10) + low)?);
        return Some(&second[4..]);
    }
    decoded.push(char::from_u32(first)?);
    Some(rest)
}

fn parse_hexadecimal(digits: &str) -> Option<u32> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_plain.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// The position after the template's text at `position`, its backtick or `${` included, and whether a hole opens there.
/// `None` where the template does not end.
pub fn template_end(text: &[u8], position: usize) -> Option<(usize, bool)> {
    let mut at = position;
    let end = loop {
        let Some(distance) = text.get(at..).and_then(|rest| memchr::memchr3(b'`', b'\\', b'$', rest)) else {
            break None;
        };
        at += distance;
        match text[at] {
            b'`' => break Some((at + 1, false)),
            b'\\' => at += 2,
            _ if text.get(at + 1) == Some(&b'{') => break Some((at + 2, true)),
            _ => at += 1,
        }
    };
    meter::read(end.map_or(text.len(), |(end, _)| end).saturating_sub(position));
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_as_the_language_has_them() {
        for (raw, decoded) in [
            (r"./a", Some("./a")),
            (r"./esc\u0061ped", Some("./escaped")),
            (r"\x61\u{62}\u{000063}", Some("abc")),
            (r"\ud83d\ude00", Some("😀")),
            (r"\ud83d", None),
            (r"\ude00", None),
            (r"\u{110000}", None),
            (r"\u{}", None),
            (r"\u00g0", None),
            (r"\x4", None),
            (r"\u{+61}", None),
            (r"a\/b\'\.", Some("a/b'.")),
            (r"\101\0\47", Some("A\0'")),
            ("a\\\nb\\\r\nc", Some("abc")),
            (r"tail\", None),
        ] {
            assert_eq!(decode(raw.as_bytes()).as_deref(), decoded, "{raw:?}");
        }
        assert_eq!(decode(b"\xff"), None);
        assert_eq!(decode(&[b'a'; 5000]), None);
    }

    #[test]
    fn an_unclosed_string_ends_with_its_line() {
        assert_eq!(string_end(b"'abc\ndef'", 0), (4, false));
        assert_eq!(string_end(b"'abc\\\ndef' x", 0), (10, true));
        assert_eq!(string_end(b"'abc\\\r\ndef' x", 0), (11, true));
        assert_eq!(string_end(b"'abc", 0), (4, false));
        assert_eq!(string_end(b"'abc\\", 0), (5, false));
        assert_eq!(quoted_string(b"'abc\n", 0), None);
        assert_eq!(quoted_string(b"'", 0), None);
        assert_eq!(quoted_string(br"'a\'", 0), None);
    }
}
