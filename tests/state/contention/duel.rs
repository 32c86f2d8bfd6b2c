//! Few clients on one file, with locks that outlive the test: histories small enough to search through.

use crate::contention::arena::{self, HEAD, REPO_URL};
use crate::contention::harness::{Connections, all_at_once, until_killed};
use crate::contention::linear::linearize;
use coord_test_support::history::operation::{Act, Mode};
use coord_test_support::history::recorder::{Recorder, Request};

/// One: who waits for whom ties files together.
const FILE: &str = "src/0.rs";
const CLIENTS: usize = 6;
const OPERATIONS: usize = 40;

/// The file's history must have an order that explains it.
pub async fn duel([store, _]: Connections, seed: u64) {
    let arena = arena::open(&[(store, 600)], &[]).await;
    let recorder = Recorder::new(REPO_URL);
    let clients = all_at_once(CLIENTS, seed, |number, mut random| {
        let (client, address) = (recorder.client("player", &number.to_string()), arena.addresses[0]);
        async move {
            for _ in 0..OPERATIONS {
                let act = match random.u32(..8) {
                    0..2 => Act::Claim(Mode::Writing),
                    2..4 => Act::Claim(Mode::Reading),
                    4..7 => Act::Release,
                    _ => Act::Check,
                };
                let request = Request::at(HEAD, &[FILE], act);
                let asking = client.ask(address, &request);
                match random.u32(..16) {
                    0 => until_killed(&mut random, 3000, asking).await,
                    _ => asking.await,
                };
            }
        }
    });
    clients.await;
    let mut history = recorder.operations();
    history.sort_by_key(|operation| operation.invoked.tick);
    assert!(history.len() > 200, "{FILE} was played for");
    assert!(linearize(&history).is_some(), "no order explains {history:#?}");
}
