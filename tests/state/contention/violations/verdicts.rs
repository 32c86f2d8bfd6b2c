//! The judge passes a true history, and sees each way in which one may be false.

use coord_test_support::history::log::{Event, Kind};
use coord_test_support::history::operation::Mode::{Reading, Writing};
use coord_test_support::history::operation::{Act, Answer, Moment, NotHeld};
use coord_test_support::history::rule::Rule;

use super::{History, assert_broken, bent, conflict, event, files, granted, holder, operation, refused, released};

const CLAIM: Act = Act::Claim(Writing);

#[test]
fn the_judge_passes_a_true_history() {
    let tally = History::true_one().judge().expect("true");
    assert_eq!(
        (tally.grants, tally.conflicts, tally.releases, tally.expiries),
        (4, 1, 1, 1)
    );
    assert_eq!((tally.checks, tally.unanswered, tally.unanswered_but_done), (1, 1, 0));
}

#[test]
fn the_judge_sees_two_holders_where_there_may_be_one() {
    assert_broken(&[
        (Rule::TwoWriters, "b has two writers", |history| {
            history.grant(10, "cat", &["b"], Writing, 5, 112);
        }),
        (Rule::WriterWithReader, "b is read", |history| {
            history.grant(10, "cat", &["b"], Reading, 5, 112);
        }),
        (Rule::WriterWithReader, "c is written", |history| {
            history.grant(10, "dan", &["c"], Writing, 5, 112);
        }),
        (Rule::WrittenNeighbor, "a neighbor of b is written", |history| {
            history.grant(10, "cat", &["n"], Writing, 5, 112);
        }),
    ]);
}

#[test]
fn the_judge_allows_two_writers_of_a_shared_file_and_finds_a_refused_one() {
    let two_writers = bent(|history| {
        for (id, user, token) in [(20, "cat", 5), (21, "dan", 6)] {
            history.grant(id, user, &["s"], Writing, token, 112);
            history.hold(id, user, "s", Writing, token, 112);
        }
    });
    assert_eq!(two_writers, Ok(()));
    let refused = bent(|history| history.conflict(22, "eve", "s", 112));
    assert_eq!(refused, Err(Rule::UnfoundedRefusal));
}

#[test]
fn the_judge_sees_a_claim_that_is_not_whole() {
    assert_broken(&[
        (Rule::PartialClaim, "e was claimed too", |history| {
            history.grant(10, "dan", &["d"], Writing, 5, 112);
            history.operations[9].files.push("e".to_owned());
            history.hold(10, "dan", "d", Writing, 5, 112);
        }),
        (Rule::PartialClaim, "b was granted twice", |history| {
            history.stored.events.push(Event {
                token: 5,
                time: 111_000,
                expiry: 121_000,
                ..history.stored.events[3].clone()
            });
        }),
    ]);
}

#[test]
fn the_judge_sees_a_lock_taken_from_its_holder() {
    assert_broken(&[
        (Rule::AnswerAndLog, "the request was cat's", |history| {
            history.stored.events[5].holder = holder("dan");
        }),
        (Rule::NotTheHolder, "bob releases ann's b", |history| {
            history.operations[2].holder = holder("bob");
            history.stored.events[2].holder = holder("bob");
        }),
        (Rule::NotTheHolder, "dan renews cat's c", |history| {
            let renewal = operation(6, "dan", &["c"], Act::Claim(Reading), 111, None);
            let event = event(Kind::Renewed, &renewal, Some(Reading), 4);
            history.stored.events.push(event);
        }),
        (Rule::ImpossibleAnswer, "b is not gone: bob writes it", |history| {
            let release = operation(10, "dan", &["b"], Act::Release, 112, released(&["b"]));
            history.operations.push(release);
        }),
    ]);
}

#[test]
fn the_judge_sees_tokens_that_do_not_grow() {
    assert_broken(&[
        (Rule::TokenOrder, "the one before", |history| {
            history.stored.events[4].token = 2;
        }),
        (Rule::TokenOrder, "the first", |history| {
            history.stored.events[3].token = 1;
        }),
        (Rule::TokenOrder, "a renewal with another", |history| {
            history.stored.events.push(Event {
                kind: Kind::Renewed,
                token: 9,
                time: 111_000,
                expiry: 121_000,
                ..history.stored.events[5].clone()
            });
        }),
    ]);
}

#[test]
fn the_judge_sees_a_lock_that_ends_too_soon_or_too_late() {
    assert_broken(&[
        (
            Rule::Expiry,
            "announced in the last millisecond of its time",
            |history| {
                history.stored.events[6].time = 110_000;
            },
        ),
        (Rule::Expiry, "released when it was free", |history| {
            history.stored.events.push(Event {
                kind: Kind::Released,
                time: 113_001,
                ..history.stored.events[3].clone()
            });
        }),
        (Rule::Expiry, "held for longer than it may be", |history| {
            history.stored.events[3].expiry = 200_000;
        }),
        (
            Rule::Expiry,
            "a millisecond shorter than it was claimed for",
            |history| {
                history.stored.events[3].expiry -= 1;
            },
        ),
    ]);
}

#[test]
fn the_judge_sees_a_holder_who_may_not_renew_because_it_is_behind() {
    let behind = |names: &[&str]| {
        bent(|history| {
            let claim = operation(10, "bob", names, CLAIM, 112, refused("STALE_HEAD"));
            history.refuse(claim, "STALE", &[]);
        })
    };
    assert_eq!(behind(&["b"]), Err(Rule::UnfoundedRefusal));
    assert_eq!(behind(&["b", "new"]), Ok(()), "a new file is refused");
}

#[test]
fn the_judge_knows_which_files_were_released_before() {
    // ann releases b once more, while bob already writes it.
    let release = |names: &[&str], answer| operation(10, "ann", names, Act::Release, 112, answer);
    let again = bent(|history| history.operations.push(release(&["b"], released(&[]))));
    assert_eq!(again, Ok(()), "the same answer to the same request");
    let never_released = bent(|history| {
        let answer = Answer::Released(NotHeld {
            again: files(&["b", "z"]).into_iter().collect(),
            ..NotHeld::default()
        });
        history.operations.push(release(&["b", "z"], Some(answer)));
    });
    assert_eq!(never_released, Err(Rule::ImpossibleAnswer), "z");
    let lost = bent(|history| history.refuse(release(&["b", "z"], refused("LOCK_LOST")), "LOST", &["z"]));
    assert_eq!(lost, Err(Rule::UnfoundedRefusal), "nobody writes z");
}

#[test]
fn the_judge_sees_a_refusal_without_a_reason() {
    assert_broken(&[
        (Rule::UnfoundedRefusal, "without a conflict", |history| {
            history.stored.events[1].conflicts.clear();
        }),
        (Rule::Clock, "too late", |history| history.stored.events.swap(1, 2)),
        (Rule::UnfoundedRefusal, "a free file", |history| {
            history.operations[1].files = files(&["z"]);
            history.stored.events[1].files = files(&["z"]);
            history.stored.events[1].conflicts = files(&["z"]);
        }),
    ]);
}

#[test]
fn the_judge_sees_answers_and_events_that_do_not_belong_together() {
    assert_broken(&[
        (Rule::AnswerAndLog, "a refusal without its event", |history| {
            history.stored.events.remove(1);
        }),
        (Rule::AnswerAndLog, "a refusal with two events", |history| {
            history.stored.events.insert(1, history.stored.events[1].clone());
        }),
        (Rule::AnswerAndLog, "an event of no request", |history| {
            history.operations.remove(4);
        }),
        (Rule::AnswerAndLog, "another token", |history| {
            history.operations[4].answer = granted(&["c"], Reading, 7, 104);
        }),
        (Rule::AnswerAndLog, "refused, but done", |history| {
            history.operations[4].answer = conflict();
        }),
        (Rule::AnswerAndLog, "not held, but released", |history| {
            history.operations[2].answer = released(&["b"]);
        }),
    ]);
}

#[test]
fn the_judge_sees_a_check_that_was_never_true() {
    assert_broken(&[
        (Rule::ImpossibleAnswer, "blind", |history| {
            let (held, others) = Default::default();
            history.operations[6].answer = Some(Answer::Seen { held, others });
        }),
        // Cat's answer became true only after the check had returned.
        (Rule::ImpossibleAnswer, "from the future", |history| {
            let at = |tick| Moment {
                tick,
                millisecond: 102_000,
            };
            history.operations[6].invoked = at(1600);
            history.operations[6].returned = Some(at(1700));
        }),
    ]);
}

#[test]
fn the_judge_sees_an_order_against_real_time() {
    assert_broken(&[
        // The log has bob's claim on c before cat's, but cat's had been answered before bob asked.
        (Rule::RealTime, "swapped", |history| {
            history.operations[5].invoked.tick = 4600;
            history.operations[5].returned = Some(Moment {
                tick: 4700,
                millisecond: 105_000,
            });
        }),
        (Rule::Clock, "done before it was asked", |history| {
            history.operations[4].invoked.millisecond = 104_001;
        }),
    ]);
}

#[test]
fn the_judge_finds_a_store_that_contradicts_the_log() {
    assert_broken(&[
        (Rule::FinalState, "a lock is missing", |history| {
            history.stored.locks.pop_first();
        }),
        (Rule::FinalState, "an expiry was not announced", |history| {
            history.stored.events.pop();
        }),
        (Rule::FinalState, "another token", |history| history.stored.token = 9),
        (Rule::FinalState, "an expiry is missing", |history| {
            history.stored.expiries.pop_first();
        }),
    ]);
}

/// The verdict on the true history, and: ann writes q, bob is refused it each nine seconds until `last`, ann releases q
/// a second later, and q is reserved for bob if `is_reserved`; then dan claims q in second `second`, and is granted it
/// or not.
fn dan_after_bob(last: i64, is_reserved: bool, second: i64, is_granted: bool) -> Result<(), Rule> {
    bent(|history| {
        let ids = &mut (10..);
        let mut id = || ids.next().expect("a number");
        for time in (112..last).step_by(9) {
            history.grant(id(), "ann", &["q"], Writing, 5, time);
            if time > 112 {
                history.stored.events.last_mut().expect("the claim").kind = Kind::Renewed;
            }
            history.conflict(id(), "bob", "q", time + 1);
        }
        history.release(id(), "ann", "q", 5, last + 1);
        if is_reserved {
            history.stored.events.push(reservation("bob", last + 1));
        }
        history.stored.token = 5;
        let dan = id();
        if is_granted {
            history.grant(dan, "dan", &["q"], Writing, 6, second);
            history.hold(dan, "dan", "q", Writing, 6, second);
        } else {
            history.conflict(dan, "dan", "q", second);
        }
    })
}

/// q is reserved for a claim of `user` to write it.
fn reservation(user: &str, second: i64) -> Event {
    let claim = operation(20, user, &["q"], CLAIM, second, None);
    Event {
        expiry: (second + 20) * 1000,
        ..event(Kind::Reserved, &claim, Some(Writing), 0)
    }
}

#[test]
fn the_judge_sees_a_reservation_that_is_taken_and_a_free_file_that_is_refused() {
    // A reservation lasts 20 seconds.
    assert_eq!(dan_after_bob(113, true, 116, true), Err(Rule::Overtaken));
    assert_eq!(dan_after_bob(113, true, 134, true), Err(Rule::Overtaken));
    assert_eq!(dan_after_bob(113, true, 135, true), Ok(()));
    assert_eq!(dan_after_bob(113, true, 116, false), Ok(()));
    assert_eq!(dan_after_bob(113, true, 134, false), Ok(()));
    assert_eq!(dan_after_bob(113, true, 135, false), Err(Rule::UnfoundedRefusal));
    // A ticket refuses no free file, unless it was overtaken for long enough.
    assert_eq!(dan_after_bob(113, false, 116, true), Ok(()));
    assert_eq!(dan_after_bob(113, false, 116, false), Err(Rule::UnfoundedRefusal));
    let after = |turns: i64| dan_after_bob(113 + turns * 9, false, 115 + turns * 9, false);
    assert_eq!(after(19), Err(Rule::UnfoundedRefusal));
    assert_eq!(after(21), Ok(()));
}

#[test]
fn the_judge_sees_a_reservation_that_may_not_be() {
    fn two_wait(history: &mut History) {
        history.grant(10, "ann", &["q"], Writing, 5, 112);
        history.conflict(20, "bob", "q", 113);
        history.conflict(21, "dan", "q", 114);
    }
    fn reserve_after_release(history: &mut History, users: &[&str]) {
        two_wait(history);
        history.release(12, "ann", "q", 5, 115);
        let reservations = users.iter().map(|user| reservation(user, 115));
        history.stored.events.extend(reservations);
    }
    assert_broken(&[
        (Rule::Reservation, "ann has it", |history| {
            two_wait(history);
            history.stored.events.push(reservation("bob", 115));
        }),
        (Rule::Reservation, "eve does not wait", |history| {
            reserve_after_release(history, &["eve"]);
        }),
        (Rule::Overtaken, "bob has waited longer", |history| {
            reserve_after_release(history, &["dan"]);
        }),
        (Rule::Reservation, "one of two", |history| {
            reserve_after_release(history, &["bob", "dan"]);
        }),
    ]);
}
