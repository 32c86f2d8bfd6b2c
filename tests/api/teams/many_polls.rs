//! Requests that wait take places, of which a person has a number, and free them at their end.

use std::sync::Arc;
use std::time::Duration;

use coord_settings::Rates;
use serde_json::json;
use tokio::task::JoinSet;

use crate::api::Api;

/// As many as the process gives to one person.
const MAX_POLLS: usize = 128;

/// As many as ask at once.
const POLLS: usize = 3 * MAX_POLLS;

/// A read that waits.
async fn polls(api: &Api, who: &str, wait: u32) -> u16 {
    api.sends(who, "messages/read", json!({ "wait": wait })).await.status
}

/// So many reads of `bob/one` at once.
fn polls_at_once(api: &Arc<Api>, count: usize, wait: u32) -> JoinSet<u16> {
    let poll = |_| {
        let api = Arc::clone(api);
        async move { polls(&api, "bob/one", wait).await }
    };
    (0..count).map(poll).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_has_128_waiting_polls_and_disconnected_ones_free_their_slots() {
    // The limits of requests are not what is asked here.
    let api = Arc::new(Api::with_team_where(|state| state.rates = Rates::NONE).await);
    let mut waiting = polls_at_once(&api, POLLS, 20);
    // All that have no place are answered at once.
    for number in 0..POLLS - MAX_POLLS {
        let answered = tokio::time::timeout(Duration::from_secs(15), waiting.join_next()).await;
        let status = answered.unwrap_or_else(|_| panic!("{number} were answered"));
        assert_eq!(status.unwrap().unwrap(), 429);
    }
    assert_eq!(polls(&api, "bob/one", 1).await, 429, "the places are taken");
    // Another person has its own, and what does not wait needs none.
    assert_eq!(polls(&api, "ann/lead", 1).await, 200);
    assert_eq!(polls(&api, "bob/one", 0).await, 200);
    // All hang up.
    waiting.shutdown().await;
    // All places are free again: as many as before wait.
    for _ in 0..8 {
        let again = polls_at_once(&api, MAX_POLLS, 1).join_all().await;
        if again.into_iter().all(|status| status == 200) {
            return;
        }
    }
    panic!("places of polls that hung up are still taken");
}
