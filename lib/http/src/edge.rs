//! The edge, which every request and response passes: request id, limits, CORS, headers, timings, and one log line.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::{MatchedPath, State};
use axum::http::header::SEC_WEBSOCKET_PROTOCOL;
use axum::http::{HeaderName, HeaderValue, Method, Request};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use coord_protocol::bounds::URI_BYTES;
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::sensitive_headers::SetSensitiveRequestHeadersLayer;
use tracing::Instrument;
use tracing::field::Empty;

use super::cors::CorsRequest;
use super::endpoint::Endpoint;
use super::peer_address::address_of;
use super::request_id::{X_REQUEST_ID, request_id, vercel_id};
use super::{error, headers};
use crate::error::Respond;
use coord_auth::CREDENTIAL_HEADERS;
use coord_runtime::timing::{Timings, measure};
use coord_server::admission::caller_address::coming_from;
use coord_server::error::ApiError;
use coord_settings::edge::Edge;

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Wraps `router`, which serves `endpoints`, in `edge`, which must be the outermost layer.
pub fn wrap_router(edge: Edge, endpoints: &[Endpoint], router: Router) -> Router {
    let state = (Arc::new(edge), Arc::from(endpoints));
    // The router boxes and clones everything inside each of its layers, so these are one layer.
    let layers = ServiceBuilder::new()
        // Code that prints headers must not print these.
        .layer(SetSensitiveRequestHeadersLayer::new(
            CREDENTIAL_HEADERS.into_iter().chain([SEC_WEBSOCKET_PROTOCOL]),
        ))
        .layer(from_fn_with_state(state, handle))
        .layer(CatchPanicLayer::custom(error::panic_response));
    router.layer(layers)
}

/// The response of the routes, within the limits.
async fn respond_within_limits(
    edge: &Edge,
    endpoint: Option<Endpoint>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let refuse = |error: ApiError| match endpoint {
        Some(endpoint) => endpoint.route().refuse(&error),
        None => error.respond_to_person(),
    };
    let uri = request.uri();
    if uri.path().len() + uri.query().map_or(0, str::len) > URI_BYTES {
        return refuse(ApiError::UriTooLong(URI_BYTES));
    }
    let limit = edge.time_limit + endpoint.map_or(Duration::ZERO, Endpoint::extra_time);
    match tokio::time::timeout(limit, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            tracing::error!(?limit, "a request timed out");
            refuse(ApiError::TimedOut(limit.as_secs()))
        }
    }
}

async fn handle(
    State((edge, endpoints)): State<(Arc<Edge>, Arc<[Endpoint]>)>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let id = request_id(request.headers());
    let span = tracing::error_span!("request", id = id.to_str().unwrap_or_default(), vercel_id = Empty);
    if edge.is_behind_proxy
        && let Some(vercel_id) = vercel_id(request.headers())
    {
        span.record("vercel_id", vercel_id);
    }
    let is_https = edge.is_behind_proxy && headers::client_used_https(request.headers());
    let cors_request = edge
        .cors
        .as_ref()
        .map(|cors| CorsRequest::of(cors, request.method(), request.headers()));
    let address = address_of(&request, &edge);
    async move {
        let mut line = LogLine::new(&request);
        let endpoint = endpoints
            .iter()
            .copied()
            .find(|endpoint| endpoint.path() == line.route());
        let responding = coming_from(address, respond_within_limits(&edge, endpoint, request, next));
        let mut response = measure(Arc::clone(&line.timings), responding).await;
        if let Some(cors_request) = cors_request {
            response = cors_request.complete(response);
        }
        headers::add_defaults(response.headers_mut(), is_https);
        if let Ok(timing) = HeaderValue::from_str(&line.timings.header(line.started.elapsed())) {
            response.headers_mut().insert(SERVER_TIMING, timing);
        }
        response.headers_mut().insert(X_REQUEST_ID, id);
        line.response = Some((response.status().as_u16(), response.body().size_hint().exact()));
        response
    }
    .instrument(span)
    .await
}

/// The log line of one request, written at its end. It contains nothing that a caller can choose freely.
struct LogLine {
    method: &'static str,
    route: Option<MatchedPath>,
    started: Instant,
    timings: Arc<Timings>,
    /// Status and bytes; `None` if the caller disconnected before the response.
    response: Option<(u16, Option<u64>)>,
}

impl LogLine {
    fn new(request: &Request<Body>) -> Self {
        LogLine {
            method: method_name(request.method()),
            route: request.extensions().get::<MatchedPath>().cloned(),
            started: Instant::now(),
            timings: Arc::default(),
            response: None,
        }
    }

    /// The path in the router.
    fn route(&self) -> &str {
        self.route.as_ref().map_or("none", MatchedPath::as_str)
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let milliseconds = |time: Duration| time.as_micros() as f64 / 1000.0;
        let (store, source) = (self.timings.spent_on_store(), self.timings.spent_on_source());
        tracing::info!(
            method = self.method,
            route = self.route(),
            status = self.response.map(|(status, _)| status),
            bytes = self.response.and_then(|(_, bytes)| bytes),
            duration_ms = milliseconds(self.started.elapsed()),
            store_calls = store.calls,
            store_ms = milliseconds(store.time),
            source_calls = source.calls,
            source_ms = milliseconds(source.time),
            "{}",
            if self.response.is_some() {
                "answered"
            } else {
                "the caller disconnected"
            }
        );
    }
}

/// The name of a standard method; `other` for any other, whose name a caller chooses.
fn method_name(method: &Method) -> &'static str {
    const STANDARD: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let name = STANDARD.into_iter().find(|name| *name == method.as_str());
    name.unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderMap;
    use axum::routing::get;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_credential_is_not_printed_with_the_headers_of_its_request() {
        let print = get(async |headers: HeaderMap| format!("{headers:?}"));
        let router = wrap_router(Edge::default(), &[], Router::new().route("/", print));
        let request = Request::get("/")
            .header("authorization", "Bearer hunter2")
            .header("x-api-key", "hunter2")
            .header("accept", "text/plain");
        let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let printed = response.into_body().collect().await.unwrap().to_bytes();
        let printed = std::str::from_utf8(&printed).unwrap();
        assert!(
            printed.contains("\"x-api-key\": Sensitive") && printed.contains("text/plain"),
            "{printed}"
        );
        assert!(!printed.contains("hunter2"), "{printed}");
    }
}
