//! Matches rules against many paths. A folder's state is kept for the next path, which is often in the same folder.

use super::rule::{Item, Rule};

/// The rules that can still match in a folder, for one path after the other.
pub(super) struct Walk<'r> {
    rules: &'r [Rule],
    folder: Vec<u8>,
    levels: Vec<Level>,
    /// The positions of all levels, one level after the other.
    positions: Vec<RulePosition>,
    /// Whether a rule that matches a folder covers all files below it.
    covers_folders: bool,
    /// The number of compared bytes and positions.
    pub(super) steps: u64,
}

struct Level {
    /// The length of its path, with the slash.
    end: usize,
    /// The index of its first position.
    first: usize,
    /// The rule that decides about all files below.
    covered_by: Option<usize>,
}

/// A rule, and the number of its items that the folder has consumed.
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
        let positions = (0..).take(rules.len()).map(|rule| RulePosition { rule, item: 0 });
        Walk {
            rules,
            folder: Vec::new(),
            levels: vec![root],
            positions: positions.collect(),
            covers_folders: true,
            steps: 0,
        }
    }

    /// A walk in which rules match only files.
    pub(super) fn of_files(rules: &'r [Rule]) -> Self {
        Walk {
            covers_folders: false,
            ..Walk::new(rules)
        }
    }

    /// The last rule that matches `path`, a file, or a folder above it. `None` if that rule is negated.
    pub(super) fn find(&mut self, path: &[u8]) -> Option<&'r Rule> {
        let common = self.folder.iter().zip(path).take_while(|(old, new)| old == new).count();
        while self.levels.last().is_some_and(|level| level.end > common) {
            let level = self.levels.pop();
            self.positions.truncate(level.map_or(0, |level| level.first));
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
            if first == self.positions.len() {
                return None;
            }
            let rest = &path[end..];
            let next_first = self.positions.len();
            let Some(slash) = memchr::memchr(b'/', rest) else {
                return self.match_file(first, rest);
            };
            let covered_by = self.enter_folder(first, &rest[..slash]);
            self.folder.extend_from_slice(&rest[..=slash]);
            self.levels.push(Level {
                end: end + slash + 1,
                first: next_first,
                covered_by,
            });
        }
    }

    /// The last rule that matches the file `name` in the current folder.
    fn match_file(&mut self, first: usize, name: &[u8]) -> Option<&'r Rule> {
        if name.is_empty() {
            return None;
        }
        for position in self.positions[first..].iter().rev() {
            let rule = &self.rules[position.rule as usize];
            self.steps += 1;
            if !rule.folder_only && match_last(&rule.items[position.item as usize..], name, &mut self.steps) {
                return (!rule.negated).then_some(rule);
            }
        }
        None
    }

    /// Adds the positions in the folder `name`. Returns the rule that decides about all files below it.
    fn enter_folder(&mut self, first: usize, name: &[u8]) -> Option<usize> {
        if name.is_empty() {
            return None;
        }
        let mut last_match = None;
        let start = self.positions.len();
        for index in first..start {
            let RulePosition { rule, item } = self.positions[index];
            let items = &self.rules[rule as usize].items;
            let mut item = item as usize;
            self.steps += 1;
            if let Some(Item::Deep) = items.get(item) {
                self.add_position(rule, item, start, &mut last_match);
                item += 1;
            }
            if items
                .get(item)
                .is_some_and(|item| matches_name(item, name, &mut self.steps))
            {
                self.add_position(rule, item + 1, start, &mut last_match);
            }
        }
        last_match.filter(|rule: &usize| self.covers_folders && !self.rules[*rule].negated)
    }

    fn add_position(&mut self, rule: u32, item: usize, start: usize, last_match: &mut Option<usize>) {
        let items = &self.rules[rule as usize].items;
        if let [] | [Item::Deep] = items[item..] {
            *last_match = Some(rule as usize);
        }
        // Positions are added in order, so a duplicate directly follows its original.
        let position = RulePosition {
            rule,
            item: u32::try_from(item).unwrap_or(u32::MAX),
        };
        if item < items.len() && self.positions[start..].last() != Some(&position) {
            self.positions.push(position);
        }
    }
}

/// Whether `items` match the one segment `name`.
fn match_last(items: &[Item], name: &[u8], steps: &mut u64) -> bool {
    match items {
        [Item::Deep] => true,
        [Item::Deep, rest @ ..] => match_last(rest, name, steps),
        [item] | [item, Item::Deep] => matches_name(item, name, steps),
        _ => false,
    }
}

fn matches_name(item: &Item, name: &[u8], steps: &mut u64) -> bool {
    match item {
        Item::Deep => false,
        Item::Any => true,
        Item::Segment(segment) => segment.matches(name, steps),
    }
}
