//! The acts on intents, and which of them take a person.

use coord_settings::Approvers;
use serde_json::{Value, json};

use super::intent;
use crate::api::Api;

async fn begun(change: impl FnOnce(&mut coord_server::app::App)) -> Api {
    let api = Api::start_with(change).await;
    api.writes_intent("ann", &intent("REQ-1", &["src/db.ts"])).await;
    api.does("ann", "select", "REQ-1", json!({})).await;
    api
}

// rule: intents#complete
#[tokio::test]
async fn an_intent_is_complete_when_each_criterion_is_met_and_its_holder_is_free() {
    let api = begun(|_| {}).await;
    let refused = api.acts("ann", "complete", "REQ-1", json!({})).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]),
        (409, &json!("CRITERIA_UNMET"))
    );
    assert!(
        refused.json()["orchestration"]["reason"]
            .as_str()
            .unwrap()
            .contains("Tests pass")
    );
    let met = ["Tests pass", "Documented"].map(|criterion| json!({ "criterion": criterion, "evidence": "See CI" }));
    assert_eq!(api.edits("ann", "REQ-1", json!({ "met": met })).await.status, 200);
    let completed = api.does("ann", "complete", "REQ-1", json!({})).await;
    assert_eq!(
        (&completed["state"], &completed["intent"]["status"]),
        (&json!("REQUEST"), &json!("COMPLETED"))
    );
    let last = api.ledger_lines().await.pop().unwrap();
    assert_eq!(
        last,
        "ann REQ-1 ACTION STATE_TRANSITION SUCCESS: IN_PROGRESS to COMPLETED"
    );
    for (act, more) in [
        ("complete", json!({})),
        ("abandon", json!({ "reason": "x" })),
        ("unblock", json!({})),
    ] {
        let refused = api.acts("ann", act, "REQ-1", more).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]),
            (409, &json!("INTENT_TRANSITION")),
            "{act}"
        );
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
        assert_eq!(
            (answer.status, &answer.json()["field"]),
            (400, &json!("reason")),
            "{act}"
        );
    }
    let reason = "The token ghp_0123456789abcdef0123456789abcdef0123 is old";
    let blocked = api.does("ann", "block", "REQ-1", json!({ "reason": reason })).await;
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
    let acts: [(&str, Value); 4] = [
        ("unblock", json!({})),
        ("allow", json!({ "other": "REQ-2" })),
        ("take_over", json!({ "file_paths": ["src/db.ts"] })),
        ("abandon", json!({ "reason": "x" })),
    ];
    for (act, more) in &acts {
        let mut by_agent = more.clone();
        by_agent["agent_id"] = json!("one");
        let refused = api.acts("ann", act, "REQ-1", by_agent).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]),
            (403, &json!("PERSON_REQUIRED")),
            "{act}"
        );
        api.does("ann", act, "REQ-1", more.clone()).await;
        if *act == "unblock" {
            let forced = json!({ "force": true, "reason": "x", "agent_id": "one" });
            assert_eq!(api.acts("ann", "complete", "REQ-1", forced).await.status, 403);
            api.does("ann", "block", "REQ-1", json!({ "reason": "Wait again" }))
                .await;
        }
    }
}

// rule: intents#person
#[tokio::test]
async fn only_named_approvers_count_as_a_person() {
    let api = begun(|app| {
        app.approvers = Approvers::of(["root", "eve"]);
    })
    .await;
    let forced = json!({ "force": true, "reason": "The criterion is moot" });
    let refused = api.acts("ann", "complete", "REQ-1", forced.clone()).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]),
        (403, &json!("PERSON_REQUIRED"))
    );
    assert!(refused.json()["message"].as_str().unwrap().contains("root, eve"));
    let completed = api.does("eve", "complete", "REQ-1", forced).await;
    assert_eq!(completed["intent"]["reason"], "The criterion is moot");
    let last = api.ledger_lines().await.pop().unwrap();
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
    let refused = api.acts("ann", "take_over", "REQ-2", files.clone()).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]),
        (409, &json!("INTENT_NOT_ACTIVE"))
    );
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
    let last = api.ledger_lines().await.pop().unwrap();
    assert_eq!(
        last,
        "bob REQ-2 REQUEST STATE_TRANSITION SUCCESS: Taken over from REQ-1"
    );
    let activity = api
        .get(&format!("/api/activity?repo_url={}&limit=1", crate::api::REPO_URL), &[])
        .await;
    let event = &activity.json()["events"][0];
    assert_eq!(
        (&event["type"], &event["previous"]),
        (&json!("file_taken_over"), &json!("REQ-1"))
    );
}
