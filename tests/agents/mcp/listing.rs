//! The tools that a repository has a use for, the notifications of a client that listens, and the rules, which arrive once.

use serde_json::{Value, json};

use super::client::{Agent, newest_revision};
use super::{agent, mcp};
use coord_test_worlds::world::World;

/// An agent that has said hello as `client`, and the instructions that it got.
fn greeted(world: &World, client: &str) -> (Agent, String) {
    let mut agent = Agent::silent(mcp(world, &[]));
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
    let mut agent = agent(&world);
    assert_eq!(agent.tool_names(), FILES);
    // An agent can call a tool that is not listed.
    let create = json!({ "action": "create", "team": "alpha" });
    agent.send("tools/call", json!({ "name": "team", "arguments": create }));
    let messages = [agent.answer(), agent.answer()];
    let is_notice = |message: &&Value| message["method"] == "notifications/tools/list_changed";
    assert_eq!(messages.iter().filter(is_notice).count(), 1, "{messages:?}");
    let names = agent.tool_names();
    assert_eq!(names.len(), 9, "{names:?}");
    assert!(!names.contains(&INTENTS[0].to_owned()));
    // No second notification comes before the results of these calls.
    assert!(agent.call("team", json!({ "action": "list" })).is_object());
    assert_eq!(agent.check(&["a.txt"])["status"], "OK");
}

#[test]
fn tools_of_intents_are_listed_where_there_is_an_intent() {
    let world = World::with(&[("a.txt", "a")]);
    let new = ["intent", "new", "REQ-1", "--name", "A pool", "--scope", "a.txt"];
    run(&world, &new);
    assert_eq!(agent(&world).tool_names(), [FILES, INTENTS].concat());
}

// rule: mcp#subscriptions
#[test]
fn a_subscribed_client_is_notified_when_locks_change() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let mut agent = Agent::silent(mcp(&world, &[]));
    let wanted = json!({ "resourceSubscriptions": ["coord://locks", "other://locks"], "toolsListChanged": true });
    let listen = json!({ "_meta": newest_revision("Newest One"), "notifications": wanted });
    agent.send("subscriptions/listen", listen);
    let acknowledged = agent.answer();
    assert_eq!(
        acknowledged["method"], "notifications/subscriptions/acknowledged",
        "{acknowledged}"
    );
    let uris = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(uris, &json!(["coord://locks"]), "{acknowledged}");
    // The stream of events is opened meanwhile: claims are made until one is notified.
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
    let discover = json!({ "_meta": newest_revision("codex-mcp-client") });
    assert_eq!(agent.ask("server/discover", discover)["instructions"], instructions);
    assert_eq!(
        instructions,
        "The rules of working beside other agents are in AGENTS.md."
    );
    run(&world, &["init", "claude-code", "--yes", "--no-check"]);
    assert!(!is_whole("claude-code"));
}
