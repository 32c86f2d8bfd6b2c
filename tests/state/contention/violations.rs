//! The judge and the search can fail: a history with each kind of violation, beside one without.

use std::collections::{BTreeMap, BTreeSet};

use crate::contention::linear::linearize;
use coord_test_support::history::judge::{Rules, judge};
use coord_test_support::history::log::{Event, Kind, Stored};
use coord_test_support::history::model::{Entry, Rule};
use coord_test_support::history::operation::{Act, Answer, Held, Holder, Mode, Moment, NotHeld, Operation, message_of};

const TTL: i64 = 10;

fn holder(user: &str) -> Holder {
    Holder {
        user: user.to_owned(),
        agent: String::new(),
    }
}

fn files(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// An operation of `user` in second `second`, which is also the one when it was answered.
fn operation(id: u64, user: &str, names: &[&str], act: Act, second: i64, answer: Option<Answer>) -> Operation {
    let tick = id * 1000;
    Operation {
        id,
        holder: holder(user),
        branch: "main".to_owned(),
        files: files(names),
        act,
        abandon: false,
        invoked: Moment {
            tick,
            millisecond: second * 1000,
        },
        returned: answer.is_some().then_some(Moment {
            tick: tick + 500,
            millisecond: second * 1000,
        }),
        answer,
    }
}

fn event(kind: Kind, id: u64, user: &str, names: &[&str], mode: Option<Mode>, token: i64, time: i64) -> Event {
    Event {
        kind,
        time: time * 1000,
        holder: holder(user),
        branch: "main".to_owned(),
        mode,
        message: message_of(id),
        token,
        expiry: (time + TTL) * 1000,
        files: files(names),
        reason: String::new(),
        conflicts: Vec::new(),
    }
}

fn refused(
    id: u64,
    user: &str,
    names: &[&str],
    mode: Option<Mode>,
    time: i64,
    reason: &str,
    conflicts: &[&str],
) -> Event {
    let event = event(Kind::Refused, id, user, names, mode, 0, time);
    Event {
        reason: reason.to_owned(),
        conflicts: files(conflicts),
        ..event
    }
}

fn granted(names: &[&str], mode: Mode, token: i64, time: i64) -> Option<Answer> {
    let held = Held {
        mode,
        token,
        expiry: time + TTL,
    };
    Some(Answer::Granted(
        names.iter().map(|name| ((*name).to_owned(), held)).collect(),
    ))
}

fn conflict() -> Option<Answer> {
    Some(Answer::Refused("LOCK_CONFLICT".to_owned()))
}

fn released(missing: &[&str]) -> Option<Answer> {
    Some(Answer::Released(NotHeld {
        missing: files(missing).into_iter().collect(),
        ..NotHeld::default()
    }))
}

/// A true history, to be bent: ann writes a and b; bob is refused b; ann gives back b; bob writes b and reads c; cat reads c;
/// ann's a expires; cat looks at c; bob, too late, gives back a.
fn truth() -> (Vec<Operation>, Stored) {
    use Mode::{Reading, Writing};
    let seen = Answer::Seen {
        held: BTreeMap::from([(
            "c".to_owned(),
            Held {
                mode: Reading,
                token: 4,
                expiry: 105 + TTL,
            },
        )]),
        others: BTreeMap::from([("c".to_owned(), BTreeSet::from([(holder("bob"), Reading)]))]),
    };
    let operations = vec![
        operation(
            1,
            "ann",
            &["a", "b"],
            Act::Claim(Writing),
            100,
            granted(&["a", "b"], Writing, 1, 100),
        ),
        operation(2, "bob", &["b"], Act::Claim(Writing), 101, conflict()),
        operation(3, "ann", &["b"], Act::Release, 102, released(&[])),
        operation(
            4,
            "bob",
            &["b"],
            Act::Claim(Writing),
            103,
            granted(&["b"], Writing, 2, 103),
        ),
        operation(
            5,
            "bob",
            &["c"],
            Act::Claim(Reading),
            104,
            granted(&["c"], Reading, 3, 104),
        ),
        operation(
            6,
            "cat",
            &["c"],
            Act::Claim(Reading),
            105,
            granted(&["c"], Reading, 4, 105),
        ),
        operation(7, "cat", &["c"], Act::Check, 111, Some(seen)),
        operation(8, "bob", &["a"], Act::Release, 111, released(&["a"])),
        operation(9, "cat", &["c"], Act::Release, 112, None),
    ];
    let mut expired = event(Kind::Expired, 1, "ann", &["a"], Some(Writing), 1, 110);
    expired.time = 110_001;
    expired.expiry = 110_000;
    let events = vec![
        event(Kind::Granted, 1, "ann", &["a", "b"], Some(Writing), 1, 100),
        refused(2, "bob", &["b"], Some(Writing), 101, "CONFLICT", &["b"]),
        event(Kind::Released, 3, "ann", &["b"], Some(Writing), 1, 102),
        event(Kind::Granted, 4, "bob", &["b"], Some(Writing), 2, 103),
        event(Kind::Granted, 5, "bob", &["c"], Some(Reading), 3, 104),
        event(Kind::Granted, 6, "cat", &["c"], Some(Reading), 4, 105),
        expired,
    ];
    let entry = |id: u64, user: &str, mode: Mode, token: i64, timestamp: i64| Entry {
        holder: holder(user),
        mode,
        token,
        timestamp,
        expiry: (timestamp + TTL) * 1000,
        message: message_of(id),
    };
    let at = |file: &str| ("main".to_owned(), file.to_owned());
    let locks = BTreeMap::from([
        (at("b"), vec![entry(4, "bob", Writing, 2, 103)]),
        (
            at("c"),
            vec![entry(5, "bob", Reading, 3, 104), entry(6, "cat", Reading, 4, 105)],
        ),
    ]);
    let expiries = BTreeMap::from([("b".to_owned(), 113), ("c".to_owned(), 114)]);
    (
        operations,
        Stored {
            events,
            locks,
            expiries,
            token: 4,
        },
    )
}

fn rules() -> Rules {
    let neighbors = [("b", "n"), ("n", "b")].map(|(one, other)| (one.to_owned(), BTreeSet::from([other.to_owned()])));
    Rules {
        neighbors: BTreeMap::from(neighbors),
        ttls: BTreeSet::from([TTL]),
    }
}

/// The rule that is broken when the truth is bent so.
fn broken(bend: impl FnOnce(&mut Vec<Operation>, &mut Stored)) -> Rule {
    let (mut operations, mut stored) = truth();
    bend(&mut operations, &mut stored);
    judge(&operations, &stored, &rules())
        .expect_err("the judge let it pass")
        .rule
}

/// Adds an operation that is granted in second 110, the last of the history, and its event.
fn grant_also(operations: &mut Vec<Operation>, stored: &mut Stored, user: &str, file: &str, mode: Mode) {
    operations.push(operation(
        10,
        user,
        &[file],
        Act::Claim(mode),
        112,
        granted(&[file], mode, 5, 112),
    ));
    stored
        .events
        .push(event(Kind::Granted, 10, user, &[file], Some(mode), 5, 112));
}

#[test]
fn the_judge_lets_a_true_history_pass() {
    let (operations, stored) = truth();
    let tally = judge(&operations, &stored, &rules()).expect("true");
    assert_eq!(
        (tally.grants, tally.conflicts, tally.releases, tally.expiries),
        (4, 1, 1, 1)
    );
    assert_eq!((tally.checks, tally.unanswered, tally.unanswered_but_done), (1, 1, 0));
}

#[test]
fn the_judge_sees_two_holders_where_there_may_be_one() {
    use Mode::{Reading, Writing};
    assert_eq!(
        broken(|operations, stored| grant_also(operations, stored, "cat", "b", Writing)),
        Rule::TwoWriters
    );
    assert_eq!(
        broken(|operations, stored| grant_also(operations, stored, "cat", "b", Reading)),
        Rule::WriterWithReader
    );
    assert_eq!(
        broken(|operations, stored| grant_also(operations, stored, "dan", "c", Writing)),
        Rule::WriterWithReader
    );
    assert_eq!(
        broken(|operations, stored| grant_also(operations, stored, "cat", "n", Writing)),
        Rule::WrittenNeighbor
    );
}

#[test]
fn the_judge_sees_a_claim_that_is_not_whole() {
    let in_part = broken(|operations, stored| {
        grant_also(operations, stored, "dan", "d", Mode::Writing);
        operations[9].files.push("e".to_owned());
        stored.token = 5;
        let entry = Entry {
            holder: holder("dan"),
            mode: Mode::Writing,
            token: 5,
            timestamp: 112,
            expiry: 122_000,
            message: message_of(10),
        };
        stored.locks.insert(("main".to_owned(), "d".to_owned()), vec![entry]);
        stored.expiries.insert("d".to_owned(), 122);
    });
    assert_eq!(in_part, Rule::PartialClaim);
    let twice = broken(|_, stored| {
        let again = Event {
            token: 5,
            time: 111_000,
            expiry: 121_000,
            ..stored.events[3].clone()
        };
        stored.events.push(again);
    });
    assert_eq!(twice, Rule::PartialClaim);
}

#[test]
fn the_judge_sees_a_lock_taken_from_its_holder() {
    let of_another = broken(|_, stored| stored.events[1].holder = holder("cat"));
    assert_eq!(of_another, Rule::AnswerAndLog, "the request was bob's");
    let foreign = broken(|operations, stored| {
        operations[2].holder = holder("bob");
        stored.events[2].holder = holder("bob");
    });
    assert_eq!(foreign, Rule::NotTheHolder);
    let renewed = broken(|_, stored| {
        stored
            .events
            .push(event(Kind::Renewed, 9, "dan", &["c"], Some(Mode::Reading), 4, 111));
        stored.events[7].message = message_of(6);
    });
    assert_eq!(renewed, Rule::NotTheHolder);
    let left_behind = broken(|operations, stored| {
        // dan says that b was gone, while bob writes it.
        operations.push(operation(10, "dan", &["b"], Act::Release, 112, released(&["b"])));
        stored.events.truncate(7);
    });
    assert_eq!(left_behind, Rule::ImpossibleAnswer);
}

#[test]
fn the_judge_sees_tokens_that_do_not_grow() {
    assert_eq!(broken(|_, stored| stored.events[4].token = 2), Rule::TokenOrder);
    assert_eq!(broken(|_, stored| stored.events[3].token = 1), Rule::TokenOrder);
    let renewed_as_another = broken(|_, stored| {
        let renewal = Event {
            kind: Kind::Renewed,
            token: 9,
            time: 111_000,
            expiry: 121_000,
            ..stored.events[5].clone()
        };
        stored.events.push(renewal);
    });
    assert_eq!(renewed_as_another, Rule::TokenOrder);
}

#[test]
fn the_judge_sees_a_lock_that_ends_too_soon_or_too_late() {
    assert_eq!(
        broken(|_, stored| stored.events[6].time = 110_000),
        Rule::Expiry,
        "announced in the last millisecond of its time"
    );
    let late = broken(|_, stored| {
        stored.events.push(Event {
            kind: Kind::Released,
            time: 113_001,
            ..stored.events[3].clone()
        });
    });
    assert_eq!(late, Rule::Expiry, "released when it was free");
    assert_eq!(
        broken(|_, stored| stored.events[3].expiry = 200_000),
        Rule::Expiry,
        "held for longer than it may be"
    );
}

#[test]
fn the_judge_sees_a_lock_that_is_a_little_shorter_than_it_was_claimed_for() {
    let short = broken(|_, stored| {
        stored.events[3].expiry -= 1;
    });
    assert_eq!(short, Rule::Expiry);
}

#[test]
fn the_judge_sees_a_holder_who_may_not_renew_because_it_is_behind() {
    let behind = |names: &'static [&'static str]| {
        move |operations: &mut Vec<Operation>, stored: &mut Stored| {
            let answer = Some(Answer::Refused("STALE_HEAD".to_owned()));
            operations.push(operation(10, "bob", names, Act::Claim(Mode::Writing), 112, answer));
            stored
                .events
                .push(refused(10, "bob", names, Some(Mode::Writing), 112, "STALE", &[]));
        }
    };
    assert_eq!(broken(behind(&["b"])), Rule::UnfoundedRefusal);
    let (mut operations, mut stored) = truth();
    behind(&["b", "new"])(&mut operations, &mut stored);
    judge(&operations, &stored, &rules()).expect("a new file is refused");
}

#[test]
fn the_judge_knows_what_was_given_back_before() {
    // ann gives back b once more, which bob writes by then.
    let (mut operations, stored) = truth();
    operations.push(operation(10, "ann", &["b"], Act::Release, 112, released(&[])));
    judge(&operations, &stored, &rules()).expect("the same answer to the same request");
    let again = |files: &[&str]| {
        Some(Answer::Released(NotHeld {
            again: self::files(files).into_iter().collect(),
            ..NotHeld::default()
        }))
    };
    let (mut operations, stored) = truth();
    operations.push(operation(10, "ann", &["b", "z"], Act::Release, 112, again(&["b", "z"])));
    let violation = judge(&operations, &stored, &rules()).expect_err("z was never given back");
    assert_eq!(violation.rule, Rule::ImpossibleAnswer);
    let lost = broken(|operations, stored| {
        let answer = Some(Answer::Refused("LOCK_LOST".to_owned()));
        operations.push(operation(10, "ann", &["b", "z"], Act::Release, 112, answer));
        stored
            .events
            .push(refused(10, "ann", &["b", "z"], None, 112, "LOST", &["z"]));
    });
    assert_eq!(lost, Rule::UnfoundedRefusal, "nobody writes z");
}

#[test]
fn the_judge_sees_a_refusal_without_a_reason() {
    assert_eq!(
        broken(|_, stored| stored.events[1].conflicts.clear()),
        Rule::UnfoundedRefusal
    );
    let too_late = broken(|_, stored| stored.events.swap(1, 2));
    assert_eq!(too_late, Rule::Clock);
    let free = broken(|operations, stored| {
        operations[1].files = files(&["z"]);
        stored.events[1].files = files(&["z"]);
        stored.events[1].conflicts = files(&["z"]);
    });
    assert_eq!(free, Rule::UnfoundedRefusal);
}

#[test]
fn the_judge_sees_answers_and_events_that_do_not_belong_together() {
    assert_eq!(
        broken(|_, stored| drop(stored.events.remove(1))),
        Rule::AnswerAndLog,
        "a refusal without its event"
    );
    let twice = broken(|_, stored| stored.events.insert(1, stored.events[1].clone()));
    assert_eq!(twice, Rule::AnswerAndLog, "a refusal with two events");
    assert_eq!(
        broken(|operations, _| drop(operations.remove(4))),
        Rule::AnswerAndLog,
        "an event of no request"
    );
    let other_token = broken(|operations, _| operations[4].answer = granted(&["c"], Mode::Reading, 7, 104));
    assert_eq!(other_token, Rule::AnswerAndLog);
    assert_eq!(
        broken(|operations, _| operations[4].answer = conflict()),
        Rule::AnswerAndLog,
        "refused, but done"
    );
    assert_eq!(
        broken(|operations, _| operations[2].answer = released(&["b"])),
        Rule::AnswerAndLog
    );
}

#[test]
fn the_judge_sees_a_check_that_was_never_true() {
    let blind = broken(|operations, _| {
        operations[6].answer = Some(Answer::Seen {
            held: BTreeMap::new(),
            others: BTreeMap::new(),
        });
    });
    assert_eq!(blind, Rule::ImpossibleAnswer);
    // What cat sees was true, but only after the question was answered.
    let from_the_future = broken(|operations, _| {
        operations[6].invoked = Moment {
            tick: 1600,
            millisecond: 102_000,
        };
        operations[6].returned = Some(Moment {
            tick: 1700,
            millisecond: 102_000,
        });
    });
    assert_eq!(from_the_future, Rule::ImpossibleAnswer);
}

#[test]
fn the_judge_sees_an_order_against_real_time() {
    let swapped = broken(|operations, _| {
        // The log has bob's claim on c before cat's, but cat's had been answered before bob asked.
        operations[5].invoked.tick = 4600;
        operations[5].returned = Some(Moment {
            tick: 4700,
            millisecond: 105_000,
        });
    });
    assert_eq!(swapped, Rule::RealTime);
    assert_eq!(
        broken(|operations, _| operations[4].invoked.millisecond = 104_001),
        Rule::Clock,
        "done before it was asked"
    );
}

#[test]
fn the_judge_sees_a_store_that_is_not_what_the_log_says() {
    assert_eq!(
        broken(|_, stored| drop(stored.locks.pop_first())),
        Rule::FinalState,
        "a lock is missing"
    );
    assert_eq!(
        broken(|_, stored| drop(stored.events.pop())),
        Rule::FinalState,
        "an expiry was not announced"
    );
    assert_eq!(broken(|_, stored| stored.token = 9), Rule::FinalState);
    assert_eq!(broken(|_, stored| drop(stored.expiries.pop_first())), Rule::FinalState);
}

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
        &foreign_release,
    ] {
        assert_eq!(linearize(&on_one_file(steps)), None, "{steps:?}");
    }
}
