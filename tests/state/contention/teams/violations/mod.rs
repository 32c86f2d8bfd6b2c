//! The violations that the judge of teams, and the check of an instant, have to find.

mod members;

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::acts::{Act, Ask, Inboxes, Named, Reply, Wanted};
use super::judge::judge;
use super::stored::Stored;

/// The object with other members.
fn with(object: &Json, members: &Json) -> Json {
    let mut object = object.clone();
    object
        .as_object_mut()
        .unwrap()
        .extend(members.as_object().unwrap().clone());
    object
}

fn ask(handle: &str, mark: usize, act: Act, reply: Reply) -> Ask {
    Ask {
        handle: handle.to_owned(),
        mark,
        act,
        reply,
    }
}

/// An update that changes nothing but the title.
fn update(id: &str, clears: bool) -> Act {
    Act::Update {
        id: id.to_owned(),
        dependencies: None,
        blocks: None,
        clears,
    }
}

fn done() -> Reply {
    Reply::Done(json!({}))
}

fn refused(code: &str) -> Reply {
    Reply::Refused(code.to_owned())
}

/// `t1`, and `t2` that depends on it: `h0` has made them, claimed and completed `t1`; `h1` has claimed `t2`, and the
/// claim has expired; a message.
fn history() -> (Vec<Ask>, Inboxes, Stored) {
    let t1 = json!({ "task": "t1", "title": "m1.0", "handle": "h0", "token": 1 });
    let t2 = json!({ "task": "t2", "title": "m1.1", "handle": "h1", "token": 2 });
    let events = [
        ("task_created", json!({ "tasks": ["t1", "t2"], "task_count": 2 })),
        ("task_claimed", t1.clone()),
        ("task_completed", t1),
        (
            "task_unblocked",
            json!({ "task": "t1", "tasks": ["t2"], "task_count": 1 }),
        ),
        ("task_claimed", t2.clone()),
        ("task_lapsed", t2),
        (
            "message_sent",
            json!({ "number": 1, "from": "h0", "to": "h1", "recipients": ["h1"] }),
        ),
    ];
    let event = |(kind, more): (&str, Json)| with(&json!({ "type": kind, "team": "alpha", "handle": "h0" }), &more);
    let task = json!({ "priority": "normal", "created": 1, "by": "h0" });
    let t1 = json!({ "number": 1, "status": "completed", "title": "m1.0", "owner": "h0", "token": 1 });
    let t2 = json!({ "number": 2, "status": "in_progress", "title": "m1.1", "had": "h1", "lapses": 1 });
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    let stored = Stored {
        now_ms: 1000,
        tasks: [("t1", t1), ("t2", t2)]
            .map(|(id, more)| (id.to_owned(), with(&task, &more)))
            .into(),
        edges: texts(&["d t2 t1", "b t1 t2", "d t1 !", "b t1 !"]),
        ready: BTreeMap::from([("t2".to_owned(), 10_000_000_002)]),
        order: BTreeMap::from([("t1".to_owned(), 1), ("t2".to_owned(), 2)]),
        done: texts(&["t1"]),
        members: ["h0", "h1"]
            .map(|name| (name.to_owned(), json!({ "claims": "" })))
            .into(),
        member_count: 2,
        leader: "h0".to_owned(),
        sequence: 1,
        counts: (1, 1),
        mail: texts(&["=h1 000000000001 1"]),
        bodies: BTreeMap::from([(1, "hello".to_owned())]),
        events: events.map(event).into(),
        ..Stored::default()
    };
    let taken = |id: &str, token: i64| Reply::Done(json!({ "task": { "id": id, "lease": { "token": token } } }));
    let second = Wanted {
        dependencies: vec![Named::New(0)],
        ..Wanted::default()
    };
    let created = Reply::Done(json!({ "ids": ["t1", "t2"] }));
    let asks = vec![
        ask("h0", 1, Act::Create(vec![Wanted::default(), second]), created),
        ask("h0", 2, Act::Take { with_files: false }, taken("t1", 1)),
        ask("h0", 3, Act::Complete("t1".to_owned()), done()),
        ask("h1", 4, Act::Take { with_files: false }, Reply::Unanswered),
        ask("h0", 5, Act::Send("hello".to_owned()), Reply::Done(json!({ "id": 1 }))),
    ];
    let inboxes = Inboxes::from([
        ("h0".to_owned(), vec![]),
        ("h1".to_owned(), vec![(1, "hello".to_owned())]),
    ]);
    (asks, inboxes, stored)
}

fn team_changed(change: &str, handle: &str, user: &str) -> Json {
    json!({ "type": "team_changed", "change": change, "handle": handle, "user": user })
}

/// Returns the verdict on a history of a team that `h0` has made, and that `h1` has joined.
fn verdict((asks, inboxes, mut stored): (Vec<Ask>, Inboxes, Stored)) -> String {
    let begun = [("created", "h0", "user-0"), ("joined", "h1", "user-1")];
    let begun = begun.map(|(change, handle, user)| team_changed(change, handle, user));
    stored.events.splice(..0, begun);
    judge(&asks, &inboxes, &stored).err().unwrap_or_default()
}

/// Returns the verdict on this history, once it is changed.
fn verdict_on(change: impl FnOnce(&mut Vec<Ask>, &mut Inboxes, &mut Stored)) -> String {
    let (mut asks, mut inboxes, mut stored) = history();
    change(&mut asks, &mut inboxes, &mut stored);
    verdict((asks, inboxes, stored))
}

#[test]
fn valid_values_pass() {
    assert_eq!(verdict_on(|_, _, _| ()), "");
}

#[test]
fn each_event_that_cannot_be_is_named() {
    type Change = fn(&mut Vec<Json>);
    let cases: [(&str, Change); 13] = [
        ("has it", |events| {
            (events[5]["type"], events[5]["token"]) = (json!("task_claimed"), json!(3));
        }),
        ("a token of before", |events| events[4]["token"] = json!(1)),
        ("cannot be claimed any more", |events| {
            (events[4]["task"], events[4]["title"]) = (json!("t1"), json!("m1.0"));
        }),
        ("h0\") had it", |events| {
            events.insert(
                2,
                json!({ "type": "task_released", "task": "t1", "title": "m1.0", "handle": "h1" }),
            );
        }),
        ("was never claimed", |events| drop(events.remove(1))),
        ("no event tells of it", |events| drop(events.remove(3))),
        ("due is", |events| events[3]["tasks"] = json!(["t1"])),
        ("due is None", |events| events.insert(4, events[3].clone())),
        ("was there before", |events| events.insert(1, events[0].clone())),
        ("has it", |events| events[2]["handle"] = json!("h1")),
        ("message 1 is next", |events| events[6]["number"] = json!(2)),
        ("no event of a team", |events| events[6]["type"] = json!("graph_update")),
        ("there is no task", |events| {
            events.insert(
                4,
                json!({ "type": "task_deleted", "task": "t2", "title": "m1.1", "handle": "h0" }),
            );
        }),
    ];
    for (expected, change) in cases {
        let verdict = verdict_on(|_, _, stored| change(&mut stored.events));
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
}

#[test]
fn an_answer_or_an_inbox_that_differs_from_the_events_is_named() {
    type Change = fn(&mut Vec<Ask>, &mut Inboxes);
    let cases: [(&str, Change); 12] = [
        ("it was refused with CIRCULAR", |asks, _| {
            asks[0].reply = refused("CIRCULAR");
        }),
        ("no event tells of these tasks", |asks, _| {
            asks[0].reply = Reply::Done(json!({ "ids": ["t1"] }));
        }),
        ("asked for 1 tasks", |asks, _| {
            asks[0].act = Act::Create(vec![Wanted::default()]);
        }),
        ("no event tells of this claim", |asks, _| {
            asks[1].handle = "h1".to_owned();
        }),
        ("has not asked for it", |asks, _| asks[3].reply = refused("NO_TASK")),
        ("no event tells of this completion", |asks, _| {
            asks[2].act = Act::Complete("t2".to_owned());
        }),
        ("no event tells of this message", |asks, _| {
            asks[4].act = Act::Send("bye".to_owned());
        }),
        ("this message was sent", |asks, _| {
            asks[4].reply = refused("INBOX_FULL");
        }),
        ("no event tells of this change", |asks, _| {
            asks.push(ask("h0", 6, update("t1", false), done()));
        }),
        ("h1 got []", |_, inboxes| drop(inboxes.insert("h1".to_owned(), vec![]))),
        ("h1 got [1, 1]", |_, inboxes| {
            let inbox = inboxes.get_mut("h1").unwrap();
            inbox.push(inbox[0].clone());
        }),
        ("h0 got [1]", |_, inboxes| {
            drop(inboxes.insert("h0".to_owned(), vec![(1, "hello".to_owned())]));
        }),
    ];
    for (expected, change) in cases {
        let verdict = verdict_on(|asks, inboxes, _| change(asks, inboxes));
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
}

/// A lock of `h1` on the file of `task`.
fn lock(task: &str) -> Json {
    json!({
        "branch": "main", "status": "WRITING", "user_id": "user-1", "task": format!("alpha/{task}"), "expiry_ms": 2000,
    })
}

/// `h1` has `t2` with its file.
fn is_out(stored: &mut Stored) {
    let claim =
        json!({ "owner": "h1", "login": "user-1", "expires": 2000, "locked": "main", "files": ["src/part0.ts"] });
    let task = with(&stored.tasks["t2"], &claim);
    stored.tasks.insert("t2".to_owned(), task);
    stored.leases.insert("t2".to_owned(), 2000);
    stored.ready.clear();
    stored.members.insert("h1".to_owned(), json!({ "claims": "t2" }));
}

#[test]
fn a_claim_that_has_its_files_is_not_objected_to() {
    let (_, _, mut stored) = history();
    is_out(&mut stored);
    stored.locks.insert("src/part0.ts".to_owned(), vec![lock("t2")]);
    assert_eq!(stored.check(), Ok(()));
}

/// The same history, in which `h0` claims `t1` with two files, and completes it once they are pushed.
fn with_files() -> (Vec<Ask>, Inboxes, Stored) {
    let (mut asks, inboxes, mut stored) = history();
    let files = ["src/part0.ts", "src/part1.ts"];
    let Act::Create(wanted) = &mut asks[0].act else {
        unreachable!()
    };
    wanted[0].files = files.map(str::to_owned).to_vec();
    asks[1].act = Act::Take { with_files: true };
    let Reply::Done(answer) = &mut asks[1].reply else {
        unreachable!()
    };
    answer["locks"] = json!({ files[0]: {}, files[1]: {} });
    let locks = |kind: &str| json!({ "type": kind, "user": "user-0", "message": "t1: m1.0", "files": files });
    stored.events.insert(2, locks("lock_released"));
    stored.events.insert(1, locks("lock_granted"));
    (asks, inboxes, stored)
}

#[test]
fn files_that_are_not_claimed_with_their_task_are_named() {
    let verdict_on = |change: fn(&mut Vec<Ask>, &mut Vec<Json>)| {
        let (mut asks, inboxes, mut stored) = with_files();
        change(&mut asks, &mut stored.events);
        verdict((asks, inboxes, stored))
    };
    assert_eq!(verdict_on(|_, _| ()), "");
    type Change = fn(&mut Vec<Ask>, &mut Vec<Json>);
    let cases: [(&str, Change); 8] = [
        ("were claimed without it", |_, events| drop(events.remove(2))),
        ("of the files", |_, events| {
            events[1]["files"] = json!(["src/part0.ts"]);
        }),
        ("user-0 has src/part0.ts", |_, events| {
            events.insert(2, events[1].clone());
        }),
        ("None has src/part0.ts", |_, events| events.insert(4, events[3].clone())),
        ("has src/part0.ts", |_, events| events[3]["user"] = json!("user-1")),
        ("which is h0's", |_, events| {
            for place in [1, 3] {
                events[place]["user"] = json!("user-1");
            }
        }),
        ("not claimed as answered", |asks, _| {
            asks[1].act = Act::Take { with_files: false };
        }),
        ("not claimed as answered", |_, events| {
            events.remove(3);
            events.remove(1);
        }),
    ];
    for (expected, change) in cases {
        let verdict = verdict_on(change);
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
}

#[test]
fn a_store_that_cannot_be_is_named() {
    type Change = fn(&mut Stored);
    let cases: [(&str, Change); 26] = [
        ("2 members are counted 3", |stored| stored.member_count = 3),
        ("leads, and is not a member", |stored| stored.leader = "h9".to_owned()),
        ("h9 has an inbox, and is not a member", |stored| {
            stored.mail.insert("=h9 000000000001 1".to_owned());
        }),
        ("h9 owns t2, and is not a member", |stored| {
            is_out(stored);
            let task = stored.tasks.get_mut("t2").unwrap();
            (task["owner"], task["files"]) = (json!("h9"), json!([]));
        }),
        ("there from one end", |stored| {
            stored.edges.remove("b t1 t2");
        }),
        ("is of no task", |stored| {
            stored.edges.insert("d t9 t1".to_owned());
        }),
        ("its marks in the edges", |stored| {
            stored.edges.remove("d t1 !");
        }),
        ("is marked as completed", |stored| {
            stored.edges.insert("d t2 !".to_owned());
        }),
        ("and counts 1", |stored| {
            stored.unmet.insert("t2".to_owned(), 1);
        }),
        ("a ring of dependencies", |stored| {
            stored.edges.extend(["d t2 t2".to_owned(), "b t2 t2".to_owned()]);
            stored.unmet.insert("t2".to_owned(), 1);
        }),
        ("ready tasks", |stored| stored.ready.clear()),
        ("ready tasks", |stored| {
            stored.ready.insert("t2".to_owned(), 2);
        }),
        ("claims", |stored| {
            stored.leases.insert("t2".to_owned(), 5);
        }),
        ("the order", |stored| {
            stored.order.remove("t1");
        }),
        ("completed tasks", |stored| stored.done.clear()),
        ("counts", |stored| stored.counts.0 = 2),
        ("inboxes have the messages", |stored| stored.bodies.clear()),
        ("is out with src/part0.ts, whose locks are []", is_out),
        ("is out with src/part0.ts, whose locks are [Object", |stored| {
            is_out(stored);
            stored.locks.insert("src/part0.ts".to_owned(), vec![lock("t9")]);
        }),
        ("t1 and t2 are out with src/part0.ts", |stored| {
            is_out(stored);
            stored.locks.insert("src/part0.ts".to_owned(), vec![lock("t1")]);
            stored.tasks.insert("t1".to_owned(), stored.tasks["t2"].clone());
        }),
        ("the store has locks on", |stored| {
            stored.locks.insert("src/part0.ts".to_owned(), vec![lock("t2")]);
        }),
        ("and has the claims", |stored| {
            let task = stored.tasks.get_mut("t2").unwrap();
            (task["owner"], task["expires"]) = (json!("h1"), json!(2000));
            stored.leases.insert("t2".to_owned(), 2000);
            stored.ready.clear();
        }),
        ("the events say t2", |stored| {
            stored.tasks.get_mut("t2").unwrap()["lapses"] = json!(2);
        }),
        ("the requests said", |stored| {
            stored.edges.retain(|edge| edge.ends_with('!'));
        }),
        ("the store counts 2 messages", |stored| stored.sequence = 2),
        ("the store has the tasks", |stored| {
            stored.tasks.insert(
                "t3".to_owned(),
                json!({ "number": 3, "priority": "low", "status": "pending" }),
            );
            stored.ready.insert("t3".to_owned(), 20_000_000_003);
            stored.order.insert("t3".to_owned(), 3);
            stored.counts.0 = 2;
        }),
    ];
    for (expected, change) in cases {
        let verdict = verdict_on(|_, _, stored| change(stored));
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
}

#[test]
fn an_instant_that_cannot_follow_is_named() {
    let (_, _, before) = history();
    assert_eq!(before.follows(&before), Ok(()));
    type Change = fn(&mut Stored);
    let cases: [(&str, Change); 5] = [
        ("the team is gone", |stored| stored.leader.clear()),
        ("went from", |stored| {
            stored.tasks.get_mut("t2").unwrap()["status"] = json!("pending");
        }),
        ("was completed twice", |stored| {
            stored.tasks.get_mut("t1").unwrap()["owner"] = json!("h1");
        }),
        ("and is", |stored| {
            stored.tasks.get_mut("t1").unwrap()["number"] = json!(7);
        }),
        ("messages after", |stored| stored.sequence = 0),
    ];
    for (expected, change) in cases {
        let mut after = before.clone();
        change(&mut after);
        let verdict = after.follows(&before).unwrap_err();
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
}
