//! The search finds an order of the requests for one file where there is one.

use std::collections::{BTreeMap, BTreeSet};

use coord_test_support::history::operation::{Act, Answer, Mode, Moment, Operation};

use super::{conflict, granted, holder, operation, released};
use crate::contention::linear::linearize;

type Step<'a> = (&'a str, Act, u64, Option<u64>, Option<Answer>);

/// A history of one file: who, what, when invoked, when returned, and the answer.
fn on_one_file(steps: &[Step<'_>]) -> Vec<Operation> {
    let steps = steps.iter().zip(1..);
    let operations = steps.map(|((user, act, invoked, returned, answer), id)| Operation {
        invoked: Moment {
            tick: *invoked,
            millisecond: 100_000,
        },
        returned: returned.map(|tick| Moment {
            tick,
            millisecond: 100_000,
        }),
        ..operation(id, user, &["f"], *act, 100, answer.clone())
    });
    operations.collect()
}

#[test]
fn the_search_finds_an_order_where_there_is_one() {
    use Mode::{Reading, Writing};
    let (write, read) = (Act::Claim(Writing), Act::Claim(Reading));
    let writes = || granted(&["f"], Writing, 1, 100);
    let reads = || granted(&["f"], Reading, 1, 100);
    // Overlapping: the later invocation may come first.
    let overlapping = on_one_file(&[
        ("ann", write, 0, Some(10), conflict()),
        ("bob", write, 5, Some(8), writes()),
    ]);
    assert_eq!(linearize(&overlapping), Some(vec![1, 0]));
    // A claim that was never answered explains a refusal.
    let killed = on_one_file(&[("ann", write, 0, None, None), ("bob", write, 5, Some(8), conflict())]);
    assert_eq!(linearize(&killed), Some(vec![0, 1]));
    let shared = on_one_file(&[("ann", read, 0, Some(1), reads()), ("bob", read, 2, Some(3), reads())]);
    assert_eq!(linearize(&shared), Some(vec![0, 1]));
    // A reader is granted beside a reader, whoever waits; the last one reserves the file for the writer, unless that
    // one gives up.
    let reserved = on_one_file(&[
        ("ann", read, 0, Some(1), reads()),
        ("bob", write, 2, Some(3), conflict()),
        ("cat", read, 4, Some(5), reads()),
        ("ann", Act::Release, 6, Some(7), released(&[])),
        ("cat", Act::Release, 8, Some(9), released(&[])),
        ("dan", read, 10, Some(11), conflict()),
        ("bob", Act::Release, 12, Some(13), released(&["f"])),
        ("eve", write, 14, Some(15), conflict()),
        ("dan", read, 16, Some(17), reads()),
    ]);
    assert_eq!(linearize(&reserved), Some((0..9).collect()));
}

#[test]
fn the_search_finds_no_order_where_there_is_none() {
    use Mode::{Reading, Writing};
    let (write, read) = (Act::Claim(Writing), Act::Claim(Reading));
    let writes = || granted(&["f"], Writing, 1, 100);
    let reads = || granted(&["f"], Reading, 1, 100);
    let seen = |who: &[(&str, Mode)]| {
        let holders: BTreeSet<_> = who.iter().map(|(user, mode)| (holder(user), *mode)).collect();
        let others = if holders.is_empty() {
            BTreeMap::new()
        } else {
            BTreeMap::from([("f".to_owned(), holders)])
        };
        Some(Answer::Seen {
            held: BTreeMap::new(),
            others,
        })
    };
    let two_writers = [
        ("ann", write, 0, Some(10), writes()),
        ("bob", write, 0, Some(10), writes()),
    ];
    let writer_and_reader = [
        ("ann", write, 0, Some(10), writes()),
        ("bob", read, 0, Some(10), reads()),
    ];
    let refused_for_nothing = [("ann", write, 0, Some(1), conflict())];
    let against_real_time = [
        ("ann", write, 0, Some(1), conflict()),
        ("bob", write, 2, Some(3), writes()),
    ];
    let lost_write = [
        ("ann", write, 0, Some(1), writes()),
        ("bob", Act::Check, 2, Some(3), seen(&[])),
    ];
    let stale_read = [
        ("ann", write, 0, Some(1), writes()),
        ("ann", Act::Release, 2, Some(3), released(&[])),
        ("bob", Act::Check, 4, Some(5), seen(&[("ann", Writing)])),
    ];
    let overtaken = [
        ("ann", write, 0, Some(1), writes()),
        ("bob", write, 2, Some(3), conflict()),
        ("ann", Act::Release, 4, Some(5), released(&[])),
        ("cat", write, 6, Some(7), writes()),
    ];
    let foreign_release = [
        ("ann", write, 0, Some(1), writes()),
        ("bob", Act::Release, 2, Some(3), released(&[])),
    ];
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
