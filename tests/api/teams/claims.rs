//! Tasks are claimed, completed and released.

use serde_json::{Value, json};

use super::{assert_has, texts_of, wrong_field};
use crate::api::Api;

// rule: teams#lease
#[tokio::test]
async fn a_task_has_one_owner_who_may_claim_again() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A", "description": "Do it" }])).await;
    let path = "tasks/t1/claim";
    let task = api.calls("bob/one", path, json!({ "lease_seconds": 60 })).await["task"].clone();
    assert_has!(task, {
        "owner": "one", "status": "in_progress", "description": "Do it", "lease": { "state": "held" },
    });
    let token = task["lease"]["token"].as_i64().unwrap();
    let taken = api.refuses("bob/two", path, json!({}), "409 TASK_TAKEN").await;
    assert_has!(taken, {
        "message": "Task t1 is not available (status: in_progress)",
        "orchestration": { "action": "SWITCH_TASK", "metadata": { "task_owner": "one" } },
    });
    assert_eq!(api.claims_task("bob/one", "t1").await["task"]["lease"]["token"], token);
    for seconds in [29, 86_401] {
        let answer = api.sends("bob/one", path, json!({ "lease_seconds": seconds })).await;
        assert_eq!(wrong_field(&answer), "lease_seconds");
    }
}

// rule: teams#dependencies
#[tokio::test]
async fn a_blocked_task_is_claimed_with_the_documented_warning_and_in_a_strict_team_not() {
    let api = Api::with_team().await;
    let tasks = json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]);
    api.adds(tasks.clone()).await;
    assert_has!(api.claims_task("bob/one", "t2").await, {
        "task": { "warning": "Warning: Task t2 dependencies are not met. Proceed with caution." },
        "unmet": ["t1"],
    });
    let strict = json!({ "name": "strict", "strict": true });
    api.calls("eve/lead", "teams", strict).await;
    api.calls("eve/lead", "tasks", json!({ "tasks": tasks })).await;
    let path = "tasks/t2/claim";
    let refused = api.refuses("eve/lead", path, json!({}), "409 DEPENDENCIES_UNMET").await;
    assert_eq!(refused["message"], "Task t2 dependencies are not met: t1");
}

// rule: teams#complete
#[tokio::test]
async fn completing_frees_the_dependents_and_hands_the_result_on() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    let path = "tasks/t1/complete";
    let early = api.refuses("bob/one", path, json!({}), "409 INVALID_TRANSITION").await;
    assert_eq!(early["message"], "Invalid status transition: pending -> completed");
    let token = api.claims_task("bob/one", "t1").await["task"]["lease"]["token"].clone();
    api.refuses("bob/two", path, json!({}), "409 NOT_OWNER").await;
    let stale = json!({ "token": 1_000_000 });
    api.refuses("bob/one", path, stale, "409 CLAIM_LOST").await;
    let done = json!({ "result": "The column is \"pool\"", "token": token });
    assert_has!(api.calls("bob/one", path, done).await, {
        "task": { "status": "completed", "owner": "one" }, "unblocked": 1,
    });
    let again = api.calls("bob/one", path, json!({})).await;
    assert_eq!(again["orchestration"]["reason"], "Task t1 was completed before");
    let next = api.calls("bob/two", "tasks/next", json!({})).await;
    assert_has!(next, { "task": { "id": "t2", "metDependencies": ["t1"] } });
    assert_eq!(next["dependency_results"][0]["result"], "The column is \"pool\"");
    let path = "tasks/t1/claim";
    let taken = api.refuses("bob/one", path, json!({}), "409 TASK_UNAVAILABLE").await;
    assert_eq!(taken["message"], "Task t1 is not available (status: completed)");
}

/// They ended without a word.
// rule: teams#results
#[tokio::test]
async fn results_of_dependencies_that_have_no_room_are_named() {
    let api = Api::with_team().await;
    let ids = api.adds(json!(vec![json!({ "title": "A" }); 40])).await;
    for id in &ids {
        api.claims_task("bob/one", id).await;
        let done = json!({ "result": "x".repeat(6000) });
        api.calls("bob/one", &format!("tasks/{id}/complete"), done).await;
    }
    api.adds(json!([{ "title": "B", "dependencies": ids }])).await;
    let claimed = api.claims_task("bob/one", "t41").await;
    let given = texts_of(&claimed["dependency_results"], "id");
    assert_eq!(given.len(), 128 * 1024 / 6000);
    let warning = claimed["warnings"][0].as_str().unwrap();
    assert!(
        warning.starts_with("RESULTS_LEFT_OUT: There is no room for the results"),
        "{warning}"
    );
    let is_named = |id: &str| warning.contains(&format!(" {id},")) || warning.ends_with(&format!(" {id}"));
    for id in &ids {
        assert_ne!(is_named(id), given.contains(&id.as_str()), "{id}: {warning}");
    }
    let done = api.calls("bob/one", "tasks/t41/complete", json!({})).await;
    assert_has!(done, { "warnings": null, "dependency_results": null });
}

// rule: teams#status
#[tokio::test]
async fn a_released_task_is_claimable_with_its_note() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    api.claims_task("bob/one", "t1").await;
    let note = json!({ "note": "Half done" });
    let released = api.calls("bob/one", "tasks/t1/release", note).await;
    assert_has!(released["task"], {
        "status": "in_progress", "owner": null, "previousOwner": "one", "lease": { "state": "released" }, "isReady": true,
    });
    let next = api.calls("bob/two", "tasks/next", json!({})).await;
    assert_eq!(next["task"]["id"], "t1");
    assert_eq!(next["task"]["notes"][0]["text"], "Half done");
}

// rule: teams#next
#[tokio::test]
async fn next_without_a_task_lists_what_blocks_it() {
    let api = Api::with_team().await;
    let next = async |who: &str, more: Value| api.calls(who, "tasks/next", more).await;
    assert_has!(next("bob/one", json!({})).await, {
        "task": null, "orchestration": { "action": "WAIT", "reason": "The team has no tasks yet" },
    });
    api.adds(json!([{ "title": "A", "priority": "low" }, { "title": "B", "priority": "high" }]))
        .await;
    for attempt in ["first", "repeated"] {
        let given = next("bob/one", json!({ "request_key": "n-1" })).await;
        assert_eq!(given["task"]["id"], "t2", "{attempt}");
    }
    next("bob/one", json!({})).await;
    let nothing = next("bob/two", json!({})).await;
    assert_eq!(nothing["orchestration"]["action"], "WAIT");
    assert_eq!(texts_of(&nothing["held"], "owner"), ["one", "one"]);
    for id in ["t1", "t2"] {
        api.calls("bob/one", &format!("tasks/{id}/complete"), json!({})).await;
    }
    assert_has!(next("bob/two", json!({})).await["orchestration"], {
        "action": "WAIT", "reason": "All tasks of the team are completed",
    });
}

// rule: teams#complete
#[tokio::test]
async fn a_late_completion_warns_lease_expired_and_a_lost_claim_is_refused() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B" }])).await;
    for id in ["t1", "t2"] {
        api.claims_task("bob/one", id).await;
        api.expire_claim(id).await;
    }
    let path = "tasks/t1/complete";
    let late = api.calls("bob/one", path, json!({ "result": "x" })).await;
    assert_eq!(
        late["warnings"],
        json!(["LEASE_EXPIRED: the claim had expired, and no one else had claimed the task"])
    );
    let other = json!({ "result": "y" });
    let again = api.calls("bob/one", path, other.clone()).await;
    assert_eq!(again["task"]["result"], "x");
    let warning = again["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("RESULT_KEPT: "), "{warning}");
    api.refuses("bob/two", path, other, "409 TASK_UNAVAILABLE").await;
    api.claims_task("bob/two", "t2").await;
    let lost = api.sends("bob/one", "tasks/t2/complete", json!({})).await;
    assert_eq!(lost.status, 409);
    assert_has!(lost.json()["orchestration"], { "action": "STOP", "metadata": { "task_owner": "two" } });
    // The refusal names the time that the owner's claim has left.
    let taken = api.sends("bob/one", "tasks/t2/claim", json!({})).await.json();
    let retry_after = taken["orchestration"]["metadata"]["retry_after"].as_i64().unwrap();
    assert!((800..=901).contains(&retry_after), "{taken}");
}

#[tokio::test]
async fn a_member_gets_a_message_when_its_task_is_deleted() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    for id in ["t1", "t2"] {
        api.claims_task("bob/one", id).await;
    }
    let deleted = api.removes("ann/lead", "tasks/t1", "&team=alpha&unlink=true").await;
    deleted.expect("200");
    assert_eq!(
        texts_of(&api.inbox("bob/one").await["messages"], "message"),
        [
            "Dependencies are gone with task t1, which was deleted: t2",
            "Task t1, which you had, was deleted by lead: A"
        ]
    );
}
