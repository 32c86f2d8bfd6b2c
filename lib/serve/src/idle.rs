//! `coord serve --exit-when-idle SECONDS`: a server that an agent has started ends when nobody needs it any more, or the
//! repository was deleted. Locks are kept in the store, and expire there.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::middleware::Next;
use axum::response::Response;
use parking_lot::Mutex;

/// Interval of looking whether the served repositories are still there.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// When the last request came.
#[derive(Clone, Debug)]
pub struct LastRequest(Arc<Mutex<Instant>>);

impl LastRequest {
    /// Counts the start as a request.
    pub fn now() -> LastRequest {
        LastRequest(Arc::new(Mutex::new(Instant::now())))
    }

    /// Completes when no request has come for `limit`, and nothing was watched for as long; or when what is served `is_gone`.
    pub async fn passed(self, limit: Duration, is_watched: impl Fn() -> bool, is_gone: impl Fn() -> bool) {
        while !is_gone() {
            if is_watched() {
                *self.0.lock() = Instant::now();
            }
            let (at, now) = (*self.0.lock() + limit, Instant::now());
            if at <= now {
                return;
            }
            tokio::time::sleep_until(at.min(now + LOOK_EVERY).into()).await;
        }
    }
}

/// Notes that a request has come.
pub async fn note_request(State(last): State<LastRequest>, request: Request<Body>, next: Next) -> Response {
    *last.0.lock() = Instant::now();
    let response = next.run(request).await;
    *last.0.lock() = Instant::now();
    response
}
