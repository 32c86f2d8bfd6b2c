//! The results of a scan so far, within the bounds of one file.
//!
//! A few bytes of text can stand for a long import (`use a::b::{c,c,c}`), so the bounds apply while a file is read and
//! not only at its end. Real files never come near them, so findings are compared with each other only at the bounds.

use std::collections::HashSet;
use std::hash::Hash;

use crate::import_kind::ImportKind;
use crate::specifier::Specifier;

/// Most that is kept of one file, by [`Weighted::weight`]. Files that list thousands of icons have 10,000 imports.
const MAX_WEIGHT: usize = 20_000;
/// This many bytes of text count as one more import.
pub const BYTES_PER_WEIGHT: usize = 64;
/// The weight at which repeated findings are dropped.
const COMPACT_FROM: usize = 2 * MAX_WEIGHT;
/// Most weight of all findings of one file, repeated ones included: it bounds the time.
const MAX_TOTAL_WEIGHT: usize = 16 * MAX_WEIGHT;

/// A finding of a scanner.
pub trait Weighted {
    /// The key by which two findings are equal.
    type Key<'a>: Eq + Hash
    where
        Self: 'a;

    /// Its memory, in units of a short import.
    fn weight(&self) -> usize;

    /// Its identity, which excludes its line.
    fn key(&self) -> Self::Key<'_>;
}

impl Weighted for Specifier {
    type Key<'a> = (&'a str, Option<&'a str>, ImportKind);

    fn weight(&self) -> usize {
        let name = self.name.as_ref().map_or(0, String::len);
        1 + (self.text.len() + name) / BYTES_PER_WEIGHT
    }

    fn key(&self) -> Self::Key<'_> {
        (&self.text, self.name.as_deref(), self.kind)
    }
}

/// The findings of one file, in the order written.
#[derive(Debug)]
pub struct Findings<T = Specifier> {
    list: Vec<T>,
    /// The number of each, by which [`Self::roll_back`] finds those to drop.
    numbers: Vec<u32>,
    next: u32,
    weight: usize,
    /// The weight of all findings so far, dropped ones included.
    total_weight: usize,
    /// The number of the first finding that a bound dropped.
    full_from: Option<u32>,
}

impl<T> Default for Findings<T> {
    fn default() -> Self {
        Findings {
            list: Vec::new(),
            numbers: Vec::new(),
            next: 0,
            weight: 0,
            total_weight: 0,
            full_from: None,
        }
    }
}

impl<T: Weighted> Findings<T> {
    /// Whether a bound was reached, so that no more findings are kept. Scanners check it before they copy text.
    pub(crate) fn is_full(&self) -> bool {
        self.full_from.is_some()
    }

    /// Keeps no more findings: the scanner has reached one of its bounds.
    pub(crate) fn stop_collecting(&mut self) {
        self.full_from.get_or_insert(self.next);
    }

    /// Adds a finding, unless a bound was reached.
    pub(crate) fn push(&mut self, finding: T) {
        if self.is_full() {
            return;
        }
        let weight = finding.weight();
        self.weight += weight;
        self.total_weight += weight;
        self.list.push(finding);
        self.numbers.push(self.next);
        self.next = self.next.saturating_add(1);
        if self.weight > COMPACT_FROM {
            self.compact();
        }
    }

    /// Drops repeated findings. If there are still too many, stops collecting.
    fn compact(&mut self) {
        let mut seen = HashSet::with_capacity(self.list.len());
        let is_first: Vec<bool> = self.list.iter().map(|finding| seen.insert(finding.key())).collect();
        drop(seen);
        let mut keep = is_first.iter();
        self.list.retain(|_| *keep.next().unwrap_or(&false));
        let mut keep = is_first.iter();
        self.numbers.retain(|_| *keep.next().unwrap_or(&false));
        self.weight = self.list.iter().map(T::weight).sum();
        if self.weight > MAX_WEIGHT || self.total_weight > MAX_TOTAL_WEIGHT {
            self.stop_collecting();
        }
    }

    /// A mark for [`Self::roll_back`].
    pub(crate) fn mark(&self) -> u32 {
        self.next
    }

    /// Drops the findings after `mark`.
    pub(crate) fn roll_back(&mut self, mark: u32) {
        while self.numbers.last().is_some_and(|number| *number >= mark) {
            self.numbers.pop();
            self.weight -= self.list.pop().map_or(0, |finding| finding.weight());
        }
        if self.full_from.is_some_and(|from| from >= mark) {
            self.full_from = None;
        }
    }

    /// The findings, and whether some are missing.
    pub(crate) fn finish(mut self) -> (Vec<T>, bool) {
        if self.weight > MAX_WEIGHT {
            self.compact();
        }
        let mut weight = 0;
        let within_bound = self.list.iter().take_while(|finding| {
            weight += finding.weight();
            weight <= MAX_WEIGHT
        });
        let length = within_bound.count();
        let is_cut = self.is_full() || length < self.list.len();
        if length < self.list.len() {
            self.list.truncate(length);
            self.list.shrink_to_fit();
        }
        (self.list, is_cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn specifier(text: String) -> Specifier {
        Specifier {
            text,
            name: None,
            kind: ImportKind::Import,
            line: 1,
        }
    }

    #[test]
    fn repeated_findings_leave_room_for_others_up_to_a_bound() {
        let mut findings = Findings::default();
        for number in 0..200_000 {
            findings.push(specifier(format!("{}", number % 7)));
        }
        findings.push(specifier("last".to_owned()));
        let (kept, is_cut) = findings.finish();
        let texts: HashSet<&str> = kept.iter().map(|one| one.text.as_str()).collect();
        let expected = HashSet::from(["0", "1", "2", "3", "4", "5", "6", "last"]);
        assert!(kept.len() <= MAX_WEIGHT && !is_cut, "{}", kept.len());
        assert_eq!(texts, expected);

        let mut findings = Findings::default();
        for _ in 0..MAX_TOTAL_WEIGHT + COMPACT_FROM + 2 {
            findings.push(specifier("a".to_owned()));
        }
        assert!(findings.is_full());
        let (kept, is_cut) = findings.finish();
        assert_eq!((kept.len(), is_cut), (1, true));
    }

    #[test]
    fn few_findings_stay_as_they_are() {
        let mut findings = Findings::default();
        for _ in 0..MAX_WEIGHT {
            findings.push(specifier("a".to_owned()));
        }
        let (kept, is_cut) = findings.finish();
        assert_eq!((kept.len(), is_cut), (MAX_WEIGHT, false));
    }

    #[test]
    fn findings_that_are_rolled_back_leave_room_again() {
        let mut findings = Findings::default();
        findings.push(specifier("first".to_owned()));
        let mark = findings.mark();
        for number in 0..3 * MAX_WEIGHT {
            findings.push(specifier(format!("{number}")));
        }
        assert!(findings.is_full());
        findings.roll_back(mark);
        findings.push(specifier("second".to_owned()));
        let (kept, is_cut) = findings.finish();
        let texts: Vec<&str> = kept.iter().map(|one| one.text.as_str()).collect();
        assert_eq!((texts, is_cut), (vec!["first", "second"], false));
    }
}
