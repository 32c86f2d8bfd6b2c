//! The handshake by which a member stops, or a team ends.

use serde_json::json;

use super::{assert_has, wrong_field};
use crate::api::Api;

const PATH: &str = "teams/alpha/shutdown";

// rule: teams#shutdown-request
#[tokio::test]
async fn a_team_closes_when_all_have_approved_and_can_still_be_read() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    api.claims_task("bob/one", "t1").await;
    let body = json!({ "step": "request", "reason": "The day is over" });
    let request = api.calls("ann/lead", PATH, body).await;
    let id = request["shutdown_id"].clone();
    assert_eq!(request["shutdown_state"], "open");
    let open = api.team().await["shutdown"].clone();
    let second_of_day = |name: &str| {
        let time = open[name].as_str().unwrap();
        let parts = time[11..19].split(':').map(|part| part.parse::<u32>().unwrap());
        parts.fold(0, |sum, part| sum * 60 + part)
    };
    let time_to_respond = second_of_day("respond_by") + 86_400 - second_of_day("requested_at");
    assert_eq!(time_to_respond % 86_400, 60, "{open}");
    let next = async || api.sends("bob/one", "tasks/next", json!({})).await;
    next().await.expect("409 SHUTTING_DOWN STOP");
    let inbox = api.inbox("bob/two").await;
    assert_has!(inbox["shutdown"], { "id": id, "reason": "The day is over" });
    let approve = json!({ "step": "approve", "shutdown_id": id });
    let stopped = api.calls("bob/one", PATH, approve.clone()).await;
    assert_has!(stopped, { "given_back": ["t1"], "shutdown_state": "open" });
    let reason = next().await.reason();
    assert!(reason.contains("you have stopped: join the team again"), "{reason}");
    assert_eq!(api.team().await["shutdownApprovals"], json!(["lead", "one"]));
    let closed = api.calls("bob/two", PATH, approve).await;
    assert_eq!(closed["shutdown_state"], "closed");
    let sent = json!({ "team": "alpha", "to": ["one"], "message": "x" });
    api.refuses("bob/two", "messages", sent, "409 TEAM_CLOSED").await;
    assert!(api.team().await["closedAt"].is_string());
}

// rule: teams#shutdown-answer
#[tokio::test]
async fn a_rejection_needs_a_reason_and_ends_the_shutdown_of_a_member() {
    let api = Api::with_team().await;
    let request = json!({ "step": "request", "target": "one" });
    let id = api.calls("ann/lead", PATH, request).await["shutdown_id"].clone();
    let step = |step: &str| json!({ "step": step, "shutdown_id": id });
    let silent = api.sends("bob/one", PATH, step("reject")).await;
    assert_eq!(wrong_field(&silent), "reason");
    api.refuses("bob/two", PATH, step("approve"), "409 UNKNOWN_SHUTDOWN")
        .await;
    let early = api.sends("ann/lead", PATH, step("force")).await;
    early.expect("409 SHUTDOWN_TOO_EARLY WAIT");
    let reject = json!({ "step": "reject", "shutdown_id": id, "reason": "Two files are not pushed" });
    let rejected = api.calls("bob/one", PATH, reject).await;
    assert_eq!(rejected["shutdown_state"], "rejected");
    let inbox = api.inbox("ann/lead").await;
    assert_eq!(inbox["messages"][0]["message"], "Two files are not pushed");
}

// rule: teams#shutdown-end
#[tokio::test]
async fn the_leader_forces_what_was_not_answered_in_time() {
    let api = Api::with_team().await;
    let request = json!({ "step": "request", "respond_by_seconds": 1 });
    let id = api.calls("ann/lead", PATH, request).await["shutdown_id"].clone();
    // time: the time to respond ends.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let force = json!({ "step": "force", "shutdown_id": id });
    api.refuses("bob/one", PATH, force.clone(), "403 NOT_LEADER").await;
    assert_has!(api.calls("ann/lead", PATH, force).await, {
        "shutdown_state": "closed", "passed_over": ["one", "two"],
    });
    let short = json!({ "step": "request", "respond_by_seconds": 0 });
    for (wrong, field) in [
        (json!({}), "step"),
        (json!({ "step": "approve" }), "shutdown_id"),
        (short, "respond_by_seconds"),
        (json!({ "step": "request", "reason": "a\nb" }), "reason"),
        (json!({ "step": "request", "target": "../one" }), "target"),
    ] {
        assert_eq!(wrong_field(&api.sends("ann/lead", PATH, wrong).await), field);
    }
}
