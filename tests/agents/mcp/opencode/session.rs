//! One session of an agent of OpenCode: as whom it acts, and when its messages are read.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::board::Board;
use crate::mcp::client::Agent;
use crate::mcp::server::Server;
use coord_test_worlds::world::World;

fn texts(messages: &Json) -> Vec<&str> {
    let messages = messages.as_array().unwrap().iter();
    messages.map(|message| message["message"].as_str().unwrap()).collect()
}

#[test]
fn an_agent_is_the_one_of_the_plugins_environment_for_tasks_and_for_locks() {
    let world = World::with(&[("README.md", "x")]);
    let server = Server::start(&world, 300);
    let wren = [
        ("OPENCODE_AGENT_ID", "wren"),
        ("OPENCODE_AGENT_NAME", "The wren"),
        ("OPENCODE_AGENT_TYPE", "reviewer"),
    ];
    let mut board = Board::start(&server, &wren);
    let team = board.tool("spawn-team", json!({})).unwrap();
    let member = &team["members"][0];
    assert_eq!(
        (&team["leader"], &member["agentName"], &member["agentType"]),
        (&json!("wren"), &json!("The wren"), &json!("reviewer"))
    );
    board
        .tool("create-task", json!({ "taskData": { "title": "A" } }))
        .unwrap();
    let claimed = board.tool("claim-task", json!({ "taskId": "t1" })).unwrap();
    assert_eq!(claimed["owner"], "wren");

    let mut command = server.command();
    command.args(["--tools", "locks,opencode"]).envs(wren);
    let mut agent = Agent::start(command);
    agent.claim(&["README.md"]);
    assert_eq!(agent.held("?agent_id=wren"), ["README.md"]);

    let mut command = server.command();
    command.args(["--agent", "owl", "--tools", "opencode"]).envs(wren);
    let joined = Agent::start(command).call("join-team", json!({ "teamName": "alpha" }));
    let joined = joined["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(joined.contains("\"agentId\":\"owl\""), "{joined}");
}

#[test]
fn the_opencode_tools_replace_those_of_teams() {
    let world = World::with(&[("README.md", "x")]);
    let server = Server::start(&world, 300);
    let names = |groups: &str| -> Vec<String> {
        let mut command = server.command();
        command.args(["--tools", groups]);
        let listed = Agent::start(command).ask("tools/list", json!({}));
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let plugin = names("opencode");
    insta::assert_snapshot!(plugin.join(" "), @"spawn-team discover-teams join-team get-team-info send-message broadcast-message read-messages poll-inbox create-task get-tasks claim-task update-task request-shutdown approve-shutdown");
    let with_locks = names("locks,opencode");
    assert_eq!(with_locks[..2], ["check_status", "post_status"]);
    assert_eq!(with_locks[4..], plugin);
    for groups in ["opencode,tasks", "messages,opencode", "opencode,nothing", ""] {
        let refused = server.command().args(["--tools", groups]).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{groups}");
    }
}

#[test]
fn messages_are_read_once_the_agent_calls_again_and_come_again_to_one_that_died_before() {
    let world = World::with(&[("README.md", "x")]);
    let server = Server::start(&world, 300);
    let mut lead = Board::start(&server, &[("OPENCODE_AGENT_ID", "lead")]);
    lead.tool("spawn-team", json!({})).unwrap();
    let worker = [("OPENCODE_AGENT_ID", "w1")];
    let mut first = Board::start(&server, &worker);
    first.tool("join-team", json!({})).unwrap();
    lead.tool("broadcast-message", json!({ "message": "one" })).unwrap();
    let read = first.tool("read-messages", json!({})).unwrap();
    assert_eq!(texts(&read), ["one"]);
    drop(first);
    let mut second = Board::start(&server, &worker);
    assert_eq!(texts(&second.tool("read-messages", json!({})).unwrap()), ["one"]);
    assert_eq!(texts(&second.tool("read-messages", json!({})).unwrap()), [""; 0]);
    drop(second);
    let mut third = Board::start(&server, &worker);
    assert_eq!(texts(&third.tool("read-messages", json!({})).unwrap()), [""; 0]);
}

// rule: teams#opencode-extras
// rule: mcp#mcp-wait
#[test]
fn a_poll_waits_for_the_next_message_and_is_empty_when_none_came() {
    let world = World::with(&[("README.md", "x")]);
    let server = Server::start(&world, 300);
    let mut lead = Board::start(&server, &[("OPENCODE_AGENT_ID", "lead")]);
    lead.tool("spawn-team", json!({})).unwrap();
    let mut worker = Board::start(&server, &[("OPENCODE_AGENT_ID", "w1")]);
    worker.tool("join-team", json!({})).unwrap();
    let began = Instant::now();
    assert_eq!(worker.tool("poll-inbox", json!({ "timeoutMs": 900 })), Ok(json!([])));
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    let sent = std::thread::spawn(move || {
        // time: the poll waits when the message is sent.
        std::thread::sleep(Duration::from_secs(1));
        let message = json!({ "targetAgentId": "w1", "message": "two" });
        lead.tool("send-message", message).unwrap();
        lead
    });
    let began = Instant::now();
    let polled = worker.tool("poll-inbox", json!({})).unwrap();
    assert_eq!(texts(&polled), ["two"]);
    assert!(
        began.elapsed() < Duration::from_secs(7),
        "woken by the message: {:?}",
        began.elapsed()
    );
    let mut lead = sent.join().unwrap();
    lead.tool("send-message", json!({ "targetAgentId": "w1", "message": "three" }))
        .unwrap();
    // The worker has read all that is older than `since`; a message at that very time is sent, because it may be a new
    // one.
    let since = lead
        .tool("send-message", json!({ "targetAgentId": "w1", "message": "four" }))
        .unwrap();
    let polled = worker
        .tool("poll-inbox", json!({ "since": since["timestamp"], "timeoutMs": 0 }))
        .unwrap();
    assert_eq!(texts(&polled).last(), Some(&"four"));
    let later = json!({ "since": "2999-01-01T00:00:00Z", "timeoutMs": 0 });
    lead.tool("send-message", json!({ "targetAgentId": "w1", "message": "five" }))
        .unwrap();
    assert_eq!(worker.tool("poll-inbox", later), Ok(json!([])));
}
