//! Calls that bundlers replace with imports of all files that match: Vite's `import.meta.glob()`, and webpack's
//! `require.context()`. Only strings and regular expressions that are written in the call count.

use super::trivia;
use crate::import_kind::ImportKind;
use crate::javascript::call::argument;
use crate::javascript::literal;
use crate::javascript::literal::{Literal, plain_literal};
use crate::javascript::regex::regex_end;
use crate::javascript::scanner::Scanner;
use crate::javascript::trivia::{next, word};
use crate::specifier::MAX_SPECIFIER_BYTES;

/// Most bytes of options that are read.
const MAX_OPTIONS_BYTES: usize = 256;

impl Scanner<'_, '_> {
    /// `import.meta.glob("./a/*.ts", { base: "./b" })`, or with a list; `position` is after the word `glob`.
    pub(super) fn import_meta_glob(&mut self, position: usize) {
        if self.findings.is_full() {
            return;
        }
        let Some((literals, end)) = self.parenthesis(position).and_then(|at| patterns(self.text, at)) else {
            return;
        };
        let base = match next(self.text, end) {
            (_, Some(b')')) => None,
            (comma, Some(b',')) => base_option(self.text, comma + 1),
            _ => return,
        };
        let mut excluded = Vec::new();
        let mut included = Vec::new();
        for literal in literals {
            let Some(text) = literal::decode(&self.text[literal.content.clone()]) else {
                return;
            };
            match text.strip_prefix('!') {
                Some(text) => excluded.push(apply_base(text, base.as_deref())),
                None => included.push((literal.content.start, apply_base(&text, base.as_deref()))),
            }
        }
        let excluded = excluded.join("\n");
        if excluded.len() <= MAX_SPECIFIER_BYTES {
            for (position, text) in included {
                let excluded = Some(excluded.as_str()).filter(|excluded| !excluded.is_empty());
                self.push(position, text, excluded, ImportKind::Glob);
            }
        }
    }

    /// `require.context("./a", true, /\.js$/)`; `position` is after the word `context`.
    pub(super) fn require_context(&mut self, position: usize) {
        let Some(parenthesis) = self.parenthesis(position).filter(|_| !self.findings.is_full()) else {
            return;
        };
        let text = self.text;
        let Some((folder, mut at)) = argument(text, parenthesis) else {
            return;
        };
        let mut is_deep = true;
        let mut names = vec!["*".to_owned()];
        if text[at - 1] == b',' {
            at = trivia::skip(text, at);
            is_deep = match word(text, at) {
                b"true" => true,
                b"false" => false,
                b"" if text.get(at) == Some(&b')') => true,
                _ => return,
            };
            let (comma, byte) = next(text, at + word(text, at).len());
            let (start, slash) = next(text, comma + 1);
            if byte == Some(b',') && slash != Some(b')') {
                let end = (slash == Some(b'/')).then(|| regex_end(text, start).ok()).flatten();
                let source = end.and_then(|end| std::str::from_utf8(text.get(start + 1..end - 1)?).ok());
                match source.and_then(globs_of_regex) {
                    Some(globs) => names = globs,
                    None => return,
                }
            }
        }
        let Some(value) = literal::decode(&text[folder.content.clone()]) else {
            return;
        };
        for name in names {
            let relative = match name.strip_prefix('/') {
                Some(name) => name.to_owned(),
                None if is_deep => format!("**/{name}"),
                None => name,
            };
            let pattern = format!("{}/{relative}", value.trim_end_matches('/'));
            self.push(folder.content.start, pattern, None, ImportKind::Glob);
        }
    }
}

/// The strings of the first argument, and its end. The parenthesis is at `position`.
fn patterns(text: &[u8], position: usize) -> Option<(Vec<Literal>, usize)> {
    let (mut at, byte) = next(text, position + 1);
    if byte != Some(b'[') {
        let literal = plain_literal(text, at)?;
        let end = literal.end;
        return Some((vec![literal], end));
    }
    let mut literals = Vec::new();
    loop {
        let (start, byte) = next(text, at + 1);
        if byte == Some(b']') {
            return Some((literals, start + 1));
        }
        let literal = plain_literal(text, start)?;
        at = next(text, literal.end).0;
        literals.push(literal);
        match text.get(at) {
            Some(b',') => {}
            Some(b']') => return Some((literals, at + 1)),
            _ => return None,
        }
    }
}

/// The value of `base` in the options from `position` on.
fn base_option(text: &[u8], position: usize) -> Option<String> {
    let text = &text[..text.len().min(position + MAX_OPTIONS_BYTES)];
    let mut at = position;
    loop {
        let (start, byte) = next(text, at);
        match byte? {
            b')' => return None,
            b'"' | b'\'' | b'`' => at = plain_literal(text, start)?.end,
            _ => {
                let name = word(text, start);
                at = start + name.len().max(1);
                let (colon, byte) = next(text, at);
                if name == b"base" && byte == Some(b':') {
                    let value = plain_literal(text, trivia::skip(text, colon + 1))?;
                    return literal::decode(&text[value.content]);
                }
            }
        }
    }
}

/// `pattern` relative to `base`, unless it begins at the root or with an alias.
fn apply_base(pattern: &str, base: Option<&str>) -> String {
    match base {
        Some(base) if pattern.starts_with("./") || pattern.starts_with("../") => format!("{base}/{pattern}"),
        _ => pattern.to_owned(),
    }
}

/// Globs of the names, in any folder, that the regular expression `source` matches; a leading slash stands for the
/// folder itself. `None` unless it only describes how names end, as in `\.vue$`, `\.(js|ts)x?$`, `^\.\/.*\.md$`.
fn globs_of_regex(source: &str) -> Option<Vec<String>> {
    let (is_from_start, rest) = match source.strip_prefix("^") {
        Some(rest) => (true, rest.strip_prefix(r"\.\/").or_else(|| rest.strip_prefix("./"))?),
        None => (false, source),
    };
    let any = [".*", ".+"].into_iter().find_map(|any| rest.strip_prefix(any));
    let rest = any.unwrap_or(rest);
    let (rest, is_to_end) = match rest.strip_suffix('$') {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    let end = if is_to_end { "" } else { "*" };
    let names = names_of_regex(rest)?;
    let glob = |name: String| match name.strip_prefix('/') {
        Some(name) => format!("{name}{end}"),
        None if is_from_start && any.is_none() => format!("/{name}{end}"),
        None => format!("*{name}{end}"),
    };
    Some(names.into_iter().map(glob).collect())
}

/// All texts that a regular expression of letters, alternatives and optional letters stands for.
fn names_of_regex(source: &str) -> Option<Vec<String>> {
    const MAX_NAMES: usize = 32;
    let mut names = vec![String::new()];
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let mut choices: Vec<String>;
        (choices, rest) = match first {
            '\\' => {
                let escaped = rest[1..].chars().next().filter(char::is_ascii_punctuation)?;
                (vec![escaped.to_string()], &rest[2..])
            }
            '(' => {
                let (inner, after) = rest[1..].split_once(')')?;
                let inner = inner.strip_prefix("?:").unwrap_or(inner);
                let choices = inner.split('|').map(names_of_choice).collect::<Option<Vec<_>>>()?;
                (choices.concat(), after)
            }
            letter if letter.is_alphanumeric() || "-_/".contains(letter) => {
                (vec![letter.to_string()], &rest[letter.len_utf8()..])
            }
            _ => return None,
        };
        if let Some(after) = rest.strip_prefix('?') {
            choices.push(String::new());
            rest = after;
        }
        names = names
            .iter()
            .flat_map(|name| choices.iter().map(move |choice| format!("{name}{choice}")))
            .collect();
        if names.len() > MAX_NAMES {
            return None;
        }
    }
    Some(names)
}

/// [`names_of_regex`] within a group, which contains no other group.
fn names_of_choice(source: &str) -> Option<Vec<String>> {
    if source.contains('(') {
        None
    } else {
        names_of_regex(source)
    }
}

#[cfg(test)]
mod tests {
    use super::globs_of_regex;

    #[test]
    fn a_regular_expression_for_ends_of_names_becomes_globs() {
        for (source, expected) in [
            (r"\.vue$", Some(vec!["*.vue"])),
            (r"\.(js|ts)x?$", Some(vec!["*.jsx", "*.js", "*.tsx", "*.ts"])),
            (
                r"\.stories\.(?:tsx?|mdx)$",
                Some(vec!["*.stories.tsx", "*.stories.ts", "*.stories.mdx"]),
            ),
            (r"^\.\/.*\.md$", Some(vec!["*.md"])),
            (r"^\.\/index\.js$", Some(vec!["/index.js"])),
            (r"\/index\.js$", Some(vec!["index.js"])),
            (r"\.json", Some(vec!["*.json*"])),
            (".*", Some(vec!["**"])),
            (r"[A-Z]\w+\.vue$", None),
            (r"^(?!.*test).*\.js$", None),
            (r"(a|(b|c))\.js$", None),
            (r"\w\.js$", None),
            (r"(a|b)(c|d)(e|f)(g|h)(i|j)(k|l)$", None),
            (r"(a", None),
            (r"\", None),
        ] {
            let expected = expected.map(|globs| globs.into_iter().map(str::to_owned).collect::<Vec<_>>());
            assert_eq!(globs_of_regex(source), expected, "{source}");
        }
    }
}
