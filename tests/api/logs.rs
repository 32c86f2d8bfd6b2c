//! The log of requests: one line each, which no outsider can influence, and no secret.

use std::sync::Arc;

use coord_auth::{Authenticator, JwtVerifier};
use coord_test_support::log::Log;
use reqwest::Method;
use reqwest::header::HeaderValue;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::api::{Api, JSON};

#[tokio::test]
async fn a_request_is_one_line() {
    let (log, _guard) = Log::json("info");
    let api = Api::start().await;
    let body = api.check_body(&["src/auth.ts"], json!({}));
    let headers = [("x-request-id", "mine"), ("x-vercel-id", "fra1::spoofed")];
    let answer = api.post_with(&headers, "/api/check_status", &body).await;
    api.get("/api/graph?repo_url=hunter2&branch=hunter2", &[]).await;
    api.get("/hunter2/hunter2?hunter2=hunter2", &[]).await;
    api.request(Method::from_bytes(b"HUNTER2").unwrap(), "/api/health", &[], "")
        .await;
    let text = log.read();
    let events = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines: Vec<Value> = events.filter(|event| event["fields"].get("route").is_some()).collect();
    let summaries: Vec<String> = lines
        .iter()
        .map(|line| {
            let field = |name: &str| line["fields"][name].to_string();
            format!("{} {} {}", field("method"), field("route"), field("status"))
        })
        .collect();
    assert_eq!(
        summaries,
        [
            "\"POST\" \"/api/check_status\" 200",
            "\"GET\" \"/api/graph\" 400",
            "\"GET\" \"none\" 404",
            "\"other\" \"/api/health\" 405",
        ]
    );
    assert!(!text.contains("hunter2") && !text.contains("HUNTER2"));
    let (check, fields) = (&lines[0], &lines[0]["fields"]);
    assert_eq!(check["spans"][0]["id"], "mine");
    assert_eq!(
        check["spans"][0].get("vercel_id"),
        None,
        "nobody is before us who would say so"
    );
    assert_eq!(fields["bytes"], answer.bytes.len());
    assert_eq!(
        (&fields["store_calls"], &fields["source_calls"]),
        (&json!(1), &json!(1))
    );
    for name in ["duration_ms", "store_ms", "source_ms"] {
        assert!(fields[name].as_f64().unwrap() > 0.0, "{name}: {fields}");
    }
}

#[tokio::test]
async fn every_line_of_a_request_has_its_id() {
    // Lines at the log level of `coord serve` have it as well.
    let (log, _guard) = Log::json("warn");
    let api = Api::start().await;
    let function = api.function(coord_http::endpoint::operation::CRON_CLEANUP, &[]).await;
    let headers = [
        ("x-request-id", "mine"),
        ("x-vercel-id", "fra1::abcde-1700000000000-0123456789ab"),
    ];
    function.get("/api/cron_cleanup", &headers).await;
    let text = log.read();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert!(text.contains("CRON_SECRET is not set"), "{text}");
    assert_eq!(lines[0]["spans"][0]["id"], "mine");
    assert_eq!(
        lines[0]["spans"][0]["vercel_id"],
        "fra1::abcde-1700000000000-0123456789ab"
    );
    function
        .get("/api/cron_cleanup", &[("x-vercel-id", "fra1 forged=1")])
        .await;
    assert!(!log.read().contains("forged"));
}

/// Characters that would end a line, or take over a terminal.
const EVIL: &str = "x\nforged: line\r\n\u{1b}[2J\u{1b}]0;title\u{7}\u{85}\u{2028}";

/// Sends it wherever something can be sent.
async fn attack(api: &Api) {
    let bodies = [
        json!({ "agent_id": EVIL }),
        json!({ "message": EVIL }),
        json!({ "branch": EVIL }),
        json!({ "repo_url": EVIL }),
        json!({ "repo_url": format!("https://github.com/{EVIL}/x") }),
        json!({ "agent_head": EVIL }),
        json!({ "new_repo_head": EVIL }),
        json!({ "status": EVIL }),
        json!({ "file_paths": [EVIL] }),
        json!({ EVIL: EVIL }),
    ];
    for more in bodies {
        api.post_status("ann", "WRITING", &["src/auth.ts"], more.clone()).await;
        api.check("ann", &["src/auth.ts"], more).await;
    }
    let encoded: String = EVIL.bytes().map(|byte| format!("%{byte:02x}")).collect();
    for path in [
        format!("/api/graph?repo_url={encoded}&branch={encoded}"),
        format!("/api/graph?repo_url=https://github.com/acme/shop&branch=main&focus={encoded}"),
        format!("/api/{encoded}"),
        format!("/{encoded}?{encoded}"),
    ] {
        api.get(&path, &[]).await;
    }
    // In a header there can be no line end, but bytes that are no UTF-8, and a tab.
    for name in [
        "x-request-id",
        "x-vercel-id",
        "x-coord-agent",
        "x-coord-user",
        "user-agent",
        "referer",
        "origin",
    ] {
        for value in [&b"x\tforged: line"[..], b"\xc2\x85forged: line", b"\xff\xfe"] {
            let request = reqwest::Client::builder().no_proxy().build().unwrap();
            let request = request
                .post(format!("http://{}/api/check_status", api.address))
                .header(name, HeaderValue::from_bytes(value).unwrap())
                .header("content-type", "application/json")
                .body(api.check_body(&["src/auth.ts"], json!({})).to_string());
            request.send().await.unwrap();
        }
    }
}

#[tokio::test]
async fn nothing_that_is_sent_adds_a_line_to_the_log() {
    for is_json in [true, false] {
        let (log, _guard) = if is_json {
            Log::json("coord=trace,info")
        } else {
            Log::text("coord=trace,info")
        };
        let api = Api::start().await;
        attack(&api).await;
        let text = log.read();
        assert!(text.lines().count() > 20);
        for line in text.split_inclusive(['\n', '\u{85}', '\u{2028}']) {
            assert!(line.ends_with('\n'), "{line:?}");
            if is_json {
                serde_json::from_str::<Value>(line).unwrap();
            } else {
                let year = line.get(..4).and_then(|year| year.parse::<u32>().ok());
                assert!(year.is_some(), "a line begins with its time: {line:?}");
            }
        }
        assert!(!text.contains(['\u{1b}', '\u{7}', '\r']), "{text:?}");
    }
}

#[tokio::test]
async fn no_credential_is_written_down() {
    for filter in ["info", "trace"] {
        let (log, _guard) = Log::json(filter);
        let secret = "the secret of this test, which nobody may see";
        let api = Api::start_with(|state| {
            let verifier = JwtVerifier::hs256(&SecretString::from(secret));
            state.authenticator = Arc::new(Authenticator::by_jwt(Some(verifier)));
            state.cron_secret = Some(SecretString::from("hunter2 of the cron"));
        })
        .await;
        let mut shown = vec![
            secret.to_owned(),
            "hunter2 of the cron".to_owned(),
            "hunter3".to_owned(),
        ];
        let body = api.check_body(&["src/auth.ts"], json!({})).to_string();
        for token in [crate::identity::good_token(), "Bearer hunter3".to_owned()] {
            let bare = token.trim_start_matches("Bearer ").to_owned();
            // Over a raw connection: what a client logs of its own request is not what is looked for.
            let head: String = [
                JSON,
                ("cookie", "session=hunter3"),
                ("authorization", &token),
                ("x-api-key", &bare),
            ]
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
            for (method, path) in [
                ("POST", "/api/check_status"),
                ("POST", "/api/post_status"),
                ("GET", "/api/graph?repo_url=x&branch=y&token=hunter3"),
                ("GET", "/api/cron_cleanup"),
                ("GET", "/api/health"),
            ] {
                let request = format!(
                    "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{head}content-length: {}\r\n\r\n{body}",
                    body.len()
                );
                crate::connections::exchange(api.address, request.as_bytes()).await;
            }
            shown.push(bare);
        }
        let cron = "GET /api/cron_cleanup HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer hunter2 of the cron\r\n\r\n";
        assert!(
            crate::connections::exchange(api.address, cron.as_bytes())
                .await
                .starts_with("HTTP/1.1 200 ")
        );
        let text = log.read();
        assert!(text.contains("answered"), "{text}");
        for secret in shown {
            assert!(!text.contains(&secret), "{filter}: {secret} in {text}");
        }
    }
}
