//! Tasks: every outcome of the scripts that write them.

use coord_domain::team::TaskId;
use coord_protocol::team_event::MessageType;
use coord_teams_state::tasks::{NewTask, Priority, TaskChanges, TaskFilter, TaskReference, TaskStatus, keys};
use coord_teams_state::teams::TeamRefusal;

use crate::world::World;
use crate::world::team::{claimed, key, task_id, titled};

pub fn sentence<T: std::fmt::Debug>(answer: Result<T, TeamRefusal>) -> String {
    answer.unwrap_err().to_string()
}

fn references(ids: &[&str]) -> Vec<TaskReference> {
    ids.iter().map(|id| TaskReference::Task(task_id(id))).collect()
}

pub fn after(title: &str, dependencies: &[&str]) -> NewTask {
    NewTask {
        dependencies: references(dependencies),
        ..titled(title)
    }
}

/// A task that depends on others of the same request.
pub fn after_new(title: &str, dependencies: &[usize]) -> NewTask {
    NewTask {
        dependencies: dependencies.iter().copied().map(TaskReference::New).collect(),
        ..titled(title)
    }
}

/// A task on which others depend.
pub fn before(title: &str, blocks: &[&str]) -> NewTask {
    NewTask {
        blocks: references(blocks),
        ..titled(title)
    }
}

pub fn prioritized(task: NewTask, priority: Priority) -> NewTask {
    NewTask { priority, ..task }
}

fn imported(id: &str) -> NewTask {
    NewTask {
        id: Some(task_id(id)),
        ..titled("old")
    }
}

fn task_ids(ids: &[&str]) -> Vec<TaskId> {
    ids.iter().map(|id| task_id(id)).collect()
}

pub fn depends_on(ids: &[&str]) -> TaskChanges {
    TaskChanges {
        dependencies: Some(task_ids(ids)),
        ..TaskChanges::default()
    }
}

pub fn blocks(ids: &[&str]) -> TaskChanges {
    TaskChanges {
        blocks: Some(task_ids(ids)),
        ..TaskChanges::default()
    }
}

pub fn note(text: &str) -> TaskChanges {
    TaskChanges {
        note: text.to_owned(),
        ..TaskChanges::default()
    }
}

/// Clears the count of expired claims.
pub fn clearing() -> TaskChanges {
    TaskChanges {
        clear_lapses: true,
        ..TaskChanges::default()
    }
}

async fn tasks_are_added_all_or_none(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let one = NewTask {
        description: "What to do".to_owned(),
        ..prioritized(titled("one"), Priority::High)
    };
    let three = NewTask {
        blocks: vec![TaskReference::New(1)],
        ..titled("three")
    };
    let new = [one, after_new("two", &[0, 0]), three];
    assert_eq!(lead.adds(&new).await.unwrap(), ["t1", "t2", "t3"]);
    let two = bob.task("t2").await;
    assert_eq!(two.dependencies, ["t1", "t3"]);
    assert_eq!(two.record.by, "lead");
    assert_eq!(two.record.status, TaskStatus::Pending);
    let one = bob.shows("t1").await.unwrap();
    assert_eq!(one.task.blocks, ["t2"]);
    assert_eq!(one.description.as_deref(), Some("What to do"));
    let events = world.events().await.len();
    assert_refused!(lead.adds(&[titled("x"), after("y", &["t9"])]) => "Dependency task t9 does not exist");
    assert_refused!(lead.adds(&[before("y", &["t8"])]) => "Blocked task t8 does not exist");
    let ring = [after_new("a", &[1]), after_new("b", &[0])];
    assert!(sentence(lead.adds(&ring).await).starts_with("Circular dependency detected: #"));
    assert_refused!(lead.adds(&[after_new("a", &[0])]) => "Circular dependency detected: #1 -> #1");
    let wedge = NewTask {
        blocks: references(&["t1"]),
        ..after("wedge", &["t2"])
    };
    let ring = sentence(lead.adds(&[wedge]).await);
    assert!(["t1", "t2", "#1"].iter().all(|name| ring.contains(name)), "{ring}");
    assert_eq!(world.events().await.len(), events, "nothing was changed");
    assert_eq!(lead.lists(0, 100, &TaskFilter::default()).await.unwrap().tasks.len(), 3);
    let imported = [imported("1795348331226-74f188ed")];
    lead.adds(&imported).await.unwrap();
    assert_refused!(lead.adds(&imported) => "Task 1795348331226-74f188ed already exists");
}

async fn a_repeated_request_makes_no_second_task(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let key = key("k", "a");
    let first = lead.adds_with_key(key, &[titled("a")]).await.unwrap();
    assert_eq!(lead.adds_with_key(key, &[titled("a")]).await.unwrap(), first);
    let next = async || {
        let task = claimed(bob.takes_next_with_key(key).await.unwrap()).task.task;
        (task.id, task.record.token)
    };
    assert_eq!(next().await, next().await);
    bob.completes("t1").await.unwrap();
    assert_refused!(bob.takes_next_with_key(key) => ClaimLost);
}

async fn an_update_is_made_whole_or_not_at_all(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["a", "b", "c"].map(titled)).await.unwrap();
    lead.updates("t1", &depends_on(&["t2"])).await.unwrap();
    lead.updates("t2", &depends_on(&["t3"])).await.unwrap();
    let ring = TaskChanges {
        title: Some("changed".to_owned()),
        ..depends_on(&["t1"])
    };
    let text = sentence(bob.updates("t3", &ring).await);
    let rotations = ["t1 -> t2 -> t3 -> t1", "t2 -> t3 -> t1 -> t2", "t3 -> t1 -> t2 -> t3"];
    let named = text.strip_prefix("Circular dependency detected: ");
    assert!(named.is_some_and(|ring| rotations.contains(&ring)), "{text}");
    assert_eq!(bob.task("t3").await.record.title, "c");
    assert!(sentence(bob.updates("t1", &blocks(&["t3"])).await).starts_with("Circular"));
    assert_refused!(bob.updates("t1", &depends_on(&["t1"])) => "Circular dependency detected: t1 -> t1");
    assert_refused!(bob.updates("t1", &depends_on(&["t9"])) => "Dependency task t9 does not exist");
    // Turned around in one update.
    let turned = TaskChanges {
        dependencies: Some(Vec::new()),
        ..blocks(&["t2"])
    };
    bob.updates("t1", &turned).await.unwrap();
    assert_eq!(bob.task("t2").await.dependencies, ["t1", "t3"]);
    let changes = TaskChanges {
        description: Some("new".to_owned()),
        files: Some(vec!["a.ts".to_owned()]),
        ..note("why")
    };
    bob.updates("t1", &changes).await.unwrap();
    let one = bob.shows("t1").await.unwrap();
    assert_eq!(one.description.as_deref(), Some("new"));
    assert_eq!((&*one.notes[0].text, one.task.record.files.len()), ("why", 1));
    let long = note(&"n".repeat(16384));
    for _ in 0..3 {
        lead.updates("t1", &long).await.unwrap();
    }
    assert_refused!(bob.updates("t1", &long) => NotesFull);
}

async fn a_deleted_task_leaves_no_edge(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&["a", "b", "c"].map(titled)).await.unwrap();
    lead.updates("t2", &depends_on(&["t1"])).await.unwrap();
    assert_refused!(bob.deletes("t1", false) => "Cannot delete task t1 because task t2 depends on it");
    bob.claims("t1").await.unwrap();
    assert_refused!(eve.deletes("t1", true) => TaskTaken);
    assert_eq!(lead.deletes("t1", true).await.unwrap().count, 1);
    assert_eq!(bob.task("t2").await.dependencies, [""; 0]);
    assert_refused!(bob.completes("t1") => NoTask);
    bob.claims("t2").await.unwrap();
    bob.completes("t2").await.unwrap();
    for id in ["t2", "t3"] {
        bob.deletes(id, false).await.unwrap();
    }
    for key in [
        keys::edges,
        keys::tasks,
        keys::unmet,
        keys::ready,
        keys::leases,
        keys::order,
        keys::done,
    ] {
        let key = key(&world.repo, &lead.team);
        assert_eq!(world.number(["EXISTS", &key]).await, 0, "{key}");
    }
}

/// A completed task closes no ring, so that it could depend on itself.
async fn no_task_depends_on_itself_completed_ones_included(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    lead.claims("t1").await.unwrap();
    lead.completes("t1").await.unwrap();
    for id in ["t1", "t2"] {
        for changes in [depends_on(&[id]), blocks(&[id])] {
            let expected = format!("Circular dependency detected: {id} -> {id}");
            assert_eq!(sentence(lead.updates(id, &changes).await), expected);
        }
        let whole = lead.task(id).await;
        assert_eq!((whole.met_dependencies.len(), whole.blocks.len()), (0, 0));
    }
}

/// The numbers of the next tasks were no whole numbers: the team was unusable for good.
// rule: teams#ids
async fn the_id_of_an_imported_task_does_not_spoil_the_numbers_of_the_next_ones(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let ids = ["t99999999999999", "t20000000000", "t999999998"].map(imported);
    lead.adds(&ids).await.unwrap();
    let new = [titled("a"), prioritized(titled("urgent"), Priority::High)];
    assert_eq!(lead.adds(&new).await.unwrap(), ["t999999999", "t1000000000"]);
    let urgent = claimed(bob.takes_next().await.unwrap());
    assert_eq!(urgent.task.task.id, "t1000000000", "by priority, then by age");
    assert_eq!(lead.lists(0, 100, &TaskFilter::default()).await.unwrap().tasks.len(), 5);
}

/// They would be one file where names of files are compared without their case.
async fn two_ids_differ_by_more_than_their_case(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.adds(&[titled("a"), imported("Abc")]).await.unwrap();
    for ids in [&["T1"][..], &["abc"], &["ABC"], &["Abc"], &["x", "X"]] {
        let tasks: Vec<NewTask> = ids.iter().map(|id| imported(id)).collect();
        assert_refused!(lead.adds(&tasks) => TaskExists { id } if id == ids[ids.len() - 1]);
    }
    lead.deletes("Abc", false).await.unwrap();
    lead.adds(&["aBC", "T7"].map(imported)).await.unwrap();
    assert_eq!(lead.adds(&[titled("b")]).await.unwrap(), ["t8"]);
}

/// The oldest of more than 64 was forgotten, and its request made a second task.
async fn no_answer_is_forgotten_before_ten_minutes_are_over(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let (second, other) = (world.mate("lead/second", "alpha"), world.mate("lead", "beta"));
    second.joins("second").await.unwrap();
    other.creates("lead").await.unwrap();
    let new = [titled("a")];
    for number in 0..70 {
        let name = format!("k{number}");
        lead.adds_with_key(key(&name, "a"), &new).await.unwrap();
    }
    let (first, another) = (key("k0", "a"), key("another", "a"));
    assert_eq!(lead.adds_with_key(first, &new).await.unwrap(), ["t1"]);
    // As if there were as many as there may be.
    let answers = coord_teams_state::teams::keys::answers(&world.repo, &coord_store::script::sha1_hex("lead"));
    let full = |oldest: i64| serde_json::json!({ "count": 4000, "bytes": 1, "oldest": oldest }).to_string();
    let now = lead.lists(0, 1, &TaskFilter::default()).await.unwrap().now;
    world.command(["HSET", &answers, "#", &full(now)]).await;
    let refused = sentence(lead.adds_with_key(another, &new).await);
    assert_eq!(refused, "There can be no more than 4000 request keys in ten minutes");
    // For all requests of a person: each of its agents in each team had as much room again.
    for refusal in [
        lead.sends(MessageType::Plain, &["lead"], "x", another).await.err(),
        lead.takes_next_with_key(another).await.err(),
        second.adds_with_key(another, &new).await.err(),
        other.adds_with_key(another, &new).await.err(),
    ] {
        let is_full = matches!(refusal, Some(TeamRefusal::TooMany { most: 4000, .. }));
        assert!(is_full, "{refusal:?}");
    }
    bob.takes_next_with_key(another).await.unwrap();
    assert_eq!(lead.adds_with_key(first, &new).await.unwrap(), ["t1"]);
    // Answers that are too old make room.
    let of_first = "alpha  create_tasks k0";
    let edit = |answer: &mut serde_json::Value| answer["time"] = (now - 600).into();
    world.edit_json(&answers, of_first, edit).await;
    world.command(["HSET", &answers, "#", &full(now - 600)]).await;
    assert_eq!(lead.adds_with_key(another, &new).await.unwrap(), ["t71"]);
    assert_eq!(world.number(["HEXISTS", &answers, of_first]).await, 0);
    // 69 others, this one, and their number.
    assert_eq!(world.number(["HLEN", &answers]).await, 71);
}

/// It stayed in the `blocks` of what it had depended on.
async fn a_completed_task_blocks_no_task_and_waits_for_nothing(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["met", "open", "late"].map(titled)).await.unwrap();
    let dependent = [after("x", &["t1", "t2"]), after("y", &["t2"])];
    lead.adds(&dependent).await.unwrap();
    for id in ["t1", "t4"] {
        bob.claims(id).await.unwrap();
        bob.completes_with(id, None, "done").await.unwrap();
    }
    // Dependencies that are open, those that are met, and the tasks that depend on it.
    let of = async |id: &str| {
        let task = lead.task(id).await;
        assert_eq!(task.block_count, task.blocks.len() as u64, "{id}");
        [task.dependencies, task.met_dependencies, task.blocks].map(|ids| ids.join(" "))
    };
    assert_eq!(of("t4").await, ["", "t1", ""]);
    assert_eq!(of("t1").await, ["", "", ""]);
    assert_eq!(of("t2").await, ["", "", "t5"]);
    // A completed dependency is history from both ends, by an edit, too.
    lead.updates("t3", &blocks(&["t4", "t5"])).await.unwrap();
    assert_eq!(of("t3").await, ["", "", "t5"]);
    // A completed dependency stays with an edit that does not name it, and goes where the edit drops completed ones.
    lead.adds(&[after("z", &["t1", "t2"])]).await.unwrap();
    lead.updates("t6", &depends_on(&["t2"])).await.unwrap();
    assert_eq!(of("t6").await, ["t2", "t1", ""]);
    let exactly = |ids: &[&str]| TaskChanges {
        drops_completed: true,
        ..depends_on(ids)
    };
    lead.updates("t6", &exactly(&["t1"])).await.unwrap();
    assert_eq!(of("t6").await, ["", "t1", ""]);
    lead.updates("t6", &exactly(&[])).await.unwrap();
    assert_eq!(of("t6").await, ["", "", ""]);
    bob.claims("t6").await.unwrap();
    lead.deletes("t6", true).await.unwrap();
    // It hinders no deletion, is freed by none, and leaves no edge.
    assert_eq!(lead.deletes("t3", true).await.unwrap().count, 0);
    assert_refused!(lead.deletes("t2", false) => "Cannot delete task t2 because task t5 depends on it");
    lead.updates("t5", &depends_on(&[])).await.unwrap();
    for id in ["t2", "t1", "t5", "t4"] {
        lead.deletes(id, false).await.unwrap();
    }
    let edges = keys::edges(&world.repo, &lead.team);
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
