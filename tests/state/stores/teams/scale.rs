//! Teams of thousands of tasks.

use coord_protocol::team_event::MessageType;
use coord_teams_state::tasks::{NewTask, TaskFilter, TaskReference};

use super::tasks::{after, depends_on, sentence};
use crate::world::World;
use crate::world::team::{task_id, titled};

async fn a_cascade_over_10_000_dependents_is_whole(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("hub")]).await.unwrap();
    for _ in 0..50 {
        let some: Vec<NewTask> = (0..200).map(|_| after("leaf", &["t1"])).collect();
        lead.adds(&some).await.unwrap();
    }
    lead.assigns("t7", Some("bob")).await.unwrap();
    lead.claims("t1").await.unwrap();
    assert_eq!(lead.completes("t1").await.unwrap().unblocked.count, 10_000);
    let ready = coord_teams_state::tasks::keys::ready(&world.repo, &lead.team);
    assert_eq!(world.number(["ZCARD", &ready]).await, 10_000);
    assert_eq!(
        bob.reads(None).await.unwrap().messages.last().unwrap().message,
        "Dependencies are met: t7"
    );
}

async fn a_cascade_sends_each_member_one_message_and_its_event_names_a_hundred(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("hub")]).await.unwrap();
    let some: Vec<NewTask> = (0..150).map(|_| after("leaf", &["t1"])).collect();
    lead.adds(&some).await.unwrap();
    for number in 2..=26 {
        lead.assigns(&format!("t{number}"), Some("bob")).await.unwrap();
    }
    // Owner and assignee of one, and of some more the one or the other.
    bob.claims("t2").await.unwrap();
    bob.claims("t30").await.unwrap();
    lead.claims("t1").await.unwrap();
    lead.completes("t1").await.unwrap();
    let inbox = bob.reads(None).await.unwrap();
    let texts: Vec<&str> = inbox
        .messages
        .iter()
        .filter(|message| message.kind == MessageType::Plain)
        .map(|message| message.message.as_str())
        .collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
    let ids = texts[0].strip_prefix("Dependencies are met: ").unwrap();
    let (ids, more) = ids.split_once(" and ").unwrap();
    assert_eq!((ids.split(", ").count(), more), (20, "6 more"));
    let events = world.events().await;
    let unblocked: Vec<_> = events
        .iter()
        .filter(|(_, event)| event["type"] == "task_unblocked")
        .collect();
    assert_eq!(unblocked.len(), 1);
    let event = &unblocked[0].1;
    assert_eq!(
        (event["tasks"].as_array().unwrap().len(), &event["task_count"]),
        (100, &150.into())
    );
}

/// A ring of as many open tasks as a team has, with the longest ids: an answer has room for a part of it.
async fn a_ring_of_20_000_tasks_is_named_as_far_as_there_is_room(world: World) {
    const TASKS: usize = 20_000;
    let (lead, []) = world.team_of([]).await;
    let id = |number: usize| format!("{number:064}");
    for first in (0..TASKS).step_by(200) {
        let chain: Vec<NewTask> = (0..200)
            .map(|place| NewTask {
                id: Some(task_id(&id(first + place))),
                dependencies: match (first, place) {
                    (0, 0) => vec![],
                    (_, 0) => vec![TaskReference::Task(task_id(&id(first - 1)))],
                    _ => vec![TaskReference::New(place - 1)],
                },
                ..titled("link")
            })
            .collect();
        lead.adds(&chain).await.unwrap();
    }
    let text = sentence(lead.updates(&id(0), &depends_on(&[&id(TASKS - 1)])).await);
    let (words, more) = text.split_once(" -> ... and ").expect("not all of it");
    let named: Vec<&str> = words
        .trim_start_matches("Circular dependency detected: ")
        .split(" -> ")
        .collect();
    let (more, last) = more.split_once(" more -> ").expect("how many more");
    assert_eq!((named[0], last), (id(0).as_str(), id(0).as_str()));
    assert_eq!(named.len() + more.parse::<usize>().unwrap(), TASKS);
    assert!((60_000..66_000).contains(&text.len()), "{}", text.len());
}

// rule: locks#orphans
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
    a_cascade_over_10_000_dependents_is_whole,
    a_cascade_sends_each_member_one_message_and_its_event_names_a_hundred,
    a_ring_of_20_000_tasks_is_named_as_far_as_there_is_room,
    of_very_many_dependents_the_first_1000_are_named_and_all_are_counted,
);
