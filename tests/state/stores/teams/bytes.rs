//! Tasks and messages take bytes of the store; these are counted for the login that sent them, and bounded.

use coord_teams_state::tasks::{NewTask, TaskChanges};
use coord_teams_state::teams::{TeamRefusal, keys};

use super::tasks::after;
use crate::world::World;
use crate::world::team::titled;

const MIB: i64 = 1_048_576;

/// Returns the counted bytes of the tasks of this login, and of all.
async fn counted(world: &World, login: &str) -> [Option<i64>; 2] {
    counted_of(world, "bytes", login).await
}

/// The same of `bytes` of tasks, or `mail`.
async fn counted_of(world: &World, kind: &str, login: &str) -> [Option<i64>; 2] {
    let key = keys::teams(&world.repo);
    let stored = world
        .command(["HMGET", &key, &format!("/{kind} {login}"), &format!("/{kind}")])
        .await;
    let counts = stored.as_array().unwrap().iter();
    let counts: Vec<_> = counts
        .map(|count| count.as_str().map(|count| count.parse().unwrap()))
        .collect();
    counts.try_into().unwrap()
}

/// As if this login and all together had written so much, less a few bytes.
async fn has_written(world: &World, login: &str, own: i64, all: i64) {
    has_kept(world, "bytes", login, (own * MIB - 100, all * MIB - 100)).await;
}

async fn has_kept(world: &World, kind: &str, login: &str, (own, all): (i64, i64)) {
    let (key, field, of_all) = (keys::teams(&world.repo), format!("/{kind} {login}"), format!("/{kind}"));
    let (own, all) = (own.to_string(), all.to_string());
    world.command(["HSET", &key, &field, &own, &of_all, &all]).await;
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

async fn texts_of_members_count_until_their_task_is_gone(world: World) {
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
    // Each login counts its own writes, also about tasks of other logins.
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

/// A message to one member, or to all: its text, 512 bytes, and 128 for an inbox.
const OF_MESSAGE: i64 = 100 + 512 + 128;

/// Messages were bounded in number alone: 1,000 for each member, of 16 KiB, whoever sent them.
async fn a_login_sends_64_mib_of_messages_and_all_of_a_repository_256(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let text = "x".repeat(100);
    lead.adds(&[titled("a"), titled("b")]).await.unwrap();
    for (who, own, all, bound) in [
        (&lead, 64, 64, "64 MiB of messages by one login"),
        (&bob, 0, 256, "256 MiB of messages in a repository"),
    ] {
        let login = who.holder.user_id.as_str();
        has_kept(&world, "mail", login, (own * MIB, all * MIB)).await;
        let sentence = format!("There can be no more than {bound}; those that are read make room");
        for to in [&["eve"][..], &[]] {
            assert_eq!(who.sends_text(to, &text).await.unwrap_err().to_string(), sentence);
        }
        if own > 0 {
            // Nothing is half done: neither the assignment nor the shutdown that nobody would hear of.
            assert_eq!(who.assigns("t1", Some("eve")).await.unwrap_err().to_string(), sentence);
            assert_eq!(who.requests_shutdown(None, 60).await.unwrap_err().to_string(), sentence);
            assert_eq!(who.shows_team().await.unwrap().shutdown, None);
        }
    }
    // The effects of a completion still happen, and the answer names the members that were not told of it.
    has_kept(&world, "mail", "lead", (0, 64 * MIB)).await;
    lead.adds(&[after("next", &["t1"])]).await.unwrap();
    lead.assigns("t3", Some("eve")).await.unwrap();
    has_kept(&world, "mail", "lead", (64 * MIB, 64 * MIB)).await;
    lead.claims("t1").await.unwrap();
    let completed = lead.completes("t1").await.unwrap();
    assert_eq!(completed.unblocked.not_told, ["eve"]);
    assert!(
        lead.reads(None).await.unwrap().messages.is_empty(),
        "it is not told of its own"
    );
    // Others go on.
    bob.sends_text(&["eve"], &text).await.unwrap();
    assert_eq!(eve.reads(None).await.unwrap().messages.len(), 2);
}

async fn read_messages_make_room_for_new_ones(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let text = "x".repeat(100);
    for to in ["bob", "bob", "bob", "eve"] {
        lead.sends_text(&[to], &text).await.unwrap();
    }
    let full = (64 * MIB, 64 * MIB);
    has_kept(&world, "mail", "lead", full).await;
    lead.sends_text(&["bob"], &text).await.unwrap_err();
    bob.reads(Some(2)).await.unwrap();
    // For one message one goes; what bob has not read stays, and so does what eve has.
    lead.sends_text(&["bob"], &text).await.unwrap();
    assert_eq!(counted_of(&world, "mail", "lead").await, [Some(full.0), Some(full.1)]);
    lead.sends_text(&["bob"], &text).await.unwrap();
    lead.sends_text(&["bob"], &text).await.unwrap_err();
    lead.sends_text(&["eve"], &text).await.unwrap_err();
    let numbers = |inbox: coord_teams_state::messages::Inbox| -> Vec<u64> {
        inbox.messages.iter().map(|message| message.id).collect()
    };
    let inbox = bob.reads(None).await.unwrap();
    assert_eq!((inbox.unread, numbers(inbox)), (3, vec![3, 5, 6]));
    assert_eq!(numbers(eve.reads(None).await.unwrap()), [4]);
    // Of broadcasts the oldest goes, and is missed by who has not had it.
    has_kept(&world, "mail", "lead", (0, 0)).await;
    lead.sends_text(&[], &text).await.unwrap();
    has_kept(&world, "mail", "lead", full).await;
    lead.sends_text(&[], &text).await.unwrap();
    let inbox = eve.reads(None).await.unwrap();
    assert_eq!((inbox.missed, numbers(inbox)), (1, vec![4, 8]));
}

async fn a_message_counts_until_it_is_gone(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let text = "x".repeat(100);
    lead.sends_text(&["bob"], &text).await.unwrap();
    lead.sends_text(&["bob", "eve"], &text).await.unwrap();
    lead.sends_text(&[], &text).await.unwrap();
    let all = 3 * OF_MESSAGE + 128;
    assert_eq!(counted_of(&world, "mail", "lead").await, [Some(all), Some(all)]);
    bob.reads(Some(2)).await.unwrap();
    bob.leaves().await.unwrap();
    // The message to both is eve's yet, and stays with the history once eve leaves without having read it.
    assert_eq!(counted_of(&world, "mail", "lead").await[0], Some(all - OF_MESSAGE));
    eve.leaves().await.unwrap();
    assert_eq!(counted_of(&world, "mail", "lead").await[0], Some(all - OF_MESSAGE));
    // One from before messages were counted counts for nobody.
    let bodies = coord_teams_state::mail::keys::bodies(&world.repo, &lead.team);
    world.command(["HDEL", &bodies, "3 refs"]).await;
    for _ in 0..1000 {
        lead.sends_text(&[], &text).await.unwrap();
    }
    let [Some(own), Some(counted)] = counted_of(&world, "mail", "lead").await else {
        panic!("the messages count");
    };
    assert_eq!(
        (own, counted),
        (all - OF_MESSAGE + 999 * OF_MESSAGE, own),
        "beside the one that is nobody's"
    );
    // An hour of messages, of which 1,000 stay, counts no more than these.
    for _ in 0..10 {
        lead.sends_text(&[], &text).await.unwrap();
    }
    assert_eq!(counted_of(&world, "mail", "lead").await[0], Some(own));
    world
        .command([
            "HINCRBY",
            &keys::teams(&world.repo),
            "/mail lead",
            &OF_MESSAGE.to_string(),
        ])
        .await;
    world
        .command(["HINCRBY", &keys::teams(&world.repo), "/mail", &OF_MESSAGE.to_string()])
        .await;
    lead.deletes_team().await.unwrap();
    assert_eq!(
        counted_of(&world, "mail", "lead").await,
        [Some(OF_MESSAGE), Some(OF_MESSAGE)]
    );
}

scenarios!(
    a_login_sends_64_mib_of_messages_and_all_of_a_repository_256,
    read_messages_make_room_for_new_ones,
    a_message_counts_until_it_is_gone,
    a_login_writes_64_mib_of_tasks_and_all_of_a_repository_256,
    texts_of_members_count_until_their_task_is_gone,
);
