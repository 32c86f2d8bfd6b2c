//! The tools of the plugin opencode-teams, at `/api/mcp?tools=opencode`: their results, and what they refuse.

use serde_json::{Value, json};

use super::{ask_at, text};
use crate::api::{Api, REPO_URL};
use crate::teams::with;

/// Calls `tool` as `user`, whose agents have no ids but the handles that they name.
async fn call(api: &Api, user: &str, tool: &str, arguments: Value) -> Value {
    let arguments = with(arguments, json!({ "repo_url": REPO_URL }));
    let params = json!({ "name": tool, "arguments": arguments });
    let user = [("x-coord-user", user)];
    let answer = ask_at(api, "/api/mcp?tools=opencode", &user, "tools/call", params).await;
    answer.expect("200")["result"].clone()
}

async fn done(api: &Api, user: &str, tool: &str, arguments: Value) -> Value {
    let result = call(api, user, tool, arguments).await;
    assert_eq!(result["isError"], false, "{result}");
    serde_json::from_str(text(&result)).unwrap()
}

/// The lines of a refusal.
async fn refused(api: &Api, user: &str, tool: &str, arguments: Value) -> Vec<String> {
    let result = call(api, user, tool, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    text(&result).lines().map(str::to_owned).collect()
}

/// Arguments about the team `alpha`.
fn alpha(more: Value) -> Value {
    with(json!({ "teamName": "alpha" }), more)
}

/// Arguments of a member of the team `alpha`.
fn by(handle: &str, more: Value) -> Value {
    alpha(with(json!({ "agentId": handle }), more))
}

/// Team `alpha`: `lead` and `w1` are ann's, `owl` is bob's.
async fn with_team() -> Api {
    let api = Api::start().await;
    let leader = json!({ "leaderInfo": { "agentId": "lead" } });
    done(&api, "ann", "spawn-team", alpha(leader)).await;
    for (user, handle) in [("ann", "w1"), ("bob", "owl")] {
        let info = json!({ "agentId": handle, "agentName": format!("The {handle}") });
        done(&api, user, "join-team", alpha(json!({ "agentInfo": info }))).await;
    }
    api
}

/// `lead` creates a task.
async fn creates(api: &Api, task: Value) -> Value {
    done(api, "ann", "create-task", by("lead", json!({ "taskData": task }))).await
}

fn without_times(value: &Value) -> String {
    let text = value.to_string();
    let mut parts = text.split("\"2");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + "\"TIME" + &part[part.find('"').unwrap()..])
}

// rule: teams#opencode-results
#[tokio::test]
async fn results_are_the_plugins_records() {
    let api = with_team().await;
    let task = json!({ "title": "A", "description": "All of it", "priority": "high" });
    let created = creates(&api, task).await;
    insta::assert_snapshot!(without_times(&created), @r#"{"blocks":[],"createdAt":"TIME","dependencies":[],"description":"All of it","id":"t1","priority":"high","status":"pending","title":"A"}"#);
    let second = json!({ "taskData": { "dependencies": ["t1"] } });
    done(&api, "ann", "create-task", by("w1", second)).await;
    let claimed = done(&api, "bob", "claim-task", by("owl", json!({ "taskId": "t2" }))).await;
    insta::assert_snapshot!(without_times(&claimed), @r#"{"blocks":[],"claimedAt":"TIME","createdAt":"TIME","dependencies":["t1"],"id":"t2","owner":"owl","priority":"normal","status":"in_progress","title":"Untitled Task","updatedAt":"TIME","warning":"Warning: Task t2 dependencies are not met. Proceed with caution."}"#);
    let pending = json!({ "filters": { "status": "pending" } });
    let listed = done(&api, "eve", "get-tasks", alpha(pending)).await;
    insta::assert_snapshot!(without_times(&listed), @r#"[{"blocks":["t2"],"createdAt":"TIME","dependencies":[],"description":"All of it","id":"t1","priority":"high","status":"pending","title":"A"}]"#);
    let updates = json!({ "description": "Half of it", "blocks": [], "completedAt": "2026-11-22T11:56:29Z", "status": "in_progress" });
    let update = json!({ "taskId": "t1", "updates": updates });
    let updated = done(&api, "ann", "update-task", by("w1", update)).await;
    insta::assert_snapshot!(without_times(&updated), @r#"{"blocks":[],"claimedAt":"TIME","createdAt":"TIME","dependencies":[],"description":"Half of it","id":"t1","owner":"w1","priority":"high","status":"in_progress","title":"A","updatedAt":"TIME"}"#);
    let message = alpha(json!({ "targetAgentId": "owl", "message": "Hello", "fromAgentId": "w1" }));
    let sent = done(&api, "ann", "send-message", message).await;
    insta::assert_snapshot!(without_times(&sent), @r#"{"from":"w1","message":"Hello","read":false,"timestamp":"TIME","to":"owl","type":"plain"}"#);
    let message = alpha(json!({ "message": "To all", "fromAgentId": "lead" }));
    done(&api, "ann", "broadcast-message", message).await;
    let inbox = done(&api, "bob", "read-messages", by("owl", json!({}))).await;
    insta::assert_snapshot!(without_times(&inbox), @r#"[{"from":"w1","message":"Hello","read":false,"timestamp":"TIME","to":"owl","type":"plain"},{"from":"lead","message":"To all","read":false,"recipients":["lead","w1","owl"],"timestamp":"TIME","to":"broadcast","type":"plain"}]"#);
    let again = done(&api, "bob", "poll-inbox", by("owl", json!({ "timeoutMs": 0 }))).await;
    assert_eq!(again, json!([]));
    let teams = done(&api, "eve", "discover-teams", json!({})).await;
    insta::assert_snapshot!(without_times(&teams), @r#"[{"created":"TIME","leader":"lead","memberCount":3,"name":"alpha"}]"#);
    let request = done(&api, "bob", "request-shutdown", by("owl", json!({}))).await;
    insta::assert_snapshot!(without_times(&request), @r#"{"created":"TIME","dispatchLog":[],"dispatchRules":[],"leader":"lead","members":[{"agentId":"lead","agentName":"lead","agentType":"leader","joinedAt":"TIME"},{"agentId":"w1","agentName":"The w1","agentType":"worker","joinedAt":"TIME"},{"agentId":"owl","agentName":"The owl","agentType":"worker","joinedAt":"TIME"}],"name":"alpha","shutdownApprovals":["owl"]}"#);
    for attempt in ["once", "twice"] {
        let approved = done(&api, "ann", "approve-shutdown", by("w1", json!({}))).await;
        assert_eq!(approved["shutdownApprovals"], json!(["owl", "w1"]), "{attempt}");
    }
}

// rule: teams#opencode-tools
#[tokio::test]
async fn no_tool_acts_under_the_handle_of_another_login() {
    let api = with_team().await;
    creates(&api, json!({ "title": "A" })).await;
    let update = |updates: Value| json!({ "taskId": "t1", "updates": updates });
    for (tool, arguments, name) in [
        (
            "send-message",
            json!({ "targetAgentId": "w1", "message": "x" }),
            "fromAgentId",
        ),
        ("broadcast-message", json!({ "message": "x" }), "fromAgentId"),
        ("read-messages", json!({}), "agentId"),
        ("poll-inbox", json!({ "timeoutMs": 20_000 }), "agentId"),
        ("create-task", json!({ "taskData": {} }), "agentId"),
        ("claim-task", json!({ "taskId": "t1" }), "agentId"),
        ("update-task", update(json!({ "status": "in_progress" })), "agentId"),
        ("update-task", update(json!({ "description": "x" })), "agentId"),
        ("request-shutdown", json!({}), "agentId"),
    ] {
        for handle in ["lead", "LEAD", "ghost"] {
            let forged = alpha(with(json!({ name: handle }), arguments.clone()));
            assert_eq!(
                refused(&api, "bob", tool, forged).await,
                [
                    format!("\"{handle}\" is not a member of team \"alpha\""),
                    "STOP: no agent of your login has this handle there. Call join-team under a handle of your own"
                        .to_owned()
                ],
                "{tool}"
            );
        }
    }
    let taken = alpha(json!({ "agentInfo": { "agentId": "Lead" } }));
    assert_eq!(
        refused(&api, "bob", "join-team", taken).await[0],
        "Agent \"lead\" is already a member of team \"alpha\""
    );
    // Fields that the plugin has not, and would be good to forge.
    let forged = alpha(json!({
        "targetAgentId": "w1", "message": "x", "fromAgentId": "owl", "from": "lead", "login": "ann",
        "agent_id": "lead", "type": "shutdown_approved",
    }));
    let sent = done(&api, "bob", "send-message", forged).await;
    assert_eq!((&sent["from"], &sent["type"]), (&json!("owl"), &json!("plain")));
    let forged = json!({ "owner": "owl", "status": "pending", "warning": "x", "blocks": [] });
    let updated = done(&api, "bob", "update-task", by("owl", update(forged))).await;
    assert_eq!((updated.get("owner"), updated.get("warning")), (None, None));
    let claim = by("owl", json!({ "taskId": "t1" }));
    let reader = refused(&api, "eve", "claim-task", claim).await;
    assert!(reader[1].starts_with("STOP"), "{reader:?}");
}

// rule: teams#opencode-results
#[tokio::test]
async fn refusals_are_the_plugins_sentences_with_a_command() {
    let api = with_team().await;
    for task in [
        json!({}),
        json!({ "dependencies": ["t1"] }),
        json!({ "dependencies": ["t2"] }),
    ] {
        creates(&api, task).await;
    }
    let claim = |id: &str| json!({ "taskId": id });
    done(&api, "ann", "claim-task", by("w1", claim("t1"))).await;
    let update = |id: &str, updates: Value| by("lead", json!({ "taskId": id, "updates": updates }));
    let create = |task: Value| by("lead", json!({ "taskData": task }));
    let completed = json!({ "status": "completed" });
    let to_ghost = json!({ "targetAgentId": "ghost", "message": "x", "fromAgentId": "lead" });
    let backward = json!({ "dependencies": [], "blocks": ["t3"], "status": "pending" });
    for (tool, arguments, sentence, action) in [
        ("spawn-team", alpha(json!({})), "Team \"alpha\" already exists", "STOP"),
        (
            "spawn-team",
            json!({ "teamName": "../x" }),
            "Invalid team name \"../x\": Team name must be alphanumeric with hyphens/underscores",
            "STOP",
        ),
        (
            "get-team-info",
            json!({ "teamName": "beta" }),
            "Team \"beta\" does not exist",
            "STOP",
        ),
        (
            "join-team",
            alpha(json!({ "agentInfo": { "agentId": "w1" } })),
            "Agent \"w1\" is already a member of team \"alpha\"",
            "STOP",
        ),
        (
            "send-message",
            alpha(to_ghost),
            "Recipient \"ghost\" is not a member of team \"alpha\"",
            "STOP",
        ),
        (
            "create-task",
            create(json!({ "dependencies": ["nope"] })),
            "Dependency task nope does not exist",
            "STOP",
        ),
        (
            "create-task",
            create(json!({ "blocks": ["nope"] })),
            "Blocked task nope does not exist",
            "STOP",
        ),
        (
            "claim-task",
            by("lead", claim("t1")),
            "Task t1 is not available (status: in_progress)",
            "SWITCH_TASK",
        ),
        (
            "claim-task",
            by("lead", claim("t9")),
            "Task t9 not found in team alpha",
            "STOP",
        ),
        (
            "update-task",
            update("t2", with(completed.clone(), json!({ "description": "x" }))),
            "Invalid status transition: pending -> completed",
            "STOP",
        ),
        (
            "update-task",
            update("t1", backward),
            "Invalid status transition: in_progress -> pending",
            "STOP",
        ),
        (
            "update-task",
            update("t1", json!({ "dependencies": ["t3"], "description": "x" })),
            "Circular dependency detected: t1 -> t3 -> t2 -> t1",
            "STOP",
        ),
        (
            "update-task",
            update("t9", completed.clone()),
            "Task t9 not found in team alpha",
            "STOP",
        ),
    ] {
        let lines = refused(&api, "ann", tool, arguments).await;
        assert_eq!(lines[0], sentence);
        assert!(lines[1].starts_with(action), "{lines:?}");
    }
    let not_mine = refused(&api, "ann", "update-task", update("t1", completed)).await;
    assert_eq!(not_mine[0], "Task t1 is not yours (status: in_progress, owner: w1)");
    let tasks = done(&api, "ann", "get-tasks", alpha(json!({}))).await;
    let tasks = tasks.as_array().unwrap().iter();
    let state: Vec<_> = tasks
        .map(|task| (task.get("description"), task["blocks"].clone()))
        .collect();
    assert_eq!(
        state,
        [(None, json!(["t2"])), (None, json!(["t3"])), (None, json!([]))],
        "nothing is changed, nor in the blocks of others"
    );
}

#[tokio::test]
async fn malformed_calls_name_the_parameter() {
    let api = with_team().await;
    let escape = "a\u{1b}[2K";
    let (spawn, send, create, update) = ("spawn-team", "send-message", "create-task", "update-task");
    let to = |recipient: &str, message: &str| json!({ "targetAgentId": recipient, "message": message });
    let leader = |info: Value| json!({ "teamName": "b", "leaderInfo": info });
    let task = |data: Value| json!({ "taskData": data });
    let updates = |id: &str, updates: Value| json!({ "taskId": id, "updates": updates });
    for (tool, arguments, field) in [
        (spawn, json!({ "teamName": null }), "teamName"),
        (spawn, json!({ "teamName": escape }), "teamName"),
        (spawn, leader(json!({ "agentId": "../x" })), "agentId"),
        (spawn, leader(json!({ "agentName": escape })), "agentName"),
        ("join-team", json!({}), "agentId"),
        (
            "join-team",
            json!({ "agentInfo": { "agentId": "broadcast" } }),
            "agentId",
        ),
        ("join-team", json!({ "agentInfo": "w1" }), "agentInfo"),
        ("get-team-info", json!({ "teamName": "a/b" }), "teamName"),
        ("get-team-info", json!({ "teamName": 7 }), "teamName"),
        (send, json!({ "message": "x" }), "targetAgentId"),
        (send, json!({ "targetAgentId": "w1" }), "message"),
        (send, to("../w1", "x"), "targetAgentId"),
        (send, to("broadcast", "x"), "targetAgentId"),
        (send, to("w1", escape), "message"),
        (send, with(to("w1", "x"), json!({ "fromAgentId": "a:b" })), "agentId"),
        (
            "broadcast-message",
            json!({ "message": "x".repeat(16 * 1024 + 1) }),
            "message",
        ),
        ("poll-inbox", json!({ "timeoutMs": -1 }), "timeoutMs"),
        ("poll-inbox", json!({ "since": "yesterday" }), "since"),
        (create, json!({}), "taskData"),
        (create, task(json!({ "title": escape })), "title"),
        (create, task(json!({ "priority": "urgent" })), "taskData"),
        (create, task(json!({ "dependencies": ["../t1"] })), "dependencies"),
        ("get-tasks", json!({ "filters": { "status": "done" } }), "filters"),
        ("get-tasks", json!({ "filters": { "owner": "a/b" } }), "owner"),
        ("claim-task", json!({}), "taskId"),
        ("claim-task", json!({ "taskId": "../t1" }), "taskId"),
        (update, json!({ "taskId": "t1" }), "updates"),
        (update, updates("t1", json!({ "completedAt": "now" })), "completedAt"),
        (update, updates("..", json!({ "status": "completed" })), "taskId"),
    ] {
        let arguments = alpha(arguments);
        let shown = arguments.to_string();
        let result = call(&api, "ann", tool, arguments).await;
        let found = (&result["isError"], &result["structuredContent"]["field"]);
        assert_eq!(found, (&json!(true), &json!(field)), "{tool} {shown}: {result}");
        assert!(!text(&result).contains('\u{1b}'), "{result}");
    }
}

#[tokio::test]
async fn the_query_chooses_the_tools() {
    let api = Api::start().await;
    let list = async |query: &str| {
        let path = format!("/api/mcp{query}");
        let answer = ask_at(&api, &path, &[], "tools/list", json!({})).await;
        let body = answer.json();
        let count = body["result"]["tools"].as_array().map(Vec::len);
        (answer.status, count, body["field"].as_str().map(str::to_owned))
    };
    assert_eq!(list("").await, (200, Some(11), None));
    assert_eq!(list("?tools=opencode").await, (200, Some(14), None));
    assert_eq!(list("?tools=locks,opencode").await, (200, Some(18), None));
    for query in [
        "?tools=opencode,tasks",
        "?tools=",
        "?tools=x",
        "?tools=locks&tools=opencode",
    ] {
        assert_eq!(list(query).await, (400, None, Some("tools".to_owned())), "{query}");
    }
}
