//! Items that wait for a member, in the answer to any of its requests.

use coord_domain::LockMode;
use coord_teams_state::teams::{Membership, Waiting, memberships};

use crate::world::World;
use crate::world::team::{Mate, titled};

fn unread(count: u64) -> Waiting {
    Waiting {
        unread: Some(count),
        shutdown: None,
    }
}

/// The request in an answer: its id, who made it, and who is to stop.
fn request_of(waiting: Waiting) -> Option<[String; 3]> {
    waiting.shutdown.map(|request| [request.id, request.by, request.target])
}

async fn listed(mate: &Mate<'_>) -> Vec<Membership> {
    memberships(&mate.world.repo, &mate.holder)
        .run(&*mate.world.store)
        .await
        .unwrap()
}

async fn responses_refusals_and_lock_checks_carry_the_same_waiting_notice(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.adds(&["a", "b"].map(titled)).await.unwrap();
    assert_eq!(bob.waits().await, unread(0));
    lead.sends_text(&["bob"], "one").await.unwrap();
    lead.sends_text(&[], "two").await.unwrap();
    lead.claims("t1").await.unwrap();
    let locks = world.agent("bob").checks(LockMode::Writing, &["a.ts"]).await;
    let of_locks = &locks.waiting[0];
    assert_eq!((&*of_locks.team, &*of_locks.handle), ("alpha", "bob"));
    for waiting in [
        bob.waits().await,
        bob.waits_after_claim("t1").await,
        bob.waits_after_claim("none").await,
        bob.waits_after_claim("t2").await,
        listed(&bob).await.remove(0).waiting,
        of_locks.waiting.clone(),
    ] {
        assert_eq!(waiting, unread(2));
    }
    // Delivered is not read.
    let inbox = bob.inbox().await;
    assert_eq!((inbox.unread, bob.waits().await), (2, unread(2)));
    bob.reads(Some(1)).await.unwrap();
    assert_eq!(bob.waits().await, unread(1));
    bob.reads(Some(inbox.cursor)).await.unwrap();
    assert_eq!((bob.waits().await, lead.waits().await), (unread(0), unread(0)));
}

async fn an_open_shutdown_is_in_every_response_until_it_is_answered(world: World) {
    let (lead, [bob, eve]) = world.team_of(["bob", "eve"]).await;
    let id = lead.requests_shutdown(Some("BOB"), 60).await.unwrap().id;
    let expected = Some([&*id, "lead", "bob"].map(str::to_owned));
    lead.adds(&[titled("a")]).await.unwrap();
    assert_eq!(request_of(bob.waits().await), expected);
    // In a refusal, too.
    assert_eq!(request_of(bob.waits_after_claim("t1").await), expected);
    assert_eq!(request_of(listed(&bob).await.remove(0).waiting), expected);
    for other in [&lead, &eve] {
        assert_eq!(request_of(other.waits().await), None);
    }
    bob.answers_shutdown(&id, Some("Not yet")).await.unwrap();
    assert_eq!(request_of(bob.waits().await), None);
    assert_eq!(request_of(listed(&bob).await.remove(0).waiting), None);
    // One of the team asks all but those that have answered.
    let id = lead.requests_shutdown(None, 60).await.unwrap().id;
    assert_eq!(request_of(lead.waits().await), None, "who asks has approved");
    eve.answers_shutdown(&id, None).await.unwrap();
    assert_eq!(request_of(eve.waits().await), None);
    assert!(request_of(bob.waits().await).is_some());
}

async fn a_caller_that_is_no_member_gets_no_news(world: World) {
    let (lead, [bob]) = world.team_of(["bob"]).await;
    lead.sends_text(&[], "hello").await.unwrap();
    let nothing = Waiting::default();
    let stranger = world.mate("mallory", "alpha");
    assert_eq!(stranger.waits().await, nothing);
    assert_eq!(listed(&stranger).await, []);
    assert_eq!(stranger.waits_after_claim("t1").await, nothing);
    // Neither is an agent whose handle another one has, nor who has left.
    let new = world.mate("bob/new", "alpha");
    new.joins("bob").await.unwrap();
    assert_eq!(bob.waits().await, nothing);
    assert_eq!(new.waits().await, unread(1));
    assert_refused!(bob.claims("t1") => Superseded);
    new.leaves().await.unwrap();
    assert_eq!(new.waits().await, nothing);
    assert_eq!(listed(&new).await, []);
}

scenarios!(
    responses_refusals_and_lock_checks_carry_the_same_waiting_notice,
    an_open_shutdown_is_in_every_response_until_it_is_answered,
    a_caller_that_is_no_member_gets_no_news,
);
