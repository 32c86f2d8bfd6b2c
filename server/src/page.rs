//! The web page, from `public/`, which Vercel serves as static files.

use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;
use axum::routing::get;

/// Serves the page at `/`.
pub fn router() -> Router {
    Router::new().route("/", get(index)).route("/index.html", get(index))
}

async fn index() -> impl IntoResponse {
    let headers = [(CONTENT_TYPE, "text/html; charset=utf-8"), (CACHE_CONTROL, "no-cache")];
    (headers, include_str!("../../public/index.html"))
}
