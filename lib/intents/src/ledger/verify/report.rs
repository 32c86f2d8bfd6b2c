use std::fmt;

use serde::Serialize;

use super::super::point::Point;

/// The facts that a ledger is verified against.
#[derive(Clone, Debug)]
pub struct Expectations {
    /// The repository, `host/owner/name`.
    pub repository: String,
    /// The start of the remaining lines after older ones were trimmed, by the seal in the store. It is also an anchor.
    pub base: Option<Point>,
    /// Points that are kept elsewhere, in any order.
    pub anchors: Vec<Anchor>,
}

impl Expectations {
    /// Only the chain of `repository`.
    pub fn chain_of(repository: &str) -> Self {
        Expectations {
            repository: repository.to_owned(),
            base: None,
            anchors: Vec::new(),
        }
    }
}

/// A point that the ledger must pass through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub point: Point,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The seal in the store.
    Seal,
    /// A checkpoint: the name of the key that signed it, or of its file.
    Checkpoint(String),
    /// The trailer of a commit: the commit's id.
    Commit(String),
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Seal => out.write_str("the seal"),
            Source::Checkpoint(name) => write!(out, "the checkpoint {name}"),
            Source::Commit(id) => write!(out, "commit {id}"),
        }
    }
}

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The first damage. The lines after it were not verified.
    pub damage: Option<Finding>,
    /// Notes that are not damage: UNSEALED_TAIL, TRIMMED, UNADOPTED.
    pub notes: Vec<Finding>,
    /// The point before the first sealed line.
    pub start: Point,
    /// The point after the last verified line.
    pub end: Point,
    /// The number of lines read.
    pub lines: u64,
    /// Lines of other programs before the first sealed one.
    pub foreign: ForeignLines,
    /// How many anchors the ledger passed through.
    pub anchors_met: usize,
    /// How many anchors are before its first line, where nothing can be compared.
    pub anchors_before: usize,
}

/// Lines of other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForeignLines {
    pub lines: u64,
    /// Their size, newlines included.
    pub bytes: u64,
    /// Whether a sealed line has their hash.
    pub is_adopted: bool,
}

/// A damage or a note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub verdict: Verdict,
    /// The line of the file, from 1. For TRUNCATED, the line that would come next.
    pub line: u64,
    /// The number that the line has or should have in the chain.
    pub seq: Option<u64>,
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at line {}", self.verdict.as_str(), self.line)?;
        if let Some(seq) = self.seq {
            write!(out, " (seq {seq})")?;
        }
        write!(out, ": {}", self.detail)
    }
}

macro_rules! verdicts {
    ($($(#[doc = $doc:literal])+ $verdict:ident = $text:literal,)+) => {
        /// The kinds of damage, and of notes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
        pub enum Verdict {
            $($(#[doc = $doc])+ $verdict,)+
        }

        impl Verdict {
            pub const ALL: &[Verdict] = &[$(Verdict::$verdict),+];

            /// The name in reports and documents.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Verdict::$verdict => $text,)+
                }
            }
        }
    };
}

verdicts! {
    /// A line differs from the one that was sealed.
    Edited = "EDITED",
    /// Lines are missing before this one.
    Missing = "MISSING",
    /// The line exists twice.
    Duplicate = "DUPLICATE",
    /// The line was moved.
    Reordered = "REORDERED",
    /// A line that was never sealed precedes sealed ones.
    Inserted = "INSERTED",
    /// The chain belongs to a different repository.
    ForeignRepository = "FOREIGN_REPOSITORY",
    /// An anchor has a higher count of lines.
    Truncated = "TRUNCATED",
    /// The chain is consistent, but contradicts an anchor or an earlier line.
    Forked = "FORKED",
    /// The last line is incomplete.
    TornLastLine = "TORN_LAST_LINE",
    /// A line is longer than the format allows.
    Oversized = "OVERSIZED",
    /// Only carriage returns were added.
    LineEndings = "LINE_ENDINGS",
    /// Only a byte order mark was added.
    Bom = "BOM",
    /// No damage: lines at the end that are not sealed yet.
    UnsealedTail = "UNSEALED_TAIL",
    /// No damage: older lines are gone, and the seal has the point where the others begin.
    Trimmed = "TRIMMED",
    /// No damage: no sealed line has the hash of the lines of other programs at the beginning.
    Unadopted = "UNADOPTED",
}

impl Verdict {
    /// Whether all sealed content is intact, so that only the bytes of the file differ.
    pub const fn keeps_content(self) -> bool {
        matches!(
            self,
            Verdict::LineEndings | Verdict::Bom | Verdict::UnsealedTail | Verdict::Trimmed | Verdict::Unadopted
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_json_and_text() {
        for verdict in Verdict::ALL {
            assert_eq!(
                serde_json::to_string(verdict).unwrap(),
                format!("\"{}\"", verdict.as_str())
            );
        }
    }
}
