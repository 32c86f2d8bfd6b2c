//! Single-file components: the scripts in Vue, Svelte and Astro files.
//!
//! Only scripts are read; expressions in the markup name no module that a script does not.

use super::javascript::{Dialect, Scanner};
use super::{ImportKind, Specifier};

/// Appends the imports of every script in a Vue or Svelte component to `found`.
pub(super) fn scan(text: &[u8], found: &mut Vec<Specifier>) {
    scripts(&mut Scanner::new(text, found), text, 0, false);
}

/// Appends the imports of an Astro component to `found`: its code fence, which is TypeScript, and its scripts, which
/// are too.
pub(super) fn scan_astro(text: &[u8], found: &mut Vec<Specifier>) {
    let mut scanner = Scanner::new(text, found);
    let mut markup = 0;
    if let Some((start, end)) = code_fence(text) {
        scanner.scan_range(Dialect { jsx: true, types: true }, start, end);
        markup = end;
    }
    scripts(&mut scanner, text, markup, true);
}

/// Where the code between the two `---` lines at the top of an Astro component starts and ends.
fn code_fence(text: &[u8]) -> Option<(usize, usize)> {
    let blank = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let open = blank
        + text[blank..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count();
    let start = open + text[open..].strip_prefix(b"---").map(|_| 3)?;
    let mut line = start;
    loop {
        line += memchr::memchr(b'\n', &text[line..])? + 1;
        if text[line..].trim_ascii_start().starts_with(b"---") {
            return Some((start, line));
        }
    }
}

/// Scans every `<script>` element from `position` on.
fn scripts(scanner: &mut Scanner<'_, '_>, text: &[u8], position: usize, always_typed: bool) {
    let mut at = position;
    while let Some(less) = text.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
        at += less + 1;
        let rest = &text[at..];
        if rest.starts_with(b"!--") {
            at += memchr::memmem::find(rest, b"-->").map_or(rest.len(), |end| end + 3);
            continue;
        }
        if !begins_with_tag(rest, b"script") {
            continue;
        }
        let tag = Tag::read(text, at + b"script".len());
        let typed = always_typed || tag.is_typescript;
        if let Some((start, end)) = tag.source {
            scanner.emit_attribute(start, end, ImportKind::Import);
        }
        at = tag.end;
        if !tag.is_closed {
            let end = script_end(text, at);
            scanner.scan_range(
                Dialect {
                    jsx: !typed || tag.is_jsx,
                    types: typed,
                },
                at,
                end,
            );
            at = end;
        }
    }
}

/// Whether `text` begins with the name of the tag `name`, in any case.
fn begins_with_tag(text: &[u8], name: &[u8]) -> bool {
    let has_name = text
        .get(..name.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(name));
    has_name
        && text
            .get(name.len())
            .is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
}

/// The `</script` at or behind `position`, or the end of the text.
fn script_end(text: &[u8], position: usize) -> usize {
    let mut at = position;
    while let Some(less) = text.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
        at += less + 1;
        if text.get(at) == Some(&b'/') && begins_with_tag(&text[at + 1..], b"script") {
            return at - 1;
        }
    }
    text.len()
}

/// The opening tag of a script.
#[derive(Debug, Default)]
struct Tag {
    /// Of the value of `src`.
    source: Option<(usize, usize)>,
    /// `lang="ts"`, `lang="tsx"`, `lang="typescript"`.
    is_typescript: bool,
    /// `lang="tsx"`.
    is_jsx: bool,
    /// `/>`: there is no content.
    is_closed: bool,
    /// Behind the `>`.
    end: usize,
}

impl Tag {
    /// Reads the attributes that begin at `position`.
    fn read(text: &[u8], position: usize) -> Self {
        let mut tag = Tag {
            end: text.len(),
            ..Tag::default()
        };
        let mut at = position;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'>' => {
                    tag.end = at + 1;
                    break;
                }
                b'/' => {
                    tag.is_closed = text.get(at + 1) == Some(&b'>');
                    at += 1;
                }
                b'=' | b'"' | b'\'' => at = value_end(text, at).1,
                _ if byte.is_ascii_whitespace() => at += 1,
                _ => {
                    let name = &text[at..at + name_length(&text[at..])];
                    let equals = spaces(text, at + name.len());
                    at += name.len();
                    if text.get(equals) == Some(&b'=') {
                        let (value, end) = value_end(text, spaces(text, equals + 1));
                        tag.attribute(name, &text[value.0..value.1], value);
                        at = end;
                    }
                }
            }
        }
        tag
    }

    fn attribute(&mut self, name: &[u8], value: &[u8], range: (usize, usize)) {
        if name.eq_ignore_ascii_case(b"src") {
            self.source = Some(range);
        } else if name.eq_ignore_ascii_case(b"lang") || name.eq_ignore_ascii_case(b"type") {
            self.is_typescript |= matches!(value, b"ts" | b"tsx" | b"typescript" | b"text/typescript");
            self.is_jsx |= value == b"tsx";
        }
    }
}

/// The range of the value at `position`, quoted or not, and where it ends. Takes at least one byte.
fn value_end(text: &[u8], position: usize) -> ((usize, usize), usize) {
    match text.get(position) {
        Some(&quote @ (b'"' | b'\'')) => {
            let start = position + 1;
            let end = memchr::memchr(quote, &text[start..]).map_or(text.len(), |at| start + at);
            ((start, end), (end + 1).min(text.len()))
        }
        _ => {
            let rest = text.get(position..).unwrap_or_default();
            let length = rest
                .iter()
                .take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'>')
                .count();
            let end = position + length;
            ((position, end), end)
        }
    }
}

fn name_length(text: &[u8]) -> usize {
    let is_part = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'>' | b'/' | b'"' | b'\'');
    text.iter().take_while(is_part).count()
}

fn spaces(text: &[u8], position: usize) -> usize {
    let rest = text.get(position..).unwrap_or_default();
    position + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}
