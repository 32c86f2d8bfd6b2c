//! On a loopback address without credentials, the server trusts every program that can send a request. It does not
//! trust web pages, which can send requests through a browser on this machine. A page of another site cannot send JSON
//! without a preflight (CORS), which is refused unless `COORD_CORS_ORIGINS` lists the site. `Origin` and
//! `Sec-Fetch-Site` identify its other requests, such as a GET for an image. They are refused before they count toward
//! a rate limit. The Host of the request exposes a page whose own name resolves to 127.0.0.1 (DNS rebinding).

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{Method, Request};
use axum::middleware::Next;
use axum::response::Response;
use coord_http::error::Respond;
use coord_http::{ApiError, Edge, Endpoint, refuse_pages_of_other_sites};
use coord_settings::service_hosts::{is_loopback, parse_host};

/// Refuses requests whose Host is not this machine, and those of pages of other sites. Webhook deliveries are exempt:
/// they are signed, and come through a tunnel with another name.
pub async fn require_local_caller(State(edge): State<Arc<Edge>>, request: Request<Body>, next: Next) -> Response {
    match check_request(&edge, &request) {
        Ok(()) => next.run(request).await,
        // POST requests come from agents, which get a command with every response.
        Err(error) if *request.method() == Method::POST => error.respond_to_agent(),
        Err(error) => error.respond_to_person(),
    }
}

fn check_request(edge: &Edge, request: &Request<Body>) -> Result<(), ApiError> {
    let endpoint = Endpoint::at(coord_extensions::endpoints(), request.uri().path());
    if endpoint.is_some_and(|endpoint| endpoint.route().takes_any_host) {
        return Ok(());
    }
    if !host(request).is_some_and(|host| is_loopback(&host)) {
        return Err(ApiError::Forbidden(
            "this server accepts only requests to localhost; to serve other hosts, set COORD_JWT_SECRET".to_owned(),
        ));
    }
    // Any site may link to the page. A preflight gets a response, which does not allow the request.
    let is_navigation = request
        .headers()
        .get("sec-fetch-mode")
        .is_some_and(|mode| mode == "navigate");
    let opens_page = is_navigation && *request.method() == Method::GET && endpoint.is_none();
    match opens_page || *request.method() == Method::OPTIONS {
        true => Ok(()),
        false => refuse_pages_of_other_sites(edge, request.headers()),
    }
}

/// The host that the request names in its only `Host`, unless the target names another one.
fn host(request: &Request<Body>) -> Option<Authority> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = hosts.next().filter(|_| hosts.next().is_none())?;
    let host = parse_host(host.to_str().ok()?)?;
    let target = request.uri().authority();
    target.is_none_or(|target| *target == host).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_accepted(target: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::get(target);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check_request(&Edge::default(), &request.body(Body::empty()).unwrap()).is_ok()
    }

    #[test]
    fn only_names_of_this_machine_are_local() {
        for host in [
            "localhost",
            "LOCALHOST:3000",
            "127.0.0.1:3000",
            "127.0.0.1",
            "127.0.0.2",
            "[::1]:3000",
        ] {
            assert!(is_accepted("/api/health", &[("host", host)]), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com",
            "localhost.example.com:3000",
            "127.0.0.1.example.com",
            "10.0.0.1:3000",
            "[::2]",
            "localhost.",
            "localhost.:3000",
            "localhost:",
            "localhost:x",
            "localhost:03000",
            "localhost:99999",
            "user@localhost",
            "evil.example@localhost:3000",
            "%6cocalhost",
            "localhost/evil",
            "localhost evil.example",
            "localhost,evil.example",
            "[127.0.0.1]",
            "[localhost]",
            "::1",
            "127.1",
            "0x7f.0.0.1",
            "2130706433",
            "0.0.0.0",
        ] {
            assert!(!is_accepted("/api/health", &[("host", host)]), "{host}");
        }
        assert!(!is_accepted("/api/health", &[]));
        assert!(!is_accepted(
            "/api/health",
            &[("host", "localhost"), ("host", "localhost")]
        ));
    }

    #[test]
    fn a_target_with_a_host_names_the_same_one() {
        let accepted = |target: &str| is_accepted(target, &[("host", "localhost:3000")]);
        assert!(accepted("http://localhost:3000/api/health"));
        assert!(!accepted("http://evil.example/api/health"));
        assert!(!accepted("http://localhost/api/health"));
    }

    #[test]
    fn a_page_of_another_site_opens_the_page_and_nothing_else() {
        let accepted = |path: &str, headers: &[(&str, &str)]| {
            let own = [("host", "localhost:3000")];
            is_accepted(path, &[&own, headers].concat())
        };
        let [cross, same] = ["cross-site", "same-site"].map(|site| ("sec-fetch-site", site));
        let navigation = ("sec-fetch-mode", "navigate");
        for (path, headers, expected) in [
            ("/api/graph", &[("sec-fetch-site", "same-origin")][..], true),
            ("/api/graph", &[("sec-fetch-site", "none")], true),
            ("/api/graph", &[cross], false),
            ("/api/graph", &[same], false),
            ("/api/graph", &[cross, navigation], false),
            ("/api/graph", &[("origin", "https://evil.example")], false),
            ("/api/graph", &[("origin", "http://localhost:8080"), same], false),
            ("/api/graph", &[("origin", "http://localhost:3000")], true),
            ("/served.json", &[cross], false),
            ("/", &[cross, navigation], true),
            ("/", &[cross], false),
        ] {
            assert_eq!(accepted(path, headers), expected, "{path} {headers:?}");
        }
    }
}
