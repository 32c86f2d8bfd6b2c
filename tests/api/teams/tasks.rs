//! Tasks are added, changed, listed and removed.

use serde_json::{Value, json};

use super::{assert_has, texts_of};
use crate::api::Api;

fn ids(page: &Value) -> Vec<&str> {
    texts_of(&page["tasks"], "id")
}

#[tokio::test]
async fn tasks_of_one_request_name_each_other() {
    let api = Api::with_team().await;
    let tasks = json!([
        { "ref": "schema", "title": "Change the schema", "priority": "high", "files": ["./src//db.ts"], "branch": "main" },
        { "title": "Use it", "description": "Line one\nand two", "dependencies": ["schema", "schema"], "intent_id": "REQ-1" },
        {},
    ]);
    assert_eq!(api.adds(tasks).await, ["t1", "t2", "t3"]);
    let tasks = api.shows("eve", "tasks", "&team=alpha").await["tasks"].clone();
    assert_has!(tasks[0], { "blocks": ["t2"], "files": ["src/db.ts"], "isReady": true });
    assert_has!(tasks[1], { "dependencies": ["t1"], "isReady": false, "intent_id": "REQ-1", "description": null });
    assert_eq!(tasks[1]["lease"], json!({ "state": "none" }));
    assert_has!(tasks[2], { "title": "Untitled Task", "priority": "normal" });
    assert_has!(api.task("t2").await, { "description": "Line one\nand two", "createdBy": "lead" });
}

#[tokio::test]
async fn an_error_in_one_task_refuses_all() {
    let api = Api::with_team().await;
    let ring = json!([{ "ref": "a", "dependencies": ["b"] }, { "ref": "b", "dependencies": ["a"] }]);
    let many = json!({ "dependencies": vec!["t1"; 200], "blocks": vec!["t1"; 41] });
    for (tasks, status, message) in [
        (
            json!([{}, { "dependencies": ["t9"] }]),
            409,
            "Dependency task t9 does not exist",
        ),
        (json!([{}, { "blocks": ["t9"] }]), 409, "Blocked task t9 does not exist"),
        (ring, 409, "Circular dependency detected: "),
        (
            json!([{ "ref": "a", "dependencies": ["a"] }]),
            409,
            "Circular dependency detected: ",
        ),
        (json!([{ "ref": "a" }, { "ref": "a" }]), 400, "ref names two tasks: a"),
        (json!([]), 400, "tasks must be 1 to 200"),
        (
            json!([{ "title": "two\nlines" }]),
            400,
            "title has a text that is not one line",
        ),
        (
            json!([{ "title": "x".repeat(201) }]),
            400,
            "title has a text of more than 200 characters",
        ),
        (
            json!([{ "description": "x".repeat(16_385) }]),
            400,
            "description has more than 16384 bytes",
        ),
        (
            json!([{ "description": "a\u{1b}[2Kb" }]),
            400,
            "description has invisible characters",
        ),
        (json!([{ "files": ["../x"] }]), 400, "files "),
        (json!([{ "id": "a/b" }]), 400, "id "),
        (
            json!([{ "dependencies": vec!["t1"; 257] }]),
            400,
            "dependencies has 257 tasks; send 256 at most",
        ),
        (
            json!(vec![many; 17]),
            400,
            "tasks have 4097 dependencies together; send 4096 at most",
        ),
    ] {
        let answer = api.sends("ann/lead", "tasks", json!({ "tasks": tasks })).await;
        let body = answer.json();
        assert_eq!(answer.status, status, "{message}: {body}");
        assert!(body["message"].as_str().unwrap().starts_with(message), "{body}");
    }
    assert_eq!(ids(&api.shows("eve", "tasks", "&team=alpha").await), [""; 0]);
}

// rule: teams#request-key
#[tokio::test]
async fn a_repeated_key_makes_no_second_task() {
    let api = Api::with_team().await;
    let request = |key: &str, title: &str| json!({ "request_key": key, "tasks": [{ "title": title }] });
    let first = api.calls("ann/lead", "tasks", request("k-1", "A")).await;
    let again = api.calls("ann/lead", "tasks", request("k-1", "A")).await;
    assert_eq!(first["ids"], again["ids"]);
    api.refuses("ann/lead", "tasks", request("k-1", "B"), "409 KEY_REUSED")
        .await;
    let wrong = api.sends("ann/lead", "tasks", request("a b", "B")).await;
    assert_eq!(wrong.json()["field"], "request_key");
    assert_eq!(ids(&api.shows("eve", "tasks", "&team=alpha").await), ["t1"]);
}

// rule: teams#status
#[tokio::test]
async fn a_change_is_made_whole_or_not_at_all() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    let refuses = async |edit: Value, refusal: &str| {
        let answer = api.patches("bob/one", "tasks/t1", edit).await;
        answer.expect(refusal)["message"].as_str().unwrap().to_owned()
    };
    let ring = json!({ "title": "C", "dependencies": ["t2"] });
    assert_eq!(
        refuses(ring, "409 CIRCULAR_DEPENDENCY").await,
        "Circular dependency detected: t1 -> t2 -> t1"
    );
    assert_eq!(api.task("t1").await["title"], "A");
    let change = json!({ "title": "C", "description": "What", "priority": "low", "note": "Seen", "status": "pending" });
    let task = api.edits_task("bob/one", "t1", change).await;
    assert_has!(task, { "title": "C", "description": "What", "priority": "low" });
    assert_has!(task["notes"][0], { "by": "one", "login": "bob", "text": "Seen" });
    for (status, sentence) in [
        ("in_progress", "An edit cannot make task t1 in_progress: it is pending"),
        ("completed", "Invalid status transition: pending -> completed"),
    ] {
        let edit = json!({ "status": status });
        assert_eq!(refuses(edit, "409 INVALID_TRANSITION").await, sentence);
    }
}

// rule: teams#assign
#[tokio::test]
async fn an_assigned_task_is_reserved_for_its_member_and_sends_a_message() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let both = json!({ "assignee": "one", "title": "B" });
    let both = api.patches("ann/lead", "tasks/t1", both).await.json();
    assert_eq!(both["message"], "assignee must be sent alone");
    let assign = json!({ "assignee": "one" });
    let no_right = api.patches("bob/one", "tasks/t1", assign.clone()).await;
    no_right.expect("403 NOT_CREATOR");
    let assigned = api.edits_task("ann/lead", "t1", assign).await;
    assert_eq!(assigned["assignee"], "one");
    assert!(assigned["reservedUntil"].is_string());
    let path = "tasks/t1/claim";
    let kept = api.refuses("bob/two", path, json!({}), "409 TASK_RESERVED").await;
    assert_has!(kept["orchestration"], { "action": "SWITCH_TASK", "metadata": { "task_owner": "one" } });
    let inbox = api.inbox("bob/one").await;
    assert_has!(inbox["messages"][0], { "type": "task_assignment", "task_id": "t1" });
    let next = api.calls("bob/one", "tasks/next", json!({})).await;
    assert_eq!(next["task"]["id"], "t1");
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let api = Api::with_team().await;
    let tasks: Vec<_> = (0..7)
        .map(|number| json!({ "title": format!("Task {number}") }))
        .collect();
    api.adds(json!(tasks)).await;
    let docs =
        json!([{ "title": "Docs", "description": "All of\nit", "files": ["README.md"], "dependencies": ["t1"] }]);
    api.adds(docs).await;
    api.claims_task("bob/one", "t2").await;
    let list = async |query: &str| api.shows("eve", "tasks", &format!("&team=alpha{query}")).await;
    for (query, expected) in [
        ("&status=in_progress", &["t2"][..]),
        ("&owner=ONE", &["t2"]),
        ("&readiness=blocked", &["t8"]),
        ("&readiness=ready&limit=3", &["t1", "t3", "t4"]),
        ("&text=DOC", &["t8"]),
        ("&readiness=unclaimed&limit=3", &["t1", "t3", "t4"]),
        ("&file=README.md", &["t8"]),
    ] {
        assert_eq!(ids(&list(query).await), expected, "{query}");
    }
    let edit = json!({ "description": "All of it" });
    api.edits_task("bob/one", "t3", edit).await;
    assert_eq!(list("").await["tasks"][2].get("description"), None);
    assert_eq!(list("&text=doc").await["tasks"][0]["description"], Value::Null);
    let described = list("&descriptions=true").await["tasks"].clone();
    for (place, description) in [(0, Value::Null), (2, json!("All of it")), (7, json!("All of\nit"))] {
        assert_eq!(described[place]["description"], description, "{place}");
    }
    let page = list("&limit=5").await;
    assert_eq!((ids(&page).len(), &page["next"]), (5, &json!(5)));
    let rest = list("&limit=5&after=5").await;
    assert_eq!((ids(&rest), &rest["next"]), (vec!["t6", "t7", "t8"], &Value::Null));
    for query in [
        "&limit=0",
        "&limit=501",
        "&status=done",
        "&readiness=x",
        "&descriptions=yes",
        "&after=-1",
        "&owner=a/b",
        "&file=../x",
        "&descriptions=1",
    ] {
        let refused = api.gets("eve", "tasks", &format!("&team=alpha{query}")).await;
        assert_eq!(refused.status, 400, "{query}");
    }
}

// rule: teams#delete-task
#[tokio::test]
async fn a_task_on_which_others_depend_is_deleted_only_with_unlink() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    let kept = api.removes("ann/lead", "tasks/t1", "").await.json();
    assert_eq!(kept["message"], "Cannot delete task t1 because task t2 depends on it");
    let removed = api.removes("ann/lead", "tasks/t1", "&unlink=true").await;
    assert_eq!((removed.status, &removed.json()["unblocked"]), (200, &json!(1)));
    let gone = api.gets("eve", "tasks/t1", "&team=alpha").await;
    let gone = gone.expect("404 UNKNOWN_TASK");
    assert_eq!(gone["message"], "Task t1 not found in team alpha");
    assert_eq!(api.task("t2").await["dependencies"], json!([]));
}
