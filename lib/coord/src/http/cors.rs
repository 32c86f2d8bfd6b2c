//! Which pages of other sites may ask: those whose origin is listed in `COORD_CORS_ORIGINS`, and no others.
//!
//! `tower-http`'s layer is not used: it answers every OPTIONS by itself, also for origins that it does not let in and for methods
//! that the route does not have. Here the route answers an OPTIONS first, as any other method that it does not take, with 405 and
//! `Allow`; for an origin that is let in, that becomes the answer to a preflight.

use crate::settings::edge::AllowedOrigins;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};

/// What a page may send. Not `X-Coord-User`: on one machine it names a person, and a page is none.
const SENT: HeaderValue =
    HeaderValue::from_static("authorization, content-type, if-none-match, x-coord-agent, x-request-id");

/// What a page may read.
const EXPOSED: HeaderValue = HeaderValue::from_static("etag, retry-after, server-timing, x-request-id");

/// Two hours, in seconds: no browser remembers a preflight for longer.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// What a request says of where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The origin, where it is let in.
    origin: Option<HeaderValue>,
    is_preflight: bool,
}

impl Asked {
    /// What `headers` of a request with `method` ask for.
    pub fn of(allowed: &AllowedOrigins, method: &Method, headers: &HeaderMap) -> Self {
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none());
        Asked {
            origin: origin.filter(|origin| allowed.allows(origin.as_bytes())).cloned(),
            is_preflight: *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD),
        }
    }

    /// The answer as the page's browser wants it. One for a page that is not let in gets no more than `Vary`.
    pub fn complete(self, mut response: Response) -> Response {
        if let Some(origin) = self.origin {
            let methods = response.headers().get(ALLOW).cloned();
            match methods.filter(|_| self.is_preflight && response.status() == StatusCode::METHOD_NOT_ALLOWED) {
                Some(methods) => {
                    response = StatusCode::NO_CONTENT.into_response();
                    let headers = response.headers_mut();
                    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
                    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, SENT);
                    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
                }
                None => {
                    response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
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
    use crate::settings::variables::env_vars;

    #[test]
    fn two_origins_in_one_request_are_none() {
        let list = |name: &str| (name == env_vars::COORD_CORS_ORIGINS).then(|| "https://a.example".to_owned());
        let allowed = AllowedOrigins::from_env(&list).unwrap().unwrap();
        let origins = |origins: &[&'static str]| -> HeaderMap {
            let header = |origin: &&'static str| (ORIGIN, HeaderValue::from_static(origin));
            origins.iter().map(header).collect()
        };
        let one = Asked::of(&allowed, &Method::GET, &origins(&["https://a.example"]));
        assert!(one.origin.is_some());
        let two = Asked::of(
            &allowed,
            &Method::GET,
            &origins(&["https://a.example", "https://evil.example"]),
        );
        assert_eq!(two.origin, None);
    }
}
