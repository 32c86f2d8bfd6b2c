//! Teams of thousands of tasks.

use coord_protocol::team_event::MessageType;
use coord_teams_state::tasks::{NewTask, TaskFilter, TaskReference};

use super::tasks::{after, depends_on, sentence};
use crate::world::World;
use crate::world::team::{Mate, task_id, titled};

/// Adds tasks that depend on the first, 200 at a time.
pub async fn adds_dependents(lead: &Mate<'_>, dependencies: &[&str], count: usize) {
    for _ in 0..count / 200 {
        lead.adds(&vec![after("leaf", dependencies); 200]).await.unwrap();
    }
}

/// 200 tasks, each of which depends on the one before; the first on this one, if any.
pub fn chain(before: Option<&str>) -> Vec<NewTask> {
    let first = before.map_or_else(|| titled("link"), |id| after("link", &[id]));
    let others = (0..199).map(|place| NewTask {
        dependencies: vec![TaskReference::New(place)],
        ..titled("link")
    });
    std::iter::once(first).chain(others).collect()
}

async fn a_cascade_over_10_000_dependents_is_whole(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("hub")]).await.unwrap();
    adds_dependents(&lead, &["t1"], 10_000).await;
    lead.assigns("t7", Some("bob")).await.unwrap();
    lead.claims("t1").await.unwrap();
    assert_eq!(lead.completes("t1").await.unwrap().unblocked.count, 10_000);
    let ready = coord_teams_state::tasks::keys::ready(&world.repo, &lead.team);
    assert_eq!(world.number(["ZCARD", &ready]).await, 10_000);
    let inbox = bob.inbox().await;
    assert_eq!(inbox.messages.last().unwrap().message, "Dependencies are met: t7");
}

async fn a_cascade_sends_each_member_one_message_and_its_event_names_a_hundred(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("hub")]).await.unwrap();
    lead.adds(&vec![after("leaf", &["t1"]); 150]).await.unwrap();
    for number in 2..=26 {
        lead.assigns(&format!("t{number}"), Some("bob")).await.unwrap();
    }
    // Owner and assignee of one, and of some more the one or the other.
    bob.claims("t2").await.unwrap();
    bob.claims("t30").await.unwrap();
    lead.claims("t1").await.unwrap();
    lead.completes("t1").await.unwrap();
    let mut messages = bob.inbox().await.messages;
    messages.retain(|message| message.kind == MessageType::Plain);
    let [message] = &messages[..] else {
        panic!("{messages:?}")
    };
    let ids = message.message.strip_prefix("Dependencies are met: ").unwrap();
    let (ids, more) = ids.split_once(" and ").unwrap();
    assert_eq!((ids.split(", ").count(), more), (20, "6 more"));
    let unblocked = world.events_of_type("task_unblocked").await;
    let [event] = &unblocked[..] else {
        panic!("{unblocked:?}")
    };
    assert_eq!(event["tasks"].as_array().unwrap().len(), 100);
    assert_eq!(event["task_count"], 150);
}

/// A ring of as many open tasks as a team has, with the longest ids: an answer has room for a part of it.
async fn a_ring_of_20_000_tasks_is_named_as_far_as_there_is_room(world: World) {
    const TASKS: usize = 20_000;
    let (lead, []) = world.team_of([]).await;
    let id = |number: usize| format!("{number:064}");
    for first in (0..TASKS).step_by(200) {
        let before = (first > 0).then(|| id(first - 1));
        let mut links = chain(before.as_deref());
        for (place, link) in links.iter_mut().enumerate() {
            link.id = Some(task_id(&id(first + place)));
        }
        lead.adds(&links).await.unwrap();
    }
    let text = sentence(lead.updates(&id(0), &depends_on(&[&id(TASKS - 1)])).await);
    let (words, more) = text.split_once(" -> ... and ").expect("not all of it");
    let named = words.trim_start_matches("Circular dependency detected: ");
    let named: Vec<&str> = named.split(" -> ").collect();
    let (more, last) = more.split_once(" more -> ").expect("how many more");
    assert_eq!([named[0], last], [id(0), id(0)]);
    assert_eq!(named.len() + more.parse::<usize>().unwrap(), TASKS);
    assert!((60_000..66_000).contains(&text.len()), "{}", text.len());
}

// rule: locks#orphans
async fn of_very_many_dependents_the_first_1000_are_named_and_all_are_counted(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[titled("hub")]).await.unwrap();
    adds_dependents(&lead, &["t1"], 1200).await;
    let hub = lead.task("t1").await;
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
