//! Lists of tasks: pages, filters, bounds.

use coord_teams_state::tasks::{NewTask, Readiness, TaskChanges, TaskFilter, TaskReference, TaskStatus, TaskView};

use super::tasks::{after, blocks, depends_on};
use crate::world::World;
use crate::world::team::{handle, task_id, titled};

async fn a_listing_has_pages_and_filters(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let tasks: Vec<NewTask> = (0..25).map(|number| titled(&format!("Task {number}"))).collect();
    lead.adds(&tasks).await.unwrap();
    lead.updates("t2", &depends_on(&["t1"])).await.unwrap();
    bob.claims("t3").await.unwrap();
    let all = TaskFilter::default();
    let (mut seen, mut after) = (Vec::new(), Some(0));
    while let Some(from) = after {
        let page = bob.lists(from, 10, &all).await.unwrap();
        seen.extend(page.tasks.into_iter().map(|task| task.id));
        after = page.next;
    }
    assert_eq!(seen, (1..=25).map(|number| format!("t{number}")).collect::<Vec<_>>());
    let owner = handle("BOB");
    let of_status = TaskFilter {
        status: Some(TaskStatus::InProgress),
        ..all
    };
    let of_owner = TaskFilter {
        owner: Some(&owner),
        ..all
    };
    let with_text = TaskFilter { text: "TASK 2", ..all };
    let readiness = |readiness| TaskFilter {
        readiness: Some(readiness),
        ..all
    };
    let count = async |filter: &TaskFilter<'_>| bob.lists(0, 100, filter).await.unwrap().tasks.len();
    for (filter, expected) in [
        (of_status, 1),
        (of_owner, 1),
        (readiness(Readiness::Ready), 23),
        (readiness(Readiness::Blocked), 1),
        (readiness(Readiness::Unclaimed), 24),
        (with_text, 6),
    ] {
        assert_eq!(count(&filter).await, expected, "{filter:?}");
    }
    bob.releases("t3", "").await.unwrap();
    assert_eq!(count(&readiness(Readiness::Unclaimed)).await, 25);
}

async fn a_listing_with_descriptions_is_paged_by_their_size(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let length = |number: usize| if number.is_multiple_of(2) { 16 * 1024 } else { 0 };
    let described = |number| NewTask {
        description: "x".repeat(length(number)),
        ..titled("A")
    };
    lead.adds(&(0..40).map(described).collect::<Vec<_>>()).await.unwrap();
    let filter = TaskFilter {
        has_descriptions: true,
        ..TaskFilter::default()
    };
    let (mut lengths, mut after, mut pages) = (Vec::new(), Some(0), 0);
    while let Some(from) = after {
        let page = bob.lists(from, 100, &filter).await.unwrap();
        let length = |task: &TaskView| page.descriptions.get(&task.id).map_or(0, String::len);
        let bytes: usize = page.tasks.iter().map(length).sum();
        assert!(bytes <= 256 * 1024, "{bytes}");
        lengths.extend(page.tasks.iter().map(length));
        (after, pages) = (page.next, pages + 1);
    }
    assert_eq!(lengths, (0..40).map(length).collect::<Vec<_>>());
    assert_eq!(pages, 3);
    let without = bob.lists(0, 100, &TaskFilter::default()).await.unwrap();
    assert_eq!((without.tasks.len(), without.descriptions.len()), (40, 0));
}

// rule: teams#dependencies
async fn dependencies_are_read_in_their_given_order(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&vec![titled("a"); 12]).await.unwrap();
    // Two of the same request, one of the team.
    let mut last = after("last", &["t11"]);
    last.dependencies.insert(0, TaskReference::New(1));
    last.dependencies.push(TaskReference::New(0));
    last.blocks = ["t9", "t12", "t10"].map(|id| TaskReference::Task(task_id(id))).into();
    lead.adds(&[titled("first"), titled("second"), last]).await.unwrap();
    let of = async |id: &str| {
        let task = bob.task(id).await;
        [task.dependencies, task.met_dependencies, task.blocks].map(|ids| ids.join(" "))
    };
    assert_eq!(of("t15").await, ["t14 t11 t13", "", "t9 t12 t10"]);
    // A dependency that is added from the other end comes last.
    lead.updates("t2", &depends_on(&["t15"])).await.unwrap();
    assert_eq!(of("t15").await[2], "t9 t12 t10 t2");
    for id in ["t11", "t13"] {
        bob.claims(id).await.unwrap();
        bob.completes_with(id, None, "done").await.unwrap();
    }
    assert_eq!(of("t15").await, ["t14", "t11 t13", "t9 t12 t10 t2"]);
    let both = TaskChanges {
        blocks: blocks(&["t2", "t12", "t1"]).blocks,
        ..depends_on(&["t8", "t14", "t10", "t11"])
    };
    lead.updates("t15", &both).await.unwrap();
    assert_eq!(of("t15").await, ["t8 t14 t10", "t11 t13", "t2 t12 t1"]);
    lead.deletes("t14", true).await.unwrap();
    assert_eq!(of("t15").await, ["t8 t10", "t11 t13", "t2 t12 t1"]);
    let listed = bob.lists(14, 1, &TaskFilter::default()).await.unwrap().tasks;
    assert_eq!(listed[0].dependencies, ["t8", "t10"]);
}

scenarios!(
    dependencies_are_read_in_their_given_order,
    a_listing_has_pages_and_filters,
    a_listing_with_descriptions_is_paged_by_their_size,
);
