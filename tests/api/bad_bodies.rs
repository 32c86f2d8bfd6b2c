//! Bodies that are no JSON, or too much of it, or never come.

use insta::assert_snapshot;
use reqwest::Method;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::api::{Api, JSON};
use crate::attacks::{read_within, send_head};

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
    latin[good.find("auth").unwrap()] = 0xe9;
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
    check(sized(1 << 20).into()).await.expect("200");
    let large = check(sized((1 << 20) + 1).into()).await;
    assert_snapshot!("too_large", large.refusal());
    large.expect("413 BODY_TOO_LARGE STOP");
    // The same when its length is not announced.
    let parts = sized((1 << 20) + 1).into_bytes();
    let parts: Vec<Result<Vec<u8>, std::io::Error>> = parts.chunks(100_000).map(|part| Ok(part.to_vec())).collect();
    let streamed = check(reqwest::Body::wrap_stream(futures::stream::iter(parts))).await;
    assert_eq!(streamed.refusal(), large.refusal());
}

/// Which types are JSON is tested beside the function that decides it.
#[tokio::test]
async fn a_body_must_be_announced_as_json() {
    let api = Api::start().await;
    let body = api.check_body(&["src/auth.ts"], json!({})).to_string();
    let check = async |headers: &[(&'static str, &str)]| {
        api.request(Method::POST, "/api/check_status", headers, body.clone())
            .await
    };
    let in_utf8 = ("content-type", "APPLICATION/JSON; charset=utf-8");
    check(&[in_utf8]).await.expect("200");
    check(&[("content-type", "text/plain")]).await.expect("415");
    assert_snapshot!(check(&[]).await.refusal());
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up_in_time() {
    let api = Api::start().await;
    let mut connection = send_head(&api, "content-length: 100\r\n").await;
    connection.write_all(b"{").await.unwrap();
    let answer = read_within(60, &mut connection).await;
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
        let mut connection = send_head(&api, "content-length: 100\r\n").await;
        connection.write_all(b"{\"a\"").await.unwrap();
    }
    api.check("ann", &["src/auth.ts"], json!({})).await.expect("200");
    assert_eq!(api.held().await, 0);
}
