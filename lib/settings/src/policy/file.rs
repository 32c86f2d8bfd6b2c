//! The file itself. Every error in it has a position, and a sentence with the fix.

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

/// The shortest time of a lock that a policy can set.
pub const MIN_TTL_SECONDS: u32 = 30;

/// The keys of the file.
const KEYS: &str = "the keys are ttl_seconds, neighbors, pending, shared and ignore";

/// Most bytes of a pattern; from the root on, it becomes longer.
const MOST_PATTERN_BYTES: usize = 500;

/// Most characters that a sentence quotes.
const MOST_QUOTED: usize = 60;

/// A `.coord.toml`, as it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct PolicyFile {
    /// Seconds until a lock expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_seconds: Option<u32>,
    /// The effect of written neighbors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbors: Option<NeighborPolicy>,
    /// The effect of pending changes: of files that are changed on work branches.
    #[serde(default, skip_serializing_if = "PendingPolicy::is_warn")]
    pub pending: PendingPolicy,
    /// Patterns of shared files; without the key, lockfiles of tools and the files that `.gitattributes` names.
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
    /// One at the byte `at` of `content`.
    fn at(content: &[u8], at: usize, text: String) -> Self {
        let before = String::from_utf8_lossy(content.get(..at).unwrap_or(content));
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
    /// The first thing that is wrong.
    pub fn parse(content: &[u8]) -> Result<Self, Problem> {
        let problem = |at, text| Problem::at(content, at, text);
        if content.len() > MAX_BYTES {
            let bytes = content.len();
            return Err(problem(
                0,
                format!("the file has {bytes} bytes; at most {MAX_BYTES} are allowed"),
            ));
        }
        let text = std::str::from_utf8(content)
            .map_err(|error| problem(error.valid_up_to(), "the file is not UTF-8".to_owned()))?;
        let mark = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        let table = DeTable::parse(&text[mark..]).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            problem(at + mark, format!("it is no TOML: {}", quote(error.message())))
        })?;
        let mut file = PolicyFile::default();
        let mut first: Option<(usize, String)> = None;
        for (key, value) in table.get_ref() {
            let read = match &**key.get_ref() {
                "ttl_seconds" => seconds(value).map(|seconds| file.ttl_seconds = Some(seconds)),
                "neighbors" => neighbors(value).map(|neighbors| file.neighbors = Some(neighbors)),
                "pending" => pending(value).map(|pending| file.pending = pending),
                "shared" => patterns("shared", value).map(|patterns| file.shared = Some(patterns)),
                "ignore" => patterns("ignore", value).map(|patterns| file.ignore = patterns),
                other => Err((key.span(), format!("unknown key \"{}\": {KEYS}", quote(other)))),
            };
            // The table is in the order of its keys, and a reader looks from the top.
            if let Err((span, text)) = read
                && first.as_ref().is_none_or(|(at, _)| span.start < *at)
            {
                first = Some((span.start, text));
            }
        }
        match first {
            Some((at, text)) => Err(problem(at + mark, text)),
            None => Ok(file),
        }
    }
}

type Wrong = (Range<usize>, String);

fn seconds(value: &Spanned<DeValue<'_>>) -> Result<u32, Wrong> {
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

fn neighbors(value: &Spanned<DeValue<'_>>) -> Result<NeighborPolicy, Wrong> {
    let read = match value.get_ref() {
        DeValue::String(text) => NeighborPolicy::parse(text),
        _ => None,
    };
    let sentence = || {
        let names = NeighborPolicy::ALL.map(|policy| format!("\"{}\"", policy.as_str()));
        (value.span(), format!("neighbors must be one of {}", names.join(", ")))
    };
    read.ok_or_else(sentence)
}

fn pending(value: &Spanned<DeValue<'_>>) -> Result<PendingPolicy, Wrong> {
    match value.get_ref() {
        DeValue::String(text) if text == "warn" => Ok(PendingPolicy::Warn),
        DeValue::String(text) if text == "block" => Ok(PendingPolicy::Block),
        _ => Err((value.span(), "pending must be \"warn\" or \"block\"".to_owned())),
    }
}

fn patterns(key: &str, value: &Spanned<DeValue<'_>>) -> Result<Vec<String>, Wrong> {
    let DeValue::Array(items) = value.get_ref() else {
        let sentence = format!("{key} must be a list of patterns, such as [\"CHANGELOG.md\", \"gen/**\"]");
        return Err((value.span(), sentence));
    };
    let (mut written, mut count) = (Vec::new(), 0);
    for item in items.iter() {
        let wrong = |sentence: String| (item.span(), sentence);
        let DeValue::String(text) = item.get_ref() else {
            return Err(wrong(format!("each pattern of {key} must be text in quotes")));
        };
        count += pattern(text).map_err(wrong)?.len();
        if count > MAX_PATTERNS {
            return Err(wrong(format!(
                "{key} has more than {MAX_PATTERNS} patterns, with each alternative of {{a,b}} counted: name folders instead of files"
            )));
        }
        written.push(text.to_string());
    }
    Ok(written)
}

/// The pattern `written`: as in a `.gitignore`, a name without a slash matches in any folder, and a leading slash is the root.
fn pattern(written: &str) -> Result<Vec<Pattern>, String> {
    if written.len() > MOST_PATTERN_BYTES {
        let (beginning, bytes) = (quote(written), written.len());
        return Err(format!(
            "the pattern \"{beginning}\" has {bytes} bytes; at most {MOST_PATTERN_BYTES} are allowed"
        ));
    }
    if written.trim().is_empty() {
        return Err("the pattern is empty: leave it out, or name a file or folder".to_owned());
    }
    if written.starts_with('!') {
        return Err(format!(
            "the pattern \"{}\" begins with !: nothing is taken back here, so name less (a name that begins with ! is written \\!)",
            quote(written)
        ));
    }
    Pattern::parse(&anchored(written)).map_err(|refusal| refusal.to_string())
}

/// `written` from the root on.
fn anchored(written: &str) -> String {
    let name = written.strip_suffix('/').unwrap_or(written);
    match written.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if name.contains('/') || name.trim().is_empty() || name == "**" => written.to_owned(),
        None => format!("**/{written}"),
    }
}

/// The files that patterns name; none where there is no pattern.
pub(super) fn scope(written: &[String]) -> Option<Scope> {
    Scope::parse(written.iter().map(|written| anchored(written))).ok()
}

/// The beginning of `text`, on one line.
fn quote(text: &str) -> String {
    let letters = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut quoted: String = letters.take(MOST_QUOTED).collect();
    if text.chars().nth(MOST_QUOTED).is_some() {
        quoted.push_str("...");
    }
    quoted
}
