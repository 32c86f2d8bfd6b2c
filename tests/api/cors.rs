//! Pages of other sites: allowed by list.

use coord_settings::edge::AllowedOrigins;
use coord_settings::env_vars;
use reqwest::Method;
use serde_json::json;

use crate::api::{Answer, Api, GRAPH, JSON};

const PAGE: &str = "https://coord.example.com";

async fn start() -> Api {
    let list = |name: &str| (name == env_vars::COORD_CORS_ORIGINS).then(|| format!("http://localhost:5173, {PAGE}"));
    let cors = AllowedOrigins::from_env(&list).unwrap();
    Api::start_with(|state| state.edge.cors = cors).await
}

async fn preflight(api: &Api, path: &str, origin: &str) -> Answer {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,content-type"),
    ];
    api.request(Method::OPTIONS, path, &headers, "").await
}

/// The names of all headers about access from other origins.
fn access_headers(answer: &Answer) -> Vec<&str> {
    let names = answer.headers.keys().map(|name| name.as_str());
    names.filter(|name| name.starts_with("access-control-")).collect()
}

fn varies_by_origin(answer: &Answer) -> bool {
    let values = answer.headers.get_all("vary").iter();
    values.filter(|value| *value == "origin").count() == 1
}

#[tokio::test]
async fn a_preflight_of_a_listed_origin_gets_the_allowed_methods_and_headers() {
    let api = start().await;
    let allowed_headers = "authorization, content-type, if-none-match, mcp-method, mcp-name, mcp-protocol-version, \
                           x-api-key, x-coord-agent, x-request-id";
    for (path, methods) in [
        ("/api/check_status", "POST"),
        ("/api/post_status", "POST"),
        ("/api/graph", "GET, HEAD"),
        ("/api/locks", "GET, HEAD"),
        ("/api/activity", "GET, HEAD"),
        ("/api/health", "GET, HEAD"),
    ] {
        for origin in [PAGE, "http://localhost:5173"] {
            let answer = preflight(&api, path, origin).await;
            assert_eq!(answer.status, 204, "{path}");
            for (name, value) in [
                ("allow-origin", Some(origin)),
                ("allow-methods", Some(methods)),
                ("allow-headers", Some(allowed_headers)),
                ("max-age", Some("7200")),
                ("allow-credentials", None),
            ] {
                let header = answer.header(&format!("access-control-{name}"));
                assert_eq!(header, value, "{path} {name}");
            }
            assert!(varies_by_origin(&answer), "{path}");
            assert!(answer.bytes.is_empty(), "{path}");
        }
    }
}

/// Which origins are on a list is tested beside [`AllowedOrigins`].
#[tokio::test]
async fn any_other_origin_gets_no_access_headers() {
    let api = start().await;
    let body = api.check_body(&["src/auth.ts"], json!({}));
    for origin in ["https://evil.example", "http://coord.example.com", "null", "*", ""] {
        let answer = preflight(&api, "/api/check_status", origin).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{origin}");
        let check = api.post_with(&[("origin", origin)], "/api/check_status", &body).await;
        for answer in [answer, check] {
            assert_eq!(access_headers(&answer), [""; 0], "{origin}");
            assert!(varies_by_origin(&answer), "{origin}");
        }
    }
}

#[tokio::test]
async fn a_listed_page_may_read_every_answer_also_the_errors() {
    let api = start().await;
    let check = api.check_body(&["src/auth.ts"], json!({})).to_string();
    for (method, path, body, status) in [
        (Method::POST, "/api/check_status", check.as_str(), 200),
        (Method::GET, GRAPH, "", 202),
        (Method::POST, "/api/check_status", "rubbish", 400),
        (Method::GET, "/api/check_status", "", 405),
        (Method::GET, "/api/nothing", "", 404),
        (Method::OPTIONS, "/api/nothing", "", 404),
        // Without Access-Control-Request-Method it is no preflight.
        (Method::OPTIONS, "/api/check_status", "", 405),
    ] {
        let headers = [JSON, ("origin", PAGE)];
        let answer = api.request(method, path, &headers, body.to_owned()).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE), "{status}");
        assert_eq!(
            answer.header("access-control-expose-headers"),
            Some("etag, retry-after, server-timing, www-authenticate, x-request-id"),
            "{status}"
        );
        assert_eq!(access_headers(&answer).len(), 2, "{status}");
        assert!(varies_by_origin(&answer), "{status}");
    }
}

#[tokio::test]
async fn with_no_list_there_are_no_headers_for_other_origins() {
    let api = Api::start().await;
    let answer = preflight(&api, "/api/check_status", PAGE).await;
    assert_eq!((answer.status, answer.header("vary")), (405, None));
    assert_eq!(access_headers(&answer), [""; 0]);
    let health = api.get("/api/health", &[("origin", PAGE)]).await;
    assert_eq!(access_headers(&health), [""; 0]);
}

/// Which lists are malformed is tested beside [`AllowedOrigins`].
// rule: settings#origins
#[tokio::test]
async fn a_malformed_origin_list_makes_a_function_answer_offline() {
    let api = Api::start().await;
    let environment = [
        (env_vars::COORD_CORS_ORIGINS, "*"),
        (env_vars::COORD_JWT_SECRET, crate::identity::SECRET),
        (env_vars::REDIS_URL, "redis://127.0.0.1:1"),
    ];
    let function = api.function(coord_http::endpoint::CHECK_STATUS, &environment).await;
    let token = crate::identity::good_token();
    let headers = [("authorization", token.as_str()), ("origin", PAGE)];
    let body = api.check_body(&["src/auth.ts"], json!({}));
    let answer = function.post_with(&headers, "/api/check_status", &body).await;
    let body = answer.expect("503");
    assert_eq!(body["status"], "OFFLINE");
    let message = body["message"].as_str().unwrap();
    assert!(message.starts_with("COORD_CORS_ORIGINS must "), "{message}");
    assert_eq!(access_headers(&answer), [""; 0]);
}
