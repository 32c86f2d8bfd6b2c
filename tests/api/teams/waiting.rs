//! Requests that wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::Api;

#[tokio::test]
async fn a_poll_is_answered_by_the_first_message() {
    let api = Api::with_team().await;
    let poll = api.does_in_team("bob/one", "/api/messages/read", json!({ "wait": 20 }));
    let send = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        // Not for this reader.
        api.does_in_team("ann/lead", "/api/messages", json!({ "to": ["two"], "message": "x" }))
            .await;
        api.does_in_team("ann/lead", "/api/messages", json!({ "to": ["one"], "message": "y" }))
            .await;
    };
    let began = Instant::now();
    let (inbox, ()) = tokio::join!(poll, send);
    assert_eq!(
        (&inbox["messages"][0]["message"], &inbox["timed_out"]),
        (&json!("y"), &json!(false))
    );
    assert!(began.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn a_poll_in_vain_has_the_same_cursor() {
    let api = Api::with_team().await;
    api.does_in_team("ann/lead", "/api/messages", json!({ "to": ["one"], "message": "x" }))
        .await;
    let first = api.does_in_team("bob/one", "/api/messages/read", json!({})).await;
    let vain = json!({ "wait": 1, "cursor": first["cursor"] });
    let vain = api.does_in_team("bob/one", "/api/messages/read", vain).await;
    assert_eq!(
        (&vain["messages"], &vain["timed_out"], &vain["cursor"]),
        (&json!([]), &json!(true), &first["cursor"])
    );
    let long = api.sends("bob/one", "/api/messages/read", json!({ "wait": 21 })).await;
    assert_eq!((long.status, &long.json()["field"]), (400, &json!("wait")));
}

#[tokio::test]
async fn a_poll_ends_when_a_shutdown_is_asked() {
    let api = Api::with_team().await;
    let poll = api.does_in_team("bob/one", "/api/messages/read", json!({ "wait": 20 }));
    let ask = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        api.does_in_team(
            "ann/lead",
            "/api/teams/alpha/shutdown",
            json!({ "step": "request", "target": "one" }),
        )
        .await;
    };
    let (inbox, ()) = tokio::join!(poll, ask);
    assert_eq!(
        (&inbox["shutdown"]["target"], &inbox["timed_out"]),
        (&json!("one"), &json!(false))
    );
}

#[tokio::test]
async fn who_waits_for_a_task_gets_the_one_that_becomes_ready() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
    let wait = api.does_in_team("bob/two", "/api/tasks/next", json!({ "wait": 20 }));
    let complete = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        api.does_in_team("bob/one", "/api/tasks/t1/complete", json!({})).await;
    };
    let (next, ()) = tokio::join!(wait, complete);
    assert_eq!(next["task"]["id"], json!("t2"));
    let vain = api
        .does_in_team("bob/one", "/api/tasks/next", json!({ "wait": 1 }))
        .await;
    assert_eq!(
        (&vain["task"], &vain["orchestration"]["action"]),
        (&Value::Null, &json!("WAIT"))
    );
}

#[tokio::test]
async fn a_server_that_stops_answers_its_polls_at_once() {
    let mut events = None;
    let api = Api::with_team_where(|app| events = Some(Arc::clone(&app.events))).await;
    api.adds(json!([{ "title": "A" }])).await;
    api.does_in_team("ann/lead", "/api/tasks/t1/claim", json!({})).await;
    let began = Instant::now();
    let polls = async {
        tokio::join!(
            api.does_in_team("bob/one", "/api/messages/read", json!({ "wait": 20 })),
            api.does_in_team("bob/two", "/api/tasks/next", json!({ "wait": 20 })),
        )
    };
    let stop = async {
        let events = events.unwrap();
        coord_test_support::waiting::until("they wait", async || events.is_watched()).await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        events.close();
    };
    let ((inbox, next), ()) = tokio::join!(polls, stop);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!((&inbox["messages"], &inbox["cursor"]), (&json!([]), &json!(0)));
    assert_eq!(next["task"], Value::Null);
}
