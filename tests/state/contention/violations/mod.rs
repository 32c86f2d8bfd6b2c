//! The judge and the search can fail: a history with each kind of violation, beside one without.

mod searched;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

use coord_test_support::history::judge::{Rules, judge};
use coord_test_support::history::log::{Entry, Event, Kind, Stored};
use coord_test_support::history::operation::{Act, Answer, Held, Holder, Mode, Moment, NotHeld, Operation, message_of};
use coord_test_support::history::rule::Rule;

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

/// A true history, to be bent: ann writes a and b; bob is refused b; ann releases b; bob writes b and reads c; cat
/// reads c; ann's a expires; cat looks at c; bob, too late, releases a.
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
        shared: BTreeSet::from(["s".to_owned()]),
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
