//! The protocol itself.

use std::time::{Duration, Instant};

use serde_json::json;

use super::client::{Agent, newest_revision};
use super::{agent, agent_in, mcp};
use coord_test_worlds::world::World;

#[test]
fn hello_and_the_list_of_tools_do_not_wait_for_a_server() {
    let world = World::with(&[("a.txt", "a")]);
    let started = Instant::now();
    // An address that swallows everything, on a network for documentation.
    let mut agent = Agent::silent(mcp(&world, &["--url", "http://192.0.2.1:9"]));
    let hello = agent.hello("test");
    assert_eq!(hello["serverInfo"]["name"], "coord");
    let instructions = hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("Paths are relative to your working directory"));
    let listed = agent.ask("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 11);
    for tool in tools {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        for filled_in in ["repo_url", "agent_head"] {
            assert!(!properties.contains_key(filled_in), "{tool}");
        }
    }
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

#[test]
fn an_agent_of_the_newest_revision_needs_no_hello() {
    let world = World::with(&[("a.txt", "a")]);
    let mut agent = Agent::silent(mcp(&world, &[]));
    let meta = newest_revision("Newest One");
    let found = agent.ask("server/discover", json!({ "_meta": meta }));
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let claim = json!({ "file_paths": ["a.txt"], "status": "WRITING", "message": "Trying the newest revision of the protocol" });
    let call = json!({ "name": "post_status", "arguments": claim, "_meta": meta });
    let claimed = agent.ask("tools/call", call);
    assert_eq!(claimed["structuredContent"]["success"], true, "{claimed}");
    let read = json!({ "uri": "coord://locks?holder=me", "_meta": meta });
    let held = agent.ask("resources/read", read);
    let text = held["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"agent_id\":\"newest-one-"), "{text}");
}

#[test]
fn the_command_comes_first_in_a_result() {
    let world = World::with(&[("a.txt", "a")]);
    let mut agent = agent(&world);
    for (tool, arguments) in [
        ("check_status", json!({ "file_paths": ["a.txt"] })),
        ("check_status", json!({ "file_paths": "a.txt" })),
        ("team", json!({ "action": "create", "team": "alpha" })),
    ] {
        agent.send("tools/call", json!({ "name": tool, "arguments": arguments }));
        let line = agent.line();
        let start = "\"structuredContent\":{\"orchestration\":{\"action\":";
        assert!(line.contains(start), "{line}");
    }
}

#[test]
fn everything_that_came_before_the_end_of_the_input_is_answered() {
    let world = World::with(&[("a.txt", "a")]);
    let mut agent = agent(&world);
    let check = json!({ "name": "check_status", "arguments": { "file_paths": ["a.txt"] } });
    let ids: Vec<i64> = (0..50).map(|_| agent.send("tools/call", check.clone())).collect();
    agent.close();
    let mut answered: Vec<i64> = ids.iter().map(|_| agent.answer()["id"].as_i64().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, ids);
    assert!(agent.wait().status.success());
}

#[test]
fn a_call_that_is_wrong_is_an_error_with_a_sentence() {
    let world = World::with(&[("a.txt", "a")]);
    let mut agent = agent(&world);
    let of = |paths: &[&str]| json!({ "file_paths": paths });
    for (arguments, field, sentence) in [
        (json!({ "file_paths": "a.txt" }), "file_paths", "file_paths is wrong"),
        (json!({}), "file_paths", "file_paths is required"),
        (of(&["../../outside.txt"]), "file_paths", "is in no git repository"),
        (of(&[".git/config"]), "file_paths", "is git's own"),
        (
            json!({ "file_paths": ["a.txt"], "agent_id": "two words" }),
            "agent_id",
            "is not an agent id",
        ),
        (json!({ "file_paths": ["a.txt"], "branch": "a..b" }), "branch", "a..b"),
    ] {
        let result = agent.call("check_status", arguments.clone());
        let content = &result["structuredContent"];
        assert_eq!(result["isError"], true, "{arguments}: {result}");
        assert_eq!(content["field"], field, "{result}");
        assert!(content["message"].as_str().unwrap().contains(sentence), "{result}");
    }
    // The same file many times is one file.
    let result = agent.call("check_status", of(&["a.txt"; 513]));
    assert_eq!(result["isError"], false, "{result}");
    let mut error = |method, params| agent.try_ask(method, params).unwrap_err()["code"].as_i64();
    assert_eq!(error("tools/call", json!({ "name": "claim" })), Some(-32602));
    let unknown = error("resources/read", json!({ "uri": "coord://nothing" }));
    assert!(matches!(unknown, Some(-32002 | -32602)), "{unknown:?}");
}

#[test]
fn outside_of_a_repository_files_have_to_be_absolute() {
    let world = World::with(&[("a.txt", "a")]);
    let mut agent = agent_in(&world, &world.folder("elsewhere"));
    let result = agent.call("check_status", json!({ "file_paths": ["a.txt"] }));
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("is in no git repository"), "{text}");
    let file = world.clone.path().join("a.txt").display().to_string();
    assert_eq!(agent.check(&[&file])["status"], "OK");
}

#[test]
fn standard_error_has_logs_and_no_part_of_the_protocol() {
    let world = World::with(&[("a.txt", "a")]);
    let mut command = mcp(&world, &[]);
    command.env("RUST_LOG", "trace");
    let mut agent = Agent::start(command);
    assert_eq!(agent.check(&["a.txt"])["status"], "OK");
    let ended = agent.end();
    assert!(ended.status.success());
    assert!(!ended.log.is_empty());
}

// rule: mcp#listed-tools
#[test]
fn an_agent_is_offered_the_tools_that_were_chosen_for_it() {
    let world = World::with(&[("a.txt", "a")]);
    let names = |groups: &str| Agent::start(mcp(&world, &["--tools", groups])).tool_names();
    assert_eq!(
        names("locks"),
        ["check_status", "post_status", "select_active_intent", "update_intent"]
    );
    assert_eq!(names("messages"), ["team", "message_send", "message_read"]);
    assert_eq!(names("locks,tasks").len(), 9);
}
