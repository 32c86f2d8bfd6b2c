//! A server that is out of reach, slow, or fails.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::time::{Duration, Instant};

use coord_test_support::process::free_address;
use coord_test_support::waiting::block_until;
use serde_json::json;

use super::client::{Agent, MESSAGE, action, warnings};
use super::mcp;
use super::server::Server;
use coord_test_worlds::world::World;

const WARNING: &str = "OFFLINE_MODE: The server at ADDRESS is unreachable. Reading allowed, Writing disabled.";

/// Returns the warnings that the server is out of reach, with ADDRESS in place of the actual one.
fn offline(answer: &serde_json::Value) -> Vec<String> {
    let without_address = |warning: &str| {
        let (before, rest) = warning.split_once("http://").unwrap_or((warning, ""));
        let after = rest.split_once(' ').map_or("", |(_, after)| after);
        format!("{before}ADDRESS {after}")
    };
    let warnings = warnings(answer, "OFFLINE_MODE").into_iter();
    warnings.map(without_address).collect()
}

/// Answers every request with `answer`; with none, never. It lives as long as the test's process.
fn listening(answer: Option<&'static str>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let Some(answer) = answer else {
                open.push(stream);
                continue;
            };
            let mut request = [0; 16 * 1024];
            let _ = stream.read(&mut request);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

fn in_front_of(world: &World, address: SocketAddr) -> Agent {
    Agent::start(mcp(world, &["--url", &format!("http://{address}")]))
}

/// The answers of an agent that has no server: reading is allowed, writing is not.
fn is_offline(agent: &mut Agent) {
    let result = agent.call("check_status", json!({ "file_paths": ["a.txt"] }));
    assert_eq!(result["isError"], false, "{result}");
    let checked = &result["structuredContent"];
    assert_eq!(checked["status"], "OFFLINE", "{checked}");
    assert_eq!(action(checked), "STOP");
    assert_eq!(offline(checked), [WARNING]);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("STOP: "), "{result}");
    for status in ["WRITING", "READING"] {
        let posted = agent.post(&["a.txt"], status, MESSAGE);
        is_stopped(&posted);
        assert_eq!(offline(&posted), [WARNING]);
    }
}

fn is_stopped(posted: &serde_json::Value) {
    assert_eq!(action(posted), "STOP", "{posted}");
    assert_eq!(posted["success"], false, "{posted}");
}

#[test]
fn reading_is_allowed_and_writing_is_not_where_the_server_cannot_be_reached_or_fails() {
    let world = World::with(&[("a.txt", "a")]);
    let mut agent = in_front_of(&world, free_address());
    is_offline(&mut agent);
    let locks = json!({ "uri": "coord://locks" });
    let error = agent.try_ask("resources/read", locks).unwrap_err();
    assert_eq!(error["data"]["error"], "STORE_UNAVAILABLE", "{error}");
    for answer in [
        "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 7\r\nConnection: close\r\n\r\n<html/>",
        "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\n<html/>",
        "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 43\r\nConnection: close\r\n\r\n{\"error\":\"INTERNAL\",\"message\":\"it is broken\"}",
        "no HTTP at all\r\n\r\n",
    ] {
        is_offline(&mut in_front_of(&world, listening(Some(answer))));
    }
}

#[test]
fn a_server_that_gives_no_answer_is_not_waited_for_longer_than_ten_seconds() {
    let world = World::with(&[("a.txt", "a")]);
    let mut agent = in_front_of(&world, listening(None));
    let started = Instant::now();
    let checked = agent.check(&["a.txt"]);
    assert_eq!(checked["status"], "OFFLINE", "{checked}");
    let reason = checked["orchestration"]["reason"].as_str().unwrap();
    assert!(reason.contains("does not answer within 10 s"), "{checked}");
    let elapsed = started.elapsed();
    assert!((9..20).contains(&elapsed.as_secs()), "{elapsed:?}");
}

// rule: mcp#offline
#[test]
fn a_release_that_does_not_arrive_is_retried_and_reported_once_it_lands() {
    let world = World::with(&[("a.txt", "a")]);
    let mut server = Server::start(&world, 300);
    let mut ada = server.agent();
    ada.gets_locks(&["a.txt"]);
    world.clone.commit(&[("a.txt", "changed")]);
    world.clone.git(&["push", "--quiet"]);
    server.kill();
    let answer = ada.post(&["a.txt"], "OPEN", MESSAGE);
    is_stopped(&answer);
    assert_eq!(warnings(&answer, "RELEASE_RETRIED").len(), 1, "{answer}");
    server.start_again();
    let mut watcher = server.agent_with(&["--agent", "watcher"]);
    block_until("the release lands", || watcher.held("").is_empty());
    let landed = ["RELEASE_LANDED: 'a.txt' released after all."];
    assert_eq!(ada.warned("a.txt", "RELEASE_LANDED"), landed);
    assert_eq!(warnings(&ada.check(&["a.txt"]), "RELEASE_LANDED"), [""; 0]);
}

#[test]
fn a_release_retry_ends_with_release_expired_when_the_lock_has_expired() {
    let world = World::with(&[("a.txt", "a")]);
    let mut server = Server::start(&world, 2);
    let mut ada = server.agent();
    ada.gets_locks(&["a.txt"]);
    server.kill();
    ada.abandon("a.txt");
    let expired = ["RELEASE_EXPIRED: Coord gave no answer until the locks on 'a.txt' had expired."];
    assert_eq!(ada.warned("a.txt", "RELEASE_EXPIRED"), expired);
    assert_eq!(ada.check(&["a.txt"])["status"], "OFFLINE");
}

#[test]
fn a_retried_release_that_the_rules_refuse_warns_release_refused() {
    let world = World::with(&[("a.txt", "a")]);
    let mut server = Server::start(&world, 300);
    let mut ada = server.agent();
    ada.gets_locks(&["a.txt"]);
    server.kill();
    world.clone.commit(&[("a.txt", "changed")]);
    ada.post(&["a.txt"], "OPEN", MESSAGE);
    server.start_again();
    let refused = ada.warned("a.txt", "RELEASE_REFUSED");
    assert!(refused[0].contains("a.txt"), "{refused:?}");
    assert_eq!(ada.held("?holder=me"), ["a.txt"]);
}

#[test]
fn a_new_claim_ends_the_retries_of_an_older_release() {
    let world = World::with(&[("a.txt", "a")]);
    let mut server = Server::start(&world, 300);
    let mut ada = server.agent();
    ada.gets_locks(&["a.txt"]);
    server.kill();
    ada.abandon("a.txt");
    assert_eq!(action(&ada.claim(&["a.txt"])), "STOP");
    server.start_again();
    ada.gets_locks(&["a.txt"]);
    let claimed = Instant::now();
    while claimed.elapsed() < Duration::from_secs(3) {
        assert_eq!(ada.held("?holder=me"), ["a.txt"]);
        // time: the claim stays for three seconds.
        std::thread::sleep(Duration::from_millis(100));
    }
}

// rule: mcp#offline
#[test]
fn a_release_beside_64_that_are_retried_warns_release_failed() {
    let world = World::with(&[("a.txt", "a")]);
    let mut server = Server::start(&world, 300);
    let mut ada = server.agent();
    let names: Vec<String> = (0..100).map(|number| format!("file{number}.txt")).collect();
    let paths: Vec<&str> = names.iter().map(String::as_str).collect();
    ada.gets_locks(&paths);
    server.kill();
    // Some are out for a retry at any time, so that the bound is met somewhere behind the 64th.
    let is_failed = |path: &&str| !warnings(&ada.abandon(path), "RELEASE_FAILED").is_empty();
    let failed = paths.iter().position(is_failed);
    assert!(failed.is_some_and(|number| number >= 64), "{failed:?}");
}

#[test]
fn a_server_of_the_repository_that_has_ended_is_started_again() {
    let world = World::with(&[("a.txt", "a")]);
    let mut ada = super::agent(&world);
    ada.gets_locks(&["a.txt"]);
    let first = world.server().unwrap();
    let killed = Command::new("kill").args(["-9", &first]).status();
    assert!(killed.unwrap().success());
    let checked = ada.check(&["a.txt"]);
    assert_eq!(checked["status"], "OK", "{checked}");
    assert_eq!(checked["held"]["a.txt"]["status"], "WRITING", "{checked}");
    assert_ne!(world.server().unwrap(), first);
}
