//! Changes that wait on a work branch: what is known of them, whom they stop, and when they end.

use std::collections::BTreeMap;

use coord_domain::work::Verdict;
use coord_domain::{LockMode, NeighborPolicy};
use coord_state::locks::{PendingAct, PendingEntry, Released, keys, pending_changes, settle_pending};
use serde_json::Value as Json;

use crate::stores::neighbors::store_graph;
use crate::world::{Agent, BLOB, HEAD, NEXT, World, answered, branch, in_short, not_pushed, released};

use LockMode::{Reading, Writing};

/// Releases `paths`, whose changes are on the work branch and not on the branch.
async fn waits(agent: &Agent<'_>, paths: &[&str]) -> Released {
    let verdict = Some(Verdict::Waiting);
    released(answered(agent.try_release(Some(NEXT), verdict, false, paths).await))
}

/// Claims `paths` for writing and releases them so.
async fn writes_and_waits(agent: &Agent<'_>, paths: &[&str]) -> Released {
    agent.writes(paths).await;
    waits(agent, paths).await
}

async fn known(world: &World) -> Vec<PendingEntry> {
    let mut changes = pending_changes(&world.repo).run(&*world.store).await.unwrap().changes;
    changes.sort_by_key(|change| (change.entry.file_path.clone(), change.entry.work_branch.clone()));
    changes
}

/// File, author, work branch and number of the pull request of each.
async fn in_words(world: &World) -> Vec<String> {
    let words = |PendingEntry { entry, .. }: PendingEntry| {
        let number = entry.pull_request.map(|number| format!(" #{number}"));
        let (work_branch, number) = (entry.work_branch.unwrap(), number.unwrap_or_default());
        format!("{} {} {work_branch}{number}", entry.file_path, entry.user_id)
    };
    known(world).await.into_iter().map(words).collect()
}

async fn settles(world: &World, work_branch: &str, act: PendingAct<'_>) -> u64 {
    let main = branch("main");
    settle_pending(&*world.store, &world.repo, Some(&main), work_branch, act)
        .await
        .unwrap()
}

async fn files_released_on_a_work_branch_stay_known(world: World) {
    let ann = world.agent("ann/one").working_on("pool");
    ann.writes(&["a.ts", "b.ts", "c.ts"]).await;
    assert_eq!(world.stored("a.ts").await[0].work_branch.as_deref(), Some("pool"));
    let released = waits(&ann, &["a.ts", "b.ts"]).await;
    assert_eq!(released.released.len(), 2);
    assert_eq!(released.pending, ["a.ts", "b.ts"]);
    assert_eq!(world.stored("a.ts").await, []);
    let [change, _] = known(&world).await.try_into().unwrap();
    assert_eq!((change.blob.as_str(), change.entry.agent_head.as_str()), (BLOB, NEXT));
    assert_eq!(change.entry.expiry - change.entry.timestamp, 14 * 86_400);
    // Nobody is stopped, and the change is reported to all but the agents on that branch, which have it.
    let found = ["PENDING a.ts ann"];
    for other in [
        world.agent("bob"),
        world.agent("ann/two").working_on("other"),
        ann.clone().working_on("again"),
    ] {
        for wanted in [Reading, Writing] {
            assert_eq!(other.finds(wanted, &["a.ts", "x.ts"]).await, found);
        }
        assert_eq!(other.writes_beside(&["a.ts"]).await, found);
        other.abandons(&["a.ts"]).await;
    }
    let bob = world.agent("bob");
    assert_eq!(bob.clone().working_on("pool").writes_beside(&["a.ts"]).await, [""; 0]);
    bob.abandons(&["a.ts"]).await;
    assert_eq!(bob.on_branch("dev").finds(Writing, &["a.ts"]).await, [""; 0]);
    // Released once more, it is one change, with the newer commit.
    writes_and_waits(&ann, &["a.ts"]).await;
    writes_and_waits(&world.agent("eve").working_on("eve"), &["a.ts"]).await;
    assert_eq!(
        in_words(&world).await,
        ["a.ts eve eve", "a.ts ann pool", "b.ts ann pool"]
    );
    let pending = keys::pending(&world.repo);
    for (login, count) in [("\n", 3), ("\nann", 2), ("\neve", 1)] {
        assert_eq!(world.number(["HGET", &pending, login]).await, count, "{login:?}");
    }
}

async fn a_policy_lets_pending_changes_stop_writers(world: World) {
    world.store_policy("pending = \"block\"").await;
    let ann = world.agent("ann").working_on("pool");
    writes_and_waits(&ann, &["a.ts"]).await;
    let (bob, warning) = (world.agent("bob"), ["PENDING a.ts ann"]);
    let blocking = bob.is_blocked_by(Writing, &["a.ts", "b.ts"]).await;
    assert_eq!(blocking, ["PENDING! a.ts ann"]);
    assert_eq!(world.stored("b.ts").await, [], "nothing is claimed");
    assert_eq!(in_short(&bob.reads(&["a.ts"]).await.findings), warning);
    bob.abandons(&["a.ts"]).await;
    assert_eq!(ann.clone().working_on("new").writes_beside(&["a.ts"]).await, warning);
    // A writer keeps what it has, whatever the policy becomes.
    assert_eq!(ann.writes_beside(&["a.ts"]).await, [""; 0]);
    ann.abandons(&["a.ts"]).await;
    world.store_policy("pending = \"warn\"").await;
    bob.writes(&["a.ts"]).await;
    world.store_policy("pending = \"block\"").await;
    assert_eq!(bob.writes_beside(&["a.ts"]).await, warning);
}

// rule: locks#pending-ends
async fn changes_end_by_commit_by_branch_and_by_time(world: World) {
    let ann = world.agent("ann").working_on("pool");
    let eve = world.agent("eve").working_on("eve");
    writes_and_waits(&ann, &["a.ts", "b.ts", "c.ts"]).await;
    writes_and_waits(&eve, &["a.ts"]).await;
    assert_eq!(settles(&world, "pool", PendingAct::PullRequest(12)).await, 3);
    assert_eq!(
        settles(&world, "pool", PendingAct::PullRequest(12)).await,
        0,
        "said before"
    );
    writes_and_waits(&ann, &["d.ts"]).await;
    assert_eq!(
        in_words(&world).await,
        [
            "a.ts eve eve",
            "a.ts ann pool #12",
            "b.ts ann pool #12",
            "c.ts ann pool #12",
            "d.ts ann pool #12"
        ]
    );
    let paths = ["a.ts".to_owned(), "x.ts".to_owned()];
    let end = |commit| PendingAct::End { commit, paths: &paths };
    assert_eq!(settles(&world, "pool", end(HEAD)).await, 0, "pushed as another commit");
    assert_eq!(settles(&world, "pool", end(NEXT)).await, 1);
    assert_eq!(settles(&world, "pool", PendingAct::Forget).await, 0, "none is over");
    let early = PendingAct::EndAll {
        at: world.now().await - 60,
    };
    assert_eq!(settles(&world, "pool", early).await, 0, "released later");
    let all = PendingAct::EndAll { at: world.now().await };
    assert_eq!(settles(&world, "pool", all).await, 3);
    assert_eq!(in_words(&world).await, ["a.ts eve eve"]);
    let key = world.graph_key();
    assert_eq!(world.command(["HGET", &key, "pending"]).await.as_str(), Some("1"));
    // Two weeks later.
    let pending = keys::pending(&world.repo);
    let expire = |stored: &mut Json| stored[0]["expiry"] = 1_000_000_000.into();
    world.edit_json(&pending, "a.ts", expire).await;
    assert_eq!(world.agent("bob").finds(Writing, &["a.ts"]).await, [""; 0]);
    assert_eq!(settles(&world, "", PendingAct::Forget).await, 1);
    assert_eq!(world.number(["EXISTS", &pending]).await, 0, "nothing is left");
    assert_eq!(world.command(["HGET", &key, "pending"]).await.as_str(), None);
}

// rule: locks#pending-full
async fn pending_changes_are_bounded_and_the_left_out_files_are_listed(world: World) {
    let pending = keys::pending(&world.repo);
    for number in 0..8 {
        let one = world.agent("ann").working_on(&format!("w{number}"));
        assert_eq!(writes_and_waits(&one, &["a.ts"]).await.pending, ["a.ts"]);
    }
    let ninth = world.agent("ann").working_on("w8");
    let released = writes_and_waits(&ninth, &["a.ts", "b.ts"]).await;
    assert_eq!(released.released.len(), 2, "the lock is released all the same");
    assert_eq!(released.pending, ["b.ts"]);
    assert_eq!(released.pending_left_out, ["a.ts"]);
    world.command(["HSET", &pending, "\neve", "2000", "\n", "9999"]).await;
    for (name, count) in [("eve", 0), ("bob", 1), ("cyd", 0)] {
        let agent = world.agent(name).working_on(name);
        let pending = writes_and_waits(&agent, &["z.ts"]).await.pending;
        assert_eq!(pending.len(), count, "{name}");
    }
}

async fn a_login_leaves_room_for_the_pending_changes_of_others(world: World) {
    for number in 0..8 {
        let eve = world.agent(&format!("eve/{number}")).working_on(&format!("w{number}"));
        writes_and_waits(&eve, &["a.ts"]).await;
    }
    let bob = world.agent("bob").working_on("of-bob");
    assert_eq!(writes_and_waits(&bob, &["a.ts"]).await.pending, ["a.ts"]);
    assert_eq!(known(&world).await.len(), 9);
}

async fn without_a_word_of_the_source_nothing_counts_as_pushed_to_a_work_branch(world: World) {
    let ann = world.agent("ann").working_on("pool");
    ann.writes(&["a.ts"]).await;
    not_pushed(answered(ann.try_release(Some(NEXT), None, false, &["a.ts"]).await));
    assert_eq!(known(&world).await, []);
}

async fn an_agent_editing_an_importer_is_warned_of_an_unmerged_interface(world: World) {
    store_graph(
        &world,
        &[("b.ts", &["a.ts", "x.ts"]), ("c.ts", &["b.ts"]), ("a.ts", &["d.ts"])],
    )
    .await;
    let (ann, bob) = (world.agent("ann").working_on("pool"), world.agent("bob"));
    let compared = writes_and_waits(&ann, &["a.ts", "x.ts"]).await.interfaces;
    let compared: Vec<_> = compared
        .iter()
        .map(|one| (one.written.path.as_str(), one.is_promised, one.is_pending))
        .collect();
    assert_eq!(compared, [("a.ts", false, true), ("x.ts", false, true)]);
    assert_eq!(bob.finds(Writing, &["b.ts"]).await, [""; 0]);
    let changed = BTreeMap::from([("a.ts".to_owned(), "`query` changed".to_owned())]);
    let act = |commit| PendingAct::Interfaces {
        commit,
        changed: &changed,
    };
    assert_eq!(settles(&world, "pool", act(HEAD)).await, 0, "another commit");
    assert_eq!(settles(&world, "other", act(NEXT)).await, 0);
    assert_eq!(settles(&world, "pool", act(NEXT)).await, 1);
    let expected = ["PENDING_INTERFACE a.ts ann via b.ts"];
    let check = bob.checks(Writing, &["c.ts", "b.ts"]).await;
    assert_eq!(in_short(&check.findings), expected);
    assert_eq!(
        check.findings[0].entry.interface_differs.as_deref(),
        Some("`query` changed")
    );
    assert_eq!(bob.finds(Reading, &["b.ts"]).await, expected);
    assert_eq!(bob.writes_beside(&["b.ts"]).await, expected, "it blocks nobody");
    bob.abandons(&["b.ts"]).await;
    let off = Agent {
        policy: NeighborPolicy::Off,
        ..bob.clone()
    };
    for (agent, file, case) in [
        (bob.clone(), "c.ts", "an importer of the importer"),
        (bob.clone(), "d.ts", "an import of the file itself"),
        (ann.clone(), "b.ts", "the author"),
        (bob.clone().on_branch("other"), "b.ts", "another branch"),
        (off, "b.ts", "without neighbors"),
    ] {
        assert_eq!(agent.finds(Writing, &[file]).await, [""; 0], "{case}");
    }
    // It ends with the change.
    let ended = PendingAct::End {
        commit: NEXT,
        paths: &["a.ts".to_owned()],
    };
    assert_eq!(settles(&world, "pool", ended).await, 1);
    assert_eq!(bob.finds(Writing, &["b.ts"]).await, [""; 0]);
}

async fn the_newest_of_many_unmerged_interfaces_are_listed(world: World) {
    let files: Vec<String> = (0..300).map(|number| format!("f{number:03}.ts")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).chain(["z.ts"]).collect();
    store_graph(&world, &[("a.ts", &files)]).await;
    let changes = async |agent: &Agent<'_>, files: &[&str]| {
        writes_and_waits(agent, files).await;
        let changed = files.iter().map(|file| ((*file).to_owned(), "`x` is new".to_owned()));
        let act = PendingAct::Interfaces {
            commit: NEXT,
            changed: &changed.collect(),
        };
        let work_branch = agent.work_branch.as_ref().unwrap().as_str();
        assert_eq!(settles(&world, work_branch, act).await, files.len() as u64);
    };
    changes(&world.agent("dan").working_on("of-dan"), &["z.ts"]).await;
    for part in files[..300].chunks(100) {
        changes(&world.agent("ann").working_on("pool"), part).await;
    }
    let findings = world.agent("bob").finds(Writing, &["a.ts"]).await;
    let has = |file: &str| findings.iter().any(|line| line.contains(file));
    assert_eq!(findings.len(), 129, "ann's share, and dan's file");
    assert!(has("z.ts") && has("f299.ts") && has("f127.ts") && !has("f128.ts") && !has("f000.ts"));
}

on_every_store!(
    an_agent_editing_an_importer_is_warned_of_an_unmerged_interface,
    the_newest_of_many_unmerged_interfaces_are_listed,
    files_released_on_a_work_branch_stay_known,
    a_policy_lets_pending_changes_stop_writers,
    changes_end_by_commit_by_branch_and_by_time,
    pending_changes_are_bounded_and_the_left_out_files_are_listed,
    a_login_leaves_room_for_the_pending_changes_of_others,
    without_a_word_of_the_source_nothing_counts_as_pushed_to_a_work_branch,
);
