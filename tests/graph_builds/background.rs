//! Builds in the background: when they begin, and what becomes of one that is cut off.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use coord_builds::background::BackgroundBuilds;
use coord_builds::head_observer::HeadObserver;
use coord_store::{Request, Store, StoreError, Value};
use coord_test_support::waiting::until;
use futures::stream::BoxStream;
use parking_lot::Mutex;

use crate::world::{World, files};

/// Far below a lease of one minute. A builder looks every two seconds, and the rest is for a loaded machine.
const SOON: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread")]
async fn a_keeper_builds_at_the_first_question_when_the_head_moves_and_after_a_loss() {
    let world = World::new(files(&[("a.ts", "import './b'"), ("b.ts", "")]));
    let keeper = world.keeper("one");
    assert!(!world.is_built().await, "nobody has asked");
    world.shows_head_to(&keeper);
    world.until_built("the first graph").await;
    world.source.write("b.ts", "import './a'");
    world.until_built("the graph of the new head").await;
    assert_eq!(world.graph().await.edges, [(0, 1), (1, 0)]);
    world.command(["FLUSHALL"]).await;
    keeper.recheck_all();
    world.until_built("the graph that was lost").await;
    assert_eq!(world.graph().await.edges, [(0, 1), (1, 0)]);
}

/// A world whose first build stops after 40 of 100 files, and who builds.
async fn held_up() -> (World, Arc<BackgroundBuilds>) {
    let world = World::of_a_hundred_files();
    world.source.close_after(40);
    let keeper = world.keeper("one");
    world.shows_head_to(&keeper);
    world.until_40_files_are_reported().await;
    (world, keeper)
}

/// A store that notes each attempt to get the lease of a build: when it began, and its outcome.
struct Attempts {
    store: Arc<dyn Store>,
    made: Mutex<Vec<(Instant, String)>>,
}

#[async_trait]
impl Store for Attempts {
    async fn run(&self, batch: Vec<Request>) -> Result<Vec<Value>, StoreError> {
        let is_attempt =
            |request: &Request| matches!(request, Request::Script { script, .. } if script.name == "lease_build");
        let (began, is_attempt) = (Instant::now(), batch.iter().any(is_attempt));
        let replies = self.store.run(batch).await?;
        if is_attempt {
            let outcome = replies[0].as_array().and_then(|reply| reply[0].as_str()).unwrap();
            self.made.lock().push((began, outcome.to_owned()));
        }
        Ok(replies)
    }

    async fn subscribe(&self, channel: &str) -> Result<BoxStream<'static, Bytes>, StoreError> {
        self.store.subscribe(channel).await
    }

    fn describe(&self) -> String {
        self.store.describe()
    }
}

/// A server that gets SIGTERM during a build calls `stop`, and its successor builds within five seconds of it. The test
/// checks each part of that separately, so that a loaded machine changes nothing: the lease is released when `stop` has
/// returned; a successor tries for it every two seconds; and the first attempt after that gets it. The pause between
/// two attempts is the shortest of several, because load only adds to one.
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_build_releases_its_lease_and_its_successor_builds_within_five_seconds() {
    let (world, keeper) = held_up().await;
    let attempts = Arc::new(Attempts {
        store: Arc::clone(&world.store),
        made: Mutex::default(),
    });
    let successor = world.keeper_on(Arc::clone(&attempts) as Arc<dyn Store>, "two");
    world.shows_head_to(&successor);
    until("four attempts", async || attempts.made.lock().len() >= 4).await;
    keeper.stop().await;
    let stopped = Instant::now();
    let builder = world.field("builder").await;
    assert_ne!(builder.as_deref(), Some("one"), "the lease is released");
    world.source.open();
    world.until_built("the successor's graph").await;
    assert_eq!(world.graph().await.edges.len(), 100);

    let made = attempts.made.lock().clone();
    let pauses = made.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let pause = pauses.min().unwrap();
    assert!(pause < Duration::from_millis(3_500), "an attempt each {pause:?}");
    let first_after = made.iter().find(|(began, _)| *began > stopped);
    // One that began before the end of `stop` may have got it already.
    let is_early = made
        .iter()
        .any(|(began, outcome)| *began <= stopped && outcome == "GRANTED");
    assert!(
        is_early || first_after.is_some_and(|(_, outcome)| outcome == "GRANTED"),
        "{made:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_whose_lease_the_store_has_lost_is_repeated() {
    let (world, _keeper) = held_up().await;
    let lost = Instant::now();
    world.command(["FLUSHALL"]).await;
    world.source.open();
    world.until_built("the graph").await;
    assert!(lost.elapsed() < SOON, "{:?}", lost.elapsed());
    assert_eq!(world.graph().await.edges.len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_is_reported_missing_is_built_again() {
    let world = World::new(files(&[("a.ts", "import './b'"), ("b.ts", "")]));
    let keeper = world.keeper("one");
    world.shows_head_to(&keeper);
    world.until_built("the first graph").await;
    world.command(["FLUSHALL"]).await;
    keeper.report_missing_graph(&world.repo, &world.branch, &world.source.commit());
    world.until_built("the graph that was lost").await;
    assert_eq!(world.graph().await.edges, [(0, 1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keeper_lets_the_graph_of_a_branch_that_is_gone_go() {
    let world = World::new(files(&[("a.ts", "")]));
    let keeper = world.keeper("one");
    world.shows_head_to(&keeper);
    let kept_for = async || world.command(["TTL", &world.key()]).await.as_int().unwrap();
    until("a graph that is kept for two weeks", async || {
        kept_for().await > 13 * 86_400
    })
    .await;
    assert_eq!(keeper.graphs_in_memory().await, 1);
    world.source.is_gone.store(true, Ordering::Relaxed);
    until("the last hour of the graph", async || kept_for().await <= 3600).await;
    assert_eq!(keeper.graphs_in_memory().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_has_expired_is_not_built_again_because_its_branch_moves() {
    let mut world = World::new(files(&[("a.ts", ""), ("b.ts", "")]));
    world.build().await;
    world.source.write("b.ts", "import './a'");
    // A process that nobody has asked.
    let keeper = world.keeper("two");
    keeper.saw_move(&world.repo, &world.branch, &world.source.commit());
    world.until_built("the graph of the new head").await;
    until("it is kept", async || keeper.graphs_in_memory().await == 1).await;
    world.command(["DEL", &world.key()]).await;
    world.source.write("b.ts", "import './a.ts'");
    until("nothing is kept", async || keeper.graphs_in_memory().await == 0).await;
    assert_eq!(world.command(["EXISTS", &world.key()]).await.as_int(), Some(0));
    world.shows_head_to(&keeper);
    world.until_built("the graph that a request asks for").await;
    assert_eq!(world.graph().await.edges, [(1, 0)]);
}
