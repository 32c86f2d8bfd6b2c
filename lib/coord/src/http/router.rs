//! The router of some endpoints: their handlers, by the table of routes.

use std::sync::Arc;

use axum::Router;
use tower_http::compression::CompressionLayer;

use super::edge::around;
use super::endpoint::Endpoint;
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
        .fallback(async || ApiError::UnknownRoute)
        .with_state(Arc::new(app))
}
