//! Tasks: every outcome of the scripts that write them.

use coord_teams_state::tasks::{NewTask, Priority, TaskChanges, TaskClaim, TaskFilter, TaskReference, TaskStatus};
use coord_teams_state::teams::{RequestKey, TeamRefusal};

use coord_protocol::team_event::MessageType;

use crate::world::World;
use crate::world::team::{claimed, task_id, titled};

pub fn after(title: &str, dependencies: &[&str]) -> NewTask {
    NewTask {
        dependencies: dependencies.iter().map(|id| TaskReference::Task(task_id(id))).collect(),
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
            dependencies: vec![TaskReference::New(0), TaskReference::New(0)],
            ..titled("two")
        },
        NewTask {
            blocks: vec![TaskReference::New(1)],
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
        blocks: vec![TaskReference::Task(task_id("t8"))],
        ..titled("y")
    };
    assert_eq!(sentence(lead.adds(&[blocked]).await), "Blocked task t8 does not exist");
    let ring = [
        NewTask {
            dependencies: vec![TaskReference::New(1)],
            ..titled("a")
        },
        NewTask {
            dependencies: vec![TaskReference::New(0)],
            ..titled("b")
        },
    ];
    assert!(sentence(lead.adds(&ring).await).starts_with("Circular dependency detected: #"));
    let of_itself = NewTask {
        dependencies: vec![TaskReference::New(0)],
        ..titled("a")
    };
    assert_eq!(
        sentence(lead.adds(&[of_itself]).await),
        "Circular dependency detected: #1 -> #1"
    );
    let wedge = NewTask {
        dependencies: vec![TaskReference::Task(task_id("t2"))],
        blocks: vec![TaskReference::Task(task_id("t1"))],
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
    let id = |claim: TaskClaim| {
        let task = claimed(claim).task.task;
        (task.id, task.record.token)
    };
    assert_eq!(id(claim), id(again));
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
                lead.updates("t1", &long).await.unwrap();
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
        coord_teams_state::tasks::keys::edges,
        coord_teams_state::tasks::keys::tasks,
        coord_teams_state::tasks::keys::unmet,
        coord_teams_state::tasks::keys::ready,
        coord_teams_state::tasks::keys::leases,
        coord_teams_state::tasks::keys::order,
        coord_teams_state::tasks::keys::done,
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

/// The numbers of the next tasks were no whole numbers: the team was unusable for good.
// rule: teams#ids
async fn the_id_of_an_imported_task_does_not_spoil_the_numbers_of_the_next_ones(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let imported = |id: &str| NewTask {
        id: Some(task_id(id)),
        ..titled("old")
    };
    let ids = ["t99999999999999", "t20000000000", "t999999998"].map(imported);
    lead.adds(&ids).await.unwrap();
    let urgent = NewTask {
        priority: Priority::High,
        ..titled("urgent")
    };
    assert_eq!(
        lead.adds(&[titled("a"), urgent]).await.unwrap(),
        ["t999999999", "t1000000000"]
    );
    let urgent = claimed(bob.takes_next().await.unwrap());
    assert_eq!(urgent.task.task.id, "t1000000000", "by priority, then by age");
    assert_eq!(lead.lists(0, 100, &TaskFilter::default()).await.unwrap().tasks.len(), 5);
}

/// They would be one file where names of files are compared without their case.
async fn two_ids_differ_by_more_than_their_case(world: World) {
    let (lead, []) = world.team_of([]).await;
    let imported = |id: &str| NewTask {
        id: Some(task_id(id)),
        ..titled("old")
    };
    lead.adds(&[titled("a"), imported("Abc")]).await.unwrap();
    for ids in [vec!["T1"], vec!["abc"], vec!["ABC"], vec!["Abc"], vec!["x", "X"]] {
        let tasks: Vec<NewTask> = ids.iter().map(|id| imported(id)).collect();
        let refused = lead.adds(&tasks).await;
        assert_eq!(
            refused,
            Err(TeamRefusal::TaskExists {
                id: ids[ids.len() - 1].to_owned()
            })
        );
    }
    lead.deletes("Abc", false).await.unwrap();
    lead.adds(&[imported("aBC"), imported("T7")]).await.unwrap();
    assert_eq!(lead.adds(&[titled("b")]).await.unwrap(), ["t8"]);
}

/// The oldest of more than 64 was forgotten, and its request made a second task.
async fn no_answer_is_forgotten_before_ten_minutes_are_over(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let (second, other) = (world.mate("lead/second", "alpha"), world.mate("lead", "beta"));
    second.joins("second").await.unwrap();
    other.creates("lead").await.unwrap();
    for number in 0..70 {
        let key = format!("k{number}");
        let key = RequestKey {
            key: &key,
            content: "a",
        };
        lead.adds_with_key(key, &[titled("a")]).await.unwrap();
    }
    let first = RequestKey {
        key: "k0",
        content: "a",
    };
    assert_eq!(lead.adds_with_key(first, &[titled("a")]).await.unwrap(), ["t1"]);
    // As if there were as many as there may be.
    let answers = coord_teams_state::teams::keys::answers(&world.repo, &coord_store::script::sha1_hex("lead"));
    let full = |oldest: i64| serde_json::json!({ "count": 4000, "bytes": 1, "oldest": oldest }).to_string();
    let now = lead.lists(0, 1, &TaskFilter::default()).await.unwrap().now;
    let another = RequestKey {
        key: "another",
        content: "a",
    };
    world.command(["HSET", &answers, "#", &full(now)]).await;
    assert_eq!(
        lead.adds_with_key(another, &[titled("a")]).await,
        Err(TeamRefusal::TooMany {
            what: "request keys in ten minutes".to_owned(),
            most: 4000
        })
    );
    // For all requests of a person: each of its agents in each team had as much room again.
    let others = [
        lead.sends(MessageType::Plain, &["lead"], "x", another).await.err(),
        lead.takes_next_with_key(another).await.err(),
        second.adds_with_key(another, &[titled("a")]).await.err(),
        other.adds_with_key(another, &[titled("a")]).await.err(),
    ];
    bob.takes_next_with_key(another).await.unwrap();
    for refusal in others {
        assert!(
            matches!(refusal, Some(TeamRefusal::TooMany { most: 4000, .. })),
            "{refusal:?}"
        );
    }
    assert_eq!(lead.adds_with_key(first, &[titled("a")]).await.unwrap(), ["t1"]);
    // Answers that are too old make room.
    let stored = world.command(["HGET", &answers, "alpha  create_tasks k0"]).await;
    let mut old: serde_json::Value = serde_json::from_str(stored.as_str().unwrap()).unwrap();
    old["time"] = (now - 600).into();
    world
        .command([
            "HSET",
            &answers,
            "alpha  create_tasks k0",
            &old.to_string(),
            "#",
            &full(now - 600),
        ])
        .await;
    assert_eq!(lead.adds_with_key(another, &[titled("a")]).await.unwrap(), ["t71"]);
    assert_eq!(world.number(["HEXISTS", &answers, "alpha  create_tasks k0"]).await, 0);
    assert_eq!(
        world.number(["HLEN", &answers]).await,
        71,
        "69 others, this one, and their number"
    );
}

/// It stayed in the `blocks` of what it had depended on.
async fn a_completed_task_blocks_no_task_and_waits_for_nothing(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("met"), titled("open"), titled("late")])
        .await
        .unwrap();
    lead.adds(&[after("x", &["t1", "t2"]), after("y", &["t2"])])
        .await
        .unwrap();
    for id in ["t1", "t4"] {
        bob.claims(id).await.unwrap();
        bob.completes_with(id, None, "done").await.unwrap();
    }
    let of = async |id: &str| {
        let task = lead.shows(id).await.unwrap().task;
        (
            task.dependencies.join(" "),
            task.met_dependencies.join(" "),
            task.blocks.join(" "),
            task.block_count,
        )
    };
    let is = |open: &str, met: &str, blocks: &str, count| (open.to_owned(), met.to_owned(), blocks.to_owned(), count);
    assert_eq!(of("t4").await, is("", "t1", "", 0));
    assert_eq!(of("t1").await, is("", "", "", 0));
    assert_eq!(of("t2").await, is("", "", "t5", 1));
    // A completed dependency is history from both ends, by an edit, too.
    let both = TaskChanges {
        blocks: Some(vec![task_id("t4"), task_id("t5")]),
        ..TaskChanges::default()
    };
    lead.updates("t3", &both).await.unwrap();
    assert_eq!(of("t3").await, is("", "", "t5", 1));
    // A completed dependency stays with an edit that does not name it, and goes where the edit drops completed ones.
    lead.adds(&[after("z", &["t1", "t2"])]).await.unwrap();
    lead.updates("t6", &depends_on(&["t2"])).await.unwrap();
    assert_eq!(of("t6").await, is("t2", "t1", "", 0));
    let exactly = |ids: &[&str]| TaskChanges {
        drops_completed: true,
        ..depends_on(ids)
    };
    lead.updates("t6", &exactly(&["t1"])).await.unwrap();
    assert_eq!(of("t6").await, is("", "t1", "", 0));
    lead.updates("t6", &exactly(&[])).await.unwrap();
    assert_eq!(of("t6").await, is("", "", "", 0));
    bob.claims("t6").await.unwrap();
    lead.deletes("t6", true).await.unwrap();
    // It hinders no deletion, is freed by none, and leaves no edge.
    assert_eq!(lead.deletes("t3", true).await.unwrap().count, 0);
    assert_eq!(
        sentence(lead.deletes("t2", false).await),
        "Cannot delete task t2 because task t5 depends on it"
    );
    lead.updates("t5", &depends_on(&[])).await.unwrap();
    lead.deletes("t2", false).await.unwrap();
    for id in ["t1", "t5", "t4"] {
        lead.deletes(id, false).await.unwrap();
    }
    let edges = coord_teams_state::tasks::keys::edges(&world.repo, &lead.team);
    assert_eq!(world.number(["EXISTS", &edges]).await, 0);
}

scenarios!(
    the_id_of_an_imported_task_does_not_spoil_the_numbers_of_the_next_ones,
    two_ids_differ_by_more_than_their_case,
    no_answer_is_forgotten_before_ten_minutes_are_over,
    a_completed_task_blocks_no_task_and_waits_for_nothing,
    no_task_depends_on_itself_completed_ones_included,
    tasks_are_added_all_or_none,
    a_repeated_request_makes_no_second_task,
    an_update_is_made_whole_or_not_at_all,
    a_deleted_task_leaves_no_edge,
);
