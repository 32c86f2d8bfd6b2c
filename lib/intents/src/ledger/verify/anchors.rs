use super::super::point::Point;
use super::report::{Anchor, Expectations, Source};

/// The anchors by their counts, and how many of them the ledger has passed.
pub(super) struct Anchors {
    sorted: Vec<Anchor>,
    passed: usize,
    /// How many are before the beginning of the ledger, where nothing can be compared.
    before: usize,
    start: Point,
}

impl Anchors {
    /// The anchors of a ledger that begins at `start`. They include the base of the seal.
    pub(super) fn new(expected: &Expectations, start: Point) -> Self {
        let base = expected.base.map(|point| Anchor {
            point,
            source: Source::Seal,
        });
        let mut sorted: Vec<Anchor> = expected.anchors.iter().cloned().chain(base).collect();
        sorted.sort_by_key(|anchor| anchor.point.seq);
        Anchors {
            sorted,
            passed: 0,
            before: 0,
            start,
        }
    }

    /// Begins the ledger at `start`, because the lines before it are gone.
    pub(super) fn begin_at(&mut self, start: Point) {
        self.start = start;
        self.before = self.sorted.partition_point(|anchor| anchor.point.seq < start.seq);
        self.passed = self.before;
    }

    /// Passes the anchors up to `last`, the point after the last line. Returns the first with a different hash.
    pub(super) fn pass(&mut self, last: Point) -> Option<&Anchor> {
        while let Some(Anchor { point, .. }) = self.sorted.get(self.passed)
            && point.seq <= last.seq
        {
            let here = if point.seq == last.seq { last } else { self.start };
            if *point != here {
                return self.sorted.get(self.passed);
            }
            self.passed += 1;
        }
        None
    }

    /// The anchor with the highest count, if the ledger has fewer lines.
    pub(super) fn beyond(&self, last: Point) -> Option<&Anchor> {
        self.sorted.last().filter(|anchor| anchor.point.seq > last.seq)
    }

    /// The source of the anchor at `point`.
    pub(super) fn source_of(&self, point: Point) -> Option<&Source> {
        let anchor = self.sorted.iter().find(|anchor| anchor.point == point);
        anchor.map(|anchor| &anchor.source)
    }

    /// The count of the last anchor that the ledger passed, or of its beginning.
    pub(super) fn last_met(&self) -> u64 {
        self.sorted[self.before..self.passed]
            .last()
            .map_or(self.start.seq, |anchor| anchor.point.seq)
    }

    pub(super) fn met(&self) -> usize {
        self.passed - self.before
    }

    pub(super) fn before(&self) -> usize {
        self.before
    }
}
