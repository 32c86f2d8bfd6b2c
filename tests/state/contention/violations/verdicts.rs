//! The judge passes a true history, and sees each way in which one may be false.

use std::collections::BTreeMap;

use coord_test_support::history::judge::judge;
use coord_test_support::history::log::{Entry, Event, Kind, Stored};
use coord_test_support::history::operation::{Act, Answer, Mode, Moment, NotHeld, Operation, message_of};
use coord_test_support::history::rule::Rule;

use super::{broken, conflict, event, files, granted, holder, operation, refused, released, rules, truth};

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
fn the_judge_allows_two_writers_of_a_shared_file_and_finds_a_refused_one() {
    let (mut operations, mut stored) = truth();
    for (number, user) in [(20, "cat"), (21, "dan")] {
        let token = number - 15;
        operations.push(operation(
            number as u64,
            user,
            &["s"],
            Act::Claim(Mode::Writing),
            112,
            granted(&["s"], Mode::Writing, token, 112),
        ));
        stored.events.push(event(
            Kind::Granted,
            number as u64,
            user,
            &["s"],
            Some(Mode::Writing),
            token,
            112,
        ));
        let entry = Entry {
            holder: holder(user),
            mode: Mode::Writing,
            token,
            timestamp: 112,
            expiry: stored.events[stored.events.len() - 1].expiry,
            message: message_of(number as u64),
        };
        let place = ("main".to_owned(), "s".to_owned());
        stored.locks.entry(place).or_default().push(entry);
        stored.token = token;
        stored.expiries.insert("s".to_owned(), 112 + super::TTL);
    }
    judge(&operations, &stored, &rules()).expect("true");
    let refused = broken(|operations, stored| {
        operations.push(operation(22, "eve", &["s"], Act::Claim(Mode::Writing), 112, conflict()));
        let event = refused(22, "eve", &["s"], Some(Mode::Writing), 112, "CONFLICT", &["s"]);
        stored.events.push(event);
    });
    assert_eq!(refused, Rule::UnfoundedRefusal);
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
    let of_another = broken(|_, stored| stored.events[5].holder = holder("dan"));
    assert_eq!(of_another, Rule::AnswerAndLog, "the request was cat's");
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
fn the_judge_knows_which_files_were_released_before() {
    // ann releases b once more, while bob already writes it.
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
    // Cat's answer became true only after the check had returned.
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
fn the_judge_finds_a_store_that_contradicts_the_log() {
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

/// The truth, and: ann writes q, bob is refused it each nine seconds until `last`, ann gives q back a second later, and q is reserved for
/// bob if it is so said; then dan claims q in second `second`, and is granted it or not.
fn dan_after_bob(last: i64, is_reserved: bool, second: i64, is_granted: bool) -> Result<(), Rule> {
    use Mode::Writing;
    let (mut operations, mut stored) = truth();
    let claim = Act::Claim(Writing);
    let ids = &mut (10..);
    let mut id = || ids.next().expect("a number");
    for time in (112..last).step_by(9) {
        let (ann, bob) = (id(), id());
        let kind = if time == 112 { Kind::Granted } else { Kind::Renewed };
        operations.push(operation(
            ann,
            "ann",
            &["q"],
            claim,
            time,
            granted(&["q"], Writing, 5, time),
        ));
        operations.push(operation(bob, "bob", &["q"], claim, time + 1, conflict()));
        stored.events.extend([
            event(kind, ann, "ann", &["q"], Some(Writing), 5, time),
            refused(bob, "bob", &["q"], Some(Writing), time + 1, "CONFLICT", &["q"]),
        ]);
    }
    let release = id();
    operations.push(operation(release, "ann", &["q"], Act::Release, last + 1, released(&[])));
    stored.events.push(event(
        Kind::Released,
        release,
        "ann",
        &["q"],
        Some(Writing),
        5,
        last + 1,
    ));
    if is_reserved {
        stored.events.push(reservation("bob", &["q"], last + 1));
    }
    stored.token = 5;
    let dan = id();
    let answer = match is_granted {
        true => granted(&["q"], Writing, 6, second),
        false => conflict(),
    };
    operations.push(operation(dan, "dan", &["q"], claim, second, answer));
    if is_granted {
        stored
            .events
            .push(event(Kind::Granted, dan, "dan", &["q"], Some(Writing), 6, second));
        let lock = Entry {
            holder: holder("dan"),
            mode: Writing,
            token: 6,
            timestamp: second,
            expiry: (second + 10) * 1000,
            message: message_of(dan),
        };
        stored.locks.insert(("main".to_owned(), "q".to_owned()), vec![lock]);
        stored.expiries.insert("q".to_owned(), second + 10);
        stored.token = 6;
    } else {
        stored
            .events
            .push(refused(dan, "dan", &["q"], Some(Writing), second, "CONFLICT", &["q"]));
    }
    judge(&operations, &stored, &rules())
        .map(drop)
        .map_err(|violation| violation.rule)
}

/// `names` are reserved for a claim of `user` to write them.
fn reservation(user: &str, names: &[&str], time: i64) -> Event {
    Event {
        expiry: (time + 20) * 1000,
        ..event(Kind::Reserved, 20, user, names, Some(Mode::Writing), 0, time)
    }
}

#[test]
fn the_judge_sees_a_reservation_that_is_taken_and_a_free_file_that_is_refused() {
    assert_eq!(dan_after_bob(113, true, 116, true), Err(Rule::Overtaken));
    assert_eq!(dan_after_bob(113, true, 134, true), Err(Rule::Overtaken));
    assert_eq!(
        dan_after_bob(113, true, 135, true),
        Ok(()),
        "a reservation lasts 20 seconds"
    );
    assert_eq!(dan_after_bob(113, true, 116, false), Ok(()));
    assert_eq!(dan_after_bob(113, true, 134, false), Ok(()));
    assert_eq!(dan_after_bob(113, true, 135, false), Err(Rule::UnfoundedRefusal));
    assert_eq!(dan_after_bob(113, false, 116, true), Ok(()));
    assert_eq!(
        dan_after_bob(113, false, 116, false),
        Err(Rule::UnfoundedRefusal),
        "a ticket refuses no free file"
    );
    // Unless it was overtaken for long enough.
    assert_eq!(
        dan_after_bob(113 + 19 * 9, false, 115 + 19 * 9, false),
        Err(Rule::UnfoundedRefusal)
    );
    assert_eq!(dan_after_bob(113 + 21 * 9, false, 115 + 21 * 9, false), Ok(()));
}

#[test]
fn the_judge_sees_a_reservation_that_may_not_be() {
    use Mode::Writing;
    let claim = Act::Claim(Writing);
    let with = |change: &dyn Fn(&mut Vec<Operation>, &mut Stored)| {
        broken(|operations, stored| {
            operations.extend([
                operation(10, "ann", &["q"], claim, 112, granted(&["q"], Writing, 5, 112)),
                operation(20, "bob", &["q"], claim, 113, conflict()),
                operation(21, "dan", &["q"], claim, 114, conflict()),
            ]);
            stored.events.extend([
                event(Kind::Granted, 10, "ann", &["q"], Some(Writing), 5, 112),
                refused(20, "bob", &["q"], Some(Writing), 113, "CONFLICT", &["q"]),
                refused(21, "dan", &["q"], Some(Writing), 114, "CONFLICT", &["q"]),
            ]);
            change(operations, stored);
        })
    };
    let adds_release = |operations: &mut Vec<Operation>, stored: &mut Stored| {
        operations.push(operation(12, "ann", &["q"], Act::Release, 115, released(&[])));
        stored
            .events
            .push(event(Kind::Released, 12, "ann", &["q"], Some(Writing), 5, 115));
    };
    assert_eq!(
        with(&|_, stored| stored.events.push(reservation("bob", &["q"], 115))),
        Rule::Reservation,
        "ann has it"
    );
    assert_eq!(
        with(&|operations, stored| {
            adds_release(operations, stored);
            stored.events.push(reservation("eve", &["q"], 115));
        }),
        Rule::Reservation,
        "eve does not wait"
    );
    assert_eq!(
        with(&|operations, stored| {
            adds_release(operations, stored);
            stored.events.push(reservation("dan", &["q"], 115));
        }),
        Rule::Overtaken,
        "bob has waited longer"
    );
    assert_eq!(
        with(&|operations, stored| {
            adds_release(operations, stored);
            stored.events.push(reservation("bob", &["q"], 115));
            stored.events.push(reservation("dan", &["q"], 115));
        }),
        Rule::Reservation,
        "one of two"
    );
}
