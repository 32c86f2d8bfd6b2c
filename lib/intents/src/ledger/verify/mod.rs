//! Whether a ledger is whole: one pass over any stream, in constant memory.
//!
//! [`lines`] splits the stream. [`judge`] follows the chain and names problems. [`foreign`] hashes the lines of other
//! programs at the beginning. [`anchors`] are the points that the chain must pass through. [`report`] has the findings.

mod anchors;
mod foreign;
mod judge;
mod lines;
mod report;

use std::io::{self, Read};

pub use lines::MAX_LINE_BYTES;
pub use report::{Anchor, Expectations, Finding, ForeignLines, Report, Source, Verdict};

use judge::Judge;
use lines::{Lines, NextLine};

/// Verifies the ledger in `source`. Errors are those of reading; damage is in the report.
pub fn verify(source: impl Read, expected: &Expectations) -> io::Result<Report> {
    let mut lines = Lines::new(source);
    let mut judge = Judge::new(expected);
    loop {
        let damage = match lines.next_line()? {
            NextLine::Line { content, has_newline } => judge.judge_line(content, has_newline),
            NextLine::TooLong => Some(judge.oversized_line()),
            NextLine::End => return Ok(judge.report_at_end()),
        };
        if let Some(damage) = damage {
            return Ok(judge.report(Some(damage)));
        }
    }
}
