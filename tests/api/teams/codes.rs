//! Codes of refusals on the wire that no other test meets.

use serde_json::json;

use super::error;
use crate::api::Api;

const SHUTDOWN: &str = "/api/teams/alpha/shutdown";

#[tokio::test]
async fn refusals_about_tasks_have_their_codes() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "id": "docs-1", "title": "B", "dependencies": ["t1"] }]))
        .await;
    let code = |answer| error(&answer).1;
    let again = json!({ "tasks": [{ "id": "docs-1", "title": "B" }] });
    assert_eq!(code(api.sends("ann/lead", "/api/tasks", again).await), "TASK_EXISTS");
    let unknown = json!({ "tasks": [{ "title": "C", "dependencies": ["t99"] }] });
    assert_eq!(
        code(api.sends("ann/lead", "/api/tasks", unknown).await),
        "UNKNOWN_DEPENDENCY"
    );
    assert_eq!(code(api.removes("ann/lead", "/api/tasks/t1", "").await), "DEPENDED_ON");
    let note = json!({ "note": "n".repeat(16 * 1024) });
    let mut codes = Vec::new();
    for _ in 0..3 {
        codes.push(code(api.patches("bob/one", "/api/tasks/t1", note.clone()).await));
    }
    assert_eq!(codes.last().unwrap(), "NOTES_FULL", "{codes:?}");
    for _ in 0..3 {
        api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
        api.expire_claim("t1").await;
    }
    let held_back = api.sends("bob/one", "/api/tasks/t1/claim", json!({})).await;
    assert_eq!(code(held_back), "TASK_HELD_BACK");
}

#[tokio::test]
async fn refusals_about_teams_and_shutdowns_have_their_codes() {
    let api = Api::with_team().await;
    let code = |answer| error(&answer).1;
    let another = json!({ "handle": "another" });
    assert_eq!(
        code(api.sends("bob/one", "/api/teams/alpha/join", another).await),
        "ALREADY_MEMBER"
    );
    let request = json!({ "step": "request", "target": "one", "reason": "The day is over" });
    let id = api.does_in_team("ann/lead", SHUTDOWN, request).await["shutdown_id"].clone();
    let request = json!({ "step": "request", "reason": "The day is over" });
    assert_eq!(
        code(api.sends("bob/two", SHUTDOWN, request.clone()).await),
        "SHUTDOWN_OPEN"
    );
    let all = api
        .does_in_team("ann/lead", "/api/teams", json!({ "name": "beta" }))
        .await;
    assert_eq!(all["orchestration"]["action"], "PROCEED");
    let answer = |step: &str| json!({ "step": step, "shutdown_id": id, "reason": "No" });
    api.does_in_team("bob/one", SHUTDOWN, answer("approve")).await;
    let beta = "/api/teams/beta/shutdown";
    for who in ["bob/one", "bob/two"] {
        api.does_in_team(who, "/api/teams/beta/join", json!({})).await;
    }
    let id = api.does_in_team("ann/lead", beta, request).await["shutdown_id"].clone();
    let answer = |step: &str| json!({ "step": step, "shutdown_id": id, "reason": "No" });
    api.does_in_team("bob/one", beta, answer("approve")).await;
    assert_eq!(
        code(api.sends("bob/one", beta, answer("reject")).await),
        "SHUTDOWN_ANSWERED"
    );
}

#[tokio::test]
async fn a_login_that_has_made_twenty_teams_gets_too_many() {
    let api = Api::start().await;
    for number in 0..20 {
        let name = json!({ "name": format!("team-{number}") });
        api.does_in_team("bob/one", "/api/teams", name).await;
    }
    let more = api.sends("bob/two", "/api/teams", json!({ "name": "more" })).await;
    assert_eq!((more.status, error(&more).1.as_str()), (409, "TOO_MANY"));
}
