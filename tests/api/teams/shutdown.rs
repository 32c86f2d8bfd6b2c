//! The handshake by which a member stops, or a team ends.

use serde_json::json;

use super::error;
use crate::api::Api;

// rule: teams#shutdown-request
#[tokio::test]
async fn a_team_closes_when_all_have_approved_and_can_still_be_read() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
    let path = "/api/teams/alpha/shutdown";
    let body = json!({ "step": "request", "reason": "The day is over" });
    let request = api.does_in_team("ann/lead", path, body).await;
    let id = request["shutdown_id"].clone();
    assert_eq!(request["shutdown_state"], json!("open"));
    let open = api.shows("eve", "/api/teams/alpha", "").await["team"]["shutdown"].clone();
    let second_of_day = |name: &str| {
        let time = open[name].as_str().unwrap();
        let parts = time[11..19].split(':').map(|part| part.parse::<u32>().unwrap());
        parts.fold(0, |sum, part| sum * 60 + part)
    };
    let time_to_respond = second_of_day("respond_by") + 86_400 - second_of_day("requested_at");
    assert_eq!(time_to_respond % 86_400, 60, "{open}");
    let refused = api.sends("bob/one", "/api/tasks/next", json!({})).await;
    assert_eq!(
        (error(&refused).1.as_str(), &refused.json()["orchestration"]["action"]),
        ("SHUTTING_DOWN", &json!("STOP"))
    );
    let inbox = api.does_in_team("bob/two", "/api/messages/read", json!({})).await;
    assert_eq!(
        (&inbox["shutdown"]["id"], &inbox["shutdown"]["reason"]),
        (&id, &json!("The day is over"))
    );
    let approve = json!({ "step": "approve", "shutdown_id": id });
    let stopped = api.does_in_team("bob/one", path, approve.clone()).await;
    assert_eq!(
        (&stopped["given_back"], &stopped["shutdown_state"]),
        (&json!(["t1"]), &json!("open"))
    );
    let none = api.sends("bob/one", "/api/tasks/next", json!({})).await;
    let reason = none.json()["orchestration"]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("you have stopped: join the team again"), "{reason}");
    let shown = api.shows("eve", "/api/teams/alpha", "").await;
    assert_eq!(shown["team"]["shutdownApprovals"], json!(["lead", "one"]));
    let closed = api.does_in_team("bob/two", path, approve).await;
    assert_eq!(closed["shutdown_state"], json!("closed"));
    let write = api
        .sends(
            "bob/two",
            "/api/messages",
            json!({ "team": "alpha", "to": ["one"], "message": "x" }),
        )
        .await;
    assert_eq!(error(&write).1, "TEAM_CLOSED");
    assert!(api.shows("eve", "/api/teams/alpha", "").await["team"]["closedAt"].is_string());
}

// rule: teams#shutdown-answer
#[tokio::test]
async fn a_rejection_needs_a_reason_and_ends_the_shutdown_of_a_member() {
    let api = Api::with_team().await;
    let path = "/api/teams/alpha/shutdown";
    let request = api
        .does_in_team("ann/lead", path, json!({ "step": "request", "target": "one" }))
        .await;
    let id = request["shutdown_id"].clone();
    let silent = api
        .sends("bob/one", path, json!({ "step": "reject", "shutdown_id": id }))
        .await;
    assert_eq!(silent.json()["field"], json!("reason"));
    let other = api
        .sends("bob/two", path, json!({ "step": "approve", "shutdown_id": id }))
        .await;
    assert_eq!(error(&other).1, "UNKNOWN_SHUTDOWN");
    let early = api
        .sends("ann/lead", path, json!({ "step": "force", "shutdown_id": id }))
        .await;
    assert_eq!(
        (error(&early).1.as_str(), &early.json()["orchestration"]["action"]),
        ("SHUTDOWN_TOO_EARLY", &json!("WAIT"))
    );
    let reject = json!({ "step": "reject", "shutdown_id": id, "reason": "Two files are not pushed" });
    let rejected = api.does_in_team("bob/one", path, reject).await;
    assert_eq!(rejected["shutdown_state"], json!("rejected"));
    let inbox = api.does_in_team("ann/lead", "/api/messages/read", json!({})).await;
    assert_eq!(inbox["messages"][0]["message"], json!("Two files are not pushed"));
}

// rule: teams#shutdown-end
#[tokio::test]
async fn the_leader_forces_what_was_not_answered_in_time() {
    let api = Api::with_team().await;
    let path = "/api/teams/alpha/shutdown";
    let request = json!({ "step": "request", "respond_by_seconds": 1 });
    let id = api.does_in_team("ann/lead", path, request).await["shutdown_id"].clone();
    // time: the time to respond ends.
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let force = json!({ "step": "force", "shutdown_id": id });
    let no_leader = api.sends("bob/one", path, force.clone()).await;
    assert_eq!(error(&no_leader).1, "NOT_LEADER");
    let forced = api.does_in_team("ann/lead", path, force).await;
    assert_eq!(
        (&forced["shutdown_state"], &forced["passed_over"]),
        (&json!("closed"), &json!(["one", "two"]))
    );
    for (wrong, field) in [
        (json!({}), "step"),
        (json!({ "step": "approve" }), "shutdown_id"),
        (
            json!({ "step": "request", "respond_by_seconds": 0 }),
            "respond_by_seconds",
        ),
        (json!({ "step": "request", "reason": "a\nb" }), "reason"),
        (json!({ "step": "request", "target": "../one" }), "target"),
    ] {
        let refused = api.sends("ann/lead", path, wrong).await;
        assert_eq!((refused.status, &refused.json()["field"]), (400, &json!(field)));
    }
}
