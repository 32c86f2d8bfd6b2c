//! The cost of a claim that cites an intent.

use coord_domain::LockMode::Writing;
use coord_intents_state::intents::owned_paths;

use super::intent;
use crate::stores::command_counts::Counted;
use crate::stores::neighbors::store_graph;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_with_an_intent_is_one_round_trip_and_nine_commands_more() {
    let Some(counted) = Counted::start() else { return };
    let Counted { world, .. } = &counted;
    store_graph(world, &[("src/a.ts", &["src/b.ts"])]).await;
    world.agent("zoe").writes(&["zoe.ts"]).await;
    world.agent("zoe").checks(Writing, &["zoe.ts"]).await;
    counted.commands().await;
    let (ann, path) = (world.agent("ann"), ["src/without.ts"]);
    ann.writes(&path).await;
    let (without, _) = counted.commands().await;
    ann.writes(&path).await;
    let (renewal, _) = counted.commands().await;
    ann.checks(Writing, &path).await;
    let (check, _) = counted.commands().await;
    ann.abandons(&path).await;
    world.begins(intent("a", "src/**", Some(100))).await;

    let bob = world.agent("bob").citing("a").calling("Edit", "1");
    bob.writes(&["src/b.ts"]).await;
    // The process learns that the repository uses intents.
    world.agent("cem").checks(Writing, &["c.ts"]).await;
    let mut costs = Vec::new();
    counted.commands().await;
    for (label, agent) in [
        ("cited", bob.clone().calling("Edit", "2")),
        ("selected", {
            let mut selected = bob.clone().calling("Edit", "3");
            selected.about.cited = None;
            selected
        }),
    ] {
        agent.writes(&[format!("src/{label}.ts")]).await;
        let (total, each) = counted.commands().await;
        assert_eq!(total, without + 9, "{label}: {each}");
        agent.writes(&[format!("src/{label}.ts")]).await;
        costs.push(counted.commands().await.0);
        agent.checks(Writing, &[format!("src/{label}.ts")]).await;
        costs.push(counted.commands().await.0);
    }
    assert_eq!(costs, [renewal + 7, check + 4].repeat(2), "renewals and checks");
    assert_eq!(*bob.about.questions.lock().unwrap(), 1, "the scope was asked for once");
}

/// All rows came in one command, and a row has up to 10 KiB: others waited for 0.6 s.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_of_the_owners_is_a_command_for_250_files() {
    let Some(counted) = Counted::start() else { return };
    let Counted { world, .. } = &counted;
    world.stores_rows(2300, r#"[{"intent":"a"}]"#).await;
    counted.commands().await;
    let paths = owned_paths(&world.repo).run(&*world.store).await.unwrap();
    let owners = paths.owners(&*world.store, &world.repo).await.unwrap();
    assert_eq!(
        (owners.len(), counted.commands().await.1),
        (2300, "hkeys 1, hmget 10".to_owned())
    );
}
