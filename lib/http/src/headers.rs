//! Headers of every response.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// For responses that do not set these headers. The resource policy applies to pages that embed a response;
/// `COORD_CORS_ORIGINS` allows pages that use CORS.
const DEFAULTS: [(HeaderName, HeaderValue); 5] = [
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
    (CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("same-origin")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
];

/// Two years, in seconds.
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=63072000");

/// Adds the default headers that a response lacks.
pub fn add_defaults(headers: &mut HeaderMap, is_https: bool) {
    for (name, value) in DEFAULTS {
        headers.entry(name).or_insert(value);
    }
    if is_https {
        headers.entry(STRICT_TRANSPORT_SECURITY).or_insert(STRICT_TRANSPORT);
    }
}

/// Whether the client reached the proxy in front by https.
pub fn client_used_https(headers: &HeaderMap) -> bool {
    let schemes = headers.get(X_FORWARDED_PROTO).and_then(|value| value.to_str().ok());
    let first = schemes.and_then(|list| list.split(',').next());
    first.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

/// The agent in the header `X-Coord-Agent`. A value that is not text, or two values, become an invalid agent id.
pub fn agent_header(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all("x-coord-agent").iter();
    let value = values.next()?;
    let value = values.next().is_none().then_some(value);
    Some(value.and_then(|value| value.to_str().ok()).unwrap_or("\u{fffd}"))
}
