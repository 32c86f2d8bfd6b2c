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

fn read() -> Vec<Request> {
    vec![Request::command(["GET", "k"])]
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
    let seen = fake.seen();
    assert_eq!(seen.len(), 1);
    assert!(
        seen[0].head.starts_with("POST /pipeline HTTP/1.1\r\n"),
        "{}",
        seen[0].head
    );
    assert_eq!(seen[0].header("authorization"), Some("Bearer the-secret-token"));
    assert_eq!(seen[0].header("upstash-encoding"), Some("base64"));
    let with_flag = format!("#!lua flags=allow-key-locking\n{}", COUNT.source());
    let sha = coord_store::script::sha1_hex(&with_flag);
    assert_eq!(
        seen[0].body,
        format!(r#"[["SET","k","é"],["GET","k"],["EVALSHA","{sha}","1","n","3"]]"#)
    );
}

#[tokio::test]
async fn an_unknown_script_is_one_further_request_with_its_text() {
    let no_script = r#"[{"error":"NOSCRIPT No matching script. Please use EVAL."},{"result":null}]"#;
    let fake = Fake::start(vec![ok(no_script), ok(r#"[{"result":4}]"#)]).await;
    let replies = store(&fake)
        .run(vec![call(&COUNT, "n", b"4"), Request::command(["GET", "k"])])
        .await
        .unwrap();
    assert_eq!(replies, [Value::Int(4), Value::Nil]);
    let seen = fake.seen();
    assert_eq!(seen.len(), 2);
    let text = serde_json::to_string(&format!("#!lua flags=allow-key-locking\n{}", COUNT.source())).unwrap();
    assert_eq!(seen[1].body, format!(r#"[["EVAL",{text},"1","n","4"]]"#));
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
    let tokens: Vec<_> = fake
        .seen()
        .iter()
        .map(|seen| seen.header("upstash-sync-token").map(str::to_owned))
        .collect();
    assert_eq!(
        tokens,
        [None, Some("one".into()), Some("two".into()), Some("two".into())]
    );
}

#[tokio::test]
async fn a_read_is_tried_again_after_a_5xx_and_a_write_is_not() {
    let acts = || vec![Act::Send(response("503 X", "", "busy")), ok(r#"[{"result":1}]"#)];
    let (outcome, requests) = ask(acts(), read()).await;
    assert_eq!((outcome.unwrap(), requests), (vec![Value::Int(1)], 2));
    let (outcome, requests) = ask(acts(), vec![call(&ECHO, "k", b"")]).await;
    assert_eq!((outcome.unwrap(), requests), (vec![Value::Int(1)], 2));
    let (outcome, requests) = ask(acts(), vec![call(&COUNT, "k", b"1")]).await;
    assert!(matches!(outcome, Err(StoreError::Unreachable(_))), "{outcome:?}");
    assert_eq!(requests, 1);
    let (outcome, requests) = ask(acts(), [read(), vec![Request::command(["SET", "k", "v"])]].concat()).await;
    assert!(matches!(outcome, Err(StoreError::Unreachable(_))), "{outcome:?}");
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn tries_end_after_the_second_further_one() {
    let acts = (0..5)
        .map(|_| Act::Send(response("500 X", "", "<html>oops</html>")))
        .collect();
    let (outcome, requests) = ask(acts, read()).await;
    assert!(matches!(outcome, Err(StoreError::Unreachable(_))), "{outcome:?}");
    assert_eq!(requests, 3);
}

#[tokio::test]
async fn a_response_cut_in_the_middle_is_requested_again_only_for_a_read() {
    let cut = || Act::SendAndClose(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n[{\"result\":".to_vec());
    let (outcome, requests) = ask(vec![cut(), ok(r#"[{"result":1}]"#)], read()).await;
    assert_eq!((outcome.unwrap(), requests), (vec![Value::Int(1)], 2));
    let (outcome, requests) = ask(vec![cut(), ok(r#"[{"result":1}]"#)], vec![call(&COUNT, "k", b"1")]).await;
    assert!(matches!(outcome, Err(StoreError::Unreachable(_))), "{outcome:?}");
    assert_eq!(requests, 1);
}

#[tokio::test]
async fn a_refused_credential_is_denied_and_not_tried_again() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let body = r#"{"error":"WRONGPASS invalid or missing auth token"}"#;
        let (outcome, requests) = ask(vec![Act::Send(response(status, "", body))], read()).await;
        assert!(
            matches!(&outcome, Err(StoreError::Denied(text)) if text.contains("WRONGPASS")),
            "{outcome:?}"
        );
        assert_eq!(requests, 1);
    }
}

#[tokio::test]
async fn a_rate_limit_is_unreachable_and_not_pressed_further() {
    let (outcome, requests) = ask(vec![Act::Send(response("429 X", "retry-after: 1\r\n", "{}"))], read()).await;
    assert!(matches!(outcome, Err(StoreError::Unreachable(_))), "{outcome:?}");
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
    let without_length = Act::SendAndClose(
        format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
            long.len()
        )
        .into_bytes(),
    );
    for act in [with_length, without_length] {
        let fake = Fake::start(vec![act]).await;
        let outcome = store_with(&fake.url(), |limits| limits.response_bytes = 1000)
            .run(read())
            .await;
        assert!(
            matches!(&outcome, Err(StoreError::Malformed(text)) if text.contains("1000 bytes")),
            "{outcome:?}"
        );
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_so_that_the_token_stays_with_its_host() {
    let other = Fake::start(vec![ok(r#"[{"result":1}]"#)]).await;
    for status in ["301 X", "302 X", "307 X", "308 X"] {
        let location = format!("location: {}/pipeline\r\n", other.url());
        let (outcome, _) = ask(vec![Act::Send(response(status, &location, ""))], read()).await;
        assert!(matches!(outcome, Err(StoreError::Malformed(_))), "{outcome:?}");
    }
    assert_eq!(other.seen().len(), 0);
}

#[tokio::test]
async fn a_silent_server_is_a_timeout_and_a_read_is_sent_again() {
    let quick = |limits: &mut Limits| limits.request = Duration::from_millis(300);
    let fake = Fake::start(vec![Act::Hang, ok(r#"[{"result":1}]"#)]).await;
    let outcome = store_with(&fake.url(), quick).run(read()).await;
    assert_eq!(outcome.unwrap(), [Value::Int(1)]);
    let fake = Fake::start(vec![Act::Hang]).await;
    let outcome = store_with(&fake.url(), quick).run(vec![call(&COUNT, "k", b"1")]).await;
    assert!(matches!(outcome, Err(StoreError::Timeout(_))), "{outcome:?}");
    assert_eq!(fake.seen().len(), 1);
}

#[tokio::test]
async fn an_address_without_a_listener_is_unreachable() {
    let url = format!("http://127.0.0.1:{}", free_port());
    let outcome = store_with(&url, |_| {}).run(read()).await;
    assert!(matches!(outcome, Err(StoreError::Unreachable(_))), "{outcome:?}");
}

#[tokio::test]
async fn an_argument_outside_utf8_is_refused_before_anything_is_sent() {
    let (outcome, requests) = ask(vec![], vec![call(&COUNT, "k", b"\xff\xfe")]).await;
    assert!(
        matches!(&outcome, Err(StoreError::Failed(text)) if text.contains("UTF-8")),
        "{outcome:?}"
    );
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
    let messages: Vec<_> = store(&fake)
        .subscribe("c")
        .await
        .expect("a subscription")
        .collect()
        .await;
    assert_eq!(messages, ["hi"]);
    assert!(fake.seen()[0].head.starts_with("POST /subscribe/c HTTP/1.1\r\n"));

    let fake = Fake::start(vec![Act::Send(response("401 X", "", r#"{"error":"no"}"#))]).await;
    let refused = store(&fake).subscribe("c").await.err();
    assert!(matches!(refused, Some(StoreError::Denied(_))), "{refused:?}");

    let fake = Fake::start(vec![ok("<html>")]).await;
    let refused = store(&fake).subscribe("c").await.err();
    assert!(matches!(refused, Some(StoreError::Malformed(_))), "{refused:?}");

    let fake = Fake::start(vec![Act::Hang]).await;
    let quick = store_with(&fake.url(), |limits| limits.request = Duration::from_millis(300));
    let refused = quick.subscribe("c").await.err();
    assert!(matches!(refused, Some(StoreError::Timeout(_))), "{refused:?}");
}
