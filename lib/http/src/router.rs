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

/// A router that serves `endpoints`. Other paths, and other methods on these paths, get an error of the usual form.
pub fn router(app: App, endpoints: &[Endpoint]) -> Router {
    let edge = app.edge.clone();
    wrap_router(edge, endpoints, routes(app, endpoints))
}

/// As [`router`], without the layers of [`wrap_router`], for callers that add more routes or layers inside these.
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
            let instead = suggest_route(uri.path());
            ApiError::UnknownRoute { instead }.respond_to_person()
        })
        .with_state(Arc::new(app))
}

/// The right call for a route that lock servers often have.
fn suggest_route(path: &str) -> Option<&'static str> {
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
