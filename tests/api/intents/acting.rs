//! The acts on intents, and which of them take a person.

use coord_settings::Approvers;
use serde_json::{Value, json};

use super::{intent, reason};
use crate::api::Api;
use crate::teams::{assert_has, with, wrong_field};

async fn begun(change: impl FnOnce(&mut coord_server::app::App)) -> Api {
    let api = Api::start_with(change).await;
    api.begins_intent(json!({})).await;
    api
}

// rule: intents#complete
#[tokio::test]
async fn an_intent_is_complete_when_each_criterion_is_met_and_its_holder_is_free() {
    let api = begun(|_| {}).await;
    let refused = api
        .denies("ann", "complete", "REQ-1", json!({}), "409 CRITERIA_UNMET")
        .await;
    assert!(reason(&refused).contains("Tests pass"), "{refused}");
    let met = ["Tests pass", "Documented"].map(|criterion| json!({ "criterion": criterion, "evidence": "See CI" }));
    api.edited("ann", "REQ-1", json!({ "met": met })).await;
    let completed = api.does("ann", "complete", "REQ-1", json!({})).await;
    assert_has!(completed, { "state": "REQUEST", "intent": { "status": "COMPLETED" } });
    assert_eq!(
        api.last_line().await,
        "ann REQ-1 ACTION STATE_TRANSITION SUCCESS: IN_PROGRESS to COMPLETED"
    );
    for (act, more) in [
        ("complete", json!({})),
        ("abandon", json!({ "reason": "x" })),
        ("unblock", json!({})),
    ] {
        api.denies("ann", act, "REQ-1", more, "409 INTENT_TRANSITION").await;
    }
}

#[tokio::test]
async fn a_reason_is_required_and_no_credential_of_it_is_kept() {
    let api = begun(|_| {}).await;
    for (act, more) in [
        ("abandon", json!({})),
        ("block", json!({})),
        ("complete", json!({ "force": true })),
        ("block", json!({ "reason": "two\nlines" })),
        ("block", json!({ "reason": "x".repeat(501) })),
    ] {
        let answer = api.acts("ann", act, "REQ-1", more).await;
        assert_eq!(wrong_field(&answer), "reason", "{act}");
    }
    let secret = "The token ghp_0123456789abcdef0123456789abcdef0123 is old";
    let blocked = api.does("ann", "block", "REQ-1", json!({ "reason": secret })).await;
    let kept = blocked["intent"]["reason"].as_str().unwrap();
    assert!(kept.contains("[redacted]") && !kept.contains("ghp_"), "{kept}");
    assert!(!api.ledger_lines().await.concat().contains("ghp_"));
}

// rule: intents#person
#[tokio::test]
async fn some_acts_take_a_person() {
    let api = begun(|_| {}).await;
    api.writes_intent("ann", &intent("REQ-2", &["src/db.ts"])).await;
    api.does("ann", "block", "REQ-1", json!({ "reason": "Wait" })).await;
    let by_agent = |more: Value| with(more, json!({ "agent_id": "one" }));
    for (act, more) in [
        ("unblock", json!({})),
        ("allow", json!({ "other": "REQ-2" })),
        ("take_over", json!({ "file_paths": ["src/db.ts"] })),
        ("abandon", json!({ "reason": "x" })),
    ] {
        let more_by_agent = by_agent(more.clone());
        api.denies("ann", act, "REQ-1", more_by_agent, "403 PERSON_REQUIRED")
            .await;
        api.does("ann", act, "REQ-1", more).await;
        if act == "unblock" {
            let forced = by_agent(json!({ "force": true, "reason": "x" }));
            assert_eq!(api.acts("ann", "complete", "REQ-1", forced).await.status, 403);
            let wait = json!({ "reason": "Wait again" });
            api.does("ann", "block", "REQ-1", wait).await;
        }
    }
}

// rule: intents#person
#[tokio::test]
async fn only_named_approvers_count_as_a_person() {
    let api = begun(|app| app.approvers = Approvers::of(["root", "eve"])).await;
    let forced = json!({ "force": true, "reason": "The criterion is moot" });
    let refused = api
        .denies("ann", "complete", "REQ-1", forced.clone(), "403 PERSON_REQUIRED")
        .await;
    assert!(refused["message"].as_str().unwrap().contains("root, eve"), "{refused}");
    let completed = api.does("eve", "complete", "REQ-1", forced).await;
    assert_eq!(completed["intent"]["reason"], "The criterion is moot");
    let last = api.last_line().await;
    assert!(
        last.ends_with("IN_PROGRESS to COMPLETED: The criterion is moot"),
        "{last}"
    );
}

#[tokio::test]
async fn files_are_taken_over_and_the_transition_is_recorded() {
    let api = begun(|_| {}).await;
    api.writes_intent("ann", &intent("REQ-2", &["src/auth.ts"])).await;
    let files = json!({ "file_paths": ["src/db.ts", "./src/auth.ts"] });
    api.denies("ann", "take_over", "REQ-2", files.clone(), "409 INTENT_NOT_ACTIVE")
        .await;
    let taken = api.does("ann", "take_over", "REQ-1", files.clone()).await;
    assert_eq!(taken["intent"]["owned_files"], 2);
    api.does("ann", "select", "REQ-2", json!({})).await;
    api.does("bob", "take_over", "REQ-2", files).await;
    let state = api.reads_intents("ann", "&view=state").await;
    assert_eq!(
        state["owners"],
        json!({ "src/auth.ts": ["REQ-2"], "src/db.ts": ["REQ-2"] })
    );
    assert_eq!(state["locks"], json!([]));
    assert_eq!(
        api.last_line().await,
        "bob REQ-2 REQUEST STATE_TRANSITION SUCCESS: Taken over from REQ-1"
    );
    let activity = api.shows("ann", "activity", "&limit=1").await;
    assert_has!(activity["events"][0], { "type": "file_taken_over", "previous": "REQ-1" });
}
