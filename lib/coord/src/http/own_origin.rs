//! The name by which the service was reached, and the page that asks. A page of another site is let in by `COORD_CORS_ORIGINS`
//! alone; one whose own name resolves to us is told apart by the `Host` that it names.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

use crate::error::ApiError;
use crate::http::headers::came_by_https;
use crate::settings::edge::Edge;

/// The origin by which the request came, such as `https://coord.example.com`.
///
/// # Errors
/// When `Host` is none of our names, or a page of another site asks.
pub(super) fn own_origin(edge: &Edge, headers: &HeaderMap) -> Result<String, ApiError> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().filter(|_| hosts.next().is_none());
    let host = host.and_then(|host| edge.own_names.own(host)).ok_or_else(|| {
        ApiError::Forbidden(
            "MCP is answered under the names of this service alone, and Host names another; set COORD_HOSTS to them"
                .to_owned(),
        )
    })?;
    let mut origins = headers.get_all(ORIGIN).iter();
    if let Some(origin) = origins.next() {
        let is_own = ["http", "https"].iter().any(|scheme| {
            origin
                .as_bytes()
                .eq_ignore_ascii_case(format!("{scheme}://{host}").as_bytes())
        });
        let is_allowed = || edge.cors.as_ref().is_some_and(|cors| cors.allows(origin.as_bytes()));
        if origins.next().is_some() || !(is_own || is_allowed()) {
            return Err(ApiError::Forbidden(
                "pages of other sites may not ask; COORD_CORS_ORIGINS lists those that may".to_owned(),
            ));
        }
    }
    let is_https = edge.is_behind_proxy && came_by_https(headers);
    let scheme = if is_https { "https" } else { "http" };
    Ok(format!("{scheme}://{host}"))
}
