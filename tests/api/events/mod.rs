//! `GET /api/events`: the same messages on a WebSocket and as server-sent events.
//!
//! - `client`: the two kinds of client
//! - `messages`: what is sent, and from where a client resumes
//! - `stores`: each kind of store; connections that are lost
//! - `callers`: credentials, hosts, origins, the log
//! - `lifetime`: how a stream ends

mod callers;
mod client;
mod lifetime;
mod messages;
mod stores;

use std::sync::Arc;
use std::time::Duration;

use coord_events::{EventHub, Timing};
use coord_server::app::App;
use coord_store::{Store, TimedStore};

use crate::api::Api;
pub use client::{Client, Kind, get};

const PATH: &str = "/api/events?repo_url=https://github.com/acme/shop.git";
const NEWEST: &str = "/api/activity?repo_url=https://github.com/acme/shop.git&limit=1";

/// Intervals that a test can wait for.
fn quick() -> Timing {
    Timing {
        check_every: Duration::from_millis(500),
        pauses: (Duration::from_millis(50), Duration::from_millis(200)),
        heartbeat: Duration::from_secs(1),
        verify_every: Duration::from_millis(300),
        verify_again: Duration::from_millis(300),
        authentication: Duration::from_millis(500),
        ..Timing::default()
    }
}

/// Gives `app` these intervals.
fn timed(app: &mut App, timing: Timing) {
    app.events = EventHub::with_timing(Arc::clone(&app.store), timing);
}

/// Gives `app` another store.
fn over(app: &mut App, store: Arc<dyn Store>) {
    app.store = TimedStore::over(store);
    timed(app, quick());
}

/// A server whose head is known to the store, so that a claim is one event.
async fn start(change: impl FnOnce(&mut App)) -> Api {
    let api = Api::start_with(change).await;
    let answer = api.check("ann", &["README.md"], serde_json::json!({})).await;
    assert_eq!(answer.status, 200);
    api.claim("ann", "WRITING", &["README.md"]).await;
    api
}
