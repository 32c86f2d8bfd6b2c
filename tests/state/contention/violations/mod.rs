//! The judge and the search can fail: a history with each kind of violation, beside one without.

mod searched;
mod verdicts;

use std::collections::{BTreeMap, BTreeSet};

use coord_test_support::history::judge::{Rules, Tally, judge};
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
    let at = |tick| Moment {
        tick,
        millisecond: second * 1000,
    };
    Operation {
        id,
        holder: holder(user),
        branch: "main".to_owned(),
        files: files(names),
        act,
        abandon: false,
        invoked: at(id * 1000),
        returned: answer.is_some().then_some(at(id * 1000 + 500)),
        answer,
    }
}

/// The event of an operation, at its time.
fn event(kind: Kind, of: &Operation, mode: Option<Mode>, token: i64) -> Event {
    Event {
        kind,
        time: of.invoked.millisecond,
        holder: of.holder.clone(),
        branch: of.branch.clone(),
        mode,
        message: message_of(of.id),
        token,
        expiry: of.invoked.millisecond + TTL * 1000,
        files: of.files.clone(),
        reason: String::new(),
        conflicts: Vec::new(),
    }
}

fn granted(names: &[&str], mode: Mode, token: i64, time: i64) -> Option<Answer> {
    let held = Held {
        mode,
        token,
        expiry: time + TTL,
    };
    let held = names.iter().map(|name| ((*name).to_owned(), held));
    Some(Answer::Granted(held.collect()))
}

fn refused(code: &str) -> Option<Answer> {
    Some(Answer::Refused(code.to_owned()))
}

fn conflict() -> Option<Answer> {
    refused("LOCK_CONFLICT")
}

fn released(missing: &[&str]) -> Option<Answer> {
    Some(Answer::Released(NotHeld {
        missing: files(missing).into_iter().collect(),
        ..NotHeld::default()
    }))
}

/// All operations, and the store at the end.
#[derive(Default)]
struct History {
    operations: Vec<Operation>,
    stored: Stored,
}

impl History {
    /// A true history, to be bent: ann writes a and b; bob is refused b; ann releases b; bob writes b and reads c; cat
    /// reads c; ann's a expires; cat looks at c; bob, too late, releases a.
    fn true_one() -> History {
        use Mode::{Reading, Writing};
        let mut history = History::default();
        history.grant(1, "ann", &["a", "b"], Writing, 1, 100);
        history.conflict(2, "bob", "b", 101);
        history.release(3, "ann", "b", 1, 102);
        history.grant(4, "bob", &["b"], Writing, 2, 103);
        history.grant(5, "bob", &["c"], Reading, 3, 104);
        history.grant(6, "cat", &["c"], Reading, 4, 105);
        let Some(Answer::Granted(held)) = granted(&["c"], Reading, 4, 105) else {
            unreachable!()
        };
        let others = BTreeMap::from([("c".to_owned(), BTreeSet::from([(holder("bob"), Reading)]))]);
        history.operations.extend([
            operation(7, "cat", &["c"], Act::Check, 111, Some(Answer::Seen { held, others })),
            operation(8, "bob", &["a"], Act::Release, 111, released(&["a"])),
            operation(9, "cat", &["c"], Act::Release, 112, None),
        ]);
        history.stored.events.push(Event {
            time: 110_001,
            files: files(&["a"]),
            ..event(Kind::Expired, &history.operations[0], Some(Writing), 1)
        });
        history.hold(4, "bob", "b", Writing, 2, 103);
        history.hold(5, "bob", "c", Reading, 3, 104);
        history.hold(6, "cat", "c", Reading, 4, 105);
        history
    }

    /// A claim that is granted, with its event.
    fn grant(&mut self, id: u64, user: &str, names: &[&str], mode: Mode, token: i64, second: i64) {
        let answer = granted(names, mode, token, second);
        let claim = operation(id, user, names, Act::Claim(mode), second, answer);
        self.stored.events.push(event(Kind::Granted, &claim, Some(mode), token));
        self.operations.push(claim);
    }

    /// A claim to write that is refused because of the file itself, with its event.
    fn conflict(&mut self, id: u64, user: &str, name: &str, second: i64) {
        let claim = operation(id, user, &[name], Act::Claim(Mode::Writing), second, conflict());
        self.refuse(claim, "CONFLICT", &[name]);
    }

    /// A refused operation, with its event.
    fn refuse(&mut self, operation: Operation, reason: &str, conflicts: &[&str]) {
        let mode = match operation.act {
            Act::Claim(mode) => Some(mode),
            Act::Release | Act::Check => None,
        };
        self.stored.events.push(Event {
            reason: reason.to_owned(),
            conflicts: files(conflicts),
            ..event(Kind::Refused, &operation, mode, 0)
        });
        self.operations.push(operation);
    }

    /// The release of a written file, with its event.
    fn release(&mut self, id: u64, user: &str, name: &str, token: i64, second: i64) {
        let release = operation(id, user, &[name], Act::Release, second, released(&[]));
        let event = event(Kind::Released, &release, Some(Mode::Writing), token);
        self.stored.events.push(event);
        self.operations.push(release);
    }

    /// A lock in the store, which has the newest token.
    fn hold(&mut self, id: u64, user: &str, name: &str, mode: Mode, token: i64, second: i64) {
        let place = ("main".to_owned(), name.to_owned());
        self.stored.locks.entry(place).or_default().push(Entry {
            holder: holder(user),
            mode,
            token,
            timestamp: second,
            expiry: (second + TTL) * 1000,
            message: message_of(id),
        });
        self.stored.expiries.entry(name.to_owned()).or_insert(second + TTL);
        self.stored.token = token;
    }

    fn judge(&self) -> Result<Tally, Rule> {
        let neighbors =
            [("b", "n"), ("n", "b")].map(|(one, other)| (one.to_owned(), BTreeSet::from([other.to_owned()])));
        let rules = Rules {
            neighbors: BTreeMap::from(neighbors),
            shared: BTreeSet::from(["s".to_owned()]),
            ttls: BTreeSet::from([TTL]),
        };
        judge(&self.operations, &self.stored, &rules).map_err(|violation| violation.rule)
    }
}

/// The verdict on the true history once it is bent.
fn bent(bend: impl FnOnce(&mut History)) -> Result<(), Rule> {
    let mut history = History::true_one();
    bend(&mut history);
    history.judge().map(drop)
}

type Bend = fn(&mut History);

/// Bent in each of these ways, the true history breaks the rule.
#[track_caller]
fn assert_broken(cases: &[(Rule, &str, Bend)]) {
    for (rule, case, bend) in cases {
        assert_eq!(bent(bend), Err(*rule), "{case}");
    }
}
