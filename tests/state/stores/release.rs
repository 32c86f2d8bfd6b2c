//! `release`.

use coord_domain::work::{Shortfall, Verdict};
use coord_sources::Reachable;
use coord_state as state;
use coord_state::admission::{Admitted, AncestryQuestion, Denial, Question};
use coord_state::locks::{JudgedFile, ReleaseOutcome, WrittenFile};
use serde_json::{Value as Json, json};

use crate::stores::neighbors::{store_graph, store_imports};
use crate::world::worker::judged_file;
use crate::world::{
    Agent, HEAD, LOCAL, NEXT, World, answered, files, files_and_users, lost, not_pushed, released, sha,
};

/// A head of the branch that is newer than [`NEXT`].
const TIP: &str = "dddddddddddddddddddddddddddddddddddddddd";

async fn written_files_are_released_after_a_push(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts"]).await;
    let ann = ann.while_branch_is_at(NEXT).with_message("Done with the parser");
    let done = ann.releases_pushed(&["a.ts"]).await;
    assert_eq!(done.released, ["a.ts"]);
    assert_eq!((done.missing.len(), done.head.unwrap().commit.as_str()), (0, NEXT));
    assert_eq!(world.stored("a.ts").await, []);
    assert_eq!(world.stored("b.ts").await.len(), 1);
    let event = world.last_event().await;
    assert_eq!(
        json!([event["type"], event["message"], event["status"]]),
        json!(["lock_released", "Done with the parser", "WRITING"])
    );
    world.agent("bob").writes(&["a.ts"]).await;
    world.assert_index_is_exact().await;
}

async fn not_pushed_is_a_head_that_is_unchanged_or_not_on_the_branch(world: World) {
    let ann = world.agent("ann");
    let paths = ["read.ts", "a.ts", "b.ts"];
    ann.writes(&paths[1..]).await;
    ann.reads(&paths[..1]).await;
    let stored = async || {
        let mut stored = Vec::new();
        for path in paths {
            stored.push(world.stored(path).await);
        }
        stored
    };
    let (before, count) = (stored().await, world.events().await.len());
    for (new_head, reachable) in [
        (HEAD, Reachable::Yes),
        (&HEAD[..7], Reachable::Yes),
        (LOCAL, Reachable::No),
        (LOCAL, Reachable::Unknown),
        (&NEXT[..7], Reachable::No),
    ] {
        let outcome = ann.release(Some(new_head), reachable, &paths).await;
        assert_eq!(outcome.head().unwrap().commit.as_str(), HEAD, "{new_head}");
        let unpushed = not_pushed(outcome);
        let files: Vec<&str> = unpushed.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(files, ["a.ts", "b.ts"], "{new_head}");
    }
    assert_eq!(stored().await, before);
    let events = world.events_since(count).await;
    assert_eq!(events, ["lock_refused ann read.ts a.ts b.ts"]);
    let event = world.last_event().await;
    assert_eq!(json!([event["reason"], event["status"]]), json!(["NOT_PUSHED", "OPEN"]));
}

async fn one_file_without_a_push_keeps_all_and_is_named_alone(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["early.ts"]).await;
    let later = ann.at(NEXT).while_branch_is_at(NEXT);
    later.writes(&["late.ts"]).await;
    let paths = ["early.ts", "late.ts"];
    let unpushed = not_pushed(later.release(Some(NEXT), Reachable::Yes, &paths).await);
    assert_eq!(unpushed, [("late.ts".to_owned(), Shortfall::SameCommit)]);
    assert_eq!(world.stored("early.ts").await.len(), 1);
    later.releases_pushed(&["early.ts"]).await;
}

async fn the_sources_verdict_on_each_file_decides(world: World) {
    let ann = world.agent("ann");
    let paths = ["a.ts", "b.ts", "c.ts"];
    ann.writes(&paths).await;
    let judged_files = [
        judged_file("a.ts", Verdict::Pushed),
        judged_file("b.ts", Verdict::Missing(Shortfall::NotAfterClaim)),
        // Of another claim, as when the lock was claimed anew meanwhile.
        JudgedFile {
            claim_head: sha(LOCAL),
            ..judged_file("c.ts", Verdict::Pushed)
        },
    ];
    let outcome = answered(ann.release_as_judged(Some(NEXT), &judged_files, false, &paths).await);
    let expected = [("b.ts", Shortfall::NotAfterClaim), ("c.ts", Shortfall::Unknown)];
    assert_eq!(not_pushed(outcome), expected.map(|(path, why)| (path.to_owned(), why)));
    for path in paths {
        assert_eq!(world.stored(path).await.len(), 1, "{path}");
    }
    let judged_files = [
        judged_file("a.ts", Verdict::Pushed),
        judged_file("b.ts", Verdict::Unchanged),
        judged_file("c.ts", Verdict::Unchanged),
    ];
    let outcome = answered(ann.release_as_judged(Some(NEXT), &judged_files, false, &paths).await);
    let done = released(outcome);
    assert_eq!(done.released.len(), 3);
    assert_eq!(done.unchanged, ["b.ts", "c.ts"]);
    assert_eq!(
        files_and_pushes(&world).await,
        [json!([["a.ts"], true]), json!([["b.ts", "c.ts"], false])]
    );
}

/// The files of each release that was announced, and whether they were pushed.
async fn files_and_pushes(world: &World) -> Vec<Json> {
    let events = world.events_of_type("lock_released").await;
    let of_event = |event: &Json| json!([event["files"], event["is_pushed"]]);
    events.iter().map(of_event).collect()
}

async fn the_event_of_a_release_has_is_pushed(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["pushed.ts", "thrown.ts"]).await;
    ann.reads(&["read.ts"]).await;
    let ann = ann.while_branch_is_at(NEXT);
    ann.releases_pushed(&["pushed.ts", "read.ts"]).await;
    ann.abandons(&["thrown.ts"]).await;
    let mut announced: Vec<String> = files_and_pushes(&world).await.iter().map(Json::to_string).collect();
    announced.sort();
    assert_eq!(
        announced,
        [
            r#"[["pushed.ts"],true]"#,
            r#"[["read.ts"],false]"#,
            r#"[["thrown.ts"],false]"#
        ]
    );
}

async fn the_store_sends_no_ancestry_question_where_its_own_commits_prove_a_push(world: World) {
    let old = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
    world.records_head(HEAD, &[HEAD, old]).await;
    let ann = world.agent("ann").without_source().with_aged_head();
    ann.writes(&["a.ts", "b.ts", "c.ts", "d.ts"]).await;
    world.records_head(TIP, &[TIP, NEXT, HEAD, old]).await;
    let asks = async |agent: &Agent<'_>, new_head: &str, path: &str| {
        match agent.try_release(Some(new_head), None, false, &[path]).await {
            Admitted::Denied(Denial::Question(Question::Ancestry(AncestryQuestion::Work { .. }))) => true,
            Admitted::Outcome(ReleaseOutcome::Released(released)) => {
                // Their content is for the source to compare.
                let by_store = [WrittenFile {
                    path: path.to_owned(),
                    claim_head: sha(HEAD),
                }];
                assert_eq!(released.by_store, by_store);
                false
            }
            other => panic!("{other:?}"),
        }
    };
    // The head comes after all that it is made of; which of two others comes first, their order does not prove.
    assert!(!asks(&ann.clone().at(TIP), TIP, "a.ts").await);
    assert!(
        !asks(&ann.clone().at(NEXT), &TIP[..9], "b.ts").await,
        "a copy that is behind has nothing unpushed"
    );
    for (head, new_head) in [(NEXT, NEXT), (old, old), (LOCAL, LOCAL), (LOCAL, TIP)] {
        assert!(asks(&ann.clone().at(head), new_head, "c.ts").await, "{head} {new_head}");
    }
    // Where nobody can be asked, the order is what there is.
    let ann = world.agent("ann").without_source();
    for (agent, new_head, why) in [
        (ann.clone(), old, Shortfall::NotAfterClaim),
        (ann.clone(), LOCAL, Shortfall::Unknown),
        (ann.clone().at(LOCAL), TIP, Shortfall::Unknown),
        (ann.clone(), HEAD, Shortfall::SameCommit),
    ] {
        let outcome = agent.release(Some(new_head), Reachable::Unknown, &["c.ts"]).await;
        assert_eq!(not_pushed(outcome), [("c.ts".to_owned(), why)], "{new_head}");
    }
    released(ann.release(Some(NEXT), Reachable::Unknown, &["c.ts"]).await);
    // A claim from before all that is known.
    world.records_head(TIP, &[TIP, NEXT]).await;
    world.records_head(NEXT, &[NEXT, LOCAL]).await;
    released(ann.at(LOCAL).release(Some(LOCAL), Reachable::Unknown, &["d.ts"]).await);
}

async fn a_store_that_knows_recent_commits_recognizes_a_push(world: World) {
    let ann = world.agent("ann").without_source();
    world.records_head(HEAD, &[]).await;
    ann.writes(&["a.ts", "b.ts", "c.ts"]).await;
    let release = async |new_head: &str, path: &str| ann.release(Some(new_head), Reachable::Unknown, &[path]).await;
    not_pushed(release(NEXT, "a.ts").await);
    world.records_head(TIP, &[TIP, NEXT, HEAD]).await;
    // A teammate has pushed since: the new head is reachable, and not the tip.
    let done = released(release(NEXT, "a.ts").await);
    assert_eq!(done.head.unwrap().commit.as_str(), TIP);
    released(release(&NEXT[..8], "b.ts").await);
    released(release(TIP, "c.ts").await);
}

async fn a_caller_that_was_ahead_must_push_what_it_had(world: World) {
    let ann = world.agent("ann").at(LOCAL).based_on(HEAD);
    ann.writes(&["a.ts"]).await;
    not_pushed(ann.release(Some(LOCAL), Reachable::No, &["a.ts"]).await);
    // The very commit that it claimed with, once it is on the branch, is a push.
    let ann = ann.while_branch_is_at(LOCAL);
    released(ann.release(Some(LOCAL), Reachable::Yes, &["a.ts"]).await);
}

async fn written_files_need_a_new_head_and_read_ones_do_not(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["w.ts"]).await;
    ann.reads(&["r.ts"]).await;
    let outcome = ann.release(None, Reachable::Unknown, &["r.ts", "w.ts"]).await;
    let written = vec!["w.ts".to_owned()];
    assert_eq!(outcome, ReleaseOutcome::NoNewHead { written });
    assert_eq!(world.stored("r.ts").await.len(), 1, "nothing is released");
    assert_eq!(ann.releases_read(&["r.ts"]).await.released, ["r.ts"]);
    assert_eq!(ann.abandons(&["w.ts"]).await.released, ["w.ts"]);
    assert_eq!(world.locked_file_count().await, 0);
    let expiries = state::locks::keys::expiries(&world.repo);
    assert_eq!(world.number(["ZCARD", &expiries]).await, 0);
}

async fn releasing_a_file_you_never_held_reports_not_held(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.reads(&["shared.ts"]).await;
    bob.reads(&["shared.ts", "theirs.ts"]).await;
    world.agent("ann/two").reads(&["agents.ts"]).await;
    ann.clone().on_branch("other").writes(&["branch.ts"]).await;
    let paths = ["shared.ts", "theirs.ts", "agents.ts", "branch.ts", "free.ts"];
    let done = ann.releases_read(&paths).await;
    assert_eq!(done.released, ["shared.ts"]);
    assert_eq!(done.missing, ["theirs.ts", "agents.ts", "branch.ts", "free.ts"]);
    let others = [("theirs.ts", "bob"), ("agents.ts", "ann")];
    assert_eq!(files_and_users(&done.others), others);
    for path in &paths[..4] {
        assert_eq!(world.stored(path).await.len(), 1, "{path}");
    }
    let done = ann.releases_read(&["free.ts"]).await;
    assert_eq!((done.released.len(), done.missing.len()), (0, 1));
}

async fn a_lock_that_expired_and_is_free_is_missing(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts"]).await;
    world.expire_locks(&["a.ts"]).await;
    let done = ann.releases_pushed(&["a.ts", "b.ts"]).await;
    assert_eq!(done.released, ["b.ts"]);
    assert_eq!(done.missing, ["a.ts"]);
    assert_eq!(
        world.events_since(1).await,
        ["lock_expired ann a.ts", "lock_released ann b.ts"]
    );
}

// rule: locks#expiry
async fn a_lock_that_expired_and_is_written_by_another_is_lost(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts", "b.ts"]).await;
    world.expire_locks(&["a.ts"]).await;
    bob.writes(&["a.ts"]).await;
    let outcome = ann.release(Some(NEXT), Reachable::Yes, &["a.ts", "b.ts"]).await;
    assert_eq!(outcome.head().unwrap().commit.as_str(), HEAD);
    assert_eq!(files_and_users(&lost(outcome)), [("a.ts", "bob")]);
    assert_eq!(world.stored("b.ts").await.len(), 1, "nothing is released");
    let event = world.last_event().await;
    assert_eq!(
        json!([event["type"], event["reason"], event["conflicts"]]),
        json!(["lock_refused", "LOST", ["a.ts"]])
    );
    // Abandoning does not release a lock of another holder either.
    lost(ann.release(None, Reachable::Unknown, &["a.ts"]).await);
    assert_eq!(ann.abandons(&["b.ts"]).await.released, ["b.ts"]);
    assert_eq!(world.stored("a.ts").await[0].user_id, "bob");
}

async fn importers_of_what_was_released_are_named_once_and_counted(world: World) {
    let graph: [(&str, &[&str]); 2] = [("one.ts", &["a.ts", "b.ts"]), ("a.ts", &["b.ts", "imported.ts"])];
    store_graph(&world, &graph).await;
    store_imports(&world, &files("importers", 1500), &["hub.ts"]).await;
    let ann = world.agent("ann");
    ann.reads(&["a.ts", "b.ts", "hub.ts", "lone.ts"]).await;
    let done = ann.releases_read(&["a.ts", "b.ts"]).await;
    assert_eq!((done.importers, done.importer_count), (vec!["one.ts".to_owned()], 1));
    let done = ann.releases_read(&["hub.ts"]).await;
    assert_eq!((done.importers.len(), done.importer_count), (1000, 1500));
    let done = ann.releases_read(&["lone.ts", "hub.ts"]).await;
    let importers = (done.importers.len(), done.importer_count);
    assert_eq!(importers, (0, 0), "not of what was not released");
}

on_every_store!(
    written_files_are_released_after_a_push,
    the_event_of_a_release_has_is_pushed,
    not_pushed_is_a_head_that_is_unchanged_or_not_on_the_branch,
    one_file_without_a_push_keeps_all_and_is_named_alone,
    the_sources_verdict_on_each_file_decides,
    the_store_sends_no_ancestry_question_where_its_own_commits_prove_a_push,
    a_store_that_knows_recent_commits_recognizes_a_push,
    a_caller_that_was_ahead_must_push_what_it_had,
    written_files_need_a_new_head_and_read_ones_do_not,
    releasing_a_file_you_never_held_reports_not_held,
    a_lock_that_expired_and_is_free_is_missing,
    a_lock_that_expired_and_is_written_by_another_is_lost,
    importers_of_what_was_released_are_named_once_and_counted,
);
