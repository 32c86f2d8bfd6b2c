//! `.orchestration/coord.toml`: which of the tools that Coord does not know only read, and which change something.

use std::path::Path;

use coord_files::{EntryKind, Refusal, RootedPath};
use serde::Deserialize;

/// The file, in the working copy.
pub(super) const FILE: &str = ".orchestration/coord.toml";

/// Maximum size of the file, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// The settings of tools in the file. Empty without a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ToolSettings {
    reads: Vec<String>,
    changes: Vec<String>,
}

/// The whole file. Other tables belong to other parts of Coord.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct File {
    tools: ToolSettings,
}

impl ToolSettings {
    /// Reads the settings of the working copy at `root`.
    ///
    /// # Errors
    /// A sentence with line and column, when the file is damaged: the permissions of tools are unknown then.
    pub(super) fn read(root: &Path) -> Result<ToolSettings, String> {
        match RootedPath::new(root, FILE).read(MAX_BYTES as u64) {
            Ok(Some(text)) => ToolSettings::parse(&text),
            Ok(None) => Ok(ToolSettings::default()),
            Err(error) if error.refusal() == Some(Refusal::NotAFolder(EntryKind::File)) => Ok(ToolSettings::default()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn parse(text: &[u8]) -> Result<ToolSettings, String> {
        if text.len() > MAX_BYTES {
            return Err(format!("{FILE} is larger than {MAX_BYTES} bytes"));
        }
        let text = std::str::from_utf8(text).map_err(|error| {
            let (line, column) = line_and_column(text, error.valid_up_to());
            format!("{FILE}, line {line}, column {column}: it is not UTF-8")
        })?;
        let file: File = toml::from_str(text).map_err(|error| {
            let (line, column) = line_and_column(text.as_bytes(), error.span().map_or(0, |span| span.start));
            format!("{FILE}, line {line}, column {column}: {}", error.message())
        })?;
        Ok(file.tools)
    }

    /// Whether `tool` changes something. `None` if the file does not say so. `changes` takes precedence over `reads`.
    pub(super) fn changes(&self, tool: &str) -> Option<bool> {
        let any_matches = |patterns: &[String]| patterns.iter().any(|pattern| is_match(pattern, tool));
        match (any_matches(&self.changes), any_matches(&self.reads)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }
}

/// The line and column of the byte at `offset`, counted from 1; the column in characters.
fn line_and_column(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// Whether `name` matches `pattern`, in which `*` stands for any characters.
fn is_match(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else {
        return false;
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else {
        return rest.is_empty();
    };
    for piece in middle {
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_patterns_classify_reads_and_a_change_wins_over_a_read() {
        let text = b"[tools]\nreads = [\"mcp__tracker__get_*\", \"*_list\"]\nchanges = [\"mcp__tracker__get_lock\"]\n[sync]\nx = 1\n";
        let settings = ToolSettings::parse(text).unwrap();
        for (tool, changes) in [
            ("mcp__tracker__get_issue", Some(false)),
            ("mcp__tracker__get_lock", Some(true)),
            ("any_list", Some(false)),
            ("mcp__tracker__set_issue", None),
            ("xmcp__tracker__get_issue", None),
        ] {
            assert_eq!(settings.changes(tool), changes, "{tool}");
        }
        assert_eq!(ToolSettings::parse(b"").unwrap(), ToolSettings::default());
        assert!(is_match("a*b*c", "axxbyyc") && is_match("*", "") && !is_match("a*b", "a") && !is_match("ab*b", "ab"));
    }

    #[test]
    fn a_damaged_file_is_refused_with_line_and_column() {
        for (text, place) in [
            (&b"[tools]\nreads = [\"a\"\n"[..], "line 2, column 13"),
            (b"[tools]\nreads = 7\n", "line 2, column 9"),
            (b"[tools]\nreadz = []\n", "line 2, column 1"),
            (b"[tools]\nreads = [\"\xff\"]", "line 2, column 11"),
        ] {
            let refused = ToolSettings::parse(text).unwrap_err();
            assert!(refused.starts_with(&format!("{FILE}, {place}: ")), "{refused}");
        }
        assert!(ToolSettings::parse(&vec![b'#'; MAX_BYTES + 1]).is_err());
    }
}
