//! One client that wants three files at once, between many that want one of them each, and readers of all: everybody gets its turn.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use coord_test_support::history::operation::{Act, Answer, Mode};
use coord_test_support::history::recorder::{Client, Recorder, Request};

use crate::contention::arena::{self, Arena, HEAD, REPO_URL};
use crate::contention::harness::{Connections, all_at_once};
use crate::contention::storm::verdict;

const FILES: [&str; 3] = ["a.rs", "b.rs", "c.rs"];
const SMALL: usize = 9;
const READERS: usize = 3;
/// How often each has its files.
const TURNS: usize = 6;

/// Each claims until it is granted, holds its files for a moment, and gives them back.
pub async fn queueing([store, _]: Connections, seed: u64) {
    let arena = Arc::new(arena::open(&[(store, 600)], &[]).await);
    let recorder = Recorder::new(REPO_URL);
    let holders = 1 + SMALL + READERS;
    let clients = all_at_once(holders, seed, |number, _| {
        let (name, files, mode) = match number {
            0 => ("big".to_owned(), FILES.to_vec(), Mode::Writing),
            1..=SMALL => (format!("small-{number}"), vec![FILES[number % 3]], Mode::Writing),
            _ => (format!("reader-{number}"), FILES.to_vec(), Mode::Reading),
        };
        let (client, arena) = (recorder.client(&name, ""), Arc::clone(&arena));
        async move { play(&client, &arena, &files, mode).await }
    });
    let refusals: usize = clients.await.into_iter().sum();
    let tally = verdict(&arena, &recorder, BTreeSet::from([600])).await;
    let turns = TURNS * holders;
    assert_eq!((tally.grants, tally.releases), (turns, turns), "{tally:?}");
    assert_eq!(tally.conflicts, refusals, "{tally:?}");
}

/// Returns the number of refusals. An agent that is refused every time would never finish.
async fn play(client: &Client, arena: &Arena, files: &[&str], mode: Mode) -> usize {
    const MAX_REFUSALS: usize = 2_000;
    let mut request = Request::at(HEAD, files, Act::Claim(mode));
    let (mut turns, mut refused) = (0, 0);
    while turns < TURNS {
        request.act = Act::Claim(mode);
        match client.ask(arena.addresses[0], &request).await {
            Some(Answer::Granted(_)) => turns += 1,
            Some(Answer::Refused(code)) if code == "LOCK_CONFLICT" => {
                refused += 1;
                assert!(refused < MAX_REFUSALS, "starved after {turns} turns");
                // time: an agent pauses.
                tokio::time::sleep(Duration::from_millis(5)).await;
                continue;
            }
            other => panic!("{other:?}"),
        }
        // time: how long each holds its files.
        tokio::time::sleep(Duration::from_millis(2)).await;
        request.act = Act::Release;
        client.ask(arena.addresses[0], &request).await;
    }
    refused
}
