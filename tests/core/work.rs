//! Check, claim, release, graph, events and the sweep, over the embedded store and the HTTP interface.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Body;
use axum::http::{Request as HttpRequest, StatusCode};
use coord_auth::{Authenticator, Credentials};
use coord_domain::{Branch, CommitSha, RepoId, UserId};
use coord_embedded::EmbeddedStore;
use coord_server::app::App;
use coord_server::sweep::sweep_due;
use coord_settings::LockConfig;
use coord_state::heads::{FetchedHead, record_head};
use coord_store::{Request, Store};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

const REPO: &str = "github.com/acme/shop";
const REPO_URL: &str = "https://github.com/acme/shop";
const HEAD: &str = "b111111111111111111111111111111111111111";

struct Server {
    router: Router,
    store: Arc<dyn Store>,
}

/// A server that knows the head of `main`, where `auth.ts` imports `db.ts`. Locks last for `ttl_seconds`.
async fn server(ttl_seconds: u32) -> Server {
    coord_extensions::register_state();
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::in_memory_by(SystemTime::now).unwrap());
    let (repo, branch) = (RepoId::parse(REPO_URL).unwrap(), Branch::parse("main").unwrap());
    let head = CommitSha::parse(HEAD).unwrap();
    let fetched = FetchedHead::of(&head, std::slice::from_ref(&head));
    record_head(&*store, &repo, &branch, &fetched).await.unwrap();
    let graph = format!("coord:graph:{{{REPO}}}:main");
    let adjacency = format!("{graph}:adj");
    let stored = vec![
        Request::command(["HSET", &graph, "version", HEAD]),
        Request::command(["HSET", &adjacency, "auth.ts", "1\n>db.ts\n"]),
        Request::command(["HSET", &adjacency, "db.ts", "1\n<auth.ts\n"]),
    ];
    store.run(stored).await.unwrap();
    let settings = coord_server::settings::Settings {
        locks: LockConfig {
            ttl_seconds,
            ..LockConfig::default()
        },
        ..coord_extensions::default_settings()
    };
    let authenticator = Authenticator::Local {
        user: UserId::parse("ada").unwrap(),
        credentials: Credentials::default(),
    };
    let app = App::new(&settings, Arc::clone(&store), authenticator);
    Server {
        router: coord_http::router(app, coord_extensions::endpoints()),
        store,
    }
}

impl Server {
    async fn ask(&self, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let request = HttpRequest::builder()
            .method(method)
            .uri(path)
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()))
            .unwrap();
        let response = self.router.clone().oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    async fn get(&self, path: &str) -> (StatusCode, Value) {
        let path = format!("/api/{path}?repo_url={REPO_URL}&branch=main");
        self.ask("GET", &path, Value::Null).await
    }

    /// A request of an agent about files.
    async fn post(&self, path: &str, agent: &str, files: &[&str], more: Value) -> (StatusCode, Value) {
        let mut body = json!({
            "repo_url": REPO_URL, "branch": "main", "agent_head": HEAD, "agent_id": agent, "file_paths": files,
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        self.ask("POST", path, body).await
    }

    async fn claims(&self, agent: &str, files: &[&str]) -> (StatusCode, Value) {
        let writing = json!({ "status": "WRITING", "message": "Adding connection pooling" });
        self.post("/api/post_status", agent, files, writing).await
    }
}

#[tokio::test]
async fn a_file_is_claimed_once_and_free_again_once_it_is_released() {
    let server = server(300).await;
    assert_answer(server.claims("one", &["db.ts"]).await, 200, "/success", true);
    let refused = server.claims("two", &["db.ts"]).await;
    assert_answer(refused, 409, "/error", "LOCK_CONFLICT");
    // A file that imports it is its neighbor.
    let (_, checked) = server.post("/api/check_status", "two", &["auth.ts"], json!({})).await;
    assert_eq!(checked["status"], "CONFLICT", "{checked}");
    assert_eq!(checked["locks"]["db.ts"]["lock_type"], "NEIGHBOR", "{checked}");
    let open = json!({ "status": "OPEN", "message": "Done", "abandon": true });
    let released = server.post("/api/post_status", "one", &["db.ts"], open).await;
    assert_answer(released, 200, "/success", true);
    // A file that the second agent waits for is reserved for it.
    assert_answer(server.claims("two", &["db.ts"]).await, 200, "/success", true);
}

/// Asserts the status of an answer, and one value in it.
fn assert_answer((status, answer): (StatusCode, Value), expected: u16, path: &str, value: impl Into<Value>) {
    let (found, value) = (answer.pointer(path), value.into());
    assert_eq!((status.as_u16(), found), (expected, Some(&value)), "{answer}");
}

#[tokio::test]
async fn views_show_the_locks_and_what_happened() {
    let server = server(300).await;
    server.claims("one", &["db.ts"]).await;
    assert_answer(server.get("locks").await, 200, "/locks/0/file_path", "db.ts");
    let (status, graph) = server.get("graph").await;
    assert!(status.is_success(), "{graph}");
    assert!(graph["locks"]["db.ts"].is_object(), "{graph}");
    assert_answer(server.get("activity").await, 200, "/events/0/type", "lock_granted");
    let (status, health) = server.ask("GET", "/api/health", Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{health}");
}

#[tokio::test]
async fn a_sweep_announces_what_has_expired() {
    let server = server(1).await;
    server.claims("one", &["db.ts"]).await;
    // time: the lock expires.
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    sweep_due(&*server.store, &coord_extensions::registered())
        .await
        .unwrap();
    let (_, activity) = server.get("activity").await;
    assert_eq!(activity["events"][0]["type"], "lock_expired", "{activity}");
}

#[tokio::test]
async fn a_route_of_an_extension_is_there_only_with_it() {
    let server = server(300).await;
    for (path, is_linked) in [
        ("/api/intents", cfg!(feature = "intents")),
        ("/api/ledger", cfg!(feature = "intents")),
        ("/api/teams", cfg!(feature = "teams")),
        ("/api/tasks", cfg!(feature = "teams")),
    ] {
        let (status, answer) = server.ask("GET", path, Value::Null).await;
        assert_eq!(status != StatusCode::NOT_FOUND, is_linked, "{path}: {answer}");
    }
}
