//! Whether a ledger is whole: one pass over any stream, in constant memory.
//!
//! [`lines`] cuts the stream, [`judge`] follows the chain and names problems, [`foreign`] keeps the lines of others at the
//! beginning, [`anchors`] are the points that it has to go through, and [`report`] has the findings.

mod anchors;
mod foreign;
mod judge;
mod lines;
mod report;

use std::io::{self, Read};

pub use lines::MAX_LINE_BYTES;
pub use report::{Anchor, Expectations, Finding, ForeignLines, Report, Source, Verdict};

use judge::Judge;
use lines::{Lines, Next};

/// Verifies the ledger that `source` gives. An error is one of reading; damage is in the report.
pub fn verify(source: impl Read, expected: &Expectations) -> io::Result<Report> {
    let mut lines = Lines::new(source);
    let mut judge = Judge::new(expected);
    loop {
        let damage = match lines.next_line()? {
            Next::Line { content, has_newline } => judge.line(content, has_newline),
            Next::TooLong => Some(judge.oversized()),
            Next::End => return Ok(judge.end()),
        };
        if let Some(damage) = damage {
            return Ok(judge.damaged(damage));
        }
    }
}
