//! `release`.

use coord_domain::work::{Shortfall, Verdict};
use coord_sources::Reachable;
use coord_state as state;
use coord_state::admission::{Admitted, AncestryQuestion, Denial, Question};
use coord_state::locks::{JudgedFile, ReleaseOutcome, WrittenFile};
use serde_json::json;

use crate::stores::neighbors::store_graph;
use crate::world::{HEAD, LOCAL, NEXT, World, answered, released, sha};

async fn written_files_are_released_after_a_push(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts"]).await;
    let done = released(
        ann.clone()
            .while_branch_is_at(NEXT)
            .with_message("Done with the parser")
            .release(Some(NEXT), Reachable::Yes, &["a.ts"])
            .await,
    );
    assert_eq!(
        (done.released, done.missing, done.head.unwrap().commit.as_str()),
        (vec!["a.ts".to_owned()], vec![], NEXT)
    );
    assert_eq!(world.stored("a.ts").await, []);
    assert_eq!(world.stored("b.ts").await.len(), 1);
    let event = world.events().await.pop().unwrap().1;
    assert_eq!(
        (&event["type"], &event["message"], &event["status"]),
        (
            &"lock_released".into(),
            &"Done with the parser".into(),
            &"WRITING".into()
        )
    );
    world.agent("bob").writes(&["a.ts"]).await;
    world.assert_index_is_exact().await;
}

async fn not_pushed_is_a_head_that_is_unchanged_or_not_on_the_branch(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts"]).await;
    ann.reads(&["read.ts"]).await;
    let before = (
        world.stored("a.ts").await,
        world.stored("b.ts").await,
        world.stored("read.ts").await,
    );
    let count = world.events().await.len();
    for (new_head, reachable) in [
        (HEAD, Reachable::Yes),
        (&HEAD[..7], Reachable::Yes),
        (LOCAL, Reachable::No),
        (LOCAL, Reachable::Unknown),
        (&NEXT[..7], Reachable::No),
    ] {
        let outcome = ann
            .release(Some(new_head), reachable, &["read.ts", "a.ts", "b.ts"])
            .await;
        let ReleaseOutcome::NotPushed { head, unpushed, .. } = outcome else {
            panic!("{new_head}: {outcome:?}")
        };
        let mut files: Vec<&str> = unpushed.iter().map(|(path, _)| path.as_str()).collect();
        files.sort_unstable();
        assert_eq!((head.unwrap().commit.as_str(), files), (HEAD, vec!["a.ts", "b.ts"]));
    }
    assert_eq!(
        (
            world.stored("a.ts").await,
            world.stored("b.ts").await,
            world.stored("read.ts").await
        ),
        before
    );
    let events = world.events_since(count).await;
    assert_eq!(events, ["lock_refused ann read.ts a.ts b.ts"]);
    let event = world.events().await.pop().unwrap().1;
    assert_eq!(
        (&event["reason"], &event["status"]),
        (&"NOT_PUSHED".into(), &"OPEN".into())
    );
}

async fn one_file_without_a_push_keeps_all_and_is_named_alone(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["early.ts"]).await;
    let later = ann.clone().at(NEXT).while_branch_is_at(NEXT);
    later.writes(&["late.ts"]).await;
    let outcome = later
        .release(Some(NEXT), Reachable::Yes, &["early.ts", "late.ts"])
        .await;
    let ReleaseOutcome::NotPushed { unpushed, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(unpushed, [("late.ts".to_owned(), Shortfall::SameCommit)]);
    assert_eq!(world.stored("early.ts").await.len(), 1);
    released(later.release(Some(NEXT), Reachable::Yes, &["early.ts"]).await);
}

async fn the_sources_verdict_on_each_file_decides(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts", "c.ts"]).await;
    let judged_file = |path: &str, claim_head: &str, verdict| JudgedFile {
        path: path.to_owned(),
        claim_head: sha(claim_head),
        blob: String::new(),
        verdict,
    };
    let earlier = Verdict::Missing(Shortfall::NotAfterClaim);
    let judged_files = [
        judged_file("a.ts", HEAD, Verdict::Pushed),
        judged_file("b.ts", HEAD, earlier),
        // Of another claim, as when the lock was claimed anew meanwhile.
        judged_file("c.ts", LOCAL, Verdict::Pushed),
    ];
    let paths = ["a.ts", "b.ts", "c.ts"];
    let outcome = answered(ann.release_as_judged(Some(NEXT), &judged_files, false, &paths).await);
    let ReleaseOutcome::NotPushed { mut unpushed, .. } = outcome else {
        panic!("{outcome:?}")
    };
    unpushed.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [("b.ts", Shortfall::NotAfterClaim), ("c.ts", Shortfall::Unknown)];
    assert_eq!(unpushed, expected.map(|(path, why)| (path.to_owned(), why)));
    for path in paths {
        assert_eq!(world.stored(path).await.len(), 1, "{path}");
    }
    let judged_files = [
        judged_file("a.ts", HEAD, Verdict::Pushed),
        judged_file("b.ts", HEAD, Verdict::Unchanged),
        judged_file("c.ts", HEAD, Verdict::Unchanged),
    ];
    let done = released(answered(
        ann.release_as_judged(Some(NEXT), &judged_files, false, &paths).await,
    ));
    assert_eq!(done.released.len(), 3);
    assert_eq!(done.unchanged, ["b.ts", "c.ts"]);
    let events = world.events().await;
    let pushed = events.iter().filter(|(_, event)| event["type"] == "lock_released");
    let pushed: Vec<_> = pushed
        .map(|(_, event)| json!([event["files"], event["is_pushed"]]))
        .collect();
    assert_eq!(pushed, [json!([["a.ts"], true]), json!([["b.ts", "c.ts"], false])]);
}

async fn the_event_of_a_release_has_is_pushed(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["pushed.ts", "thrown.ts"]).await;
    ann.reads(&["read.ts"]).await;
    let pushes = ann.clone().while_branch_is_at(NEXT);
    released(
        pushes
            .release(Some(NEXT), Reachable::Yes, &["pushed.ts", "read.ts"])
            .await,
    );
    pushes.abandons(&["thrown.ts"]).await;
    let events = world.events().await;
    let is_pushed = |file: &str| {
        let of_file = |event: &serde_json::Value| event["type"] == "lock_released" && event["files"] == json!([file]);
        let event = events.iter().find(|(_, event)| of_file(event));
        event.expect(file).1["is_pushed"].as_bool()
    };
    assert_eq!(
        ["pushed.ts", "read.ts", "thrown.ts"].map(is_pushed),
        [Some(true), Some(false), Some(false)]
    );
}

async fn the_store_sends_no_ancestry_question_where_its_own_commits_prove_a_push(world: World) {
    let tip = "dddddddddddddddddddddddddddddddddddddddd";
    let old = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
    world.records_head(HEAD, &[HEAD, old]).await;
    let ann = world.agent("ann").without_source().with_aged_head();
    let paths = ["a.ts", "b.ts", "c.ts", "d.ts"];
    ann.writes(&paths).await;
    world.records_head(tip, &[tip, NEXT, HEAD, old]).await;
    let asks = async |agent: &crate::world::Agent<'_>, new_head: &str, path: &str| {
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
    assert!(!asks(&ann.clone().at(tip), tip, "a.ts").await);
    assert!(
        !asks(&ann.clone().at(NEXT), &tip[..9], "b.ts").await,
        "a copy that is behind has nothing unpushed"
    );
    for (agent, new_head) in [
        (ann.clone().at(NEXT), NEXT),
        (ann.clone().at(old), old),
        (ann.clone().at(LOCAL), LOCAL),
        (ann.clone().at(LOCAL), tip),
    ] {
        assert!(asks(&agent, new_head, "c.ts").await, "{new_head}");
    }
    // Where nobody can be asked, the order is what there is.
    let ann = world.agent("ann").without_source();
    for (agent, new_head, why) in [
        (ann.clone(), old, Shortfall::NotAfterClaim),
        (ann.clone(), LOCAL, Shortfall::Unknown),
        (ann.clone().at(LOCAL), tip, Shortfall::Unknown),
        (ann.clone(), HEAD, Shortfall::SameCommit),
    ] {
        let outcome = agent.release(Some(new_head), Reachable::Unknown, &["c.ts"]).await;
        let ReleaseOutcome::NotPushed { unpushed, .. } = outcome else {
            panic!("{new_head}: {outcome:?}")
        };
        assert_eq!(unpushed, [("c.ts".to_owned(), why)], "{new_head}");
    }
    released(ann.release(Some(NEXT), Reachable::Unknown, &["c.ts"]).await);
    // A claim from before all that is known.
    world.records_head(tip, &[tip, NEXT]).await;
    world.records_head(NEXT, &[NEXT, LOCAL]).await;
    released(ann.at(LOCAL).release(Some(LOCAL), Reachable::Unknown, &["d.ts"]).await);
}

async fn a_store_that_knows_recent_commits_recognizes_a_push(world: World) {
    let ann = world.agent("ann").without_source();
    world.records_head(HEAD, &[]).await;
    ann.writes(&["a.ts", "b.ts", "c.ts"]).await;
    let outcome = ann.release(Some(NEXT), Reachable::Unknown, &["a.ts"]).await;
    assert!(matches!(outcome, ReleaseOutcome::NotPushed { .. }), "{outcome:?}");
    let tip = "dddddddddddddddddddddddddddddddddddddddd";
    world.records_head(tip, &[tip, NEXT, HEAD]).await;
    // A teammate has pushed since: the new head is reachable, and not the tip.
    let done = released(ann.release(Some(NEXT), Reachable::Unknown, &["a.ts"]).await);
    assert_eq!(done.head.unwrap().commit.as_str(), tip);
    released(ann.release(Some(&NEXT[..8]), Reachable::Unknown, &["b.ts"]).await);
    released(ann.release(Some(tip), Reachable::Unknown, &["c.ts"]).await);
}

async fn a_caller_that_was_ahead_must_push_what_it_had(world: World) {
    let ann = world.agent("ann").at(LOCAL).based_on(HEAD);
    ann.writes(&["a.ts"]).await;
    let outcome = ann.release(Some(LOCAL), Reachable::No, &["a.ts"]).await;
    assert!(matches!(outcome, ReleaseOutcome::NotPushed { .. }), "{outcome:?}");
    // The very commit that it claimed with, once it is on the branch, is a push.
    released(
        ann.while_branch_is_at(LOCAL)
            .release(Some(LOCAL), Reachable::Yes, &["a.ts"])
            .await,
    );
}

async fn written_files_need_a_new_head_and_read_ones_do_not(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["w.ts"]).await;
    ann.reads(&["r.ts"]).await;
    let outcome = ann.release(None, Reachable::Unknown, &["r.ts", "w.ts"]).await;
    assert_eq!(
        outcome,
        ReleaseOutcome::NoNewHead {
            written: vec!["w.ts".to_owned()]
        }
    );
    assert_eq!(world.stored("r.ts").await.len(), 1, "nothing is released");
    let done = released(ann.release(None, Reachable::Unknown, &["r.ts"]).await);
    assert_eq!(done.released, ["r.ts"]);
    let done = ann.abandons(&["w.ts"]).await;
    assert_eq!(done.released, ["w.ts"]);
    assert_eq!(world.number(["HLEN", &state::locks::keys::locks(&world.repo)]).await, 0);
    assert_eq!(
        world
            .number(["ZCARD", &state::locks::keys::expiries(&world.repo)])
            .await,
        0
    );
}

async fn releasing_a_file_you_never_held_reports_not_held(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.reads(&["shared.ts"]).await;
    bob.reads(&["shared.ts", "theirs.ts"]).await;
    world.agent("ann/two").reads(&["agents.ts"]).await;
    ann.clone().on_branch("other").writes(&["branch.ts"]).await;
    let paths = ["shared.ts", "theirs.ts", "agents.ts", "branch.ts", "free.ts"];
    let done = released(ann.release(None, Reachable::Unknown, &paths).await);
    assert_eq!(done.released, ["shared.ts"]);
    assert_eq!(done.missing, ["theirs.ts", "agents.ts", "branch.ts", "free.ts"]);
    let others: Vec<_> = done
        .others
        .iter()
        .map(|lock| (lock.file_path.as_str(), lock.user_id.as_str()))
        .collect();
    assert_eq!(others, [("theirs.ts", "bob"), ("agents.ts", "ann")]);
    for path in ["shared.ts", "theirs.ts", "agents.ts", "branch.ts"] {
        assert_eq!(world.stored(path).await.len(), 1, "{path}");
    }
    let done = released(ann.release(None, Reachable::Unknown, &["free.ts"]).await);
    assert_eq!((done.released.len(), done.missing.len()), (0, 1));
}

async fn a_lock_that_expired_and_is_free_is_missing(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts"]).await;
    world.expire_locks(&["a.ts"]).await;
    let done = released(ann.release(Some(NEXT), Reachable::Yes, &["a.ts", "b.ts"]).await);
    assert_eq!(
        (done.released, done.missing),
        (vec!["b.ts".to_owned()], vec!["a.ts".to_owned()])
    );
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
    let ReleaseOutcome::Lost { head, others, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (head.unwrap().commit.as_str(), others.len(), others[0].user_id.as_str()),
        (HEAD, 1, "bob")
    );
    assert_eq!(world.stored("b.ts").await.len(), 1, "nothing is released");
    let event = world.events().await.pop().unwrap().1;
    assert_eq!(
        (&event["type"], &event["reason"], &event["conflicts"]),
        (&"lock_refused".into(), &"LOST".into(), &serde_json::json!(["a.ts"]))
    );
    // Abandoning does not release a lock of another holder either.
    let outcome = ann.release(None, Reachable::Unknown, &["a.ts"]).await;
    assert!(matches!(outcome, ReleaseOutcome::Lost { .. }), "{outcome:?}");
    assert_eq!(ann.abandons(&["b.ts"]).await.released, ["b.ts"]);
    assert_eq!(world.stored("a.ts").await[0].user_id, "bob");
}

async fn importers_of_what_was_released_are_named_once_and_counted(world: World) {
    let many: Vec<String> = (0..1500).map(|number| format!("importers/{number}.ts")).collect();
    let mut graph: Vec<(&str, &[&str])> = vec![("one.ts", &["a.ts", "b.ts"]), ("a.ts", &["b.ts", "imported.ts"])];
    graph.extend(many.iter().map(|path| (path.as_str(), &["hub.ts"][..])));
    store_graph(&world, &graph).await;
    let ann = world.agent("ann");
    ann.reads(&["a.ts", "b.ts", "hub.ts", "lone.ts"]).await;
    let done = released(ann.release(None, Reachable::Unknown, &["a.ts", "b.ts"]).await);
    assert_eq!((done.importers, done.importer_count), (vec!["one.ts".to_owned()], 1));
    let done = released(ann.release(None, Reachable::Unknown, &["hub.ts"]).await);
    assert_eq!((done.importers.len(), done.importer_count), (1000, 1500));
    let done = released(ann.release(None, Reachable::Unknown, &["lone.ts", "hub.ts"]).await);
    assert_eq!(
        (done.importers.len(), done.importer_count),
        (0, 0),
        "not of what was not released"
    );
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
