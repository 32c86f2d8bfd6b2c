//! The results of a build: the files that it reads again, the changes that it sees meanwhile, and the state after a
//! limit or a failure.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coord_builds::job::Job;
use coord_builds::leased_build::build_and_publish;
use coord_builds::stored_graph::StoredGraph;
use coord_graph::Limits;
use coord_state as state;
use coord_state::builds::BuildLease;
use coord_test_support::waiting::until;

use crate::world::{World, files};

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
    let scans = state::builds::keys::graph_scan(&world.repo, &world.branch);
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
async fn a_file_past_a_limit_has_no_imports_and_a_state() {
    let content = |size: usize| format!("import './b'\n{}", "/".repeat(size));
    let mut world = World::new(files(&[
        ("a.ts", &content(90)),
        ("b.ts", &content(90)),
        ("c.ts", &content(300)),
        ("d.ts", &content(90)),
        ("e.ts", &content(90)),
    ]));
    let states = |graph: &StoredGraph| -> Vec<String> {
        let state = |node: &coord_builds::stored_graph::Node| node.state.clone().unwrap_or_else(|| "ok".to_owned());
        graph.nodes.iter().map(state).collect()
    };
    let over = "over_limit";
    for (max_files, max_bytes, max_file_bytes, expected, bound) in [
        (9, 9_999, 9_999, ["ok", "ok", "ok", "ok", "ok"], ""),
        (9, 9_999, 200, ["ok", "ok", "too_large", "ok", "ok"], ""),
        (
            3,
            9_999,
            200,
            ["ok", "ok", "too_large", over, over],
            r#"{"bound":"files","files":2,"first":["d.ts","e.ts"]}"#,
        ),
        (
            9,
            350,
            200,
            ["ok", "ok", "too_large", "ok", over],
            r#"{"bound":"bytes","files":1,"first":["e.ts"]}"#,
        ),
        (
            9,
            350,
            9_999,
            ["ok", "ok", over, over, over],
            r#"{"bound":"bytes","files":3,"first":["c.ts","d.ts","e.ts"]}"#,
        ),
        (9, 9_999, 9_999, ["ok", "ok", "ok", "ok", "ok"], ""),
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
            let bounds: Vec<String> = graph
                .bounds
                .iter()
                .map(|met| serde_json::to_string(met).unwrap())
                .collect();
            assert_eq!(bounds.concat(), bound, "{note}");
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

/// Another builder will publish the graph: continuing would cost requests and memory for nothing.
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
    let graph = state::builds::keys::graph(&world.repo, &world.branch);
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
