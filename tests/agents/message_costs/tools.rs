//! The results of the tools of MCP.

use serde_json::{Value, json};

use super::{ADA, BOB, Messages, served_shop, shop, write};
use crate::mcp::Agent;
use coord_test_worlds::world::World;

/// Calls the tool that the name of a message begins with, and returns the part of the result that a client shows its model.
fn result(agent: &mut Agent, name: &str, arguments: Value) -> String {
    let tool = match name.split(',').next() {
        Some("claim" | "release") => "post_status",
        tool => tool.unwrap(),
    };
    let result = agent.call(tool, arguments);
    let content = result["content"].as_array().unwrap().iter();
    content.filter_map(|part| part["text"].as_str()).collect()
}

/// An agent that has said hello, and its instructions, which an agent without the tools of files lacks.
fn greeted(world: &World, who: &str, options: &[&str]) -> (Agent, String) {
    let mut command = world.coord(world.clone.path());
    command.env("COORD_AGENT", who).arg("mcp").args(options);
    let mut agent = Agent::silent(command);
    let hello = agent.hello("test-client");
    (agent, hello["instructions"].as_str().unwrap_or_default().to_owned())
}

fn agent(world: &World, who: &str) -> Agent {
    greeted(world, who, &[]).0
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
    let (mut silent, instructions) = greeted(&world, "claude-code-0001", &[]);
    all.add(&world, "instructions", &instructions);
    all.add(&world, "tools/list, locks alone", &shown_tools(&mut silent));
    let (mut ada, mut bob) = (agent(&world, ADA), agent(&world, BOB));
    let mut add = |name, agent: &mut Agent, arguments| all.add(&world, name, &result(agent, name, arguments));
    let db = json!(["src/db.ts"]);
    let check = json!({ "file_paths": db });
    let claim = json!({ "file_paths": db, "status": "WRITING", "message": "Growing the pool with the load" });
    add("check_status, free", &mut ada, check.clone());
    add("claim, granted", &mut ada, claim.clone());
    add("check_status, held", &mut bob, check);
    add("claim, held", &mut bob, claim);
    let page = json!({ "file_paths": ["src/page.ts"], "status": "WRITING", "message": "Showing the retries" });
    add("claim, held neighbor", &mut bob, page);
    let malformed = json!({ "file_paths": db, "status": "WRITE" });
    add("claim, malformed", &mut ada, malformed);
    write(&world, "src/db.ts", "export const query = 2;\n");
    let release = json!({ "file_paths": db, "status": "OPEN", "message": "The pool grows" });
    add("release, not pushed", &mut ada, release.clone());
    world.clone.git(&["commit", "--quiet", "-am", "Grow"]);
    world.clone.git(&["push", "--quiet"]);
    add("release, pushed", &mut ada, release);
    all
}

/// Without a server.
pub(super) fn offline() -> Messages {
    let world = shop();
    let mut all = Messages::new("tools, no server");
    let (mut ada, _) = greeted(&world, ADA, &["--url", "http://127.0.0.1:9"]);
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
    let agent = |handle: &str| greeted(&world, handle, &["--tools", "opencode"]).0;
    let (mut lead, mut wren) = (agent("lead"), agent("wren"));
    all.add(&world, "tools/list", &shown_tools(&mut lead));
    let mut add = |name, agent: &mut Agent, mut arguments: Value| {
        arguments["teamName"] = json!("shop");
        all.add(&world, name, &result(agent, name, arguments));
    };
    add("spawn-team", &mut lead, json!({}));
    add("join-team", &mut wren, json!({}));
    add("discover-teams", &mut wren, json!({}));
    add("get-team-info", &mut wren, json!({}));
    let task = json!({ "taskData": { "title": "Grow the pool", "description": "By the load" } });
    add("create-task", &mut lead, task);
    add("get-tasks, one", &mut wren, json!({}));
    let first = json!({ "taskId": "t1" });
    add("claim-task, claimed", &mut wren, first.clone());
    add("claim-task, taken", &mut lead, first);
    let completed = json!({ "taskId": "t1", "updates": { "status": "completed" } });
    add("update-task, completed", &mut wren, completed);
    let message = json!({ "targetAgentId": "wren", "message": "The pool grows." });
    add("send-message", &mut lead, message);
    add("read-messages, one", &mut wren, json!({}));
    let to_all = json!({ "message": "The pool grows." });
    add("broadcast-message", &mut lead, to_all);
    add("poll-inbox, one", &mut wren, json!({}));
    add("poll-inbox, none", &mut wren, json!({ "timeoutMs": 0 }));
    add("request-shutdown", &mut lead, json!({}));
    add("approve-shutdown", &mut wren, json!({}));
    all
}

pub(super) fn of_teams() -> Messages {
    let world = served_shop();
    let mut all = Messages::new("tools, teams");
    let (mut ada, mut bob) = (agent(&world, ADA), agent(&world, BOB));
    let mut add = |name, agent: &mut Agent, arguments| all.add(&world, name, &result(agent, name, arguments));
    add("task_list, no team", &mut ada, json!({}));
    let create = json!({ "action": "create", "team": "shop", "handle": "ada" });
    add("team, create", &mut ada, create);
    let join = json!({ "action": "join", "team": "shop", "handle": "bob" });
    add("team, join", &mut bob, join);
    add("team, show", &mut bob, json!({ "action": "show" }));
    add("team, list", &mut bob, json!({ "action": "list" }));
    let plan = json!([
        { "title": "Grow the pool", "files": ["src/db.ts"], "ref": "pool" },
        { "title": "Show the retries", "files": ["src/page.ts"], "dependencies": ["pool"] },
    ]);
    add("task_create, two", &mut ada, json!({ "tasks": plan }));
    let unknown = json!([{ "title": "Log in with a link", "dependencies": ["t99"] }]);
    add("task_create, refused", &mut ada, json!({ "tasks": unknown }));
    add("task_list, two", &mut bob, json!({}));
    add("task_list, one", &mut bob, json!({ "id": "t1" }));
    add("task_claim, next", &mut bob, json!({}));
    add("task_claim, none ready", &mut ada, json!({}));
    add("task_claim, taken", &mut ada, json!({ "id": "t1" }));
    add("task_claim, files held", &mut ada, json!({ "id": "t2" }));
    let edit = json!({ "id": "t1", "action": "edit", "note": "Half done" });
    add("task_update, edit", &mut bob, edit);
    let complete = json!({ "id": "t1", "action": "complete", "result": "query() is async now" });
    add("task_update, not yours", &mut ada, complete.clone());
    write(&world, "src/db.ts", "export const query = 2;\n");
    add("task_update, not pushed", &mut bob, complete.clone());
    world.clone.git(&["commit", "--quiet", "-am", "Grow"]);
    world.clone.git(&["push", "--quiet"]);
    add("task_update, complete", &mut bob, complete);
    add("task_claim, with result", &mut ada, json!({ "id": "t2" }));
    let release = json!({ "id": "t2", "action": "release", "note": "The design is missing" });
    add("task_update, release", &mut ada, release);
    let send = |to: &str| json!({ "to": [to], "message": "The pool grows now; use query()." });
    add("message_send, sent", &mut ada, send("broadcast"));
    add("message_send, refused", &mut ada, send("eve"));
    add("message_read, one", &mut bob, json!({}));
    add("message_read, none", &mut bob, json!({ "cursor": 1 }));
    let request = json!({ "action": "request", "target": "bob", "reason": "The work is done" });
    add("team, shutdown request", &mut ada, request.clone());
    let reject = json!({ "action": "reject", "shutdown_id": "s1", "reason": "t2 is open" });
    add("team, shutdown reject", &mut bob, reject);
    result(&mut ada, "team", request);
    let approve = |id: &str| json!({ "action": "approve", "shutdown_id": id });
    add("team, shutdown approve", &mut bob, approve("s2"));
    add("team, shutdown refused", &mut bob, approve("s9"));
    add("team, leave", &mut bob, json!({ "action": "leave" }));
    let groups = ["--tools", "locks,tasks,messages"];
    let (mut other, _) = greeted(&world, "claude-code-0001", &groups);
    all.add(&world, "tools/list, all", &shown_tools(&mut other));
    all
}

pub(super) fn of_intents() -> Messages {
    let world = served_shop();
    let mut all = Messages::new("tools, intents");
    let (mut ada, mut bob) = (agent(&world, ADA), agent(&world, BOB));
    let mut add = |name, agent: &mut Agent, arguments| all.add(&world, name, &result(agent, name, arguments));
    let criterion = "A failed query is retried";
    let intent = |id: &str| {
        json!({ "action": "NEW", "intent_id": id, "name": "Retry failed queries", "owned_scope": ["src/db.ts"],
            "acceptance_criteria": [criterion] })
    };
    add("update_intent, new", &mut ada, intent("REQ-1"));
    result(&mut ada, "update_intent", intent("REQ-2"));
    let select = |id: &str| json!({ "intent_id": id });
    add("select_active_intent, selected", &mut ada, select("REQ-1"));
    add("select_active_intent, overlap", &mut bob, select("REQ-2"));
    add("select_active_intent, unknown", &mut bob, select("REQ-9"));
    add("select_active_intent, list", &mut ada, json!({}));
    let claim = |file: &str| json!({ "file_paths": [file], "status": "WRITING", "message": "Counting the retries" });
    add("claim, granted", &mut ada, claim("src/db.ts"));
    add("claim, outside scope", &mut ada, claim("README.md"));
    let update =
        |action: &str| json!({ "intent_id": "REQ-1", "action": action, "reason": "Waiting for the new driver" });
    add("update_intent, criterion unmet", &mut ada, update("COMPLETE"));
    let met = json!({ "intent_id": "REQ-1", "action": "EDIT",
        "met": [{ "criterion": criterion, "evidence": "npm test: 12 passed" }] });
    add("update_intent, met", &mut ada, met);
    add("update_intent, complete", &mut ada, update("COMPLETE"));
    add("update_intent, abandon refused", &mut ada, update("ABANDON"));
    all
}
