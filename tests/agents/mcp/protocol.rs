//! The protocol itself.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::client::Agent;
use super::{agent, agent_in};
use coord_test_worlds::world::World;

#[test]
fn hello_and_the_list_of_tools_do_not_wait_for_a_server() {
    let world = World::with(&[("a.txt", "a")]);
    let mut command = world.coord(world.clone.path());
    // An address that swallows everything, on a network for documentation.
    command.args(["mcp", "--url", "http://192.0.2.1:9"]);
    let started = Instant::now();
    let mut agent = Agent::silent(command);
    let hello = agent.hello("test");
    assert_eq!(hello["serverInfo"]["name"], "coord");
    assert!(
        hello["instructions"]
            .as_str()
            .unwrap()
            .contains("Paths are relative to your working directory")
    );
    let tools = agent.ask("tools/list", json!({}));
    assert_eq!(tools["tools"].as_array().unwrap().len(), 11);
    for tool in tools["tools"].as_array().unwrap() {
        let properties = tool["inputSchema"]["properties"].as_object().unwrap();
        assert!(
            !properties.contains_key("repo_url") && !properties.contains_key("agent_head"),
            "{tool}"
        );
    }
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
}

#[test]
fn an_agent_of_the_newest_revision_needs_no_hello() {
    let world = World::with(&[("a.txt", "a")]);
    let mut command = world.coord(world.clone.path());
    command.arg("mcp");
    let mut agent = Agent::silent(command);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "Newest One", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = agent.ask("server/discover", json!({ "_meta": meta }));
    assert!(
        found["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28")),
        "{found}"
    );
    let claim = json!({ "file_paths": ["a.txt"], "status": "WRITING", "message": "Trying the newest revision of the protocol" });
    let claimed = agent.ask(
        "tools/call",
        json!({ "name": "post_status", "arguments": claim, "_meta": meta }),
    );
    assert_eq!(claimed["structuredContent"]["success"], true, "{claimed}");
    let held = agent.ask(
        "resources/read",
        json!({ "uri": "coord://locks?holder=me", "_meta": meta }),
    );
    let held = held["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(held.contains("\"agent_id\":\"newest-one-"), "{held}");
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
        assert!(
            line.contains("\"structuredContent\":{\"orchestration\":{\"action\":"),
            "{line}"
        );
    }
}

#[test]
fn everything_that_came_before_the_end_of_the_input_is_answered() {
    let world = World::with(&[("a.txt", "a")]);
    let mut agent = agent(&world);
    let ids: Vec<i64> = (0..50)
        .map(|_| {
            agent.send(
                "tools/call",
                json!({ "name": "check_status", "arguments": { "file_paths": ["a.txt"] } }),
            )
        })
        .collect();
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
    for (arguments, field, sentence) in [
        (json!({ "file_paths": "a.txt" }), "file_paths", "file_paths is wrong"),
        (json!({}), "file_paths", "file_paths is required"),
        (
            json!({ "file_paths": ["../../outside.txt"] }),
            "file_paths",
            "is in no git repository",
        ),
        (json!({ "file_paths": [".git/config"] }), "file_paths", "is git's own"),
        (
            json!({ "file_paths": ["a.txt"], "agent_id": "two words" }),
            "agent_id",
            "is not an agent id",
        ),
        (json!({ "file_paths": ["a.txt"], "branch": "a..b" }), "branch", "a..b"),
        (json!({ "file_paths": vec!["a.txt"; 513] }), "file_paths", ""),
    ] {
        let result = agent.call("check_status", arguments.clone());
        let content = &result["structuredContent"];
        if field == "file_paths" && sentence.is_empty() {
            // The same file many times is one file.
            assert_eq!(result["isError"], false, "{result}");
            continue;
        }
        assert_eq!(result["isError"], true, "{arguments}: {result}");
        assert_eq!(content["field"], field, "{result}");
        assert!(content["message"].as_str().unwrap().contains(sentence), "{result}");
    }
    let error = agent.try_ask("tools/call", json!({ "name": "claim" })).unwrap_err();
    assert_eq!(error["code"], -32602);
    let error = agent
        .try_ask("resources/read", json!({ "uri": "coord://nothing" }))
        .unwrap_err();
    assert!([-32002, -32602].contains(&error["code"].as_i64().unwrap()), "{error}");
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
    let mut command = world.coord(world.clone.path());
    command.arg("mcp").env("RUST_LOG", "trace").stderr(Stdio::piped());
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
    let names = |groups: &[&str]| {
        let mut command = world.coord(world.clone.path());
        command.arg("mcp").args(groups);
        let mut agent = Agent::silent(command);
        agent.hello("test");
        let tools = agent.ask("tools/list", json!({}))["tools"].clone();
        let names = tools.as_array().unwrap().iter();
        names
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&["--tools", "locks"]),
        ["check_status", "post_status", "select_active_intent", "update_intent"]
    );
    assert_eq!(
        names(&["--tools", "messages"]),
        ["team", "message_send", "message_read"]
    );
    assert_eq!(names(&["--tools", "locks,tasks"]).len(), 9);
}
