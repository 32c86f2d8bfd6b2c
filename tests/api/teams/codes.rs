//! Codes of refusals on the wire that no other test meets.

use serde_json::json;

use crate::api::Api;

const SHUTDOWN: &str = "teams/alpha/shutdown";

#[tokio::test]
async fn refusals_about_tasks_have_their_codes() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "id": "docs-1", "title": "B", "dependencies": ["t1"] }]))
        .await;
    let again = json!({ "tasks": [{ "id": "docs-1", "title": "B" }] });
    api.refuses("ann/lead", "tasks", again, "409 TASK_EXISTS").await;
    let unknown = json!({ "tasks": [{ "title": "C", "dependencies": ["t99"] }] });
    api.refuses("ann/lead", "tasks", unknown, "409 UNKNOWN_DEPENDENCY")
        .await;
    let removed = api.removes("ann/lead", "tasks/t1", "").await;
    removed.expect("409 DEPENDED_ON");
    let note = json!({ "note": "n".repeat(16 * 1024) });
    let mut answers = Vec::new();
    for _ in 0..3 {
        answers.push(api.patches("bob/one", "tasks/t1", note.clone()).await);
    }
    answers[2].expect("409 NOTES_FULL");
    for _ in 0..3 {
        api.claims_task("bob/one", "t1").await;
        api.expire_claim("t1").await;
    }
    let claim = "tasks/t1/claim";
    api.refuses("bob/one", claim, json!({}), "409 TASK_HELD_BACK").await;
}

#[tokio::test]
async fn refusals_about_teams_and_shutdowns_have_their_codes() {
    let api = Api::with_team().await;
    let another = json!({ "handle": "another" });
    let join = "teams/alpha/join";
    api.refuses("bob/one", join, another, "409 ALREADY_MEMBER").await;
    let request = json!({ "step": "request", "target": "one", "reason": "The day is over" });
    let id = api.calls("ann/lead", SHUTDOWN, request).await["shutdown_id"].clone();
    let request = json!({ "step": "request", "reason": "The day is over" });
    api.refuses("bob/two", SHUTDOWN, request.clone(), "409 SHUTDOWN_OPEN")
        .await;
    let made = api.calls("ann/lead", "teams", json!({ "name": "beta" })).await;
    assert_eq!(made["orchestration"]["action"], "PROCEED");
    let approve = json!({ "step": "approve", "shutdown_id": id });
    api.calls("bob/one", SHUTDOWN, approve).await;
    let beta = "teams/beta/shutdown";
    for who in ["bob/one", "bob/two"] {
        api.calls(who, "teams/beta/join", json!({})).await;
    }
    let id = api.calls("ann/lead", beta, request).await["shutdown_id"].clone();
    let answer = |step: &str| json!({ "step": step, "shutdown_id": id, "reason": "No" });
    api.calls("bob/one", beta, answer("approve")).await;
    api.refuses("bob/one", beta, answer("reject"), "409 SHUTDOWN_ANSWERED")
        .await;
}

#[tokio::test]
async fn a_login_that_has_made_twenty_teams_gets_too_many() {
    let api = Api::start().await;
    for number in 0..20 {
        let name = json!({ "name": format!("team-{number}") });
        api.calls("bob/one", "teams", name).await;
    }
    let more = json!({ "name": "more" });
    api.refuses("bob/two", "teams", more, "409 TOO_MANY").await;
}
