//! The router of some endpoints: their handlers, by the table of routes.

use std::sync::Arc;

use axum::Router;
use axum::http::Uri;
use tower_http::compression::CompressionLayer;

use super::edge::wrap_router;
use super::endpoint::Endpoint;
use crate::error::Respond;
use coord_server::app::App;
use coord_server::error::ApiError;

/// A router that serves `endpoints`. Every other path, and every other method on these, gets an error of the same form as
/// any other.
pub fn router(app: App, endpoints: &[Endpoint]) -> Router {
    let edge = app.edge.clone();
    wrap_router(edge, endpoints, routes(app, endpoints))
}

/// The same without the layers of [`wrap_router`], for callers that put more inside it.
pub fn routes(app: App, endpoints: &[Endpoint]) -> Router {
    let mut router = Router::new();
    for &endpoint in endpoints {
        let route = endpoint.route();
        let mut handler = (route.serve)(&app);
        if route.is_compressed {
            handler = handler.layer(CompressionLayer::new());
        }
        let fallback = async || {
            let allowed = route.methods;
            route.refuse(&ApiError::MethodNotAllowed { allowed })
        };
        router = router.route(route.path, handler.fallback(fallback));
    }
    router
        .fallback(async |uri: Uri| {
            let instead = instead_of(uri.path());
            ApiError::UnknownRoute { instead }.respond_to_person()
        })
        .with_state(Arc::new(app))
}

/// The right path for a route that lock servers often have.
fn instead_of(path: &str) -> Option<&'static str> {
    match path.trim_end_matches('/') {
        "/api/lock" | "/api/claim" => {
            Some("to lock files, POST /api/post_status with status WRITING (or READING) and a message")
        }
        "/api/unlock" | "/api/release" => Some("to release files, POST /api/post_status with status OPEN"),
        "/api/heartbeat" | "/api/renew" => Some("to renew locks, claim the files again: POST /api/post_status"),
        "/api/state" | "/api/status" => {
            Some("to see locks, GET /api/locks or /api/graph; to check files, POST /api/check_status")
        }
        _ => None,
    }
}
