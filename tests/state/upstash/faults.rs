//! `UpstashStore` against a server that misbehaves.

use std::time::Duration;

use coord_store::upstash::UpstashStore;
use coord_store::{Limits, Request, Store, StoreError, Value};
use futures::StreamExt;
use secrecy::SecretString;

use crate::upstash::fake::{Act, Fake, ok, response};
use crate::upstash::scripts::{COUNT, ECHO, call};
use coord_test_support::redis::free_port;

const TOKEN: &str = "the-secret-token";

fn store_with(url: &str, change: impl FnOnce(&mut Limits)) -> UpstashStore {
    let pause = Duration::from_millis(1);
    let mut limits = Limits {
        pauses: vec![pause, pause],
        ..Limits::default()
    };
    change(&mut limits);
    UpstashStore::with_limits(url, SecretString::from(TOKEN), limits).expect("a store")
}

fn store(fake: &Fake) -> UpstashStore {
    store_with(&fake.url(), |_| {})
}

/// A store that waits for 300 milliseconds.
fn impatient_store(fake: &Fake) -> UpstashStore {
    store_with(&fake.url(), |limits| limits.request = Duration::from_millis(300))
}

fn read() -> Vec<Request> {
    vec![Request::command(["GET", "k"])]
}

fn write() -> Vec<Request> {
    vec![call(&COUNT, "k", b"1")]
}

/// The reply `1` to one request.
fn one() -> Act {
    ok(r#"[{"result":1}]"#)
}

/// A server that does `acts`, asked once for `batch`: the outcome and how many requests came.
async fn ask(acts: Vec<Act>, batch: Vec<Request>) -> (Result<Vec<Value>, StoreError>, usize) {
    let fake = Fake::start(acts).await;
    let outcome = store(&fake).run(batch).await;
    if let Err(error) = &outcome {
        assert!(!format!("{error} {error:?}").contains(TOKEN), "{error:?}");
    }
    (outcome, fake.seen().len())
}

#[tokio::test]
async fn a_whole_batch_is_exactly_one_request_in_the_documented_form() {
    let fake = Fake::start(vec![ok(r#"[{"result":"OK"},{"result":"AP8="},{"result":3}]"#)]).await;
    let batch = vec![
        Request::command(["SET", "k", "é"]),
        Request::command(["GET", "k"]),
        call(&COUNT, "n", b"3"),
    ];
    let replies = store(&fake).run(batch).await.unwrap();
    assert_eq!(
        replies,
        [Value::Status("OK".into()), Value::Bulk(vec![0, 0xff]), Value::Int(3)]
    );
    let [seen] = fake.seen().try_into().unwrap();
    assert!(seen.head.starts_with("POST /pipeline HTTP/1.1\r\n"), "{}", seen.head);
    assert_eq!(seen.header("authorization"), Some("Bearer the-secret-token"));
    assert_eq!(seen.header("upstash-encoding"), Some("base64"));
    let sha = coord_store::script::sha1_hex(&with_flag(COUNT.source()));
    assert_eq!(
        seen.body,
        format!(r#"[["SET","k","é"],["GET","k"],["EVALSHA","{sha}","1","n","3"]]"#)
    );
}

/// The text of a script as Upstash takes it.
fn with_flag(source: &str) -> String {
    format!("#!lua flags=allow-key-locking\n{source}")
}

#[tokio::test]
async fn an_unknown_script_is_one_further_request_with_its_text() {
    let no_script = r#"[{"error":"NOSCRIPT No matching script. Please use EVAL."},{"result":null}]"#;
    let fake = Fake::start(vec![ok(no_script), ok(r#"[{"result":4}]"#)]).await;
    let batch = vec![call(&COUNT, "n", b"4"), Request::command(["GET", "k"])];
    let replies = store(&fake).run(batch).await.unwrap();
    assert_eq!(replies, [Value::Int(4), Value::Nil]);
    let [_, second] = fake.seen().try_into().unwrap();
    let text = serde_json::to_string(&with_flag(COUNT.source())).unwrap();
    assert_eq!(second.body, format!(r#"[["EVAL",{text},"1","n","4"]]"#));
}

#[tokio::test]
async fn the_sync_token_of_an_answer_goes_with_the_next_request() {
    let answer = |headers| Act::Send(response("200 OK", headers, r#"[{"result":null}]"#));
    let fake = Fake::start(vec![
        answer("upstash-sync-token: one\r\n"),
        answer("Upstash-Sync-Token: two\r\n"),
        answer(""),
        answer(""),
    ])
    .await;
    let store = store(&fake);
    for _ in 0..4 {
        store.run(read()).await.unwrap();
    }
    let seen = fake.seen();
    let tokens: Vec<_> = seen.iter().map(|seen| seen.header("upstash-sync-token")).collect();
    assert_eq!(tokens, [None, Some("one"), Some("two"), Some("two")]);
}

#[tokio::test]
async fn a_read_is_tried_again_after_a_5xx_or_a_cut_response_and_a_write_is_not() {
    let failures: [fn() -> Act; 2] = [
        || Act::Send(response("503 X", "", "busy")),
        || Act::SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[{\"result\":".to_vec()),
    ];
    for fails in failures {
        for batch in [read(), vec![call(&ECHO, "k", b"")]] {
            let (outcome, requests) = ask(vec![fails(), one()], batch).await;
            assert_eq!((outcome.unwrap(), requests), (vec![Value::Int(1)], 2));
        }
        let beside_a_read = [read(), vec![Request::command(["SET", "k", "v"])]].concat();
        for batch in [write(), beside_a_read] {
            let (outcome, requests) = ask(vec![fails(), one()], batch).await;
            assert_fails!(outcome, Unreachable);
            assert_eq!(requests, 1);
        }
    }
}

#[tokio::test]
async fn tries_end_after_the_second_further_one() {
    let oops = || Act::Send(response("500 X", "", "<html>oops</html>"));
    let (outcome, requests) = ask((0..5).map(|_| oops()).collect(), read()).await;
    assert_fails!(outcome, Unreachable);
    assert_eq!(requests, 3);
}

#[tokio::test]
async fn a_refused_credential_is_denied_and_not_tried_again() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let body = r#"{"error":"WRONGPASS invalid or missing auth token"}"#;
        let (outcome, requests) = ask(vec![Act::Send(response(status, "", body))], read()).await;
        assert_fails!(outcome, Denied, "WRONGPASS");
        assert_eq!(requests, 1);
    }
}

#[tokio::test]
async fn a_rate_limit_is_unreachable_and_not_pressed_further() {
    let limited = Act::Send(response("429 X", "retry-after: 1\r\n", "{}"));
    let (outcome, requests) = ask(vec![limited], read()).await;
    assert_fails!(outcome, Unreachable);
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn rubbish_is_malformed() {
    for body in [
        "<html>Welcome to the captive portal</html>",
        "",
        "{}",
        "[]",
        r#"[{"result":1},{"result":2}]"#,
        "[[1]]",
    ] {
        let (outcome, requests) = ask(vec![ok(body)], read()).await;
        assert!(matches!(outcome, Err(StoreError::Malformed(_))), "{body}: {outcome:?}");
        assert_eq!(requests, 1, "{body}");
    }
}

#[tokio::test]
async fn a_response_that_is_too_long_is_not_read_with_or_without_content_length() {
    let long = format!(r#"[{{"result":"{}"}}]"#, "A".repeat(4000));
    let with_length = Act::Send(response("200 OK", "", &long));
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let without_length = format!("{chunked}{:x}\r\n{long}\r\n0\r\n\r\n", long.len());
    for act in [with_length, Act::SendAndClose(without_length.into_bytes())] {
        let fake = Fake::start(vec![act]).await;
        let store = store_with(&fake.url(), |limits| limits.response_bytes = 1000);
        assert_fails!(store.run(read()).await, Malformed, "1000 bytes");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_so_that_the_token_stays_with_its_host() {
    let other = Fake::start(vec![one()]).await;
    for status in ["301 X", "302 X", "307 X", "308 X"] {
        let location = format!("location: {}/pipeline\r\n", other.url());
        let (outcome, _) = ask(vec![Act::Send(response(status, &location, ""))], read()).await;
        assert_fails!(outcome, Malformed);
    }
    assert_eq!(other.seen().len(), 0);
}

#[tokio::test]
async fn a_silent_server_is_a_timeout_and_a_read_is_sent_again() {
    let fake = Fake::start(vec![Act::Hang, one()]).await;
    let outcome = impatient_store(&fake).run(read()).await;
    assert_eq!(outcome.unwrap(), [Value::Int(1)]);
    let fake = Fake::start(vec![Act::Hang]).await;
    assert_fails!(impatient_store(&fake).run(write()).await, Timeout);
    assert_eq!(fake.seen().len(), 1);
}

#[tokio::test]
async fn an_address_without_a_listener_is_unreachable() {
    let url = format!("http://127.0.0.1:{}", free_port());
    assert_fails!(store_with(&url, |_| {}).run(read()).await, Unreachable);
}

#[tokio::test]
async fn an_argument_outside_utf8_is_refused_before_anything_is_sent() {
    let (outcome, requests) = ask(vec![], vec![call(&COUNT, "k", b"\xff\xfe")]).await;
    assert_fails!(outcome, Failed, "UTF-8");
    assert_eq!(requests, 0);
}

#[tokio::test]
async fn an_empty_batch_makes_no_request() {
    let (outcome, requests) = ask(vec![], vec![]).await;
    assert_eq!((outcome.unwrap(), requests), (vec![], 0));
}

#[tokio::test]
async fn a_broken_subscription_ends_and_a_refused_one_has_its_error() {
    let events =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: subscribe,c,1\n\ndata: message,c,hi\n\n";
    let fake = Fake::start(vec![Act::SendAndClose(events.as_bytes().to_vec())]).await;
    let messages = store(&fake).subscribe("c").await.expect("a subscription");
    assert_eq!(messages.collect::<Vec<_>>().await, ["hi"]);
    assert!(fake.seen()[0].head.starts_with("POST /subscribe/c HTTP/1.1\r\n"));

    let fake = Fake::start(vec![Act::Send(response("401 X", "", r#"{"error":"no"}"#))]).await;
    assert_fails!(store(&fake).subscribe("c").await.map(drop), Denied);

    let fake = Fake::start(vec![ok("<html>")]).await;
    assert_fails!(store(&fake).subscribe("c").await.map(drop), Malformed);

    let fake = Fake::start(vec![Act::Hang]).await;
    assert_fails!(impatient_store(&fake).subscribe("c").await.map(drop), Timeout);
}
