//! Tasks: every outcome of the scripts that write them.

use coord::state::tasks::{Named, NewTask, NextTask, Priority, TaskChanges, TaskFilter, TaskStatus};
use coord::state::teams::{RequestKey, TeamRefusal};

use crate::world::World;
use crate::world::team::{task_id, titled};

pub fn after(title: &str, dependencies: &[&str]) -> NewTask {
    NewTask {
        dependencies: dependencies.iter().map(|id| Named::Task(task_id(id))).collect(),
        ..titled(title)
    }
}

pub fn sentence<T: std::fmt::Debug>(answer: Result<T, TeamRefusal>) -> String {
    answer.unwrap_err().to_string()
}

pub fn depends_on(ids: &[&str]) -> TaskChanges {
    TaskChanges {
        dependencies: Some(ids.iter().map(|id| task_id(id)).collect()),
        ..TaskChanges::default()
    }
}

async fn tasks_are_added_all_or_none(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let new = [
        NewTask {
            priority: Priority::High,
            description: "What to do".to_owned(),
            ..titled("one")
        },
        NewTask {
            dependencies: vec![Named::New(0), Named::New(0)],
            ..titled("two")
        },
        NewTask {
            blocks: vec![Named::New(1)],
            ..titled("three")
        },
    ];
    assert_eq!(lead.adds(&new).await.unwrap(), ["t1", "t2", "t3"]);
    let two = bob.shows("t2").await.unwrap().task;
    assert_eq!(
        (two.dependencies, two.record.by.as_str(), two.record.status),
        (vec!["t1".to_owned(), "t3".to_owned()], "lead", TaskStatus::Pending)
    );
    let one = bob.shows("t1").await.unwrap();
    assert_eq!(
        (one.task.blocks, one.description.as_deref()),
        (vec!["t2".to_owned()], Some("What to do"))
    );
    let events = world.events().await.len();
    assert_eq!(
        sentence(lead.adds(&[titled("x"), after("y", &["t9"])]).await),
        "Dependency task t9 does not exist"
    );
    let blocked = NewTask {
        blocks: vec![Named::Task(task_id("t8"))],
        ..titled("y")
    };
    assert_eq!(sentence(lead.adds(&[blocked]).await), "Blocked task t8 does not exist");
    let ring = [
        NewTask {
            dependencies: vec![Named::New(1)],
            ..titled("a")
        },
        NewTask {
            dependencies: vec![Named::New(0)],
            ..titled("b")
        },
    ];
    assert!(sentence(lead.adds(&ring).await).starts_with("Circular dependency detected: #"));
    let of_itself = NewTask {
        dependencies: vec![Named::New(0)],
        ..titled("a")
    };
    assert_eq!(
        sentence(lead.adds(&[of_itself]).await),
        "Circular dependency detected: #1 -> #1"
    );
    let wedge = NewTask {
        dependencies: vec![Named::Task(task_id("t2"))],
        blocks: vec![Named::Task(task_id("t1"))],
        ..titled("wedge")
    };
    let ring = sentence(lead.adds(&[wedge]).await);
    assert!(
        ring.contains("t1") && ring.contains("t2") && ring.contains("#1"),
        "{ring}"
    );
    assert_eq!(world.events().await.len(), events, "nothing was changed");
    assert_eq!(lead.lists(0, 100, &TaskFilter::default()).await.unwrap().tasks.len(), 3);
    let imported = NewTask {
        id: Some(task_id("1795348331226-74f188ed")),
        ..titled("old")
    };
    lead.adds(std::slice::from_ref(&imported)).await.unwrap();
    assert_eq!(
        sentence(lead.adds(&[imported]).await),
        "Task 1795348331226-74f188ed already exists"
    );
}

async fn a_repeated_request_makes_no_second_task(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let key = RequestKey { key: "k", content: "a" };
    let first = lead.adds_with_key(key, &[titled("a")]).await.unwrap();
    assert_eq!(lead.adds_with_key(key, &[titled("a")]).await.unwrap(), first);
    let claim = bob.takes_next_with_key(key).await.unwrap();
    let again = bob.takes_next_with_key(key).await.unwrap();
    let id = |next: &NextTask| match next {
        NextTask::Claimed { task, .. } => (task.task.id.clone(), task.task.record.token),
        NextTask::Nothing { .. } => panic!("nothing"),
    };
    assert_eq!(id(&claim), id(&again));
    bob.completes("t1").await.unwrap();
    assert!(matches!(
        bob.takes_next_with_key(key).await,
        Err(TeamRefusal::ClaimLost { .. })
    ));
}

async fn an_update_is_made_whole_or_not_at_all(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a"), titled("b"), titled("c")]).await.unwrap();
    lead.updates("t1", &depends_on(&["t2"])).await.unwrap();
    lead.updates("t2", &depends_on(&["t3"])).await.unwrap();
    let ring = TaskChanges {
        title: Some("changed".to_owned()),
        ..depends_on(&["t1"])
    };
    let text = sentence(bob.updates("t3", &ring).await);
    for rotation in ["t1 -> t2 -> t3 -> t1", "t2 -> t3 -> t1 -> t2", "t3 -> t1 -> t2 -> t3"] {
        if text == format!("Circular dependency detected: {rotation}") {
            assert_eq!(bob.shows("t3").await.unwrap().task.record.title, "c");
            let blocks = TaskChanges {
                blocks: Some(vec![task_id("t3")]),
                ..TaskChanges::default()
            };
            assert!(sentence(bob.updates("t1", &blocks).await).starts_with("Circular"));
            assert_eq!(
                sentence(bob.updates("t1", &depends_on(&["t1"])).await),
                "Circular dependency detected: t1 -> t1"
            );
            assert_eq!(
                sentence(bob.updates("t1", &depends_on(&["t9"])).await),
                "Dependency task t9 does not exist"
            );
            // Turned around in one update.
            let turned = TaskChanges {
                blocks: Some(vec![task_id("t2")]),
                ..depends_on(&[])
            };
            bob.updates("t1", &turned).await.unwrap();
            let two = bob.shows("t2").await.unwrap().task;
            assert_eq!(two.dependencies, ["t1", "t3"]);
            let changes = TaskChanges {
                description: Some("new".to_owned()),
                note: "why".to_owned(),
                files: Some(vec!["a.ts".to_owned()]),
                ..TaskChanges::default()
            };
            bob.updates("t1", &changes).await.unwrap();
            let one = bob.shows("t1").await.unwrap();
            assert_eq!(
                (
                    one.description.as_deref(),
                    one.notes[0].text.as_str(),
                    one.task.record.files.len()
                ),
                (Some("new"), "why", 1)
            );
            let long = TaskChanges {
                note: "n".repeat(16384),
                ..TaskChanges::default()
            };
            for _ in 0..3 {
                bob.updates("t1", &long).await.unwrap();
            }
            assert!(matches!(
                bob.updates("t1", &long).await,
                Err(TeamRefusal::NotesFull { .. })
            ));
            return;
        }
    }
    panic!("{text}");
}

async fn a_deleted_task_leaves_no_edge(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a"), titled("b"), titled("c")]).await.unwrap();
    lead.updates("t2", &depends_on(&["t1"])).await.unwrap();
    assert_eq!(
        sentence(bob.deletes("t1", false).await),
        "Cannot delete task t1 because task t2 depends on it"
    );
    bob.claims("t1").await.unwrap();
    let eve = world.mate("eve", "alpha");
    eve.joins("eve").await.unwrap();
    assert!(matches!(
        eve.deletes("t1", true).await,
        Err(TeamRefusal::TaskTaken { .. })
    ));
    assert_eq!(lead.deletes("t1", true).await.unwrap().count, 1);
    assert_eq!(bob.shows("t2").await.unwrap().task.dependencies, [""; 0]);
    assert!(matches!(bob.completes("t1").await, Err(TeamRefusal::NoTask { .. })));
    bob.claims("t2").await.unwrap();
    bob.completes("t2").await.unwrap();
    bob.deletes("t2", false).await.unwrap();
    bob.deletes("t3", false).await.unwrap();
    for key in [
        coord::state::tasks::keys::edges,
        coord::state::tasks::keys::tasks,
        coord::state::tasks::keys::unmet,
        coord::state::tasks::keys::ready,
        coord::state::tasks::keys::leases,
        coord::state::tasks::keys::order,
        coord::state::tasks::keys::done,
    ] {
        let key = key(&world.repo, &lead.team);
        assert_eq!(world.number(["EXISTS", &key]).await, 0, "{key}");
    }
}

/// A completed task closes no ring, so that it was let depend on itself.
async fn no_task_depends_on_itself_completed_ones_included(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[titled("a"), titled("b")]).await.unwrap();
    lead.claims("t1").await.unwrap();
    lead.completes("t1").await.unwrap();
    let blocks = |ids: &[&str]| TaskChanges {
        blocks: Some(ids.iter().map(|id| task_id(id)).collect()),
        ..TaskChanges::default()
    };
    for id in ["t1", "t2"] {
        for changes in [depends_on(&[id]), blocks(&[id])] {
            let expected = format!("Circular dependency detected: {id} -> {id}");
            assert_eq!(sentence(lead.updates(id, &changes).await), expected);
        }
        let whole = lead.shows(id).await.unwrap().task;
        assert_eq!((whole.met_dependencies.len(), whole.blocks.len()), (0, 0));
    }
}

scenarios!(
    no_task_depends_on_itself_completed_ones_included,
    tasks_are_added_all_or_none,
    a_repeated_request_makes_no_second_task,
    an_update_is_made_whole_or_not_at_all,
    a_deleted_task_leaves_no_edge,
);
