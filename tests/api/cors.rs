//! Pages of other sites: allowed by list.

use coord_extensions::function_router;
use coord_http::Edge;
use coord_settings::edge::AllowedOrigins;
use coord_settings::env_vars;
use reqwest::Method;
use serde_json::json;

use crate::api::{Answer, Api, listen};

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
            assert_eq!(answer.header("access-control-allow-origin"), Some(origin), "{path}");
            assert_eq!(answer.header("access-control-allow-methods"), Some(methods), "{path}");
            assert_eq!(
                answer.header("access-control-allow-headers"),
                Some(
                    "authorization, content-type, if-none-match, mcp-method, mcp-name, mcp-protocol-version, x-api-key, \
                 x-coord-agent, x-request-id"
                )
            );
            assert_eq!(answer.header("access-control-max-age"), Some("7200"));
            assert_eq!(answer.header("access-control-allow-credentials"), None);
            assert!(varies_by_origin(&answer), "{path}");
            assert!(answer.bytes.is_empty(), "{path}");
        }
    }
}

#[tokio::test]
async fn any_other_origin_gets_no_access_headers() {
    let api = start().await;
    for origin in [
        "https://evil.example",
        "https://coord.example.com.evil.example",
        "https://evil-coord.example.com",
        "http://coord.example.com",
        "https://coord.example.com:8443",
        "http://localhost",
        "null",
        "*",
        "",
    ] {
        let answer = preflight(&api, "/api/check_status", origin).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{origin}");
        assert_eq!(access_headers(&answer), [""; 0], "{origin}");
        assert!(varies_by_origin(&answer), "{origin}");
        let check = api
            .request(
                Method::POST,
                "/api/check_status",
                &[("content-type", "application/json"), ("origin", origin)],
                api.check_body(&["src/auth.ts"], json!({})).to_string(),
            )
            .await;
        assert_eq!(access_headers(&check), [""; 0], "{origin}");
        assert!(varies_by_origin(&check), "{origin}");
    }
}

#[tokio::test]
async fn a_listed_page_may_read_every_answer_also_the_errors() {
    let api = start().await;
    let ask = async |method: Method, path: &str, body: String| {
        let headers = [("content-type", "application/json"), ("origin", PAGE)];
        api.request(method, path, &headers, body).await
    };
    let graph = "/api/graph?repo_url=https://github.com/acme/shop&branch=main";
    for (answer, status) in [
        (
            ask(
                Method::POST,
                "/api/check_status",
                api.check_body(&["src/auth.ts"], json!({})).to_string(),
            )
            .await,
            200,
        ),
        (ask(Method::GET, graph, String::new()).await, 202),
        (ask(Method::POST, "/api/check_status", "rubbish".to_owned()).await, 400),
        (ask(Method::GET, "/api/check_status", String::new()).await, 405),
        (ask(Method::GET, "/api/nothing", String::new()).await, 404),
        (ask(Method::OPTIONS, "/api/nothing", String::new()).await, 404),
        // Without Access-Control-Request-Method it is no preflight.
        (ask(Method::OPTIONS, "/api/check_status", String::new()).await, 405),
    ] {
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
    assert_eq!(answer.status, 405);
    assert_eq!(access_headers(&answer), [""; 0]);
    assert_eq!(answer.header("vary"), None);
    let health = api.get("/api/health", &[("origin", PAGE)]).await;
    assert_eq!(access_headers(&health), [""; 0]);
}

// rule: settings#origins
#[tokio::test]
async fn a_malformed_origin_list_makes_a_function_answer_offline() {
    let api = Api::start().await;
    for list in ["*", "https://*.example.com", "coord.example.com", "https://a.example/,"] {
        let environment = |name: &str| match name {
            env_vars::COORD_CORS_ORIGINS => Some(list.to_owned()),
            env_vars::COORD_JWT_SECRET => Some(crate::identity::SECRET.to_owned()),
            env_vars::REDIS_URL => Some("redis://127.0.0.1:1".to_owned()),
            _ => None,
        };
        assert!(Edge::from_env(&environment).is_err(), "{list}");
        let function = listen(function_router(coord_http::endpoint::CHECK_STATUS, &environment)).await;
        let function = api.elsewhere(function, api.store.clone());
        let headers = [
            ("content-type", "application/json"),
            ("authorization", &crate::identity::good_token()),
            ("origin", PAGE),
        ];
        let body = api.check_body(&["src/auth.ts"], json!({})).to_string();
        let answer = function
            .request(Method::POST, "/api/check_status", &headers, body)
            .await;
        assert_eq!(answer.status, 503, "{list}");
        assert_eq!(answer.json()["status"], "OFFLINE", "{list}");
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("COORD_CORS_ORIGINS must "), "{message}");
        assert_eq!(access_headers(&answer), [""; 0], "{list}");
    }
}
