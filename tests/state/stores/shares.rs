//! One login fills each bound of a repository by itself: another login goes on, and loses nothing. `docs/internals/bounds.md` has the bounds,
//! each with its test here.

use coord_domain::LockMode::Reading;
use coord_state::admission::Denial;
use coord_state::events::{events_after, keys, newest_events};
use coord_store::Request;
use coord_teams_state::tasks::{NewTask, TaskChanges};

use crate::stores::force::forces;
use crate::world::team::titled;
use crate::world::{World, denial_of};

/// Fills the log with events of `login`, as scripts write them.
async fn fills_log(world: &World, login: &str, count: usize) {
    let (log, name) = (keys::status_log(&world.repo), format!("event {login}"));
    let event = format!("{{\"type\":\"of a newer version\",\"user\":\"{login}\"}}");
    let add = || Request::command(["XADD", &log, "*", &name, &event]);
    for first in (0..count).step_by(1000) {
        let some = 1000.min(count - first);
        world.store.run((0..some).map(|_| add()).collect()).await.unwrap();
    }
}

async fn a_login_does_not_push_the_events_of_others_out_of_the_log(world: World) {
    let (bob, eve) = (world.agent("bob"), world.agent("eve"));
    bob.writes(&["bob.ts"]).await;
    let of_bob = newest_events(&world.repo, 1).run(&*world.store).await.unwrap()[0].id;
    fills_log(&world, "eve", 9_998).await;
    eve.writes(&["eve.ts"]).await;
    eve.writes(&["more.ts"]).await;
    assert_eq!(world.events_since(0).await[0], "lock_granted bob bob.ts");
    assert_eq!(world.events().await.len(), 8_751, "an eighth makes room for what comes");
    // A reader that has seen bob's last event learns that events are missing after it.
    let later = events_after(&world.repo, of_bob, 1).run(&*world.store).await.unwrap();
    assert!(later.oldest.unwrap() > of_bob, "{later:?}");
    let newest = newest_events(&world.repo, 1).run(&*world.store).await.unwrap()[0].id;
    let later = events_after(&world.repo, newest, 1).run(&*world.store).await.unwrap();
    assert!(later.oldest.unwrap() <= newest, "{later:?}");
    // Another login that comes takes the room of the one that has most.
    fills_log(&world, "cem", 1_248).await;
    world.agent("cem").writes(&["cem.ts"]).await;
    assert_eq!(world.events().await.len(), 8_750);
    assert_eq!(world.events_since(0).await[0], "lock_granted bob bob.ts");
}

// rule: teams#inbox
async fn a_login_does_not_fill_the_inbox_of_a_member(world: World) {
    let (_, [bob, eve, cem]) = world.team_of(["bob", "eve", "cem"]).await;
    cem.sends_text(&["bob"], "first").await.unwrap();
    for _ in 0..250 {
        eve.sends_text(&["bob"], "flood").await.unwrap();
    }
    // Under another handle, too.
    let other = world.mate("eve/two", "alpha");
    other.joins("two").await.unwrap();
    for sender in [&eve, &other] {
        assert_eq!(
            sender.sends_text(&["bob"], "more").await.unwrap_err().to_string(),
            "There can be no more than 250 unread messages of one login to one member"
        );
    }
    cem.sends_text(&["bob"], "last").await.unwrap();
    // Reading messages makes room.
    bob.reads(None).await.unwrap();
    bob.reads(Some(3)).await.unwrap();
    for _ in 0..2 {
        eve.sends_text(&["bob"], "flood").await.unwrap();
    }
    eve.sends_text(&["bob"], "more").await.unwrap_err();
    // A login fills the inboxes of its own agents.
    for _ in 0..251 {
        eve.sends_text(&["two"], "own").await.unwrap();
    }
}

async fn a_login_does_not_push_the_broadcasts_of_others_out(world: World) {
    let (_, [bob, eve, cem]) = world.team_of(["bob", "eve", "cem"]).await;
    cem.sends_text(&[], "of cem").await.unwrap();
    for number in 0..1_002 {
        eve.sends_text(&[], &format!("flood {number}")).await.unwrap();
    }
    let page = bob.reads(None).await.unwrap();
    assert_eq!(page.messages[0].message, "of cem");
    assert_eq!(page.messages[1].message, "flood 3", "its own oldest went");
    assert_eq!((page.missed, page.unread), (3, 1_003), "none is gone without a word");
    // The broadcasts of others still take the places of the oldest.
    cem.sends_text(&[], "newest of cem").await.unwrap();
    let page = bob.reads(None).await.unwrap();
    assert_eq!(page.messages[0].message, "flood 3");
}

async fn a_login_that_does_not_lead_has_a_quarter_of_the_open_tasks(world: World) {
    let (lead, [eve, bob]) = world.team_of(["eve", "bob"]).await;
    let many: Vec<NewTask> = (0..200).map(|number| titled(&format!("Task {number}"))).collect();
    for _ in 0..25 {
        eve.adds(&many).await.unwrap();
    }
    assert_eq!(
        eve.adds(&[titled("more")]).await.unwrap_err().to_string(),
        "There can be no more than 5000 open tasks of one login that does not lead the team"
    );
    bob.adds(&[titled("of bob")]).await.unwrap();
    // The leader is not limited so, and what ends makes room.
    lead.adds(&many).await.unwrap();
    lead.deletes("t1", false).await.unwrap();
    eve.claims("t2").await.unwrap();
    eve.completes("t2").await.unwrap();
    eve.adds(&many[..2]).await.unwrap();
    eve.adds(&[titled("more")]).await.unwrap_err();
}

async fn a_login_does_not_flush_the_refusals_of_others(world: World) {
    let (ann, bob, eve) = (world.agent("ann"), world.agent("bob"), world.agent("eve"));
    ann.writes(&["a.ts"]).await;
    bob.is_refused(Reading, &["a.ts"]).await;
    let of_bob = async || {
        let refusals = world.events_of_type("lock_refused").await;
        refusals.iter().filter(|event| event["user"] == "bob").count()
    };
    assert_eq!(of_bob().await, 1);
    for number in 0..1_001 {
        let file = format!("{number}.ts");
        eve.is_refused(Reading, &["a.ts", &file]).await;
    }
    bob.is_refused(Reading, &["a.ts"]).await;
    assert_eq!(of_bob().await, 1, "the same refusal is logged once a minute");
}

async fn a_login_does_not_evict_the_notices_of_others_about_lost_locks(world: World) {
    let (bob, eve, cem) = (world.agent("bob"), world.agent("eve"), world.agent("cem"));
    bob.writes(&["bob.ts"]).await;
    assert_eq!(forces(&cem, &["bob.ts"]).await.locks.len(), 1);
    for number in 0..70 {
        let file = format!("{number}.ts");
        world.agent(&format!("eve/{number}")).writes(&[&file]).await;
        assert_eq!(forces(&eve, &[&file]).await.locks.len(), 1);
    }
    // Of eve's, the newest are left.
    for (agent, file, by) in [(bob, "bob.ts", "cem"), (world.agent("eve/69"), "69.ts", "eve")] {
        let denial = denial_of(agent.try_claim(Reading, &[file]).await);
        assert!(
            matches!(&denial, Denial::ForceReleased(taken) if taken.by == by),
            "{denial:?}"
        );
    }
}

async fn a_login_does_not_fill_the_notes_of_a_task(world: World) {
    let (lead, [eve, bob]) = world.team_of(["eve", "bob"]).await;
    lead.adds(&[titled("Shared")]).await.unwrap();
    let note = |length: usize| TaskChanges {
        note: "x".repeat(length),
        ..TaskChanges::default()
    };
    // Claimants add notes in turns.
    let mut kept = 0;
    loop {
        eve.claims("t1").await.unwrap();
        let released = eve.releases("t1", &"x".repeat(2_000)).await;
        if let Err(refusal) = released {
            assert_eq!(refusal.to_string(), "Task t1 has no room for another note");
            break;
        }
        kept += 1;
        assert!(kept < 40, "nothing is refused");
    }
    assert!((14..=16).contains(&kept), "{kept}: half of 64 KiB");
    eve.releases("t1", "").await.unwrap();
    bob.claims("t1").await.unwrap();
    bob.releases("t1", "of bob").await.unwrap();
    // Its creator's login has all the room that is left.
    for _ in 0..10 {
        lead.updates("t1", &note(2_000)).await.unwrap();
    }
}

async fn a_login_reads_a_file_with_64_agents_and_others_read_it_too(world: World) {
    for number in 0..64 {
        world.agent(&format!("eve/{number}")).reads(&["a.ts"]).await;
    }
    let refused = world.agent("eve/64").try_claim(Reading, &["a.ts"]).await;
    assert!(matches!(denial_of(refused), Denial::Full(_)));
    for login in ["ann", "bob", "cem"] {
        for number in 0..64 {
            world.agent(&format!("{login}/{number}")).reads(&["a.ts"]).await;
        }
    }
    let refused = world.agent("dan").try_claim(Reading, &["a.ts"]).await;
    assert!(matches!(denial_of(refused), Denial::Full(_)));
    world.assert_held_is_exact().await;
}

async fn a_login_that_does_not_lead_assigns_a_quarter_of_what_a_member_may_have(world: World) {
    let (lead, [eve, bob, cem]) = world.team_of(["eve", "bob", "cem"]).await;
    let many: Vec<NewTask> = (0..51).map(|number| titled(&format!("Task {number}"))).collect();
    let ids = eve.adds(&many).await.unwrap();
    for id in &ids[..50] {
        eve.assigns(id, Some("bob")).await.unwrap();
    }
    assert_eq!(
        eve.assigns(&ids[50], Some("bob")).await.unwrap_err().to_string(),
        "There can be no more than 50 tasks of one login that does not lead the team, assigned to one member"
    );
    for mate in [&cem, &lead] {
        let id = mate.adds(&[titled("Another")]).await.unwrap().remove(0);
        mate.assigns(&id, Some("bob")).await.unwrap();
    }
    assert!(bob.reads(None).await.unwrap().unread >= 52);
}

on_every_store!(
    a_login_does_not_push_the_events_of_others_out_of_the_log,
    a_login_does_not_fill_the_inbox_of_a_member,
    a_login_does_not_push_the_broadcasts_of_others_out,
    a_login_that_does_not_lead_has_a_quarter_of_the_open_tasks,
    a_login_does_not_flush_the_refusals_of_others,
    a_login_does_not_evict_the_notices_of_others_about_lost_locks,
    a_login_does_not_fill_the_notes_of_a_task,
    a_login_reads_a_file_with_64_agents_and_others_read_it_too,
    a_login_that_does_not_lead_assigns_a_quarter_of_what_a_member_may_have,
);
