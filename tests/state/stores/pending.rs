//! Changes that wait on a work branch: what is known of them, whom they stop, and when they end.

use std::collections::BTreeMap;

use coord_domain::work::Verdict;
use coord_domain::{LockMode, NeighborPolicy};
use coord_state::admission::Admitted;
use coord_state::builds::keys::graph;
use coord_state::locks::{Pending, PendingAct, ReleaseOutcome, Released, keys, pending_changes, settle_pending};

use crate::stores::neighbors::store_graph;
use crate::world::{Agent, BLOB, HEAD, NEXT, World, branch, in_short, released};

use LockMode::{Reading, Writing};

/// Gives `paths` back, which are on the work branch and not on the branch.
async fn waits(agent: &Agent<'_>, paths: &[&str]) -> Released {
    match agent
        .try_release(Some(NEXT), Some(Verdict::Waiting), false, paths)
        .await
    {
        Admitted::Outcome(outcome) => released(outcome),
        Admitted::Denied(denial) => panic!("{denial:?}"),
    }
}

async fn known(world: &World) -> Vec<Pending> {
    let mut changes = pending_changes(&world.repo).run(&*world.store).await.unwrap().changes;
    changes.sort_by_key(|change| (change.entry.file_path.clone(), change.entry.work_branch.clone()));
    changes
}

/// File, author, work branch and number of the pull request of each.
async fn in_words(world: &World) -> Vec<String> {
    let words = |Pending { entry, .. }: Pending| {
        let number = entry
            .pull_request
            .map(|number| format!(" #{number}"))
            .unwrap_or_default();
        format!(
            "{} {} {}{number}",
            entry.file_path,
            entry.user_id,
            entry.work_branch.unwrap()
        )
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
    assert_eq!(
        (released.released.len(), &released.pending),
        (2, &vec!["a.ts".to_owned(), "b.ts".to_owned()])
    );
    assert_eq!(world.stored("a.ts").await, []);
    let [change, _] = known(&world).await.try_into().unwrap();
    assert_eq!((change.blob.as_str(), change.entry.agent_head.as_str()), (BLOB, NEXT));
    assert_eq!(change.entry.expiry - change.entry.timestamp, 14 * 86_400);
    // Nobody is stopped, and everybody else is told; who works on that branch knows it.
    let found = ["PENDING a.ts ann"];
    for other in [
        world.agent("bob"),
        world.agent("ann/two").working_on("other"),
        ann.clone().working_on("again"),
    ] {
        for wanted in [Reading, Writing] {
            assert_eq!(in_short(&other.checks(wanted, &["a.ts", "x.ts"]).await.findings), found);
        }
        assert_eq!(in_short(&other.writes(&["a.ts"]).await.findings), found);
        other.abandons(&["a.ts"]).await;
    }
    assert_eq!(
        in_short(&world.agent("bob").working_on("pool").writes(&["a.ts"]).await.findings),
        [""; 0]
    );
    world.agent("bob").abandons(&["a.ts"]).await;
    let elsewhere = world.agent("bob").on_branch("dev");
    assert_eq!(in_short(&elsewhere.checks(Writing, &["a.ts"]).await.findings), [""; 0]);
    // Released once more, it is one change, with the newer commit.
    ann.writes(&["a.ts"]).await;
    waits(&ann, &["a.ts"]).await;
    let eve = world.agent("eve").working_on("eve");
    eve.writes(&["a.ts"]).await;
    waits(&eve, &["a.ts"]).await;
    assert_eq!(
        in_words(&world).await,
        ["a.ts eve eve", "a.ts ann pool", "b.ts ann pool"]
    );
    let counts = world
        .command(["HMGET", &keys::pending(&world.repo), "\n", "\nann", "\neve"])
        .await;
    let counts: Vec<_> = counts
        .as_array()
        .unwrap()
        .iter()
        .map(|count| count.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(counts, ["3", "2", "1"]);
}

async fn a_policy_lets_pending_changes_stop_writers(world: World) {
    world.store_policy("pending = \"block\"").await;
    let ann = world.agent("ann").working_on("pool");
    ann.writes(&["a.ts"]).await;
    waits(&ann, &["a.ts"]).await;
    let bob = world.agent("bob");
    let refused = bob.is_refused(Writing, &["a.ts", "b.ts"]).await;
    assert_eq!(in_short(&refused.findings), ["PENDING! a.ts ann"]);
    assert_eq!(world.stored("b.ts").await, [], "nothing is claimed");
    assert_eq!(in_short(&bob.reads(&["a.ts"]).await.findings), ["PENDING a.ts ann"]);
    bob.abandons(&["a.ts"]).await;
    assert_eq!(
        in_short(&ann.clone().working_on("new").writes(&["a.ts"]).await.findings),
        ["PENDING a.ts ann"]
    );
    // A writer keeps what it has, whatever the policy becomes.
    assert_eq!(in_short(&ann.writes(&["a.ts"]).await.findings), [""; 0]);
    ann.abandons(&["a.ts"]).await;
    world.store_policy("pending = \"warn\"").await;
    bob.writes(&["a.ts"]).await;
    world.store_policy("pending = \"block\"").await;
    assert_eq!(in_short(&bob.writes(&["a.ts"]).await.findings), ["PENDING a.ts ann"]);
}

// rule: locks#pending-ends
async fn changes_end_by_commit_by_branch_and_by_time(world: World) {
    let ann = world.agent("ann").working_on("pool");
    let eve = world.agent("eve").working_on("eve");
    ann.writes(&["a.ts", "b.ts", "c.ts"]).await;
    waits(&ann, &["a.ts", "b.ts", "c.ts"]).await;
    eve.writes(&["a.ts"]).await;
    waits(&eve, &["a.ts"]).await;
    assert_eq!(settles(&world, "pool", PendingAct::Number(12)).await, 3);
    assert_eq!(settles(&world, "pool", PendingAct::Number(12)).await, 0, "said before");
    ann.writes(&["d.ts"]).await;
    waits(&ann, &["d.ts"]).await;
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
    assert_eq!(settles(&world, "pool", early).await, 0, "given back later");
    let all = PendingAct::EndAll { at: world.now().await };
    assert_eq!(settles(&world, "pool", all).await, 3);
    assert_eq!(in_words(&world).await, ["a.ts eve eve"]);
    let key = graph(&world.repo, &world.branch);
    assert_eq!(world.command(["HGET", &key, "pending"]).await.as_str(), Some("1"));
    // Two weeks later.
    let pending = keys::pending(&world.repo);
    let stored = world.command(["HGET", &pending, "a.ts"]).await;
    let mut stored: serde_json::Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
    stored[0]["expiry"] = 1_000_000_000.into();
    world.command(["HSET", &pending, "a.ts", &stored.to_string()]).await;
    assert_eq!(
        in_short(&world.agent("bob").checks(Writing, &["a.ts"]).await.findings),
        [""; 0]
    );
    assert_eq!(settles(&world, "", PendingAct::Forget).await, 1);
    assert_eq!(world.number(["EXISTS", &pending]).await, 0, "nothing is left");
    assert_eq!(world.command(["HGET", &key, "pending"]).await.as_str(), None);
}

// rule: locks#pending-full
async fn pending_changes_are_bounded_and_the_left_out_files_are_listed(world: World) {
    let pending = keys::pending(&world.repo);
    for number in 0..8 {
        let one = world.agent("ann").working_on(&format!("w{number}"));
        one.writes(&["a.ts"]).await;
        assert_eq!(waits(&one, &["a.ts"]).await.pending.len(), 1);
    }
    let ninth = world.agent("ann").working_on("w8");
    ninth.writes(&["a.ts", "b.ts"]).await;
    let released = waits(&ninth, &["a.ts", "b.ts"]).await;
    assert_eq!(released.released.len(), 2, "the lock is given back all the same");
    assert_eq!(
        (released.pending, released.pending_left_out),
        (vec!["b.ts".to_owned()], vec!["a.ts".to_owned()])
    );
    world.command(["HSET", &pending, "\neve", "2000", "\n", "9999"]).await;
    for (name, is_kept) in [("eve", false), ("bob", true), ("cyd", false)] {
        let agent = world.agent(name).working_on(name);
        agent.writes(&["z.ts"]).await;
        assert_eq!(
            waits(&agent, &["z.ts"]).await.pending.len(),
            usize::from(is_kept),
            "{name}"
        );
    }
}

async fn a_login_leaves_room_for_the_pending_changes_of_others(world: World) {
    for number in 0..8 {
        let eve = world.agent(&format!("eve/{number}")).working_on(&format!("w{number}"));
        eve.writes(&["a.ts"]).await;
        waits(&eve, &["a.ts"]).await;
    }
    let bob = world.agent("bob").working_on("of-bob");
    bob.writes(&["a.ts"]).await;
    assert_eq!(waits(&bob, &["a.ts"]).await.pending, ["a.ts"]);
    assert_eq!(known(&world).await.len(), 9);
}

async fn without_a_word_of_the_source_nothing_counts_as_pushed_to_a_work_branch(world: World) {
    let ann = world.agent("ann").working_on("pool");
    ann.writes(&["a.ts"]).await;
    let outcome = ann.try_release(Some(NEXT), None, false, &["a.ts"]).await;
    assert!(
        matches!(outcome, Admitted::Outcome(ReleaseOutcome::NotPushed { .. })),
        "{outcome:?}"
    );
    assert_eq!(known(&world).await, []);
}

async fn an_agent_editing_an_importer_is_warned_of_an_unmerged_interface(world: World) {
    store_graph(
        &world,
        &[("b.ts", &["a.ts", "x.ts"]), ("c.ts", &["b.ts"]), ("a.ts", &["d.ts"])],
    )
    .await;
    let (ann, bob) = (world.agent("ann").working_on("pool"), world.agent("bob"));
    ann.writes(&["a.ts", "x.ts"]).await;
    let released = waits(&ann, &["a.ts", "x.ts"]).await;
    let compared = released.interfaces.iter();
    let compared: Vec<_> = compared
        .map(|one| (one.written.path.as_str(), one.is_promised, one.is_pending))
        .collect();
    assert_eq!(compared, [("a.ts", false, true), ("x.ts", false, true)]);
    assert_eq!(in_short(&bob.checks(Writing, &["b.ts"]).await.findings), [""; 0]);
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
    assert_eq!(in_short(&bob.checks(Reading, &["b.ts"]).await.findings), expected);
    assert_eq!(
        in_short(&bob.writes(&["b.ts"]).await.findings),
        expected,
        "it blocks nobody"
    );
    bob.abandons(&["b.ts"]).await;
    // Not who imports the importer, nor what the file itself imports, nor the author, nor on another branch.
    for (agent, file) in [
        (bob.clone(), "c.ts"),
        (bob.clone(), "d.ts"),
        (ann.clone(), "b.ts"),
        (world.agent("bob").on_branch("other"), "b.ts"),
    ] {
        assert_eq!(
            in_short(&agent.checks(Writing, &[file]).await.findings),
            [""; 0],
            "{file}"
        );
    }
    let off = Agent {
        policy: NeighborPolicy::Off,
        ..bob.clone()
    };
    assert_eq!(in_short(&off.checks(Writing, &["b.ts"]).await.findings), [""; 0]);
    // It ends with the change.
    let ended = PendingAct::End {
        commit: NEXT,
        paths: &["a.ts".to_owned()],
    };
    assert_eq!(settles(&world, "pool", ended).await, 1);
    assert_eq!(in_short(&bob.checks(Writing, &["b.ts"]).await.findings), [""; 0]);
}

async fn the_newest_of_many_unmerged_interfaces_are_listed(world: World) {
    let files: Vec<String> = (0..300).map(|number| format!("f{number:03}.ts")).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).chain(["z.ts"]).collect();
    store_graph(&world, &[("a.ts", &files)]).await;
    let changes = async |agent: &Agent<'_>, files: &[&str]| {
        agent.writes(files).await;
        waits(agent, files).await;
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
    let findings = in_short(&world.agent("bob").checks(Writing, &["a.ts"]).await.findings);
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
