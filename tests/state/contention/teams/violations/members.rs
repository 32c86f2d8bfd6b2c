//! The same about who is in the team, who leads it, who is to stop, and what they are sent.

use serde_json::{Value as Json, json};

use super::super::acts::{Act, Ask, Reply};
use super::{ask, done, refused, team_changed, update, verdict_on, with};

fn shutdown(state: &str, target: Option<&str>, handle: &str, time: i64) -> Json {
    json!({
        "type": "shutdown_changed", "shutdown": "s1", "state": state, "target": target, "handle": handle, "time": time,
    })
}

/// A shutdown of `h1` alone, in second 1.
fn of_one(state: &str, handle: &str) -> Json {
    shutdown(state, Some("h1"), handle, 1)
}

/// A shutdown of all, in second 1.
fn of_all(state: &str, handle: &str) -> Json {
    shutdown(state, None, handle, 1)
}

/// `handle` ends the shutdown of `h1` by force, in second `time`.
fn forced(handle: &str, time: i64) -> Json {
    shutdown("forced", Some("h1"), handle, time)
}

fn left() -> Json {
    team_changed("left", "h1", "user-1")
}

fn joined() -> Json {
    team_changed("joined", "h1", "user-1")
}

/// `h1` says that it has left.
fn leave(reply: Reply) -> Ask {
    ask("h1", 6, Act::Deed("left".to_owned()), reply)
}

/// Returns the verdict if these events come before the claim of `h1`.
fn verdict_on_events(events: impl IntoIterator<Item = Json>) -> String {
    verdict_on(|_, _, stored| drop(stored.events.splice(4..4, events)))
}

#[test]
fn a_claiming_member_that_must_stop_is_named() {
    let requested = || of_one("requested", "h0");
    let approved = || of_one("approved", "h1");
    for events in [
        vec![requested()],
        vec![requested(), approved(), approved()],
        vec![requested(), forced("h0", 2)],
        vec![of_all("requested", "h1")],
        // An approval is final.
        vec![of_all("requested", "h1"), joined()],
    ] {
        let verdict = verdict_on_events(events.clone());
        assert!(verdict.contains("is to stop"), "{events:?}: {verdict}");
    }
    for events in [
        vec![requested(), of_one("rejected_by", "h1"), of_one("rejected", "h1")],
        vec![requested(), approved(), approved(), joined()],
        vec![
            of_all("requested", "h0"),
            of_all("rejected_by", "h1"),
            of_all("rejected", "h1"),
            team_changed("joined", "h0", "user-0"),
        ],
    ] {
        assert_eq!(verdict_on_events(events.clone()), "", "{events:?}");
    }
}

#[test]
fn a_shutdown_that_cannot_be_is_named() {
    let requested = || of_one("requested", "h0");
    let of_all_requested = || of_all("requested", "h1");
    let of_nobody = shutdown("requested", Some("h9"), "h0", 1);
    let (rejected, closed) = (of_all("rejected_by", "h0"), of_all("closed", "h0"));
    let cases = [
        ("cannot be asked for", vec![of_one("approved", "h1")]),
        ("cannot be asked for", vec![of_nobody]),
        ("is open", vec![requested(), of_all("requested", "h0")]),
        // The end of that of one member names it.
        ("is open", vec![requested(), left(), of_all("approved", "h1")]),
        ("cannot end so", vec![requested(), of_one("approved", "h0")]),
        ("cannot end so", vec![requested(), of_one("rejected", "h1")]),
        // Too early, and by another one than the leader.
        ("cannot end so", vec![requested(), forced("h0", 1)]),
        ("cannot end so", vec![requested(), forced("h1", 2)]),
        ("without [\"h0\"]", vec![of_all_requested(), of_all("closed", "h1")]),
        ("without []", vec![of_all_requested(), rejected, closed]),
        (
            "is answered, and goes on",
            vec![requested(), of_one("approved", "h1"), joined()],
        ),
    ];
    for (expected, events) in cases {
        let verdict = verdict_on_events(events);
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
}

#[test]
fn members_that_cannot_be_are_named() {
    for (expected, event) in [
        ("cannot do this", team_changed("left", "h0", "user-0")),
        ("cannot do this", team_changed("left", "h1", "user-0")),
        ("cannot do this", team_changed("handed_over", "h9", "user-0")),
        ("cannot do this", team_changed("handed_over", "h0", "user-1")),
        ("cannot do this", team_changed("taken_over", "h9", "user-9")),
        ("cannot do this", team_changed("created", "h1", "user-1")),
        ("is a member, and has not stopped", joined()),
        ("h1 is not a member", left()),
        ("the store has the members", team_changed("handed_over", "h1", "user-0")),
        ("the store has the members", team_changed("joined", "h2", "user-2")),
    ] {
        let verdict = verdict_on_events([event]);
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
    assert!(verdict_on_events([left(), joined()]).contains("1 times, of which 0 to 0"));
    for (reply, expected) in [
        (Reply::Unanswered, ""),
        (done(), ""),
        (refused("LEADER_STAYS"), "of which 0"),
    ] {
        let verdict = verdict_on(|asks, _, stored| {
            asks.push(leave(reply));
            stored.events.splice(4..4, [left(), joined()]);
        });
        assert!(verdict.contains(expected), "{verdict}");
        assert_eq!(verdict.is_empty(), expected.is_empty(), "{verdict}");
    }
    assert!(verdict_on(|asks, _, _| asks.push(leave(done()))).contains("0 times, of which 1"));
}

#[test]
fn impossible_messages_about_departed_or_idle_members_are_violations() {
    let departs = |is_got: bool, is_kept: bool, is_noted: bool| {
        verdict_on(|asks, inboxes, stored| {
            asks.push(leave(Reply::Unanswered));
            stored.events.extend([left(), joined()]);
            if !is_got {
                inboxes.insert("h1".to_owned(), vec![]);
                asks.retain(|ask| is_kept || ask.mark != 5);
            }
            if !is_kept {
                stored.bodies.clear();
                stored.mail.clear();
            } else {
                stored.mail = ["- 000000000001 1".to_owned()].into();
            }
            if is_noted {
                stored.left.insert(1, vec!["h1".to_owned()]);
            }
        })
    };
    assert_eq!(departs(true, false, false), "", "it has read it, and left");
    assert_eq!(departs(false, true, true), "", "it has left without it");
    assert!(departs(false, true, false).contains("is not kept as unread by h1"));
    assert!(departs(false, false, false).contains("is not kept as unread by h1"));
    let is_gone = verdict_on(|_, _, stored| {
        stored.bodies.clear();
        stored.mail.clear();
    });
    assert!(is_gone.contains("message 1 is gone"), "{is_gone}");
    let differs = verdict_on(|_, inboxes, _| inboxes.get_mut("h1").unwrap()[0].1 = "bye".to_owned());
    assert!(differs.contains("a reader got \"bye\""), "{differs}");

    // `h1` is idle, and h0 leads.
    let idle = |leader: &str, ready: &[&str]| {
        verdict_on(|asks, inboxes, stored| {
            let reply = Reply::Done(json!({ "id": 1, "ready": ready }));
            asks[4] = ask("h1", 5, Act::Idle("hello".to_owned()), reply);
            let sent = json!({ "message_type": "idle", "from": "h1", "to": leader, "recipients": [leader] });
            stored.events[6] = with(&stored.events[6], &sent);
            let got = inboxes.insert("h1".to_owned(), vec![]).unwrap();
            inboxes.insert(leader.to_owned(), got);
        })
    };
    assert_eq!(idle("h0", &["t2"]), "");
    assert!(idle("h1", &[]).contains("h0 leads"));
    assert!(idle("h0", &["t1"]).contains("were not ready"));
}

#[test]
fn expiry_counts_that_are_cleared_without_a_right_are_violations() {
    let clears = |handle: &str, reply: Reply| {
        verdict_on(|asks, _, stored| {
            if matches!(reply, Reply::Done(_)) {
                stored
                    .events
                    .push(json!({ "type": "task_updated", "task": "t2", "title": "m1.1 u7", "handle": handle }));
                stored.tasks.get_mut("t2").unwrap()["lapses"] = Json::Null;
            }
            asks.push(ask(handle, 7, update("t2", true), reply));
        })
    };
    assert_eq!(clears("h0", done()), "");
    assert!(clears("h1", done()).contains("h1 does not lead"));
    assert_eq!(clears("h1", refused("NOT_CREATOR")), "");
    assert!(clears("h0", refused("NOT_CREATOR")).contains("who has made the task was refused"));
}
