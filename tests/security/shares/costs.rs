//! One login that reads as much as it can: its requests cost what they take, and others are answered between them.

use std::path::PathBuf;
use std::sync::Arc;

use coord_auth::{Authenticator, Credentials};
use coord_domain::UserId;
use coord_git::GitSource;
use coord_server::app::App;
use coord_settings::{Rate, Rates};
use coord_sources::{Source, Sources};
use coord_test_support::embedded;
use coord_test_support::git::Repo;
use serde_json::{Value, json};

const REPO_URL: &str = "https://github.com/acme/shop.git";
/// The number of requests that an agent may make at once; during a test, hardly any budget is refilled.
const BURST: u32 = 100;

struct Server {
    address: String,
    head: String,
    client: reqwest::Client,
    _folder: tempfile::TempDir,
}

impl Server {
    async fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        let git = Repo::init(folder.path().join("shop"), &[]);
        git.git(&["remote", "add", "origin", REPO_URL]);
        let head = git.commit(&[("src/auth.ts", "")]);
        let store = Arc::new(embedded::open(&folder.path().join("store.redb")));
        let authenticator = Authenticator::Local {
            user: UserId::parse("root").unwrap(),
            credentials: Credentials::default(),
        };
        let paths: [PathBuf; 1] = [git.path().to_owned()];
        let source: Arc<dyn Source> = Arc::new(GitSource::open(&paths).unwrap());
        let app = App {
            source: Some(Arc::new(Sources::of([source]))),
            rates: Rates {
                holder: Rate {
                    interval_ms: 60_000,
                    burst: BURST,
                },
                ..Rates::NONE
            },
            ..App::new(&coord_extensions::default_settings(), store, authenticator)
        };
        let edge = app.edge.clone();
        let routes = coord_http::wrap_router(
            edge,
            coord_extensions::endpoints(),
            coord_http::routes(app, coord_extensions::endpoints()),
        );
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(coord_serve::listen::serve(listener, routes, std::future::pending()));
        Server {
            address,
            head,
            client: reqwest::Client::builder().no_proxy().build().unwrap(),
            _folder: folder,
        }
    }

    async fn posts(&self, user: &str, path: &str, body: Value) -> Value {
        let request = self.client.post(format!("{}{path}", self.address));
        let request = request
            .header("x-coord-user", user)
            .header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await.unwrap();
        let status = response.status();
        let text = response.text().await.unwrap();
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Lists what no task is like. Returns the status, `Retry-After`, and the body.
    async fn filters(&self, user: &str) -> (u16, Option<String>, Value) {
        let path = format!("{}/api/tasks?repo_url={REPO_URL}&team=all&text=nothing", self.address);
        let response = self.client.get(path).header("x-coord-user", user).send().await.unwrap();
        let retry_after = response.headers().get("retry-after");
        let retry_after = retry_after.map(|value| value.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        (
            status,
            retry_after,
            serde_json::from_str(&response.text().await.unwrap()).unwrap(),
        )
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forty_connections_of_filtered_lists_are_paid_by_what_they_look_at_and_leave_others_alone() {
    let server = Server::start().await;
    let body = |more: Value| {
        let mut body = json!({ "repo_url": REPO_URL, "agent_id": "lead", "team": "all" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    server.posts("lead", "/api/teams", body(json!({ "name": "all" }))).await;
    // 2,000 tasks: four parts of a list.
    let tasks: Vec<Value> = (0..200)
        .map(|number| json!({ "title": format!("Task {number}") }))
        .collect();
    for _ in 0..10 {
        server
            .posts("lead", "/api/tasks", body(json!({ "tasks": tasks })))
            .await;
    }
    let lists = futures::future::join_all((0..40).map(|_| server.filters("eve")));
    let checks = async {
        for _ in 0..20 {
            let check = json!({
                "repo_url": REPO_URL, "branch": "main", "file_paths": ["src/auth.ts"], "agent_head": server.head,
            });
            let answer = server.posts("ann", "/api/check_status", check).await;
            assert_eq!(answer["orchestration"]["action"], "PROCEED", "{answer}");
        }
    };
    let (lists, ()) = futures::future::join(lists, checks).await;
    // Each list ends where the next part could not be paid, and says where to go on: part by part, all of them together had what
    // one agent may request at once.
    let parts: u64 = lists
        .iter()
        .filter(|(status, ..)| *status == 200)
        .map(|(_, _, body)| body["next"].as_u64().map_or(5, |next| next / 500))
        .sum();
    let burst = u64::from(BURST);
    assert!(
        (burst..=burst + 2).contains(&parts),
        "{parts} parts for {burst} requests"
    );
    for (status, _, body) in &lists {
        assert!(matches!(status, 200 | 429), "{status}: {body}");
    }
    let (status, retry_after, body) = server.filters("eve").await;
    assert_eq!(status, 429, "{body}");
    assert!(retry_after.is_some_and(|seconds| seconds.parse::<u64>().is_ok()));
    let message = body["message"].as_str().unwrap();
    assert!(message.contains("one request for each 500 tasks"), "{message}");
    let path = format!("{}/api/teams/all?repo_url={REPO_URL}", server.address);
    let response = server
        .client
        .get(path)
        .header("x-coord-user", "eve")
        .send()
        .await
        .unwrap();
    let body = response.text().await.unwrap();
    assert!(
        body.contains("a team counts as one request for each 100 members"),
        "{body}"
    );
    // Another login pays for itself alone.
    let (status, ..) = server.filters("ben").await;
    assert_eq!(status, 200);
}
