//! The web page, from `public/`, which Vercel serves as static files. The binary contains it, so that there is one file to
//! install.

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};

use super::banner::Served;

/// The page loads nothing from elsewhere, runs no inline script, and cannot be framed. `vercel.json` has the same policy.
/// The edge adds the other headers.
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Serves the page at `/`.
pub fn router() -> Router {
    let html = || {
        file(
            "text/html; charset=utf-8",
            include_str!("../../../../public/index.html"),
        )
    };
    Router::new()
        .route("/", get(async move || html()))
        .route("/index.html", get(async move || html()))
        .route(
            "/coord.css",
            get(async || file("text/css; charset=utf-8", include_str!("../../../../public/coord.css"))),
        )
        .route(
            "/coord.js",
            get(async || {
                file(
                    "text/javascript; charset=utf-8",
                    include_str!("../../../../public/coord.js"),
                )
            }),
        )
        .route(
            "/openapi.json",
            get(async || file("application/json", include_str!("../../../../public/openapi.json"))),
        )
}

/// Serves `/served.json`, the repositories to choose from on the page. Only for servers whose callers may see all of them.
pub fn served_list(served: &[Served]) -> Router {
    let repositories: Vec<Value> = served
        .iter()
        .map(|served| json!({"repo_url": format!("https://{}", served.repo), "branch": served.branch.as_ref().map(ToString::to_string)}))
        .collect();
    let list = json!({"repositories": repositories});
    Router::new().route(
        "/served.json",
        get(async move || ([(CACHE_CONTROL, "no-cache")], Json(list.clone()))),
    )
}

fn file(content_type: &'static str, text: &'static str) -> impl IntoResponse {
    let headers = [
        (CONTENT_TYPE, content_type),
        (CACHE_CONTROL, "no-cache"),
        (CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_functions_serve_the_page_with_the_same_policy() {
        let config: Value = serde_json::from_str(include_str!("../../../../vercel.json")).unwrap();
        let headers = config["headers"][0]["headers"].as_array().unwrap();
        let policy = headers
            .iter()
            .find(|header| header["key"] == "Content-Security-Policy")
            .unwrap();
        assert_eq!(policy["value"], POLICY);
    }
}
