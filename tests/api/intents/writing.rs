//! New intents, and changes of them.

use serde_json::{Value, json};

use super::intent;
use crate::api::{Api, REPO_URL};

#[tokio::test]
async fn an_intent_is_written_read_and_recorded_in_the_ledger() {
    let api = Api::start().await;
    let mut body = intent("REQ-1", &["src/db.ts"]);
    body["related_specs"] = json!(["docs/pool.md", { "type": "issue", "value": "#12" }]);
    body["budget"] = json!({ "max_turns": 5, "max_tokens": null });
    let written = api.writes_intent("ann", &body).await;
    assert_eq!(
        (&written["status"], &written["id"]),
        (&json!("PENDING"), &json!("REQ-1"))
    );
    assert_eq!(
        written["budget"],
        json!({ "max_turns": 5, "consumed_turns": 0, "consumed_tokens": 0 })
    );
    assert_eq!(written["related_specs"], body["related_specs"]);
    let all = api.reads_intents("bob", "").await;
    assert_eq!(all["intents"], json!([written]));
    assert_eq!(all["state"], "REQUEST");
    assert_eq!(
        api.ledger_lines().await,
        ["ann REQ-1 REQUEST STATE_TRANSITION SUCCESS: Written: The name of REQ-1"]
    );
    let again = api.post("ann", "/api/intents", &body).await;
    assert_eq!((again.status, &again.json()["error"]), (409, &json!("INTENT_EXISTS")));
}

#[tokio::test]
async fn an_intent_of_nothing_is_listed_with_what_it_lacks_and_gets_a_uuid() {
    let api = Api::start().await;
    let written = api.writes_intent("ann", &json!({ "repo_url": REPO_URL })).await;
    let missing = json!(["name", "description", "owned_scope", "acceptance_criteria"]);
    assert_eq!(written["missing"], missing);
    let id = written["id"].as_str().unwrap();
    assert!(id.len() == 36 && id.as_bytes()[14] == b'7', "{id}");
    let refused = api.acts("ann", "select", id, json!({})).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]),
        (409, &json!("INTENT_TRANSITION"))
    );
}

#[tokio::test]
async fn each_member_that_is_not_valid_is_refused_by_name() {
    let api = Api::start().await;
    let many = vec!["x"; 51];
    for (field, value) in [
        ("id", json!("a:b")),
        ("id", json!("a/../b")),
        ("id", json!("x".repeat(65))),
        ("name", json!("")),
        ("name", json!("two\nlines")),
        ("name", json!("x".repeat(201))),
        ("description", json!("a\u{202e}b")),
        ("constraints", json!(many)),
        ("constraints", json!(["x".repeat(501)])),
        ("constraints", json!(["a", "a"])),
        ("owned_scope", json!([])),
        ("owned_scope", json!(["!src"])),
        ("owned_scope", json!(["/etc"])),
        ("owned_scope", json!(["src/../.."])),
        ("owned_scope", json!(["src\\db"])),
        ("owned_scope", json!(["x".repeat(513)])),
        (
            "owned_scope",
            json!((0..65).map(|number| format!("f{number}")).collect::<Vec<_>>()),
        ),
        ("acceptance_criteria", json!([""])),
        ("budget", json!({ "max_turns": 0 })),
        ("budget", json!({ "max_tokens": 1_000_000_000_001_u64 })),
        ("branch", json!("a b")),
        ("supplements", json!("REQ-9")),
        ("supplements", json!("a b")),
        ("related_specs", json!([5])),
        ("assigned_agent", json!("x".repeat(129))),
        ("description", json!("x".repeat(66_000))),
    ] {
        let mut body = intent("REQ-1", &["src/db.ts"]);
        body[field] = value.clone();
        let answer = api.post("ann", "/api/intents", &body).await;
        let json = answer.json();
        assert_eq!((answer.status, &json["field"]), (400, &json!(field)), "{value}: {json}");
        assert_eq!(json["orchestration"]["action"], "STOP");
    }
    assert_eq!(api.reads_intents("ann", "").await["intents"], json!([]));
    assert_eq!(api.ledger_lines().await, [""; 0]);
}

#[tokio::test]
async fn a_scope_is_frozen_once_it_has_begun_and_texts_are_not() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    assert_eq!(
        api.edits("ann", "REQ-1", json!({ "owned_scope": ["src/auth.ts"] }))
            .await
            .status,
        200
    );
    api.does("ann", "select", "REQ-1", json!({})).await;
    for frozen in [
        json!({ "owned_scope": ["src/auth.ts", "src/db.ts"] }),
        json!({ "branch": "main" }),
    ] {
        let answer = api.edits("ann", "REQ-1", frozen).await;
        assert_eq!((answer.status, &answer.json()["error"]), (409, &json!("SCOPE_FROZEN")));
        assert_eq!(answer.json()["intent"]["owned_scope"], json!(["src/auth.ts"]));
    }
    let changed = api
        .edits("bob", "REQ-1", json!({ "name": "Another", "constraints": ["One"] }))
        .await;
    assert_eq!(changed.status, 200);
    assert_eq!(changed.json()["intent"]["name"], "Another");
    let last = api.ledger_lines().await.pop().unwrap();
    assert_eq!(
        last,
        "bob REQ-1 REQUEST STATE_TRANSITION SUCCESS: Changed: name, constraints"
    );
    let unknown = api.edits("bob", "REQ-2", json!({ "name": "Another" })).await;
    assert_eq!(
        (unknown.status, &unknown.json()["error"]),
        (404, &json!("UNKNOWN_INTENT"))
    );
}

#[tokio::test]
async fn a_met_criterion_has_its_login_time_and_evidence() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    let met = json!({ "met": [{ "criterion": "Tests pass", "evidence": "5 passed" }], "agent_id": "one" });
    let answer = api.edits("ann", "REQ-1", met).await.json();
    let marked = &answer["intent"]["criteria"][0];
    assert_eq!(marked["criterion"], "Tests pass");
    assert_eq!(
        (&marked["by"], &marked["evidence"]),
        (&json!("ann/one"), &json!("5 passed"))
    );
    assert!(marked["at"].as_str().unwrap().ends_with('Z'), "{marked}");
    let answer = api
        .edits("ann", "REQ-1", json!({ "unmet": ["Tests pass"] }))
        .await
        .json();
    assert_eq!(answer["intent"].get("criteria"), None);
    for wrong in [
        json!({ "met": [{ "criterion": "Test pass", "evidence": "x" }] }),
        json!({ "met": [{ "criterion": "Tests pass", "evidence": "" }] }),
    ] {
        assert_eq!(api.edits("ann", "REQ-1", wrong).await.status, 400);
    }
}

#[tokio::test]
async fn raising_a_budget_of_what_has_begun_takes_a_person() {
    let api = Api::start().await;
    let mut body = intent("REQ-1", &["src/db.ts"]);
    body["budget"] = json!({ "max_turns": 5 });
    api.writes_intent("ann", &body).await;
    api.does("ann", "select", "REQ-1", json!({})).await;
    let with = |budget: Value, agent: Option<&str>| json!({ "budget": budget, "agent_id": agent });
    for raised in [json!({ "max_turns": 6 }), json!({})] {
        let refused = api.edits("ann", "REQ-1", with(raised.clone(), Some("one"))).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]),
            (403, &json!("PERSON_REQUIRED"))
        );
    }
    assert_eq!(
        api.edits("ann", "REQ-1", with(json!({ "max_turns": 4 }), Some("one")))
            .await
            .status,
        200
    );
    let raised = api.edits("ann", "REQ-1", with(json!({ "max_turns": 9 }), None)).await;
    assert_eq!(raised.json()["intent"]["budget"]["max_turns"], 9);
}
