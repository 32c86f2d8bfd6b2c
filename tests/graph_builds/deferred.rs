//! Builds after answers, where one process meets several branches.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use coord_builds::deferred::DeferredBuilds;
use coord_builds::head_observer::HeadObserver;
use coord_domain::Branch;
use coord_graph::Limits;
use coord_runtime::after_response::AfterResponse;
use coord_sources::Source;
use coord_state as state;
use coord_store::Request;
use coord_test_support::waiting::until;
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tower::{Layer, ServiceExt, service_fn};

use crate::world::{World, files};

type Work = BoxFuture<'static, ()>;

fn branch(name: &str) -> Branch {
    Branch::parse(name).unwrap()
}

/// Returns the work that such a request defers.
async fn deferred(
    builds: &Arc<DeferredBuilds>,
    time_limit: Duration,
    request: impl Fn(&DeferredBuilds) + Clone + Send + 'static,
) -> Vec<Work> {
    let (runtime, mut handed) = mpsc::unbounded_channel();
    let wait_until = |runtime: &mpsc::UnboundedSender<Work>, work: Work| runtime.send(work).unwrap();
    let builds = Arc::clone(builds);
    let inner = service_fn(move |_: (mpsc::UnboundedSender<Work>, ())| {
        let (builds, request) = (Arc::clone(&builds), request.clone());
        async move {
            request(&builds);
            Ok::<_, Infallible>(())
        }
    });
    let layer = AfterResponse::new(wait_until).within(time_limit);
    layer.layer(inner).oneshot((runtime, ())).await.unwrap();
    std::iter::from_fn(|| handed.try_recv().ok()).collect()
}

struct Function {
    world: World,
    builds: Arc<DeferredBuilds>,
}

impl Function {
    fn new() -> Self {
        let world = World::new(files(&[("a.ts", "import './b'"), ("b.ts", "")]));
        let source = Arc::clone(&world.source) as Arc<dyn Source>;
        let builds = DeferredBuilds::new(Arc::clone(&world.store), source, Limits::default());
        Function {
            world,
            builds: Arc::new(builds),
        }
    }

    async fn sees(&self, name: &str, time_limit: Duration) -> Vec<Work> {
        let (repo, branch, head) = (self.world.repo.clone(), branch(name), self.world.source.commit());
        let request = move |builds: &DeferredBuilds| builds.saw_head(&repo, &branch, &head);
        deferred(&self.builds, time_limit, request).await
    }

    async fn field(&self, name: &str, field: &str) -> Option<String> {
        let key = state::builds::keys::graph(&self.world.repo, &branch(name));
        let question = Request::command(["HGET", &key, field]);
        let replies = self.world.store.run(vec![question]).await.unwrap();
        replies.first().and_then(|value| value.as_str()).map(str::to_owned)
    }

    async fn is_built(&self, name: &str) -> bool {
        self.field(name, "version").await == Some(self.world.source.commit().to_string())
    }
}

const LONG: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread")]
async fn one_branch_is_built_at_a_time_and_the_others_wait() {
    let function = Function::new();
    function.world.source.close_after(0);
    let mut work = function.sees("one", LONG).await;
    work.extend(function.sees("two", LONG).await);
    assert!(function.sees("two", LONG).await.is_empty(), "it is under way");
    let first = tokio::spawn(work.remove(0));
    until("the first has its lease", async || {
        function.field("one", "builder").await.is_some()
    })
    .await;
    let second = tokio::spawn(work.remove(0));
    // One that comes too late to be done in time is not begun, and has not failed.
    let late = function.sees("three", Duration::from_millis(400)).await;
    futures::future::join_all(late).await;
    assert_eq!(function.field("two", "builder").await, None);
    assert_eq!(function.field("three", "failure").await, None);
    function.world.source.open();
    first.await.unwrap();
    second.await.unwrap();
    assert!(function.is_built("one").await && function.is_built("two").await);
    assert!(!function.is_built("three").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn so_many_may_wait_and_no_more() {
    let function = Function::new();
    let mut work = Vec::new();
    for number in 0..40 {
        work.extend(function.sees(&format!("b{number}"), LONG).await);
    }
    assert_eq!(work.len(), 8);
    futures::future::join_all(work).await;
    assert!(function.is_built("b7").await && !function.is_built("b8").await);
    // A build that had no turn gets one at the next request for it, and a build that never ends does not keep its turn
    // forever.
    drop(function.sees("b8", LONG).await);
    let again = function.sees("b9", LONG).await;
    assert_eq!(again.len(), 1);
    futures::future::join_all(again).await;
    assert!(function.is_built("b9").await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_has_been_overtaken_is_not_built() {
    let function = Function::new();
    let old = function.sees("main", LONG).await;
    function.world.source.write("b.ts", "import './a'");
    futures::future::join_all(function.sees("main", LONG).await).await;
    assert!(function.is_built("main").await);
    function.world.source.take_read();
    futures::future::join_all(old).await;
    assert!(function.is_built("main").await);
    assert_eq!(function.world.source.take_read(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_was_lost_is_built_again_where_its_branch_is_known() {
    let function = Function::new();
    futures::future::join_all(function.sees("main", LONG).await).await;
    assert!(function.is_built("main").await);
    function.world.command(["FLUSHALL"]).await;
    assert!(
        function.sees("main", LONG).await.is_empty(),
        "it was there a moment ago"
    );
    let again = deferred(&function.builds, LONG, |builds| builds.recheck_all()).await;
    assert_eq!(again.len(), 1);
    futures::future::join_all(again).await;
    assert!(function.is_built("main").await);
    // Outside of a request nothing waits for it, which must not be remembered as done.
    let (repo, head) = (&function.world.repo, function.world.source.commit());
    function.builds.saw_head(repo, &branch("other"), &head);
    assert_eq!(function.sees("other", LONG).await.len(), 1);
}
