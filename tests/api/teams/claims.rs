//! Tasks are claimed, completed and released.

use serde_json::{Value, json};

use super::error;
use crate::api::Api;

// rule: teams#lease
#[tokio::test]
async fn a_task_has_one_owner_who_may_claim_again() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A", "description": "Do it" }])).await;
    let claimed = api
        .does_in_team("bob/one", "/api/tasks/t1/claim", json!({ "lease_seconds": 60 }))
        .await;
    let task = &claimed["task"];
    assert_eq!(
        (
            &task["owner"],
            &task["status"],
            &task["description"],
            &task["lease"]["state"]
        ),
        (&json!("one"), &json!("in_progress"), &json!("Do it"), &json!("held"))
    );
    let token = task["lease"]["token"].as_i64().unwrap();
    let taken = api.sends("bob/two", "/api/tasks/t1/claim", json!({})).await;
    assert_eq!(
        error(&taken),
        (
            409,
            "TASK_TAKEN".to_owned(),
            "Task t1 is not available (status: in_progress)".to_owned()
        )
    );
    let orchestration = &taken.json()["orchestration"];
    assert_eq!(
        (&orchestration["action"], &orchestration["metadata"]["task_owner"]),
        (&json!("SWITCH_TASK"), &json!("one"))
    );
    let again = api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
    assert_eq!(again["task"]["lease"]["token"].as_i64(), Some(token));
    for seconds in [29, 86_401] {
        let refused = api
            .sends("bob/one", "/api/tasks/t1/claim", json!({ "lease_seconds": seconds }))
            .await;
        assert_eq!(refused.json()["field"], json!("lease_seconds"));
    }
}

// rule: teams#dependencies
#[tokio::test]
async fn a_blocked_task_is_claimed_with_the_documented_warning_and_in_a_strict_team_not() {
    let api = Api::with_team().await;
    let tasks = json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]);
    api.adds(tasks.clone()).await;
    let claimed = api.does_in_team("bob/one", "/api/tasks/t2/claim", json!({})).await;
    assert_eq!(
        (&claimed["task"]["warning"], &claimed["unmet"]),
        (
            &json!("Warning: Task t2 dependencies are not met. Proceed with caution."),
            &json!(["t1"])
        )
    );
    let strict = json!({ "name": "strict", "strict": true });
    api.does_in_team("eve/lead", "/api/teams", strict).await;
    api.does_in_team("eve/lead", "/api/tasks", json!({ "tasks": tasks }))
        .await;
    let refused = api.sends("eve/lead", "/api/tasks/t2/claim", json!({})).await;
    assert_eq!(
        (error(&refused).1.as_str(), error(&refused).2.as_str()),
        ("DEPENDENCIES_UNMET", "Task t2 dependencies are not met: t1")
    );
}

// rule: teams#complete
#[tokio::test]
async fn completing_frees_the_dependents_and_hands_the_result_on() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    let early = api.sends("bob/one", "/api/tasks/t1/complete", json!({})).await;
    assert_eq!(error(&early).2, "Invalid status transition: pending -> completed");
    let token = api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await["task"]["lease"]["token"].clone();
    let other = api.sends("bob/two", "/api/tasks/t1/complete", json!({})).await;
    assert_eq!((error(&other).0, error(&other).1.as_str()), (409, "NOT_OWNER"));
    let stale = api
        .sends("bob/one", "/api/tasks/t1/complete", json!({ "token": 1_000_000 }))
        .await;
    assert_eq!(error(&stale).1, "CLAIM_LOST");
    let done = json!({ "result": "The column is \"pool\"", "token": token });
    let completed = api.does_in_team("bob/one", "/api/tasks/t1/complete", done).await;
    assert_eq!(
        (
            &completed["task"]["status"],
            &completed["unblocked"],
            &completed["task"]["owner"]
        ),
        (&json!("completed"), &json!(1), &json!("one"))
    );
    let again = api.does_in_team("bob/one", "/api/tasks/t1/complete", json!({})).await;
    assert_eq!(again["orchestration"]["reason"], json!("Task t1 was completed before"));
    let next = api.does_in_team("bob/two", "/api/tasks/next", json!({})).await;
    assert_eq!(
        (
            &next["task"]["id"],
            &next["dependency_results"][0]["result"],
            &next["task"]["metDependencies"]
        ),
        (&json!("t2"), &json!("The column is \"pool\""), &json!(["t1"]))
    );
    let taken = api.sends("bob/one", "/api/tasks/t1/claim", json!({})).await;
    assert_eq!(error(&taken).2, "Task t1 is not available (status: completed)");
}

/// They ended without a word.
// rule: teams#results
#[tokio::test]
async fn results_of_dependencies_that_have_no_room_are_named() {
    let api = Api::with_team().await;
    let tasks: Vec<_> = (0..40).map(|_| json!({ "title": "A" })).collect();
    let ids = api.adds(json!(tasks)).await;
    for id in &ids {
        api.does_in_team("bob/one", &format!("/api/tasks/{id}/claim"), json!({}))
            .await;
        let done = json!({ "result": "x".repeat(6000) });
        api.does_in_team("bob/one", &format!("/api/tasks/{id}/complete"), done)
            .await;
    }
    api.adds(json!([{ "title": "B", "dependencies": ids }])).await;
    let claimed = api.does_in_team("bob/one", "/api/tasks/t41/claim", json!({})).await;
    let given = claimed["dependency_results"].as_array().unwrap();
    assert_eq!(given.len(), 128 * 1024 / 6000);
    let warning = claimed["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("RESULTS_LEFT_OUT: There is no room for the results"),
        "{warning}"
    );
    let is_named = |id: &str| warning.contains(&format!(" {id},")) || warning.ends_with(&format!(" {id}"));
    for id in &ids {
        let is_given = given.iter().any(|result| result["id"] == json!(id));
        assert_ne!(is_named(id), is_given, "{id}: {warning}");
    }
    let done = api.does_in_team("bob/one", "/api/tasks/t41/complete", json!({})).await;
    assert_eq!(
        (&done["warnings"], &done["dependency_results"]),
        (&Value::Null, &Value::Null)
    );
}

// rule: teams#status
#[tokio::test]
async fn a_released_task_is_claimable_with_its_note() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    api.does_in_team("bob/one", "/api/tasks/t1/claim", json!({})).await;
    let released = api
        .does_in_team("bob/one", "/api/tasks/t1/release", json!({ "note": "Half done" }))
        .await;
    let task = &released["task"];
    assert_eq!(
        (
            &task["status"],
            &task["owner"],
            &task["previousOwner"],
            &task["lease"]["state"],
            &task["isReady"]
        ),
        (
            &json!("in_progress"),
            &Value::Null,
            &json!("one"),
            &json!("released"),
            &json!(true)
        )
    );
    let next = api.does_in_team("bob/two", "/api/tasks/next", json!({})).await;
    assert_eq!(
        (&next["task"]["id"], &next["task"]["notes"][0]["text"]),
        (&json!("t1"), &json!("Half done"))
    );
}

// rule: teams#next
#[tokio::test]
async fn next_without_a_task_lists_what_blocks_it() {
    let api = Api::with_team().await;
    let none_yet = api.does_in_team("bob/one", "/api/tasks/next", json!({})).await;
    assert_eq!(
        (
            &none_yet["task"],
            &none_yet["orchestration"]["action"],
            &none_yet["orchestration"]["reason"]
        ),
        (&Value::Null, &json!("WAIT"), &json!("The team has no tasks yet"))
    );
    api.adds(json!([{ "title": "A", "priority": "low" }, { "title": "B", "priority": "high" }]))
        .await;
    let key = json!({ "request_key": "n-1" });
    let first = api.does_in_team("bob/one", "/api/tasks/next", key.clone()).await;
    assert_eq!(first["task"]["id"], json!("t2"));
    let repeated = api.does_in_team("bob/one", "/api/tasks/next", key).await;
    assert_eq!(repeated["task"]["id"], json!("t2"));
    api.does_in_team("bob/one", "/api/tasks/next", json!({})).await;
    let nothing = api.does_in_team("bob/two", "/api/tasks/next", json!({})).await;
    assert_eq!(nothing["orchestration"]["action"], json!("WAIT"));
    let held: Vec<_> = nothing["held"]
        .as_array()
        .unwrap()
        .iter()
        .map(|held| held["owner"].clone())
        .collect();
    assert_eq!(held, ["one", "one"]);
    for id in ["t1", "t2"] {
        api.does_in_team("bob/one", &format!("/api/tasks/{id}/complete"), json!({}))
            .await;
    }
    let all_done = api.does_in_team("bob/two", "/api/tasks/next", json!({})).await;
    assert_eq!(
        (
            &all_done["orchestration"]["action"],
            &all_done["orchestration"]["reason"]
        ),
        (&json!("WAIT"), &json!("All tasks of the team are completed"))
    );
}

// rule: teams#complete
#[tokio::test]
async fn a_late_completion_warns_lease_expired_and_a_lost_claim_is_refused() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B" }])).await;
    for id in ["t1", "t2"] {
        api.does_in_team("bob/one", &format!("/api/tasks/{id}/claim"), json!({}))
            .await;
        api.expire_claim(id).await;
    }
    let late = api
        .does_in_team("bob/one", "/api/tasks/t1/complete", json!({ "result": "x" }))
        .await;
    assert_eq!(
        late["warnings"],
        json!(["LEASE_EXPIRED: the claim had expired, and no one else had claimed the task"])
    );
    let other = json!({ "result": "y" });
    let again = api
        .does_in_team("bob/one", "/api/tasks/t1/complete", other.clone())
        .await;
    assert_eq!(again["task"]["result"], json!("x"));
    let warning = again["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("RESULT_KEPT: "), "{warning}");
    let not_had = api.sends("bob/two", "/api/tasks/t1/complete", other).await;
    assert_eq!(
        (not_had.status, &not_had.json()["error"]),
        (409, &json!("TASK_UNAVAILABLE")),
        "{}",
        not_had.json()
    );
    api.does_in_team("bob/two", "/api/tasks/t2/claim", json!({})).await;
    let lost = api.sends("bob/one", "/api/tasks/t2/complete", json!({})).await;
    let body = lost.json();
    assert_eq!(
        (
            lost.status,
            &body["orchestration"]["action"],
            &body["orchestration"]["metadata"]["task_owner"]
        ),
        (409, &json!("STOP"), &json!("two")),
        "{body}"
    );
    // The refusal names the time that the owner's claim has left.
    let taken = api.sends("bob/one", "/api/tasks/t2/claim", json!({})).await.json();
    let retry_after = taken["orchestration"]["metadata"]["retry_after"].as_i64().unwrap();
    assert!((800..=901).contains(&retry_after), "{taken}");
}

#[tokio::test]
async fn a_member_gets_a_message_when_its_task_is_deleted() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    for id in ["t1", "t2"] {
        api.does_in_team("bob/one", &format!("/api/tasks/{id}/claim"), json!({}))
            .await;
    }
    let deleted = api
        .removes("ann/lead", "/api/tasks/t1", "&team=alpha&unlink=true")
        .await;
    assert_eq!(deleted.status, 200, "{}", deleted.json());
    let inbox = api.does_in_team("bob/one", "/api/messages/read", json!({})).await;
    let texts: Vec<&Value> = inbox["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["message"])
        .collect();
    assert_eq!(
        texts,
        [
            &json!("Dependencies are gone with task t1, which was deleted: t2"),
            &json!("Task t1, which you had, was deleted by lead: A")
        ]
    );
}
