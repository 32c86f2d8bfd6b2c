//! `record_head`.

use coord_state as state;
use coord_state::heads::{FetchedHead, HeadChange, record_head};

use crate::world::{HEAD, LOCAL, NEXT, World, branch, sha};

async fn a_head_is_announced_when_it_moves_and_only_then(world: World) {
    let record = async |name: &str, commit: &str| {
        record_head(
            &*world.store,
            &world.repo,
            &branch(name),
            &FetchedHead::of(&sha(commit), &[sha(commit), sha(LOCAL)]),
        )
        .await
        .unwrap()
    };
    assert_eq!(record("main", HEAD).await, HeadChange::Moved);
    assert_eq!(record("main", HEAD).await, HeadChange::Unchanged);
    assert_eq!(record("main", NEXT).await, HeadChange::Moved);
    assert_eq!(
        record("main", HEAD).await,
        HeadChange::Moved,
        "back again is a move, too"
    );
    assert_eq!(record("feature/x", HEAD).await, HeadChange::Moved);
    let events: Vec<_> = world
        .events()
        .await
        .into_iter()
        .map(|(_, event)| {
            (
                event["type"].clone(),
                event["branch"].clone(),
                event["head"].clone(),
                event.get("previous").cloned(),
            )
        })
        .collect();
    let moved = |branch: &str, head: &str, previous: Option<&str>| {
        (
            "head_moved".into(),
            branch.into(),
            head.into(),
            previous.map(Into::into),
        )
    };
    assert_eq!(
        events,
        [
            moved("main", HEAD, None),
            moved("main", NEXT, Some(HEAD)),
            moved("main", HEAD, Some(NEXT)),
            moved("feature/x", HEAD, None)
        ]
    );
    let key = state::heads::keys::head(&world.repo, &world.branch);
    assert_eq!(
        world.command(["HGET", &key, "recent"]).await.as_str(),
        Some(format!("{HEAD} {LOCAL}").as_str())
    );
    assert_eq!(world.command(["HGET", &key, "origin"]).await.as_str(), Some("fetched"));
}

on_every_store!(a_head_is_announced_when_it_moves_and_only_then);
