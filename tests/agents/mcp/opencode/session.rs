//! One session of an agent of OpenCode: as whom it acts, and when its messages are read.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::board::Board;
use crate::mcp::client::Agent;
use crate::mcp::server::Server;
use coord_test_worlds::world::World;

impl Board {
    /// One whose agent is `handle`.
    fn of(server: &Server<'_>, handle: &str) -> Board {
        Board::start(server, &[("OPENCODE_AGENT_ID", handle)])
    }

    /// The texts of the messages that `tool` returns.
    fn messages(&mut self, tool: &str, arguments: Json) -> Vec<String> {
        let messages = self.tool(tool, arguments).unwrap();
        let messages = messages.as_array().unwrap().iter();
        let texts = messages.map(|message| message["message"].as_str().unwrap().to_owned());
        texts.collect()
    }

    /// Sends `w1` a message.
    fn sends(&mut self, message: &str) -> Json {
        let arguments = json!({ "targetAgentId": "w1", "message": message });
        self.tool("send-message", arguments).unwrap()
    }
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
        json!([team["leader"], member["agentName"], member["agentType"]]),
        json!(["wren", "The wren", "reviewer"])
    );
    let task = json!({ "taskData": { "title": "A" } });
    board.tool("create-task", task).unwrap();
    let claimed = board.tool("claim-task", json!({ "taskId": "t1" })).unwrap();
    assert_eq!(claimed["owner"], "wren");

    let with = |options: &[&str]| {
        let mut command = server.command();
        command.args(options).envs(wren);
        Agent::start(command)
    };
    let mut agent = with(&["--tools", "locks,opencode"]);
    agent.claim(&["README.md"]);
    assert_eq!(agent.held("?agent_id=wren"), ["README.md"]);

    let mut owl = with(&["--agent", "owl", "--tools", "opencode"]);
    let joined = owl.call("join-team", json!({ "teamName": "alpha" }));
    let joined = joined["content"][0]["text"].as_str().unwrap();
    assert!(joined.contains("\"agentId\":\"owl\""), "{joined}");
}

#[test]
fn the_opencode_tools_replace_those_of_teams() {
    let world = World::with(&[("README.md", "x")]);
    let server = Server::start(&world, 300);
    let names = |groups: &str| server.agent_with(&["--tools", groups]).tool_names();
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
    let mut lead = Board::of(&server, "lead");
    lead.tool("spawn-team", json!({})).unwrap();
    let mut first = Board::of(&server, "w1");
    first.tool("join-team", json!({})).unwrap();
    lead.tool("broadcast-message", json!({ "message": "one" })).unwrap();
    assert_eq!(first.messages("read-messages", json!({})), ["one"]);
    drop(first);
    let mut second = Board::of(&server, "w1");
    assert_eq!(second.messages("read-messages", json!({})), ["one"]);
    assert_eq!(second.messages("read-messages", json!({})), [""; 0]);
    drop(second);
    let mut third = Board::of(&server, "w1");
    assert_eq!(third.messages("read-messages", json!({})), [""; 0]);
}

// rule: teams#opencode-extras
// rule: mcp#mcp-wait
#[test]
fn a_poll_waits_for_the_next_message_and_is_empty_when_none_came() {
    let world = World::with(&[("README.md", "x")]);
    let server = Server::start(&world, 300);
    let mut lead = Board::of(&server, "lead");
    lead.tool("spawn-team", json!({})).unwrap();
    let mut worker = Board::of(&server, "w1");
    worker.tool("join-team", json!({})).unwrap();
    let began = Instant::now();
    assert_eq!(worker.tool("poll-inbox", json!({ "timeoutMs": 900 })), Ok(json!([])));
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    let sent = std::thread::spawn(move || {
        // time: the poll waits when the message is sent.
        std::thread::sleep(Duration::from_secs(1));
        lead.sends("two");
        lead
    });
    let began = Instant::now();
    assert_eq!(worker.messages("poll-inbox", json!({})), ["two"]);
    let elapsed = began.elapsed();
    assert!(elapsed < Duration::from_secs(7), "woken by the message: {elapsed:?}");
    let mut lead = sent.join().unwrap();
    lead.sends("three");
    // The worker has read all that is older than `since`; a message at that very time is sent, because it may be a new
    // one.
    let since = lead.sends("four")["timestamp"].clone();
    let polled = worker.messages("poll-inbox", json!({ "since": since, "timeoutMs": 0 }));
    assert_eq!(polled.last().map(String::as_str), Some("four"));
    lead.sends("five");
    let later = json!({ "since": "2999-01-01T00:00:00Z", "timeoutMs": 0 });
    assert_eq!(worker.tool("poll-inbox", later), Ok(json!([])));
}
