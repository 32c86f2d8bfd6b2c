//! Rules against many paths. What the rules say of a folder is kept for the next path, which often lies in the same one.

use super::rule::{Item, Rule};

/// The rules that are left in a folder, for one path after the other.
pub(super) struct Walk<'r> {
    rules: &'r [Rule],
    folder: Vec<u8>,
    levels: Vec<Level>,
    /// The places of all levels, one level after the other.
    places: Vec<Place>,
    /// How many bytes and places were looked at.
    pub(super) steps: u64,
}

/// A folder.
struct Level {
    /// The length of its path, with the slash.
    end: usize,
    /// Where its places begin.
    first: usize,
    /// The rule that decides about all below.
    covered_by: Option<usize>,
}

/// A rule, with the number of items that the folder has used up.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    rule: u32,
    item: u32,
}

impl<'r> Walk<'r> {
    pub(super) fn new(rules: &'r [Rule]) -> Self {
        let root = Level {
            end: 0,
            first: 0,
            covered_by: None,
        };
        let places = (0..).take(rules.len()).map(|rule| Place { rule, item: 0 });
        Walk {
            rules,
            folder: Vec::new(),
            levels: vec![root],
            places: places.collect(),
            steps: 0,
        }
    }

    /// The rule by which `path`, a file, or a folder above it is matched: the last one that is about it, unless it is negated.
    pub(super) fn find(&mut self, path: &[u8]) -> Option<&'r Rule> {
        let common = self.folder.iter().zip(path).take_while(|(old, new)| old == new).count();
        while self.levels.last().is_some_and(|level| level.end > common) {
            let level = self.levels.pop();
            self.places.truncate(level.map_or(0, |level| level.first));
        }
        loop {
            let (end, first, covered_by) = self
                .levels
                .last()
                .map(|level| (level.end, level.first, level.covered_by))?;
            self.folder.truncate(end);
            if let Some(rule) = covered_by {
                return Some(&self.rules[rule]);
            }
            if first == self.places.len() {
                return None;
            }
            let rest = &path[end..];
            let places = self.places.len();
            let Some(slash) = memchr::memchr(b'/', rest) else {
                let found = self.step(first, rest, false);
                self.places.truncate(places);
                return found.map(|rule| &self.rules[rule]);
            };
            let covered_by = self.step(first, &rest[..slash], true);
            self.folder.extend_from_slice(&rest[..=slash]);
            self.levels.push(Level {
                end: end + slash + 1,
                first: places,
                covered_by,
            });
        }
    }

    /// Adds the places behind the segment `name`, and says which rule decides there.
    fn step(&mut self, first: usize, name: &[u8], is_folder: bool) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        let mut last = None;
        let start = self.places.len();
        for index in first..start {
            let Place { rule, item } = self.places[index];
            let items = &self.rules[rule as usize].items;
            let mut item = item as usize;
            self.steps += 1;
            if let Some(Item::Deep) = items.get(item) {
                self.arrive(rule, item, start, is_folder, &mut last);
                item += 1;
            }
            let goes_on = match items.get(item) {
                None | Some(Item::Deep) => false,
                Some(Item::Any) => true,
                Some(Item::One(segment)) => segment.matches(name, &mut self.steps),
            };
            if goes_on {
                self.arrive(rule, item + 1, start, is_folder, &mut last);
            }
        }
        last.filter(|rule: &usize| !self.rules[*rule].negated)
    }

    fn arrive(&mut self, number: u32, item: usize, start: usize, is_folder: bool, last: &mut Option<usize>) {
        let rule = &self.rules[number as usize];
        let is_end = matches!(rule.items[item..], [] | [Item::Deep]);
        if is_end && (is_folder || !rule.folder_only) {
            *last = Some(number as usize);
        }
        // Places come in order, so that the same one twice comes one after the other.
        let place = Place {
            rule: number,
            item: u32::try_from(item).unwrap_or(u32::MAX),
        };
        if item < rule.items.len() && self.places[start..].last() != Some(&place) {
            self.places.push(place);
        }
    }
}
