//! A server on a port, and people who call it.

pub use crate::answer::{Answer, hide_times};

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use coord_auth::{Authenticator, Credentials, JwtVerifier};
use coord_builds::job::Job;
use coord_builds::leased_build::build_and_publish;
use coord_builds::stored_graph::{Node, StoredGraph};
use coord_domain::{Branch, CommitSha, RepoId, UserId};
use coord_events::EventHub;
use coord_git::GitSource;
use coord_graph::Limits;
use coord_http::Endpoint;
use coord_scan::{ImportKind, KindSet};
use coord_server::app::App;
use coord_sources::{Source, Sources};
use coord_state as state;
use coord_state::builds::{BuildLease, StagedPart, StagedSize, lease_build, publish_graph, stage_graph};
use coord_store::{Request, Store, Value as StoreValue};
use coord_test_support::embedded;
use coord_test_support::git::Repo;
use coord_test_support::waiting::until;
use reqwest::Method;
use serde_json::{Value, json};

use crate::contract;

/// The repository that is served, by the URL of its remote.
pub const REPO_URL: &str = "https://github.com/acme/shop.git";
/// Requests about it, to which more parameters can be added.
pub const GRAPH: &str = "/api/graph?repo_url=https://github.com/acme/shop.git&branch=main";
pub const LOCKS: &str = "/api/locks?repo_url=https://github.com/acme/shop.git";
pub const ACTIVITY: &str = "/api/activity?repo_url=https://github.com/acme/shop.git";

pub const JSON: (&str, &str) = ("content-type", "application/json");

/// A running server over one git repository.
pub struct Api {
    pub address: SocketAddr,
    pub store: Arc<dyn Store>,
    /// The repository on disk.
    pub git: Repo,
    /// The tip of its branch `main`; the commit before is [`Api::first`].
    pub head: String,
    pub first: String,
    /// The URL that requests name it by.
    pub repo_url: &'static str,
    client: reqwest::Client,
    events: Arc<EventHub>,
    /// Where it all is, where this is whose it is.
    _folder: Option<tempfile::TempDir>,
}

impl Api {
    /// A server with nothing in its store.
    pub async fn start() -> Api {
        Self::start_with(|_| {}).await
    }

    /// The same with something else in its state.
    pub async fn start_with(change: impl FnOnce(&mut App)) -> Api {
        let folder = tempfile::tempdir().unwrap();
        let git = Repo::init(folder.path().join("shop"), &[]);
        git.git(&["remote", "add", "origin", REPO_URL]);
        let files = [
            ("src/auth.ts", "import './db';\n"),
            ("src/db.ts", ""),
            ("src/page.ts", "import './auth';\n"),
        ];
        let first = git.commit(&files);
        let head = git.commit(&[("README.md", "A shop\n")]);
        Self::serve(folder, git, first, head, change).await
    }

    /// The same for callers whose token `verifier` accepts.
    pub async fn start_with_verifier(verifier: JwtVerifier) -> Api {
        Self::start_with(|app| app.authenticator = Arc::new(Authenticator::by_jwt(Some(verifier)))).await
    }

    /// A server over `git`, which is in `folder`.
    pub async fn serve(
        folder: tempfile::TempDir,
        git: Repo,
        first: String,
        head: String,
        change: impl FnOnce(&mut App),
    ) -> Api {
        let store = Arc::new(embedded::open(&folder.path().join("store.redb")));
        Self::serve_on(store, folder, git, first, head, change).await
    }

    /// The same over `store`.
    pub async fn serve_on(
        store: Arc<dyn Store>,
        folder: tempfile::TempDir,
        git: Repo,
        first: String,
        head: String,
        change: impl FnOnce(&mut App),
    ) -> Api {
        let mut state = state(Arc::clone(&store), &[git.path().to_owned()]);
        change(&mut state);
        let store = Arc::clone(&state.store);
        let edge = state.edge.clone();
        let events = Arc::clone(&state.events);
        let routes =
            coord_http::routes(state, coord_extensions::endpoints()).layer(axum::Extension(coord_tools::protocol()));
        let address = listen(coord_http::wrap_router(edge, coord_extensions::endpoints(), routes)).await;
        Api {
            address,
            store,
            git,
            head,
            first,
            repo_url: REPO_URL,
            client: client(),
            events,
            _folder: Some(folder),
        }
    }

    /// The same repository, served at another address over another store.
    pub fn elsewhere(&self, address: SocketAddr, store: Arc<dyn Store>) -> Api {
        Api {
            address,
            events: EventHub::new(Arc::clone(&store)),
            store,
            git: Repo::at(self.git.path()),
            head: self.head.clone(),
            first: self.first.clone(),
            repo_url: self.repo_url,
            client: client(),
            _folder: None,
        }
    }

    /// The function behind `endpoint` over the same store, with these settings.
    pub async fn function(&self, endpoint: Endpoint, environment: &[(&str, &str)]) -> Api {
        let get = |wanted: &str| {
            let variable = environment.iter().find(|(name, _)| *name == wanted);
            variable.map(|(_, value)| (*value).to_owned())
        };
        let address = listen(coord_extensions::function_router(endpoint, &get)).await;
        self.elsewhere(address, Arc::clone(&self.store))
    }

    /// Waits until a request waits for events.
    pub async fn until_a_request_waits(&self) {
        until("a request waits", async || self.events.is_watched()).await;
    }

    /// POSTs `body` as `user`.
    pub async fn post(&self, user: &str, path: &str, body: &Value) -> Answer {
        self.post_with(&[("x-coord-user", user)], path, body).await
    }

    /// POSTs `body` with `headers`.
    pub async fn post_with(&self, headers: &[(&'static str, &str)], path: &str, body: &Value) -> Answer {
        let headers = [&[JSON], headers].concat();
        self.request(Method::POST, path, &headers, body.to_string()).await
    }

    /// GETs `path` with `headers`.
    pub async fn get(&self, path: &str, headers: &[(&'static str, &str)]) -> Answer {
        self.request(Method::GET, path, headers, "").await
    }

    /// The body of a GET without headers.
    pub async fn get_json(&self, path: &str) -> Value {
        self.get(path, &[]).await.json()
    }

    /// Any request.
    pub async fn request(
        &self,
        method: Method,
        path: &str,
        headers: &[(&'static str, &str)],
        body: impl Into<reqwest::Body>,
    ) -> Answer {
        let url = format!("http://{}{path}", self.address);
        let request = self.client.request(method, url).body(body);
        let add = |request: reqwest::RequestBuilder, (name, value): &(&str, &str)| request.header(*name, *value);
        send(headers.iter().fold(request, add)).await
    }

    /// The body of a `check_status` about `paths` from an up-to-date working copy, with `more` put over it.
    pub fn check_body(&self, paths: &[&str], more: Value) -> Value {
        let body = json!({ "repo_url": self.repo_url, "branch": "main", "file_paths": paths, "agent_head": self.head });
        over(body, more)
    }

    /// The body of a `post_status` of the kind.
    pub fn post_body(&self, status: &str, paths: &[&str], more: Value) -> Value {
        let message = "Moving sessions from cookies to tokens";
        over(
            self.check_body(paths, json!({ "status": status, "message": message })),
            more,
        )
    }

    pub async fn check(&self, user: &str, paths: &[&str], more: Value) -> Answer {
        self.post(user, "/api/check_status", &self.check_body(paths, more))
            .await
    }

    /// READING, WRITING or OPEN.
    pub async fn post_status(&self, user: &str, status: &str, paths: &[&str], more: Value) -> Answer {
        self.post(user, "/api/post_status", &self.post_body(status, paths, more))
            .await
    }

    /// The body of the same, which must be granted.
    pub async fn granted(&self, user: &str, status: &str, paths: &[&str], more: Value) -> Value {
        self.post_status(user, status, paths, more).await.expect("200")
    }

    /// Claims; it must be granted.
    pub async fn claim(&self, user: &str, status: &str, paths: &[&str]) {
        self.granted(user, status, paths, json!({})).await;
    }

    /// OPEN without work to push.
    pub async fn abandon(&self, user: &str, paths: &[&str]) -> Answer {
        self.post_status(user, "OPEN", paths, json!({ "abandon": true })).await
    }

    /// Lets every lock on `path` have expired long ago.
    pub async fn expire_locks(&self, path: &str) {
        let mut entries = self.stored(path).await;
        assert!(!entries.is_empty(), "{path} is not locked");
        for entry in &mut entries {
            entry["expiry"] = 1_000_000_000.into();
            entry["expiry_ms"] = 1_000_000_000_000_i64.into();
        }
        let (locks, expiries) = (
            state::locks::keys::locks(&self.repo()),
            state::locks::keys::expiries(&self.repo()),
        );
        self.command(["HSET", &locks, path, &Value::from(entries).to_string()])
            .await;
        self.command(["ZADD", &expiries, "1000000000", path]).await;
    }

    /// The locks on `path` as they are stored.
    pub async fn stored(&self, path: &str) -> Vec<Value> {
        let key = state::locks::keys::locks(&self.repo());
        match self.command(["HGET", &key, path]).await {
            Some(StoreValue::Bulk(text)) => serde_json::from_slice(&text).unwrap(),
            _ => Vec::new(),
        }
    }

    pub fn repo(&self) -> RepoId {
        RepoId::parse(self.repo_url).unwrap()
    }

    pub async fn command<const N: usize>(&self, words: [&str; N]) -> Option<StoreValue> {
        self.store
            .run(vec![Request::command(words)])
            .await
            .unwrap()
            .into_iter()
            .next()
    }

    /// How many files are locked.
    pub async fn held(&self) -> i64 {
        self.command(["HLEN", &state::locks::keys::locks(&self.repo())])
            .await
            .and_then(|count| count.as_int())
            .unwrap()
    }

    /// Builds the graph of what is on the branch.
    pub async fn build_graph(&self) {
        let (repo, branch) = (self.repo(), main_branch());
        let source = GitSource::open(&[self.git.path().to_owned()]).unwrap();
        let commit = source.head(&repo, &branch).await.unwrap();
        let job = Job {
            repo: &repo,
            branch: &branch,
            commit: &commit,
            builder: "test",
            limits: Limits::default(),
        };
        let lease = build_and_publish(Arc::clone(&self.store), &source, job, &mut None, None).await;
        assert_eq!(lease.unwrap(), BuildLease::Granted);
    }

    /// Publishes the graph of `commit`: `page.ts` imports `auth.ts` imports `db.ts`.
    pub async fn publish_graph(&self, commit: &str) {
        let (repo, branch, store) = (self.repo(), main_branch(), &*self.store);
        let commit = CommitSha::parse(commit).unwrap();
        let (adjacency, json) = (
            state::builds::keys::graph_adjacency(&repo, &branch),
            state::builds::keys::graph_json(&repo, &branch),
        );
        let graph = StoredGraph {
            version: commit.to_string(),
            nodes: ["src/auth.ts", "src/db.ts", "src/page.ts"]
                .map(|id| Node {
                    id: id.to_owned(),
                    language: Some("typescript".to_owned()),
                    size: Some(15),
                    state: None,
                })
                .to_vec(),
            edges: vec![(0, 1), (2, 0)],
            kinds: vec![
                KindSet::of(ImportKind::Import)
                    .union(KindSet::of(ImportKind::Type))
                    .bits(),
                KindSet::of(ImportKind::Dynamic).bits(),
            ],
            bounds: Vec::new(),
        };
        let lines = [
            ("src/auth.ts", "2\n>src/db.ts\n<src/page.ts\n"),
            ("src/db.ts", "1\n<src/auth.ts\n"),
            ("src/page.ts", "1\n>src/auth.ts\n"),
        ];
        let fields = lines
            .iter()
            .flat_map(|(path, text)| [path.as_bytes().to_vec(), text.as_bytes().to_vec()]);
        let (pairs, bytes) = (fields.collect(), graph.encode().unwrap());
        let sizes = [StagedSize::Fields(lines.len()), StagedSize::Bytes(bytes.len())];
        lease_build(store, &repo, &branch, "test", &commit).await.unwrap();
        for (key, part) in [
            (&adjacency, StagedPart::Begin),
            (&adjacency, StagedPart::Hash { before: 0, pairs }),
            (&json, StagedPart::Begin),
            (&json, StagedPart::Text { offset: 0, bytes }),
        ] {
            stage_graph(store, &repo, &branch, "test", key, part).await.unwrap();
        }
        let [adjacency_fields, json_bytes] = sizes;
        let parts = [(adjacency, adjacency_fields), (json, json_bytes)];
        publish_graph(store, &repo, &branch, "test", &commit, &parts, &[])
            .await
            .unwrap();
    }
}

/// `value` with the fields of `more` put over it; `null` takes a field away.
fn over(mut value: Value, more: Value) -> Value {
    let fields = value.as_object_mut().unwrap();
    for (name, value) in more.as_object().unwrap() {
        match value {
            Value::Null => fields.remove(name),
            value => fields.insert(name.clone(), value.clone()),
        };
    }
    value
}

/// A state over `store` and the repositories at `paths`, for callers on this machine.
pub fn state(store: Arc<dyn Store>, paths: &[PathBuf]) -> App {
    let authenticator = Authenticator::Local {
        user: UserId::parse("root").unwrap(),
        credentials: Credentials::default(),
    };
    let git: Arc<dyn Source> = Arc::new(GitSource::open(paths).unwrap());
    App {
        source: Some(Arc::new(Sources::of([git]))),
        ..App::new(&coord_extensions::default_settings(), store, authenticator)
    }
}

/// Serves `router` on a free port.
pub async fn listen(router: axum::Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(coord_serve::listen::serve(listener, router, std::future::pending()));
    address
}

fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(60))
        .build()
        .unwrap()
}

/// Sends, and holds what comes back against the OpenAPI document.
async fn send(request: reqwest::RequestBuilder) -> Answer {
    let (client, request) = request.build_split();
    let request = request.unwrap();
    let (method, path) = (request.method().clone(), request.url().path().to_owned());
    let mut response = client.execute(request).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let is_stream = path == "/api/events" && status == 200;
    let bytes = if is_stream {
        // A stream never ends; its first message comes at once.
        response.chunk().await.unwrap().unwrap_or_default()
    } else {
        response.bytes().await.unwrap()
    };
    let answer = Answer {
        status,
        headers,
        bytes: bytes.to_vec(),
    };
    contract::assert_documented(&method, &path, &answer);
    answer
}

pub fn repo() -> RepoId {
    RepoId::parse(REPO_URL).unwrap()
}

pub fn main_branch() -> Branch {
    Branch::parse("main").unwrap()
}
