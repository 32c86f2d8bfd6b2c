//! The cost of the work on an intent.

use std::sync::Arc;

use coord_intents_server::config::IntentConfig;
use serde_json::{Value, json};

use super::{intent, reason};
use crate::api::Api;
use crate::teams::{assert_has, with};

async fn begun(budget: Value) -> Api {
    let api = Api::start().await;
    api.begins_intent(json!({ "budget": budget })).await;
    api
}

fn call(digest: &str) -> Value {
    json!({ "tool_call": { "name": "Bash", "digest": digest } })
}

impl Api {
    /// `ann` uses `REQ-1`, which must be allowed.
    async fn uses(&self, more: Value) -> Value {
        self.does("ann", "usage", "REQ-1", more).await
    }

    /// A use of `REQ-1` that is refused with this code.
    async fn stops(&self, user: &str, more: Value, code: &str) -> Value {
        self.denies(user, "usage", "REQ-1", more, &format!("409 {code}")).await
    }
}

// rule: intents#budget
#[tokio::test]
async fn turns_warn_at_four_fifths_and_block_at_the_limit() {
    let api = begun(json!({ "max_turns": 5 })).await;
    for turn in 1..=5 {
        let used = api.uses(call(&turn.to_string())).await;
        let warnings = used["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), usize::from(turn >= 4), "{turn}: {used}");
    }
    let refused = api.stops("ann", call("6"), "BUDGET_EXHAUSTED").await;
    assert_has!(refused["orchestration"], { "action": "STOP", "metadata": { "intent_id": "REQ-1" } });
    let lines = api.ledger_lines().await;
    let spent = "The budget of intent REQ-1 is spent: 5 of 5 turns";
    assert_eq!(
        lines[lines.len() - 2..],
        [
            format!("ann REQ-1 ACTION BUDGET_EXHAUSTED DENIED: Bash; {spent}"),
            format!("ann REQ-1 ACTION STATE_TRANSITION SUCCESS: IN_PROGRESS to BLOCKED: {spent}"),
        ]
    );
    api.stops("bob", call("7"), "INTENT_BLOCKED").await;
    let read = api.reads_intents("ann", "&status=BLOCKED").await;
    assert_has!(read["intents"][0], { "budget": { "consumed_turns": 5 }, "reason": spent });
}

#[tokio::test]
async fn a_report_of_tokens_counts_once_and_stops_the_next_call() {
    let api = begun(json!({ "max_tokens": 100 })).await;
    let report = |session: &str, total: u64| json!({ "tokens": { "session_id": session, "total": total } });
    let mut used = Value::Null;
    for (session, total) in [("s", 40), ("s", 40), ("s", 30), ("t", 25), ("s", 70)] {
        used = api.uses(report(session, total)).await;
    }
    assert_eq!(reason(&used), "Intent REQ-1 has cost 0 turns and 95 tokens");
    // Another holder's session of the same name is another.
    api.uses(with(report("s", 10), json!({ "agent_id": "two" }))).await;
    let refused = api.stops("ann", call("1"), "BUDGET_EXHAUSTED").await;
    assert!(reason(&refused).contains("105 of 100 tokens"), "{refused}");
    // Tokens are still counted.
    assert_eq!(api.uses(report("s", 75)).await["success"], true);
    for wrong in [
        json!({ "tool_call": { "name": "", "digest": "1" } }),
        json!({ "tool_call": { "name": "x".repeat(129), "digest": "1" } }),
        report("s", 1_000_000_000_001),
    ] {
        assert_eq!(api.acts("ann", "usage", "REQ-1", wrong).await.status, 400);
    }
}

// rule: intents#budget
#[tokio::test]
async fn the_fourth_identical_call_in_a_row_trips_the_breaker_until_a_person_resets_it() {
    let api = begun(json!({})).await;
    for digest in ["1", "1", "1", "2", "1", "1", "1"] {
        api.uses(call(digest)).await;
    }
    api.stops("ann", call("1"), "CIRCUIT_OPEN").await;
    api.does("ann", "unblock", "REQ-1", json!({})).await;
    for _ in 0..3 {
        api.uses(call("1")).await;
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
    api.stops("ann", call("1"), "INTENT_NOT_ACTIVE").await;
    api.does("ann", "select", "REQ-1", json!({})).await;
    for _ in 0..8 {
        api.uses(call("1")).await;
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
    assert_has!(read["intents"][0]["budget"], { "other_turns": 7, "consumed_turns": 0 });
}
