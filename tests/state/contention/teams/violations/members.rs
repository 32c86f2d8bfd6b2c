//! The same about who is in the team, who leads it, who is to stop, and what they are sent.

use serde_json::{Value as Json, json};

use super::super::acts::{Act, Ask, Reply};
use super::{team_changed, verdict_on};

fn shutdown(state: &str, target: Option<&str>, handle: &str, time: i64) -> Json {
    json!({
        "type": "shutdown_changed", "shutdown": "s1", "state": state, "target": target, "handle": handle, "time": time,
    })
}

/// Returns the verdict if these events come before the claim of `h1`.
fn verdict_on_events(events: impl IntoIterator<Item = Json>) -> String {
    verdict_on(|_, _, stored| drop(stored.events.splice(4..4, events)))
}

#[test]
fn a_claiming_member_that_must_stop_is_named() {
    let requested = || shutdown("requested", Some("h1"), "h0", 1);
    let approved = || shutdown("approved", Some("h1"), "h1", 1);
    let rejected = ["rejected_by", "rejected"].map(|state| shutdown(state, Some("h1"), "h1", 1));
    let joined = || team_changed("joined", "h1", "user-1");
    let of_all = || shutdown("requested", None, "h1", 1);
    for events in [
        vec![requested()],
        vec![requested(), approved(), approved()],
        vec![requested(), shutdown("forced", Some("h1"), "h0", 2)],
        vec![of_all()],
        // An approval is final.
        vec![of_all(), joined()],
    ] {
        let verdict = verdict_on_events(events.clone());
        assert!(verdict.contains("is to stop"), "{events:?}: {verdict}");
    }
    for events in [
        vec![requested(), rejected[0].clone(), rejected[1].clone()],
        vec![requested(), approved(), approved(), joined()],
        vec![
            shutdown("requested", None, "h0", 1),
            shutdown("rejected_by", None, "h1", 1),
            shutdown("rejected", None, "h1", 1),
            team_changed("joined", "h0", "user-0"),
        ],
    ] {
        assert_eq!(verdict_on_events(events.clone()), "", "{events:?}");
    }
}

#[test]
fn a_shutdown_that_cannot_be_is_named() {
    let of_one = |state: &str, handle: &str, time| shutdown(state, Some("h1"), handle, time);
    let cases = [
        ("cannot be asked for", vec![of_one("approved", "h1", 1)]),
        ("cannot be asked for", vec![shutdown("requested", Some("h9"), "h0", 1)]),
        (
            "is open",
            vec![of_one("requested", "h0", 1), shutdown("requested", None, "h0", 1)],
        ),
        // The end of that of one member names it.
        (
            "is open",
            vec![
                of_one("requested", "h0", 1),
                team_changed("left", "h1", "user-1"),
                shutdown("approved", None, "h1", 1),
            ],
        ),
        (
            "cannot end so",
            vec![of_one("requested", "h0", 1), of_one("approved", "h0", 1)],
        ),
        (
            "cannot end so",
            vec![of_one("requested", "h0", 1), of_one("rejected", "h1", 1)],
        ),
        // Too early, and by another one than the leader.
        (
            "cannot end so",
            vec![of_one("requested", "h0", 1), of_one("forced", "h0", 1)],
        ),
        (
            "cannot end so",
            vec![of_one("requested", "h0", 1), of_one("forced", "h1", 2)],
        ),
        (
            "without [\"h0\"]",
            vec![shutdown("requested", None, "h1", 1), shutdown("closed", None, "h1", 1)],
        ),
        (
            "without []",
            vec![
                shutdown("requested", None, "h1", 1),
                shutdown("rejected_by", None, "h0", 1),
                shutdown("closed", None, "h0", 1),
            ],
        ),
        (
            "is answered, and goes on",
            vec![
                of_one("requested", "h0", 1),
                of_one("approved", "h1", 1),
                team_changed("joined", "h1", "user-1"),
            ],
        ),
    ];
    for (expected, events) in cases {
        let verdict = verdict_on_events(events);
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
}

#[test]
fn members_that_cannot_be_are_named() {
    let left = || team_changed("left", "h1", "user-1");
    let cases = [
        ("cannot do this", team_changed("left", "h0", "user-0")),
        ("cannot do this", team_changed("left", "h1", "user-0")),
        ("cannot do this", team_changed("handed_over", "h9", "user-0")),
        ("cannot do this", team_changed("handed_over", "h0", "user-1")),
        ("cannot do this", team_changed("taken_over", "h9", "user-9")),
        ("cannot do this", team_changed("created", "h1", "user-1")),
        (
            "is a member, and has not stopped",
            team_changed("joined", "h1", "user-1"),
        ),
        ("h1 is not a member", left()),
        ("the store has the members", team_changed("handed_over", "h1", "user-0")),
        ("the store has the members", team_changed("joined", "h2", "user-2")),
    ];
    for (expected, event) in cases {
        let verdict = verdict_on_events([event]);
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
    let back = || team_changed("joined", "h1", "user-1");
    assert!(verdict_on_events([left(), back()]).contains("1 times, of which 0 to 0"));
    let asks = |asks: &mut Vec<Ask>, reply| {
        asks.push(Ask {
            mark: 6,
            act: Act::Deed("left".to_owned()),
            reply,
            handle: "h1".to_owned(),
        });
    };
    for (reply, expected) in [
        (Reply::Unanswered, ""),
        (Reply::Done(json!({})), ""),
        (Reply::Refused("LEADER_STAYS".to_owned()), "of which 0"),
    ] {
        let verdict = verdict_on(|all, _, stored| {
            asks(all, reply);
            stored.events.splice(4..4, [left(), back()]);
        });
        assert!(
            verdict.contains(expected) && verdict.is_empty() == expected.is_empty(),
            "{verdict}"
        );
    }
    assert!(verdict_on(|all, _, _| asks(all, Reply::Done(json!({})))).contains("0 times, of which 1"));
}

#[test]
fn impossible_messages_about_departed_or_idle_members_are_violations() {
    let leaves = |asks: &mut Vec<Ask>, events: &mut Vec<Json>| {
        let (act, reply) = (Act::Deed("left".to_owned()), Reply::Unanswered);
        asks.push(Ask {
            mark: 6,
            act,
            reply,
            handle: "h1".to_owned(),
        });
        events.extend(["left", "joined"].map(|change| team_changed(change, "h1", "user-1")));
    };
    let with = |is_got: bool, is_kept: bool, is_noted: bool| {
        verdict_on(|asks, inboxes, stored| {
            leaves(asks, &mut stored.events);
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
    assert_eq!(with(true, false, false), "", "it has read it, and left");
    assert_eq!(with(false, true, true), "", "it has left without it");
    assert!(with(false, true, false).contains("is not kept as unread by h1"));
    assert!(with(false, false, false).contains("is not kept as unread by h1"));
    let is_gone = verdict_on(|_, _, stored| {
        stored.bodies.clear();
        stored.mail.clear();
    });
    assert!(is_gone.contains("message 1 is gone"), "{is_gone}");
    let differs = verdict_on(|_, inboxes, _| inboxes.get_mut("h1").unwrap()[0].1 = "bye".to_owned());
    assert!(differs.contains("somebody got \"bye\""), "{differs}");

    // `h1` is idle, and h0 leads.
    let idle = |leader: &str, ready: &[&str]| {
        verdict_on(|asks, inboxes, stored| {
            asks[4].act = Act::Idle("hello".to_owned());
            asks[4].handle = "h1".to_owned();
            asks[4].reply = Reply::Done(json!({ "id": 1, "ready": ready }));
            let sent = json!({ "message_type": "idle", "from": "h1", "to": leader, "recipients": [leader] });
            stored.events[6]
                .as_object_mut()
                .unwrap()
                .extend(sent.as_object().unwrap().clone());
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
            asks.push(Ask {
                mark: 7,
                act: Act::Update {
                    id: "t2".to_owned(),
                    dependencies: None,
                    blocks: None,
                    clears: true,
                },
                reply: reply.clone(),
                handle: handle.to_owned(),
            });
            if matches!(reply, Reply::Done(_)) {
                stored
                    .events
                    .push(json!({ "type": "task_updated", "task": "t2", "title": "m1.1 u7", "handle": handle }));
                stored.tasks.get_mut("t2").unwrap()["lapses"] = Json::Null;
            }
        })
    };
    assert_eq!(clears("h0", Reply::Done(json!({}))), "");
    assert!(clears("h1", Reply::Done(json!({}))).contains("h1 does not lead"));
    assert_eq!(clears("h1", Reply::Refused("NOT_CREATOR".to_owned())), "");
    assert!(clears("h0", Reply::Refused("NOT_CREATOR".to_owned())).contains("who has made the task was refused"));
}
