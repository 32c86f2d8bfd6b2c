//! Requests that wait take places, of which a person has a number, and give them back.

use std::sync::Arc;
use std::time::Duration;

use coord_settings::Rates;
use serde_json::json;

use crate::api::Api;

/// As many as the process gives to one person.
const MOST: usize = 128;

/// As many as ask at once.
const POLLS: usize = 3 * MOST;

/// A read of `bob/one` that waits.
async fn polls(api: &Api, wait: u32) -> u16 {
    api.sends("bob/one", "/api/messages/read", json!({ "wait": wait }))
        .await
        .status
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_has_128_waiting_polls_and_disconnected_ones_free_their_slots() {
    // The limits of requests are not what is asked here.
    let api = Arc::new(Api::with_team_where(|state| state.rates = Rates::NONE).await);
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..POLLS {
        let api = Arc::clone(&api);
        waiting.spawn(async move { polls(&api, 20).await });
    }
    // All that have no place are answered at once.
    for number in 0..POLLS - MOST {
        let answered = tokio::time::timeout(Duration::from_secs(15), waiting.join_next()).await;
        let status = answered
            .unwrap_or_else(|_| panic!("{number} were answered"))
            .unwrap()
            .unwrap();
        assert_eq!(status, 429);
    }
    assert_eq!(polls(&api, 1).await, 429, "the places are taken");
    // Another person has its own, and what does not wait needs none.
    let other = api.sends("ann/lead", "/api/messages/read", json!({ "wait": 1 })).await;
    assert_eq!((other.status, polls(&api, 0).await), (200, 200));
    // All hang up.
    waiting.shutdown().await;
    // All places are free again: as many as before wait.
    for _ in 0..8 {
        let mut again = tokio::task::JoinSet::new();
        for _ in 0..MOST {
            let api = Arc::clone(&api);
            again.spawn(async move { polls(&api, 1).await });
        }
        if again.join_all().await.into_iter().all(|status| status == 200) {
            return;
        }
    }
    panic!("places of polls that hung up are still taken");
}
