//! CORS: a page of another site may send requests if `COORD_CORS_ORIGINS` lists its origin.
//!
//! `tower-http`'s layer is not used: it responds to every OPTIONS itself, even for origins that are not allowed and for
//! methods that the route does not have. Here the route responds to OPTIONS first, as to any unknown method, with 405
//! and `Allow`. For an allowed origin, that becomes the response to a preflight.

use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use coord_settings::edge::AllowedOrigins;

/// Headers that a page may send, including those of MCP. `X-Coord-User` is missing: it names a local user, and no page
/// may act as one.
const ALLOWED_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, if-none-match, mcp-method, mcp-name, mcp-protocol-version, x-api-key, x-coord-agent, \
     x-request-id",
);

/// Headers that a page may read.
const EXPOSED_HEADERS: HeaderValue =
    HeaderValue::from_static("etag, retry-after, server-timing, www-authenticate, x-request-id");

/// Two hours, in seconds: the longest time that browsers remember a preflight.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// The CORS part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorsRequest {
    /// The origin, if it is allowed.
    origin: Option<HeaderValue>,
    is_preflight: bool,
}

impl CorsRequest {
    /// The CORS part of a request with `method` and `headers`.
    pub fn of(allowed: &AllowedOrigins, method: &Method, headers: &HeaderMap) -> Self {
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none());
        CorsRequest {
            origin: origin.filter(|origin| allowed.allows(origin.as_bytes())).cloned(),
            is_preflight: *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD),
        }
    }

    /// Adds CORS headers for the browser to the response. For an origin that is not allowed, it adds only `Vary`.
    pub fn complete(self, mut response: Response) -> Response {
        if let Some(origin) = self.origin {
            let methods = response.headers().get(ALLOW).cloned();
            match methods.filter(|_| self.is_preflight && response.status() == StatusCode::METHOD_NOT_ALLOWED) {
                Some(methods) => {
                    response = StatusCode::NO_CONTENT.into_response();
                    let headers = response.headers_mut();
                    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
                    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, ALLOWED_HEADERS);
                    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
                }
                None => {
                    response
                        .headers_mut()
                        .insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED_HEADERS);
                }
            }
            response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
        response.headers_mut().append(VARY, HeaderValue::from_static("origin"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coord_settings::variables::env_vars;

    #[test]
    fn two_origins_in_one_request_are_none() {
        let list = |name: &str| (name == env_vars::COORD_CORS_ORIGINS).then(|| "https://a.example".to_owned());
        let allowed = AllowedOrigins::from_env(&list).unwrap().unwrap();
        let origins = |origins: &[&'static str]| -> HeaderMap {
            let header = |origin: &&'static str| (ORIGIN, HeaderValue::from_static(origin));
            origins.iter().map(header).collect()
        };
        let one = CorsRequest::of(&allowed, &Method::GET, &origins(&["https://a.example"]));
        assert!(one.origin.is_some());
        let two = CorsRequest::of(
            &allowed,
            &Method::GET,
            &origins(&["https://a.example", "https://evil.example"]),
        );
        assert_eq!(two.origin, None);
    }
}
