//! Functions that build import graphs of repositories on GitHub when they have answered. Each instance is a function's router
//! with all settings from an environment; the store is behind Upstash's protocol.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use coord_extensions::function_router;
use coord_http::Endpoint;
use coord_http::endpoint::{CHECK_STATUS, GRAPH, POST_STATUS};
use coord_runtime::after_response::{AfterResponse, TIME_LIMIT};
use futures::future::{BoxFuture, join_all};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tower::util::BoxCloneSyncService;
use tower::{ServiceBuilder, ServiceExt, service_fn};

use crate::cloud::{JWT_SECRET, URL, jwt, listen};
use crate::serving::question;
use coord_test_support::embedded;
use coord_test_support::git::Repo;
use coord_test_support::github::{Fake, Fault};
use coord_test_support::waiting::until;

type Work = BoxFuture<'static, ()>;
type Runtime = mpsc::UnboundedSender<Work>;

/// A deployment: a store and a GitHub that all instances share.
pub struct Deployment {
    pub repo: Repo,
    fake: Fake,
    store: SocketAddr,
    store_requests: Arc<AtomicUsize>,
    _folder: tempfile::TempDir,
}

impl Deployment {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repo = Repo::init(folder.path().join("repo"), &[]);
        repo.commit(&[("a.ts", "import './b';\n"), ("b.ts", ""), ("c.ts", "")]);
        let fake = Fake::serve(repo.path()).await;
        let store = Arc::new(embedded::open(&folder.path().join("store.redb")));
        let store_requests = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&store_requests);
        let counting = from_fn(move |request: Request, next: Next| {
            count.fetch_add(1, Ordering::Relaxed);
            next.run(request)
        });
        let router = coord_test_support::upstash::router(store);
        Deployment {
            store: listen(router.layer(counting)).await,
            repo,
            fake,
            store_requests,
            _folder: folder,
        }
    }

    /// How often the store was asked since this was last asked.
    fn store_requests(&self) -> usize {
        self.store_requests.swap(0, Ordering::Relaxed)
    }

    /// The requests to GitHub, since the last call, whose path begins so.
    fn count_requests(&self, beginning: &str) -> usize {
        let requests = self.fake.requested_paths();
        requests.iter().filter(|path| path.starts_with(beginning)).count()
    }

    pub fn instance(&self, endpoint: Endpoint) -> Instance {
        self.instance_within(endpoint, TIME_LIMIT)
    }

    fn instance_within(&self, endpoint: Endpoint, time_limit: Duration) -> Instance {
        let store = format!("http://{}", self.store);
        let router = function_router(endpoint, &|name| {
            let value = match name {
                "UPSTASH_REDIS_REST_URL" => store.as_str(),
                "UPSTASH_REDIS_REST_TOKEN" => "token",
                "GITHUB_API_URL" => self.fake.api(),
                "COORD_JWT_SECRET" => JWT_SECRET,
                // So that a head that has moved is met soon.
                "COORD_HEAD_TTL_SECONDS" => "1",
                _ => return None,
            };
            Some(value.to_owned())
        });
        let (runtime, handed) = mpsc::unbounded_channel();
        let wait_until = |runtime: &Runtime, work: Work| runtime.send(work).unwrap();
        // As Vercel's layer, which passes on what it is given, without what came beside it.
        let inner = service_fn(move |(_, request): (Runtime, Request)| router.clone().oneshot(request));
        let layers = ServiceBuilder::new().layer(AfterResponse::new(wait_until).within(time_limit));
        Instance {
            service: BoxCloneSyncService::new(layers.service(inner)),
            runtime,
            handed,
        }
    }
}

/// A process of a function.
pub struct Instance {
    service: BoxCloneSyncService<(Runtime, Request), Response, Infallible>,
    runtime: Runtime,
    handed: mpsc::UnboundedReceiver<Work>,
}

impl Instance {
    pub async fn send(&self, request: axum::http::request::Builder, body: Body) -> (u16, Value) {
        let request = request.header("authorization", format!("Bearer {}", jwt("ann")));
        let request = request.header("content-type", "application/json").body(body).unwrap();
        let answer = self.service.clone().oneshot((self.runtime.clone(), request));
        let (head, body) = answer.await.unwrap().into_parts();
        let body = to_bytes(body, usize::MAX).await.unwrap();
        (head.status.as_u16(), serde_json::from_slice(&body).unwrap())
    }

    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.send(Request::post(path), body.to_string().into()).await
    }

    pub async fn graph(&self) -> (u16, Value) {
        let uri = format!("/api/graph?repo_url={URL}&branch=main&format=compact");
        self.send(Request::get(uri), Body::empty()).await
    }

    async fn check(&self, head: &str) -> Value {
        let (status, body) = self.post("/api/check_status", &question(head)).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Waits until the branch is seen to be at `head`.
    async fn meet(&self, head: &str) {
        until("the branch moves", async || self.check(head).await["repo_head"] == head).await;
    }

    /// Returns the work that was handed to the runtime.
    fn work(&mut self) -> Vec<Work> {
        std::iter::from_fn(|| self.handed.try_recv().ok()).collect()
    }

    /// Does what was handed to the runtime, which must be one thing.
    pub async fn run(&mut self) {
        let work = self.work();
        assert_eq!(work.len(), 1);
        join_all(work).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_graph_is_built_after_the_first_answer_and_follows_its_branch() {
    let deployment = Deployment::new().await;
    let mut graph = deployment.instance(GRAPH);
    let (status, first) = graph.graph().await;
    assert_eq!((status, &first["state"]), (202, &json!("building")), "{first}");
    assert_eq!(deployment.fake.requested_paths().len(), 2, "the head and its commits");
    graph.run().await;
    let (status, built) = graph.graph().await;
    assert_eq!((status, &built["state"]), (200, &json!("ready")), "{built}");
    assert_eq!(built["edges"], json!([[0, 1]]));
    assert!(graph.work().is_empty(), "it is known to be there");

    let head = deployment.repo.commit(&[("b.ts", "import './c';\n")]);
    let mut check = deployment.instance(CHECK_STATUS);
    check.meet(&head).await;
    deployment.fake.seen();
    assert_eq!(graph.graph().await.1["state"], "stale");
    graph.run().await;
    // This instance patches its last build: the tree, and the file that has changed.
    assert_eq!(deployment.count_requests("/git/"), 2);
    let (_, followed) = graph.graph().await;
    assert_eq!(
        (&followed["state"], &followed["version"]),
        (&json!("ready"), &json!(head))
    );
    assert_eq!(followed["edges"], json!([[0, 1], [1, 2]]));
    // A function of another process knows from the store that a file is tracked in other case.
    let mut request_body = question(&head);
    request_body["file_paths"] = json!(["B.ts", "a.ts", "d.ts"]);
    let other = deployment.instance(CHECK_STATUS);
    let (_, body) = other.post("/api/check_status", &request_body).await;
    let expected = "CASE_DIFFERS: 'B.ts' is not tracked, and 'b.ts' is; check which file you mean.";
    assert_eq!(body["warnings"], json!([expected]));
    // The other instance, which saw the head before, asks the store alone.
    for work in check.work() {
        work.await;
    }
    assert_eq!(deployment.count_requests("/git/"), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_head_that_is_met_again_costs_nothing_beside_its_answer() {
    let deployment = Deployment::new().await;
    let head = deployment.repo.git(&["rev-parse", "HEAD"]);
    let mut check = deployment.instance(CHECK_STATUS);
    check.check(&head).await;
    // While the work is waiting, being done, and done.
    join_all((0..20).map(|_| check.check(&head))).await;
    check.run().await;
    deployment.store_requests();
    for _ in 0..50 {
        check.check(&head).await;
    }
    // Once a second the head is looked at again.
    let refreshed = deployment.count_requests("/commits");
    let stored = deployment.store_requests();
    assert!(stored <= 50 + 3 * refreshed, "{stored} for 50 and {refreshed}");
    assert!(check.work().is_empty());

    // A process that knows nothing asks the store once, and GitHub for nothing.
    let mut other = deployment.instance(POST_STATUS);
    let mut claim = question(&head);
    claim["status"] = json!("READING");
    claim["message"] = json!("Looking at what it exports");
    let (status, body) = other.post("/api/post_status", &claim).await;
    assert_eq!(status, 200, "{body}");
    deployment.fake.seen();
    deployment.store_requests();
    other.run().await;
    let requests = (deployment.store_requests(), deployment.fake.requested_paths().len());
    assert_eq!(requests, (1, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_build_once_and_the_builder_follows_a_moved_branch() {
    let deployment = Deployment::new().await;
    let (mut one, mut two) = (deployment.instance(GRAPH), deployment.instance(CHECK_STATUS));
    let head = deployment.repo.git(&["rev-parse", "HEAD"]);
    one.graph().await;
    two.check(&head).await;
    deployment.fake.seen();
    let (first, second) = (one.work(), two.work());
    join_all(first.into_iter().chain(second)).await;
    assert_eq!(deployment.count_requests("/git/trees"), 1);
    assert_eq!(one.graph().await.1["state"], "ready");

    // One builds slowly; meanwhile the branch moves, and the other learns that a build is running.
    let slow = deployment.repo.commit(&[("c.ts", "import './a';\n")]);
    two.meet(&slow).await;
    one.graph().await;
    deployment
        .fake
        .fail("/git/trees", 1, Fault::Slow(Duration::from_secs(4)));
    let building = tokio::spawn(join_all(one.work()));
    deployment.fake.until_requested("/git/trees").await;
    let newest = deployment.repo.commit(&[("c.ts", "import './b';\n")]);
    two.meet(&newest).await;
    deployment.fake.seen();
    join_all(two.work()).await;
    assert_eq!(deployment.count_requests("/git/trees"), 0);
    assert!(!building.is_finished());
    building.await.unwrap();
    let (_, graph) = one.graph().await;
    assert_eq!((&graph["state"], &graph["version"]), (&json!("ready"), &json!(newest)));
    assert_eq!(graph["edges"], json!([[0, 1], [2, 1]]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_build_is_ended_in_time_and_backs_off() {
    let deployment = Deployment::new().await;
    let limit = Duration::from_secs(3);
    let mut hasty = deployment.instance_within(GRAPH, limit);
    deployment
        .fake
        .fail("/git/trees", 1, Fault::Slow(Duration::from_secs(60)));
    let began = Instant::now();
    assert_eq!(hasty.graph().await.0, 202);
    hasty.run().await;
    let took = began.elapsed();
    assert!(took >= limit && took < 2 * limit, "{took:?}");
    let (status, failed) = hasty.graph().await;
    let why = json!("it exceeded the time limit of a build");
    assert_eq!((status, &failed["failure"]), (202, &why));
    assert!(hasty.work().is_empty(), "asked a moment ago");
    deployment.fake.seen();
    let mut other = deployment.instance(GRAPH);
    other.graph().await;
    other.run().await;
    assert_eq!(deployment.count_requests("/git/"), 0);

    // The next commit has not failed.
    let head = deployment.repo.commit(&[("c.ts", "import './a';\n")]);
    deployment.instance(CHECK_STATUS).meet(&head).await;
    other.graph().await;
    other.run().await;
    let (status, built) = other.graph().await;
    assert_eq!((status, &built["version"]), (200, &json!(head)));
    assert!(built.get("failure").is_none(), "{built}");
}
