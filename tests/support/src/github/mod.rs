//! A fake GitHub: the API and the host of downloads, over a real git repository. Its answers are checked against GitHub's
//! published schema (`schema.rs` of the test `github`).

mod answers;
mod credentials;
mod faults;
mod objects;
mod people;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ACCEPT, AUTHORIZATION, IF_NONE_MATCH};
use axum::http::{Request, Response};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use faults::Fault;
pub use people::Person;

/// Owner and name that the fake has.
pub const OWNER: &str = "acme";
pub const NAME: &str = "widgets";
/// The number of the repository, which a moved one is named by.
pub const NUMBER: u64 = 1_000;
pub const INSTALLATION: u64 = 77;
pub const APP: &str = "4242";
/// The app's key pair, made for these tests; it opens nothing.
pub const APP_KEY: &str = include_str!("app.pem");
pub const APP_PUBLIC_KEY: &str = include_str!("app.pub.pem");

/// Visibility of the repository.
#[derive(Clone, Debug, Default)]
pub enum Visibility {
    #[default]
    Public,
    /// The bearer of this token.
    Token(String),
    /// The bearer of the newest token of the app's installation.
    App,
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// At the host of downloads, and not at the API.
    pub is_download: bool,
    pub method: String,
    /// Path and query.
    pub target: String,
    pub authorization: Option<String>,
    pub if_none_match: Option<String>,
    pub body: String,
}

/// How it behaves, changed while it runs.
#[derive(Debug, Default)]
pub struct Behavior {
    pub visibility: Visibility,
    /// Owners of tokens. If there are any, an unknown token is refused, as GitHub does.
    pub people: Vec<Person>,
    /// Visible to all of an enterprise, and to no others.
    pub is_internal: bool,
    pub is_archived: bool,
    /// Recursive trees with more entries than this are cut off there.
    pub most_tree_entries: Option<usize>,
    /// The name that the repository had before.
    pub former_name: Option<String>,
    /// Bytes to send in the place of any archive.
    pub archive: Option<Vec<u8>>,
    /// The location of archives by the API, instead of its download host.
    pub archive_location: Option<String>,
    /// Seconds that an installation's token lives.
    pub token_seconds: Option<i64>,
    /// How many tokens were given out; the newest counts.
    pub tokens: usize,
    faults: faults::Faults,
    seen: Vec<Seen>,
}

impl Behavior {
    /// Takes back all faults.
    pub fn forget_faults(&mut self) {
        self.faults = faults::Faults::default();
    }
}

/// A running fake. It stops when it is dropped.
pub struct Fake {
    shared: Arc<Shared>,
    servers: [JoinHandle<()>; 2],
}

pub struct Shared {
    repo: PathBuf,
    api: String,
    downloads: String,
    behavior: Mutex<Behavior>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        for server in &self.servers {
            server.abort();
        }
    }
}

impl Fake {
    /// Serves the git repository at `repo` as [`OWNER`]/[`NAME`].
    pub async fn serve(repo: &Path) -> Fake {
        let api = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let downloads = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let shared = Arc::new(Shared {
            repo: repo.to_owned(),
            // As an Enterprise Server has it, so that the base has a path.
            api: format!("http://{}/api/v3", api.local_addr().unwrap()),
            downloads: format!("http://{}", downloads.local_addr().unwrap()),
            behavior: Mutex::default(),
        });
        let run = |listener: TcpListener, is_download: bool| {
            let state = (Arc::clone(&shared), is_download);
            let router = Router::new().fallback(answer).with_state(state);
            tokio::spawn(async move {
                let _ = axum::serve(listener, router).await;
            })
        };
        let servers = [run(api, false), run(downloads, true)];
        Fake { shared, servers }
    }

    /// The base of the API.
    pub fn api(&self) -> &str {
        &self.shared.api
    }

    /// The base of the host of downloads.
    pub fn downloads(&self) -> &str {
        &self.shared.downloads
    }

    /// Changes how it behaves.
    pub fn behave(&self, change: impl FnOnce(&mut Behavior)) {
        change(&mut self.shared.behavior.lock().unwrap());
    }

    /// Lets the next `times` requests whose path and query contain `part` fail.
    pub fn fail(&self, part: &str, times: usize, fault: Fault) {
        self.behave(|behavior| behavior.faults.add(part, times, fault));
    }

    /// The requests since the last call.
    pub fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.shared.behavior.lock().unwrap().seen)
    }

    /// Paths and queries of the requests since the last call, from the repository on.
    pub fn asked(&self) -> Vec<String> {
        let prefix = format!("/api/v3/repos/{OWNER}/{NAME}");
        let short = |seen: Seen| seen.target.strip_prefix(&prefix).unwrap_or(&seen.target).to_owned();
        self.seen().into_iter().map(short).collect()
    }
}

async fn answer(State((shared, is_download)): State<(Arc<Shared>, bool)>, request: Request<Body>) -> Response<Body> {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let header = |name| {
        let value = head.headers.get(name)?;
        Some(value.to_str().unwrap_or_default().to_owned())
    };
    let seen = Seen {
        is_download,
        method: head.method.to_string(),
        target: head.uri.to_string(),
        authorization: header(AUTHORIZATION),
        if_none_match: header(IF_NONE_MATCH),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let accept = header(ACCEPT).unwrap_or_default();
    let fault = {
        let mut behavior = shared.behavior.lock().unwrap();
        behavior.seen.push(seen.clone());
        behavior.faults.take(&seen.target)
    };
    if let Some(Fault::Slow(time)) = &fault {
        tokio::time::sleep(*time).await;
    }
    if let Some(Fault::Answer(status, headers, body)) = &fault {
        return faults::answer(*status, headers, body);
    }
    let answering = tokio::task::spawn_blocking(move || {
        if is_download {
            shared.download(&seen)
        } else {
            shared.api(&seen, &accept)
        }
    });
    let response = answering.await.unwrap();
    match fault {
        Some(Fault::Cut) => faults::cut(response, false).await,
        Some(Fault::Stall) => faults::cut(response, true).await,
        _ => response,
    }
}
