//! The policy file. Every error in it has a position, and a sentence with the fix.

use std::fmt;
use std::ops::Range;

use coord_scopes::{MAX_PATTERNS, Pattern, Scope};
use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use utoipa::ToSchema;

use crate::LockConfig;
use coord_domain::NeighborPolicy;

/// Maximum length of the file.
pub const MAX_BYTES: usize = 64 * 1024;

/// The shortest lifetime of a lock that a policy can set.
const MIN_TTL_SECONDS: u32 = 30;

/// The keys of the file.
const KEYS: &str = "the keys are ttl_seconds, neighbors, pending, shared and ignore";

/// Maximum bytes of a pattern as written; [`anchor`] can make it longer.
const MAX_PATTERN_BYTES: usize = 500;

/// Maximum characters that a sentence quotes.
const MAX_QUOTED: usize = 60;

/// A `.coord.toml`, as written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PolicyFile {
    /// Seconds until a lock expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u32>,
    /// The effect of neighbors that are locked for writing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbors: Option<NeighborPolicy>,
    /// The effect of pending changes: of files that are changed on work branches.
    #[serde(default, skip_serializing_if = "PendingPolicy::is_warn")]
    pub pending: PendingPolicy,
    /// Patterns of shared files. Without this key, lockfiles and the files that `.gitattributes` names are shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<Vec<String>>,
    /// Patterns of files without locks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
}

/// The effect of someone else's pending change of a file on a claim to write it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PendingPolicy {
    /// It is a warning.
    #[default]
    Warn,
    /// It refuses the claim.
    Block,
}

impl PendingPolicy {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_warn(&self) -> bool {
        *self == PendingPolicy::Warn
    }
}

/// An error in a file, with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1 on.
    pub line: usize,
    /// The character of the line, from 1 on.
    pub column: usize,
    /// The error, and its fix.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.line, self.column, self.text)
    }
}

impl Problem {
    /// The problem at byte `offset` of `content`.
    fn at(content: &[u8], offset: usize, text: String) -> Self {
        let before = String::from_utf8_lossy(content.get(..offset).unwrap_or(content));
        let line = before.rsplit_once('\n').map_or(&*before, |(_, line)| line);
        Problem {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
            text,
        }
    }
}

impl PolicyFile {
    /// Parses `content`.
    ///
    /// # Errors
    /// The first problem in the file.
    pub fn parse(content: &[u8]) -> Result<Self, Problem> {
        let problem = |offset, text| Problem::at(content, offset, text);
        if content.len() > MAX_BYTES {
            let bytes = content.len();
            return Err(problem(
                0,
                format!("the file has {bytes} bytes; at most {MAX_BYTES} are allowed"),
            ));
        }
        let text = std::str::from_utf8(content)
            .map_err(|error| problem(error.valid_up_to(), "the file is not UTF-8".to_owned()))?;
        let without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mark_bytes = text.len() - without_mark.len();
        let table = DeTable::parse(without_mark).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            problem(
                offset + mark_bytes,
                format!("it is not TOML: {}", quote(error.message())),
            )
        })?;
        let mut file = PolicyFile::default();
        let mut first_error: Option<(usize, String)> = None;
        for (key, value) in table.get_ref() {
            let result = match &**key.get_ref() {
                "ttl_seconds" => parse_ttl(value).map(|seconds| file.ttl_seconds = Some(seconds)),
                "neighbors" => parse_neighbors(value).map(|neighbors| file.neighbors = Some(neighbors)),
                "pending" => parse_pending(value).map(|pending| file.pending = pending),
                "shared" => parse_patterns("shared", value).map(|patterns| file.shared = Some(patterns)),
                "ignore" => parse_patterns("ignore", value).map(|patterns| file.ignore = patterns),
                other => Err((key.span(), format!("unknown key \"{}\": {KEYS}", quote(other)))),
            };
            // The table is sorted by key, and a reader looks from the top of the file.
            if let Err((span, text)) = result
                && first_error.as_ref().is_none_or(|(offset, _)| span.start < *offset)
            {
                first_error = Some((span.start, text));
            }
        }
        match first_error {
            Some((offset, text)) => Err(problem(offset + mark_bytes, text)),
            None => Ok(file),
        }
    }
}

/// The position of an invalid value, and a sentence about it.
type ValueError = (Range<usize>, String);

fn parse_ttl(value: &Spanned<DeValue<'_>>) -> Result<u32, ValueError> {
    let most = LockConfig::MAX_TTL_SECONDS;
    let number = match value.get_ref() {
        DeValue::Integer(number) => u32::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    };
    number
        .filter(|seconds| (MIN_TTL_SECONDS..=most).contains(seconds))
        .ok_or_else(|| {
            let sentence = format!("ttl_seconds must be a number of seconds from {MIN_TTL_SECONDS} to {most}");
            (value.span(), sentence)
        })
}

fn parse_neighbors(value: &Spanned<DeValue<'_>>) -> Result<NeighborPolicy, ValueError> {
    let policy = match value.get_ref() {
        DeValue::String(text) => NeighborPolicy::parse(text),
        _ => None,
    };
    policy.ok_or_else(|| {
        let names = NeighborPolicy::ALL.map(|policy| format!("\"{}\"", policy.as_str()));
        (value.span(), format!("neighbors must be one of {}", names.join(", ")))
    })
}

fn parse_pending(value: &Spanned<DeValue<'_>>) -> Result<PendingPolicy, ValueError> {
    match value.get_ref() {
        DeValue::String(text) if text == "warn" => Ok(PendingPolicy::Warn),
        DeValue::String(text) if text == "block" => Ok(PendingPolicy::Block),
        _ => Err((value.span(), "pending must be \"warn\" or \"block\"".to_owned())),
    }
}

fn parse_patterns(key: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, ValueError> {
    let DeValue::Array(items) = value.get_ref() else {
        let sentence = format!("{key} must be a list of patterns, such as [\"CHANGELOG.md\", \"gen/**\"]");
        return Err((value.span(), sentence));
    };
    let (mut written, mut count) = (Vec::new(), 0);
    for item in items.iter() {
        let item_error = |sentence: String| (item.span(), sentence);
        let DeValue::String(text) = item.get_ref() else {
            return Err(item_error(format!("each pattern of {key} must be text in quotes")));
        };
        count += parse_pattern(text).map_err(item_error)?.len();
        if count > MAX_PATTERNS {
            return Err(item_error(format!(
                "{key} has more than {MAX_PATTERNS} patterns, with each alternative of {{a,b}} counted: name folders \
                 instead of files"
            )));
        }
        written.push(text.to_string());
    }
    Ok(written)
}

/// Parses a pattern as in a `.gitignore`: a name without a slash matches in any folder; a leading slash is the root.
fn parse_pattern(written: &str) -> Result<Vec<Pattern>, String> {
    if written.len() > MAX_PATTERN_BYTES {
        let (beginning, bytes) = (quote(written), written.len());
        return Err(format!(
            "the pattern \"{beginning}\" has {bytes} bytes; at most {MAX_PATTERN_BYTES} are allowed"
        ));
    }
    if written.trim().is_empty() {
        return Err("the pattern is empty: leave it out, or name a file or folder".to_owned());
    }
    if written.starts_with('!') {
        return Err(format!(
            "the pattern \"{}\" begins with !: patterns cannot exclude files, so name fewer files (a name that begins \
             with ! is written \\!)",
            quote(written)
        ));
    }
    Pattern::parse(&anchor(written)).map_err(|refusal| refusal.to_string())
}

/// The pattern `written` as a pattern from the root.
fn anchor(written: &str) -> String {
    let name = written.strip_suffix('/').unwrap_or(written);
    match written.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if name.contains('/') || name.trim().is_empty() || name == "**" => written.to_owned(),
        None => format!("**/{written}"),
    }
}

/// The files that the patterns name; `None` without a pattern.
pub(super) fn parse_scope(written: &[String]) -> Option<Scope> {
    Scope::parse(written.iter().map(|written| anchor(written))).ok()
}

/// The beginning of `text`, on one line.
fn quote(text: &str) -> String {
    let characters = text
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character });
    let mut quoted: String = characters.take(MAX_QUOTED).collect();
    if text.chars().nth(MAX_QUOTED).is_some() {
        quoted.push_str("...");
    }
    quoted
}
