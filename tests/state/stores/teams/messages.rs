//! Messages arrive once, in order, and are read when the reader has proved it.

use coord_protocol::team_event::MessageType;
use coord_teams_state::mail;
use coord_teams_state::messages::{Inbox, MessageFilter, MessagePage};
use coord_teams_state::teams::{RequestKey, TeamRefusal};

use crate::world::World;
use crate::world::team::{handle, key, titled};

fn texts(inbox: &Inbox) -> Vec<&str> {
    inbox.messages.iter().map(|message| message.message.as_str()).collect()
}

async fn a_cursor_that_is_sent_back_marks_what_is_before_it_as_read(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let empty = bob.inbox().await;
    assert_eq!((empty.cursor, empty.unread, texts(&empty).len()), (0, 0, 0));
    lead.sends_text(&["bob"], "one").await.unwrap();
    lead.sends_text(&[], "two").await.unwrap();
    bob.sends_text(&[], "own").await.unwrap();
    eve.sends_text(&["BOB", "lead", "bob"], "three").await.unwrap();
    let first = bob.inbox().await;
    assert_eq!(texts(&first), ["one", "two", "three"]);
    assert_eq!((first.unread, first.cursor), (3, 4));
    let recipients = ["bob", "lead"].map(str::to_owned);
    assert_eq!(first.messages[2].recipients.as_deref(), Some(&recipients[..]));
    assert_eq!(first.messages[2].from.as_deref(), Some("eve"));
    // Delivered is not read.
    assert_eq!(texts(&bob.inbox().await), ["one", "two", "three"]);
    let part = bob.reads(Some(1)).await.unwrap();
    assert_eq!((texts(&part), part.unread), (vec!["two", "three"], 2));
    let rest = bob.reads(Some(4)).await.unwrap();
    assert_eq!((rest.cursor, rest.unread, texts(&rest).len()), (4, 0, 0));
    assert_eq!(texts(&bob.inbox().await), [""; 0]);
    assert_refused!(bob.reads(Some(5)) => CursorAhead { cursor: 5, newest: 4 });
    assert_eq!(texts(&eve.inbox().await), ["two", "own"]);
}

async fn a_member_gets_no_broadcast_from_before_it_joined(world: World) {
    let (lead, []) = world.team_of([]).await;
    lead.sends_text(&[], "before").await.unwrap();
    let bob = world.mate("bob", "alpha");
    bob.joins("bob").await.unwrap();
    lead.sends_text(&[], "after").await.unwrap();
    assert_eq!(texts(&bob.reads(Some(0)).await.unwrap()), ["after"]);
    // Nor what was sent to the same handle of another.
    lead.sends_text(&["bob"], "secret").await.unwrap();
    bob.leaves().await.unwrap();
    let other = world.mate("mallory", "alpha");
    other.joins("bob").await.unwrap();
    assert_eq!(texts(&other.reads(Some(0)).await.unwrap()), [""; 0]);
}

async fn a_page_is_followed_by_the_rest(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let mut sent = Vec::new();
    for number in 0..23 {
        let text = format!("m{number}");
        let (sender, to) = [(&lead, &["bob"][..]), (&lead, &[]), (&bob, &[])][number % 3];
        sender.sends_text(to, &text).await.unwrap();
        if number % 3 < 2 {
            sent.push(text);
        }
    }
    for most in [1, 2, 5] {
        let (mut got, mut cursor) = (Vec::new(), 0);
        loop {
            let page = bob.reads_most(Some(cursor), most).await.unwrap();
            got.extend(texts(&page).iter().map(|text| (*text).to_owned()));
            if !page.has_more {
                break;
            }
            assert!(page.cursor > cursor);
            cursor = page.cursor;
        }
        assert_eq!(got, sent, "{most} at a time");
    }
}

async fn a_message_goes_to_members_only_and_a_full_inbox_refuses_it(world: World) {
    let (lead, [bob, cem, dan, eve]) = world.team_of(["bob", "cem", "dan", "eve"]).await;
    assert_refused!(lead.sends_text(&["ghost"], "hi") => NoRecipient);
    for sender in [&lead, &cem, &dan, &eve] {
        for _ in 0..250 {
            sender.sends_text(&["bob"], "m").await.unwrap();
        }
    }
    let full = TeamRefusal::InboxFull {
        handle: "bob".to_owned(),
        unread: 1000,
    };
    assert_eq!(lead.sends_text(&["lead", "bob"], "m").await, Err(full));
    assert_eq!(lead.inbox().await.unread, 0, "nothing is half sent");
    let page = bob.inbox().await;
    assert_eq!(bob.reads(Some(page.cursor)).await.unwrap().unread, 800);
    lead.sends_text(&["bob"], "last").await.unwrap();
    assert_eq!(texts(&bob.reads(Some(1000)).await.unwrap())[0], "last");
}

async fn a_member_behind_1000_broadcasts_learns_how_many_it_missed(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    bob.sends_text(&[], "own").await.unwrap();
    for number in 0..1010 {
        lead.sends_text(&[], &format!("b{number}")).await.unwrap();
    }
    let page = bob.inbox().await;
    // Its own stays; those of the login that has a quarter make room.
    assert_eq!((page.missed, texts(&page)[0]), (11, "b11"));
    let next = bob.reads(Some(page.cursor)).await.unwrap();
    assert_eq!((next.missed, next.unread, texts(&next)[0]), (0, 800, "b210"));
}

async fn a_broadcast_is_stored_once_however_many_members_there_are(world: World) {
    let (lead, _) = world.team_of(["m1"]).await;
    let bodies = mail::keys::bodies(&world.repo, &lead.team);
    let mail = mail::keys::mail(&world.repo, &lead.team);
    let size = async || {
        let bodies = world.number(["HLEN", &bodies]).await;
        (bodies, world.number(["ZCARD", &mail]).await)
    };
    lead.sends_text(&[], "to one").await.unwrap();
    let of_two = size().await;
    for name in ["m2", "m3", "m4", "m5"] {
        world.mate(name, "alpha").joins(name).await.unwrap();
    }
    lead.sends_text(&[], "to five").await.unwrap();
    assert_eq!(size().await, (2 * of_two.0, 2 * of_two.1));
    // Itself, and what it counts for whom.
    assert_eq!(of_two.0, 2);
}

/// A cursor within a page: the broadcasts after it that were dropped counted as read, and nothing said that they were lost.
async fn a_cursor_within_a_page_hides_no_broadcast_that_is_gone(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    for number in 1..=20 {
        lead.sends_text(&[], &format!("b{number}")).await.unwrap();
    }
    assert_eq!(bob.inbox().await.cursor, 20);
    lead.sends_text(&["bob"], "direct").await.unwrap();
    for number in 21..=1200 {
        lead.sends_text(&[], &format!("b{number}")).await.unwrap();
    }
    let page = bob.reads(Some(3)).await.unwrap();
    assert_eq!((page.missed, &texts(&page)[..2]), (197, &["direct", "b201"][..]));
    let next = bob.reads(Some(page.cursor)).await.unwrap();
    assert_eq!(next.missed, 0, "it was said");
}

async fn a_repeated_send_sends_nothing_and_idle_lists_the_ready_tasks(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    let sends = async || lead.sends(MessageType::Plain, &["bob"], "one", key("k", "one")).await;
    let first = sends().await.unwrap();
    assert_eq!(sends().await.unwrap(), first);
    assert_eq!(bob.inbox().await.messages.len(), 1);
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    let idle = bob.sends(MessageType::Idle, &[], "", RequestKey::NONE).await.unwrap();
    assert_eq!(idle.ready, ["t1", "t2"]);
    // Asked again, the first answer.
    let key = key("idle", "idle");
    let first = bob.sends(MessageType::Idle, &[], "", key).await.unwrap();
    lead.claims("t1").await.unwrap();
    assert_eq!(bob.sends(MessageType::Idle, &[], "", key).await.unwrap(), first);
    assert_eq!(lead.inbox().await.messages[0].kind, MessageType::Idle);
}

async fn the_history_is_filtered_and_paged_with_the_read_position_of_each_member(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.sends_text(&["bob"], "one").await.unwrap();
    bob.sends_text(&[], "two").await.unwrap();
    eve.sends_text(&["BOB", "lead"], "three").await.unwrap();
    bob.reads(Some(2)).await.unwrap();
    let history = async |most, filter: &MessageFilter<'_>| lead.history(most, filter).await.unwrap();
    let texts = |page: &MessagePage| -> Vec<String> {
        let messages = page.messages.iter();
        messages.map(|message| message.message.clone()).collect()
    };
    let all = history(10, &MessageFilter::default()).await;
    assert_eq!(texts(&all), ["three", "two", "one"]);
    assert_eq!(all.earlier, None);
    let readers = all.readers.iter();
    let mut read: Vec<_> = readers.map(|reader| (&*reader.handle, reader.read)).collect();
    read.sort_unstable();
    assert_eq!(read, [("bob", 2), ("eve", 0), ("lead", 0)]);
    let handle = handle("EVE");
    let of_eve = MessageFilter {
        member: Some(&handle),
        ..MessageFilter::default()
    };
    assert_eq!(texts(&history(10, &of_eve).await), ["three", "two"]);
    let page = history(2, &MessageFilter::default()).await;
    assert_eq!((texts(&page).len(), page.earlier), (2, Some(2)));
    let rest = MessageFilter {
        before: page.earlier,
        ..MessageFilter::default()
    };
    assert_eq!(texts(&history(2, &rest).await), ["one"]);
}

/// An idle member got tasks reserved for others, and none whose claims had expired unnoticed.
async fn idle_lists_tasks_with_expired_claims_and_none_reserved_for_others(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    lead.adds(&["a", "b", "c", "d"].map(titled)).await.unwrap();
    eve.claims("t1").await.unwrap();
    lead.assigns("t2", Some("eve")).await.unwrap();
    lead.assigns("t3", Some("bob")).await.unwrap();
    eve.expire_claim("t1").await;
    for _ in 0..2 {
        let idle = bob.sends(MessageType::Idle, &[], "", key("k", "idle")).await;
        assert_eq!(idle.unwrap().ready, ["t1", "t3", "t4"]);
    }
}

scenarios!(
    idle_lists_tasks_with_expired_claims_and_none_reserved_for_others,
    a_cursor_that_is_sent_back_marks_what_is_before_it_as_read,
    a_member_gets_no_broadcast_from_before_it_joined,
    a_page_is_followed_by_the_rest,
    a_message_goes_to_members_only_and_a_full_inbox_refuses_it,
    a_member_behind_1000_broadcasts_learns_how_many_it_missed,
    a_broadcast_is_stored_once_however_many_members_there_are,
    a_cursor_within_a_page_hides_no_broadcast_that_is_gone,
    a_repeated_send_sends_nothing_and_idle_lists_the_ready_tasks,
    the_history_is_filtered_and_paged_with_the_read_position_of_each_member,
);
