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
    ada.gets_locks(&["a.txt"]);
    let read = ada.post(&["b.txt"], "READING", "Reading how b is built");
    assert_eq!(action(&read), "PROCEED");
    let first = expiry(&mut ada, "a.txt").unwrap();
    block_until("both locks are renewed twice", || {
        let mut is_renewed = |path| expiry(&mut ada, path).expect("it is held") > first + i64::from(TTL);
        is_renewed("a.txt") && is_renewed("b.txt")
    });
    let locks = ada.read("coord://locks?holder=me");
    for (place, message, status) in [(0, MESSAGE, "WRITING"), (1, "Reading how b is built", "READING")] {
        let lock = &locks["locks"][place];
        assert_eq!(json!([lock["message"], lock["status"]]), json!([message, status]));
    }
}

#[test]
fn an_agent_that_makes_no_calls_keeps_nothing() {
    let world = World::with(&[("a.txt", "a")]);
    let server = Server::start(&world, TTL);
    let mut hung = server.agent_with(&["--renew-for", "1", "--agent", "hung"]);
    let mut watcher = server.agent_with(&["--agent", "watcher"]);
    hung.gets_locks(&["a.txt"]);
    let claimed = Instant::now();
    block_until("the lock expires", || expiry(&mut watcher, "a.txt").is_none());
    // Its last renewal was within a second of the claim.
    assert!(claimed.elapsed() < Duration::from_secs(30));
    watcher.gets_locks(&["a.txt"]);
}

#[test]
fn a_lock_that_the_agent_released_is_not_renewed() {
    let world = World::with(&[("a.txt", "a")]);
    let server = Server::start(&world, TTL);
    let mut ada = server.agent();
    ada.gets_locks(&["a.txt"]);
    assert_eq!(action(&ada.abandon("a.txt")), "PROCEED");
    let released = Instant::now();
    while released.elapsed() < Duration::from_secs(u64::from(TTL)) {
        assert_eq!(expiry(&mut ada, "a.txt"), None);
        // time: nothing is renewed for as long as a lock lasts.
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(warnings(&ada.check(&["a.txt"]), "LOCK_EXPIRED"), [""; 0]);
}

/// After a night of the machine, nothing said that the locks were gone.
// rule: mcp#renewal
#[test]
fn locks_that_expired_while_the_agent_was_idle_warn_lock_expired_once() {
    let world = World::with(&[("a.txt", "a"), ("b.txt", "b")]);
    let server = Server::start(&world, TTL);
    let mut ada = server.agent_with(&["--renew-for", "0"]);
    ada.gets_locks(&["a.txt"]);
    let warned = ada.warned("b.txt", "LOCK_EXPIRED");
    assert!(warned[0].contains("'a.txt'"), "{warned:?}");
    assert_eq!(warnings(&ada.check(&["a.txt"]), "LOCK_EXPIRED"), [""; 0], "once");
}
