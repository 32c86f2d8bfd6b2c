//! HTML tags and their attributes.

use std::ops::Range;

use crate::meter;

/// Elements that have no content and no closing tag.
const VOID: [&[u8]; 14] = [
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param", b"source",
    b"track", b"wbr",
];

/// Whether elements of this name have no content.
pub(crate) fn is_void(name: &[u8]) -> bool {
    VOID.contains(&name)
}

/// The name of the tag at `position`, after its `<`; empty where there is none.
pub(crate) fn tag_name(text: &[u8], position: usize) -> &[u8] {
    let rest = text.get(position..).unwrap_or_default();
    if !rest.first().is_some_and(u8::is_ascii_alphabetic) {
        return &[];
    }
    let is_part = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(**byte, b'>' | b'/' | b'<' | b'{');
    let length = rest.iter().take_while(is_part).count();
    meter::read(length);
    &rest[..length]
}

/// The end of the comment at `position`, if there is one.
pub(crate) fn comment_end(text: &[u8], position: usize) -> Option<usize> {
    let rest = text.get(position..)?.strip_prefix(b"<!--")?;
    let length = memchr::memmem::find(rest, b"-->").map_or(rest.len(), |end| end + 3);
    meter::read(length);
    Some(position + 4 + length)
}

/// The `</name` at or after `position`, in any case, or the end of the text.
pub(crate) fn raw_end(text: &[u8], position: usize, name: &[u8]) -> usize {
    let mut at = position;
    while let Some(distance) = text.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
        meter::read(distance + 1);
        at += distance + 1;
        if text.get(at) == Some(&b'/') && tag_name(text, at + 1).eq_ignore_ascii_case(name) {
            return at - 1;
        }
    }
    text.len()
}

/// The position after the `>` of the closing tag at `position`.
pub(crate) fn closing_end(text: &[u8], position: usize) -> usize {
    let rest = text.get(position..).unwrap_or_default();
    let length = memchr::memchr(b'>', rest).map_or(rest.len(), |at| at + 1);
    meter::read(length);
    position + length
}

/// The end of an opening tag.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tag {
    /// `/>`: the element has no content.
    pub(crate) is_self_closing: bool,
    /// The position after the `>`.
    pub(crate) end: usize,
}

impl Tag {
    /// Reads the attributes that begin at `position`; `visit` gets the name and the range of the value of each.
    pub(crate) fn read(text: &[u8], position: usize, mut visit: impl FnMut(&[u8], Range<usize>)) -> Self {
        let mut is_self_closing = false;
        let mut at = position;
        while let Some(&byte) = text.get(at) {
            match byte {
                b'>' => {
                    meter::read(at + 1 - position);
                    return Tag {
                        is_self_closing,
                        end: at + 1,
                    };
                }
                b'/' => {
                    is_self_closing = text.get(at + 1) == Some(&b'>');
                    at += 1;
                }
                b'=' | b'"' | b'\'' => at = read_value(text, at).1,
                _ if byte.is_ascii_whitespace() => at += 1,
                _ => {
                    let name = &text[at..at + name_length(&text[at..])];
                    let equals = skip_spaces(text, at + name.len());
                    at += name.len();
                    if text.get(equals) == Some(&b'=') {
                        let (value, end) = read_value(text, skip_spaces(text, equals + 1));
                        visit(name, value);
                        at = end;
                    } else {
                        visit(name, at..at);
                    }
                }
            }
        }
        meter::read(text.len() - position);
        Tag {
            is_self_closing: false,
            end: text.len(),
        }
    }
}

/// The range of the value at `position`, quoted or not, and its end. Consumes at least one byte.
fn read_value(text: &[u8], position: usize) -> (Range<usize>, usize) {
    match text.get(position) {
        Some(&quote @ (b'"' | b'\'')) => {
            let start = position + 1;
            let end = memchr::memchr(quote, &text[start..]).map_or(text.len(), |at| start + at);
            (start..end, (end + 1).min(text.len()))
        }
        _ => {
            let rest = text.get(position..).unwrap_or_default();
            let length = rest
                .iter()
                .take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'>')
                .count();
            let end = position + length;
            (position..end, end)
        }
    }
}

fn name_length(text: &[u8]) -> usize {
    let is_part = |byte: &&u8| !byte.is_ascii_whitespace() && !matches!(byte, b'=' | b'>' | b'/' | b'"' | b'\'');
    text.iter().take_while(is_part).count()
}

fn skip_spaces(text: &[u8], position: usize) -> usize {
    let rest = text.get(position..).unwrap_or_default();
    position + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// An element whose content is not markup: a script, a style, a block of Vue.
#[derive(Debug, Default)]
pub(crate) struct Element {
    /// The range of the value of `src`.
    pub(crate) source: Option<Range<usize>>,
    /// The range of the value of `generic` (Vue) or `generics` (Svelte): type parameters.
    pub(crate) generics: Option<Range<usize>>,
    /// `lang="ts"`, `lang="tsx"`, `lang="typescript"`.
    pub(crate) is_typescript: bool,
    /// `lang="tsx"`.
    pub(crate) is_jsx: bool,
    /// Whether it has an attribute besides `src`.
    pub(crate) has_other_attributes: bool,
    pub(crate) content: Range<usize>,
    /// The position after its closing tag.
    pub(crate) end: usize,
}

impl Element {
    /// Reads the element `name`, whose name ends at `position`.
    pub(crate) fn read(text: &[u8], position: usize, name: &[u8]) -> Self {
        let mut element = Element::default();
        let tag = Tag::read(text, position, |name, range| element.attribute(text, name, range));
        element.content = tag.end..tag.end;
        element.end = tag.end;
        if !tag.is_self_closing {
            element.content.end = raw_end(text, tag.end, name);
            element.end = closing_end(text, element.content.end);
        }
        element
    }

    fn attribute(&mut self, text: &[u8], name: &[u8], range: Range<usize>) {
        let value = &text[range.clone()];
        if name.eq_ignore_ascii_case(b"src") {
            self.source = Some(range);
            return;
        }
        self.has_other_attributes = true;
        if name.eq_ignore_ascii_case(b"lang") || name.eq_ignore_ascii_case(b"type") {
            self.is_typescript |= matches!(value, b"ts" | b"tsx" | b"typescript" | b"text/typescript");
            self.is_jsx |= value == b"tsx";
        } else if matches!(name, b"generic" | b"generics") {
            self.generics = Some(range);
        }
    }
}
