//! Tasks: every outcome of their scripts.

use coord::state::tasks::{
    LeaseState, Named, NewTask, NextTask, Priority, Readiness, TaskChanges, TaskFilter, TaskStatus, TaskView, Updated,
};
use coord::state::teams::{RequestKey, TeamRefusal};

use crate::world::World;
use crate::world::team::{Mate, task_id, titled};

pub fn after(title: &str, dependencies: &[&str]) -> NewTask {
    NewTask {
        dependencies: dependencies.iter().map(|id| Named::Task(task_id(id))).collect(),
        ..titled(title)
    }
}

pub fn sentence<T: std::fmt::Debug>(answer: Result<T, TeamRefusal>) -> String {
    answer.unwrap_err().to_string()
}

async fn next_of(mate: &Mate<'_>) -> Option<String> {
    match mate.takes_next().await.unwrap() {
        NextTask::Claimed { task, .. } => Some(task.task.id),
        NextTask::Nothing { .. } => None,
    }
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

async fn a_claim_has_one_winner_and_warns_of_dependencies(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a"), after("b", &[])]).await.unwrap();
    lead.updates("t2", &depends_on(&["t1"])).await.unwrap();
    let claimed = bob.claims("t2").await.unwrap();
    assert_eq!(
        claimed.task.task.warning().as_deref(),
        Some("Warning: Task t2 dependencies are not met. Proceed with caution.")
    );
    let first_token = claimed.task.task.record.token.unwrap();
    assert!(bob.claims("t2").await.unwrap().is_renewal);
    assert_eq!(
        sentence(eve.claims("t2").await),
        "Task t2 is not available (status: in_progress)"
    );
    assert!(matches!(eve.claims("t2").await, Err(TeamRefusal::TaskTaken { owner, .. }) if owner == "bob"));
    assert_eq!(sentence(eve.claims("t7").await), "Task t7 not found in team alpha");
    assert!(matches!(eve.completes("t2").await, Err(TeamRefusal::NotOwner { .. })));
    assert!(matches!(
        eve.releases("t2", "").await,
        Err(TeamRefusal::NotOwner { .. })
    ));
    eve.claims("t1").await.unwrap();
    let done = eve.completes_with("t1", None, "it works").await.unwrap();
    assert_eq!((done.unblocked.count, done.had_expired), (1, false));
    let whole = bob.claims("t2").await.unwrap().task;
    assert_eq!(whole.task.warning(), None);
    assert_eq!(whole.results, [("t1".to_owned(), "it works".to_owned())]);
    assert_eq!(
        bob.reads(None).await.unwrap().messages[0].message,
        "Dependencies are met: t2"
    );
    assert_eq!(
        sentence(bob.claims("t1").await),
        "Task t1 is not available (status: completed)"
    );
    assert!(eve.completes("t1").await.unwrap().was_completed);
    bob.releases("t2", "half done").await.unwrap();
    let again = eve.claims("t2").await.unwrap().task;
    assert!(again.task.record.token.unwrap() > first_token);
    assert_eq!(
        (again.notes[0].text.as_str(), again.task.record.had.as_deref()),
        ("half done", Some("bob"))
    );
    assert!(matches!(
        bob.completes_with("t2", Some(first_token), "").await,
        Err(TeamRefusal::ClaimLost { .. })
    ));
}

async fn status_only_goes_forward(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let to = |status| TaskChanges {
        status: Some(status),
        ..TaskChanges::default()
    };
    assert_eq!(
        sentence(bob.completes("t1").await),
        "Invalid status transition: pending -> completed"
    );
    assert_eq!(
        sentence(bob.updates("t1", &to(TaskStatus::Completed)).await),
        "Invalid status transition: pending -> completed"
    );
    assert!(matches!(
        bob.updates("t1", &to(TaskStatus::InProgress)).await.unwrap(),
        Updated::NotByUpdate { .. }
    ));
    assert!(matches!(
        bob.updates("t1", &to(TaskStatus::Pending)).await.unwrap(),
        Updated::Task(_)
    ));
    bob.claims("t1").await.unwrap();
    assert_eq!(
        sentence(bob.updates("t1", &to(TaskStatus::Pending)).await),
        "Invalid status transition: in_progress -> pending"
    );
    bob.completes("t1").await.unwrap();
    assert_eq!(
        sentence(bob.updates("t1", &to(TaskStatus::InProgress)).await),
        "Invalid status transition: completed -> in_progress"
    );
    assert!(matches!(
        bob.releases("t1", "").await,
        Err(TeamRefusal::NotOwner { .. })
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

async fn next_gives_what_is_assigned_then_by_priority_and_age(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let of = |title, priority| NewTask {
        priority,
        ..titled(title)
    };
    lead.adds(&[
        of("a", Priority::Low),
        of("b", Priority::Normal),
        of("c", Priority::High),
        of("d", Priority::Normal),
        after("e", &[]),
    ])
    .await
    .unwrap();
    lead.updates("t5", &depends_on(&["t1"])).await.unwrap();
    assert!(matches!(
        bob.assigns("t1", Some("bob")).await,
        Err(TeamRefusal::NotCreator { .. })
    ));
    assert!(matches!(
        lead.assigns("t1", Some("ghost")).await,
        Err(TeamRefusal::NoRecipient { .. })
    ));
    lead.assigns("t1", Some("eve")).await.unwrap();
    lead.assigns("t4", Some("eve")).await.unwrap();
    assert_eq!(
        eve.reads(None).await.unwrap().messages[0].task_id.as_deref(),
        Some("t1")
    );
    assert!(matches!(bob.claims("t1").await, Err(TeamRefusal::Reserved { assignee, .. }) if assignee == "eve"));
    assert_eq!(next_of(&eve).await.as_deref(), Some("t4"));
    assert_eq!(next_of(&bob).await.as_deref(), Some("t3"));
    assert_eq!(next_of(&bob).await.as_deref(), Some("t2"));
    let NextTask::Nothing {
        open,
        claimed,
        held,
        passed,
    } = bob.takes_next().await.unwrap()
    else {
        panic!("a task")
    };
    assert_eq!((open, claimed, held.len(), passed.len()), (5, 3, 3, 1));
    assert_eq!(
        (
            passed[0].id.as_str(),
            format!("{:?}", passed[0].reason).as_str(),
            passed[0].handle.as_deref().unwrap()
        ),
        ("t1", "Reserved", "eve")
    );
    lead.assigns("t1", None).await.unwrap();
    assert_eq!(next_of(&bob).await.as_deref(), Some("t1"));
    assert!(matches!(
        lead.assigns("t1", Some("eve")).await,
        Err(TeamRefusal::TaskTaken { .. })
    ));
    bob.completes("t1").await.unwrap();
    assert!(matches!(
        lead.assigns("t1", Some("eve")).await,
        Err(TeamRefusal::TaskUnavailable { .. })
    ));
    assert_eq!(next_of(&eve).await.as_deref(), Some("t5"));
}

async fn a_lapsed_claim_is_anybodys_and_three_hold_the_task_back(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.lapses("t1").await;
    let view = eve.shows("t1").await.unwrap().task;
    let now = i64::MAX / 2;
    assert_eq!(
        (view.lease(now), view.owner(now), view.is_ready(now)),
        (LeaseState::Lapsed, None, true)
    );
    let ready = TaskFilter {
        readiness: Some(Readiness::Ready),
        ..TaskFilter::default()
    };
    assert_eq!(
        eve.lists(0, 10, &ready).await.unwrap().tasks.len(),
        1,
        "what can be claimed is listed"
    );
    // Its owner can still complete it while nobody else has it.
    let done = bob.completes("t1").await.unwrap();
    assert!(done.had_expired);
    lead.adds(&[titled("b")]).await.unwrap();
    for (number, mate) in [&bob, &eve, &bob].into_iter().enumerate() {
        assert_eq!(next_of(mate).await.as_deref(), Some("t2"), "{number}");
        mate.lapses("t2").await;
    }
    assert!(matches!(
        eve.claims("t2").await,
        Err(TeamRefusal::HeldBack { lapses: 3, .. })
    ));
    assert_eq!(next_of(&eve).await, None);
    assert_eq!(eve.lists(0, 10, &ready).await.unwrap().tasks.len(), 0);
    let clear = TaskChanges {
        clear_lapses: true,
        ..TaskChanges::default()
    };
    assert!(matches!(
        eve.updates("t2", &clear).await,
        Err(TeamRefusal::NotCreator { .. })
    ));
    lead.updates("t2", &clear).await.unwrap();
    let taken = eve.claims("t2").await.unwrap();
    assert_eq!(taken.task.task.record.had.as_deref(), Some("bob"));
    assert!(matches!(bob.completes("t2").await, Err(TeamRefusal::ClaimLost { .. })));
    let events = world.events().await;
    let lapsed = events
        .iter()
        .filter(|(_, event)| event["type"] == "task_lapsed")
        .count();
    assert_eq!(lapsed, 4, "each once");
}

async fn calls_of_the_owner_renew_its_claims_once_half_is_gone(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    let first = bob.claims_for("t1", 3).await.unwrap().task.task.record.expires.unwrap();
    bob.reads(None).await.unwrap();
    assert_eq!(
        bob.shows("t1").await.unwrap().task.record.expires,
        Some(first),
        "nothing is to be renewed yet"
    );
    tokio::time::sleep(std::time::Duration::from_millis(1800)).await;
    bob.reads(None).await.unwrap();
    assert!(bob.shows("t1").await.unwrap().task.record.expires > Some(first));
}

/// A renewal read all other claims, so that it cost a command for each; what it must not lose is that the time may be shorter now.
async fn a_renewal_for_a_shorter_time_is_renewed_after_half_of_that(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a")]).await.unwrap();
    bob.claims("t1").await.unwrap();
    let shorter = bob.claims_for("t1", 3).await.unwrap().task.task.record.expires;
    tokio::time::sleep(std::time::Duration::from_millis(1800)).await;
    bob.reads(None).await.unwrap();
    assert!(bob.shows("t1").await.unwrap().task.record.expires > shorter);
}

async fn a_strict_team_refuses_what_depends_on_open_tasks(world: World) {
    let lead = world.mate("lead", "strict");
    lead.creates_as("lead", true).await.unwrap();
    lead.adds(&[
        titled("a"),
        NewTask {
            dependencies: vec![Named::New(0)],
            ..titled("b")
        },
    ])
    .await
    .unwrap();
    assert_eq!(
        sentence(lead.claims("t2").await),
        "Task t2 dependencies are not met: t1"
    );
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

async fn a_member_has_50_claims(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let tasks: Vec<NewTask> = (0..52).map(|number| titled(&format!("{number}"))).collect();
    lead.adds(&tasks).await.unwrap();
    for _ in 0..50 {
        next_of(&bob).await.unwrap();
    }
    assert_eq!(sentence(bob.takes_next().await), "There can be no more than 50 claims");
    assert_eq!(sentence(bob.claims("t52").await), "There can be no more than 50 claims");
    bob.completes("t1").await.unwrap();
    assert_eq!(next_of(&bob).await.as_deref(), Some("t51"));
}

async fn a_listing_has_pages_and_filters(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let tasks: Vec<NewTask> = (0..25).map(|number| titled(&format!("Task {number}"))).collect();
    lead.adds(&tasks).await.unwrap();
    lead.updates("t2", &depends_on(&["t1"])).await.unwrap();
    bob.claims("t3").await.unwrap();
    let (mut seen, mut after) = (Vec::new(), Some(0));
    while let Some(from) = after {
        let page = bob.lists(from, 10, &TaskFilter::default()).await.unwrap();
        seen.extend(page.tasks.into_iter().map(|task| task.id));
        after = page.next;
    }
    assert_eq!(seen, (1..=25).map(|number| format!("t{number}")).collect::<Vec<_>>());
    let owner = crate::world::team::handle("BOB");
    for (filter, count) in [
        (
            TaskFilter {
                status: Some(TaskStatus::InProgress),
                ..TaskFilter::default()
            },
            1,
        ),
        (
            TaskFilter {
                owner: Some(&owner),
                ..TaskFilter::default()
            },
            1,
        ),
        (
            TaskFilter {
                readiness: Some(Readiness::Ready),
                ..TaskFilter::default()
            },
            23,
        ),
        (
            TaskFilter {
                readiness: Some(Readiness::Blocked),
                ..TaskFilter::default()
            },
            1,
        ),
        (
            TaskFilter {
                readiness: Some(Readiness::Unclaimed),
                ..TaskFilter::default()
            },
            24,
        ),
        (
            TaskFilter {
                text: "TASK 2",
                ..TaskFilter::default()
            },
            6,
        ),
    ] {
        assert_eq!(
            bob.lists(0, 100, &filter).await.unwrap().tasks.len(),
            count,
            "{filter:?}"
        );
    }
    bob.releases("t3", "").await.unwrap();
    let unclaimed = TaskFilter {
        readiness: Some(Readiness::Unclaimed),
        ..TaskFilter::default()
    };
    assert_eq!(
        bob.lists(0, 100, &unclaimed).await.unwrap().tasks.len(),
        25,
        "nobody has it"
    );
}

async fn a_listing_has_the_descriptions_that_are_asked_for_and_room_for_them(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let described = |number: usize| NewTask {
        description: if number.is_multiple_of(2) {
            "x".repeat(16 * 1024)
        } else {
            String::new()
        },
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
    let expected: Vec<usize> = (0..40).map(|number| described(number).description.len()).collect();
    assert_eq!((lengths, pages), (expected, 2));
    let without = bob.lists(0, 100, &TaskFilter::default()).await.unwrap();
    assert_eq!((without.tasks.len(), without.descriptions.len()), (40, 0));
}

scenarios!(
    tasks_are_added_all_or_none,
    a_repeated_request_makes_no_second_task,
    a_claim_has_one_winner_and_warns_of_dependencies,
    status_only_goes_forward,
    an_update_is_made_whole_or_not_at_all,
    next_gives_what_is_assigned_then_by_priority_and_age,
    a_lapsed_claim_is_anybodys_and_three_hold_the_task_back,
    calls_of_the_owner_renew_its_claims_once_half_is_gone,
    a_renewal_for_a_shorter_time_is_renewed_after_half_of_that,
    a_strict_team_refuses_what_depends_on_open_tasks,
    a_deleted_task_leaves_no_edge,
    a_member_has_50_claims,
    a_listing_has_pages_and_filters,
    a_listing_has_the_descriptions_that_are_asked_for_and_room_for_them,
);
