//! Rules against many paths. The verdict on a folder is kept for the next path, which often lies in the same one.

use super::rule::{Item, Rule};

/// The rules that are left in a folder, for one path after the other.
pub(super) struct Walk<'r> {
    rules: &'r [Rule],
    folder: Vec<u8>,
    levels: Vec<Level>,
    /// The places of all levels, one level after the other.
    places: Vec<RulePosition>,
    /// Whether a rule that matches a folder covers all below.
    covers_folders: bool,
    /// How many bytes and places were looked at.
    pub(super) steps: u64,
}

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
struct RulePosition {
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
        let places = (0..).take(rules.len()).map(|rule| RulePosition { rule, item: 0 });
        Walk {
            rules,
            folder: Vec::new(),
            levels: vec![root],
            places: places.collect(),
            covers_folders: true,
            steps: 0,
        }
    }

    /// Of rules that match files alone.
    pub(super) fn of_files(rules: &'r [Rule]) -> Self {
        Walk {
            covers_folders: false,
            ..Walk::new(rules)
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
                return self.file(first, rest);
            };
            let covered_by = self.folder(first, &rest[..slash]);
            self.folder.extend_from_slice(&rest[..=slash]);
            self.levels.push(Level {
                end: end + slash + 1,
                first: places,
                covered_by,
            });
        }
    }

    /// The rule that decides about a file of this name. The last one to match does.
    fn file(&mut self, first: usize, name: &[u8]) -> Option<&'r Rule> {
        if name.is_empty() {
            return None;
        }
        for place in self.places[first..].iter().rev() {
            let rule = &self.rules[place.rule as usize];
            self.steps += 1;
            if !rule.folder_only && ends_with(&rule.items[place.item as usize..], name, &mut self.steps) {
                return (!rule.negated).then_some(rule);
            }
        }
        None
    }

    /// Adds the places in the folder of this name, and says which rule decides about all below it.
    fn folder(&mut self, first: usize, name: &[u8]) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        let mut last = None;
        let start = self.places.len();
        for index in first..start {
            let RulePosition { rule, item } = self.places[index];
            let items = &self.rules[rule as usize].items;
            let mut item = item as usize;
            self.steps += 1;
            if let Some(Item::Deep) = items.get(item) {
                self.arrive(rule, item, start, &mut last);
                item += 1;
            }
            if items.get(item).is_some_and(|item| takes(item, name, &mut self.steps)) {
                self.arrive(rule, item + 1, start, &mut last);
            }
        }
        last.filter(|rule: &usize| self.covers_folders && !self.rules[*rule].negated)
    }

    fn arrive(&mut self, number: u32, item: usize, start: usize, last: &mut Option<usize>) {
        let items = &self.rules[number as usize].items;
        if let [] | [Item::Deep] = items[item..] {
            *last = Some(number as usize);
        }
        // Places come in order, so that the same one twice comes one after the other.
        let place = RulePosition {
            rule: number,
            item: u32::try_from(item).unwrap_or(u32::MAX),
        };
        if item < items.len() && self.places[start..].last() != Some(&place) {
            self.places.push(place);
        }
    }
}

/// Whether `items` match the one segment `name`.
fn ends_with(items: &[Item], name: &[u8], steps: &mut u64) -> bool {
    match items {
        [Item::Deep] => true,
        [Item::Deep, rest @ ..] => ends_with(rest, name, steps),
        [item] | [item, Item::Deep] => takes(item, name, steps),
        _ => false,
    }
}

fn takes(item: &Item, name: &[u8], steps: &mut u64) -> bool {
    match item {
        Item::Deep => false,
        Item::Any => true,
        Item::One(segment) => segment.matches(name, steps),
    }
}
