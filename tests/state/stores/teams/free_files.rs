//! Which tasks have free files: those that `next` gives, and those that are suggested.

use coord_domain::LockMode;
use coord_teams_state::tasks::{NewTask, Priority};

use super::files::{team, with_files};
use crate::world::World;
use crate::world::team::titled;

async fn next_passes_over_tasks_whose_files_others_have(world: World) {
    let high = |task: NewTask| NewTask {
        priority: Priority::High,
        ..task
    };
    let tasks = [
        high(with_files("one", &["a.ts"])),
        high(with_files("two", &["b.ts"])),
        high(with_files("three", &["c.ts"])),
        with_files("four", &["d.ts"]),
    ];
    let (lead, bob, eve) = team(&world, &tasks).await;
    lead.assigns("t2", Some("eve")).await.unwrap();
    world.agent("zoe/1").writes(&["a.ts"]).await;
    world.agent("yan").reads(&["c.ts"]).await;
    assert_eq!(
        bob.next().await,
        (
            Some("t4".to_owned()),
            vec![
                "t1 Locked zoe a.ts".to_owned(),
                "t2 Reserved eve ".to_owned(),
                "t3 Locked yan c.ts".to_owned()
            ]
        )
    );
    assert_eq!(bob.next().await.0, None);
    assert_eq!(
        eve.next().await.0.as_deref(),
        Some("t2"),
        "what is assigned comes first"
    );
    world.agent("zoe/1").abandons(&["a.ts"]).await;
    assert_eq!(bob.next().await.0.as_deref(), Some("t1"));
    world.assert_held_is_exact().await;
}

async fn next_looks_at_so_many_files_and_no_more(world: World) {
    let many = |task: usize| -> Vec<String> { (0..400).map(|number| format!("m/{task}/{number}.ts")).collect() };
    let tasks: Vec<NewTask> = (0..4)
        .map(|task| NewTask {
            files: many(task),
            ..titled("many")
        })
        .collect();
    let (_, bob, _) = team(&world, &tasks).await;
    for task in 0..3 {
        world.agent("zoe").writes(&[format!("m/{task}/399.ts")]).await;
    }
    let (id, passed) = bob.next().await;
    assert_eq!((id, passed.len()), (None, 2), "1,024 files: {passed:?}");
    world.agent("zoe").abandons(&["m/0/399.ts"]).await;
    assert_eq!(bob.next().await.0.as_deref(), Some("t1"));
}

// rule: teams#suggestions
async fn checks_and_claims_of_members_that_are_blocked_suggest_tasks(world: World) {
    let reserved = with_files("reserved", &["r.ts"]);
    let of_dev = NewTask {
        branch: Some("dev".to_owned()),
        ..with_files("elsewhere", &["e.ts"])
    };
    let tasks = [
        with_files("locked", &["a.ts"]),
        reserved,
        of_dev,
        with_files("free", &["f.ts"]),
        titled("without files"),
        titled("third"),
        titled("fourth"),
    ];
    let (lead, bob, _) = team(&world, &tasks).await;
    lead.assigns("t2", Some("eve")).await.unwrap();
    world.agent("zoe").writes(&["a.ts"]).await;
    let agent = world.agent("bob");
    let ids = |suggested: &[coord_protocol::SuggestedTask]| -> Vec<String> {
        suggested
            .iter()
            .map(|task| format!("{}/{} {}", task.team, task.id, task.title))
            .collect()
    };
    let expected = ["alpha/t4 free", "alpha/t5 without files", "alpha/t6 third"];
    assert_eq!(
        ids(&agent.checks(LockMode::Writing, &["a.ts"]).await.suggested),
        expected
    );
    assert_eq!(
        ids(&agent.is_refused(LockMode::Writing, &["a.ts"]).await.suggested),
        expected
    );
    assert_eq!(
        ids(&agent.checks(LockMode::Writing, &["f.ts"]).await.suggested),
        [""; 0],
        "nothing blocks"
    );
    let stranger = world.agent("yan").is_refused(LockMode::Writing, &["a.ts"]).await;
    assert_eq!(ids(&stranger.suggested), [""; 0], "who is in no team");
    bob.takes("t4").await;
    bob.mate.claims("t5").await.unwrap();
    let eve = world.agent("eve").is_refused(LockMode::Writing, &["a.ts"]).await;
    assert_eq!(
        ids(&eve.suggested),
        ["alpha/t2 reserved", "alpha/t6 third", "alpha/t7 fourth"]
    );
    lead.assert_offers_are_exact().await;
    for id in ["t1", "t2", "t3", "t6", "t7"] {
        lead.deletes(id, true).await.unwrap();
    }
    assert_eq!(ids(&eve_after(&world).await), [""; 0]);
    lead.assert_offers_are_exact().await;
}

async fn eve_after(world: &World) -> Vec<coord_protocol::SuggestedTask> {
    world
        .agent("eve")
        .is_refused(LockMode::Writing, &["a.ts"])
        .await
        .suggested
}

scenarios!(
    next_passes_over_tasks_whose_files_others_have,
    next_looks_at_so_many_files_and_no_more,
    checks_and_claims_of_members_that_are_blocked_suggest_tasks,
);
