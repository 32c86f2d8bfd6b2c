//! The free files that a refusal suggests: `free_files.lua`.

use coord_domain::LockMode::{Reading, Writing};

use crate::stores::neighbors::{store_graph, store_imports};
use crate::world::{NO_FILES, World, files};

async fn near(world: &World) {
    let graph: [(&str, &[&str]); 5] = [
        ("src/main.ts", &["src/a.ts", "src/b.ts", "src/c.ts", "src/d.ts"]),
        ("src/a.ts", &["src/b.ts", "lib/x.ts"]),
        ("src/d.ts", &["src/e.ts"]),
        ("lib/y.ts", &["lib/x.ts"]),
        ("src/far.ts", &["src/further.ts"]),
    ];
    store_graph(world, &graph).await;
}

async fn those_of_the_folder_come_first_and_none_is_next_to_what_is_written(world: World) {
    near(&world).await;
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["src/a.ts"]).await;
    // main, b and x are next to a.
    assert_eq!(
        bob.is_refused(Writing, &["src/a.ts"]).await.free,
        ["src/c.ts", "src/d.ts", "lib/y.ts"]
    );
    assert_eq!(bob.checks(Writing, &["src/b.ts"]).await.free, ["src/c.ts", "src/d.ts"]);
    eve.writes(&["src/e.ts"]).await;
    assert_eq!(bob.checks(Writing, &["src/a.ts"]).await.free, ["src/c.ts", "lib/y.ts"]);
    eve.reads(&["lib/y.ts"]).await;
    assert_eq!(bob.checks(Writing, &["src/a.ts"]).await.free, ["src/c.ts"]);
    // The advice omits files that the caller already has, and files that are reserved for others.
    bob.writes(&["src/c.ts"]).await;
    assert_eq!(bob.checks(Writing, &["src/a.ts"]).await.free, NO_FILES);
    assert_eq!(eve.checks(Writing, &["src/a.ts"]).await.free, ["src/d.ts"]);
}

async fn a_file_that_another_agent_waits_for_is_not_free(world: World) {
    near(&world).await;
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["src/a.ts"]).await;
    eve.is_refused(Writing, &["src/a.ts", "src/c.ts"]).await;
    assert_eq!(bob.checks(Writing, &["src/a.ts"]).await.free, ["src/d.ts", "lib/y.ts"]);
}

async fn nothing_is_looked_for_where_nothing_blocks(world: World) {
    near(&world).await;
    let (ann, bob) = (world.agent("ann"), world.agent("bob"));
    ann.reads(&["src/a.ts"]).await;
    assert_eq!(bob.checks(Reading, &["src/a.ts"]).await.free, NO_FILES);
    assert_eq!(bob.reads(&["src/a.ts"]).await.free, NO_FILES);
    // Nor without a graph.
    ann.writes(&["other.ts"]).await;
    assert_eq!(bob.checks(Writing, &["other.ts"]).await.free, NO_FILES);
}

async fn five_are_named_of_very_many(world: World) {
    let (main, names) = (["main.ts".to_owned()], files("src", 600));
    store_imports(&world, &main, &names).await;
    world.agent("ann").writes(&["src/7.ts"]).await;
    let free = world.agent("bob").checks(Writing, &["src/7.ts"]).await.free;
    // main.ts is a hub, whose own text has no neighbors that are none.
    assert!(free.len() <= 5, "{free:?}");
    store_imports(&world, &main, &names[..40]).await;
    let free = world.agent("bob").checks(Writing, &["src/7.ts"]).await.free;
    assert_eq!(free.len(), 5, "{free:?}");
}

on_every_store! {
    those_of_the_folder_come_first_and_none_is_next_to_what_is_written,
    a_file_that_another_agent_waits_for_is_not_free,
    nothing_is_looked_for_where_nothing_blocks,
    five_are_named_of_very_many,
}
