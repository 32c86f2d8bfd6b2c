//! Tasks whose files are shared or ignored by the policy of the branch.

use super::files::{team, with_files};
use crate::world::World;
use crate::world::worker::Worker;

async fn tasks_are_claimed_by_the_policy_too(world: World) {
    let tasks = [
        with_files("one", &["a.ts", "dist/a.js", "go.sum"]),
        with_files("two", &["dist/a.js", "go.sum", "b.md"]),
        with_files("three", &["c.ts", "b.md"]),
        with_files("four", &["dist/b.js"]),
    ];
    let (_, bob, eve) = team(&world, &tasks).await;
    let questions = |worker: &Worker<'_>| *worker.about_policy.questions.lock().unwrap();
    world.agent("zoe").writes(&["go.sum"]).await;
    // Without a policy the names of lockfiles are enough, and nothing is asked.
    bob.takes("t1").await;
    assert_eq!((questions(&bob), world.stored("go.sum").await.len()), (0, 2));
    eve.is_refused("t2").await;
    world
        .store_policy("ignore = [\"dist/\"]\nshared = [\"*.md\", \"go.sum\"]")
        .await;
    let claimed = eve.takes("t2").await;
    let own = claimed.files.unwrap().own;
    let files: Vec<&str> = own.iter().map(|entry| entry.file_path.as_str()).collect();
    assert_eq!((files, questions(&eve)), (vec!["go.sum", "b.md"], 1));
    // The next task asks once about the files of all that are looked at.
    assert_eq!(bob.next().await.0.as_deref(), Some("t3"));
    assert_eq!((questions(&bob), world.stored("b.md").await.len()), (1, 2));
    // Its file is ignored, so its entries are not read.
    assert_eq!(bob.next().await.0.as_deref(), Some("t4"));
    let four = bob.takes("t4").await;
    assert_eq!(four.files.unwrap().own, [], "all of its files are ignored");
    world.assert_held_is_exact().await;
    world.assert_index_is_exact().await;
}

scenarios!(tasks_are_claimed_by_the_policy_too);
