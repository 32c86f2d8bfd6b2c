//! Single-file components: the scripts in Vue, Svelte and Astro files.
//!
//! Only scripts are read: markup names no module that its script does not.

use std::ops::Range;

use crate::import_kind::ImportKind;
use crate::scan::findings::Findings;
use crate::scan::javascript::{Dialect, Scanner};
use crate::scan::meter;

/// A script of a component.
pub(crate) enum Script {
    /// The range of its file's name.
    Elsewhere(Range<usize>),
    Inline(Dialect, Range<usize>),
}

/// Appends the imports of every script in a Vue or Svelte component to `found`.
pub(super) fn scan(text: &[u8], found: &mut Findings) {
    scripts(&mut Scanner::new(text, found), text, 0, false);
}

/// Appends the imports of an Astro component to `found`: those of its code fence and of its scripts, all of them TypeScript.
pub(super) fn scan_astro(text: &[u8], found: &mut Findings) {
    let mut scanner = Scanner::new(text, found);
    let mut markup = 0;
    if let Some((start, end)) = code_fence(text) {
        scanner.scan_range(Dialect::TYPESCRIPT_JSX, start, end);
        markup = end;
    }
    scripts(&mut scanner, text, markup, true);
}

fn scripts(scanner: &mut Scanner<'_, '_>, text: &[u8], position: usize, always_typed: bool) {
    for_each_script(text, position, always_typed, |script| match script {
        Script::Elsewhere(source) => scanner.emit_attribute(source.start, source.end, ImportKind::Import),
        Script::Inline(dialect, range) => scanner.scan_range(dialect, range.start, range.end),
    });
}

/// Start and end of the code between the two `---` lines at the top of an Astro component.
pub(crate) fn code_fence(text: &[u8]) -> Option<(usize, usize)> {
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

/// Calls `visit` for every `<script>` element from `position` on.
pub(crate) fn for_each_script(text: &[u8], position: usize, always_typed: bool, mut visit: impl FnMut(Script)) {
    let mut at = position;
    while let Some(less) = text.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
        meter::read(less + 1);
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
            visit(Script::Elsewhere(start..end));
        }
        at = tag.end;
        if !tag.is_closed {
            let end = script_end(text, at);
            let dialect = Dialect {
                jsx: !typed || tag.is_jsx,
                types: typed,
            };
            visit(Script::Inline(dialect, at..end));
            at = end;
        }
    }
}

/// Whether `text` begins with the tag name `name`, in any case.
fn begins_with_tag(text: &[u8], name: &[u8]) -> bool {
    let has_name = text
        .get(..name.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(name));
    has_name
        && text
            .get(name.len())
            .is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/'))
}

/// The `</script` at or after `position`, or the end of the text.
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
    /// The range of the value of `src`.
    source: Option<(usize, usize)>,
    /// `lang="ts"`, `lang="tsx"`, `lang="typescript"`.
    is_typescript: bool,
    /// `lang="tsx"`.
    is_jsx: bool,
    /// `/>`: the element has no content.
    is_closed: bool,
    /// The position after the `>`.
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

/// The range of the value at `position`, quoted or not, and its end. Consumes at least one byte.
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

#[cfg(test)]
mod tests {
    use crate::language::Language;
    use crate::scan::scan;

    fn imports(language: Language, text: &str) -> Vec<(String, u32)> {
        scan(language, text.as_bytes())
            .into_iter()
            .map(|found| (found.text, found.line))
            .collect()
    }

    #[test]
    fn the_scripts_of_a_component_are_read_with_the_lines_of_the_file() {
        let text = "<template>\n <p>import './x' it's</p>\n</template>\n<!-- <script>import './x'</script> -->\n\
            <script>\nimport a from './a'\n</script>\n<SCRIPT setup lang=\"ts\">\nlet b: import('./b').B\n</SCRIPT>\n\
            <scripts>import './x'</scripts>\n<style>@import './x.css';</style>";
        for language in [Language::Vue, Language::Svelte] {
            assert_eq!(imports(language, text), [("./a".to_owned(), 6), ("./b".to_owned(), 9)]);
        }
    }

    #[test]
    fn a_script_elsewhere_is_an_import() {
        for (text, expected) in [
            ("<script src=\"./a.ts\" lang='ts'></script>", "./a.ts"),
            ("<script lang=ts src=./a.ts />", "./a.ts"),
            ("<script\n  src = './a.ts'\n/>\n<p>import './x'</p>", "./a.ts"),
            ("<script data-x='>' src='./a.ts'></script>", "./a.ts"),
        ] {
            let found: Vec<_> = imports(Language::Vue, text).into_iter().map(|(text, _)| text).collect();
            assert_eq!(found, [expected], "{text}");
        }
    }

    #[test]
    fn the_language_of_a_script_decides_what_an_angle_bracket_is() {
        let typed = "<script lang=\"ts\">let a = <T>b; let c = '<'; import './a'</script>";
        let plain = "<script>let a = <p>it's</p>; import './a'</script>";
        for text in [typed, plain] {
            assert_eq!(imports(Language::Vue, text), [("./a".to_owned(), 1)], "{text}");
        }
    }

    #[test]
    fn the_code_fence_of_an_astro_component_is_typescript() {
        let text = "---\nimport A from './a'\nconst b: B = <p>it's</p>\nimport type C from './c'\n---\n\
            <A>import './x'</A>\n<script>import './d'</script>";
        let expected = [("./a".to_owned(), 2), ("./c".to_owned(), 4), ("./d".to_owned(), 7)];
        assert_eq!(imports(Language::Astro, text), expected);
        assert_eq!(imports(Language::Astro, &text.replace('\n', "\r\n")), expected);
        assert_eq!(imports(Language::Astro, "---\nimport './a'"), []);
        assert_eq!(imports(Language::Astro, "<p>---\nimport './a'\n---</p>"), []);
    }

    #[test]
    fn a_script_that_is_never_closed_is_read_to_the_end() {
        assert_eq!(
            imports(Language::Svelte, "<script>import './a'"),
            [("./a".to_owned(), 1)]
        );
        for text in [
            "<script",
            "<script src",
            "<script src=",
            "<script src='",
            "<script /",
            "<",
            "<!--",
            "</script>",
        ] {
            assert_eq!(imports(Language::Svelte, text), [], "{text}");
        }
    }
}
