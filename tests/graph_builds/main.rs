//! Graphs built into a store: what is read again, what is seen meanwhile, what a limit or a failure leaves.

mod deferred;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coord::builds::background::BackgroundBuilds;
use coord::builds::head_observer::HeadObserver;
use coord::builds::job::{Built, Job};
use coord::builds::leased_build::build_and_publish;
use coord::builds::stored_graph::StoredGraph;
use coord::domain::{Branch, RepoId};
use coord::source::Source;
use coord::store::scripts::BuildLease;
use coord::store::{Request, Store, Value, keys};
use coord_embedded::EmbeddedStore;
use coord_graph::Limits;
use coord_test_support::memory::Memory;
use tempfile::TempDir;

/// A store, a repository, and one who builds.
struct World {
    store: Arc<dyn Store>,
    source: Arc<Memory>,
    repo: RepoId,
    branch: Branch,
    limits: Limits,
    last: Option<Built>,
    _folder: TempDir,
}

impl World {
    fn new(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        World {
            store: Arc::new(EmbeddedStore::open(&folder.path().join("store.redb")).unwrap()),
            source: Memory::new(files),
            repo: RepoId::parse("https://github.com/acme/shop").unwrap(),
            branch: Branch::parse("main").unwrap(),
            limits: Limits::default(),
            last: None,
            _folder: folder,
        }
    }

    /// Builds as a process that has built before, and says how many blobs were read for it.
    async fn build(&mut self) -> usize {
        let commit = self.source.commit();
        let job = Job {
            repo: &self.repo,
            branch: &self.branch,
            commit: &commit,
            builder: "one",
            limits: self.limits,
        };
        let lease = build_and_publish(Arc::clone(&self.store), &*self.source, job, &mut self.last).await;
        assert_eq!(lease.unwrap(), BuildLease::Granted);
        self.source.take_read()
    }

    /// Builds as a process that knows nothing but what the store has.
    async fn build_after_restart(&mut self) -> usize {
        self.last = None;
        self.build().await
    }

    async fn command<const N: usize>(&self, words: [&str; N]) -> Value {
        let replies = self.store.run(vec![Request::command(words)]).await.unwrap();
        replies.into_iter().next().unwrap()
    }

    async fn field(&self, name: &str) -> Option<String> {
        let value = self
            .command(["HGET", &keys::graph(&self.repo, &self.branch), name])
            .await;
        value.as_str().map(str::to_owned)
    }

    /// One who keeps the graphs of this world up to date.
    fn keeper(&self, builder: &str) -> Arc<BackgroundBuilds> {
        let source: Arc<dyn Source> = Arc::clone(&self.source) as Arc<dyn Source>;
        BackgroundBuilds::start(Arc::clone(&self.store), source, builder.to_owned(), self.limits)
    }

    /// Whether the stored graph is of what is there now.
    async fn is_built(&self) -> bool {
        self.field("version").await == Some(self.source.commit().to_string())
    }

    async fn graph(&self) -> StoredGraph {
        match self.command(["GET", &keys::graph_json(&self.repo, &self.branch)]).await {
            Value::Bulk(text) => StoredGraph::decode(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    async fn hash(&self, key: &str) -> BTreeMap<String, String> {
        let reply = self.command(["HGETALL", key]).await;
        let texts: Vec<String> = reply
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_str().unwrap().to_owned())
            .collect();
        texts.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    }

    /// All that is stored of the graph.
    async fn stored(&self) -> (StoredGraph, BTreeMap<String, String>, BTreeMap<String, String>) {
        let adjacency = self.hash(&keys::graph_adjacency(&self.repo, &self.branch)).await;
        let scans = self.hash(&keys::graph_scan(&self.repo, &self.branch)).await;
        (self.graph().await, adjacency, scans)
    }
}

fn files(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files
        .iter()
        .map(|(path, content)| ((*path).to_owned(), (*content).to_owned()))
        .collect()
}

/// Waits until something holds, and fails when it never does.
async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..1_500 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never happened: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_only_what_has_changed_is_read() {
    let mut world = World::new(files(&[
        ("a.ts", "import './b'"),
        ("b.ts", "import '@/c'"),
        ("src/c.ts", ""),
        (
            "tsconfig.json",
            r#"{"compilerOptions": {"paths": {"@/*": ["./src/*"]}}}"#,
        ),
        ("README.md", "not read"),
    ]));
    assert_eq!(world.build().await, 4);
    world.source.write("d.ts", "import './a'");
    world.source.write("src/c.ts", "import '../a'");
    assert_eq!(world.build_after_restart().await, 2);
    let after_restart = world.stored().await;
    assert_eq!(after_restart.0.edges, [(1, 2), (2, 4), (3, 1), (4, 1)]);

    // As if it had been built from nothing.
    let mut fresh = World::new([]);
    fresh.source = Arc::clone(&world.source);
    assert_eq!(fresh.build().await, 5);
    assert_eq!(fresh.stored().await, after_restart);

    // What cannot be read back is read again.
    let scans = keys::graph_scan(&world.repo, &world.branch);
    world.command(["HSET", &scans, "a.ts", "rubbish"]).await;
    world.source.delete("d.ts");
    assert_eq!(world.build_after_restart().await, 1);
    assert_eq!(world.graph().await.edges, [(1, 2), (2, 3), (3, 1)]);
    assert!(
        !world.hash(&scans).await.contains_key("d.ts"),
        "nothing is left of what is gone"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_old_graph_is_seen_until_the_new_one_is_whole() {
    let mut world = World::new((0..100).map(|n| (format!("{n}.ts"), format!("export const n = {n}"))));
    world.build().await;
    let old = world.stored().await;
    for number in 0..100 {
        world
            .source
            .write(&format!("{number}.ts"), &format!("import './{}'", (number + 1) % 100));
    }
    world.source.close_after(40);
    let (source, store) = (Arc::clone(&world.source), Arc::clone(&world.store));
    let (repo, branch, commit) = (world.repo.clone(), world.branch.clone(), world.source.commit());
    let building = tokio::spawn(async move {
        let job = Job {
            repo: &repo,
            branch: &branch,
            commit: &commit,
            builder: "two",
            limits: Limits::default(),
        };
        build_and_publish(store, &*source, job, &mut None).await.unwrap()
    });
    until("40 of 100 files are reported", async || {
        world
            .field("progress")
            .await
            .is_some_and(|json| json.contains("\"scanned\":40"))
    })
    .await;
    assert_eq!(world.stored().await, old);
    assert_eq!(world.field("builder").await.as_deref(), Some("two"));
    world.source.open();
    assert_eq!(building.await.unwrap(), BuildLease::Granted);
    assert_eq!(world.graph().await.edges.len(), 100);
    assert_eq!(world.field("progress").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_past_a_limit_is_a_file_without_imports_that_says_so() {
    let content = |size: usize| format!("import './b'\n{}", "/".repeat(size));
    let mut world = World::new(files(&[
        ("a.ts", &content(90)),
        ("b.ts", &content(90)),
        ("c.ts", &content(300)),
        ("d.ts", &content(90)),
        ("e.ts", &content(90)),
    ]));
    let states = |graph: &StoredGraph| -> Vec<String> {
        let state = |node: &coord::builds::stored_graph::Node| node.state.clone().unwrap_or_else(|| "ok".to_owned());
        graph.nodes.iter().map(state).collect()
    };
    for (max_files, max_bytes, max_file_bytes, expected) in [
        (9, 9_999, 9_999, ["ok", "ok", "ok", "ok", "ok"]),
        (9, 9_999, 200, ["ok", "ok", "too_large", "ok", "ok"]),
        (3, 9_999, 200, ["ok", "ok", "too_large", "over_limit", "over_limit"]),
        (9, 350, 200, ["ok", "ok", "too_large", "ok", "over_limit"]),
        (9, 350, 9_999, ["ok", "ok", "over_limit", "over_limit", "over_limit"]),
        (9, 9_999, 9_999, ["ok", "ok", "ok", "ok", "ok"]),
    ] {
        world.limits = Limits {
            max_files,
            max_bytes,
            max_file_bytes,
            ..Limits::default()
        };
        for after_restart in [false, true] {
            // A new commit each time, so that there is something to build.
            let note = format!("{expected:?} {after_restart}");
            world.source.write("NOTES.md", &note);
            if after_restart {
                world.last = None;
            }
            world.build().await;
            let graph = world.graph().await;
            assert_eq!(
                states(&graph)[1..],
                expected,
                "{max_files} {max_bytes} {max_file_bytes} {note}"
            );
            let edges = expected.iter().filter(|state| **state == "ok").count() - 1;
            assert_eq!(graph.edges.len(), edges, "all but b.ts itself import b.ts");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_build_says_why_without_naming_this_machine_and_backs_off() {
    let mut world = World::new(files(&[("a.ts", "")]));
    world.build().await;
    world.source.write("a.ts", "1");
    world.source.is_broken.store(true, Ordering::Relaxed);
    let commit = world.source.commit();
    let job = Job {
        repo: &world.repo,
        branch: &world.branch,
        commit: &commit,
        builder: "one",
        limits: world.limits,
    };
    let failed = build_and_publish(Arc::clone(&world.store), &*world.source, job, &mut None).await;
    assert!(failed.is_err());
    assert_eq!(
        world.field("failure").await.as_deref(),
        Some("the repository could not be read")
    );
    world.source.is_broken.store(false, Ordering::Relaxed);
    let again = build_and_publish(Arc::clone(&world.store), &*world.source, job, &mut None).await;
    assert!(matches!(again, Ok(BuildLease::BackingOff { .. })), "{again:?}");
    // The next commit has not failed yet.
    world.source.write("a.ts", "2");
    world.build().await;
    assert_eq!(world.field("failure").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keeper_builds_at_the_first_question_when_the_head_moves_and_after_a_loss() {
    let world = World::new(files(&[("a.ts", "import './b'"), ("b.ts", "")]));
    let source: Arc<dyn Source> = Arc::clone(&world.source) as Arc<dyn Source>;
    let keeper = BackgroundBuilds::start(Arc::clone(&world.store), source, "one".to_owned(), Limits::default());
    let is_built = async || world.field("version").await == Some(world.source.commit().to_string());
    assert!(!is_built().await, "nobody has asked");
    keeper.saw_head(&world.repo, &world.branch, &world.source.commit());
    until("the first graph", is_built).await;
    world.source.write("b.ts", "import './a'");
    until("the graph of the new head", is_built).await;
    assert_eq!(world.graph().await.edges, [(0, 1), (1, 0)]);
    world.command(["FLUSHALL"]).await;
    keeper.look_again();
    until("the graph that was lost", is_built).await;
    assert_eq!(world.graph().await.edges, [(0, 1), (1, 0)]);
}

/// A world whose first build stops after 40 of 100 files, and who builds.
async fn held_up() -> (World, Arc<BackgroundBuilds>) {
    let world = World::new((0..100).map(|n| (format!("{n}.ts"), format!("import './{}'", (n + 1) % 100))));
    world.source.close_after(40);
    let keeper = world.keeper("one");
    keeper.saw_head(&world.repo, &world.branch, &world.source.commit());
    until("40 of 100 files are reported", async || {
        let progress = world.field("progress").await;
        progress.is_some_and(|json| json.contains("\"scanned\":40"))
    })
    .await;
    (world, keeper)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_is_cut_off_gives_its_lease_back_and_its_successor_goes_on() {
    let (world, keeper) = held_up().await;
    let successor = world.keeper("two");
    successor.saw_head(&world.repo, &world.branch, &world.source.commit());
    keeper.stop().await;
    assert_ne!(world.field("builder").await.as_deref(), Some("one"));
    world.source.open();
    // The lease of one that was killed lasts a minute; this waits for half of that.
    until("the successor's graph", async || world.is_built().await).await;
    assert_eq!(world.graph().await.edges.len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_build_whose_lease_the_store_has_lost_is_made_again() {
    let (world, _keeper) = held_up().await;
    world.command(["FLUSHALL"]).await;
    world.source.open();
    until("the graph", async || world.is_built().await).await;
    assert_eq!(world.graph().await.edges.len(), 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_graph_that_somebody_misses_is_built_again() {
    let world = World::new(files(&[("a.ts", "import './b'"), ("b.ts", "")]));
    let keeper = world.keeper("one");
    keeper.saw_head(&world.repo, &world.branch, &world.source.commit());
    until("the first graph", async || world.is_built().await).await;
    world.command(["FLUSHALL"]).await;
    keeper.misses_graph(&world.repo, &world.branch, &world.source.commit());
    until("the graph that was lost", async || world.is_built().await).await;
    assert_eq!(world.graph().await.edges, [(0, 1)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_keeper_lets_the_graph_of_a_branch_that_is_gone_go() {
    let world = World::new(files(&[("a.ts", "")]));
    let source: Arc<dyn Source> = Arc::clone(&world.source) as Arc<dyn Source>;
    let keeper = BackgroundBuilds::start(Arc::clone(&world.store), source, "one".to_owned(), Limits::default());
    keeper.saw_head(&world.repo, &world.branch, &world.source.commit());
    let key = keys::graph(&world.repo, &world.branch);
    let kept_for = async || world.command(["TTL", &key]).await.as_int().unwrap();
    until("a graph that is kept for two weeks", async || {
        kept_for().await > 13 * 86_400
    })
    .await;
    world.source.is_gone.store(true, Ordering::Relaxed);
    until("the last hour of the graph", async || kept_for().await <= 3600).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_of_four_thousand_files_is_built_and_follows_an_edit() {
    is_built_and_follows_an_edit(4_000).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes without optimization: cargo test --release -p coord-cli --test graph_builds -- --ignored"]
async fn a_repository_of_two_hundred_thousand_files_is_built_and_follows_an_edit() {
    is_built_and_follows_an_edit(200_000).await;
}

async fn is_built_and_follows_an_edit(count: usize) {
    let path = |n: usize| format!("packages/p{}/src/m{}/file{n}.ts", n % 500, n % 7_919 % 40);
    let content = |n: usize| {
        let import = |of: usize| {
            let other = path((n + of) % count);
            format!(
                "import {{ f{of} }} from '../../../../{}'\n",
                other.trim_end_matches(".ts")
            )
        };
        format!("{}export const f = {n}\n", [1, 500, 7_919].map(import).concat())
    };
    let mut world = World::new((0..count).map(|n| (path(n), content(n))));
    assert_eq!(world.build().await, count);
    let graph = world.graph().await;
    assert_eq!((graph.nodes.len(), graph.edges.len()), (count, 3 * count));
    assert_eq!(world.field("edges").await, Some((3 * count).to_string()));
    let adjacency = keys::graph_adjacency(&world.repo, &world.branch);
    let adjacency = world.hash(&adjacency).await;
    let (spellings, neighbors): (Vec<_>, Vec<_>) = adjacency.iter().partition(|(field, _)| field.starts_with('\n'));
    assert_eq!(neighbors.len(), count);
    let spelled: usize = spellings.iter().map(|(_, value)| value.lines().count() - 1).sum();
    assert_eq!(spelled, count);
    world.source.write(&path(7), "");
    assert_eq!(world.build().await, 1);
    assert_eq!(world.graph().await.edges.len(), 3 * count - 3);
    world.source.write(&path(8), "");
    assert_eq!(world.build_after_restart().await, 1);
    assert_eq!(world.graph().await.edges.len(), 3 * count - 6);
}

/// What it would build is another's to publish: going on would cost requests and memory for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_has_lost_its_lease_ends_before_it_has_read_everything() {
    let mut world = World::new((0..50).map(|number| (format!("f{number}.ts"), format!("// {number}"))));
    world.source.close_after(1);
    let (store, source) = (Arc::clone(&world.store), Arc::clone(&world.source));
    let (repo, branch) = (world.repo.clone(), world.branch.clone());
    let build = tokio::spawn(async move {
        let commit = source.commit();
        let job = Job {
            repo: &repo,
            branch: &branch,
            commit: &commit,
            builder: "one",
            limits: Limits::default(),
        };
        let mut last = None;
        let lease = build_and_publish(store, &*source, job, &mut last).await;
        (lease.unwrap(), last.is_some())
    });
    until("the build reports", async || world.field("progress").await.is_some()).await;
    let graph = keys::graph(&world.repo, &world.branch);
    world.command(["HSET", &graph, "builder", "two"]).await;
    // The next report is of one more file, and refused.
    world.source.close_after(1);
    let ended = tokio::time::timeout(Duration::from_secs(10), build).await;
    assert_eq!(
        ended.expect("it ends while files wait").unwrap(),
        (BuildLease::Busy { until: 0 }, false)
    );
    assert!(world.source.take_read() < 50);
    assert_eq!(
        world.field("builder").await.as_deref(),
        Some("two"),
        "the other goes on"
    );
    assert_eq!(world.field("failed").await, None);

    world.source.open();
    world.command(["HDEL", &graph, "builder", "lease_until"]).await;
    world.build().await;
    assert!(world.is_built().await);
}
