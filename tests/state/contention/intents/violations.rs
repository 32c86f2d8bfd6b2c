//! The violations that the judge of intents has to find.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::judge::{IntentRequest, Made, Outcome, Stored, judge};

fn intents() -> BTreeMap<String, Made> {
    let intent = |files: &[&'static str], branch| Made {
        files: files.iter().copied().collect(),
        branch,
        max_turns: 2,
    };
    BTreeMap::from([
        ("A".to_owned(), intent(&["a", "b"], Some("main"))),
        ("B".to_owned(), intent(&["b", "c"], None)),
        ("C".to_owned(), intent(&["b"], Some("dev"))),
    ])
}

fn moved(id: &str, previous: Option<&str>, status: &str) -> Json {
    json!({ "type": "intent_changed", "intent_id": id, "previous": previous, "status": status })
}

fn begun(id: &str) -> [Json; 2] {
    [moved(id, None, "PENDING"), moved(id, Some("PENDING"), "IN_PROGRESS")]
}

fn granted(file: &str, branch: &str, intent: Option<&str>) -> Json {
    json!({ "type": "lock_granted", "status": "WRITING", "branch": branch, "files": [file], "intent_id": intent,
        "message": format!("{file} for {intent:?}") })
}

fn allowed(one: &str, other: &str) -> Json {
    json!({ "type": "intent_overlap_allowed", "intent_id": one, "other": other })
}

/// Returns the verdict on these events, if the store matches them.
fn verdict_on(events: &[&[Json]], acts: &[(IntentRequest, Outcome)], change: impl FnOnce(&mut Stored)) -> String {
    let mut stored = Stored {
        events: events.concat(),
        ..Stored::default()
    };
    for event in &stored.events {
        let text = |name: &str| event[name].as_str().unwrap_or_default().to_owned();
        if event["type"] == "intent_changed" {
            stored.statuses.insert(text("intent_id"), text("status"));
        } else if let Some(id) = event["intent_id"].as_str().filter(|_| event["type"] == "lock_granted") {
            let row = match intents()[id].branch {
                Some(branch) => json!({ "intent": id, "branch": branch }),
                None => json!({ "intent": id }),
            };
            let file = event["files"][0].as_str().unwrap_or_default().to_owned();
            stored.owners.insert(file, vec![row]);
            *stored.turns.entry(id.to_owned()).or_default() += 1;
        }
    }
    change(&mut stored);
    judge(&intents(), acts, &stored).err().unwrap_or_default()
}

fn claim(file: &str, intent: &str, reply: Outcome) -> (IntentRequest, Outcome) {
    let message = format!("{file} for {:?}", Some(intent));
    let intent = Some(intent.to_owned());
    (IntentRequest::Claim { message, intent }, reply)
}

#[test]
fn valid_values_pass() {
    let acts = [claim("b", "A", Outcome::Granted), claim("c", "B", Outcome::Refused)];
    let events: &[&[Json]] = &[&begun("A"), &[granted("b", "main", Some("A"))], &begun("C")];
    assert_eq!(verdict_on(events, &acts, |_| ()), "");
    let events: &[&[Json]] = &[
        &begun("A"),
        &[allowed("B", "A")],
        &begun("B"),
        &[granted("b", "dev", Some("B"))],
    ];
    assert_eq!(verdict_on(events, &[claim("b", "B", Outcome::Unanswered)], |_| ()), "");
}

#[test]
fn each_broken_rule_is_named() {
    let a = claim("b", "A", Outcome::Granted);
    let granted_a = granted("b", "main", Some("A"));
    for (expected, events) in [
        ("it overlaps with A", &[&begun("A")[..], &begun("B")][..]),
        (
            "no way leads from",
            &[&begun("A"), &[moved("A", Some("IN_PROGRESS"), "PENDING")]],
        ),
        (
            "by the event",
            &[&begun("A"), &[moved("A", Some("BLOCKED"), "IN_PROGRESS")]],
        ),
        (
            "cites an intent that is COMPLETED",
            &[
                &begun("A"),
                &[moved("A", Some("IN_PROGRESS"), "COMPLETED"), granted_a.clone()],
            ],
        ),
        (
            "outside of the scope",
            &[&begun("A"), &[granted("c", "main", Some("A"))]],
        ),
        (
            "about another branch",
            &[&begun("A"), &[granted("b", "dev", Some("A"))]],
        ),
        (
            "b is owned by A",
            &[&begun("A"), &[granted_a.clone(), granted("b", "main", None)]],
        ),
        (
            "not active takes files over",
            &[&[
                moved("A", None, "PENDING"),
                json!({ "type": "file_taken_over", "intent_id": "A", "files": ["b"] }),
            ]],
        ),
    ] {
        let verdict = verdict_on(events, std::slice::from_ref(&a), |_| ());
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
}

#[test]
fn a_store_or_an_answer_that_differs_from_the_events_is_named() {
    let acts = &[claim("b", "A", Outcome::Granted)];
    let events: &[&[Json]] = &[&begun("A"), &[granted("b", "main", Some("A"))]];
    type Case<'a> = (&'a str, &'a [(IntentRequest, Outcome)], fn(&mut Stored));
    let cases: [Case<'_>; 7] = [
        ("the events say", &[], |stored| {
            stored.statuses.insert("A".to_owned(), "BLOCKED".to_owned());
        }),
        ("the store has the owners", acts, |stored| stored.owners.clear()),
        ("and an event grants it", &[claim("b", "A", Outcome::Refused)], |_| ()),
        ("and no event shows it", &[claim("a", "A", Outcome::Granted)], |_| ()),
        ("turns of 2", acts, |stored| {
            stored.turns.insert("A".to_owned(), 5);
        }),
        ("1 to 1 calls were granted", acts, |stored| {
            stored.turns.insert("A".to_owned(), 2);
        }),
        ("1 to 1 calls were granted", acts, |stored| stored.turns.clear()),
    ];
    for (expected, acts, change) in cases {
        let verdict = verdict_on(events, acts, change);
        assert!(verdict.contains(expected), "{expected}: {verdict}");
    }
}
