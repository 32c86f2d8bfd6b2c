//! The web page, from `public/`, which Vercel serves as static files. The binary contains it, so that there is one file
//! to install. A debug build reads the files from the folder, so that a change of the page needs no build.

use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use coord_domain::UserId;
use coord_http::ApiError;
use coord_http::error::Respond;
use rust_embed::{EmbeddedFile, RustEmbed};
use serde_json::{Value, json};
use tower_http::compression::CompressionLayer;

use super::banner::ServedRepository;

/// The page loads nothing from other sites, runs no inline script, and cannot be framed. `vercel.json` has the same
/// policy. The edge adds the other headers.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

#[derive(RustEmbed)]
#[folder = "../../public"]
struct Files;

/// Serves the page at `/`, and each of its files.
pub fn router() -> Router {
    let file = |name: String| get(async move |headers: HeaderMap| serve(&name, &headers));
    let mut router = Router::new().route("/", file("index.html".to_owned()));
    for name in Files::iter() {
        router = router.route(&format!("/{name}"), file(name.into_owned()));
    }
    router.layer(CompressionLayer::new())
}

/// Serves `/served.json`: the repositories to choose from on the page, and the user for whom it acts. Only for servers
/// whose callers may see all of the repositories.
pub fn served_list(served: &[ServedRepository], user: &UserId) -> Router {
    // Several clones of one repository are listed once.
    let is_first = |(index, repository): &(usize, &ServedRepository)| {
        served[..*index].iter().all(|earlier| earlier.repo != repository.repo)
    };
    let repositories: Vec<Value> = served
        .iter()
        .enumerate()
        .filter(is_first)
        .map(|(_, repository)| {
            let branch = repository.branch.as_ref().map(ToString::to_string);
            json!({"repo_url": format!("https://{}", repository.repo), "branch": branch})
        })
        .collect();
    let list = json!({"repositories": repositories, "user": user.as_str()});
    Router::new().route(
        "/served.json",
        get(async move || ([(CACHE_CONTROL, "no-cache")], Json(list.clone()))),
    )
}

fn serve(path: &str, headers: &HeaderMap) -> Response {
    match Files::get(path) {
        Some(file) => respond(&file, headers),
        None => ApiError::UnknownRoute { instead: None }.respond_to_person(),
    }
}

fn respond(file: &EmbeddedFile, headers: &HeaderMap) -> Response {
    let hash = file.metadata.sha256_hash();
    // A weak tag, because compression changes the bytes, but not the content.
    let tag = format!(
        "W/\"{}\"",
        hash[..8].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    );
    let is_not_modified = headers
        .get_all(IF_NONE_MATCH)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|tags| tags.split(',').any(|other| other.trim() == tag));
    let mut response = if is_not_modified {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let content_type = HeaderValue::from_str(&content_type(file.metadata.mimetype()));
        let content_type = content_type.unwrap_or_else(|_| HeaderValue::from_static("application/octet-stream"));
        ([(CONTENT_TYPE, content_type)], file.data.to_vec()).into_response()
    };
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(ETAG, tag);
    }
    response
}

/// The media type, with the character set if it is text.
fn content_type(media_type: &str) -> String {
    if media_type.starts_with("text/") {
        format!("{media_type}; charset=utf-8")
    } else {
        media_type.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use axum::body::{Body, to_bytes};
    use axum::http::Request;
    use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderName};
    use tower::ServiceExt;

    use super::*;

    const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../public");

    /// Every file below a folder.
    fn files_of(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path());
        entries
            .flat_map(|path| if path.is_dir() { files_of(&path) } else { vec![path] })
            .collect()
    }

    async fn get(path: &str, header: Option<(HeaderName, &str)>) -> Response {
        let mut request = Request::get(path);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let request = request.body(Body::empty()).expect("a request");
        router().oneshot(request).await.expect("a response")
    }

    fn header(response: &Response, name: HeaderName) -> &str {
        let value = response.headers().get(&name);
        value.unwrap_or_else(|| panic!("no {name}")).to_str().expect("text")
    }

    async fn body(response: Response) -> Vec<u8> {
        to_bytes(response.into_body(), usize::MAX)
            .await
            .expect("a body")
            .to_vec()
    }

    #[test]
    fn the_functions_serve_the_page_with_the_same_policy() {
        let config: Value = serde_json::from_str(include_str!("../../../vercel.json")).unwrap();
        let headers = config["headers"][0]["headers"].as_array().unwrap();
        let policy = headers
            .iter()
            .find(|header| header["key"] == "Content-Security-Policy")
            .unwrap();
        assert_eq!(policy["value"], POLICY);
    }

    #[tokio::test]
    async fn every_file_is_served_with_its_type_its_tag_and_the_policy() {
        let files = files_of(Path::new(FOLDER));
        assert!(files.len() > 50, "{} files", files.len());
        for file in files {
            let name = file
                .strip_prefix(FOLDER)
                .expect("below")
                .to_str()
                .expect("text")
                .to_owned();
            let response = get(&format!("/{name}"), None).await;
            assert_eq!(response.status(), StatusCode::OK, "{name}");
            let expected = match file.extension().and_then(|extension| extension.to_str()) {
                Some("html") => "text/html; charset=utf-8",
                Some("js") => "text/javascript; charset=utf-8",
                Some("css") => "text/css; charset=utf-8",
                Some("svg") => "image/svg+xml",
                Some("json") => "application/json",
                other => panic!("{name}: which type has {other:?}?"),
            };
            assert_eq!(header(&response, CONTENT_TYPE), expected, "{name}");
            assert_eq!(header(&response, CONTENT_SECURITY_POLICY), POLICY, "{name}");
            assert_eq!(header(&response, CACHE_CONTROL), "no-cache", "{name}");
            let tag = header(&response, ETAG).to_owned();
            assert_eq!(body(response).await, std::fs::read(&file).expect("a file"), "{name}");

            let again = get(&format!("/{name}"), Some((IF_NONE_MATCH, &tag))).await;
            assert_eq!(again.status(), StatusCode::NOT_MODIFIED, "{name}");
            assert_eq!(header(&again, ETAG), tag, "{name}");
            assert_eq!(header(&again, CONTENT_SECURITY_POLICY), POLICY, "{name}");
            assert!(body(again).await.is_empty(), "{name}");
        }
    }

    #[tokio::test]
    async fn the_root_is_the_page() {
        let index = std::fs::read(Path::new(FOLDER).join("index.html")).expect("a file");
        assert_eq!(body(get("/", None).await).await, index);
    }

    #[tokio::test]
    async fn tags_are_compared_one_by_one() {
        let tag = header(&get("/", None).await, ETAG).to_owned();
        for (known, status) in [
            (format!("W/\"0\", {tag}"), StatusCode::NOT_MODIFIED),
            ("W/\"0\"".to_owned(), StatusCode::OK),
            (format!("{tag}0"), StatusCode::OK),
        ] {
            let response = get("/", Some((IF_NONE_MATCH, &known))).await;
            assert_eq!(response.status(), status, "{known}");
        }
    }

    #[tokio::test]
    async fn files_are_compressed_for_clients_that_accept_the_encoding() {
        let whole = body(get("/app/main.js", None).await).await;
        for encoding in ["gzip", "br", "zstd"] {
            let response = get("/app/main.js", Some((ACCEPT_ENCODING, encoding))).await;
            if response.headers().get(CONTENT_ENCODING).is_none() {
                assert_ne!(encoding, "gzip", "every browser reads gzip");
                continue;
            }
            assert_eq!(header(&response, CONTENT_ENCODING), encoding);
            assert!(response.headers().contains_key(ETAG), "{encoding}");
            assert!(body(response).await.len() < whole.len(), "{encoding}");
        }
    }

    #[tokio::test]
    async fn only_files_of_the_page_are_served() {
        for path in [
            "/app",
            "/app/",
            "/app/none.js",
            "/index.htm",
            "/INDEX.HTML",
            "/../Cargo.toml",
            "/app/../../Cargo.toml",
            "/%2e%2e/Cargo.toml",
            "/app/%2e%2e/%2e%2e/Cargo.toml",
            "/..%2fCargo.toml",
            "//index.html",
        ] {
            assert_eq!(get(path, None).await.status(), StatusCode::NOT_FOUND, "{path}");
        }
    }
}
