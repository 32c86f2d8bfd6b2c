//! The search finds an order of the requests for one file where there is one.

use std::collections::{BTreeMap, BTreeSet};

use coord_test_support::history::operation::Mode::{Reading, Writing};
use coord_test_support::history::operation::{Act, Answer, Moment, Operation};

use super::{conflict, granted, holder, operation, released};
use crate::contention::linear::linearize;

const WRITE: Act = Act::Claim(Writing);
const READ: Act = Act::Claim(Reading);

fn writes() -> Option<Answer> {
    granted(&["f"], Writing, 1, 100)
}

fn reads() -> Option<Answer> {
    granted(&["f"], Reading, 1, 100)
}

/// The user, what it asks for, when that is invoked and returned, and the answer.
type Step<'a> = (&'a str, Act, u64, Option<u64>, Option<Answer>);

/// A history of one file.
fn on_one_file(steps: &[Step<'_>]) -> Vec<Operation> {
    let at = |tick| Moment {
        tick,
        millisecond: 100_000,
    };
    let steps = steps.iter().zip(1..);
    let operations = steps.map(|((user, act, invoked, returned, answer), id)| Operation {
        invoked: at(*invoked),
        returned: returned.map(at),
        ..operation(id, user, &["f"], *act, 100, answer.clone())
    });
    operations.collect()
}

#[test]
fn the_search_finds_an_order_where_there_is_one() {
    // Overlapping: the later invocation may come first.
    let overlapping = on_one_file(&[
        ("ann", WRITE, 0, Some(10), conflict()),
        ("bob", WRITE, 5, Some(8), writes()),
    ]);
    assert_eq!(linearize(&overlapping), Some(vec![1, 0]));
    // A claim that was never answered explains a refusal.
    let killed = on_one_file(&[("ann", WRITE, 0, None, None), ("bob", WRITE, 5, Some(8), conflict())]);
    assert_eq!(linearize(&killed), Some(vec![0, 1]));
    let shared = on_one_file(&[("ann", READ, 0, Some(1), reads()), ("bob", READ, 2, Some(3), reads())]);
    assert_eq!(linearize(&shared), Some(vec![0, 1]));
    // A reader is granted beside a reader, whoever waits; the last one reserves the file for the writer, unless that
    // one gives up.
    let reserved = on_one_file(&[
        ("ann", READ, 0, Some(1), reads()),
        ("bob", WRITE, 2, Some(3), conflict()),
        ("cat", READ, 4, Some(5), reads()),
        ("ann", Act::Release, 6, Some(7), released(&[])),
        ("cat", Act::Release, 8, Some(9), released(&[])),
        ("dan", READ, 10, Some(11), conflict()),
        ("bob", Act::Release, 12, Some(13), released(&["f"])),
        ("eve", WRITE, 14, Some(15), conflict()),
        ("dan", READ, 16, Some(17), reads()),
    ]);
    assert_eq!(linearize(&reserved), Some((0..9).collect()));
}

#[test]
fn the_search_finds_no_order_where_there_is_none() {
    let seen = |others| {
        let held = BTreeMap::new();
        Some(Answer::Seen { held, others })
    };
    let nothing = seen(BTreeMap::new());
    let ann_writing = seen(BTreeMap::from([(
        "f".to_owned(),
        BTreeSet::from([(holder("ann"), Writing)]),
    )]));
    let ann_writes = ("ann", WRITE, 0, Some(1), writes());
    let ann_releases = |at: u64| ("ann", Act::Release, at, Some(at + 1), released(&[]));
    let both_at_once = |act, answer| [("ann", WRITE, 0, Some(10), writes()), ("bob", act, 0, Some(10), answer)];
    let two_writers = both_at_once(WRITE, writes());
    let writer_and_reader = both_at_once(READ, reads());
    let refused_for_nothing = [("ann", WRITE, 0, Some(1), conflict())];
    let against_real_time = [
        ("ann", WRITE, 0, Some(1), conflict()),
        ("bob", WRITE, 2, Some(3), writes()),
    ];
    let lost_write = [ann_writes.clone(), ("bob", Act::Check, 2, Some(3), nothing)];
    let stale_read = [
        ann_writes.clone(),
        ann_releases(2),
        ("bob", Act::Check, 4, Some(5), ann_writing),
    ];
    let overtaken = [
        ann_writes.clone(),
        ("bob", WRITE, 2, Some(3), conflict()),
        ann_releases(4),
        ("cat", WRITE, 6, Some(7), writes()),
    ];
    let foreign_release = [ann_writes, ("bob", Act::Release, 2, Some(3), released(&[]))];
    for steps in [
        two_writers.as_slice(),
        &writer_and_reader,
        &refused_for_nothing,
        &against_real_time,
        &lost_write,
        &stale_read,
        &overtaken,
        &foreign_release,
    ] {
        assert_eq!(linearize(&on_one_file(steps)), None, "{steps:?}");
    }
}
