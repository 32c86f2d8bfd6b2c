//! The cost of the work on an intent.

use std::sync::Arc;

use coord_intents_server::config::IntentConfig;
use serde_json::{Value, json};

use super::intent;
use crate::api::Api;

async fn begun(budget: Value) -> Api {
    let api = Api::start().await;
    let mut body = intent("REQ-1", &["src/db.ts"]);
    body["budget"] = budget;
    api.writes_intent("ann", &body).await;
    api.does("ann", "select", "REQ-1", json!({})).await;
    api
}

fn call(digest: &str) -> Value {
    json!({ "tool_call": { "name": "Bash", "digest": digest } })
}

// rule: intents#budget
#[tokio::test]
async fn turns_warn_at_four_fifths_and_block_at_the_limit() {
    let api = begun(json!({ "max_turns": 5 })).await;
    for turn in 1..=5 {
        let used = api.does("ann", "usage", "REQ-1", call(&turn.to_string())).await;
        let warnings = used["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), usize::from(turn >= 4), "{turn}: {used}");
    }
    let refused = api.acts("ann", "usage", "REQ-1", call("6")).await;
    let body = refused.json();
    assert_eq!((refused.status, &body["error"]), (409, &json!("BUDGET_EXHAUSTED")));
    assert_eq!(body["orchestration"]["action"], "STOP");
    assert_eq!(body["orchestration"]["metadata"]["intent_id"], "REQ-1");
    let lines = api.ledger_lines().await;
    let spent = "The budget of intent REQ-1 is spent: 5 of 5 turns";
    assert_eq!(
        lines[lines.len() - 2..],
        [
            format!("ann REQ-1 ACTION BUDGET_EXHAUSTED DENIED: Bash; {spent}"),
            format!("ann REQ-1 ACTION STATE_TRANSITION SUCCESS: IN_PROGRESS to BLOCKED: {spent}"),
        ]
    );
    let blocked = api.acts("bob", "usage", "REQ-1", call("7")).await;
    assert_eq!(
        (blocked.status, &blocked.json()["error"]),
        (409, &json!("INTENT_BLOCKED"))
    );
    let read = api.reads_intents("ann", "&status=BLOCKED").await;
    assert_eq!(read["intents"][0]["budget"]["consumed_turns"], 5);
    assert_eq!(read["intents"][0]["reason"], spent);
}

#[tokio::test]
async fn a_report_of_tokens_counts_once_and_stops_the_next_call() {
    let api = begun(json!({ "max_tokens": 100 })).await;
    let report = |session: &str, total: u64| json!({ "tokens": { "session_id": session, "total": total } });
    let mut reason = Value::Null;
    for (session, total) in [("s", 40), ("s", 40), ("s", 30), ("t", 25), ("s", 70)] {
        let used = api.does("ann", "usage", "REQ-1", report(session, total)).await;
        reason = used["orchestration"]["reason"].clone();
    }
    assert_eq!(reason, "Intent REQ-1 has cost 0 turns and 95 tokens");
    // Another holder's session of the same name is another.
    let mut of_other = report("s", 10);
    of_other["agent_id"] = json!("two");
    api.does("ann", "usage", "REQ-1", of_other).await;
    let refused = api.acts("ann", "usage", "REQ-1", call("1")).await.json();
    assert_eq!(refused["error"], "BUDGET_EXHAUSTED");
    assert!(
        refused["orchestration"]["reason"]
            .as_str()
            .unwrap()
            .contains("105 of 100 tokens"),
        "{refused}"
    );
    // Tokens are still counted.
    assert_eq!(
        api.does("ann", "usage", "REQ-1", report("s", 75)).await["success"],
        true
    );
    for wrong in [
        json!({ "tool_call": { "name": "", "digest": "1" } }),
        json!({ "tool_call": { "name": "x".repeat(129), "digest": "1" } }),
        json!({ "tokens": { "session_id": "s", "total": 1_000_000_000_001_u64 } }),
    ] {
        assert_eq!(api.acts("ann", "usage", "REQ-1", wrong).await.status, 400);
    }
}

// rule: intents#budget
#[tokio::test]
async fn the_fourth_identical_call_in_a_row_trips_the_breaker_until_a_person_resets_it() {
    let api = begun(json!({})).await;
    for digest in ["1", "1", "1", "2", "1", "1", "1"] {
        api.does("ann", "usage", "REQ-1", call(digest)).await;
    }
    let refused = api.acts("ann", "usage", "REQ-1", call("1")).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]),
        (409, &json!("CIRCUIT_OPEN"))
    );
    api.does("ann", "unblock", "REQ-1", json!({})).await;
    for _ in 0..3 {
        api.does("ann", "usage", "REQ-1", call("1")).await;
    }
    assert_eq!(api.acts("ann", "usage", "REQ-1", call("1")).await.status, 409);
}

#[tokio::test]
async fn the_breaker_can_be_off() {
    let api = Api::start_with(|app| {
        app.extensions = app.extensions.with(coord_intents_server::Intents::new(IntentConfig {
            breaker_calls: 0,
            ..IntentConfig::default()
        }));
    })
    .await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    let early = api.acts("ann", "usage", "REQ-1", call("1")).await;
    assert_eq!(
        (early.status, &early.json()["error"]),
        (409, &json!("INTENT_NOT_ACTIVE"))
    );
    api.does("ann", "select", "REQ-1", json!({})).await;
    for _ in 0..8 {
        api.does("ann", "usage", "REQ-1", call("1")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn racing_calls_never_use_more_than_max_turns() {
    let api = Arc::new(begun(json!({ "max_turns": 7 })).await);
    let use_once = |number: usize| {
        let api = Arc::clone(&api);
        let user = format!("user{}", number % 8);
        tokio::spawn(async move {
            api.acts(&user, "usage", "REQ-1", call(&number.to_string()))
                .await
                .status
        })
    };
    let racing: Vec<_> = (0..32).map(use_once).collect();
    let mut granted = 0;
    for one in racing {
        granted += usize::from(one.await.unwrap() == 200);
    }
    assert_eq!(granted, 7);
    let read = api.reads_intents("ann", "").await;
    assert_eq!(read["intents"][0]["budget"]["other_turns"], 7);
    assert_eq!(read["intents"][0]["budget"]["consumed_turns"], 0);
}
