//! Lines of `.gitattributes` about files that git merges by itself (`merge=union`), or that are generated
//! (`linguist-generated`).

use coord_scopes::FileRules;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// Maximum number of lines that count, of all files together.
const MAX_LINES: usize = 512;

/// Maximum bytes of a pattern.
const MAX_PATTERN_BYTES: usize = 512;

/// A line that sets or unsets an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct AttributeRule {
    /// The folder of its file; empty for the root.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub folder: String,
    /// The pattern as written.
    pub pattern: String,
    /// Whether it sets the attribute.
    pub is_set: bool,
}

/// The lines that count. Files are added from the root down, because the last line that matches decides.
#[derive(Debug, Default)]
pub struct Attributes {
    pub union: Vec<AttributeRule>,
    pub generated: Vec<AttributeRule>,
    /// Whether lines were left out, because there are too many or one is too long.
    pub is_cut: bool,
}

impl Attributes {
    /// Adds the lines of the file in `folder`.
    pub fn add(&mut self, folder: &str, content: &[u8]) {
        for line in String::from_utf8_lossy(content).lines() {
            let Some((pattern, attributes)) = split_pattern(line) else {
                continue;
            };
            let (mut union, mut generated) = (None, None);
            for attribute in attributes.split_ascii_whitespace() {
                match attribute {
                    "merge=union" => union = Some(true),
                    "merge" | "-merge" | "!merge" | "binary" => union = Some(false),
                    "linguist-generated" | "linguist-generated=true" => generated = Some(true),
                    "-linguist-generated" | "!linguist-generated" => generated = Some(false),
                    other if other.starts_with("merge=") => union = Some(false),
                    other if other.starts_with("linguist-generated=") => generated = Some(false),
                    _ => {}
                }
            }
            for (is_set, rules) in [(union, &mut self.union), (generated, &mut self.generated)] {
                let Some(is_set) = is_set else { continue };
                // An attribute that is unset before it is set was never set.
                if rules.is_empty() && !is_set {
                    continue;
                }
                if rules.len() == MAX_LINES || pattern.len() > MAX_PATTERN_BYTES {
                    self.is_cut = true;
                    continue;
                }
                rules.push(AttributeRule {
                    folder: folder.to_owned(),
                    pattern: pattern.nfc().collect(),
                    is_set,
                });
            }
        }
    }
}

/// Splits a line into its pattern and its attributes; `None` for a comment or a macro.
fn split_pattern(line: &str) -> Option<(String, &str)> {
    let line = line.trim_start();
    if line.is_empty() || line.starts_with('#') || line.starts_with("[attr]") {
        return None;
    }
    let Some(quoted) = line.strip_prefix('"') else {
        let (pattern, attributes) = line.split_once(|character: char| character.is_ascii_whitespace())?;
        return Some((pattern.to_owned(), attributes));
    };
    let (mut pattern, mut characters) = (String::new(), quoted.char_indices());
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return Some((pattern, &quoted[index + 1..])),
            // The other escapes of C are for characters that names of files do not have in practice.
            '\\' => match characters.next()?.1 {
                escaped @ ('"' | '\\') => pattern.push(escaped),
                _ => return None,
            },
            _ => pattern.push(character),
        }
    }
    None
}

pub(super) fn file_rules(lines: &[AttributeRule]) -> FileRules {
    let mut rules = FileRules::default();
    for line in lines {
        rules.add(&line.folder, &line.pattern, line.is_set);
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(content: &str) -> (Vec<String>, Vec<String>) {
        let mut attributes = Attributes::default();
        attributes.add("", content.as_bytes());
        let texts = |rules: Vec<AttributeRule>| {
            let text = |rule: AttributeRule| format!("{}{}", if rule.is_set { "" } else { "-" }, rule.pattern);
            rules.into_iter().map(text).collect()
        };
        (texts(attributes.union), texts(attributes.generated))
    }

    // rule: policy#shared-default
    #[test]
    fn lines_about_merging_and_generated_files_count_and_others_do_not() {
        for (content, union, generated) in [
            ("", &[][..], &[][..]),
            ("CHANGELOG.md merge=union\n", &["CHANGELOG.md"], &[]),
            ("*.md merge=union\r\nREADME.md merge\n", &["*.md", "-README.md"], &[]),
            ("*.md merge=union\n*.md merge=ours\n", &["*.md", "-*.md"], &[]),
            ("*.md -merge\n", &[], &[]),
            ("gen/** linguist-generated\n", &[], &["gen/**"]),
            (
                "gen/** linguist-generated=true -diff\ngen/a linguist-generated=false",
                &[],
                &["gen/**", "-gen/a"],
            ),
            (
                "# a merge=union\n[attr]x merge=union\n\"a b\" merge=union\n",
                &["a b"],
                &[],
            ),
            ("\"a \\\"b\" merge=union\n\"open merge=union\n", &["a \"b"], &[]),
            ("alone\n*.lock text eol=lf\n", &[], &[]),
        ] {
            let (unions, generateds) = of(content);
            assert_eq!(unions, union, "{content:?}");
            assert_eq!(generateds, generated, "{content:?}");
        }
    }

    #[test]
    fn more_lines_than_count_are_cut() {
        let mut attributes = Attributes::default();
        attributes.add("", "a merge=union\n".repeat(MAX_LINES).as_bytes());
        assert!(!attributes.is_cut);
        attributes.add("", b"b merge=union\n");
        assert!(attributes.is_cut);
        assert_eq!(attributes.union.len(), MAX_LINES);
        let mut attributes = Attributes::default();
        attributes.add("", format!("{} merge=union", "a".repeat(513)).as_bytes());
        assert!(attributes.is_cut && attributes.union.is_empty());
    }
}
