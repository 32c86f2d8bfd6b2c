//! `coord serve --exit-when-idle SECONDS`: a server that a command has started ends when nobody uses it any more, or
//! when its repository was deleted. Locks stay in the store, and expire there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::middleware::Next;
use axum::response::Response;
use parking_lot::Mutex;

/// Time between two checks whether the served repositories still exist.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// The time of the last request.
#[derive(Clone, Debug)]
pub struct LastRequest(Arc<Mutex<Instant>>);

impl LastRequest {
    /// Counts the start of the server as a request.
    pub fn now() -> LastRequest {
        LastRequest(Arc::new(Mutex::new(Instant::now())))
    }

    /// Completes when no request has come and nobody has watched events for `limit`, or when the repositories are gone.
    pub async fn wait_until_idle(self, limit: Duration, is_watched: impl Fn() -> bool, is_gone: impl Fn() -> bool) {
        while !is_gone() {
            if is_watched() {
                *self.0.lock() = Instant::now();
            }
            let (deadline, now) = (*self.0.lock() + limit, Instant::now());
            if deadline <= now {
                return;
            }
            tokio::time::sleep_until(deadline.min(now + CHECK_INTERVAL).into()).await;
        }
    }
}

/// Notes the start and the end of each request.
pub async fn note_request(State(last_request): State<LastRequest>, request: Request<Body>, next: Next) -> Response {
    *last_request.0.lock() = Instant::now();
    let response = next.run(request).await;
    *last_request.0.lock() = Instant::now();
    response
}
