//! Vue: blocks at the root of a file. In its template, directives and `{{ }}` are code.

use crate::component::script::Visit;
use crate::import_kind::ImportKind;
use crate::javascript::{Dialect, Scanner};
use crate::markup::{Element, Tag, closing_end, comment_end, raw_end, tag_name};
use crate::meter;

pub(super) fn walk(text: &[u8], scanner: &mut Scanner<'_, '_>, visit: Visit<'_>) {
    let mut at = 0;
    while let Some(distance) = text.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
        meter::read(distance + 1);
        at += distance;
        if let Some(end) = comment_end(text, at) {
            at = end;
            continue;
        }
        let name = tag_name(text, at + 1);
        at += 1 + name.len();
        if name.is_empty() {
            continue;
        }
        if name.eq_ignore_ascii_case(b"template") {
            at = scan_template(text, at, scanner);
            continue;
        }
        let block = Element::read(text, at, name);
        at = block.end;
        if name.eq_ignore_ascii_case(b"script") {
            block.visit_script(scanner, false, visit);
        } else {
            block.emit_source(scanner);
        }
    }
}

/// Scans the template whose name ends at `position`; returns the position after it.
fn scan_template(text: &[u8], position: usize, scanner: &mut Scanner<'_, '_>) -> usize {
    let mut source = None;
    let mut is_html = true;
    let tag = Tag::read(text, position, |name, value| match name {
        b"src" => source = Some(value),
        b"lang" => is_html = &text[value] == b"html",
        _ => {}
    });
    if let Some(source) = source {
        scanner.emit_attribute(source, ImportKind::Import);
    }
    if tag.is_self_closing {
        return tag.end;
    }
    if !is_html {
        return closing_end(text, raw_end(text, tag.end, b"template"));
    }
    scan_markup(text, tag.end, scanner)
}

/// Scans the markup of a template from `position` to its closing tag; returns the position after that.
fn scan_markup(text: &[u8], position: usize, scanner: &mut Scanner<'_, '_>) -> usize {
    let mut at = position;
    let mut depth = 1_usize;
    let mut may_have_holes = true;
    while let Some(distance) = text.get(at..).and_then(|rest| memchr::memchr2(b'<', b'{', rest)) {
        meter::read(distance + 1);
        at += distance;
        if text[at] == b'{' {
            at += 1;
            if may_have_holes && text.get(at) == Some(&b'{') {
                let start = at + 1;
                // A hole ends at the first closing braces, even within a string.
                match memchr::memmem::find(&text[start..], b"}}") {
                    Some(length) => {
                        meter::read(length);
                        scanner.scan_range(Dialect::TYPESCRIPT, start, start + length);
                        at = start + length + 2;
                    }
                    None => may_have_holes = false,
                }
            }
            continue;
        }
        if let Some(end) = comment_end(text, at) {
            at = end;
            continue;
        }
        if text.get(at + 1) == Some(&b'/') {
            let is_template = tag_name(text, at + 2).eq_ignore_ascii_case(b"template");
            at = closing_end(text, at);
            if is_template {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            continue;
        }
        let name = tag_name(text, at + 1);
        at += 1 + name.len();
        if name.is_empty() {
            continue;
        }
        let tag = Tag::read(text, at, |name, value| {
            if is_directive(name) {
                scanner.scan_range(Dialect::TYPESCRIPT, value.start, value.end);
            }
        });
        at = tag.end;
        if tag.is_self_closing {
            continue;
        }
        if name.eq_ignore_ascii_case(b"template") {
            depth += 1;
        } else if name.eq_ignore_ascii_case(b"script") || name.eq_ignore_ascii_case(b"style") {
            at = closing_end(text, raw_end(text, at, name));
        }
    }
    text.len()
}

/// Whether the value of the attribute `name` is code.
fn is_directive(name: &[u8]) -> bool {
    name.starts_with(b"v-") || matches!(name.first(), Some(b':' | b'@' | b'#' | b'.'))
}
