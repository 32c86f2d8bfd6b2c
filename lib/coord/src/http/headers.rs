//! Headers that every answer has.

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// For answers that say nothing else of themselves. The resource policy is about pages that embed an answer unasked; one that
/// asks by CORS is let in by `COORD_CORS_ORIGINS`.
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

/// Two years.
const STRICT_TRANSPORT: HeaderValue = HeaderValue::from_static("max-age=63072000");

/// Adds what `headers` of an answer lack.
pub fn add_defaults(headers: &mut HeaderMap, is_https: bool) {
    for (name, value) in DEFAULTS {
        headers.entry(name).or_insert(value);
    }
    if is_https {
        headers.entry(STRICT_TRANSPORT_SECURITY).or_insert(STRICT_TRANSPORT);
    }
}

/// Whether the proxy before us was reached by https.
pub fn came_by_https(headers: &HeaderMap) -> bool {
    let sent = headers.get(X_FORWARDED_PROTO).and_then(|value| value.to_str().ok());
    let first = sent.and_then(|list| list.split(',').next());
    first.is_some_and(|scheme| scheme.trim().eq_ignore_ascii_case("https"))
}

/// The agent that the header `X-Coord-Agent` names. One that is not text is no agent id either.
pub(super) fn agent_header(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("x-coord-agent")?;
    Some(value.to_str().unwrap_or("\u{fffd}"))
}
