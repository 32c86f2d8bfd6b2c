//! The name by which the service was reached, and the page that sent the request. Only `COORD_CORS_ORIGINS` admits
//! pages of other sites. The header `Host` reveals a page whose own name resolves to us.

use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::headers::client_used_https;
use coord_server::error::ApiError;
use coord_settings::edge::Edge;

const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The origin that the request was sent to, such as `https://coord.example.com`.
///
/// # Errors
/// When `Host` is none of our names, or a page of another site sent the request.
pub(super) fn own_origin(edge: &Edge, headers: &HeaderMap) -> Result<String, ApiError> {
    let mut host = own_host(edge, headers, HOST)?;
    // Our own proxy may use another name for us than callers use for the proxy.
    if edge.is_behind_proxy && headers.contains_key(X_FORWARDED_HOST) {
        host = own_host(edge, headers, X_FORWARDED_HOST)?;
    }
    refuse_other_sites(edge, headers, host.as_str())?;
    let is_https = edge.is_behind_proxy && client_used_https(headers);
    let scheme = if is_https { "https" } else { "http" };
    Ok(format!("{scheme}://{host}"))
}

/// Refuses a request from a page of another site, whatever names the service has. A page whose own name resolves to us
/// passes, so this is only for endpoints that require a credential, which such a page does not have.
///
/// # Errors
/// When a page of another site sent the request.
pub fn refuse_pages_of_other_sites(edge: &Edge, headers: &HeaderMap) -> Result<(), ApiError> {
    let is_forwarded = edge.is_behind_proxy && headers.contains_key(X_FORWARDED_HOST);
    let mut hosts = headers
        .get_all(if is_forwarded { X_FORWARDED_HOST } else { HOST })
        .iter();
    let host = hosts.next().filter(|_| hosts.next().is_none());
    refuse_other_sites(
        edge,
        headers,
        host.and_then(|host| host.to_str().ok()).unwrap_or_default(),
    )
}

/// Refuses an `Origin` that is neither that of `host` nor allowed. Some requests of other sites have no `Origin`, such
/// as those for an image or a script; for these, browsers send `Sec-Fetch-Site`.
fn refuse_other_sites(edge: &Edge, headers: &HeaderMap, host: &str) -> Result<(), ApiError> {
    let mut origins = headers.get_all(ORIGIN).iter();
    let refuse = || {
        Err(ApiError::Forbidden(
            "requests from pages of other sites are refused; COORD_CORS_ORIGINS lists the allowed origins".to_owned(),
        ))
    };
    if let Some(origin) = origins.next() {
        let is_own = ["http", "https"].iter().any(|scheme| {
            origin
                .as_bytes()
                .eq_ignore_ascii_case(format!("{scheme}://{host}").as_bytes())
        });
        let is_allowed = || edge.cors.as_ref().is_some_and(|cors| cors.allows(origin.as_bytes()));
        if origins.next().is_some() || !(is_own || is_allowed()) {
            return refuse();
        }
        return Ok(());
    }
    let is_of_other_site = |value: &HeaderValue| value != "same-origin" && value != "none";
    if headers.get_all(SEC_FETCH_SITE).iter().any(is_of_other_site) {
        return refuse();
    }
    Ok(())
}

/// The only host in the header `name`, which must be one of ours.
fn own_host(edge: &Edge, headers: &HeaderMap, name: HeaderName) -> Result<Authority, ApiError> {
    let mut hosts = headers.get_all(name).iter();
    let host = hosts.next().filter(|_| hosts.next().is_none());
    host.and_then(|host| edge.own_hosts.find_own(host)).ok_or_else(|| {
        ApiError::Forbidden(
            "Host is not a name of this service; its operator lists the names in COORD_HOSTS".to_owned(),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_header_of_our_own_proxy_counts_and_must_name_the_service() {
        let origin = |is_behind_proxy: bool, forwarded: &str| {
            let edge = Edge {
                is_behind_proxy,
                ..Edge::default()
            };
            let pairs = [
                ("host", "127.0.0.1:4000"),
                ("x-forwarded-host", forwarded),
                ("x-forwarded-proto", "https"),
            ];
            let headers = pairs.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            own_origin(&edge, &headers.into_iter().collect()).ok()
        };
        let seen = origin(true, "localhost:3000");
        assert_eq!(seen.as_deref(), Some("https://localhost:3000"));
        assert_eq!(origin(true, "evil.example"), None);
        let direct = origin(false, "evil.example");
        assert_eq!(direct.as_deref(), Some("http://127.0.0.1:4000"));
    }
}
