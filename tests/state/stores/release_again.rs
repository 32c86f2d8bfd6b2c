//! A release that is sent again.

use coord_sources::Reachable;
use coord_state as state;
use serde_json::Value as Json;

use crate::stores::neighbors::store_graph;
use crate::world::{LOCAL, NEXT, World, files, files_and_users, lost, released};

async fn a_repeated_release_has_the_same_outcome_and_frees_no_other_lock(world: World) {
    store_graph(&world, &[("one.ts", &["a.ts"])]).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.writes(&["a.ts", "b.ts"]).await;
    world.expire_locks(&["b.ts"]).await;
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
    // The answer to another request names the files that were released, and those that were lost.
    let done = released(ann.release(Some(LOCAL), Reachable::Yes, &["a.ts"]).await);
    assert_eq!((done.released.len(), done.missing.len()), (0, 0));
    assert!(
        matches!(done.again.as_slice(), [(path, 0..60)] if path == "a.ts"),
        "{done:?}"
    );
    let others = lost(ann.release(Some(LOCAL), Reachable::Yes, &["a.ts", "b.ts"]).await);
    assert_eq!(files_and_users(&others), [("b.ts", "bob")]);
    // It is nobody else's answer: not another agent's, nor that of another branch.
    for other in [world.agent("ann/two"), world.agent("cid")] {
        lost(other.release(Some(NEXT), Reachable::Yes, &["a.ts", "b.ts"]).await);
    }
    let elsewhere = ann.on_branch("other").releases_pushed(&["a.ts"]).await;
    assert_eq!(elsewhere.missing, ["a.ts"]);
}

async fn a_lock_that_is_claimed_again_is_released_again(world: World) {
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    for _ in 0..3 {
        ann.reads(&["a.ts", "b.ts"]).await;
        let done = ann.releases_read(&["a.ts", "b.ts"]).await;
        assert_eq!(done.released.len(), 2);
        assert_eq!(world.stored("a.ts").await, []);
    }
    // Held again and lost again: the earlier release no longer counts.
    ann.writes(&["a.ts"]).await;
    world.expire_locks(&["a.ts"]).await;
    bob.writes(&["a.ts"]).await;
    let others = lost(ann.release(None, Reachable::Unknown, &["a.ts", "b.ts"]).await);
    assert_eq!(files_and_users(&others), [("a.ts", "bob")]);
    let done = ann.releases_read(&["b.ts"]).await;
    assert_eq!(done.again.len(), 1, "{done:?}");
}

async fn releases_are_remembered_within_bounds(world: World) {
    let key = state::locks::keys::releases(&world.repo);
    let ann = world.agent("ann");
    let field = "ann\n\nmain";
    // Ten minutes.
    ann.reads(&["a.ts"]).await;
    ann.abandons(&["a.ts"]).await;
    assert_eq!(ann.abandons(&["a.ts"]).await.released, ["a.ts"], "the same answer");
    let ttl = world.number(["TTL", &key]).await;
    assert!((1..=600).contains(&ttl), "{ttl}");
    let age = |kept: &mut Json| kept[0]["time"] = (kept[0]["time"].as_i64().unwrap() - 600).into();
    world.edit_json(&key, field, age).await;
    assert_eq!(ann.abandons(&["a.ts"]).await.missing, ["a.ts"], "it is long ago");
    // Of one holder a number of releases, and of bytes.
    let names = files("src", 20);
    for path in &names {
        ann.reads(&[path]).await;
        ann.abandons(&[path]).await;
    }
    assert_eq!(ann.abandons(&names[3..4]).await.missing.len(), 1);
    assert_eq!(ann.abandons(&names[4..5]).await.released.len(), 1);
    let long: Vec<String> = (0..26).map(|number| format!("{number}/{}", "x".repeat(3000))).collect();
    for path in long.chunks(22) {
        ann.reads(path).await;
        ann.abandons(path).await;
        let again = ann.abandons(path).await.released;
        assert_eq!(again.len(), path.len(), "the newest has more room");
    }
    let kept = world.command(["HGET", &key, field]).await;
    let bytes = kept.as_str().unwrap().len();
    assert!(bytes <= 65_540, "{bytes}");
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

on_every_store!(
    a_repeated_release_has_the_same_outcome_and_frees_no_other_lock,
    a_lock_that_is_claimed_again_is_released_again,
    releases_are_remembered_within_bounds,
);
