//! The results of a build: the files that it reads again, the changes that it sees meanwhile, and the state after a
//! limit or a failure.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coord_builds::job::Job;
use coord_builds::leased_build::build_and_publish;
use coord_graph::Limits;
use coord_state::builds::{BuildLease, keys};
use coord_test_support::waiting::until;
use tokio::task::JoinHandle;

use crate::world::{World, files};

/// A build by another process: its lease, and whether it has made a graph.
fn build_elsewhere(world: &World, builder: &'static str) -> JoinHandle<(BuildLease, bool)> {
    let (source, store) = (Arc::clone(&world.source), Arc::clone(&world.store));
    let (repo, branch, commit) = (world.repo.clone(), world.branch.clone(), world.source.commit());
    tokio::spawn(async move {
        let job = Job {
            repo: &repo,
            branch: &branch,
            commit: &commit,
            builder,
            limits: Limits::default(),
        };
        let mut last = None;
        let lease = build_and_publish(store, &*source, job, &mut last, None).await;
        (lease.unwrap(), last.is_some())
    })
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

    // If a stored scan is unreadable, its file is scanned again.
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
        let import = format!("import './{}'", (number + 1) % 100);
        world.source.write(&format!("{number}.ts"), &import);
    }
    world.source.close_after(40);
    let building = build_elsewhere(&world, "two");
    world.until_40_files_are_reported().await;
    assert_eq!(world.stored().await, old);
    assert_eq!(world.field("builder").await.as_deref(), Some("two"));
    world.source.open();
    assert_eq!(building.await.unwrap(), (BuildLease::Granted, true));
    assert_eq!(world.graph().await.edges.len(), 100);
    assert_eq!(world.field("progress").await, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_past_a_limit_has_no_imports_and_a_state() {
    let content = |size: usize| format!("import './b'\n{}", "/".repeat(size));
    let (short, long) = (content(90), content(300));
    let mut world = World::new(files(&[
        ("a.ts", &short),
        ("b.ts", &short),
        ("c.ts", &long),
        ("d.ts", &short),
        ("e.ts", &short),
    ]));
    // Files, bytes, and bytes of a file; the state of each file; and the bound that was met.
    for (max_files, max_bytes, max_file_bytes, expected, bound) in [
        (9, 9_999, 9_999, "ok ok ok ok ok", ""),
        (9, 9_999, 200, "ok ok too_large ok ok", ""),
        (
            3,
            9_999,
            200,
            "ok ok too_large over_limit over_limit",
            r#"{"bound":"files","files":2,"first":["d.ts","e.ts"]}"#,
        ),
        (
            9,
            350,
            200,
            "ok ok too_large ok over_limit",
            r#"{"bound":"bytes","files":1,"first":["e.ts"]}"#,
        ),
        (
            9,
            350,
            9_999,
            "ok ok over_limit over_limit over_limit",
            r#"{"bound":"bytes","files":3,"first":["c.ts","d.ts","e.ts"]}"#,
        ),
        (9, 9_999, 9_999, "ok ok ok ok ok", ""),
    ] {
        world.limits = Limits {
            max_files,
            max_bytes,
            max_file_bytes,
            ..Limits::default()
        };
        for is_restarted in [false, true] {
            // A new commit each time, so that there is something to build.
            let case = format!("{max_files} {max_bytes} {max_file_bytes} {is_restarted}");
            world.source.write("NOTES.md", &case);
            world.build_as(is_restarted).await;
            let graph = world.graph().await;
            let states = graph.nodes.iter().skip(1).map(|node| node.state.as_deref());
            let states: Vec<&str> = states.map(|state| state.unwrap_or("ok")).collect();
            assert_eq!(states.join(" "), expected, "{case}");
            let edges = states.iter().filter(|state| **state == "ok").count() - 1;
            assert_eq!(graph.edges.len(), edges, "all but b.ts itself import b.ts");
            let bounds = graph.bounds.iter().map(|met| serde_json::to_string(met).unwrap());
            assert_eq!(bounds.collect::<String>(), bound, "{case}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_build_stores_its_reason_without_paths_and_backs_off() {
    let mut world = World::new(files(&[("a.ts", "")]));
    world.build().await;
    world.source.write("a.ts", "1");
    world.source.is_broken.store(true, Ordering::Relaxed);
    let commit = world.source.commit();
    let tries = async || {
        let (store, source) = (Arc::clone(&world.store), &*world.source);
        build_and_publish(store, source, world.job(&commit), &mut None, None).await
    };
    assert!(tries().await.is_err());
    assert_eq!(
        world.field("failure").await.as_deref(),
        Some("the repository could not be read")
    );
    world.source.is_broken.store(false, Ordering::Relaxed);
    let again = tries().await;
    assert!(matches!(again, Ok(BuildLease::BackingOff { .. })), "{again:?}");
    // The next commit has not failed yet.
    world.source.write("a.ts", "2");
    world.build().await;
    assert_eq!(world.field("failure").await, None);
}

/// Another builder will publish the graph: continuing would cost requests and memory for nothing.
#[tokio::test(flavor = "multi_thread")]
async fn a_build_that_has_lost_its_lease_ends_before_it_has_read_everything() {
    let mut world = World::new((0..50).map(|number| (format!("f{number}.ts"), format!("// {number}"))));
    world.source.close_after(1);
    let build = build_elsewhere(&world, "one");
    until("the build reports", async || world.field("progress").await.is_some()).await;
    world.command(["HSET", &world.key(), "builder", "two"]).await;
    // The next report is of one more file, and refused.
    world.source.close_after(1);
    let ended = tokio::time::timeout(Duration::from_secs(10), build).await;
    assert_eq!(
        ended.expect("it ends while files wait").unwrap(),
        (BuildLease::Busy { until: 0 }, false)
    );
    assert!(world.source.take_read() < 50);
    let builder = world.field("builder").await;
    assert_eq!(builder.as_deref(), Some("two"), "the other goes on");
    assert_eq!(world.field("failed").await, None);

    world.source.open();
    world.command(["HDEL", &world.key(), "builder", "lease_until"]).await;
    world.build().await;
    assert!(world.is_built().await);
}
