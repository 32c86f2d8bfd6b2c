//! Astro: a code fence, and markup whose braces hold code with elements in it, as in JSX.

use crate::component::script::Visit;
use crate::javascript::Scanner;
use crate::markup::Element;

pub(super) fn walk(text: &[u8], scanner: &mut Scanner<'_, '_>, visit: Visit<'_>) {
    let markup = code_fence(text).map_or(0, |(_, end)| end);
    for script in scanner.scan_markup(markup) {
        let script = Element::read(text, script, b"script");
        let is_computed = script
            .source
            .clone()
            .is_some_and(|source| text[source].starts_with(b"{"));
        // Astro passes a script with any other attribute to the browser unchanged.
        if !script.has_other_attributes && !is_computed {
            script.visit_script(scanner, true, visit);
        }
    }
}

/// Start and end of the code between the two `---` lines at the top of an Astro component.
pub fn code_fence(text: &[u8]) -> Option<(usize, usize)> {
    let byte_order_mark = if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let open = byte_order_mark
        + text[byte_order_mark..]
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
