//! A fake GitHub: the API and the host of downloads, over a real git repository. Its answers are checked against GitHub's
//! published schema (`schema.rs` of the test `github`).

mod answers;
mod credentials;
mod faults;
mod objects;
mod people;
mod state;

use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ACCEPT, AUTHORIZATION, IF_NONE_MATCH};
use axum::http::{Request, Response};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use faults::Fault;
pub use state::{
    APP, APP_KEY, APP_PUBLIC_KEY, Behavior, INSTALLATION, NAME, NUMBER, OWNER, Person, ReceivedRequest, Visibility,
};

use crate::waiting::until;
use state::Shared;

/// A running fake. It stops when it is dropped.
pub struct Fake {
    shared: Arc<Shared>,
    servers: [JoinHandle<()>; 2],
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
    pub fn seen(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.shared.behavior.lock().unwrap().seen)
    }

    /// The number of downloads since the last call of this or of [`Fake::seen`].
    pub fn download_count(&self) -> usize {
        self.seen().iter().filter(|seen| seen.is_download).count()
    }

    /// Waits until a request for a target with this text has arrived since the last look.
    pub async fn until_requested(&self, target: &str) {
        until("GitHub is asked", async || {
            let behavior = self.shared.behavior.lock().unwrap();
            behavior.seen.iter().any(|seen| seen.target.contains(target))
        })
        .await;
    }

    /// Paths and queries of the requests since the last call, from the repository on.
    pub fn requested_paths(&self) -> Vec<String> {
        let prefix = format!("/api/v3/repos/{OWNER}/{NAME}");
        let short = |seen: ReceivedRequest| seen.target.strip_prefix(&prefix).unwrap_or(&seen.target).to_owned();
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
    let seen = ReceivedRequest {
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
        // time: a GitHub that takes its time.
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
