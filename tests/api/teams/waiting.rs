//! Requests that wait.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use coord_domain::team::TeamName;
use serde_json::{Value, json};

use crate::api::{Api, repo};

#[tokio::test]
async fn a_poll_is_answered_by_the_first_message() {
    let api = Api::with_team().await;
    let poll = api.does_in_team("bob/one", "/api/messages/read", json!({ "wait": 20 }));
    let send = async {
        api.until_a_request_waits().await;
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

// rule: teams#cursor
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

/// A deployment whose functions end early sets it.
#[tokio::test]
async fn the_longest_poll_of_a_server_is_what_it_is_set_to() {
    let api = Api::with_team_where(|app| app.locks.poll_max_seconds = 1).await;
    let began = Instant::now();
    let inbox = api
        .does_in_team("bob/one", "/api/messages/read", json!({ "wait": 20 }))
        .await;
    assert_eq!(inbox["timed_out"], json!(true));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_poll_ends_when_a_shutdown_is_requested() {
    let api = Api::with_team().await;
    let poll = api.does_in_team("bob/one", "/api/messages/read", json!({ "wait": 20 }));
    let ask = async {
        api.until_a_request_waits().await;
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
async fn a_waiting_member_gets_the_task_that_becomes_ready() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
    let wait = api.does_in_team("bob/two", "/api/tasks/next", json!({ "wait": 20 }));
    let complete = async {
        api.until_a_request_waits().await;
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
        // time: both requests wait, and not only one.
        tokio::time::sleep(Duration::from_millis(300)).await;
        events.close();
    };
    let ((inbox, next), ()) = tokio::join!(polls, stop);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!((&inbox["messages"], &inbox["cursor"]), (&json!([]), &json!(0)));
    assert_eq!(next["task"], Value::Null);
}

/// It was answered at once, so that workers that had come early asked without end.
#[tokio::test]
async fn a_waiting_member_gets_the_first_added_task() {
    let api = Api::with_team().await;
    for id in ["t1", "t2"] {
        let wait = api.does_in_team("bob/two", "/api/tasks/next", json!({ "wait": 15 }));
        let add = async {
            api.until_a_request_waits().await;
            api.adds(json!([{ "title": "A" }])).await;
        };
        let (next, ()) = tokio::join!(wait, add);
        assert_eq!(next["task"]["id"], json!(id), "{next}");
        api.does_in_team("bob/two", &format!("/api/tasks/{id}/complete"), json!({}))
            .await;
    }
}

impl Api {
    /// Expires the claim of a task, as if its time had passed.
    pub async fn expire_claim(&self, id: &str) {
        self.alters(id, json!({ "expires": 1_000_000_000_000_i64 })).await;
    }

    /// Writes into the stored record of a task, as if that had come about.
    async fn alters(&self, id: &str, fields: Value) {
        let key = coord_teams_state::tasks::keys::tasks(&repo(), &TeamName::parse("alpha").unwrap());
        let stored = self.command(["HGET", &key, id]).await.unwrap();
        let mut task: Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
        task.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        self.command(["HSET", &key, id, &task.to_string()]).await;
    }

    /// `bob/two` waits for a task; returns its answer when the leader edits one.
    async fn gets_by_an_edit(&self, id: &str, edit: Value) -> Value {
        let wait = self.does_in_team("bob/two", "/api/tasks/next", json!({ "wait": 8 }));
        let edit = async {
            self.until_a_request_waits().await;
            let edited = self.patches("ann/lead", &format!("/api/tasks/{id}"), edit).await;
            assert_eq!(edited.status, 200, "{}", edited.json());
        };
        tokio::join!(wait, edit).0["task"]["id"].clone()
    }
}

/// Only what makes, frees or ends tasks woke it.
#[tokio::test]
async fn a_waiting_member_gets_the_task_that_an_edit_makes_ready() {
    let api = Api::with_team().await;
    api.adds(json!([
        { "title": "A" }, { "title": "B", "dependencies": ["t1"] }, { "title": "C" }, { "title": "D" }
    ]))
    .await;
    api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
    for id in ["t3", "t4"] {
        let assigned = json!({ "assignee": "one" });
        let assigned = api.patches("ann/lead", &format!("/api/tasks/{id}"), assigned).await;
        assert_eq!(assigned.status, 200);
    }
    let freed = api.gets_by_an_edit("t2", json!({ "dependencies": [] })).await;
    assert_eq!(freed, json!("t2"), "what waited for another");
    let freed = api.gets_by_an_edit("t3", json!({ "assignee": "" })).await;
    assert_eq!(freed, json!("t3"), "what was kept for another");
    let freed = api.gets_by_an_edit("t4", json!({ "assignee": "two" })).await;
    assert_eq!(freed, json!("t4"), "what is kept for the caller now");
    api.adds(json!([{ "title": "E" }])).await;
    api.alters("t5", json!({ "lapses": 3 })).await;
    let ready = coord_teams_state::tasks::keys::ready(&repo(), &TeamName::parse("alpha").unwrap());
    api.command(["ZREM", &ready, "t5"]).await;
    let freed = api.gets_by_an_edit("t5", json!({ "clear_lapses": true })).await;
    assert_eq!(freed, json!("t5"), "what was held back");
}

/// It waited for ends of locks and claims alone.
#[tokio::test]
async fn a_waiting_member_gets_the_task_whose_reservation_ends() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let assigned = api
        .patches("ann/lead", "/api/tasks/t1", json!({ "assignee": "one" }))
        .await;
    assert_eq!(assigned.status, 200);
    let soon = SystemTime::now().duration_since(UNIX_EPOCH).unwrap() + Duration::from_secs(1);
    let soon = u64::try_from(soon.as_millis()).unwrap();
    api.alters("t1", json!({ "reserved": soon })).await;
    let next = api
        .does_in_team("bob/two", "/api/tasks/next", json!({ "wait": 8 }))
        .await;
    assert_eq!(next["task"]["id"], json!("t1"));
}
