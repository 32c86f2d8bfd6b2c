use std::collections::VecDeque;

use super::super::adoption::Adoption;
use super::super::chain::{SealedParts, link, split};
use super::super::hash::ChainHash;
use super::super::point::{Point, genesis};
use super::anchors::Anchors;
use super::foreign::{BOM, Prefix, check_unsealed};
use super::lines::MAX_LINE_BYTES;
use super::report::{Anchor, Expectations, Finding, Report, Verdict};

/// How many recent hashes are kept. They distinguish a repeated line from a different one with the same number.
const RECENT_HASHES: usize = 1024;

/// Follows the chain line by line.
pub(super) struct Judge<'a> {
    expected: &'a Expectations,
    genesis: ChainHash,
    anchors: Anchors,
    /// The number of the current line, from 1.
    line: u64,
    /// Whether the first sealed line was read.
    has_begun: bool,
    start: Point,
    last: Point,
    recent: VecDeque<ChainHash>,
    prefix: Prefix,
    gap: Option<UnsealedLines>,
    displaced: Option<DisplacedLine>,
    /// Damage that leaves the content unchanged.
    outer: Option<Finding>,
    notes: Vec<Finding>,
}

/// Unsealed lines after sealed ones.
struct UnsealedLines {
    first_line: u64,
    count: u64,
    /// The first that must have been sealed, and why.
    suspect: Option<(u64, &'static str)>,
}

/// A line with a number that is too high. The lines after it tell why.
struct DisplacedLine {
    line: u64,
    seq: u64,
    hash: ChainHash,
    /// Whether the same line follows again.
    comes_again: bool,
    /// Whether the line that belongs before it follows.
    is_moved: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(expected: &'a Expectations) -> Self {
        let start = Point::start(&expected.repository);
        Judge {
            expected,
            genesis: genesis(&expected.repository),
            anchors: Anchors::new(expected, start),
            line: 0,
            has_begun: false,
            start,
            last: start,
            recent: VecDeque::with_capacity(RECENT_HASHES),
            prefix: Prefix::default(),
            gap: None,
            displaced: None,
            outer: None,
            notes: Vec::new(),
        }
    }

    /// Judges the next line. The caller stops at the first damage.
    pub(super) fn judge_line(&mut self, content: &[u8], has_newline: bool) -> Option<Finding> {
        self.line += 1;
        let inner = self.without_outer_damage(content, has_newline);
        let sealed = split(inner);
        if self.displaced.is_some() {
            self.follow_displaced(sealed);
            return None;
        }
        let damage = match sealed {
            Some(sealed) => self.judge_sealed(&sealed, inner),
            None if self.has_begun => self.judge_unsealed(inner, has_newline),
            None => {
                self.prefix.add_line(content, has_newline);
                let seq = self.last.seq + 1;
                (!has_newline).then(|| self.finding(Verdict::TornLastLine, seq, "the line is incomplete"))
            }
        };
        if damage.is_none() && !has_newline && self.displaced.is_none() {
            return Some(self.finding(Verdict::TornLastLine, self.last.seq, "only the newline is missing"));
        }
        damage
    }

    pub(super) fn oversized_line(&mut self) -> Finding {
        self.line += 1;
        let detail = format!("the line has more than {MAX_LINE_BYTES} bytes");
        self.finding(Verdict::Oversized, self.last.seq + 1, detail)
    }

    /// The line without a carriage return or a byte order mark that was added to a sealed one.
    fn without_outer_damage<'b>(&mut self, content: &'b [u8], has_newline: bool) -> &'b [u8] {
        let mut inner = content;
        let mut verdict = None;
        if has_newline
            && let Some(line) = inner.strip_suffix(b"\r")
            && (self.has_begun || split(line).is_some())
        {
            (inner, verdict) = (line, Some((Verdict::LineEndings, "lines end with CRLF in place of LF")));
        }
        if self.line == 1
            && let Some(line) = inner.strip_prefix(BOM)
            && split(line).is_some()
        {
            (inner, verdict) = (line, Some((Verdict::Bom, "the file begins with a byte order mark")));
        }
        if let Some((verdict, detail)) = verdict
            && self.outer.is_none()
        {
            self.outer = Some(self.finding(verdict, self.last.seq + 1, detail));
        }
        inner
    }

    fn judge_sealed(&mut self, sealed: &SealedParts<'_>, line: &[u8]) -> Option<Finding> {
        let next = self.last.seq + 1;
        if let Some(gap) = self.gap.take() {
            let follows = sealed.seq == next && sealed.prev == self.last.hash && sealed.expected_hash() == sealed.hash;
            let (verdict, detail) = match gap.suspect {
                _ if follows => (Verdict::Inserted, "the line was never sealed, and sealed ones follow"),
                Some((_, reason)) => (Verdict::Edited, reason),
                None => (Verdict::Edited, "the line has lost its seal"),
            };
            return Some(Finding {
                line: gap.first_line,
                ..self.finding(verdict, next, detail)
            });
        }
        if !self.has_begun {
            self.begin(sealed);
        }
        let follows = sealed.seq == self.last.seq + 1 && sealed.prev == self.last.hash;
        let hash = sealed.expected_hash();
        if !(follows && hash == sealed.hash) {
            return self.judge_mismatch(sealed, hash);
        }
        if self.recent.len() == RECENT_HASHES {
            self.recent.pop_front();
        }
        self.recent.push_back(hash);
        self.last = Point { seq: sealed.seq, hash };
        if let Some(adoption) = Adoption::read(line) {
            self.prefix.compare(self.line, adoption);
        }
        self.check_anchors()
    }

    /// Decides where the chain begins: at its first line, or at the base of the seal if older lines are gone.
    fn begin(&mut self, first: &SealedParts<'_>) {
        self.has_begun = true;
        if let Some(base) = self.expected.base
            && base.seq > 0
            && first.seq > base.seq
        {
            (self.start, self.last) = (base, base);
            let detail = format!(
                "the lines up to seq {} are gone; the seal has the hash of the last one",
                base.seq
            );
            let note = self.finding(Verdict::Trimmed, base.seq + 1, detail);
            self.notes.push(note);
            self.anchors.begin_at(base);
        }
    }

    /// Names the problem of a line that does not follow the last one. `hash` is its expected hash. `None` defers the
    /// judgment to the lines that follow.
    fn judge_mismatch(&mut self, sealed: &SealedParts<'_>, hash: ChainHash) -> Option<Finding> {
        let Point { seq: last, hash: prev } = self.last;
        let next = last + 1;
        let suspect = self.prefix.suspect.filter(|_| last == self.start.seq);
        if hash != sealed.hash {
            let detail = if link(&prev, sealed.body) == sealed.hash {
                "`prev` was changed"
            } else {
                "the hash does not match the line"
            };
            return Some(self.finding(Verdict::Edited, next, detail));
        }
        // From here on, the line itself is undamaged.
        if sealed.prev == prev {
            let detail = format!("`seq` is {}, and the line follows seq {last}", sealed.seq);
            return Some(self.finding(Verdict::Edited, next, detail));
        }
        if sealed.seq == 1 && sealed.prev != self.genesis {
            let detail = format!("the chain does not begin with the name {}", self.expected.repository);
            return Some(self.finding(Verdict::ForeignRepository, 1, detail));
        }
        if sealed.seq == next {
            if last == self.start.seq {
                return Some(self.finding(
                    Verdict::Forked,
                    next,
                    "`prev` is not the hash after which the kept lines begin",
                ));
            }
            if let Some(source) = self.anchors.source_of(self.last) {
                let detail = format!("the line does not follow the one that {source} knows");
                return Some(self.finding(Verdict::Forked, next, detail));
            }
            let detail = "the hash of the line is valid, but the next line names a different one: the line was changed";
            return Some(Finding {
                line: self.line - 1,
                ..self.finding(Verdict::Edited, last, detail)
            });
        }
        if sealed.seq > next {
            if let Some((line, reason)) = suspect {
                return Some(Finding {
                    line,
                    ..self.finding(Verdict::Edited, next, reason)
                });
            }
            self.displaced = Some(DisplacedLine {
                line: self.line,
                seq: sealed.seq,
                hash: sealed.hash,
                comes_again: false,
                is_moved: false,
            });
            return None;
        }
        let back = usize::try_from(last - sealed.seq).unwrap_or(usize::MAX);
        let earlier = self.recent.iter().rev().nth(back);
        Some(if earlier.is_some_and(|earlier| *earlier != sealed.hash) {
            let detail = format!(
                "another line has seq {} before: two histories are in one file",
                sealed.seq
            );
            self.finding(Verdict::Forked, sealed.seq, detail)
        } else {
            self.finding(Verdict::Duplicate, sealed.seq, "the line appeared before")
        })
    }

    fn follow_displaced(&mut self, sealed: Option<SealedParts<'_>>) {
        let (Some(displaced), Some(sealed)) = (&mut self.displaced, sealed) else {
            return;
        };
        displaced.comes_again |= (sealed.seq, sealed.hash) == (displaced.seq, displaced.hash);
        let is_next = (sealed.seq, sealed.prev) == (self.last.seq + 1, self.last.hash);
        displaced.is_moved |= is_next && sealed.expected_hash() == sealed.hash;
    }

    /// Judges an unsealed line after sealed ones. It is part of an unsealed tail if only such lines follow.
    fn judge_unsealed(&mut self, line: &[u8], has_newline: bool) -> Option<Finding> {
        let gap = self.gap.get_or_insert(UnsealedLines {
            first_line: self.line,
            count: 0,
            suspect: None,
        });
        gap.count += 1;
        if gap.suspect.is_none() {
            if !has_newline {
                return Some(self.finding(Verdict::TornLastLine, self.last.seq + 1, "the line is incomplete"));
            }
            gap.suspect = check_unsealed(line).err().map(|reason| (self.line, reason));
        }
        None
    }

    fn check_anchors(&mut self) -> Option<Finding> {
        let Anchor { point, source } = self.anchors.pass(self.last)?.clone();
        let met = self.anchors.last_met();
        let detail = format!("{source} has another hash; lines after seq {met} were rewritten");
        Some(self.finding(Verdict::Forked, point.seq, detail))
    }

    /// The report at the end of the stream.
    pub(super) fn report_at_end(mut self) -> Report {
        let damage = self.damage_at_end().or(self.outer.take());
        if let Some(UnsealedLines { first_line, count, .. }) = self.gap {
            let detail = format!("{count} lines are not sealed");
            let note = Finding {
                line: first_line,
                ..self.finding(Verdict::UnsealedTail, self.last.seq + 1, detail)
            };
            self.notes.push(note);
        }
        self.report(damage)
    }

    fn damage_at_end(&mut self) -> Option<Finding> {
        let next = self.last.seq + 1;
        if let Some(displaced) = &self.displaced {
            let (verdict, detail) = match displaced {
                DisplacedLine { comes_again: true, .. } => (Verdict::Duplicate, "the line is repeated".to_owned()),
                DisplacedLine { is_moved: true, .. } => (
                    Verdict::Reordered,
                    format!("the line is out of order: it precedes seq {next}"),
                ),
                DisplacedLine { seq, .. } => (
                    Verdict::Missing,
                    format!("lines are missing between seq {} and seq {seq}", self.last.seq),
                ),
            };
            return Some(Finding {
                line: displaced.line,
                ..self.finding(verdict, displaced.seq, detail)
            });
        }
        if let Some((line, reason)) = self.gap.as_ref().and_then(|gap| gap.suspect) {
            return Some(Finding {
                line,
                ..self.finding(Verdict::Edited, next, reason)
            });
        }
        match self.prefix.finding() {
            Some(Finding { verdict, .. }) if !verdict.keeps_content() => return self.prefix.finding(),
            Some(note) if note.verdict == Verdict::Unadopted => self.notes.push(note),
            outer => self.outer = self.outer.take().or(outer),
        }
        self.check_anchors_at_end()
    }

    fn check_anchors_at_end(&mut self) -> Option<Finding> {
        if let Some(damage) = self.check_anchors() {
            return Some(damage);
        }
        let anchor = self.anchors.beyond(self.last)?;
        let detail = format!(
            "{} knows of {} lines, and the last one here is seq {}",
            anchor.source, anchor.point.seq, self.last.seq
        );
        Some(Finding {
            line: self.line + 1,
            ..self.finding(Verdict::Truncated, self.last.seq + 1, detail)
        })
    }

    fn finding(&self, verdict: Verdict, seq: u64, detail: impl Into<String>) -> Finding {
        Finding {
            verdict,
            line: self.line,
            seq: Some(seq),
            detail: detail.into(),
        }
    }

    pub(super) fn report(self, damage: Option<Finding>) -> Report {
        Report {
            damage,
            notes: self.notes,
            start: self.start,
            end: self.last,
            lines: self.line,
            foreign: self.prefix.counts,
            anchors_met: self.anchors.met(),
            anchors_before: self.anchors.before(),
        }
    }
}
