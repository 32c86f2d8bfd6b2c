//! The scripts that mark a repository as due, and sweeps of more than one run.

use coord_state as state;
use coord_state::expiry::keys::{DUE, marked};
use coord_state::sweep::sweep;

use crate::stores::due::{list, swept};
use crate::world::{World, files};

async fn a_marked_repository_is_not_marked_again_and_a_forgotten_one_is(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["a.ts"]).await;
    let due = world.due().await;
    assert_eq!(due, list(&[("REPO", false)]));
    // A claim that relies on the mark puts nothing on the list.
    world.command(["DEL", DUE]).await;
    ann.writes(&["b.ts"]).await;
    assert_eq!(world.due().await, list(&[]));
    // One that ends before what is marked does.
    ann.clone().for_seconds(10).writes(&["c.ts"]).await;
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    // A mark is not believed for ever, and goes with the look that finds nothing.
    let left = world.number(["TTL", &marked(&world.repo)]).await;
    assert!((590..=600).contains(&left), "{left}");
    ann.abandons(&["a.ts", "b.ts", "c.ts"]).await;
    assert!(world.command(["GET", &marked(&world.repo)]).await.as_str().is_some());
    world.let_time_pass().await;
    world.sweeps().await;
    assert!(world.command(["GET", &marked(&world.repo)]).await.as_str().is_none());
    world.let_time_pass().await;
    world.sweeps().await;
    assert_eq!(world.due().await, list(&[]));
    ann.writes(&["a.ts"]).await;
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    world.assert_lock_is_found("a.ts").await;
}

async fn a_claim_that_relies_on_a_mark_while_a_sweep_looks_is_kept(world: World) {
    let ann = world.agent("ann");
    ann.writes(&["old.ts"]).await;
    world.expire_locks(&["old.ts"]).await;
    world.let_time_pass().await;
    // Taken, but not looked at yet: the mark still stands.
    let taken = world.take().await.unwrap();
    ann.writes(&["new.ts"]).await;
    assert_eq!(world.due().await, list(&[("sweeping:REPO", false)]));
    world.finish(&taken).await;
    assert_eq!(world.due().await, list(&[("REPO", false)]));
    world.assert_lock_is_found("new.ts").await;
}

async fn a_repository_with_more_than_one_run_of_expired_files_is_swept_whole(world: World) {
    let ann = world.agent("ann");
    let paths = files("src", 1200);
    for some in paths.chunks(400) {
        ann.writes(some).await;
    }
    world.agent("bob").writes(&["stays.ts"]).await;
    world.expire_locks(&paths).await;
    world.let_time_pass().await;
    let before = world.events().await.len();
    assert_eq!(world.sweeps().await, swept(1, 1200));
    let announced = &world.events().await[before..];
    let counts = announced.iter().map(|(_, event)| event["file_count"].as_i64().unwrap());
    assert_eq!(counts.sum::<i64>(), 1200);
    assert_eq!(world.stored("stays.ts").await.len(), 1);
    world.assert_index_is_exact().await;
    assert_eq!(world.due().await, list(&[("REPO", false)]));
}

async fn more_repositories_than_are_taken_at_once_are_all_swept(world: World) {
    for _ in 0..250 {
        let other = world.beside();
        other.agent("ann").writes(&["a.ts"]).await;
        other.expire_locks(&["a.ts"]).await;
    }
    world.let_time_pass().await;
    assert_eq!(world.sweeps().await, swept(250, 250));
}

async fn an_invalid_repository_on_the_due_list_is_dropped(world: World) {
    world.command(["ZADD", DUE, "1", "rubbish"]).await;
    world.command(["ZADD", DUE, "1", "example.com/a/b c"]).await;
    world.agent("ann").writes(&["a.ts"]).await;
    world.expire_locks(&["a.ts"]).await;
    world.let_time_pass().await;
    assert_eq!(world.sweeps().await.expired, 1);
    assert_eq!(world.due().await, list(&[("idle:REPO", false)]));
}

async fn an_index_without_its_lock_ends_the_sweep_all_the_same(world: World) {
    // An operator who deletes the locks by hand leaves the index behind.
    world.agent("ann").writes(&["a.ts"]).await;
    world.expire_locks(&["a.ts"]).await;
    world.command(["DEL", &state::locks::keys::locks(&world.repo)]).await;
    let swept = sweep(&*world.store, &world.repo, 500).await.unwrap();
    assert_eq!((swept.expired, swept.next_expiry), (0, None));
}

on_every_store!(
    a_marked_repository_is_not_marked_again_and_a_forgotten_one_is,
    a_claim_that_relies_on_a_mark_while_a_sweep_looks_is_kept,
    a_repository_with_more_than_one_run_of_expired_files_is_swept_whole,
    more_repositories_than_are_taken_at_once_are_all_swept,
    an_invalid_repository_on_the_due_list_is_dropped,
    an_index_without_its_lock_ends_the_sweep_all_the_same,
);
