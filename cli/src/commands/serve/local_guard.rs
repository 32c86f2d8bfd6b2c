//! On a loopback address without credentials, every program that can send a request is trusted. A web page is not: it may
//! send one through a browser on this machine. A page of another site cannot send JSON without a preflight (CORS), which is
//! refused unless `COORD_CORS_ORIGINS` lists the site. A page whose own name resolves to 127.0.0.1 (DNS rebinding) is
//! detected by the Host of its requests.

use axum::body::Body;
use axum::http::header::HOST;
use axum::http::{Method, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use coord::http::{ApiError, Endpoint};
use coord::settings::own_names::is_loopback;

/// Refuses requests whose Host is not this machine. Webhook deliveries are exempt: they are signed, and come through a
/// tunnel with a name of its own.
pub async fn require_local_host(request: Request<Body>, next: Next) -> Response {
    let host = request
        .headers()
        .get(HOST)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let takes_any_host = Endpoint::at(request.uri().path()).is_some_and(|endpoint| endpoint.route().takes_any_host);
    if is_local(host) || takes_any_host {
        next.run(request).await
    } else {
        let error = ApiError::Forbidden(
            "this server accepts only requests to localhost; to serve other hosts, set COORD_JWT_SECRET".to_owned(),
        );
        // POST requests come from agents, which get a command with every response.
        match *request.method() {
            Method::POST => error.respond_to_agent(),
            _ => error.into_response(),
        }
    }
}

fn is_local(host: &str) -> bool {
    host.parse().is_ok_and(|host| is_loopback(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_local() {
        for host in [
            "localhost",
            "LOCALHOST:3000",
            "127.0.0.1:3000",
            "127.0.0.2",
            "[::1]:3000",
        ] {
            assert!(is_local(host), "{host}");
        }
        for host in [
            "",
            "example.com",
            "localhost.example.com",
            "127.0.0.1.example.com",
            "10.0.0.1:3000",
            "[::2]",
        ] {
            assert!(!is_local(host), "{host}");
        }
    }
}
