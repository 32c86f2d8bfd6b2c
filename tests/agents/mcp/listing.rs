//! The tools that a repository has a use for, what a client that listens hears, and the rules, which arrive once.

use serde_json::{Value, json};

use super::client::Agent;
use coord_test_worlds::world::World;

fn names(tools: &Value) -> Vec<&str> {
    let tools = tools["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// An agent that has said hello as `client`, and what it was told.
fn greeted(world: &World, client: &str) -> (Agent, String) {
    let mut command = world.coord(world.clone.path());
    command.arg("mcp");
    let mut agent = Agent::silent(command);
    let hello = agent.hello(client);
    (agent, hello["instructions"].as_str().unwrap().to_owned())
}

fn run(world: &World, args: &[&str]) {
    let output = world.run(args);
    assert!(output.status.success(), "{args:?}: {output:?}");
}

const FILES: [&str; 2] = ["check_status", "post_status"];
const INTENTS: [&str; 2] = ["select_active_intent", "update_intent"];

// rule: mcp#listed-tools
#[test]
fn tools_of_teams_are_listed_once_there_is_a_team_and_list_changed_is_sent() {
    let world = World::with(&[("a.txt", "a")]);
    let (mut agent, _) = greeted(&world, "test");
    assert_eq!(names(&agent.ask("tools/list", json!({}))), FILES);
    // An agent can call a tool that is not listed.
    agent.send(
        "tools/call",
        json!({ "name": "team", "arguments": { "action": "create", "team": "alpha" } }),
    );
    let messages = [agent.answer(), agent.answer()];
    let is_notice = |message: &Value| message["method"] == "notifications/tools/list_changed";
    assert_eq!(
        messages.iter().filter(|message| is_notice(message)).count(),
        1,
        "{messages:?}"
    );
    let tools = agent.ask("tools/list", json!({}));
    assert_eq!(names(&tools).len(), 9, "{tools}");
    assert!(!names(&tools).contains(&INTENTS[0]));
    // Once.
    agent.send(
        "tools/call",
        json!({ "name": "team", "arguments": { "action": "list" } }),
    );
    assert!(agent.answer()["result"].is_object());
    assert_eq!(agent.check(&["a.txt"])["status"], "OK");
}

#[test]
fn tools_of_intents_are_listed_where_there_is_an_intent() {
    let world = World::with(&[("a.txt", "a")]);
    let new = ["intent", "new", "REQ-1", "--name", "A pool", "--scope", "a.txt"];
    run(&world, &new);
    let (mut agent, _) = greeted(&world, "test");
    assert_eq!(names(&agent.ask("tools/list", json!({}))), [FILES, INTENTS].concat());
}

// rule: mcp#subscriptions
#[test]
fn a_subscribed_client_is_notified_when_locks_change() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut command = world.coord(world.clone.path());
    command.arg("mcp");
    let mut agent = Agent::silent(command);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "Newest One", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let wanted = json!({ "resourceSubscriptions": ["coord://locks", "other://locks"], "toolsListChanged": true });
    agent.send(
        "subscriptions/listen",
        json!({ "_meta": meta, "notifications": wanted }),
    );
    let acknowledged = agent.answer();
    assert_eq!(
        acknowledged["method"], "notifications/subscriptions/acknowledged",
        "{acknowledged}"
    );
    let uris = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(uris, &json!(["coord://locks"]), "{acknowledged}");
    // The stream of events is opened meanwhile: it is claimed until that is heard.
    let notification = std::thread::scope(|scope| {
        let notification = scope.spawn(|| agent.answer());
        while !notification.is_finished() {
            for agent in ["bob", "eve"] {
                let file = format!("{agent}.txt");
                world.run(&["claim", &file, "-m", "Adding a file", "--agent", agent]);
                world.run(&["release", &file, "--abandon", "--agent", agent]);
            }
        }
        notification.join().unwrap()
    });
    assert_eq!(
        notification["method"], "notifications/resources/updated",
        "{notification}"
    );
    assert_eq!(notification["params"]["uri"], "coord://locks", "{notification}");
}

/// Agents that read the file of instructions had the rules twice.
// rule: mcp#instructions
#[test]
fn instructions_omit_the_rules_that_the_client_reads_from_its_file() {
    let world = World::with(&[("a.txt", "a")]);
    let is_whole = |client: &str| greeted(&world, client).1.contains("Orchestration commands are law");
    for client in ["codex-mcp-client", "opencode", "claude-code", "gemini-cli-mcp-client"] {
        assert!(is_whole(client), "{client}: there is no file");
    }
    run(&world, &["init", "codex", "--yes", "--no-check"]);
    for (client, expected) in [
        ("codex-mcp-client", false),
        ("opencode", false),
        ("claude-code", true),
        ("gemini-cli-mcp-client", true),
        ("copilot", true),
        ("anything", true),
    ] {
        assert_eq!(is_whole(client), expected, "{client}");
    }
    let (mut agent, instructions) = greeted(&world, "codex-mcp-client");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "codex-mcp-client", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    assert_eq!(
        agent.ask("server/discover", json!({ "_meta": meta }))["instructions"],
        instructions
    );
    assert_eq!(
        instructions,
        "The rules of working beside other agents are in AGENTS.md."
    );
    run(&world, &["init", "claude-code", "--yes", "--no-check"]);
    assert!(!is_whole("claude-code"));
}
