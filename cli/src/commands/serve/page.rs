//! The web page, from `public/`, which Vercel serves as static files. The binary contains it, so that there is one file to
//! install. A debug build reads the files from the folder, so that a change of the page needs no build.

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use coord::http::ApiError;
use rust_embed::{EmbeddedFile, RustEmbed};
use serde_json::{Value, json};
use tower_http::compression::CompressionLayer;

use super::banner::Served;

/// The page loads nothing from elsewhere, runs no inline script, and cannot be framed. `vercel.json` has the same policy.
/// The edge adds the other headers.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

#[derive(RustEmbed)]
#[folder = "../public"]
struct Files;

/// Serves the page at `/`, and every file of it.
pub fn router() -> Router {
    let file = |name: String| get(async move |headers: HeaderMap| serve(&name, &headers));
    let mut router = Router::new().route("/", file("index.html".to_owned()));
    for name in Files::iter() {
        router = router.route(&format!("/{name}"), file(name.into_owned()));
    }
    router.layer(CompressionLayer::new())
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

fn serve(path: &str, headers: &HeaderMap) -> Response {
    match Files::get(path) {
        Some(file) => respond(&file, headers),
        None => ApiError::UnknownRoute.into_response(),
    }
}

fn respond(file: &EmbeddedFile, headers: &HeaderMap) -> Response {
    let hash = file.metadata.sha256_hash();
    // Compression changes the bytes, but not what they mean.
    let tag = format!(
        "W/\"{}\"",
        hash[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    );
    let is_known = headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|tags| tags.split(',').any(|known| known.trim() == tag));
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let kind = HeaderValue::from_str(&content_type(file.metadata.mimetype()));
        let kind = kind.unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"));
        ([(CONTENT_TYPE, kind)], file.data.to_vec()).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

/// The media type with its character set, where it is text.
fn content_type(media_type: &str) -> String {
    if media_type.starts_with("text/") {
        format!("{media_type}; charset=utf-8")
    } else {
        media_type.to_owned()
    }
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
