//! The answers of requests about locks say what waits for the caller in its teams.

use serde_json::{Value, json};

use crate::api::Api;

/// The warnings about teams of a check, a claim and a release of one file, which must agree.
async fn told(api: &Api, who: &str) -> Vec<String> {
    let work = |more: Value| {
        let mut body = json!({ "branch": "main", "file_paths": ["src/told.ts"], "agent_head": api.head });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let post =
        |status: &str| work(json!({ "status": status, "message": "Try what is told", "abandon": status == "OPEN" }));
    let answers = [
        api.does_in_team(who, "/api/check_status", work(json!({}))).await,
        api.does_in_team(who, "/api/post_status", post("WRITING")).await,
        api.does_in_team(who, "/api/post_status", post("OPEN")).await,
        // A repeated release is answered as the first was, with what waits now.
        api.does_in_team(who, "/api/post_status", post("OPEN")).await,
    ];
    let all = answers.map(|answer| {
        let warnings = answer["warnings"].as_array().unwrap().iter();
        let texts = warnings.map(|warning| warning.as_str().unwrap().to_owned());
        texts
            .filter(|text| text.starts_with("UNREAD") || text.starts_with("SHUTDOWN"))
            .collect::<Vec<_>>()
    });
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    all[0].clone()
}

#[tokio::test]
async fn a_member_is_told_of_messages_until_it_has_read_them() {
    let api = Api::with_team().await;
    assert_eq!(told(&api, "bob/one").await, [""; 0]);
    for to in ["one", "broadcast"] {
        let sent = json!({ "to": [to], "message": "Hello" });
        api.does_in_team("ann/lead", "/api/messages", sent).await;
    }
    assert_eq!(
        told(&api, "bob/one").await,
        ["UNREAD: 2 messages wait for you, 'one' of team 'alpha'."]
    );
    assert_eq!(
        told(&api, "bob/two").await,
        ["UNREAD: A message waits for you, 'two' of team 'alpha'."]
    );
    // Neither the sender of a broadcast, nor another agent of the same login, nor one outside of the team.
    for other in ["ann/lead", "bob/else", "bob"] {
        assert_eq!(told(&api, other).await, [""; 0], "{other}");
    }
    let read = api.does_in_team("bob/one", "/api/messages/read", json!({})).await;
    let proof = json!({ "cursor": read["cursor"] });
    api.does_in_team("bob/one", "/api/messages/read", proof).await;
    assert_eq!(told(&api, "bob/one").await, [""; 0]);
}

#[tokio::test]
async fn a_member_is_told_of_a_shutdown_until_it_has_answered() {
    let api = Api::with_team().await;
    let path = "/api/teams/alpha/shutdown";
    let asked = json!({ "step": "request", "target": "one", "reason": "Enough" });
    let request = api.does_in_team("ann/lead", path, asked).await;
    let asks = "SHUTDOWN_REQUESTED: 'lead' asks you, 'one' of team 'alpha', to stop: read your messages, and approve or reject.";
    assert_eq!(
        told(&api, "bob/one").await,
        [asks, "UNREAD: A message waits for you, 'one' of team 'alpha'."]
    );
    assert_eq!(told(&api, "bob/two").await, [""; 0]);
    let reject = json!({ "step": "reject", "reason": "Not yet", "shutdown_id": request["shutdown_id"] });
    api.does_in_team("bob/one", path, reject).await;
    assert_eq!(
        told(&api, "bob/one").await,
        ["UNREAD: A message waits for you, 'one' of team 'alpha'."]
    );
}
