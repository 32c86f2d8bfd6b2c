//! Changes that wait on a work branch: what is known of them, whom they stop, and when they end.

use coord::domain::LockMode;
use coord::domain::work::Verdict;
use coord::state::admission::Admitted;
use coord::state::builds::keys::graph;
use coord::state::locks::{Pending, PendingAct, ReleaseOutcome, Released, keys, pending_changes, settle_pending};

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

async fn what_is_given_back_on_a_work_branch_stays_known(world: World) {
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
    // Given back once more, it is one change, with the newer commit.
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

async fn there_is_a_bound_and_who_meets_it_is_told(world: World) {
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

on_every_store!(
    what_is_given_back_on_a_work_branch_stays_known,
    a_policy_lets_pending_changes_stop_writers,
    changes_end_by_commit_by_branch_and_by_time,
    there_is_a_bound_and_who_meets_it_is_told,
    a_login_leaves_room_for_the_pending_changes_of_others,
    without_a_word_of_the_source_nothing_counts_as_pushed_to_a_work_branch,
);
