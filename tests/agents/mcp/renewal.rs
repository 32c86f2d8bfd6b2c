//! Locks are renewed while the agent makes calls.

use std::time::{Duration, Instant};

use coord_test_support::waiting::block_until;
use serde_json::json;

use super::client::{Agent, MESSAGE, action, warnings};
use super::server::Server;
use coord_test_worlds::world::World;

/// The wire has whole seconds, so that a shorter time leaves a renewal none.
const TTL: u32 = 5;

fn expiry(watcher: &mut Agent, path: &str) -> Option<i64> {
    let locks = watcher.read("coord://locks");
    let locks = locks["locks"].as_array().unwrap();
    let lock = locks.iter().find(|lock| lock["file_path"] == path)?;
    lock["expiry"].as_i64()
}

// rule: mcp#renewal
#[test]
fn a_lock_outlives_its_time_as_it_was_claimed() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let server = Server::start(&world, TTL);
    let mut ada = server.agent();
    assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
    assert_eq!(
        action(&ada.post(&["b.txt"], "READING", "Reading how b is built")),
        "PROCEED"
    );
    let first = expiry(&mut ada, "a.txt").unwrap();
    block_until("both locks are renewed twice", || {
        let renewed = |path: &str, ada: &mut Agent| expiry(ada, path).expect("it is held") > first + i64::from(TTL);
        renewed("a.txt", &mut ada) && renewed("b.txt", &mut ada)
    });
    let locks = ada.read("coord://locks?holder=me");
    assert_eq!(locks["locks"][0]["message"], MESSAGE);
    assert_eq!(locks["locks"][0]["status"], "WRITING");
    assert_eq!(locks["locks"][1]["message"], "Reading how b is built");
    assert_eq!(locks["locks"][1]["status"], "READING");
}

#[test]
fn an_agent_that_makes_no_calls_keeps_nothing() {
    let world = World::with(&[("a.txt", "a")]);
    let server = Server::start(&world, TTL);
    let mut command = server.command();
    command.args(["--renew-for", "1", "--agent", "hung"]);
    let mut hung = Agent::start(command);
    let mut command = server.command();
    command.args(["--agent", "watcher"]);
    let mut watcher = Agent::start(command);
    assert_eq!(action(&hung.claim(&["a.txt"])), "PROCEED");
    let claimed = Instant::now();
    block_until("the lock expires", || expiry(&mut watcher, "a.txt").is_none());
    // Its last renewal was within a second of the claim.
    assert!(claimed.elapsed() < Duration::from_secs(30));
    assert_eq!(action(&watcher.claim(&["a.txt"])), "PROCEED");
}

#[test]
fn a_lock_that_the_agent_released_is_not_renewed() {
    let world = World::with(&[("a.txt", "a")]);
    let server = Server::start(&world, TTL);
    let mut ada = server.agent();
    assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
    let abandon = json!({ "file_paths": ["a.txt"], "status": "OPEN", "abandon": true, "message": MESSAGE });
    assert_eq!(
        action(&ada.call("post_status", abandon)["structuredContent"]),
        "PROCEED"
    );
    let released = Instant::now();
    while released.elapsed() < Duration::from_secs(u64::from(TTL)) {
        assert_eq!(expiry(&mut ada, "a.txt"), None);
        // time: nothing is renewed for as long as a lock lasts.
        std::thread::sleep(Duration::from_millis(100));
    }
    let checked = ada.check(&["a.txt"]);
    assert_eq!(warnings(&checked, "LOCK_EXPIRED"), [""; 0]);
}

/// After a night of the machine, nothing said that the locks were gone.
// rule: mcp#renewal
#[test]
fn locks_that_expired_while_the_agent_was_idle_warn_lock_expired_once() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let server = Server::start(&world, TTL);
    let mut command = server.command();
    command.args(["--renew-for", "0"]);
    let mut ada = Agent::start(command);
    assert_eq!(action(&ada.claim(&["a.txt"])), "PROCEED");
    let mut warned = Vec::new();
    block_until("the agent is told", || {
        let checked = ada.check(&["b.txt"]);
        warned = warnings(&checked, "LOCK_EXPIRED")
            .into_iter()
            .map(str::to_owned)
            .collect();
        !warned.is_empty()
    });
    assert!(warned[0].contains("'a.txt'"), "{warned:?}");
    let checked = ada.check(&["a.txt"]);
    assert_eq!(warnings(&checked, "LOCK_EXPIRED"), [""; 0], "once");
}
