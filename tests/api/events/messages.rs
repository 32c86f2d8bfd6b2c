//! The messages of a stream, and the point from which a client resumes.

use coord_protocol::ActivityResponse;
use reqwest::Method;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::{Client, Kind, PATH, get, quick, start, timed};
use crate::api::Api;

/// The events of the log after `cursor`, as `GET /api/activity` shows them.
async fn logged(api: &Api, cursor: &str) -> Vec<Value> {
    let path = format!("/api/activity?repo_url=https://github.com/acme/shop.git&after={cursor}");
    let answer = api.get(&path, &[]).await;
    let response: ActivityResponse = serde_json::from_value(answer.json()).unwrap();
    let events = response.events.iter();
    events.map(|event| serde_json::to_value(event).unwrap()).collect()
}

async fn newest(api: &Api) -> String {
    let path = "/api/activity?repo_url=https://github.com/acme/shop.git&limit=1";
    api.get(path, &[]).await.json()["cursor"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn events_come_as_they_happen_and_are_those_of_the_log() {
    for kind in Kind::BOTH {
        let api = start(|_| {}).await;
        let cursor = newest(&api).await;
        let mut client = Client::open(kind, api.address, PATH, &[]).await;
        let opened = client.next().await;
        assert_eq!(
            (
                &opened["type"],
                &opened["cursor"],
                &opened["heartbeat_seconds"],
                &opened["is_live"]
            ),
            (&json!("stream_opened"), &json!(cursor), &json!(15), &json!(true))
        );
        api.claim("ann", "WRITING", &["src/db.ts"]).await;
        let refused = api.post_status("bob", "WRITING", &["src/db.ts"], json!({})).await;
        assert_eq!(refused.status, 409);
        api.post_status("ann", "OPEN", &["src/db.ts"], json!({ "abandon": true }))
            .await;
        let mut events = Vec::new();
        for (name, action) in [
            ("lock_granted", json!("PROCEED")),
            ("lock_refused", json!("WAIT")),
            ("lock_released", json!("PROCEED")),
            ("lock_reserved", Value::Null),
        ] {
            let event = client.expect(name).await;
            assert_eq!((&event["action"], &event["files"]), (&action, &json!(["src/db.ts"])));
            events.push(event);
        }
        assert_eq!(logged(&api, &cursor).await, events, "{kind:?}");
    }
}

#[tokio::test]
async fn a_branch_has_its_own_events_alone() {
    for kind in Kind::BOTH {
        let api = start(|_| {}).await;
        api.git.git(&["branch", "other"]);
        let mut client = Client::open(kind, api.address, &format!("{PATH}&branch=other"), &[]).await;
        client.expect("stream_opened").await;
        api.claim("ann", "WRITING", &["src/db.ts"]).await;
        let other = json!({ "branch": "other" });
        assert_eq!(
            api.post_status("bob", "WRITING", &["src/page.ts"], other).await.status,
            200
        );
        let event = &client.lock_events(1).await[0];
        assert_eq!((&event["branch"], &event["user"]), (&json!("other"), &json!("bob")));
    }
}

// rule: http#resuming
#[tokio::test]
async fn a_client_that_comes_back_gets_what_it_missed() {
    let api = start(|_| {}).await;
    let cursor = newest(&api).await;
    let before = format!("{PATH}&last_event_id={cursor}");
    for path in ["src/db.ts", "src/auth.ts"] {
        api.claim("ann", "READING", &[path]).await;
    }
    let missed = logged(&api, &cursor).await;
    let last = missed[1]["id"].as_str().unwrap();
    let nothing_missed = format!("{PATH}&last_event_id={last}");
    for kind in Kind::BOTH {
        for (target, header, expected) in [
            (before.as_str(), None, 2),
            (PATH, Some(cursor.as_str()), 2),
            // The header that `EventSource` sends wins, and an empty value is not an id.
            (&nothing_missed, Some(cursor.as_str()), 2),
            (&before, Some(last), 0),
            (&before, Some(""), 2),
        ] {
            let headers: Vec<_> = header.map(|id| ("last-event-id", id)).into_iter().collect();
            let mut client = Client::open(kind, api.address, target, &headers).await;
            let opened = client.expect("stream_opened").await;
            let from = if expected == 2 { cursor.as_str() } else { last };
            assert_eq!(opened["cursor"], from);
            assert_eq!(client.lock_events(expected).await, missed[..expected]);
        }
    }
}

// rule: http#resuming
#[tokio::test]
async fn a_client_whose_events_are_gone_reads_the_state_again() {
    for kind in Kind::BOTH {
        let api = start(|_| {}).await;
        let first = newest(&api).await;
        for path in ["src/db.ts", "src/auth.ts"] {
            api.claim("ann", "READING", &[path]).await;
        }
        let log = coord_state::events::keys::status_log(&crate::api::repo());
        api.command(["XTRIM", &log, "MAXLEN", "1"]).await;
        let target = format!("{PATH}&last_event_id={first}");
        let mut client = Client::open(kind, api.address, &target, &[]).await;
        client.expect("stream_opened").await;
        let resync = client.expect("resync").await;
        assert_eq!(resync["cursor"], newest(&api).await);
        api.claim("ann", "READING", &["src/page.ts"]).await;
        assert_eq!(client.expect("lock_granted").await["files"], json!(["src/page.ts"]));
    }
}

// rule: http#stream-messages
#[tokio::test]
async fn a_stream_without_events_shows_that_it_lives_and_where_it_is() {
    for kind in Kind::BOTH {
        let api = start(|app| timed(app, quick())).await;
        api.git.git(&["branch", "other"]);
        let mut client = Client::open(kind, api.address, &format!("{PATH}&branch=other"), &[]).await;
        let opened = client.expect("stream_opened").await;
        assert_eq!(opened["heartbeat_seconds"], 1);
        // An event of another branch: it is passed over, and not asked for again.
        api.claim("ann", "WRITING", &["src/db.ts"]).await;
        let heartbeat = client.message().await.unwrap();
        assert_eq!(
            (&heartbeat["type"], &heartbeat["cursor"], &heartbeat["is_live"]),
            (&json!("heartbeat"), &json!(newest(&api).await), &json!(true))
        );
        assert_ne!(heartbeat["cursor"], opened["cursor"]);
    }
}

#[tokio::test]
async fn server_sent_events_are_neither_stored_nor_held_back() {
    let api = start(|_| {}).await;
    let response = get(
        api.address,
        PATH,
        &[("accept-encoding", "gzip"), ("accept", "text/event-stream")],
    )
    .await;
    let header = |name: &str| {
        response
            .headers()
            .get(name)
            .map(|value| value.to_str().unwrap().to_owned())
    };
    assert_eq!(header("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(header("cache-control").as_deref(), Some("no-store"));
    assert_eq!(header("x-accel-buffering").as_deref(), Some("no"));
    assert_eq!(header("content-encoding"), None);
    let head = api.request(Method::HEAD, PATH, &[], "").await;
    assert_eq!((head.status, head.bytes.len()), (200, 0));
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    let post = api.request(Method::POST, PATH, &[], "").await;
    assert_eq!((post.status, post.header("allow")), (405, Some("GET, HEAD")));
}

#[tokio::test]
async fn an_invalid_events_request_gets_its_error_code() {
    let api = start(|_| {}).await;
    for (target, error, code) in [
        ("/api/events".to_owned(), "INVALID_FIELD", 4400),
        (format!("{PATH}&branch="), "INVALID_FIELD", 4400),
        (format!("{PATH}&last_event_id=yesterday"), "INVALID_FIELD", 4400),
        (
            "/api/events?repo_url=https://github.com/acme/other".to_owned(),
            "UNKNOWN_REPOSITORY",
            4404,
        ),
    ] {
        let answer = api.get(&target, &[]).await;
        assert_eq!(answer.json()["error"], error, "{target}: {}", answer.json());
        let mut client = Client::open(Kind::Socket, api.address, &target, &[]).await;
        assert_eq!(client.end().await, (error.to_owned(), Some(code)), "{target}");
    }
    let twice = format!("{PATH}&last_event_id=1-0&last_event_id=2-0");
    assert_eq!(api.get(&twice, &[]).await.status, 400);
    let refused = Client::try_open(Kind::Socket, api.address, &twice, &[]).await;
    assert_eq!(refused.err().map(|status| status.as_u16()), Some(400));
    let wrong = [
        ("upgrade", "websocket"),
        ("connection", "upgrade"),
        ("sec-websocket-version", "7"),
    ];
    assert_eq!(api.get(PATH, &wrong).await.status, 400);
}

// rule: http#close-codes
#[tokio::test]
async fn a_client_that_sends_anything_else_is_closed() {
    let api = start(|_| {}).await;
    for message in [
        Message::text("hello"),
        Message::text(r#"{"type":"subscribe"}"#),
        Message::text(r#"{"type":"authenticate"}"#),
        Message::binary(b"{}".to_vec()),
        Message::text("x".repeat(17 * 1024)),
        Message::text("x".repeat(200 * 1024)),
    ] {
        let mut client = Client::open(Kind::Socket, api.address, PATH, &[]).await;
        client.expect("stream_opened").await;
        let size = message.len();
        client.send(message).await;
        assert_eq!(client.close_code().await, 4400, "{size} bytes");
    }
}

#[tokio::test]
async fn an_unlogged_event_has_no_id() {
    for kind in Kind::BOTH {
        let api = start(|_| {}).await;
        let mut client = Client::open(kind, api.address, PATH, &[]).await;
        client.expect("stream_opened").await;
        let (repo, branch) = (crate::api::repo(), crate::api::main_branch());
        let commit = coord_domain::CommitSha::parse(&api.head).unwrap();
        coord_state::builds::lease_build(&*api.store, &repo, &branch, "test", &commit)
            .await
            .unwrap();
        let channel = coord_state::events::keys::events(&repo);
        let progress = json!({ "type": "graph_progress", "branch": "main", "version": api.head, "files": 3, "wanted": 2,
            "scanned": 1, "time": 1 });
        api.command(["PUBLISH", &channel, &progress.to_string()]).await;
        let event = client.next().await;
        assert_eq!(event, progress);
    }
}
