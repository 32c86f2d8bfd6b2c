//! What tasks take of the store is counted for the login that wrote it, and bounded.

use coord::state::tasks::{NewTask, TaskChanges};
use coord::state::teams::{TeamRefusal, keys};

use super::tasks::after;
use crate::world::World;
use crate::world::team::titled;

const MIB: i64 = 1_048_576;

/// What is counted of the tasks of this login, and of all.
async fn counted(world: &World, login: &str) -> [Option<i64>; 2] {
    let key = keys::teams(&world.repo);
    let stored = world
        .command(["HMGET", &key, &format!("/bytes {login}"), "/bytes"])
        .await;
    let counts = stored.as_array().unwrap().iter();
    let counts: Vec<_> = counts
        .map(|count| count.as_str().map(|count| count.parse().unwrap()))
        .collect();
    counts.try_into().unwrap()
}

/// As if this login and all together had written so much, less a few bytes.
async fn has_written(world: &World, login: &str, own: i64, all: i64) {
    let (key, field) = (keys::teams(&world.repo), format!("/bytes {login}"));
    let (own, all) = ((own * MIB - 100).to_string(), (all * MIB - 100).to_string());
    world.command(["HSET", &key, &field, &own, "/bytes", &all]).await;
}

/// 270 requests of one login for 60 tasks of 16 KiB each took 300 MiB of the store.
async fn a_login_writes_64_mib_of_tasks_and_all_of_a_repository_256(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&[titled("a"), titled("b")]).await.unwrap();
    lead.claims("t1").await.unwrap();
    let described = TaskChanges {
        description: Some("d".repeat(101)),
        ..TaskChanges::default()
    };
    let text = "x".repeat(101);
    for (who, own, all, refusal) in [
        (&lead, 64, 64, "64 MiB of tasks with their texts by one login"),
        (&bob, 0, 256, "256 MiB of tasks with their texts in a repository"),
    ] {
        let login = who.holder.user_id.as_str();
        has_written(&world, login, own.max(1), all).await;
        let sentence = format!("There can be no more than {refusal}");
        assert_eq!(who.adds(&[titled("c")]).await.unwrap_err().to_string(), sentence);
        assert_eq!(who.updates("t2", &described).await.unwrap_err().to_string(), sentence);
    }
    // Others go on, and what takes no room goes on for all.
    has_written(&world, "lead", 64, 64).await;
    bob.adds(&[titled("c")]).await.unwrap();
    let (releases, completes) = (
        lead.releases("t1", &text).await,
        lead.completes_with("t1", None, &text).await,
    );
    assert!(matches!(releases, Err(TeamRefusal::TooMany { most: 64, .. })));
    assert!(matches!(completes, Err(TeamRefusal::TooMany { most: 64, .. })));
    lead.completes("t1").await.unwrap();
    let shorter = TaskChanges {
        title: Some("a".to_owned()),
        ..TaskChanges::default()
    };
    lead.updates("t2", &shorter).await.unwrap();
    // The deletion of a task makes room.
    lead.deletes("t2", false).await.unwrap();
    lead.adds(&[titled("c")]).await.unwrap();
}

async fn what_members_write_counts_until_its_task_is_gone(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let long = NewTask {
        description: "d".repeat(1000),
        ..titled("long")
    };
    lead.adds(&[long.clone(), after("next", &["t9"])]).await.unwrap_err();
    assert_eq!(
        counted(&world, "lead").await,
        [None, None],
        "a refused request writes nothing"
    );
    lead.adds(&[long]).await.unwrap();
    let [Some(own), Some(all)] = counted(&world, "lead").await else {
        panic!("the task counts");
    };
    assert!((1512..1700).contains(&own), "{own}");
    assert_eq!(own, all);
    lead.adds(&[after("next", &["t1"])]).await.unwrap();
    let [Some(more), _] = counted(&world, "lead").await else {
        panic!("both tasks count");
    };
    assert!((712..900).contains(&(more - own)), "{more}");
    // Each login counts what it writes, also about another's task.
    bob.claims("t1").await.unwrap();
    bob.releases("t1", "half").await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.completes_with("t1", None, &"r".repeat(500)).await.unwrap();
    let with_note = 4 + 128 + 500;
    assert_eq!(counted(&world, "bob").await, [Some(with_note), Some(more + with_note)]);
    bob.claims("t2").await.unwrap();
    bob.leaves().await.unwrap();
    let [Some(left), _] = counted(&world, "bob").await else {
        panic!("the note of Coord counts");
    };
    assert!((140..200).contains(&(left - with_note)), "{left}");
    for id in ["t1", "t2"] {
        lead.deletes(id, true).await.unwrap();
    }
    assert_eq!(counted(&world, "bob").await, [None, None]);
    // With the team all its tasks go.
    lead.adds(&[titled("a"), titled("b")]).await.unwrap();
    let other = world.mate("lead", "other");
    other.creates("lead").await.unwrap();
    other.adds(&[titled("c")]).await.unwrap();
    lead.deletes_team().await.unwrap();
    let [Some(rest), _] = counted(&world, "lead").await else {
        panic!("the other team counts");
    };
    assert!((512..700).contains(&rest), "{rest}");
    other.deletes_team().await.unwrap();
    assert_eq!(counted(&world, "lead").await, [None, None]);
    assert_eq!(world.number(["EXISTS", &keys::teams(&world.repo)]).await, 0);
}

scenarios!(
    a_login_writes_64_mib_of_tasks_and_all_of_a_repository_256,
    what_members_write_counts_until_its_task_is_gone,
);
