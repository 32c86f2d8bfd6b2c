//! The selection of intents.

use std::sync::Arc;

use coord_intents_server::config::IntentConfig;
use serde_json::{Value, json};

use super::{intent, reason};
use crate::api::Api;
use crate::teams::{assert_has, with};

#[tokio::test]
async fn selecting_a_pending_intent_starts_it_and_returns_its_context() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    let session = json!({ "session_id": "s-7", "contributor": "anthropic/claude" });
    let of_agent = json!({ "agent_id": "one", "session": session });
    let selected = api.does("ann", "select", "REQ-1", of_agent).await;
    assert_has!(selected, { "state": "ACTION", "intent": { "status": "IN_PROGRESS" } });
    let context = selected["context"].as_str().unwrap();
    assert!(
        context.starts_with("Intent REQ-1: The name of REQ-1\nStatus: IN_PROGRESS\n"),
        "{context}"
    );
    for part in ["- src/db.ts\n", "- [ ] Tests pass\n"] {
        assert!(context.contains(part), "{part}: {context}");
    }
    let warning = selected["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("BREADTH_UNKNOWN: "), "{warning}");
    assert_eq!(
        api.ledger_lines().await[1..],
        [
            "ann/one REQ-1 REQUEST INTENT_SELECTION SUCCESS: select_active_intent",
            "ann/one REQ-1 REQUEST STATE_TRANSITION SUCCESS: PENDING to IN_PROGRESS",
        ]
    );
    // Others select it too, and each has its own state.
    assert_eq!(api.reads_intents("bob", "").await["state"], "REQUEST");
    assert_eq!(api.does("bob", "select", "REQ-1", json!({})).await["state"], "ACTION");
    assert_eq!(api.reads_intents("bob", "").await["selected"], "REQ-1");
}

#[tokio::test]
async fn an_overlap_is_refused_with_both_patterns_and_a_path_until_a_person_allows_it() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/*.ts"])).await;
    api.writes_intent("ann", &intent("REQ-2", &["lib/**", "src/db*"])).await;
    api.does("ann", "select", "REQ-1", json!({})).await;
    let refused = api
        .denies("bob", "select", "REQ-2", json!({}), "409 SCOPE_OVERLAP")
        .await;
    for part in ["REQ-1", "\"src/db*\"", "\"src/*.ts\"", "\"src/db.ts\""] {
        assert!(reason(&refused).contains(part), "{part}: {refused}");
    }
    assert_has!(refused, { "state": "REQUEST", "intent": { "status": "PENDING" } });
    let last = api.last_line().await;
    assert!(
        last.starts_with("bob REQ-2 REQUEST INTENT_SELECTION DENIED: select_active_intent; The scope"),
        "{last}"
    );
    api.does("ann", "allow", "REQ-2", json!({ "other": "REQ-1" })).await;
    let selected = api.does("bob", "select", "REQ-2", json!({})).await;
    assert_eq!(selected["intent"]["may_overlap"], json!(["REQ-1"]));
}

// rule: intents#supplements
#[tokio::test]
async fn intents_of_other_branches_and_supplements_do_not_overlap() {
    let api = Api::start().await;
    for (id, branch, supplements) in [("A", "main", ""), ("B", "next", ""), ("C", "main", "A"), ("D", "", "")] {
        let more = json!({ "branch": branch, "supplements": supplements });
        api.writes_intent("ann", &with(intent(id, &["src/db.ts"]), more)).await;
    }
    for (id, status) in [("A", 200), ("B", 200), ("C", 200), ("D", 409)] {
        assert_eq!(api.acts("ann", "select", id, json!({})).await.status, status, "{id}");
    }
}

#[tokio::test]
async fn an_intent_with_a_too_broad_scope_cannot_be_selected() {
    let api = Api::start().await;
    api.publish_graph(&api.head).await;
    for (id, scope, sentence) in [
        ("A", "*/a", "begins in every folder"),
        ("B", "**/*.ts", "begins in every folder"),
        ("C", "src/**", "3 of the branch's 3 files"),
    ] {
        api.writes_intent("ann", &intent(id, &[scope])).await;
        let refused = api.denies("ann", "select", id, json!({}), "409 SCOPE_TOO_BROAD").await;
        assert!(reason(&refused).contains(sentence), "{refused}");
    }
    api.writes_intent("ann", &intent("D", &["src/db.ts"])).await;
    assert_eq!(api.does("ann", "select", "D", json!({})).await["warnings"], json!([]));
}

#[tokio::test]
async fn the_most_files_of_a_scope_are_a_setting() {
    let api = Api::start_with(|app| {
        app.extensions = app.extensions.with(coord_intents_server::Intents::new(IntentConfig {
            max_files: 1,
            ..IntentConfig::default()
        }));
    })
    .await;
    api.publish_graph(&api.head).await;
    api.writes_intent("ann", &intent("A", &["src/db.ts", "src/auth.ts"]))
        .await;
    let refused = api.acts("ann", "select", "A", json!({})).await.json();
    assert!(reason(&refused).contains("an intent may cover 1"), "{refused}");
}

#[tokio::test]
async fn a_selection_that_fails_changes_nothing_and_is_no_success() {
    let api = Api::start().await;
    let because = |reason: &str| json!({ "reason": reason });
    api.writes_intent("ann", &intent("DONE", &["src/db.ts"])).await;
    api.does("ann", "abandon", "DONE", because("Not needed")).await;
    api.writes_intent("ann", &intent("STUCK", &["src/db.ts"])).await;
    api.does("ann", "select", "STUCK", json!({})).await;
    api.does("ann", "block", "STUCK", because("Wait for the review")).await;
    for (id, refusal) in [
        ("DONE", "409 INTENT_NOT_ACTIVE"),
        ("STUCK", "409 INTENT_BLOCKED"),
        ("NONE", "404 UNKNOWN_INTENT"),
        ("a b", "400 INVALID_FIELD"),
    ] {
        api.denies("bob", "select", id, json!({}), refusal).await;
    }
    let all: Value = api.reads_intents("bob", "").await;
    assert_eq!((&all["state"], all.get("selected")), (&json!("REQUEST"), None));
    let mut lines = api.ledger_lines().await;
    lines.retain(|line| line.starts_with("bob "));
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(
        lines.iter().all(|line| line.contains("INTENT_SELECTION DENIED")),
        "{lines:#?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_that_do_not_overlap_all_begin_at_once() {
    let api = Arc::new(Api::start().await);
    let ids: Vec<String> = (0..50).map(|number| format!("R{number}")).collect();
    for id in &ids {
        api.writes_intent("ann", &intent(id, &[&format!("src/{id}/**")])).await;
    }
    let select = |id: String| {
        let api = Arc::clone(&api);
        tokio::spawn(async move {
            let answer = api.acts(&format!("user{id}"), "select", &id, json!({})).await;
            (answer.status, answer.json()["message"].clone())
        })
    };
    let racing: Vec<_> = ids.into_iter().map(select).collect();
    for one in racing {
        assert_eq!(one.await.unwrap(), (200, Value::Null));
    }
}
