//! New intents, and changes of them.

use serde_json::{Value, json};

use super::{about_repo, intent};
use crate::api::Api;
use crate::teams::{assert_has, with, wrong_field};

#[tokio::test]
async fn an_intent_is_written_read_and_recorded_in_the_ledger() {
    let api = Api::start().await;
    let specs = json!(["docs/pool.md", { "type": "issue", "value": "#12" }]);
    let more = json!({ "related_specs": specs, "budget": { "max_turns": 5, "max_tokens": null } });
    let body = with(intent("REQ-1", &["src/db.ts"]), more);
    let written = api.writes_intent("ann", &body).await;
    assert_has!(written, { "status": "PENDING", "id": "REQ-1", "related_specs": specs });
    assert_eq!(
        written["budget"],
        json!({ "max_turns": 5, "consumed_turns": 0, "consumed_tokens": 0 })
    );
    assert_has!(api.reads_intents("bob", "").await, { "intents": [written], "state": "REQUEST" });
    assert_eq!(
        api.ledger_lines().await,
        ["ann REQ-1 REQUEST STATE_TRANSITION SUCCESS: Written: The name of REQ-1"]
    );
    let again = api.post("ann", "/api/intents", &body).await;
    again.expect("409 INTENT_EXISTS");
}

#[tokio::test]
async fn an_intent_of_nothing_is_listed_with_what_it_lacks_and_gets_a_uuid() {
    let api = Api::start().await;
    let written = api.writes_intent("ann", &about_repo(json!({}))).await;
    let missing = json!(["name", "description", "owned_scope", "acceptance_criteria"]);
    assert_eq!(written["missing"], missing);
    let id = written["id"].as_str().unwrap();
    assert!(id.len() == 36 && id.as_bytes()[14] == b'7', "{id}");
    api.denies("ann", "select", id, json!({}), "409 INTENT_TRANSITION")
        .await;
}

#[tokio::test]
async fn each_member_that_is_not_valid_is_refused_by_name() {
    let api = Api::start().await;
    let many: Vec<String> = (0..65).map(|number| format!("f{number}")).collect();
    for (field, value) in [
        ("id", json!("a:b")),
        ("id", json!("a/../b")),
        ("id", json!("x".repeat(65))),
        ("name", json!("")),
        ("name", json!("two\nlines")),
        ("name", json!("x".repeat(201))),
        ("description", json!("a\u{202e}b")),
        ("constraints", json!(vec!["x"; 51])),
        ("constraints", json!(["x".repeat(501)])),
        ("constraints", json!(["a", "a"])),
        ("owned_scope", json!([])),
        ("owned_scope", json!(["!src"])),
        ("owned_scope", json!(["/etc"])),
        ("owned_scope", json!(["src/../.."])),
        ("owned_scope", json!(["src\\db"])),
        ("owned_scope", json!(["x".repeat(513)])),
        ("owned_scope", json!(many)),
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
        let body = with(intent("REQ-1", &["src/db.ts"]), json!({ field: value }));
        let answer = api.post("ann", "/api/intents", &body).await;
        assert_eq!(wrong_field(&answer), field, "{value}");
        assert_eq!(answer.json()["orchestration"]["action"], "STOP");
    }
    assert_eq!(api.reads_intents("ann", "").await["intents"], json!([]));
    assert_eq!(api.ledger_lines().await, [""; 0]);
}

#[tokio::test]
async fn a_scope_is_frozen_once_it_has_begun_and_texts_are_not() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    let scope = json!({ "owned_scope": ["src/auth.ts"] });
    api.edited("ann", "REQ-1", scope).await;
    api.does("ann", "select", "REQ-1", json!({})).await;
    for frozen in [
        json!({ "owned_scope": ["src/auth.ts", "src/db.ts"] }),
        json!({ "branch": "main" }),
    ] {
        let refused = api.edits("ann", "REQ-1", frozen).await.expect("409 SCOPE_FROZEN");
        assert_eq!(refused["intent"]["owned_scope"], json!(["src/auth.ts"]));
    }
    let texts = json!({ "name": "Another", "constraints": ["One"] });
    assert_eq!(api.edited("bob", "REQ-1", texts).await["name"], "Another");
    assert_eq!(
        api.last_line().await,
        "bob REQ-1 REQUEST STATE_TRANSITION SUCCESS: Changed: name, constraints"
    );
    let unknown = api.edits("bob", "REQ-2", json!({ "name": "Another" })).await;
    unknown.expect("404 UNKNOWN_INTENT");
}

#[tokio::test]
async fn a_met_criterion_has_its_login_time_and_evidence() {
    let api = Api::start().await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    let met = |criterion: &str, evidence: &str| json!({ "met": [{ "criterion": criterion, "evidence": evidence }] });
    let by_agent = with(met("Tests pass", "5 passed"), json!({ "agent_id": "one" }));
    let marked = api.edited("ann", "REQ-1", by_agent).await["criteria"][0].clone();
    assert_has!(marked, { "criterion": "Tests pass", "by": "ann/one", "evidence": "5 passed" });
    assert!(marked["at"].as_str().unwrap().ends_with('Z'), "{marked}");
    let unmet = json!({ "unmet": ["Tests pass"] });
    assert_eq!(api.edited("ann", "REQ-1", unmet).await.get("criteria"), None);
    for wrong in [met("Test pass", "x"), met("Tests pass", "")] {
        assert_eq!(api.edits("ann", "REQ-1", wrong).await.status, 400);
    }
}

#[tokio::test]
async fn raising_a_budget_of_what_has_begun_takes_a_person() {
    let api = Api::start().await;
    api.begins_intent(json!({ "budget": { "max_turns": 5 } })).await;
    let edit = |budget: Value, agent: Option<&str>| json!({ "budget": budget, "agent_id": agent });
    for raised in [json!({ "max_turns": 6 }), json!({})] {
        let answer = api.edits("ann", "REQ-1", edit(raised, Some("one"))).await;
        answer.expect("403 PERSON_REQUIRED");
    }
    let lowered = edit(json!({ "max_turns": 4 }), Some("one"));
    api.edited("ann", "REQ-1", lowered).await;
    let raised = api.edited("ann", "REQ-1", edit(json!({ "max_turns": 9 }), None)).await;
    assert_eq!(raised["budget"]["max_turns"], 9);
}
