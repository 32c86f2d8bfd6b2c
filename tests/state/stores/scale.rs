//! 9,900 held locks and a hub that 20,000 files import are both normal.

use coord_domain::LockMode::{Reading, Writing};
use coord_state::locks::keys;

use crate::stores::neighbors::store_imports;
use crate::world::{World, files};

async fn nearly_ten_thousand_locks_and_a_hub_of_twenty_thousand_importers(world: World) {
    let importers = files("src/importers/of/hub", 20_000);
    store_imports(&world, &importers, &["src/hub.ts"]).await;
    let held = files("src/unrelated", 9_900);
    let people: Vec<_> = (0..20).map(|number| world.agent(&format!("p{number}"))).collect();
    for (person, some) in people.iter().zip(held.chunks(512)) {
        person.writes(some).await;
    }
    assert_eq!(world.locked_file_count().await, 9_900);
    let (ann, bob, cid) = (world.agent("ann"), world.agent("bob"), world.agent("cid"));

    // The locks are the smaller side.
    assert_eq!(ann.finds(Writing, &["src/hub.ts"]).await, [""; 0]);
    let last = &importers[19_999];
    bob.writes(&[last]).await;
    let blocking = ann.is_blocked_by(Writing, &["src/hub.ts"]).await;
    assert_eq!(blocking, [format!("NEIGHBOR! {last} bob via src/hub.ts")]);
    // The neighbors are the smaller side.
    ann.reads(&["src/hub.ts"]).await;
    let found = cid.finds(Writing, &importers[7..8]).await;
    assert_eq!(found, [format!("NEIGHBOR src/hub.ts ann via {}", importers[7])]);
    // So many files at once that both sides are large.
    let found = cid.finds(Reading, &importers[..512]).await;
    assert_eq!(found, [format!("NEIGHBOR src/hub.ts ann via {}", importers[0])]);

    bob.abandons(&[last]).await;
    ann.writes(&["src/hub.ts"]).await;
    let done = ann.releases_pushed(&["src/hub.ts"]).await;
    assert_eq!((done.importers.len(), done.importer_count), (1000, 20_000));
    for (person, some) in people.iter().zip(held.chunks(512)) {
        assert_eq!(person.abandons(some).await.released.len(), some.len());
    }
    assert_eq!(world.locked_file_count().await, 0);
    assert_eq!(world.number(["ZCARD", &keys::expiries(&world.repo)]).await, 0);
}

on_every_store!(nearly_ten_thousand_locks_and_a_hub_of_twenty_thousand_importers);
