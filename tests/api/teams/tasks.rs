//! Tasks are added, changed, listed and removed.

use serde_json::{Value, json};

use super::error;
use crate::api::Api;

fn ids(page: &Value) -> Vec<&str> {
    let tasks = page["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["id"].as_str().unwrap()).collect()
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
    let listed = api.shows("eve", "/api/tasks", "&team=alpha").await;
    let tasks = listed["tasks"].as_array().unwrap();
    assert_eq!(
        (&tasks[0]["blocks"], &tasks[1]["dependencies"]),
        (&json!(["t2"]), &json!(["t1"]))
    );
    assert_eq!(
        (&tasks[0]["files"], &tasks[0]["isReady"]),
        (&json!(["src/db.ts"]), &json!(true))
    );
    assert_eq!(
        (&tasks[1]["isReady"], &tasks[1]["intent_id"]),
        (&json!(false), &json!("REQ-1"))
    );
    assert_eq!(
        (&tasks[2]["title"], &tasks[2]["priority"]),
        (&json!("Untitled Task"), &json!("normal"))
    );
    assert_eq!(
        (&tasks[1]["description"], &tasks[1]["lease"]),
        (&Value::Null, &json!({ "state": "none" }))
    );
    let shown = api.shows("eve", "/api/tasks/t2", "&team=alpha").await;
    assert_eq!(
        (&shown["task"]["description"], &shown["task"]["createdBy"]),
        (&json!("Line one\nand two"), &json!("lead"))
    );
}

#[tokio::test]
async fn an_error_in_one_task_refuses_all() {
    let api = Api::with_team().await;
    for (tasks, status, message) in [
        (
            json!([{}, { "dependencies": ["t9"] }]),
            409,
            "Dependency task t9 does not exist",
        ),
        (json!([{}, { "blocks": ["t9"] }]), 409, "Blocked task t9 does not exist"),
        (
            json!([{ "ref": "a", "dependencies": ["b"] }, { "ref": "b", "dependencies": ["a"] }]),
            409,
            "Circular dependency detected: ",
        ),
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
            json!(vec![
                json!({ "dependencies": vec!["t1"; 200], "blocks": vec!["t1"; 41] });
                17
            ]),
            400,
            "tasks have 4097 dependencies together; send 4096 at most",
        ),
    ] {
        let refused = api.sends("ann/lead", "/api/tasks", json!({ "tasks": tasks })).await;
        let (found, _, sentence) = error(&refused);
        assert!(found == status && sentence.starts_with(message), "{found} {sentence}");
    }
    assert_eq!(ids(&api.shows("eve", "/api/tasks", "&team=alpha").await), [""; 0]);
}

// rule: teams#request-key
#[tokio::test]
async fn a_repeated_key_makes_no_second_task() {
    let api = Api::with_team().await;
    let request = json!({ "request_key": "k-1", "tasks": [{ "title": "A" }] });
    let first = api.does_in_team("ann/lead", "/api/tasks", request.clone()).await;
    let again = api.does_in_team("ann/lead", "/api/tasks", request).await;
    assert_eq!(first["ids"], again["ids"]);
    let other = json!({ "request_key": "k-1", "tasks": [{ "title": "B" }] });
    assert_eq!(error(&api.sends("ann/lead", "/api/tasks", other).await).1, "KEY_REUSED");
    let wrong = json!({ "request_key": "a b", "tasks": [{ "title": "B" }] });
    assert_eq!(
        api.sends("ann/lead", "/api/tasks", wrong).await.json()["field"],
        json!("request_key")
    );
    assert_eq!(ids(&api.shows("eve", "/api/tasks", "&team=alpha").await), ["t1"]);
}

// rule: teams#status
#[tokio::test]
async fn a_change_is_made_whole_or_not_at_all() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    let ring = json!({ "title": "C", "dependencies": ["t2"] });
    let refused = api.patches("bob/one", "/api/tasks/t1", ring).await;
    assert_eq!(error(&refused).2, "Circular dependency detected: t1 -> t2 -> t1");
    assert_eq!(
        api.shows("eve", "/api/tasks/t1", "&team=alpha").await["task"]["title"],
        json!("A")
    );
    let change = json!({ "title": "C", "description": "What", "priority": "low", "note": "Seen", "status": "pending" });
    let changed = api.patches("bob/one", "/api/tasks/t1", change).await;
    assert_eq!(changed.status, 200, "{}", changed.json());
    let task = changed.json()["task"].clone();
    assert_eq!(
        (&task["title"], &task["description"], &task["priority"]),
        (&json!("C"), &json!("What"), &json!("low"))
    );
    let note = &task["notes"][0];
    assert_eq!(
        (&note["by"], &note["login"], &note["text"]),
        (&json!("one"), &json!("bob"), &json!("Seen"))
    );
    let forward = api
        .patches("bob/one", "/api/tasks/t1", json!({ "status": "in_progress" }))
        .await;
    assert_eq!(
        error(&forward),
        (
            409,
            "INVALID_TRANSITION".to_owned(),
            "An edit does not make task t1 in_progress: it is pending".to_owned()
        )
    );
    let backward = api
        .patches("bob/one", "/api/tasks/t1", json!({ "status": "completed" }))
        .await;
    assert_eq!(error(&backward).2, "Invalid status transition: pending -> completed");
}

// rule: teams#assign
#[tokio::test]
async fn an_assigned_task_is_reserved_for_its_member_and_sends_a_message() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }])).await;
    let both = api
        .patches("ann/lead", "/api/tasks/t1", json!({ "assignee": "one", "title": "B" }))
        .await;
    assert_eq!(error(&both).2, "assignee must be sent alone");
    let no_right = api
        .patches("bob/one", "/api/tasks/t1", json!({ "assignee": "one" }))
        .await;
    assert_eq!((error(&no_right).0, error(&no_right).1.as_str()), (403, "NOT_CREATOR"));
    let assigned = api
        .patches("ann/lead", "/api/tasks/t1", json!({ "assignee": "one" }))
        .await
        .json();
    assert_eq!(assigned["task"]["assignee"], json!("one"));
    assert!(assigned["task"]["reservedUntil"].is_string());
    let kept = api.sends("bob/two", "/api/tasks/t1/claim", json!({})).await;
    assert_eq!(
        (error(&kept).1.as_str(), &kept.json()["orchestration"]["action"]),
        ("TASK_RESERVED", &json!("SWITCH_TASK"))
    );
    assert_eq!(kept.json()["orchestration"]["metadata"]["task_owner"], json!("one"));
    let inbox = api.does_in_team("bob/one", "/api/messages/read", json!({})).await;
    let message = &inbox["messages"][0];
    assert_eq!(
        (&message["type"], &message["task_id"]),
        (&json!("task_assignment"), &json!("t1"))
    );
    let next = api.does_in_team("bob/one", "/api/tasks/next", json!({})).await;
    assert_eq!(next["task"]["id"], json!("t1"));
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
    api.does_in_team("bob/one", "/api/tasks/t2/claim", json!({})).await;
    let list = async |query: &str| api.shows("eve", "/api/tasks", &format!("&team=alpha{query}")).await;
    assert_eq!(ids(&list("&status=in_progress").await), ["t2"]);
    assert_eq!(ids(&list("&owner=ONE").await), ["t2"]);
    assert_eq!(ids(&list("&readiness=blocked").await), ["t8"]);
    assert_eq!(ids(&list("&readiness=ready&limit=3").await), ["t1", "t3", "t4"]);
    assert_eq!(ids(&list("&text=DOC").await), ["t8"]);
    assert_eq!(ids(&list("&readiness=unclaimed&limit=3").await), ["t1", "t3", "t4"]);
    let edit = json!({ "description": "All of it" });
    assert_eq!(api.patches("bob/one", "/api/tasks/t3", edit).await.status, 200);
    let description = |page: &Value| page["tasks"][2].get("description").cloned();
    assert_eq!(description(&list("").await), None);
    assert_eq!(description(&list("&descriptions=true").await), Some(json!("All of it")));
    assert_eq!(ids(&list("&file=README.md").await), ["t8"]);
    assert_eq!(list("&text=doc").await["tasks"][0]["description"], Value::Null);
    let described = list("&descriptions=true").await["tasks"].clone();
    assert_eq!(
        (&described[7]["description"], &described[0]["description"]),
        (&json!("All of\nit"), &Value::Null)
    );
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
        let refused = api.gets("eve", "/api/tasks", &format!("&team=alpha{query}")).await;
        assert_eq!(refused.status, 400, "{query}");
    }
}

// rule: teams#delete-task
#[tokio::test]
async fn a_task_on_which_others_depend_is_deleted_only_with_unlink() {
    let api = Api::with_team().await;
    api.adds(json!([{ "title": "A" }, { "title": "B", "dependencies": ["t1"] }]))
        .await;
    let refused = api.removes("ann/lead", "/api/tasks/t1", "").await;
    assert_eq!(error(&refused).2, "Cannot delete task t1 because task t2 depends on it");
    let removed = api.removes("ann/lead", "/api/tasks/t1", "&unlink=true").await;
    assert_eq!((removed.status, &removed.json()["unblocked"]), (200, &json!(1)));
    let gone = api.gets("eve", "/api/tasks/t1", "&team=alpha").await;
    assert_eq!(
        error(&gone),
        (
            404,
            "UNKNOWN_TASK".to_owned(),
            "Task t1 not found in team alpha".to_owned()
        )
    );
    assert_eq!(
        api.shows("eve", "/api/tasks/t2", "&team=alpha").await["task"]["dependencies"],
        json!([])
    );
}
