//! `.intentignore`: files that no intent may change, in the syntax of `.gitignore`.

use unicode_normalization::UnicodeNormalization;

use super::rule::{self, Item, Rule, Syntax};
use super::walk::Walk;

/// The rules of an `.intentignore`.
#[derive(Clone, Debug, Default)]
pub struct IntentIgnore {
    rules: Vec<Rule>,
    lines: Vec<String>,
    unreadable: Option<String>,
}

/// Why a path is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoreReason {
    /// A line of the file ignores it. Lines are counted from 1.
    Line { number: usize, text: String },
    /// The file exists but cannot be read, so the files that an intent may change are unknown.
    Unreadable(String),
}

impl std::fmt::Display for IgnoreReason {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            IgnoreReason::Line { number, text } => write!(formatter, "line {number} of .intentignore: {text}"),
            IgnoreReason::Unreadable(why) => write!(formatter, ".intentignore cannot be read: {why}"),
        }
    }
}

impl IntentIgnore {
    /// Maximum length of the file.
    pub const MAX_BYTES: usize = 64 * 1024;

    /// The rules without a file: nothing is ignored.
    pub fn none() -> Self {
        IntentIgnore::default()
    }

    /// The rules of a file that cannot be read: everything is ignored.
    pub fn unreadable(why: impl Into<String>) -> Self {
        IntentIgnore {
            unreadable: Some(why.into()),
            ..IntentIgnore::default()
        }
    }

    /// Parses the rules of a file. A file that is too long counts as unreadable.
    pub fn parse(content: &[u8]) -> Self {
        if content.len() > Self::MAX_BYTES {
            let (bytes, most) = (content.len(), Self::MAX_BYTES);
            return Self::unreadable(format!("it has {bytes} bytes; at most {most} are allowed"));
        }
        let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
        let mut ignore = IntentIgnore::default();
        for (source, line) in content.split(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            ignore.lines.push(String::from_utf8_lossy(line).into_owned());
            ignore.rules.extend(parse_line(line, source));
        }
        ignore
    }

    /// Why `path` or a folder above it is ignored.
    pub fn find(&self, path: impl AsRef<[u8]>) -> Option<IgnoreReason> {
        self.walk().find(path.as_ref())
    }

    pub(super) fn walk(&self) -> IgnoreWalk<'_> {
        IgnoreWalk {
            ignore: self,
            walk: Walk::new(&self.rules),
        }
    }
}

/// Applies an [`IntentIgnore`] to one path after the other.
pub(super) struct IgnoreWalk<'i> {
    ignore: &'i IntentIgnore,
    walk: Walk<'i>,
}

impl IgnoreWalk<'_> {
    pub(super) fn find(&mut self, path: &[u8]) -> Option<IgnoreReason> {
        if let Some(why) = &self.ignore.unreadable {
            return Some(IgnoreReason::Unreadable(why.clone()));
        }
        let rule = self.walk.find(path)?;
        Some(IgnoreReason::Line {
            number: rule.source + 1,
            text: self.ignore.lines.get(rule.source).cloned().unwrap_or_default(),
        })
    }

    #[cfg(test)]
    pub(super) fn steps(&self) -> u64 {
        self.walk.steps
    }
}

/// The rules of a line. An empty line and a comment have none.
fn parse_line(line: &[u8], source: usize) -> Vec<Rule> {
    if line.starts_with(b"#") {
        return Vec::new();
    }
    // For git, a text ends with a NUL.
    let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
    let composed: Option<String> = std::str::from_utf8(line).ok().map(|line| line.nfc().collect());
    let line = rule::trim_trailing_spaces(composed.as_ref().map_or(line, |line| line.as_bytes()));
    let (negated, line) = line.strip_prefix(b"!").map_or((false, line), |line| (true, line));
    let (folder_only, line) = line.strip_suffix(b"/").map_or((false, line), |line| (true, line));
    let is_anchored = line.contains(&b'/');
    let line = line.strip_prefix(b"/").unwrap_or(line);
    if line.is_empty() {
        return Vec::new();
    }
    // A name without a slash matches in every folder, and its stars never match a slash.
    let rows = match is_anchored {
        true => rule::parse_rows(line, Syntax::Git),
        false => vec![rule::parse_name(line)],
    };
    let rule = |items: Vec<Item>| Rule {
        items,
        folder_only,
        negated,
        source,
    };
    rows.into_iter().map(rule).collect()
}
