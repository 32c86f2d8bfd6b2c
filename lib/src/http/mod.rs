//! The endpoints, one file each, as one [`axum::Router`] that the functions and `coord serve` share.

pub mod body;
pub mod check_status;
pub mod cron_cleanup;
pub mod error;
pub mod graph;
mod lock_view;
pub mod openapi;
pub mod post_status;
mod question;
mod state;

use axum::Router;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

pub use error::ApiError;
pub use state::{AppState, HeadObserver};

/// An endpoint. A function serves one, `coord serve` all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// `POST /api/check_status`
    CheckStatus,
    /// `POST /api/post_status`
    PostStatus,
    /// `GET /api/graph`
    Graph,
    /// `GET /api/cron_cleanup`
    CronCleanup,
}

impl Endpoint {
    /// Every endpoint.
    pub const ALL: [Endpoint; 4] = [
        Endpoint::CheckStatus,
        Endpoint::PostStatus,
        Endpoint::Graph,
        Endpoint::CronCleanup,
    ];

    /// Its path.
    pub fn path(self) -> &'static str {
        match self {
            Endpoint::CheckStatus => "/api/check_status",
            Endpoint::PostStatus => "/api/post_status",
            Endpoint::Graph => "/api/graph",
            Endpoint::CronCleanup => "/api/cron_cleanup",
        }
    }
}

/// A router that serves `endpoints`. Every other path, and every other method on these, gets an error of the same form as
/// any other.
pub fn router(state: AppState, endpoints: &[Endpoint]) -> Router {
    let mut router = Router::new();
    for &endpoint in endpoints {
        let (routes, allowed) = match endpoint {
            Endpoint::CheckStatus => (post(check_status::check_status), "POST"),
            Endpoint::PostStatus => (post(post_status::post_status), "POST"),
            Endpoint::Graph => (get(graph::get_graph).layer(CompressionLayer::new()), "GET, HEAD"),
            Endpoint::CronCleanup => (get(cron_cleanup::run_sweep), "GET, HEAD"),
        };
        router = router.route(
            endpoint.path(),
            routes.fallback(async move || {
                let error = ApiError::MethodNotAllowed { allowed };
                match endpoint {
                    Endpoint::CheckStatus | Endpoint::PostStatus => error.respond_to_agent(),
                    Endpoint::Graph | Endpoint::CronCleanup => error.into_response(),
                }
            }),
        );
    }
    router
        .fallback(async || ApiError::UnknownRoute)
        .layer(CatchPanicLayer::custom(error::panicked))
        .with_state(state)
}
