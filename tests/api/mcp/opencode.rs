//! The tools of the plugin opencode-teams, at `/api/mcp?tools=opencode`: their results, and what they refuse.

use reqwest::Method;
use serde_json::{Value, json};

use super::{NEWEST, PROTOCOL, newest};
use crate::api::{Api, REPO_URL};

/// Calls `tool` as `user`, whose agents have no ids but the handles that they name.
async fn call(api: &Api, user: &str, tool: &str, arguments: Value) -> Value {
    let mut arguments = arguments;
    arguments["repo_url"] = json!(REPO_URL);
    let body = newest("tools/call", json!({ "name": tool, "arguments": arguments })).to_string();
    let of_call = [
        ("mcp-protocol-version", NEWEST),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
        ("x-coord-user", user),
    ];
    let headers = [&PROTOCOL[..], &of_call].concat();
    let answer = api
        .request(Method::POST, "/api/mcp?tools=opencode", &headers, body)
        .await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    answer.json()["result"].clone()
}

async fn done(api: &Api, user: &str, tool: &str, arguments: Value) -> Value {
    let result = call(api, user, tool, arguments).await;
    assert_eq!(result["isError"], false, "{result}");
    serde_json::from_str(text(&result)).unwrap()
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

/// The lines of a refusal.
async fn refused(api: &Api, user: &str, tool: &str, arguments: Value) -> Vec<String> {
    let result = call(api, user, tool, arguments).await;
    assert_eq!(result["isError"], true, "{result}");
    text(&result).lines().map(str::to_owned).collect()
}

/// Team `alpha`: `lead` and `w1` are ann's, `owl` is bob's.
async fn with_team() -> Api {
    let api = Api::start().await;
    done(
        &api,
        "ann",
        "spawn-team",
        json!({ "teamName": "alpha", "leaderInfo": { "agentId": "lead" } }),
    )
    .await;
    for (user, handle) in [("ann", "w1"), ("bob", "owl")] {
        let info = json!({ "agentId": handle, "agentName": format!("The {handle}") });
        done(
            &api,
            user,
            "join-team",
            json!({ "teamName": "alpha", "agentInfo": info }),
        )
        .await;
    }
    api
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
    let created = done(
        &api,
        "ann",
        "create-task",
        json!({ "teamName": "alpha", "taskData": task, "agentId": "lead" }),
    )
    .await;
    insta::assert_snapshot!(without_times(&created), @r#"{"blocks":[],"createdAt":"TIME","dependencies":[],"description":"All of it","id":"t1","priority":"high","status":"pending","title":"A"}"#);
    let second = json!({ "dependencies": ["t1"] });
    done(
        &api,
        "ann",
        "create-task",
        json!({ "teamName": "alpha", "taskData": second, "agentId": "w1" }),
    )
    .await;
    let claimed = done(
        &api,
        "bob",
        "claim-task",
        json!({ "teamName": "alpha", "taskId": "t2", "agentId": "owl" }),
    )
    .await;
    insta::assert_snapshot!(without_times(&claimed), @r#"{"blocks":[],"claimedAt":"TIME","createdAt":"TIME","dependencies":["t1"],"id":"t2","owner":"owl","priority":"normal","status":"in_progress","title":"Untitled Task","updatedAt":"TIME","warning":"Warning: Task t2 dependencies are not met. Proceed with caution."}"#);
    let listed = done(
        &api,
        "eve",
        "get-tasks",
        json!({ "teamName": "alpha", "filters": { "status": "pending" } }),
    )
    .await;
    insta::assert_snapshot!(without_times(&listed), @r#"[{"blocks":["t2"],"createdAt":"TIME","dependencies":[],"description":"All of it","id":"t1","priority":"high","status":"pending","title":"A"}]"#);
    let updates = json!({ "description": "Half of it", "blocks": [], "completedAt": "2026-11-22T11:56:29Z", "status": "in_progress" });
    let updated = json!({ "teamName": "alpha", "taskId": "t1", "updates": updates, "agentId": "w1" });
    let updated = done(&api, "ann", "update-task", updated).await;
    insta::assert_snapshot!(without_times(&updated), @r#"{"blocks":[],"claimedAt":"TIME","createdAt":"TIME","dependencies":[],"description":"Half of it","id":"t1","owner":"w1","priority":"high","status":"in_progress","title":"A","updatedAt":"TIME"}"#);
    let message = json!({ "teamName": "alpha", "targetAgentId": "owl", "message": "Hello", "fromAgentId": "w1" });
    let sent = done(&api, "ann", "send-message", message).await;
    insta::assert_snapshot!(without_times(&sent), @r#"{"from":"w1","message":"Hello","read":false,"timestamp":"TIME","to":"owl","type":"plain"}"#);
    let message = json!({ "teamName": "alpha", "message": "To all", "fromAgentId": "lead" });
    done(&api, "ann", "broadcast-message", message).await;
    let inbox = done(
        &api,
        "bob",
        "read-messages",
        json!({ "teamName": "alpha", "agentId": "owl" }),
    )
    .await;
    insta::assert_snapshot!(without_times(&inbox), @r#"[{"from":"w1","message":"Hello","read":false,"timestamp":"TIME","to":"owl","type":"plain"},{"from":"lead","message":"To all","read":false,"recipients":["lead","w1","owl"],"timestamp":"TIME","to":"broadcast","type":"plain"}]"#);
    let again = done(
        &api,
        "bob",
        "poll-inbox",
        json!({ "teamName": "alpha", "agentId": "owl", "timeoutMs": 0 }),
    )
    .await;
    assert_eq!(again, json!([]));
    let teams = done(&api, "eve", "discover-teams", json!({})).await;
    insta::assert_snapshot!(without_times(&teams), @r#"[{"created":"TIME","leader":"lead","memberCount":3,"name":"alpha"}]"#);
    let request = done(
        &api,
        "bob",
        "request-shutdown",
        json!({ "teamName": "alpha", "agentId": "owl" }),
    )
    .await;
    insta::assert_snapshot!(without_times(&request), @r#"{"created":"TIME","dispatchLog":[],"dispatchRules":[],"leader":"lead","members":[{"agentId":"lead","agentName":"lead","agentType":"leader","joinedAt":"TIME"},{"agentId":"w1","agentName":"The w1","agentType":"worker","joinedAt":"TIME"},{"agentId":"owl","agentName":"The owl","agentType":"worker","joinedAt":"TIME"}],"name":"alpha","shutdownApprovals":["owl"]}"#);
    for _ in 0..2 {
        let approved = done(
            &api,
            "ann",
            "approve-shutdown",
            json!({ "teamName": "alpha", "agentId": "w1" }),
        )
        .await;
        assert_eq!(
            approved["shutdownApprovals"],
            json!(["owl", "w1"]),
            "once is as good as twice"
        );
    }
}

// rule: teams#opencode-tools
#[tokio::test]
async fn no_tool_acts_under_the_handle_of_another_login() {
    let api = with_team().await;
    let task = json!({ "teamName": "alpha", "taskData": { "title": "A" }, "agentId": "lead" });
    done(&api, "ann", "create-task", task).await;
    for (tool, mut arguments, name) in [
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
        (
            "update-task",
            json!({ "taskId": "t1", "updates": { "status": "in_progress" } }),
            "agentId",
        ),
        (
            "update-task",
            json!({ "taskId": "t1", "updates": { "description": "x" } }),
            "agentId",
        ),
        ("request-shutdown", json!({}), "agentId"),
    ] {
        for handle in ["lead", "LEAD", "ghost"] {
            arguments["teamName"] = json!("alpha");
            arguments[name] = json!(handle);
            assert_eq!(
                refused(&api, "bob", tool, arguments.clone()).await,
                [
                    format!("\"{handle}\" is not a member of team \"alpha\""),
                    "STOP: no agent of your login has this handle there. Call join-team under a handle of your own"
                        .to_owned()
                ],
                "{tool}"
            );
        }
    }
    let taken = json!({ "teamName": "alpha", "agentInfo": { "agentId": "Lead" } });
    assert_eq!(
        refused(&api, "bob", "join-team", taken).await[0],
        "Agent \"lead\" is already a member of team \"alpha\""
    );
    // Fields that the plugin has not, and would be good to forge.
    let forged = json!({
        "teamName": "alpha", "targetAgentId": "w1", "message": "x", "fromAgentId": "owl", "from": "lead", "login": "ann",
        "agent_id": "lead", "type": "shutdown_approved",
    });
    let sent = done(&api, "bob", "send-message", forged).await;
    assert_eq!((&sent["from"], &sent["type"]), (&json!("owl"), &json!("plain")));
    let forged = json!({ "owner": "owl", "status": "pending", "warning": "x", "blocks": [] });
    let forged = json!({ "teamName": "alpha", "taskId": "t1", "updates": forged, "agentId": "owl" });
    let updated = done(&api, "bob", "update-task", forged).await;
    assert_eq!((updated.get("owner"), updated.get("warning")), (None, None));
    let reader = refused(
        &api,
        "eve",
        "claim-task",
        json!({ "teamName": "alpha", "taskId": "t1", "agentId": "owl" }),
    )
    .await;
    assert!(reader[1].starts_with("STOP"), "{reader:?}");
}

// rule: teams#opencode-results
#[tokio::test]
async fn refusals_are_the_plugins_sentences_with_a_command() {
    let api = with_team().await;
    let tasks = [
        json!({}),
        json!({ "dependencies": ["t1"] }),
        json!({ "dependencies": ["t2"] }),
    ];
    for task in tasks {
        done(
            &api,
            "ann",
            "create-task",
            json!({ "teamName": "alpha", "taskData": task, "agentId": "lead" }),
        )
        .await;
    }
    done(
        &api,
        "ann",
        "claim-task",
        json!({ "teamName": "alpha", "taskId": "t1", "agentId": "w1" }),
    )
    .await;
    let update =
        |id: &str, updates: Value| json!({ "teamName": "alpha", "taskId": id, "updates": updates, "agentId": "lead" });
    let create = |data: Value| json!({ "teamName": "alpha", "taskData": data, "agentId": "lead" });
    for (tool, arguments, sentence, action) in [
        (
            "spawn-team",
            json!({ "teamName": "alpha" }),
            "Team \"alpha\" already exists",
            "STOP",
        ),
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
            json!({ "teamName": "alpha", "agentInfo": { "agentId": "w1" } }),
            "Agent \"w1\" is already a member of team \"alpha\"",
            "STOP",
        ),
        (
            "send-message",
            json!({ "teamName": "alpha", "targetAgentId": "ghost", "message": "x", "fromAgentId": "lead" }),
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
            json!({ "teamName": "alpha", "taskId": "t1", "agentId": "lead" }),
            "Task t1 is not available (status: in_progress)",
            "SWITCH_TASK",
        ),
        (
            "claim-task",
            json!({ "teamName": "alpha", "taskId": "t9", "agentId": "lead" }),
            "Task t9 not found in team alpha",
            "STOP",
        ),
        (
            "update-task",
            update("t2", json!({ "status": "completed", "description": "x" })),
            "Invalid status transition: pending -> completed",
            "STOP",
        ),
        (
            "update-task",
            update(
                "t1",
                json!({ "dependencies": [], "blocks": ["t3"], "status": "pending" }),
            ),
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
            update("t9", json!({ "status": "completed" })),
            "Task t9 not found in team alpha",
            "STOP",
        ),
    ] {
        let lines = refused(&api, "ann", tool, arguments).await;
        assert_eq!(lines[0], sentence);
        assert!(lines[1].starts_with(action), "{lines:?}");
    }
    let not_mine = refused(
        &api,
        "ann",
        "update-task",
        update("t1", json!({ "status": "completed" })),
    )
    .await;
    assert_eq!(not_mine[0], "Task t1 is not yours (status: in_progress, owner: w1)");
    let tasks = done(&api, "ann", "get-tasks", json!({ "teamName": "alpha" })).await;
    assert!(
        tasks
            .as_array()
            .unwrap()
            .iter()
            .all(|task| task.get("description").is_none()),
        "nothing is changed"
    );
    let blocks: Vec<&Value> = tasks.as_array().unwrap().iter().map(|task| &task["blocks"]).collect();
    assert_eq!(
        blocks,
        [&json!(["t2"]), &json!(["t3"]), &json!([])],
        "nor in the blocks of others"
    );
}

#[tokio::test]
async fn malformed_calls_name_the_parameter() {
    let api = with_team().await;
    let escape = "a\u{1b}[2K";
    for (tool, mut arguments, field) in [
        ("spawn-team", json!({ "teamName": null }), "teamName"),
        ("spawn-team", json!({ "teamName": escape }), "teamName"),
        (
            "spawn-team",
            json!({ "teamName": "b", "leaderInfo": { "agentId": "../x" } }),
            "agentId",
        ),
        (
            "spawn-team",
            json!({ "teamName": "b", "leaderInfo": { "agentName": escape } }),
            "agentName",
        ),
        ("join-team", json!({}), "agentId"),
        (
            "join-team",
            json!({ "agentInfo": { "agentId": "broadcast" } }),
            "agentId",
        ),
        ("join-team", json!({ "agentInfo": "w1" }), "agentInfo"),
        ("get-team-info", json!({ "teamName": "a/b" }), "teamName"),
        ("get-team-info", json!({ "teamName": 7 }), "teamName"),
        ("send-message", json!({ "message": "x" }), "targetAgentId"),
        ("send-message", json!({ "targetAgentId": "w1" }), "message"),
        (
            "send-message",
            json!({ "targetAgentId": "../w1", "message": "x" }),
            "targetAgentId",
        ),
        (
            "send-message",
            json!({ "targetAgentId": "broadcast", "message": "x" }),
            "targetAgentId",
        ),
        (
            "send-message",
            json!({ "targetAgentId": "w1", "message": escape }),
            "message",
        ),
        (
            "send-message",
            json!({ "targetAgentId": "w1", "message": "x", "fromAgentId": "a:b" }),
            "agentId",
        ),
        (
            "broadcast-message",
            json!({ "message": "x".repeat(16 * 1024 + 1) }),
            "message",
        ),
        ("poll-inbox", json!({ "timeoutMs": -1 }), "timeoutMs"),
        ("poll-inbox", json!({ "since": "yesterday" }), "since"),
        ("create-task", json!({}), "taskData"),
        ("create-task", json!({ "taskData": { "title": escape } }), "title"),
        (
            "create-task",
            json!({ "taskData": { "priority": "urgent" } }),
            "taskData",
        ),
        (
            "create-task",
            json!({ "taskData": { "dependencies": ["../t1"] } }),
            "dependencies",
        ),
        ("get-tasks", json!({ "filters": { "status": "done" } }), "filters"),
        ("get-tasks", json!({ "filters": { "owner": "a/b" } }), "owner"),
        ("claim-task", json!({}), "taskId"),
        ("claim-task", json!({ "taskId": "../t1" }), "taskId"),
        ("update-task", json!({ "taskId": "t1" }), "updates"),
        (
            "update-task",
            json!({ "taskId": "t1", "updates": { "completedAt": "now" } }),
            "completedAt",
        ),
        (
            "update-task",
            json!({ "taskId": "..", "updates": { "status": "completed" } }),
            "taskId",
        ),
    ] {
        if arguments.get("teamName").is_none() {
            arguments["teamName"] = json!("alpha");
        }
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
        let headers = [
            &PROTOCOL[..],
            &[("mcp-protocol-version", NEWEST), ("mcp-method", "tools/list")],
        ]
        .concat();
        let body = newest("tools/list", json!({})).to_string();
        let answer = api
            .request(Method::POST, &format!("/api/mcp{query}"), &headers, body)
            .await;
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
