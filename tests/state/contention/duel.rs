//! Few clients on one file, with locks that outlive the test: histories small enough to search through.

use std::sync::Arc;
use std::time::Duration;

use coord_store::Store;

use crate::contention::arena::{self, HEAD, REPO_URL};
use crate::contention::linear::linearize;
use coord_test_support::history::operation::{Act, Mode};
use coord_test_support::history::recorder::{Recorder, Request};

/// One: who waits for whom ties files together.
const FILE: &str = "src/0.rs";
const CLIENTS: usize = 6;
const OPERATIONS: usize = 40;

/// Plays on `store`; the file's history must have an order that explains it.
pub async fn duel(store: Arc<dyn Store>, seed: u64) {
    let arena = arena::open(&[(store, 600)], &[]).await;
    let recorder = Recorder::new(REPO_URL);
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..CLIENTS {
        let client = recorder.client("player", &number.to_string());
        let (address, mut random) = (arena.addresses[0], fastrand::Rng::with_seed(seed + number as u64));
        clients.spawn(async move {
            for _ in 0..OPERATIONS {
                let act = match random.u32(..8) {
                    0..2 => Act::Claim(Mode::Writing),
                    2..4 => Act::Claim(Mode::Reading),
                    4..7 => Act::Release,
                    _ => Act::Check,
                };
                let request = Request {
                    branch: "main".to_owned(),
                    files: vec![FILE.to_owned()],
                    act,
                    agent_head: HEAD.to_owned(),
                    base_head: None,
                    new_head: None,
                    abandon: true,
                };
                let asking = client.ask(address, &request);
                if random.u32(..16) == 0 {
                    let _ = tokio::time::timeout(Duration::from_micros(random.u64(..3000)), asking).await;
                } else {
                    asking.await;
                }
            }
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended.expect("a client came to its end");
    }
    let mut history = recorder.operations();
    history.sort_by_key(|operation| operation.invoked.tick);
    assert!(history.len() > 200, "{FILE} was played for");
    assert!(linearize(&history).is_some(), "no order explains {history:#?}");
}
