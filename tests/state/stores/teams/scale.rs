//! Teams of thousands of tasks.

use coord::state::tasks::{Named, NewTask, TaskFilter};

use super::tasks::{after, depends_on, sentence};
use crate::world::World;
use crate::world::team::titled;

async fn a_cascade_over_10_000_dependents_and_a_chain_of_10_000_are_whole(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("hub")]).await.unwrap();
    for _ in 0..50 {
        let some: Vec<NewTask> = (0..200).map(|_| after("leaf", &["t1"])).collect();
        lead.adds(&some).await.unwrap();
    }
    lead.assigns("t7", Some("bob")).await.unwrap();
    lead.claims("t1").await.unwrap();
    assert_eq!(lead.completes("t1").await.unwrap().unblocked.count, 10_000);
    let ready = coord::state::tasks::keys::ready(&world.repo, &lead.team);
    assert_eq!(world.number(["ZCARD", &ready]).await, 10_000);
    assert_eq!(
        bob.reads(None).await.unwrap().messages.last().unwrap().message,
        "Dependencies are met: t7"
    );
    for part in 0..50 {
        let chain: Vec<NewTask> = (0..200)
            .map(|place| match (part, place) {
                (0, 0) => titled("link"),
                (_, 0) => after("link", &[&format!("t{}", 10_001 + part * 200)]),
                _ => NewTask {
                    dependencies: vec![Named::New(place - 1)],
                    ..titled("link")
                },
            })
            .collect();
        lead.adds(&chain).await.unwrap();
    }
    let text = sentence(lead.updates("t10002", &depends_on(&["t20001"])).await);
    assert_eq!(text.matches(" -> ").count(), 10_000, "the whole ring is named");
}

async fn of_very_many_dependents_the_first_1000_are_named_and_all_are_counted(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[titled("hub")]).await.unwrap();
    for _ in 0..6 {
        let tasks: Vec<_> = (0..200).map(|_| after("spoke", &["t1"])).collect();
        lead.adds(&tasks).await.unwrap();
    }
    let hub = lead.shows("t1").await.unwrap().task;
    assert_eq!((hub.blocks.len(), hub.block_count), (1000, 1200));
    let listed = lead.lists(0, 1, &TaskFilter::default()).await.unwrap();
    assert_eq!((listed.tasks[0].block_count, listed.next), (1200, Some(1)));
}

on_every_store!(
    a_cascade_over_10_000_dependents_and_a_chain_of_10_000_are_whole,
    of_very_many_dependents_the_first_1000_are_named_and_all_are_counted,
);
