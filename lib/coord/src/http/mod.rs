//! The endpoints, one file each, as one [`axum::Router`] that the functions and `coord serve` share.

pub mod body;
pub mod check_status;
pub mod cors;
pub mod cron_cleanup;
pub mod edge;
pub mod error;
pub mod github_webhook;
pub mod graph;
mod headers;
pub mod health;
mod locks;
pub mod openapi;
mod peer_address;
pub mod post_status;
mod request_id;

use std::sync::Arc;
use std::time::Duration;

use crate::app::App;
use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tower_http::compression::CompressionLayer;

pub use crate::error::ApiError;
pub use edge::Edge;
pub use github_webhook::Webhook;
pub use peer_address::PeerAddress;

/// An endpoint. A function serves one, that of `graph` two, `coord serve` all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// `POST /api/check_status`
    CheckStatus,
    /// `POST /api/post_status`
    PostStatus,
    /// `GET /api/graph`
    Graph,
    /// `GET /api/locks`, in the function of `graph`
    Locks,
    /// `GET /api/cron_cleanup`
    CronCleanup,
    /// `GET /api/health`
    Health,
    /// `POST /api/github_webhook`
    GithubWebhook,
}

impl Endpoint {
    /// Every endpoint.
    pub const ALL: [Endpoint; 7] = [
        Endpoint::CheckStatus,
        Endpoint::PostStatus,
        Endpoint::Graph,
        Endpoint::Locks,
        Endpoint::CronCleanup,
        Endpoint::Health,
        Endpoint::GithubWebhook,
    ];

    /// What a sweep may take beyond any other request.
    pub const EXTRA_SWEEP_TIME: Duration = Duration::from_secs(30);

    /// Its path.
    pub fn path(self) -> &'static str {
        match self {
            Endpoint::CheckStatus => "/api/check_status",
            Endpoint::PostStatus => "/api/post_status",
            Endpoint::Graph => "/api/graph",
            Endpoint::Locks => "/api/locks",
            Endpoint::CronCleanup => "/api/cron_cleanup",
            Endpoint::Health => "/api/health",
            Endpoint::GithubWebhook => "/api/github_webhook",
        }
    }

    /// `error` in the form that its callers expect: agents get an orchestration command.
    fn refuse(self, error: &ApiError) -> Response {
        match self {
            Endpoint::CheckStatus => check_status::refuse(error),
            Endpoint::PostStatus => post_status::refuse(error),
            Endpoint::Graph | Endpoint::Locks | Endpoint::CronCleanup | Endpoint::Health | Endpoint::GithubWebhook => {
                error.clone().into_response()
            }
        }
    }

    /// What its function serves: itself, and what `vercel.json` rewrites to it.
    pub fn of_function(self) -> Vec<Endpoint> {
        match self {
            Endpoint::Graph => vec![self, Endpoint::Locks],
            _ => vec![self],
        }
    }
}

/// A router that serves `endpoints`. Every other path, and every other method on these, gets an error of the same form as
/// any other.
pub fn router(state: App, endpoints: &[Endpoint]) -> Router {
    let edge = state.edge.clone();
    edge.around(routes(state, endpoints))
}

/// The same without the [`Edge`], for who has more to put inside it.
pub fn routes(state: App, endpoints: &[Endpoint]) -> Router {
    let mut router = Router::new();
    for &endpoint in endpoints {
        let (routes, allowed) = match endpoint {
            Endpoint::CheckStatus => (post(check_status::check_status), "POST"),
            Endpoint::PostStatus => (post(post_status::post_status), "POST"),
            Endpoint::Graph => (get(graph::get_graph).layer(CompressionLayer::new()), "GET, HEAD"),
            Endpoint::Locks => (get(locks::get_locks).layer(CompressionLayer::new()), "GET, HEAD"),
            Endpoint::CronCleanup => (get(cron_cleanup::run_sweep), "GET, HEAD"),
            Endpoint::GithubWebhook => (post(github_webhook::take_delivery), "POST"),
            Endpoint::Health => {
                let health = health::Health::of(&state);
                let answer = async move || health::get_health(Arc::clone(&health)).await;
                (get(answer), "GET, HEAD")
            }
        };
        router = router.route(
            endpoint.path(),
            routes.fallback(async move || endpoint.refuse(&ApiError::MethodNotAllowed { allowed })),
        );
    }
    router.fallback(async || ApiError::UnknownRoute).with_state(state)
}
