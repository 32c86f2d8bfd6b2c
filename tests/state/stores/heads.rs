//! `record_head`.

use coord_state::heads::{FetchedHead, HeadChange, record_head};
use serde_json::{Value as Json, json};

use crate::world::{HEAD, LOCAL, NEXT, World, branch, sha};

use HeadChange::{Moved, Unchanged};

async fn a_head_is_announced_when_it_moves_and_only_then(world: World) {
    for (name, commit, change) in [
        ("main", HEAD, Moved),
        ("main", HEAD, Unchanged),
        ("main", NEXT, Moved),
        // Back again is a move, too.
        ("main", HEAD, Moved),
        ("feature/x", HEAD, Moved),
    ] {
        let (commit, recent) = (sha(commit), [sha(commit), sha(LOCAL)]);
        let fetched = FetchedHead::of(&commit, &recent);
        let recorded = record_head(&*world.store, &world.repo, &branch(name), &fetched).await;
        assert_eq!(recorded.unwrap(), change, "{name} {commit:?}");
    }
    let events = world.events().await;
    let moves = |event: &Json| json!([event["type"], event["branch"], event["head"], event.get("previous")]);
    let events: Vec<Json> = events.iter().map(|(_, event)| moves(event)).collect();
    assert_eq!(
        json!(events),
        json!([
            ["head_moved", "main", HEAD, null],
            ["head_moved", "main", NEXT, HEAD],
            ["head_moved", "main", HEAD, NEXT],
            ["head_moved", "feature/x", HEAD, null],
        ])
    );
    assert_eq!(world.head_field("recent").await, format!("{HEAD} {LOCAL}"));
    assert_eq!(world.head_field("origin").await, "fetched");
}

on_every_store!(a_head_is_announced_when_it_moves_and_only_then);
