//! `release`.

use coord::domain::work::{Shortfall, Verdict};
use coord::source::Reachable;
use coord::store::keys;
use coord::store::scripts::{Denial, Judged, ReleaseOutcome};

use crate::stores::neighbors::store_graph;
use crate::world::{HEAD, LOCAL, NEXT, World, answered, denial_of, released, sha};

async fn what_was_written_is_released_after_a_push(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts"]).await;
    let done = released(
        ann.clone()
            .while_branch_is_at(NEXT)
            .saying("Done with the parser")
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
        let ReleaseOutcome::NotPushed { head, unpushed } = outcome else {
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

async fn what_the_source_says_of_each_file_decides(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts", "b.ts", "c.ts"]).await;
    let judged = |path: &str, claim_head: &str, verdict| Judged {
        path: path.to_owned(),
        claim_head: sha(claim_head),
        verdict,
    };
    let earlier = Verdict::Missing(Shortfall::NotAfterClaim);
    let said = [
        judged("a.ts", HEAD, Verdict::Pushed),
        judged("b.ts", HEAD, earlier),
        // Of another claim, as when the lock was claimed anew meanwhile.
        judged("c.ts", LOCAL, Verdict::Pushed),
    ];
    let paths = ["a.ts", "b.ts", "c.ts"];
    let outcome = answered(ann.release_as_judged(Some(NEXT), &said, false, &paths).await);
    let ReleaseOutcome::NotPushed { mut unpushed, .. } = outcome else {
        panic!("{outcome:?}")
    };
    unpushed.sort_by(|one, other| one.0.cmp(&other.0));
    let expected = [("b.ts", Shortfall::NotAfterClaim), ("c.ts", Shortfall::Unknown)];
    assert_eq!(unpushed, expected.map(|(path, why)| (path.to_owned(), why)));
    for path in paths {
        assert_eq!(world.stored(path).await.len(), 1, "{path}");
    }
    let said = [
        judged("a.ts", HEAD, Verdict::Pushed),
        judged("b.ts", HEAD, Verdict::Unchanged),
        judged("c.ts", HEAD, Verdict::Unchanged),
    ];
    let done = released(answered(ann.release_as_judged(Some(NEXT), &said, false, &paths).await));
    assert_eq!(done.released.len(), 3);
    assert_eq!(done.unchanged, ["b.ts", "c.ts"]);
}

async fn the_store_asks_nobody_where_its_own_commits_prove_a_push(world: World) {
    let tip = "dddddddddddddddddddddddddddddddddddddddd";
    let old = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
    world.records_head(HEAD, &[HEAD, old]).await;
    let ann = world.agent("ann").without_source().with_aged_head();
    let paths = ["a.ts", "b.ts", "c.ts", "d.ts"];
    ann.writes(&paths).await;
    world.records_head(tip, &[tip, NEXT, HEAD, old]).await;
    let asks = async |agent: &crate::world::Agent<'_>, new_head: &str, path: &str| {
        let outcome = answered(agent.try_release(Some(new_head), None, false, &[path]).await);
        match outcome {
            ReleaseOutcome::AskWork { .. } => true,
            ReleaseOutcome::Released(_) => false,
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

async fn a_store_that_knows_recent_commits_can_tell_a_push(world: World) {
    let ann = world.agent("ann").without_source();
    world.records_head(HEAD, &[]).await;
    ann.writes(&["a.ts", "b.ts", "c.ts"]).await;
    let outcome = ann.release(Some(NEXT), Reachable::Unknown, &["a.ts"]).await;
    assert!(matches!(outcome, ReleaseOutcome::NotPushed { .. }), "{outcome:?}");
    let tip = "dddddddddddddddddddddddddddddddddddddddd";
    world.records_head(tip, &[tip, NEXT, HEAD]).await;
    // Somebody else has pushed since: the new head is reachable, and not the tip.
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
    assert_eq!(world.number(["HLEN", &keys::locks(&world.repo)]).await, 0);
    assert_eq!(world.number(["ZCARD", &keys::expiries(&world.repo)]).await, 0);
}

async fn what_is_not_held_is_said_and_never_another_s(world: World) {
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
    world.lapse(&["a.ts"]).await;
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

async fn a_lock_that_expired_and_is_written_by_another_is_lost(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts", "b.ts"]).await;
    world.lapse(&["a.ts"]).await;
    bob.writes(&["a.ts"]).await;
    let outcome = ann.release(Some(NEXT), Reachable::Yes, &["a.ts", "b.ts"]).await;
    let ReleaseOutcome::Lost { head, others } = outcome else {
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
    // Abandoning is no way to another's lock either.
    let outcome = ann.release(None, Reachable::Unknown, &["a.ts"]).await;
    assert!(matches!(outcome, ReleaseOutcome::Lost { .. }), "{outcome:?}");
    assert_eq!(ann.abandons(&["b.ts"]).await.released, ["b.ts"]);
    assert_eq!(world.stored("a.ts").await[0].user_id, "bob");
}

async fn without_any_head_nothing_is_released_but_what_is_thrown_away(world: World) {
    let ann = world.agent("ann");
    ann.reads(&["a.ts"]).await;
    let stop = denial_of(ann.without_source().try_release(None, None, false, &["a.ts"]).await);
    assert_eq!(stop, Denial::UnknownHead);
    assert_eq!(world.stored("a.ts").await.len(), 1);
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

async fn a_release_that_is_asked_again_has_the_same_answer_and_frees_nobody_else(world: World) {
    store_graph(&world, &[("one.ts", &["a.ts"])]).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts", "b.ts"]).await;
    world.lapse(&["b.ts"]).await;
    let release = async || ann.release(Some(NEXT), Reachable::Yes, &["a.ts", "b.ts"]).await;
    let first = release().await;
    assert_eq!(released(first.clone()).importers, ["one.ts"]);
    bob.writes(&["a.ts", "b.ts"]).await;
    let events = world.events().await.len();
    let moved = ann.clone().while_branch_is_at(LOCAL);
    assert_eq!(release().await, first);
    assert_eq!(
        moved.release(Some(NEXT), Reachable::Yes, &["b.ts", "a.ts"]).await,
        first
    );
    assert_eq!(world.events().await.len(), events);
    assert_eq!(world.stored("a.ts").await[0].user_id, "bob");
    // Another request is told what was given back, and what was lost.
    let other = ann.release(Some(LOCAL), Reachable::Yes, &["a.ts"]).await;
    let done = released(other);
    assert_eq!((done.released.len(), done.missing.len()), (0, 0));
    assert!(
        matches!(done.again.as_slice(), [(path, 0..60)] if path == "a.ts"),
        "{done:?}"
    );
    let outcome = ann.release(Some(LOCAL), Reachable::Yes, &["a.ts", "b.ts"]).await;
    let ReleaseOutcome::Lost { others, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        others.iter().map(|lock| lock.file_path.as_str()).collect::<Vec<_>>(),
        ["b.ts"]
    );
    // It is nobody else's answer: not another agent's, nor that of another branch.
    for other in [world.agent("ann/two"), world.agent("cid")] {
        let outcome = other.release(Some(NEXT), Reachable::Yes, &["a.ts", "b.ts"]).await;
        assert!(matches!(outcome, ReleaseOutcome::Lost { .. }), "{outcome:?}");
    }
    let elsewhere = ann
        .clone()
        .on_branch("other")
        .release(Some(NEXT), Reachable::Yes, &["a.ts"])
        .await;
    assert_eq!(released(elsewhere).missing, ["a.ts"]);
}

async fn what_is_held_anew_is_released_anew(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    for _ in 0..3 {
        ann.reads(&["a.ts", "b.ts"]).await;
        let done = released(ann.release(None, Reachable::Unknown, &["a.ts", "b.ts"]).await);
        assert_eq!(done.released.len(), 2);
        assert_eq!(world.stored("a.ts").await, []);
    }
    // Held again and lost again: that it was given back before says nothing any more.
    ann.writes(&["a.ts"]).await;
    world.lapse(&["a.ts"]).await;
    bob.writes(&["a.ts"]).await;
    let outcome = ann.release(None, Reachable::Unknown, &["a.ts", "b.ts"]).await;
    let ReleaseOutcome::Lost { others, .. } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!((others.len(), others[0].file_path.as_str()), (1, "a.ts"));
    let done = released(ann.release(None, Reachable::Unknown, &["b.ts"]).await);
    assert_eq!(done.again.len(), 1, "{done:?}");
}

async fn what_was_given_back_is_remembered_within_bounds(world: World) {
    let key = keys::releases(&world.repo);
    let ann = world.agent("ann");
    let field = "ann\n\nmain";
    // Ten minutes.
    ann.reads(&["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    assert_eq!(ann.abandons(&["a.ts"]).await.released, ["a.ts"], "the same answer");
    let ttl = world.number(["TTL", &key]).await;
    assert!((1..=600).contains(&ttl), "{ttl}");
    let kept = world.command(["HGET", &key, field]).await;
    let mut kept: serde_json::Value = serde_json::from_str(kept.as_str().unwrap()).unwrap();
    kept[0]["time"] = (kept[0]["time"].as_i64().unwrap() - 600).into();
    world.command(["HSET", &key, field, &kept.to_string()]).await;
    assert_eq!(ann.abandons(&["a.ts"]).await.missing, ["a.ts"], "it is long ago");
    // Of one holder a number of releases, and of bytes.
    for number in 0..20 {
        let path = format!("{number}.ts");
        ann.reads(&[&path]).await;
        ann.abandons(&[&path]).await;
    }
    assert_eq!(ann.abandons(&["3.ts"]).await.missing.len(), 1);
    assert_eq!(ann.abandons(&["4.ts"]).await.released.len(), 1);
    let long: Vec<String> = (0..26).map(|number| format!("{number}/{}", "x".repeat(3000))).collect();
    for path in long.chunks(22) {
        ann.reads(path).await;
        ann.abandons(path).await;
    }
    let kept = world.command(["HGET", &key, field]).await;
    assert!(
        kept.as_str().unwrap().len() <= 65_540,
        "{}",
        kept.as_str().unwrap().len()
    );
    assert_eq!(ann.abandons(&long[22..]).await.released.len(), 4);
    assert_eq!(ann.abandons(&long[..1]).await.missing.len(), 1, "there was no room");
    // Of a repository a number of holders.
    for number in 0..258 {
        let holder = world.agent(&format!("ann/{number}"));
        holder.reads(&["a.ts"]).await;
        holder.abandons(&["a.ts"]).await;
    }
    assert!(world.number(["HLEN", &key]).await <= 2 * 256 + 1);
    assert_eq!(world.agent("ann/257").abandons(&["a.ts"]).await.released.len(), 1);
    assert_eq!(world.agent("ann/1").abandons(&["a.ts"]).await.missing.len(), 1);
}

async fn who_throws_work_away_gives_back_what_is_left_and_hears_what_is_lost(world: World) {
    store_graph(&world, &[("one.ts", &["a.ts"])]).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts", "lost.ts", "gone.ts"]).await;
    world.lapse(&["lost.ts", "gone.ts"]).await;
    bob.writes(&["lost.ts"]).await;
    let done = ann.abandons(&["a.ts", "lost.ts", "gone.ts"]).await;
    assert_eq!(
        (done.released, done.missing),
        (vec!["a.ts".to_owned()], vec!["gone.ts".to_owned()])
    );
    assert_eq!(
        done.lost
            .iter()
            .map(|lock| (lock.file_path.as_str(), lock.user_id.as_str()))
            .collect::<Vec<_>>(),
        [("lost.ts", "bob")]
    );
    assert_eq!(
        (done.importers.len(), done.importer_count),
        (0, 0),
        "nothing has changed for them"
    );
    assert_eq!(world.stored("lost.ts").await[0].user_id, "bob");
    // Who has nothing left has nothing to give back.
    let outcome = answered(world.agent("cid").try_release(None, None, true, &["lost.ts"]).await);
    assert!(matches!(outcome, ReleaseOutcome::Lost { .. }), "{outcome:?}");
}

async fn work_is_thrown_away_without_any_head(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    let done = ann.without_source().abandons(&["a.ts"]).await;
    assert_eq!((done.released.len(), done.head), (1, None));
}

async fn everything_of_one_holder_on_one_branch_is_thrown_away(world: World) {
    const NAMED: [&str; 0] = [];
    let (ann, two, bob) = (world.agent("ann"), world.agent("ann/two"), world.agent("bob"));
    let named_alike = world.agent("ann2");
    assert_eq!(ann.abandons(&NAMED).await.released, NAMED, "who holds nothing");
    ann.writes(&["b.ts", "a.ts", "gone.ts"]).await;
    for reader in [&ann, &two, &bob, &named_alike] {
        reader.reads(&["read.ts"]).await;
    }
    two.writes(&["two.ts"]).await;
    bob.clone()
        .saying(r#"Not held by "user_id":"ann""#)
        .writes(&["bob.ts"])
        .await;
    ann.clone().on_branch("other").writes(&["a.ts", "other.ts"]).await;
    world.lapse(&["gone.ts"]).await;
    let count = world.events().await.len();
    let done = ann.abandons(&NAMED).await;
    assert_eq!(done.released, ["a.ts", "b.ts", "read.ts"]);
    assert_eq!((done.missing.len(), done.lost.len(), done.importer_count), (0, 0, 0));
    let freed: Vec<String> = world.events_since(count).await;
    assert!(
        freed.iter().all(|event| event.starts_with("lock_released ann ")),
        "{freed:?}"
    );
    let left = world.stored("a.ts").await;
    assert_eq!((left.len(), left[0].branch.as_str()), (1, "other"));
    let readers: Vec<String> = world
        .stored("read.ts")
        .await
        .into_iter()
        .map(|lock| lock.user_id)
        .collect();
    assert_eq!(readers, ["ann", "bob", "ann2"], "the first is her other agent");
    for path in ["two.ts", "bob.ts", "other.ts"] {
        assert_eq!(world.stored(path).await.len(), 1, "{path}");
    }
    world.assert_held_is_exact().await;
    world.assert_index_is_exact().await;
    assert_eq!(ann.abandons(&NAMED).await, done, "asked again, it is answered again");
    assert_eq!(
        ann.clone().on_branch("other").abandons(&NAMED).await.released,
        ["a.ts", "other.ts"]
    );
}

async fn as_much_as_one_person_may_hold_is_thrown_away_at_once(world: World) {
    const NAMED: [&str; 0] = [];
    let ann = world.agent("ann");
    let (mut held, reader) = (0, world.agent("bob"));
    for part in 0..4 {
        let paths: Vec<String> = (0..500).map(|number| format!("src/{part}/{number}.ts")).collect();
        ann.reads(&paths).await;
        held += paths.len();
    }
    reader.reads(&["src/0/0.ts"]).await;
    assert_eq!(ann.abandons(&NAMED).await.released.len(), held);
    assert_eq!(world.held().await.keys().collect::<Vec<_>>(), ["@bob", "all"]);
    world.assert_index_is_exact().await;
}

on_every_store!(
    everything_of_one_holder_on_one_branch_is_thrown_away,
    as_much_as_one_person_may_hold_is_thrown_away_at_once,
    what_was_written_is_released_after_a_push,
    not_pushed_is_a_head_that_is_unchanged_or_not_on_the_branch,
    one_file_without_a_push_keeps_all_and_is_named_alone,
    what_the_source_says_of_each_file_decides,
    the_store_asks_nobody_where_its_own_commits_prove_a_push,
    a_store_that_knows_recent_commits_can_tell_a_push,
    a_caller_that_was_ahead_must_push_what_it_had,
    written_files_need_a_new_head_and_read_ones_do_not,
    what_is_not_held_is_said_and_never_another_s,
    a_lock_that_expired_and_is_free_is_missing,
    a_lock_that_expired_and_is_written_by_another_is_lost,
    without_any_head_nothing_is_released_but_what_is_thrown_away,
    work_is_thrown_away_without_any_head,
    importers_of_what_was_released_are_named_once_and_counted,
    a_release_that_is_asked_again_has_the_same_answer_and_frees_nobody_else,
    what_is_held_anew_is_released_anew,
    what_was_given_back_is_remembered_within_bounds,
    who_throws_work_away_gives_back_what_is_left_and_hears_what_is_lost,
);
