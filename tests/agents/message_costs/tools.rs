//! The results of the tools of MCP.

use std::process::Command;

use serde_json::{Value, json};

use super::{ADA, BOB, Messages, served_shop, shop, write};
use crate::mcp::Agent;
use coord_test_worlds::world::World;

/// Returns the part of a tool's result that a client shows its model.
fn result(agent: &mut Agent, tool: &str, arguments: Value) -> String {
    let result = agent.call(tool, arguments);
    let content = result["content"].as_array().unwrap().iter();
    content.filter_map(|part| part["text"].as_str()).collect()
}

fn coord_mcp(world: &World, who: &str) -> Command {
    let mut command = world.coord(world.clone.path());
    command.env("COORD_AGENT", who).arg("mcp");
    command
}

/// The tools of `agent` as agents show them to their model: without the schema of the result and fields for the client.
fn shown_tools(agent: &mut Agent) -> String {
    let list = agent.ask("tools/list", json!({}));
    let tools = list["tools"].as_array().unwrap().iter();
    let shown = tools.map(
        |tool| json!({ "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"] }),
    );
    json!({ "tools": shown.collect::<Vec<Value>>() }).to_string()
}

pub(super) fn of_locks() -> Messages {
    let world = served_shop();
    let mut all = Messages::new("tools");
    let mut silent = Agent::silent(coord_mcp(&world, "claude-code-0001"));
    let hello = silent.hello("test-client");
    all.add(&world, "instructions", hello["instructions"].as_str().unwrap());
    all.add(&world, "tools/list, locks alone", &shown_tools(&mut silent));
    let (mut ada, mut bob) = (
        Agent::start(coord_mcp(&world, ADA)),
        Agent::start(coord_mcp(&world, BOB)),
    );
    let mut add = |name, agent: &mut Agent, tool, arguments| all.add(&world, name, &result(agent, tool, arguments));
    let db = json!(["src/db.ts"]);
    let check = json!({ "file_paths": db });
    let claim = json!({ "file_paths": db, "status": "WRITING", "message": "Growing the pool with the load" });
    add("check_status, free", &mut ada, "check_status", check.clone());
    add("claim, granted", &mut ada, "post_status", claim.clone());
    add("check_status, held", &mut bob, "check_status", check);
    add("claim, held", &mut bob, "post_status", claim);
    let page = json!({ "file_paths": ["src/page.ts"], "status": "WRITING", "message": "Showing the retries" });
    add("claim, held neighbor", &mut bob, "post_status", page);
    let malformed = json!({ "file_paths": db, "status": "WRITE" });
    add("claim, malformed", &mut ada, "post_status", malformed);
    write(&world, "src/db.ts", "export const query = 2;\n");
    let release = json!({ "file_paths": db, "status": "OPEN", "message": "The pool grows" });
    add("release, not pushed", &mut ada, "post_status", release.clone());
    world.clone.git(&["commit", "--quiet", "-am", "Grow"]);
    world.clone.git(&["push", "--quiet"]);
    add("release, pushed", &mut ada, "post_status", release);
    all
}

/// Without a server.
pub(super) fn offline() -> Messages {
    let world = shop();
    let mut all = Messages::new("tools, no server");
    let mut command = coord_mcp(&world, ADA);
    command.args(["--url", "http://127.0.0.1:9"]);
    let mut ada = Agent::start(command);
    let check = json!({ "file_paths": ["src/db.ts"] });
    let claim = json!({ "file_paths": ["src/db.ts"], "status": "WRITING", "message": "Growing the pool" });
    for (tool, arguments) in [
        ("check_status", check),
        ("post_status", claim),
        ("task_list", json!({})),
    ] {
        all.add(&world, tool, &result(&mut ada, tool, arguments));
    }
    all
}

/// The tools of opencode-teams: a result is what the plugin returned for the call.
pub(super) fn of_opencode() -> Messages {
    let world = served_shop();
    let mut all = Messages::new("tools, opencode-teams");
    let agent = |handle: &str| {
        let mut command = coord_mcp(&world, handle);
        command.args(["--tools", "opencode"]);
        Agent::start(command)
    };
    let (mut lead, mut wren) = (agent("lead"), agent("wren"));
    all.add(&world, "tools/list", &shown_tools(&mut lead));
    let mut add = |name, agent: &mut Agent, tool, mut arguments: Value| {
        arguments["teamName"] = json!("shop");
        all.add(&world, name, &result(agent, tool, arguments));
    };
    add("spawn-team", &mut lead, "spawn-team", json!({}));
    add("join-team", &mut wren, "join-team", json!({}));
    add("discover-teams", &mut wren, "discover-teams", json!({}));
    add("get-team-info", &mut wren, "get-team-info", json!({}));
    let task = json!({ "taskData": { "title": "Grow the pool", "description": "By the load" } });
    add("create-task", &mut lead, "create-task", task);
    add("get-tasks, one", &mut wren, "get-tasks", json!({}));
    let first = json!({ "taskId": "t1" });
    add("claim-task, claimed", &mut wren, "claim-task", first.clone());
    add("claim-task, taken", &mut lead, "claim-task", first);
    let completed = json!({ "taskId": "t1", "updates": { "status": "completed" } });
    add("update-task, completed", &mut wren, "update-task", completed);
    let message = |text: &str| json!({ "targetAgentId": "wren", "message": text });
    add("send-message", &mut lead, "send-message", message("The pool grows."));
    add("read-messages, one", &mut wren, "read-messages", json!({}));
    let to_all = json!({ "message": "The pool grows." });
    add("broadcast-message", &mut lead, "broadcast-message", to_all);
    add("poll-inbox, one", &mut wren, "poll-inbox", json!({}));
    add("poll-inbox, none", &mut wren, "poll-inbox", json!({ "timeoutMs": 0 }));
    add("request-shutdown", &mut lead, "request-shutdown", json!({}));
    add("approve-shutdown", &mut wren, "approve-shutdown", json!({}));
    all
}

pub(super) fn of_teams() -> Messages {
    let world = served_shop();
    let mut all = Messages::new("tools, teams");
    let (mut ada, mut bob) = (
        Agent::start(coord_mcp(&world, ADA)),
        Agent::start(coord_mcp(&world, BOB)),
    );
    let mut add = |name, agent: &mut Agent, tool, arguments| all.add(&world, name, &result(agent, tool, arguments));
    add("task_list, no team", &mut ada, "task_list", json!({}));
    let create = json!({ "action": "create", "team": "shop", "handle": "ada" });
    add("team, create", &mut ada, "team", create);
    let join = json!({ "action": "join", "team": "shop", "handle": "bob" });
    add("team, join", &mut bob, "team", join);
    add("team, show", &mut bob, "team", json!({ "action": "show" }));
    add("team, list", &mut bob, "team", json!({ "action": "list" }));
    let plan = json!([
        { "title": "Grow the pool", "files": ["src/db.ts"], "ref": "pool" },
        { "title": "Show the retries", "files": ["src/page.ts"], "dependencies": ["pool"] },
    ]);
    add("task_create, two", &mut ada, "task_create", json!({ "tasks": plan }));
    let unknown = json!([{ "title": "Log in with a link", "dependencies": ["t99"] }]);
    add(
        "task_create, refused",
        &mut ada,
        "task_create",
        json!({ "tasks": unknown }),
    );
    add("task_list, two", &mut bob, "task_list", json!({}));
    add("task_list, one", &mut bob, "task_list", json!({ "id": "t1" }));
    add("task_claim, next", &mut bob, "task_claim", json!({}));
    add("task_claim, none ready", &mut ada, "task_claim", json!({}));
    add("task_claim, taken", &mut ada, "task_claim", json!({ "id": "t1" }));
    add("task_claim, files held", &mut ada, "task_claim", json!({ "id": "t2" }));
    let edit = json!({ "id": "t1", "action": "edit", "note": "Half done" });
    add("task_update, edit", &mut bob, "task_update", edit);
    let complete = json!({ "id": "t1", "action": "complete", "result": "query() is async now" });
    add("task_update, not yours", &mut ada, "task_update", complete.clone());
    write(&world, "src/db.ts", "export const query = 2;\n");
    add("task_update, not pushed", &mut bob, "task_update", complete.clone());
    world.clone.git(&["commit", "--quiet", "-am", "Grow"]);
    world.clone.git(&["push", "--quiet"]);
    add("task_update, complete", &mut bob, "task_update", complete);
    let second = json!({ "id": "t2" });
    add("task_claim, with result", &mut ada, "task_claim", second);
    let release = json!({ "id": "t2", "action": "release", "note": "The design is missing" });
    add("task_update, release", &mut ada, "task_update", release);
    let send = |to: &str| json!({ "to": [to], "message": "The pool grows now; use query()." });
    add("message_send, sent", &mut ada, "message_send", send("broadcast"));
    add("message_send, refused", &mut ada, "message_send", send("eve"));
    add("message_read, one", &mut bob, "message_read", json!({}));
    add("message_read, none", &mut bob, "message_read", json!({ "cursor": 1 }));
    let request = json!({ "action": "request", "target": "bob", "reason": "The work is done" });
    add("team, shutdown request", &mut ada, "team", request.clone());
    let reject = json!({ "action": "reject", "shutdown_id": "s1", "reason": "t2 is open" });
    add("team, shutdown reject", &mut bob, "team", reject);
    result(&mut ada, "team", request);
    let approve = json!({ "action": "approve", "shutdown_id": "s2" });
    add("team, shutdown approve", &mut bob, "team", approve);
    add(
        "team, shutdown refused",
        &mut bob,
        "team",
        json!({ "action": "approve", "shutdown_id": "s9" }),
    );
    add("team, leave", &mut bob, "team", json!({ "action": "leave" }));
    all.add(&world, "tools/list, all", &{
        let mut command = coord_mcp(&world, "claude-code-0001");
        command.args(["--tools", "locks,tasks,messages"]);
        shown_tools(&mut Agent::start(command))
    });
    all
}

pub(super) fn of_intents() -> Messages {
    let world = served_shop();
    let mut all = Messages::new("tools, intents");
    let (mut ada, mut bob) = (
        Agent::start(coord_mcp(&world, ADA)),
        Agent::start(coord_mcp(&world, BOB)),
    );
    let mut add = |name, agent: &mut Agent, tool, arguments| all.add(&world, name, &result(agent, tool, arguments));
    let criterion = "A failed query is retried";
    let intent = |id: &str, file: &str| {
        json!({ "action": "NEW", "intent_id": id, "name": "Retry failed queries", "owned_scope": [file],
            "acceptance_criteria": [criterion] })
    };
    add(
        "update_intent, new",
        &mut ada,
        "update_intent",
        intent("REQ-1", "src/db.ts"),
    );
    result(&mut ada, "update_intent", intent("REQ-2", "src/db.ts"));
    let select = |id: &str| json!({ "intent_id": id });
    add(
        "select_active_intent, selected",
        &mut ada,
        "select_active_intent",
        select("REQ-1"),
    );
    add(
        "select_active_intent, overlap",
        &mut bob,
        "select_active_intent",
        select("REQ-2"),
    );
    add(
        "select_active_intent, unknown",
        &mut bob,
        "select_active_intent",
        select("REQ-9"),
    );
    add(
        "select_active_intent, list",
        &mut ada,
        "select_active_intent",
        json!({}),
    );
    let claim = |file: &str| json!({ "file_paths": [file], "status": "WRITING", "message": "Counting the retries" });
    add("claim, granted", &mut ada, "post_status", claim("src/db.ts"));
    add("claim, outside scope", &mut ada, "post_status", claim("README.md"));
    let update =
        |action: &str| json!({ "intent_id": "REQ-1", "action": action, "reason": "Waiting for the new driver" });
    add(
        "update_intent, criterion unmet",
        &mut ada,
        "update_intent",
        update("COMPLETE"),
    );
    let met = json!({ "intent_id": "REQ-1", "action": "EDIT",
        "met": [{ "criterion": criterion, "evidence": "npm test: 12 passed" }] });
    add("update_intent, met", &mut ada, "update_intent", met);
    add("update_intent, complete", &mut ada, "update_intent", update("COMPLETE"));
    add(
        "update_intent, abandon refused",
        &mut ada,
        "update_intent",
        update("ABANDON"),
    );
    all
}
