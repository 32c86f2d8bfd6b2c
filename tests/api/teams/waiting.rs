//! Requests that wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use coord_domain::team::TeamName;
use serde_json::{Value, json};

use super::{assert_has, in_milliseconds, wrong_field};
use crate::api::{Api, repo};

impl Api {
    /// The answer to a poll of `who` at `path`; `act` is done once the poll waits.
    pub(super) async fn waits_for(&self, who: &str, path: &str, wait: Value, act: impl Future<Output = ()>) -> Value {
        let act = async {
            self.until_a_request_waits().await;
            act.await;
        };
        tokio::join!(self.calls(who, path, wait), act).0
    }

    /// `bob/two` waits for a task; returns its answer when the leader edits one.
    async fn gets_by_an_edit(&self, id: &str, edit: Value) -> Value {
        let edit = async { drop(self.edits_task("ann/lead", id, edit).await) };
        let next = self.waits_for("bob/two", "tasks/next", json!({ "wait": 8 }), edit);
        next.await["task"]["id"].clone()
    }
}

#[tokio::test]
async fn a_poll_is_answered_by_the_first_message() {
    let api = Api::with_team().await;
    let send = async {
        // Not for this reader.
        api.writes_to("two", "x").await;
        api.writes_to("one", "y").await;
    };
    let began = Instant::now();
    let inbox = api
        .waits_for("bob/one", "messages/read", json!({ "wait": 20 }), send)
        .await;
    assert_eq!(inbox["messages"][0]["message"], "y");
    assert_eq!(inbox["timed_out"], false);
    assert!(began.elapsed() < Duration::from_secs(15));
}

// rule: teams#cursor
#[tokio::test]
async fn a_poll_in_vain_has_the_same_cursor() {
    let api = Api::with_team().await;
    api.writes_to("one", "x").await;
    let cursor = api.inbox("bob/one").await["cursor"].clone();
    let vain = json!({ "wait": 1, "cursor": cursor });
    let vain = api.calls("bob/one", "messages/read", vain).await;
    assert_has!(vain, { "messages": [], "timed_out": true, "cursor": cursor });
    let long = api.sends("bob/one", "messages/read", json!({ "wait": 21 })).await;
    assert_eq!(wrong_field(&long), "wait");
}

/// A deployment whose functions end early sets it.
#[tokio::test]
async fn the_longest_poll_of_a_server_is_what_it_is_set_to() {
    let api = Api::with_team_where(|app| app.locks.poll_max_seconds = 1).await;
    let began = Instant::now();
    let inbox = api.calls("bob/one", "messages/read", json!({ "wait": 20 })).await;
    assert_eq!(inbox["timed_out"], true);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_poll_ends_when_a_shutdown_is_requested() {
    let api = Api::with_team().await;
    let ask = async {
        let request = json!({ "step": "request", "target": "one" });
        api.calls("ann/lead", "teams/alpha/shutdown", request).await;
    };
    let inbox = api
        .waits_for("bob/one", "messages/read", json!({ "wait": 20 }), ask)
        .await;
    assert_has!(inbox, { "shutdown": { "target": "one" }, "timed_out": false });
}

#[tokio::test]
async fn a_waiting_member_gets_the_task_that_becomes_ready() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    api.claims_task("bob/one", "t1").await;
    let complete = async { drop(api.calls("bob/one", "tasks/t1/complete", json!({})).await) };
    let next = api
        .waits_for("bob/two", "tasks/next", json!({ "wait": 20 }), complete)
        .await;
    assert_eq!(next["task"]["id"], "t2");
    let vain = api.calls("bob/one", "tasks/next", json!({ "wait": 1 })).await;
    assert_has!(vain, { "task": null, "orchestration": { "action": "WAIT" } });
}

#[tokio::test]
async fn a_server_that_stops_answers_its_polls_at_once() {
    let mut events = None;
    let api = Api::with_team_where(|app| events = Some(Arc::clone(&app.events))).await;
    api.adds(json!([{ "title": "A" }])).await;
    api.claims_task("ann/lead", "t1").await;
    let began = Instant::now();
    let stop = async {
        // time: both requests wait, and not only one.
        tokio::time::sleep(Duration::from_millis(300)).await;
        events.unwrap().close();
    };
    let (inbox, next) = tokio::join!(
        api.calls("bob/one", "messages/read", json!({ "wait": 20 })),
        api.waits_for("bob/two", "tasks/next", json!({ "wait": 20 }), stop),
    );
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_has!(inbox, { "messages": [], "cursor": 0 });
    assert_eq!(next["task"], Value::Null);
}

/// It was answered at once, so that workers that had come early asked without end.
#[tokio::test]
async fn a_waiting_member_gets_the_first_added_task() {
    let api = Api::with_team().await;
    for id in ["t1", "t2"] {
        let add = async { drop(api.adds(json!([{ "title": "A" }])).await) };
        let next = api.waits_for("bob/two", "tasks/next", json!({ "wait": 15 }), add).await;
        assert_eq!(next["task"]["id"], id, "{next}");
        api.calls("bob/two", &format!("tasks/{id}/complete"), json!({})).await;
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
    api.claims_task("bob/one", "t1").await;
    for id in ["t3", "t4"] {
        api.edits_task("ann/lead", id, json!({ "assignee": "one" })).await;
    }
    for (id, edit, case) in [
        ("t2", json!({ "dependencies": [] }), "what waited for another"),
        ("t3", json!({ "assignee": "" }), "what was kept for another"),
        ("t4", json!({ "assignee": "two" }), "what is kept for the caller now"),
    ] {
        assert_eq!(api.gets_by_an_edit(id, edit).await, id, "{case}");
    }
    api.adds(json!([{ "title": "E" }])).await;
    api.alters("t5", json!({ "lapses": 3 })).await;
    let ready = coord_teams_state::tasks::keys::ready(&repo(), &TeamName::parse("alpha").unwrap());
    api.command(["ZREM", &ready, "t5"]).await;
    let freed = api.gets_by_an_edit("t5", json!({ "clear_lapses": true })).await;
    assert_eq!(freed, "t5", "what was held back");
}

/// It waited for ends of locks and claims alone.
#[tokio::test]
async fn a_waiting_member_gets_the_task_whose_reservation_ends() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    api.edits_task("ann/lead", "t1", json!({ "assignee": "one" })).await;
    api.alters("t1", json!({ "reserved": in_milliseconds(1000) })).await;
    let next = api.calls("bob/two", "tasks/next", json!({ "wait": 8 })).await;
    assert_eq!(next["task"]["id"], "t1");
}
