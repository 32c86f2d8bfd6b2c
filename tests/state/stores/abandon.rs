//! Locks released without a push.

use coord_state::admission::Denial;

use crate::stores::neighbors::store_graph;
use crate::world::worker::holders;
use crate::world::{NO_FILES, World, answered, denial_of, files, files_and_users, lost};

async fn without_any_head_nothing_is_released_but_what_is_thrown_away(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["w.ts"]).await;
    ann.reads(&["r.ts"]).await;
    let ann = ann.without_source();
    let stop = denial_of(ann.try_release(None, None, false, &["r.ts"]).await);
    assert_eq!(stop, Denial::UnknownHead);
    assert_eq!(world.stored("r.ts").await.len(), 1);
    let done = ann.abandons(&["w.ts"]).await;
    assert_eq!((done.released.len(), done.head), (1, None));
}

async fn abandoning_releases_the_rest_and_reports_lost_locks(world: World) {
    store_graph(&world, &[("one.ts", &["a.ts"])]).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts", "lost.ts", "gone.ts"]).await;
    world.expire_locks(&["lost.ts", "gone.ts"]).await;
    bob.writes(&["lost.ts"]).await;
    let done = ann.abandons(&["a.ts", "lost.ts", "gone.ts"]).await;
    assert_eq!(done.released, ["a.ts"]);
    assert_eq!(done.missing, ["gone.ts"]);
    assert_eq!(files_and_users(&done.lost), [("lost.ts", "bob")]);
    let importers = (done.importers.len(), done.importer_count);
    assert_eq!(importers, (0, 0), "nothing has changed for them");
    assert_eq!(world.stored("lost.ts").await[0].user_id, "bob");
    // A holder that has nothing left has nothing to release.
    lost(answered(
        world.agent("cid").try_release(None, None, true, &["lost.ts"]).await,
    ));
}

async fn everything_of_one_holder_on_one_branch_is_thrown_away(world: World) {
    let (ann, two, bob) = (world.agent("ann"), world.agent("ann/two"), world.agent("bob"));
    let named_alike = world.agent("ann2");
    assert_eq!(ann.abandons(&NO_FILES).await.released, NO_FILES, "who holds nothing");
    ann.writes(&["b.ts", "a.ts", "gone.ts"]).await;
    for reader in [&ann, &two, &bob, &named_alike] {
        reader.reads(&["read.ts"]).await;
    }
    two.writes(&["two.ts"]).await;
    bob.clone()
        .with_message(r#"Not held by "user_id":"ann""#)
        .writes(&["bob.ts"])
        .await;
    let elsewhere = ann.clone().on_branch("other");
    elsewhere.writes(&["a.ts", "other.ts"]).await;
    world.expire_locks(&["gone.ts"]).await;
    let count = world.events().await.len();
    let done = ann.abandons(&NO_FILES).await;
    assert_eq!(done.released, ["a.ts", "b.ts", "read.ts"]);
    assert_eq!((done.missing.len(), done.lost.len(), done.importer_count), (0, 0, 0));
    let freed = world.events_since(count).await;
    assert!(
        freed.iter().all(|event| event.starts_with("lock_released ann ")),
        "{freed:?}"
    );
    let left = world.stored("a.ts").await;
    assert_eq!((left.len(), left[0].branch.as_str()), (1, "other"));
    assert_eq!(holders(&world.stored("read.ts").await), ["ann/two", "bob", "ann2"]);
    for path in ["two.ts", "bob.ts", "other.ts"] {
        assert_eq!(world.stored(path).await.len(), 1, "{path}");
    }
    world.assert_counts_are_exact().await;
    assert_eq!(ann.abandons(&NO_FILES).await, done, "asked again, it is answered again");
    assert_eq!(elsewhere.abandons(&NO_FILES).await.released, ["a.ts", "other.ts"]);
}

async fn as_much_as_one_person_may_hold_is_thrown_away_at_once(world: World) {
    let ann = world.agent("ann");
    let held = files("src", 2_000);
    for some in held.chunks(500) {
        ann.reads(some).await;
    }
    world.agent("bob").reads(&held[..1]).await;
    assert_eq!(ann.abandons(&NO_FILES).await.released.len(), held.len());
    assert_eq!(world.held().await.keys().collect::<Vec<_>>(), ["@bob", "all"]);
    world.assert_index_is_exact().await;
}

on_every_store!(
    everything_of_one_holder_on_one_branch_is_thrown_away,
    as_much_as_one_person_may_hold_is_thrown_away_at_once,
    without_any_head_nothing_is_released_but_what_is_thrown_away,
    abandoning_releases_the_rest_and_reports_lost_locks,
);
