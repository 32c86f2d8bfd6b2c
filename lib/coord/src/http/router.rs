//! The router of some endpoints: their handlers, by the table of routes.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use tower_http::compression::CompressionLayer;

use super::edge::around;
use super::endpoint::Endpoint;
use super::refusal::refusal;
use super::{check_status, cron_cleanup, github_webhook, graph, health, locks, post_status};
use crate::app::App;
use crate::error::ApiError;

/// A router that serves `endpoints`. Every other path, and every other method on these, gets an error of the same form as
/// any other.
pub fn router(app: App, endpoints: &[Endpoint]) -> Router {
    let edge = app.edge.clone();
    around(edge, routes(app, endpoints))
}

/// The same without what [`around`] adds, for callers that have more to put inside it.
pub fn routes(app: App, endpoints: &[Endpoint]) -> Router {
    let mut router = Router::new();
    for &endpoint in endpoints {
        let route = endpoint.route();
        let mut handler = match endpoint {
            Endpoint::CheckStatus => post(check_status::check_status),
            Endpoint::PostStatus => post(post_status::post_status),
            Endpoint::Graph => get(graph::get_graph),
            Endpoint::Locks => get(locks::get_locks),
            Endpoint::CronCleanup => get(cron_cleanup::run_sweep),
            Endpoint::GithubWebhook => post(github_webhook::take_delivery),
            Endpoint::Health => {
                let health = health::Health::of(&app);
                get(async move || health::get_health(Arc::clone(&health)).await)
            }
        };
        if route.is_compressed {
            handler = handler.layer(CompressionLayer::new());
        }
        let methods = route.methods;
        let fallback = async move || refusal(endpoint, &ApiError::MethodNotAllowed { allowed: methods });
        router = router.route(route.path, handler.fallback(fallback));
    }
    router.fallback(async || ApiError::UnknownRoute).with_state(app)
}
