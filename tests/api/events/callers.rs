//! The rules for watchers: credentials, hosts, origins; and that no credential is logged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use coord_auth::{Authenticator, JwtVerifier};
use coord_events::Timing;
use coord_server::app::App;
use coord_settings::edge::AllowedOrigins;
use coord_test_support::log::Log;
use coord_test_support::signer::Signer;
use secrecy::SecretString;
use serde_json::{Value, json};

use super::{Client, Kind, PATH, get, quick, timed};
use crate::api::Api;
use crate::tokens::{claims, in_seconds};

const SECRET: &str = "a secret that only the test knows";

fn guard(app: &mut App) {
    let verifier = JwtVerifier::hs256(&SecretString::from(SECRET));
    app.authenticator = Arc::new(Authenticator::by_jwt(Some(verifier)));
    timed(app, quick());
}

/// A server that accepts only callers with a token.
async fn guarded() -> Api {
    Api::start_with(guard).await
}

fn token(more: &Value) -> String {
    Signer::Secret(SECRET.as_bytes().to_vec()).sign(None, &claims(more))
}

/// A token that counts for about two seconds more: sixty after `exp`.
fn brief() -> String {
    token(&json!({ "exp": in_seconds(-58) }))
}

// rule: http#stream-origin
#[tokio::test]
async fn a_page_of_another_site_cannot_listen_in_on_a_loopback_address_either() {
    let api = Api::start_with(|app| {
        let origins = |name: &str| (name == "COORD_CORS_ORIGINS").then(|| "https://app.example.com".to_owned());
        app.edge.cors = AllowedOrigins::from_env(&origins).unwrap();
    })
    .await;
    let own = format!("http://{}", api.address);
    for kind in Kind::BOTH {
        for (headers, status) in [
            (vec![("origin", own.as_str())], 200),
            (vec![("origin", "https://app.example.com")], 200),
            (vec![("origin", "https://evil.example")], 403),
            (vec![("origin", "null")], 403),
            (vec![("origin", "http://127.0.0.1")], 403),
            (vec![("host", "evil.example")], 403),
            (vec![("host", "evil.example"), ("origin", "http://evil.example")], 403),
        ] {
            let opened = Client::try_open(kind, api.address, PATH, &headers).await;
            let answered = opened.map_or_else(|status| status.as_u16(), |_| 200);
            assert_eq!(answered, status, "{kind:?} {headers:?}");
        }
    }
}

#[tokio::test]
async fn where_a_credential_is_wanted_the_page_may_have_any_name_of_the_service() {
    let api = guarded().await;
    let bearer = format!("Bearer {}", token(&json!({})));
    let authorization = ("authorization", bearer.as_str());
    for kind in Kind::BOTH {
        for (origin, status) in [("https://coord.example.com", 200), ("https://evil.example", 403)] {
            let headers = [("host", "coord.example.com"), ("origin", origin), authorization];
            let opened = Client::try_open(kind, api.address, PATH, &headers).await;
            let answered = opened.map_or_else(|status| status.as_u16(), |_| 200);
            assert_eq!(answered, status, "{kind:?} {origin}");
        }
    }
}

// rule: http#stream-credentials
#[tokio::test]
async fn a_token_is_taken_in_a_header_in_the_first_message_or_as_a_subprotocol() {
    let api = guarded().await;
    let token = token(&json!({}));
    let bearer = format!("Bearer {token}");
    for kind in Kind::BOTH {
        for header in [("authorization", bearer.as_str()), ("x-api-key", &token)] {
            let mut client = Client::open(kind, api.address, PATH, &[header]).await;
            client.expect("stream_opened").await;
        }
    }
    let mut client = Client::open(Kind::Socket, api.address, PATH, &[]).await;
    client.authenticate(&token).await;
    client.expect("stream_opened").await;
    let protocols = format!("coord.v1, coord.token.{}", BASE64_URL_SAFE_NO_PAD.encode(&token));
    let mut client = Client::open(
        Kind::Socket,
        api.address,
        PATH,
        &[("sec-websocket-protocol", &protocols)],
    )
    .await;
    client.expect("stream_opened").await;
}

// rule: http#close-codes
#[tokio::test]
async fn a_caller_without_the_right_gets_that_error() {
    let api = guarded().await;
    assert_eq!(api.get(PATH, &[]).await.status, 401);
    let mut silent = Client::open(Kind::Socket, api.address, PATH, &[]).await;
    let began = Instant::now();
    assert_eq!(silent.end().await, ("UNAUTHORIZED".to_owned(), Some(4401)));
    assert!(began.elapsed() >= quick().authentication - Duration::from_millis(100));
    let elsewhere = token(&json!({ "repos": ["github.com/other/*"] }));
    for (token, error, code, status) in [
        ("nonsense", "UNAUTHORIZED", 4401, 401),
        ("two\nlines", "UNAUTHORIZED", 4401, 401),
        (&elsewhere, "FORBIDDEN_REPOSITORY", 4403, 403),
    ] {
        let mut client = Client::open(Kind::Socket, api.address, PATH, &[]).await;
        client.authenticate(token).await;
        assert_eq!(client.end().await, (error.to_owned(), Some(code)), "{token}");
        if !token.contains('\n') {
            let bearer = format!("Bearer {token}");
            let headers = [("authorization", bearer.as_str())];
            assert_eq!(api.get(PATH, &headers).await.status, status, "{token}");
            // With a credential in the header, no other is waited for.
            let mut client = Client::open(Kind::Socket, api.address, PATH, &headers).await;
            assert_eq!(client.end().await, (error.to_owned(), Some(code)), "{token}");
        }
    }
}

// rule: http#stream-rights
#[tokio::test]
async fn a_stream_ends_with_its_token() {
    let api = guarded().await;
    for kind in Kind::BOTH {
        let bearer = format!("Bearer {}", brief());
        let mut client = Client::open(kind, api.address, PATH, &[("authorization", &bearer)]).await;
        client.expect("stream_opened").await;
        let (reason, code) = client.end().await;
        assert_eq!(reason, "FORBIDDEN");
        assert_eq!(code, (kind == Kind::Socket).then_some(4403));
    }
}

// rule: http#stream-credentials
#[tokio::test]
async fn a_newer_token_takes_the_place_of_the_first() {
    let api = guarded().await;
    for name in ["authorization", "x-api-key"] {
        let word = if name == "authorization" { "Bearer " } else { "" };
        let header = format!("{word}{}", brief());
        let mut client = Client::open(Kind::Socket, api.address, PATH, &[(name, &header)]).await;
        client.expect("stream_opened").await;
        client.authenticate(&token(&json!({}))).await;
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(4) {
            let message = client.message().await.unwrap();
            assert_eq!(message["type"], "heartbeat", "{name}: {message}");
        }
        client.authenticate("nonsense").await;
        assert_eq!(client.end().await, ("FORBIDDEN".to_owned(), Some(4403)), "{name}");
    }
}

// rule: http#stream-rights
#[tokio::test]
async fn a_right_that_cannot_be_verified_ends_the_stream_after_a_while() {
    let api = Api::start_with(|app| {
        guard(app);
        let timing = Timing {
            unverified: Duration::from_secs(1),
            ..quick()
        };
        timed(app, timing);
        // Two requests, and no more for an hour.
        app.rates.holder = coord_settings::Rate {
            interval_ms: 3_600_000,
            burst: 2,
        };
    })
    .await;
    let bearer = format!("Bearer {}", token(&json!({})));
    let mut client = Client::open(Kind::Socket, api.address, PATH, &[("authorization", &bearer)]).await;
    client.expect("stream_opened").await;
    assert_eq!(client.end().await, ("UNAVAILABLE".to_owned(), Some(1013)));
}

/// Each credential once cut off the verification of the one before, so that none ever came to its end.
#[tokio::test]
async fn credentials_without_end_put_no_verdict_off() {
    let api = Api::start_with(|app| {
        guard(app);
        let timing = Timing {
            unverified: Duration::from_secs(1),
            ..quick()
        };
        timed(app, timing);
    })
    .await;
    let bearer = format!("Bearer {}", token(&json!({})));
    let mut client = Client::open(Kind::Socket, api.address, PATH, &[("authorization", &bearer)]).await;
    client.expect("stream_opened").await;
    let began = Instant::now();
    loop {
        tokio::select! {
            biased;
            message = client.message() => {
                if message.expect("the stream ends with a word")["type"] == "stream_ended" {
                    return;
                }
            }
            // time: a client that goes on without pause.
            () = tokio::time::sleep(Duration::from_micros(200)) => client.authenticate("nonsense").await,
        }
        assert!(began.elapsed() < Duration::from_secs(20), "it goes on without a right");
    }
}

#[tokio::test]
async fn no_credential_of_a_stream_is_written_down() {
    for filter in ["info", "coord=trace,axum=trace,tower=trace,hyper=trace"] {
        let (log, _guard) = Log::json(filter);
        let api = guarded().await;
        let (good, bad) = (token(&json!({})), "hunter2hunter2".to_owned());
        for token in [&good, &bad] {
            let encoded = BASE64_URL_SAFE_NO_PAD.encode(token);
            let mut client = Client::open(Kind::Socket, api.address, PATH, &[]).await;
            client.authenticate(token).await;
            client.next().await;
            let protocols = format!("coord.v1, coord.token.{encoded}");
            let headers = [("sec-websocket-protocol", protocols.as_str())];
            let mut client = Client::open(Kind::Socket, api.address, PATH, &headers).await;
            client.next().await;
            get(api.address, PATH, &[("authorization", &format!("Bearer {token}"))]).await;
            let text = log.read();
            assert!(text.contains("/api/events"), "{text}");
            assert!(
                !text.contains(token.as_str()) && !text.contains(&encoded),
                "{filter}: {text}"
            );
        }
    }
}
