//! Locks released without a push.

use coord_state::admission::Denial;
use coord_state::locks::ReleaseOutcome;

use crate::stores::neighbors::store_graph;
use crate::world::{World, answered, denial_of};

async fn without_any_head_nothing_is_released_but_what_is_thrown_away(world: World) {
    let ann = world.agent("ann");
    ann.reads(&["a.ts"]).await;
    let stop = denial_of(ann.without_source().try_release(None, None, false, &["a.ts"]).await);
    assert_eq!(stop, Denial::UnknownHead);
    assert_eq!(world.stored("a.ts").await.len(), 1);
}

async fn abandoning_releases_the_rest_and_reports_lost_locks(world: World) {
    store_graph(&world, &[("one.ts", &["a.ts"])]).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts", "lost.ts", "gone.ts"]).await;
    world.expire_locks(&["lost.ts", "gone.ts"]).await;
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
    // A holder that has nothing left has nothing to release.
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
        .with_message(r#"Not held by "user_id":"ann""#)
        .writes(&["bob.ts"])
        .await;
    ann.clone().on_branch("other").writes(&["a.ts", "other.ts"]).await;
    world.expire_locks(&["gone.ts"]).await;
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
    without_any_head_nothing_is_released_but_what_is_thrown_away,
    work_is_thrown_away_without_any_head,
    abandoning_releases_the_rest_and_reports_lost_locks,
);
