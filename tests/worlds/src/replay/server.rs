//! A server in this process: the router of the HTTP endpoints, over the embedded store in memory, by the simulated clock.

use coord_test_support::embedded;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, header};
use coord_auth::{Authenticator, Credentials};
use coord_builds::job::{Job, LastBuild};
use coord_builds::leased_build::build_and_publish;
use coord_domain::{Branch, CommitSha, RepoId, UserId};
use coord_graph::{ImportGraph, Limits};
use coord_server::app::App;
use coord_settings::policy::{FileKind, Policy, PolicyText};
use coord_state::builds::{BuildLease, stored_policy};
use coord_store::Store;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::branch::{BRANCH, ReplayedBranch};
use super::clock::Clock;

/// Largest body of a response.
const MAX_BYTES: usize = 16 << 20;

/// A server with a repository.
pub struct Server {
    router: Router,
    store: Arc<dyn Store>,
    source: Arc<ReplayedBranch>,
    repo: RepoId,
    branch: Branch,
    built: RefCell<Option<LastBuild>>,
    /// Requests that were answered, and the real time that they took.
    pub requests: Cell<u32>,
    pub busy: Cell<Duration>,
}

impl Server {
    /// A server for the repository of `source`, without a graph.
    pub fn start(repo: &RepoId, source: Arc<ReplayedBranch>, clock: &Clock) -> Result<Server> {
        let store: Arc<dyn Store> = Arc::new(embedded::in_memory_by(clock.for_store()));
        let local = Authenticator::Local {
            user: UserId::parse("local")?,
            credentials: Credentials::default(),
        };
        let app = App {
            source: Some(Arc::clone(&source) as Arc<_>),
            ..App::new(&coord_extensions::default_settings(), Arc::clone(&store), local)
        };
        Ok(Server {
            router: coord_http::router(
                app,
                &[coord_http::endpoint::CHECK_STATUS, coord_http::endpoint::POST_STATUS],
            ),
            store,
            source,
            repo: repo.clone(),
            branch: Branch::parse(BRANCH)?,
            built: RefCell::default(),
            requests: Cell::default(),
            busy: Cell::default(),
        })
    }

    /// Builds the graph at the head, as a server does after a push, and returns it without files that have no neighbors.
    pub async fn build(&self) -> Result<Arc<ImportGraph>> {
        let commit = self.source.tip();
        let job = Job {
            repo: &self.repo,
            branch: &self.branch,
            commit: &commit,
            builder: "replay",
            limits: Limits::default(),
        };
        let mut built = self.built.take();
        let lease = build_and_publish(Arc::clone(&self.store), &*self.source, job, &mut built, None).await?;
        if lease != BuildLease::Granted {
            bail!("the graph at {commit} was not built: {lease:?}");
        }
        let graph = built.as_ref().map(|built| Arc::clone(&built.neighbors));
        self.built.replace(built);
        graph.context("a granted build has a graph")
    }

    /// The rules that count, once a graph is built.
    pub async fn policy(&self) -> Result<SharedFiles> {
        let (_, text) = stored_policy(&*self.store, &self.repo, &self.branch).await?;
        Ok(SharedFiles(Policy::of(PolicyText::from_stored(&text))))
    }

    /// Sends `fields` to an endpoint, for an agent whose working copy is at `head`.
    pub async fn ask(&self, endpoint: &str, agent: &str, head: &CommitSha, fields: Value) -> Result<Value> {
        let mut body = json!({
            "repo_url": self.repo.to_string(), "branch": BRANCH, "agent_id": agent, "agent_head": head.as_str(),
        });
        if let (Some(body), Value::Object(fields)) = (body.as_object_mut(), fields) {
            body.extend(fields);
        }
        let request = Request::post(format!("/api/{endpoint}"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-coord-user", agent)
            .body(Body::from(body.to_string()))?;
        let begin = Instant::now();
        let response = self.router.clone().oneshot(request).await?;
        let status = response.status();
        let answer = http_body_util::Limited::new(response.into_body(), MAX_BYTES)
            .collect()
            .await;
        self.busy.set(self.busy.get() + begin.elapsed());
        self.requests.set(self.requests.get() + 1);
        let bytes = answer.map_err(|error| anyhow::anyhow!("{error}"))?.to_bytes();
        let answer: Value = serde_json::from_slice(&bytes)?;
        if answer["orchestration"]["action"].is_null() {
            bail!("{endpoint} answered {status}: {answer}");
        }
        Ok(answer)
    }
}

/// The files that several may write at once.
pub struct SharedFiles(Policy);

impl SharedFiles {
    pub fn contain(&self, path: &str) -> bool {
        self.0.judge().kind(path) == FileKind::Shared
    }
}
