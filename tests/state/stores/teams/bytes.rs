//! Tasks and messages take bytes of the store; these are counted for the login that sent them, and bounded.

use coord_teams_state::messages::Inbox;
use coord_teams_state::tasks::{NewTask, TaskChanges};
use coord_teams_state::teams::keys;

use super::tasks::{after, sentence};
use crate::world::World;
use crate::world::team::titled;

const MIB: i64 = 1_048_576;

impl World {
    /// Returns the counted bytes of the tasks of this login, and of all.
    async fn counted(&self, login: &str) -> [Option<i64>; 2] {
        self.counted_of("bytes", login).await
    }

    /// The same of `bytes` of tasks, or `mail`.
    async fn counted_of(&self, kind: &str, login: &str) -> [Option<i64>; 2] {
        let (own, all) = (format!("/{kind} {login}"), format!("/{kind}"));
        let stored = self.command(["HMGET", &keys::teams(&self.repo), &own, &all]).await;
        let count = |place: usize| stored.as_array().unwrap()[place].as_str();
        [count(0), count(1)].map(|count| count.map(|count| count.parse().unwrap()))
    }

    /// As if this login and all together had written so many MiB, less a few bytes.
    async fn has_written(&self, login: &str, own: i64, all: i64) {
        self.has_kept("bytes", login, (own * MIB - 100, all * MIB - 100)).await;
    }

    async fn has_kept(&self, kind: &str, login: &str, (own, all): (i64, i64)) {
        let (key, field, of_all) = (keys::teams(&self.repo), format!("/{kind} {login}"), format!("/{kind}"));
        let (own, all) = (own.to_string(), all.to_string());
        self.command(["HSET", &key, &field, &own, &of_all, &all]).await;
    }

    async fn own_count(&self, kind: &str, login: &str) -> i64 {
        self.counted_of(kind, login).await[0].expect("it counts")
    }
}

/// 270 requests of one login for 60 tasks of 16 KiB each took 300 MiB of the store.
async fn a_login_writes_64_mib_of_tasks_and_all_of_a_repository_256(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
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
        world.has_written(who.holder.user_id.as_str(), own.max(1), all).await;
        let expected = format!("There can be no more than {refusal}");
        assert_eq!(sentence(who.adds(&[titled("c")]).await), expected);
        assert_eq!(sentence(who.updates("t2", &described).await), expected);
    }
    // Others go on, and what takes no room goes on for all.
    world.has_written("lead", 64, 64).await;
    bob.adds(&[titled("c")]).await.unwrap();
    assert_refused!(lead.releases("t1", &text) => TooMany { most: 64, .. });
    assert_refused!(lead.completes_with("t1", None, &text) => TooMany { most: 64, .. });
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
    // A refused request writes nothing.
    assert_eq!(world.counted("lead").await, [None, None]);
    lead.adds(&[long]).await.unwrap();
    let own = world.own_count("bytes", "lead").await;
    assert!((1512..1700).contains(&own), "{own}");
    assert_eq!(world.counted("lead").await[1], Some(own));
    lead.adds(&[after("next", &["t1"])]).await.unwrap();
    let more = world.own_count("bytes", "lead").await;
    assert!((712..900).contains(&(more - own)), "{more}");
    // Each login counts its own writes, also about tasks of other logins.
    bob.claims("t1").await.unwrap();
    bob.releases("t1", "half").await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.completes_with("t1", None, &"r".repeat(500)).await.unwrap();
    let with_note = 4 + 128 + 500;
    assert_eq!(world.counted("bob").await, [with_note, more + with_note].map(Some));
    bob.claims("t2").await.unwrap();
    bob.leaves().await.unwrap();
    let of_coord = world.own_count("bytes", "bob").await - with_note;
    assert!((140..200).contains(&of_coord), "the note of Coord counts: {of_coord}");
    for id in ["t1", "t2"] {
        lead.deletes(id, true).await.unwrap();
    }
    assert_eq!(world.counted("bob").await, [None, None]);
    // With the team all its tasks go.
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    let other = world.mate("lead", "other");
    other.creates("lead").await.unwrap();
    other.adds(&[titled("c")]).await.unwrap();
    lead.deletes_team().await.unwrap();
    let rest = world.own_count("bytes", "lead").await;
    assert!((512..700).contains(&rest), "{rest}");
    other.deletes_team().await.unwrap();
    assert_eq!(world.counted("lead").await, [None, None]);
    assert_eq!(world.number(["EXISTS", &keys::teams(&world.repo)]).await, 0);
}

/// A message to one member, or to all: its text, 512 bytes, and 128 for an inbox.
const OF_MESSAGE: i64 = 100 + 512 + 128;

/// Messages were bounded in number alone: 1,000 for each member, of 16 KiB, whoever sent them.
async fn a_login_sends_64_mib_of_messages_and_all_of_a_repository_256(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let text = "x".repeat(100);
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    for (who, own, all, bound) in [
        (&lead, 64, 64, "64 MiB of messages by one login"),
        (&bob, 0, 256, "256 MiB of messages in a repository"),
    ] {
        let login = who.holder.user_id.as_str();
        world.has_kept("mail", login, (own * MIB, all * MIB)).await;
        let expected = format!("There can be no more than {bound}; messages that were read make room");
        for to in [&["eve"][..], &[]] {
            assert_eq!(sentence(who.sends_text(to, &text).await), expected);
        }
        if own > 0 {
            // Nothing is half done: neither the assignment nor the shutdown, of which no member would be notified.
            assert_eq!(sentence(who.assigns("t1", Some("eve")).await), expected);
            assert_eq!(sentence(who.requests_shutdown(None, 60).await), expected);
            assert_eq!(who.shows_team().await.unwrap().shutdown, None);
        }
    }
    // The effects of a completion still happen, and the answer names the members that were not notified.
    world.has_kept("mail", "lead", (0, 64 * MIB)).await;
    lead.adds(&[after("next", &["t1"])]).await.unwrap();
    lead.assigns("t3", Some("eve")).await.unwrap();
    world.has_kept("mail", "lead", (64 * MIB, 64 * MIB)).await;
    lead.claims("t1").await.unwrap();
    let completed = lead.completes("t1").await.unwrap();
    assert_eq!(completed.unblocked.not_told, ["eve"]);
    assert_eq!(lead.inbox().await.messages, [], "its own is no news");
    // Others go on.
    bob.sends_text(&["eve"], &text).await.unwrap();
    assert_eq!(eve.inbox().await.messages.len(), 2);
}

async fn read_messages_make_room_for_new_ones(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let text = "x".repeat(100);
    for to in ["bob", "bob", "bob", "eve"] {
        lead.sends_text(&[to], &text).await.unwrap();
    }
    let full = (64 * MIB, 64 * MIB);
    world.has_kept("mail", "lead", full).await;
    lead.sends_text(&["bob"], &text).await.unwrap_err();
    bob.reads(Some(2)).await.unwrap();
    // For one message one goes; what bob has not read stays, and so does what eve has.
    lead.sends_text(&["bob"], &text).await.unwrap();
    assert_eq!(world.counted_of("mail", "lead").await, [Some(full.0), Some(full.1)]);
    lead.sends_text(&["bob"], &text).await.unwrap();
    lead.sends_text(&["bob"], &text).await.unwrap_err();
    lead.sends_text(&["eve"], &text).await.unwrap_err();
    let numbers = |inbox: Inbox| inbox.messages.iter().map(|message| message.id).collect::<Vec<_>>();
    let inbox = bob.inbox().await;
    assert_eq!((inbox.unread, numbers(inbox)), (3, vec![3, 5, 6]));
    assert_eq!(numbers(eve.inbox().await), [4]);
    // Of broadcasts the oldest goes, and is missed by who has not had it.
    world.has_kept("mail", "lead", (0, 0)).await;
    lead.sends_text(&[], &text).await.unwrap();
    world.has_kept("mail", "lead", full).await;
    lead.sends_text(&[], &text).await.unwrap();
    let inbox = eve.inbox().await;
    assert_eq!((inbox.missed, numbers(inbox)), (1, vec![4, 8]));
}

async fn a_message_counts_until_it_is_gone(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let text = "x".repeat(100);
    for to in [&["bob"][..], &["bob", "eve"], &[]] {
        lead.sends_text(to, &text).await.unwrap();
    }
    let all = 3 * OF_MESSAGE + 128;
    assert_eq!(world.counted_of("mail", "lead").await, [Some(all), Some(all)]);
    bob.reads(Some(2)).await.unwrap();
    bob.leaves().await.unwrap();
    // The message to both is eve's yet, and stays with the history once eve leaves without having read it.
    assert_eq!(world.own_count("mail", "lead").await, all - OF_MESSAGE);
    eve.leaves().await.unwrap();
    assert_eq!(world.own_count("mail", "lead").await, all - OF_MESSAGE);
    // One from before messages were counted counts for nobody.
    let bodies = coord_teams_state::mail::keys::bodies(&world.repo, &lead.team);
    world.command(["HDEL", &bodies, "3 refs"]).await;
    for _ in 0..1000 {
        lead.sends_text(&[], &text).await.unwrap();
    }
    let own = all - OF_MESSAGE + 999 * OF_MESSAGE;
    assert_eq!(world.counted_of("mail", "lead").await, [Some(own), Some(own)]);
    // An hour of messages, of which 1,000 stay, counts no more than these.
    for _ in 0..10 {
        lead.sends_text(&[], &text).await.unwrap();
    }
    assert_eq!(world.counted_of("mail", "lead").await, [Some(own), Some(own)]);
    let more = own + OF_MESSAGE;
    world.has_kept("mail", "lead", (more, more)).await;
    lead.deletes_team().await.unwrap();
    assert_eq!(world.counted_of("mail", "lead").await, [OF_MESSAGE; 2].map(Some));
}

scenarios!(
    a_login_sends_64_mib_of_messages_and_all_of_a_repository_256,
    read_messages_make_room_for_new_ones,
    a_message_counts_until_it_is_gone,
    a_login_writes_64_mib_of_tasks_and_all_of_a_repository_256,
    texts_of_members_count_until_their_task_is_gone,
);
