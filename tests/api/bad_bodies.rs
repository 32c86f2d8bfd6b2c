//! Bodies that are no JSON, or too much of it, or never come.

use std::time::Duration;

use insta::assert_snapshot;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::api::Api;

const JSON: (&str, &str) = ("content-type", "application/json");

async fn refusal(api: &Api, body: impl Into<reqwest::Body>) -> String {
    let answer = api.request(Method::POST, "/api/post_status", &[JSON], body).await;
    assert_eq!(answer.json()["orchestration"]["action"], "STOP");
    answer.refusal()
}

#[tokio::test]
async fn a_value_that_is_no_json_object_is_refused() {
    let api = Api::start().await;
    let good = api.post_body("WRITING", &["src/auth.ts"], json!({})).to_string();
    let duplicate = good.replacen('{', "{\"branch\":\"other\",", 1);
    let mut lines = Vec::new();
    for (name, body) in [
        ("empty", String::new()),
        ("a word", "hello".to_owned()),
        ("a number", "5".to_owned()),
        ("null", "null".to_owned()),
        ("a list", "[]".to_owned()),
        (
            "a list of values that would fit",
            "[\"https://github.com/acme/shop\",\"main\"]".to_owned(),
        ),
        ("cut off", good[..good.len() - 5].to_owned()),
        ("with something after it", format!("{good} {{}}")),
        ("with a comma too many", good.replace('}', ",}")),
        ("a field twice", duplicate),
        ("deep", format!("{{\"branch\":{}", "[".repeat(100_000))),
        (
            "deep in a field that nobody reads",
            format!("{{\"more\":{}", "{\"a\":".repeat(100_000)),
        ),
        ("half a surrogate pair", good.replace("src/auth.ts", "\\ud800")),
        ("a control character in a text", good.replace("src/auth.ts", "a\nb")),
    ] {
        lines.push(format!("{name}\n    {}", refusal(&api, body).await));
    }
    let mut latin = good.clone().into_bytes();
    let position = good.find("auth").unwrap();
    latin[position] = 0xe9;
    lines.push(format!("not UTF-8\n    {}", refusal(&api, latin).await));
    assert_snapshot!(lines.join("\n"));
    assert_eq!(api.held().await, 0);
}

// rule: http#bodies
#[tokio::test]
async fn a_body_of_one_mebibyte_is_read_and_one_byte_more_is_not() {
    let api = Api::start().await;
    let sized = |size: usize| {
        let body = api.check_body(&["src/auth.ts"], json!({ "padding": "" })).to_string();
        let padding = "x".repeat(size - body.len());
        body.replace("\"padding\":\"\"", &format!("\"padding\":\"{padding}\""))
    };
    let check = async |body: reqwest::Body| api.request(Method::POST, "/api/check_status", &[JSON], body).await;
    assert_eq!(check(sized(1 << 20).into()).await.status, 200);
    let large = check(sized((1 << 20) + 1).into()).await;
    assert_snapshot!("too_large", large.refusal());
    assert_eq!(large.json()["orchestration"]["action"], "STOP");
    // The same when its length is not announced.
    let parts = sized((1 << 20) + 1).into_bytes();
    let parts: Vec<Result<Vec<u8>, std::io::Error>> = parts.chunks(100_000).map(|part| Ok(part.to_vec())).collect();
    let streamed = check(reqwest::Body::wrap_stream(futures::stream::iter(parts))).await;
    assert_eq!(streamed.refusal(), large.refusal());
}

#[tokio::test]
async fn a_body_must_be_announced_as_json() {
    let api = Api::start().await;
    let body = api.check_body(&["src/auth.ts"], json!({})).to_string();
    let check = async |headers: &[(&'static str, &str)]| {
        api.request(Method::POST, "/api/check_status", headers, body.clone())
            .await
    };
    for content_type in [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
    ] {
        assert_eq!(
            check(&[("content-type", content_type)]).await.status,
            200,
            "{content_type}"
        );
    }
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "application/json; charset=utf-16",
        "",
    ] {
        assert_eq!(
            check(&[("content-type", content_type)]).await.status,
            415,
            "{content_type}"
        );
    }
    assert_snapshot!(check(&[]).await.refusal());
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up_in_time() {
    let api = Api::start().await;
    let mut connection = tokio::net::TcpStream::connect(api.address).await.unwrap();
    let head = format!(
        "POST /api/check_status HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{{",
        api.address
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let length = tokio::time::timeout(Duration::from_secs(60), connection.read(&mut answer))
        .await
        .unwrap()
        .unwrap();
    let answer = String::from_utf8_lossy(&answer[..length]).into_owned();
    assert!(
        answer.starts_with("HTTP/1.1 408 ") || answer.starts_with("HTTP/1.1 400 "),
        "{answer}"
    );
    assert!(
        answer.contains("SLOW_BODY") && answer.contains("orchestration_command"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_caller_that_disconnects_harms_no_other_request() {
    let api = Api::start().await;
    for _ in 0..20 {
        let mut connection = tokio::net::TcpStream::connect(api.address).await.unwrap();
        let head = "POST /api/post_status HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{\"a\"";
        connection.write_all(head.as_bytes()).await.unwrap();
        drop(connection);
    }
    assert_eq!(api.check("ann", &["src/auth.ts"], json!({})).await.status, 200);
    assert_eq!(api.held().await, 0);
}
