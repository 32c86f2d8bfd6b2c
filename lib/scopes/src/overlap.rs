//! Decides whether two scopes overlap, by their patterns.
//!
//! Each pattern is an automaton over segments, and each segment an automaton over bytes. A path that both match is a
//! walk through the product of both, which never goes back. So a table of their lengths decides.

use super::common_name;
use super::rule::{Item, Rule};

/// How two scopes overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The pattern of the one scope.
    pub pattern: String,
    /// The pattern of the other scope.
    pub other: String,
    /// A path that both match. `None` for patterns so complex that the comparison exceeded the [`StepBudget`]; they
    /// count as overlapping.
    pub example: Option<String>,
}

impl std::fmt::Display for Overlap {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Overlap {
            pattern,
            other,
            example,
        } = self;
        match example {
            Some(path) => write!(formatter, "{pattern:?} and {other:?} both cover {path:?}"),
            None => write!(
                formatter,
                "{pattern:?} and {other:?} are too complex to compare, so they count as overlapping: write patterns \
                 with fewer wildcards"
            ),
        }
    }
}

/// The total cost limit of the comparisons for one intent.
#[derive(Clone, Debug, Default)]
pub struct StepBudget {
    /// The number of steps so far.
    pub(super) taken: u64,
}

impl StepBudget {
    /// The limit: about a tenth of a second. A hundred intents of 64 usual patterns take a hundredth of it.
    pub const MAX_STEPS: u64 = 50_000_000;

    pub fn new() -> Self {
        StepBudget::default()
    }
}

/// The area of a rule: the paths that it covers.
#[derive(Clone, Debug)]
pub(super) struct Area {
    rule: Rule,
    /// The items after those of the rule.
    below: &'static [Item],
    prefix: Edge,
    suffix: Edge,
}

/// A prefix or reversed suffix of each path of an area.
#[derive(Clone, Debug)]
struct Edge {
    bytes: Box<[u8]>,
    /// The first eight bytes as a number, and a mask of its valid bits. Most pairs of areas differ there.
    key: u64,
    mask: u64,
}

impl Edge {
    fn new(bytes: Vec<u8>) -> Self {
        let mut key = [0; 8];
        let mut mask = [0; 8];
        for (index, byte) in bytes.iter().take(8).enumerate() {
            (key[index], mask[index]) = (*byte, u8::MAX);
        }
        Edge {
            bytes: bytes.into_boxed_slice(),
            key: u64::from_ne_bytes(key),
            mask: u64::from_ne_bytes(mask),
        }
    }

    fn differs(&self, other: &Edge) -> bool {
        let length = self.bytes.len().min(other.bytes.len());
        (self.key ^ other.key) & self.mask & other.mask != 0
            || (length > 8 && self.bytes[8..length] != other.bytes[8..length])
    }
}

impl Area {
    /// The area of `rule`. A pattern that names files by an extension (`*.ts`) also covers files below a folder with
    /// such a name. Such folders are rare, so an overlap there does not count.
    pub(super) fn new(rule: Rule) -> Self {
        let names_files = matches!(rule.items.last(), Some(Item::Segment(segment)) if segment.has_extension());
        let below: &[Item] = match rule.folder_only {
            true => &[Item::Any, Item::Deep],
            false if names_files => &[],
            false => &[Item::Deep],
        };
        let mut suffix = match (below, rule.items.last()) {
            ([], Some(Item::Segment(segment))) => segment.suffix(),
            _ => Vec::new(),
        };
        suffix.reverse();
        Area {
            below,
            prefix: Edge::new(prefix(&rule)),
            suffix: Edge::new(suffix),
            rule,
        }
    }

    fn item(&self, index: usize) -> Option<&Item> {
        let own = self.rule.items.len();
        self.rule.items.get(index).or_else(|| self.below.get(index - own))
    }

    fn len(&self) -> usize {
        self.rule.items.len() + self.below.len()
    }
}

fn prefix(rule: &Rule) -> Vec<u8> {
    let mut prefix = Vec::new();
    for (index, item) in rule.items.iter().enumerate() {
        if index > 0 {
            prefix.push(b'/');
        }
        let Item::Segment(segment) = item else { return prefix };
        prefix.extend(segment.prefix());
        if !segment.tokens().is_empty() {
            return prefix;
        }
    }
    prefix
}

/// The sources of the first two areas that overlap, and a path in both.
pub(super) fn find_first(
    areas: &[Area],
    others: &[Area],
    steps: &mut StepBudget,
) -> Option<(usize, usize, Option<String>)> {
    for one in areas {
        steps.taken += others.len() as u64;
        for other in others {
            if one.prefix.differs(&other.prefix) || one.suffix.differs(&other.suffix) {
                continue;
            }
            // After the limit, nothing more is compared.
            if steps.taken <= StepBudget::MAX_STEPS && ends_differ(one, other, &mut steps.taken) {
                continue;
            }
            let example = match common_path(one, other, &mut steps.taken) {
                Ok(None) => continue,
                Ok(Some(path)) => Some(String::from_utf8_lossy(&path).into_owned()),
                Err(StepLimitExceeded) => None,
            };
            return Some((one.rule.source, other.rule.source, example));
        }
    }
    None
}

struct StepLimitExceeded;

/// How a cell of the table was reached: which sides consumed an item, and whether the path got one more segment.
#[derive(Clone, Copy)]
struct Move {
    one: bool,
    other: bool,
    adds_segment: bool,
}

/// A path in both areas.
fn common_path(one: &Area, other: &Area, steps: &mut u64) -> Result<Option<Vec<u8>>, StepLimitExceeded> {
    let (rows, width) = (one.len() + 1, other.len() + 1);
    let mut table: Vec<Option<Move>> = vec![None; rows * width];
    for i in 0..rows {
        for j in 0..width {
            *steps += 1;
            if *steps > StepBudget::MAX_STEPS {
                return Err(StepLimitExceeded);
            }
            if i + j > 0 && table[i * width + j].is_none() {
                continue;
            }
            let (a, b) = (one.item(i), other.item(j));
            let (a_deep, b_deep) = (matches!(a, Some(Item::Deep)), matches!(b, Some(Item::Deep)));
            let mut reach = |i: usize, j: usize, one: bool, other: bool, adds_segment: bool| {
                table[i * width + j].get_or_insert(Move {
                    one,
                    other,
                    adds_segment,
                });
            };
            if a_deep {
                reach(i + 1, j, true, false, false);
            }
            if b_deep {
                reach(i, j + 1, false, true, false);
            }
            let (Some(a), Some(b)) = (a, b) else { continue };
            if !(a_deep && b_deep) && have_common_segment(a, b, steps) {
                let (a_moves, b_moves) = (!a_deep, !b_deep);
                reach(
                    i + usize::from(a_moves),
                    j + usize::from(b_moves),
                    a_moves,
                    b_moves,
                    true,
                );
            }
        }
    }
    let (mut i, mut j) = (rows - 1, width - 1);
    let mut segments = Vec::new();
    while (i, j) != (0, 0) {
        let Some(step) = table[i * width + j] else {
            return Ok(None);
        };
        i -= usize::from(step.one);
        j -= usize::from(step.other);
        if let (true, Some(a), Some(b)) = (step.adds_segment, one.item(i), other.item(j)) {
            segments.extend(common_segment(a, b, steps));
        }
    }
    segments.reverse();
    Ok(Some(segments.join(&b'/')))
}

/// Whether the segments after the last `**` of both areas, compared from the end, have no names in common.
fn ends_differ<'a>(one: &'a Area, other: &'a Area, steps: &mut u64) -> bool {
    let from_end = |area: &'a Area, back: usize| area.len().checked_sub(back).and_then(|index| area.item(index));
    let mut pairs = (1..).map_while(|back| match (from_end(one, back)?, from_end(other, back)?) {
        (Item::Deep, _) | (_, Item::Deep) => None,
        pair => Some(pair),
    });
    // Names are compared first, because that is cheapest and they differ most often.
    let names_differ = |pair: (&Item, &Item)| match pair {
        (Item::Segment(one), Item::Segment(other)) => {
            one.tokens().is_empty() && other.tokens().is_empty() && one.name() != other.name()
        }
        _ => false,
    };
    pairs.clone().any(names_differ) || pairs.any(|(one, other)| !have_common_segment(one, other, steps))
}

/// Whether a segment exists that both items match. Each item matches one.
fn have_common_segment(one: &Item, other: &Item, steps: &mut u64) -> bool {
    match (one, other) {
        (Item::Segment(one), Item::Segment(other)) => common_name::exists(one, other, steps),
        _ => true,
    }
}

/// A segment that both items match.
fn common_segment(one: &Item, other: &Item, steps: &mut u64) -> Option<Vec<u8>> {
    match (one, other) {
        (Item::Segment(one), Item::Segment(other)) => common_name::find(one, other, steps),
        (Item::Segment(segment), _) | (_, Item::Segment(segment)) => common_name::example(segment),
        _ => Some(b"a".to_vec()),
    }
}
