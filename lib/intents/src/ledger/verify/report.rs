use std::fmt;

use serde::Serialize;

use super::super::point::Point;

/// Expectations of a ledger.
#[derive(Clone, Debug)]
pub struct Expectations {
    /// The repository, `host/owner/name`.
    pub repository: String,
    /// Where the store's seal says that the rest begins, after older lines have gone. It is an anchor, too.
    pub base: Option<Point>,
    /// Points that are kept elsewhere, in any order.
    pub anchors: Vec<Anchor>,
}

impl Expectations {
    /// The chain alone, of `repository`.
    pub fn chain_of(repository: &str) -> Self {
        Expectations {
            repository: repository.to_owned(),
            base: None,
            anchors: Vec::new(),
        }
    }
}

/// A point that the ledger has to go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    pub point: Point,
    /// The source of the claim.
    pub source: Source,
}

/// Where an anchor is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The seal in the store.
    Seal,
    /// A checkpoint, with the name of the key that signed it or of its file.
    Checkpoint(String),
    /// The trailer of a commit, with its id.
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

/// Result of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The first damage. The lines after it were not verified.
    pub damage: Option<Finding>,
    /// Notes that are not damage: UNSEALED_TAIL, TRIMMED, UNADOPTED.
    pub notes: Vec<Finding>,
    /// The point before the first sealed line.
    pub start: Point,
    /// The point after the last line that was verified.
    pub end: Point,
    /// Lines that were read.
    pub lines: u64,
    /// Lines of other programs before the first sealed one.
    pub foreign: ForeignLines,
    /// How many anchors the ledger went through.
    pub anchors_met: usize,
    /// How many anchors are before its first line, where nothing can be compared.
    pub anchors_before: usize,
}

/// Lines of other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ForeignLines {
    /// How many.
    pub lines: u64,
    /// Their bytes, newlines included.
    pub bytes: u64,
    /// Whether a sealed line has their hash.
    pub is_adopted: bool,
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub verdict: Verdict,
    /// The line of the file, from 1. For TRUNCATED the one that would come next.
    pub line: u64,
    /// The number in the chain that the line has or had to have.
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
    /// Bytes of a line are not those that were sealed.
    Edited = "EDITED",
    /// Lines are missing before this one.
    Missing = "MISSING",
    /// The line is there twice.
    Duplicate = "DUPLICATE",
    /// The line is in another place than it was.
    Reordered = "REORDERED",
    /// A line that was never sealed stands before sealed ones.
    Inserted = "INSERTED",
    /// The chain is another repository's.
    ForeignRepository = "FOREIGN_REPOSITORY",
    /// An anchor knows of more lines.
    Truncated = "TRUNCATED",
    /// The chain is right in itself, and another than an anchor or an earlier line knows.
    Forked = "FORKED",
    /// The last line was not written to its end.
    TornLastLine = "TORN_LAST_LINE",
    /// A line is longer than the format allows.
    Oversized = "OVERSIZED",
    /// Only carriage returns were added.
    LineEndings = "LINE_ENDINGS",
    /// Only a byte order mark was added.
    Bom = "BOM",
    /// No damage: lines at the end that are not sealed yet.
    UnsealedTail = "UNSEALED_TAIL",
    /// No damage: older lines are gone, and the seal knows where the rest begins.
    Trimmed = "TRIMMED",
    /// No damage: lines of other programs at the beginning, which no line has the hash of.
    Unadopted = "UNADOPTED",
}

impl Verdict {
    /// Whether all that was sealed is there as it was, so that only the file's bytes are others.
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
