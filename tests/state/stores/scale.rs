//! 9,900 held locks and a hub that 20,000 files import are both normal.

use coord_domain::LockMode::{Reading, Writing};
use coord_sources::Reachable;
use coord_state as state;

use crate::stores::neighbors::store_graph;
use crate::world::{NEXT, World, in_short, released};

async fn nearly_ten_thousand_locks_and_a_hub_of_twenty_thousand_importers(world: World) {
    let importers: Vec<String> = (0..20_000)
        .map(|number| format!("src/importers/of/hub/{number}.ts"))
        .collect();
    let graph: Vec<(&str, &[&str])> = importers
        .iter()
        .map(|path| (path.as_str(), &["src/hub.ts"][..]))
        .collect();
    for some in graph.chunks(20_000) {
        store_graph(&world, some).await;
    }
    let held: Vec<String> = (0..9_900).map(|number| format!("src/unrelated/{number}.ts")).collect();
    let people: Vec<_> = (0..20).map(|number| world.agent(&format!("p{number}"))).collect();
    for (person, some) in people.iter().zip(held.chunks(512)) {
        person.writes(some).await;
    }
    assert_eq!(
        world.number(["HLEN", &state::locks::keys::locks(&world.repo)]).await,
        9_900
    );
    let bob = world.agent("bob");

    // The locks are the smaller side.
    let ann = world.agent("ann");
    assert_eq!(in_short(&ann.checks(Writing, &["src/hub.ts"]).await.findings), [""; 0]);
    bob.writes(&[&importers[19_999]]).await;
    let refused = ann.is_refused(Writing, &["src/hub.ts"]).await;
    assert_eq!(
        in_short(&refused.findings),
        [format!("NEIGHBOR! {} bob via src/hub.ts", importers[19_999])]
    );
    // The neighbors are the smaller side.
    ann.reads(&["src/hub.ts"]).await;
    let checked = world.agent("cid").checks(Writing, &[&importers[7]]).await;
    assert_eq!(
        in_short(&checked.findings),
        [format!("NEIGHBOR src/hub.ts ann via {}", importers[7])]
    );
    // So many files at once that both sides are large.
    let checked = world.agent("cid").checks(Reading, &importers[..512]).await;
    assert_eq!(
        in_short(&checked.findings),
        [format!("NEIGHBOR src/hub.ts ann via {}", importers[0])]
    );

    bob.abandons(&[&importers[19_999]]).await;
    ann.writes(&["src/hub.ts"]).await;
    let done = released(ann.release(Some(NEXT), Reachable::Yes, &["src/hub.ts"]).await);
    assert_eq!((done.importers.len(), done.importer_count), (1000, 20_000));
    for (person, some) in people.iter().zip(held.chunks(512)) {
        assert_eq!(person.abandons(some).await.released.len(), some.len());
    }
    assert_eq!(world.number(["HLEN", &state::locks::keys::locks(&world.repo)]).await, 0);
    assert_eq!(
        world
            .number(["ZCARD", &state::locks::keys::expiries(&world.repo)])
            .await,
        0
    );
}

on_every_store!(nearly_ten_thousand_locks_and_a_hub_of_twenty_thousand_importers);
