//! 64 clients that all want the same three files at the same moment.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Barrier;

use crate::contention::arena::{self, HEAD, REPO_URL};
use crate::contention::harness::{Connections, all_at_once};
use crate::contention::storm::verdict;
use coord_test_support::history::operation::{Act, Answer, Mode, NotHeld};
use coord_test_support::history::recorder::{Recorder, Request};

const CLIENTS: usize = 64;
const ROUNDS: usize = 12;

/// In every round one of them gets all, and the others nothing.
pub async fn fight([store, _]: Connections, seed: u64) {
    let arena = arena::open(&[(store, 600)], &[]).await;
    let recorder = Recorder::new(REPO_URL);
    let barrier = Arc::new(Barrier::new(CLIENTS));
    let clients = all_at_once(CLIENTS, seed, |number, _| {
        let (barrier, address) = (Arc::clone(&barrier), arena.addresses[0]);
        let client = recorder.client(&format!("fighter-{number}"), "");
        async move {
            let mut request = Request::at(HEAD, &["a.rs", "b.rs", "c.rs"], Act::Claim(Mode::Writing));
            request.files.rotate_left(number % 3);
            let mut won = Vec::new();
            for _ in 0..ROUNDS {
                barrier.wait().await;
                let answer = client.ask(address, &request).await;
                won.push(match answer {
                    Some(Answer::Granted(_)) => true,
                    Some(Answer::Refused(code)) if code == "LOCK_CONFLICT" => false,
                    other => panic!("{other:?}"),
                });
                barrier.wait().await;
                if won.last() == Some(&true) {
                    let release = Request {
                        act: Act::Release,
                        ..request.clone()
                    };
                    let answer = client.ask(address, &release).await;
                    assert_eq!(answer, Some(Answer::Released(NotHeld::default())));
                }
            }
            won
        }
    });
    let mut winners = [0; ROUNDS];
    for all in clients.await {
        for (round, won) in all.into_iter().enumerate() {
            winners[round] += usize::from(won);
        }
    }
    assert_eq!(winners, [1; ROUNDS], "winners by round");
    let tally = verdict(&arena, &recorder, BTreeSet::from([600])).await;
    assert_eq!((tally.grants, tally.releases), (ROUNDS, ROUNDS), "{tally:?}");
    assert_eq!(tally.conflicts, ROUNDS * (CLIENTS - 1), "{tally:?}");
}
